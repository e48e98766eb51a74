"""The table columns behind each column of a JDBC query.

    select e.name, e.salary * 2 as double_pay from emp e join dept d on e.dept = d.id

    name        IDENTITY        emp.name
    double_pay  TRANSFORMATION  emp.salary    e.salary * 2
    JOIN        emp.dept, dept.id             e.dept = d.id

There is no schema to ask. A name that stands alone belongs to the only table that can have it;
where several can, it is a problem and no source is guessed. Texts are the query's own,
with literals of dates masked like those of plans. A condition inside a column's own subquery is
CONDITIONAL for that column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from graph_model import labels
from graph_model.naming.columns import fold
from graph_model.naming.literals import mask_literal
from graph_model.naming.rules import Rules

Parts = tuple[str, ...]  # of a table's name
Leaf = tuple[Parts, str]  # a table and its column
Flow = tuple[Leaf, str]  # and how it flows: IDENTITY … WINDOW

_MOST_STEPS: Final = 200_000  # nodes visited and flows passed on
_MOST_TEXT: Final = 2_000
_STRENGTH: Final = (labels.IDENTITY, labels.TRANSFORMATION, labels.AGGREGATION)
#: Names that are session values, not columns, in one database or another.
_NO_COLUMNS: Final = frozenset(
    {"rownum", "rowid", "level", "sysdate", "systimestamp", "user", "current_user"}
)


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """One column of a query's result: its text and its source columns."""

    expression: str
    flows: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class QueryInfluence:
    """A condition, a grouping or an order; ``how`` FILTER, JOIN, GROUP_BY or SORT."""

    how: str
    expression: str
    sources: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class QueryLineage:
    """``columns`` are in the order of the requested names, None for an unresolved one.

    ``problems`` are the names that could not be attributed, sorted and distinct.
    """

    columns: tuple[QueryColumn | None, ...]
    influences: tuple[QueryInfluence, ...] = ()
    problems: tuple[str, ...] = ()


def unreadable(names: Sequence[str], reason: str) -> QueryLineage:
    return QueryLineage((None,) * len(names), problems=(reason,))


def read_lineage(tree: exp.Query, names: Sequence[str], dialect: str, rules: Rules) -> QueryLineage:
    """The lineage of the result's columns, which the database calls ``names``.

    Raises any error of sqlglot, RecursionError for a query that nests too deeply, and RuntimeError
    for one that takes too many steps: the caller answers with :func:`unreadable`.
    """
    for literal in tree.find_all(exp.Literal):
        if literal.is_string:
            literal.set("this", mask_literal(literal.this, None, rules))
    root = build_scope(tree.unnest())
    if root is None:
        raise RuntimeError("no query")
    reader = _Reader(dialect)
    outputs = reader.outputs(root)
    columns = tuple(_column_of(outputs, place, names, reader) for place in range(len(names)))
    influences = tuple(reader.influences(root))
    return QueryLineage(columns, influences, tuple(sorted(reader.problems)))


def _column_of(
    outputs: Sequence[_Output], place: int, names: Sequence[str], reader: _Reader
) -> QueryColumn | None:
    """By position, or by name where a star hides the number of columns."""
    stars = [output for output in outputs if output.star is not None]
    if not stars and len(outputs) == len(names):
        return _spelled(outputs[place])
    name = fold(names[place])
    named = [output for output in outputs if output.star is None and fold(output.name) == name]
    if len(named) == 1:
        return _spelled(named[0])
    if len(stars) == 1 and not named:
        leaf = (stars[0].star or (), names[place])
        return QueryColumn(names[place], ((leaf, labels.IDENTITY),))
    among = ", ".join(sorted({".".join(output.star or ()) for output in stars}))
    reader.problems.add(f"{names[place]}: * of {among}" if stars else f"{names[place]}: not found")
    return None


def _spelled(output: _Output) -> QueryColumn:
    return QueryColumn(output.expression, tuple(sorted(output.flows)))


@dataclass(frozen=True, slots=True)
class _Output:
    """A column of a query, or all columns of a table: ``star`` is then its name."""

    name: str
    expression: str
    flows: frozenset[Flow] = frozenset()
    star: Parts | None = None


class _Reader:
    """Reads each scope once, within a bounded number of steps."""

    def __init__(self, dialect: str) -> None:
        self.problems: set[str] = set()
        self._dialect = dialect or None
        self._steps_left = _MOST_STEPS
        self._outputs: dict[int, tuple[_Output, ...]] = {}
        self._influences: dict[int, tuple[QueryInfluence, ...]] = {}

    def _step(self, count: int = 1) -> None:
        self._steps_left -= count
        if self._steps_left < 0:
            raise RuntimeError("the query is too large")

    def _text(self, node: exp.Expr) -> str:
        text = node.sql(dialect=self._dialect, comments=False)
        return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."

    # --- outputs ---------------------------------------------------------------------------------

    def outputs(self, scope: Scope) -> tuple[_Output, ...]:
        known = self._outputs.get(id(scope))
        if known is None:
            self._outputs[id(scope)] = ()  # a recursive CTE does not see itself
            known = self._outputs[id(scope)] = self._renamed(scope, tuple(self._read(scope)))
            self._step(1 + sum(1 + len(output.flows) for output in known))
        return known

    def _renamed(self, scope: Scope, outputs: tuple[_Output, ...]) -> tuple[_Output, ...]:
        """``(select a, b from t) q(x, y)``."""
        names = scope.outer_columns
        if not names or len(names) != len(outputs) or any(o.star is not None for o in outputs):
            return outputs
        return tuple(
            _Output(name, output.expression, output.flows)
            for name, output in zip(names, outputs, strict=True)
        )

    def _read(self, scope: Scope) -> Iterator[_Output]:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            yield from self._set_operation(scope)
        elif isinstance(expression, exp.Select):
            for projection in expression.selects:
                yield from self._projected(scope, projection)
        else:
            self.problems.add(f"{type(expression).__name__}: columns not known")

    def _set_operation(self, scope: Scope) -> Sequence[_Output]:
        """UNION takes from both sides, EXCEPT and INTERSECT keep rows of the left one."""
        left, right = (self.outputs(side) for side in _sides(scope))
        if not isinstance(scope.expression, exp.Union):
            return left
        if len(left) != len(right) or any(o.star is not None for o in (*left, *right)):
            tables = [".".join(o.star) for o in (*left, *right) if o.star is not None]
            self.problems.add(f"UNION of * of {', '.join(sorted(set(tables)))}")
            return ()
        return [
            _Output(a.name, _either(a.expression, b.expression), a.flows | b.flows)
            for a, b in zip(left, right, strict=True)
        ]

    def _projected(self, scope: Scope, projection: exp.Expr) -> Iterable[_Output]:
        if projection.is_star and isinstance(projection, exp.Star | exp.Column):
            if isinstance(projection, exp.Star):
                sources = [source for _, source in self._selected(scope)]
            else:
                sources = [s for n, s in self._selected(scope) if fold(n) == fold(projection.table)]
            return [output for source in sources for output in self._all_of(source)]
        bare = projection.unalias()
        flows = frozenset(self._flows(scope, bare))
        return [_Output(projection.alias_or_name, self._definition(scope, bare), flows)]

    def _definition(self, scope: Scope, bare: exp.Expr) -> str:
        """The text; for a column computed by an inner query, the text there."""
        if isinstance(bare, exp.Column):
            inner = [
                found
                for name, source in self._selected(scope)
                if not bare.table or fold(name) == fold(bare.table)
                if (found := self._of_source(source, bare.name))
            ]
            if len(inner) == 1:
                return inner[0].expression
        return self._text(bare)

    def _all_of(self, source: exp.Table | Scope) -> Sequence[_Output]:
        if isinstance(source, Scope):
            return [
                output
                if output.star is not None
                else _Output(output.name, output.expression, output.flows)
                for output in self.outputs(source)
            ]
        return [_Output("*", "*", star=_parts(source))]

    def _selected(self, scope: Scope) -> list[tuple[str, exp.Table | Scope]]:
        return [(name, source) for name, (_, source) in scope.selected_sources.items()]

    # --- flows -----------------------------------------------------------------------------------

    def _flows(self, scope: Scope, root: exp.Expr, how: str = labels.IDENTITY) -> Iterator[Flow]:
        stack: list[tuple[exp.Expr, str]] = [(root, how)]
        while stack:
            self._step()
            node, how = stack.pop()
            if isinstance(node, exp.Column):
                yield from ((leaf, _composed(how, own)) for leaf, own in self._column(scope, node))
            elif isinstance(node, exp.Query | exp.Exists):
                yield from self._subquery(scope, node, how)
            else:
                stack.extend(_below(node, how))

    def _subquery(self, scope: Scope, node: exp.Expr, how: str) -> Iterator[Flow]:
        """A subquery in an expression: its columns flow, and its conditions decide."""
        if isinstance(node, exp.Exists):
            node, how = node.this, labels.CONDITIONAL
        inner = node.unnest()
        found = next((s for s in scope.subquery_scopes if s.expression is inner), None)
        if found is None:
            self.problems.add(f"subquery: {self._text(node)[:80]}")
            return
        for output in self.outputs(found):
            yield from ((leaf, _composed(how, own)) for leaf, own in output.flows)
        for influence in self.influences(found):
            yield from ((leaf, labels.CONDITIONAL) for leaf in influence.sources)

    def _column(self, scope: Scope, column: exp.Column) -> Iterable[Flow]:
        if isinstance(column, exp.Pseudocolumn) or isinstance(column.this, exp.Star):
            return ()
        if not column.table and column.name.lower() in _NO_COLUMNS:
            return ()
        enclosing: Scope | None = scope
        while enclosing is not None:
            found = self._in_scope(enclosing, column)
            if found is not None:
                self._step(len(found))
                return found
            enclosing = enclosing.parent if enclosing.can_be_correlated else None
        self.problems.add(f"{column.sql(dialect=self._dialect)}: no table has it")
        return ()

    def _in_scope(self, scope: Scope, column: exp.Column) -> Sequence[Flow] | None:
        """The definitions of a name among the tables of one FROM; None: no table has it."""
        sources = self._selected(scope)
        if column.table:
            sources = [(n, s) for n, s in sources if fold(n) == fold(column.table)]
        definite = [found for _, s in sources if (found := self._of_source(s, column.name))]
        if definite:
            return [flow for found in definite for flow in found.flows]
        possible = {table: None for _, s in sources for table in self._open_tables(s)}
        shared = _using(scope, column.name) if not column.table else 0
        if len(possible) == 1 or (possible and shared and shared + 1 == len(possible)):
            return [((table, column.name), labels.IDENTITY) for table in possible]
        if possible:
            among = ", ".join(sorted(".".join(table) for table in possible))
            self.problems.add(f"{column.name}: one of {among}")
            return []
        return None

    def _of_source(self, source: exp.Table | Scope, name: str) -> _Output | None:
        """The column of that name, in a subquery or CTE that is known to have it."""
        if not isinstance(source, Scope):
            return None
        for output in self.outputs(source):
            if output.star is None and fold(output.name) == fold(name):
                return output
        return None

    def _open_tables(self, source: exp.Table | Scope) -> Iterator[Parts]:
        """Tables with unknown columns, used directly or through a star."""
        if not isinstance(source, Scope):
            yield _parts(source)
            return
        yield from (output.star for output in self.outputs(source) if output.star is not None)

    # --- influences ------------------------------------------------------------------------------

    def influences(self, scope: Scope) -> tuple[QueryInfluence, ...]:
        """The influences of a query and of the queries that it selects from, each once."""
        known = self._influences.get(id(scope))
        if known is None:
            self._influences[id(scope)] = ()
            inner = [s for _, s in self._selected(scope) if isinstance(s, Scope)]
            found = [item for s in (*_sides(scope), *inner) for item in self.influences(s)]
            found += self._own_influences(scope)
            known = self._influences[id(scope)] = tuple(dict.fromkeys(found))
            self._step(1 + sum(1 + len(item.sources) for item in known))
        return known

    def _own_influences(self, scope: Scope) -> Iterator[QueryInfluence]:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            yield from self._compared(scope, expression)
        for how, node, text in _statements(expression):
            leaves = dict.fromkeys(self._leaves(scope, node))
            if leaves:
                yield QueryInfluence(how, text or self._text(node), tuple(sorted(leaves)))
        if isinstance(expression, exp.Select) and expression.args.get("distinct"):
            yield from self._whole(labels.GROUP_BY, "DISTINCT", [scope])

    def _leaves(self, scope: Scope, node: exp.Expr) -> Iterator[Leaf]:
        """Columns of a condition; in ORDER BY and GROUP BY also names and numbers of outputs."""
        for item in _items(node):
            output = self._output_named(scope, item) if item is not node else None
            flows = output.flows if output is not None else self._flows(scope, item)
            yield from (leaf for leaf, _ in flows)

    def _output_named(self, scope: Scope, item: exp.Expr) -> _Output | None:
        bare = item.this if isinstance(item, exp.Ordered) else item
        outputs = self.outputs(scope)
        if isinstance(bare, exp.Literal) and not bare.is_string and bare.this.isdigit():
            place = int(bare.this) - 1 if len(bare.this) < 6 else -1
            return outputs[place] if 0 <= place < len(outputs) else None
        if isinstance(bare, exp.Column) and not bare.table:
            named = [o for o in outputs if o.star is None and fold(o.name) == fold(bare.name)]
            return named[0] if len(named) == 1 else None
        return None

    def _compared(self, scope: Scope, expression: exp.SetOperation) -> Iterator[QueryInfluence]:
        word = type(expression).__name__.upper()
        if not isinstance(expression, exp.Union):
            yield from self._whole(labels.FILTER, word, _sides(scope))
        elif expression.args.get("distinct"):
            yield from self._whole(labels.GROUP_BY, word, _sides(scope))

    def _whole(self, how: str, text: str, scopes: Sequence[Scope]) -> Iterator[QueryInfluence]:
        flows = {leaf for s in scopes for output in self.outputs(s) for leaf, _ in output.flows}
        if flows:
            yield QueryInfluence(how, text, tuple(sorted(flows)))


# --- the parts of a query ------------------------------------------------------------------------


def _parts(table: exp.Table) -> Parts:
    return tuple(part for part in (table.catalog, table.db, table.name) if part)


def _sides(scope: Scope) -> Sequence[Scope]:
    """The two queries of a UNION, EXCEPT or INTERSECT; none for any other query."""
    return scope.set_operation_scopes if isinstance(scope.expression, exp.SetOperation) else ()


def _either(left: str, right: str) -> str:
    return left if left == right else f"union({left}, {right})"[:_MOST_TEXT]


def _composed(outer: str, inner: str) -> str:
    """The flow through both steps: an influence stays one, and the stronger of two flows wins."""
    for how in (outer, inner):
        if how not in _STRENGTH:
            return how
    return max(outer, inner, key=_STRENGTH.index)


def _below(node: exp.Expr, how: str) -> Iterator[tuple[exp.Expr, str]]:
    """The parts of an expression, each with its flow."""
    influencing = _INFLUENCING.get(type(node))
    if isinstance(node, exp.AggFunc):
        how = _composed(how, labels.AGGREGATION)
    elif not isinstance(node, exp.Paren | exp.Alias | exp.Window | exp.Filter | exp.Ordered):
        how = _composed(how, labels.TRANSFORMATION)
    for key, value in node.args.items():
        own = how
        if influencing is not None and key in influencing[0]:
            own = _composed(influencing[1], how) if how in _STRENGTH else how
        listed = value if isinstance(value, list) else [value]
        yield from ((item, own) for item in listed if isinstance(item, exp.Expr))


#: Arguments that only decide over the result.
_INFLUENCING: Final[dict[type[Any], tuple[frozenset[str], str]]] = {
    exp.Case: (frozenset({"this"}), labels.CONDITIONAL),
    exp.If: (frozenset({"this"}), labels.CONDITIONAL),
    exp.Filter: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.Nullif: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.Window: (frozenset({"partition_by", "order"}), labels.WINDOW),
}


def _statements(expression: exp.Expr) -> Iterator[tuple[str, exp.Expr, str]]:
    """(how, node, text or "") of the clauses of a SELECT that decide over its rows."""
    for key, how in (("where", labels.FILTER), ("having", labels.FILTER)):
        if (clause := expression.args.get(key)) is not None:
            yield from ((how, part, "") for part in _conjuncts(clause.this))
    if (clause := expression.args.get("qualify")) is not None:
        yield (labels.FILTER, clause.this, "")
    for join in expression.args.get("joins") or ():
        if (condition := join.args.get("on")) is not None:
            yield from ((labels.JOIN, part, "") for part in _conjuncts(condition))
        for column in join.args.get("using") or ():
            node = exp.column(column.copy()) if isinstance(column, exp.Identifier) else column
            yield (labels.JOIN, node, f"USING ({column.name})")
    for key, how in (("group", labels.GROUP_BY), ("order", labels.SORT)):
        if (clause := expression.args.get(key)) is not None:
            yield (how, clause, ", ".join(item.sql() for item in clause.expressions)[:_MOST_TEXT])


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """``a AND (b AND c)`` => a, b, c."""
    stack = [condition]
    while stack:
        node = stack.pop().unnest()
        if isinstance(node, exp.And):
            stack.extend((node.expression, node.this))
        else:
            yield node


def _items(node: exp.Expr) -> Sequence[exp.Expr]:
    """The items of GROUP BY or ORDER BY; any other node itself."""
    if isinstance(node, exp.Order):
        return node.expressions
    if isinstance(node, exp.Group):
        return [
            item
            for value in node.args.values()
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, exp.Expr)
        ]
    return [node]


def _using(scope: Scope, name: str) -> int:
    """The number of joins in this FROM that share a column of the name by USING."""
    joins = scope.expression.args.get("joins") or ()
    return sum(
        any(fold(column.name) == fold(name) for column in join.args.get("using") or ())
        for join in joins
    )
