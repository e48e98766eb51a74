"""Queries: the relation that each makes, in one walk over its scopes.

    with c as (select k, sum(v) as v from t group by k) select c.v from c join d using (k)

    v         t.v  AGGREGATION
    GROUP_BY  t.k
    JOIN      t.k, d.k

What a name means there is in ``scopes``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from sqlglot import exp

from graph_model import labels
from graph_model.regular_expressions import expression_test
from graph_model.sql.names import (
    ANY_COLUMN,
    OF_POSTGRES,
    OF_TSQL,
    Leaf,
    Parts,
    SqlNames,
    qualified_name,
    split_name,
)
from graph_model.sql.scopes import (
    MOST_STEPS,
    STAR,
    UNSUPPORTED,
    Common,
    Commons,
    FromItem,
    NameReader,
    SelectScope,
)
from graph_model.sql.values import (
    AGGREGATES,
    NOTHING,
    ColumnValue,
    Flow,
    Flows,
    Influences,
    SqlInfluence,
    SqlRelation,
    Star,
    Texts,
    as_written,
    base_table,
    composed,
    conjuncts,
    is_aggregate,
    items,
    parts_of,
    stepped,
)

_RECURSIVE_WITHOUT_A_WORD: Final = frozenset({"tsql", "oracle", "teradata", "fabric"})
_MOST_ROUNDS: Final = 20  # of a recursive query, whose flows reach its columns one after another

_MANY_COMMONS: Final = 50  # common table expressions of one query

_WITHOUT_NAMES: Final = ("key", "value")  # the columns of a TRANSFORM that names none

_WORDS: Final = re.compile(r"\w+")  # of a pattern of rows

#: These compare the structs among which they pick.
_COMPARING: Final = (
    exp.Max, exp.Min, exp.ArrayMax, exp.ArrayMin, exp.ArraySort, exp.Greatest, exp.Least
)  # fmt: skip
#: The value is one of these, field by field.
_AMONG: Final = (
    exp.Array, exp.Greatest, exp.Least, exp.Coalesce, exp.Case, exp.If, exp.Nvl2, exp.Nullif,
    exp.Lag, exp.Lead, exp.NthValue,
)  # fmt: skip
#: From inside a group's aggregate to one of its values.
_PICKING: Final = (
    exp.Bracket, exp.ArrayAgg, exp.AnyValue, exp.Order, exp.Limit, exp.HavingMax, exp.IgnoreNulls,
    exp.First, exp.Last, exp.FirstValue, exp.LastValue, exp.ArgMax, exp.ArgMin, exp.Cast, exp.Paren,
    exp.Window, exp.Filter, *_COMPARING,
)  # fmt: skip
#: Of these, the arguments that decide which is picked.
_DECIDED: Final = (exp.Order, exp.HavingMax, exp.ArgMax, exp.ArgMin, exp.Filter)
_WITH_FIELDS: Final = (*_PICKING, exp.ArraysZip, *_AMONG)

_SELECTING: Final = frozenset({"duckdb", "clickhouse"})  # have COLUMNS('a|b')

_METHODS: Final = frozenset({"value", "query", "exist", "nodes"})  # of XML in T-SQL


class Temporary(NamedTuple):
    """A temporary table of the script: what it is made of, and the stored tables behind it."""

    relation: SqlRelation
    reads: frozenset[str]


class QueryReader(NameReader):
    """Reads the queries of one statement; ``temporary`` are the script's tables by name."""

    def __init__(
        self,
        names: SqlNames,
        texts: Texts,
        dialect: str,
        temporary: Mapping[str, Temporary],
        variables: Collection[str] = frozenset(),
        steps: int = MOST_STEPS,
        held: Callable[[str], tuple[Temporary, int | None] | None] = lambda _: None,
    ) -> None:
        """``steps``: how many the statement may take; ``held``: the rows of which a variable holds
        one, and the place in it, None for all of it; None where that is not known.
        """
        super().__init__(names, dialect, variables, steps)
        self._held = held
        self.texts = texts
        self.reads: dict[str, None] = {}
        self.files: set[str] = set()  # among the reads, also those that functions read
        self.returned: dict[int, Temporary] = {}  # by the id of the statement that changes rows
        self._temporary = temporary

    def row_variable(self, name: str, frame: SelectScope) -> FromItem | None:
        held = self._held(name.lower())
        if held is None or held[1] is not None:
            return None
        return FromItem((name,), self._used(held[0], frame))

    def is_held(self, name: str) -> bool:
        return self._held(name.lower()) is not None

    def value_variable(self, name: str, frame: SelectScope) -> ColumnValue:
        held = self._held(name.lower())
        values = held[0].relation.values if held is not None else ()
        place = 0 if held is None or held[1] is None else held[1]
        is_row = held is not None and held[1] is None and len(values) > 1
        if held is None or is_row or place >= len(values) or any(v.tables for v in values):
            return ColumnValue(name)
        self._used(held[0], frame)
        return values[place].named(name)

    def _used(self, kept: Temporary, frame: SelectScope) -> SqlRelation:
        self.reads.update(dict.fromkeys(kept.reads))
        if kept.relation.influences is not None:
            frame.influences.inner.append(kept.relation.influences)
        return kept.relation

    def _variable(self, node: exp.Expr) -> str:
        """``@a``, ``:a``, ``a(i)`` of an array: the variable's name, "" for another expression."""
        if isinstance(node, exp.Parameter | exp.Placeholder | exp.Anonymous):
            name = f"{'@' if isinstance(node, exp.Parameter) else ''}{node.name}".lower()
            return name if self._held(name) is not None else ""
        return ""

    # --- queries ---------------------------------------------------------------------------------

    def query(self, node: exp.Expr, outer: SelectScope | None, commons: Commons) -> SqlRelation:
        """The columns of a query; its influences are with them."""
        self.step()
        commons = self.commons(node, outer, commons)
        if isinstance(node, exp.Select):
            return self._select(node, outer, commons)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, outer, commons)
        if isinstance(node, exp.Subquery):
            return self._bracketed(node, outer, commons)
        if isinstance(node, exp.Values):
            return self._values(node, SelectScope(outer, commons))
        if isinstance(node, exp.Table):  # FROM t, alone
            frame = SelectScope(outer, commons)
            self.add(node, frame)
            return self._result(frame, self._all(frame, None))
        if isinstance(node, exp.Paren):
            return self.query(node.this, outer, commons)
        if isinstance(node, exp.Pivot):  # PIVOT t ON …, UNPIVOT t ON … INTO NAME … VALUE …
            return self._pivot_alone(node, SelectScope(outer, commons))
        self.gap(UNSUPPORTED, type(node).__name__)
        return SqlRelation(())

    def commons(self, node: exp.Expr, outer: SelectScope | None, around: Commons) -> Commons:
        clause = node.args.get("with_")
        if clause is None:
            return around
        known = dict(around)
        for common in clause.expressions:
            recursive = bool(clause.args.get("recursive"))
            recursive = recursive or self._dialect in _RECURSIVE_WITHOUT_A_WORD
            name = self.names.identifier(common.args["alias"].this)
            known[name.lower()] = Common(common, dict(known), recursive, outer)
        bodies = [common.this for common in clause.expressions]
        if len(bodies) > _MANY_COMMONS and not any(isinstance(body, exp.DML) for body in bodies):
            reads = dict(self.reads)
            for each in known.values():  # each of the one before: no deep stack
                self._common(each)
            self.reads = reads  # those of the ones that are used follow
        return known

    def _common(self, common: Common) -> SqlRelation:
        if common.relation is None:
            reads, self.reads = self.reads, {}
            body, alias = common.node.this, common.node.args["alias"]
            columns = [self.names.identifier(column) for column in alias.columns]
            bare = body.unnest() if isinstance(body, exp.Subquery) else body
            if common.recursive and isinstance(bare, exp.SetOperation):
                name = self.names.identifier(alias.this)
                common.relation = self._recursive(common, bare, name, columns)
            elif isinstance(body, exp.DML) or not isinstance(body, exp.Query | exp.Values):
                kept = self.returned.get(id(body), Temporary(SqlRelation(()), frozenset()))
                self.reads.update(dict.fromkeys(kept.reads))
                common.relation = kept.relation.renamed(columns)
            else:
                made = self.query(body, common.outer, common.around)
                common.relation = made.renamed(columns)
            common.reads, self.reads = tuple(self.reads), reads
        self.reads.update(dict.fromkeys(common.reads))
        return common.relation

    def returning(self, clause: exp.Expr, frame: SelectScope) -> SqlRelation:
        """The rows that RETURNING or OUTPUT has of what a statement changes."""
        return self._result(
            frame, [v for item in clause.expressions for v in self._projected(item, frame)]
        )

    def _recursive(
        self, common: Common, node: exp.SetOperation, name: str, columns: list[str]
    ) -> SqlRelation:
        """The first branch begins; the others are read until no column gains a source."""
        first, operations = _spine(node)
        around = self.commons(node, common.outer, common.around)
        made = self.query(first, common.outer, around).renamed(columns)
        gaps = dict(self.gaps)
        for _ in range(_MOST_ROUNDS):
            self.gaps = dict(gaps)  # of the last round alone
            itself = Common(common.node, {}, recursive=False, outer=None, relation=made)
            inside = {**around, name.lower(): itself}
            branches = [
                self.query(operation.expression, common.outer, inside) for operation in operations
            ]
            united = self._united(made, branches, node)
            if [v.flows for v in united.values] == [v.flows for v in made.values]:
                return united
            made = SqlRelation(united.values, united.influences)
        return made

    def _bracketed(
        self, node: exp.Subquery, outer: SelectScope | None, commons: Commons
    ) -> SqlRelation:
        inner = node.this
        if isinstance(inner, exp.Table) or node.args.get("joins") or node.args.get("pivots"):
            frame = SelectScope(outer, commons)
            self.add(node, frame)
            return self._result(frame, self._all(frame, None))
        return self._sorted(node, self.query(inner, outer, commons), outer, commons)

    def _sorted(
        self, node: exp.Expr, made: SqlRelation, outer: SelectScope | None, commons: Commons
    ) -> SqlRelation:
        """A query with an ORDER BY behind its brackets, or behind its last branch."""
        if node.args.get("order") is None:
            return made
        frame = SelectScope(outer, commons, [FromItem((), made)])
        frame.influences.inner.append(made.influences or Influences())
        self._ordered(node, frame, made)
        return SqlRelation(made.values, frame.influences)

    def _values(self, node: exp.Values, frame: SelectScope) -> SqlRelation:
        rows = [
            row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions
        ]
        width = max(map(len, rows), default=0)
        self.step(sum(map(len, rows)))
        columns: list[ColumnValue] = []
        for place in range(width):
            nodes = [row[place] for row in rows if place < len(row)]
            columns.append(self._computed(f"col{place + 1}", nodes, frame))
        alias = node.args.get("alias")
        names = [self.names.identifier(column) for column in alias.columns] if alias else []
        return SqlRelation(columns, frame.influences).renamed(names)

    def _computed(self, name: str, nodes: Sequence[exp.Expr], frame: SelectScope) -> ColumnValue:
        flows = {flow for node in nodes for flow in self.flows(node, frame)}
        return ColumnValue(name, frozenset(flows), tuple(nodes[:1]))

    def _result(self, frame: SelectScope, values: Iterable[ColumnValue]) -> SqlRelation:
        made = SqlRelation(values, frame.influences)
        self.step(1 + sum(1 + len(value.flows) for value in made.values))
        return made

    # --- set operations --------------------------------------------------------------------------

    def _set_operation(
        self, node: exp.SetOperation, outer: SelectScope | None, commons: Commons
    ) -> SqlRelation:
        first, operations = _spine(node)
        made = self.query(first, outer, commons)
        for operation in operations:
            branch = self.query(operation.expression, outer, commons)
            made = self._united(made, [branch], operation)
        return self._sorted(node, made, outer, commons)

    def _united(
        self, left: SqlRelation, branches: Sequence[SqlRelation], node: exp.SetOperation
    ) -> SqlRelation:
        """UNION takes from all; EXCEPT and INTERSECT keep rows of the left one."""
        influences = Influences(inner=[r.influences for r in (left, *branches) if r.influences])
        values: Sequence[ColumnValue] = left.values
        if isinstance(node, exp.Union):
            for branch in branches:
                values = self._paired(values, branch, by_name=bool(node.args.get("by_name")))
        word = type(node).__name__.upper()
        everything = frozenset(
            source for r in (left, *branches) for value in r.values for source, _ in value.flows
        )
        if everything and not isinstance(node, exp.Union):
            influences.own.append(SqlInfluence(labels.FILTER, (word,), everything))
        elif everything and node.args.get("distinct"):
            influences.own.append(SqlInfluence(labels.GROUP_BY, (word,), everything))
        united = SqlRelation(values, influences)
        self.step(1 + sum(1 + len(value.flows) for value in united.values))
        return united

    def _paired(
        self, left: Sequence[ColumnValue], right: SqlRelation, *, by_name: bool
    ) -> Sequence[ColumnValue]:
        if by_name:
            known = {value.name.lower() for value in left}
            paired = [_either(value, right.definite(value.name)) for value in left]
            return paired + [v for v in right.values if v.name.lower() not in known]
        others = right.values
        stars = [bool(value.tables) for value in left]
        if len(left) == len(others) and stars == [bool(value.tables) for value in others]:
            return [_either(*both) for both in zip(left, others, strict=True)]
        tables = {t for value in (*left, *others) for t in value.tables}
        among = f" of {', '.join(sorted(tables))}" if tables else ""
        self.gap(STAR, f"UNION of {len(left)} and {len(others)} columns{among}")
        return left

    # --- SELECT ----------------------------------------------------------------------------------

    def _select(self, node: exp.Select, outer: SelectScope | None, commons: Commons) -> SqlRelation:
        frame = self.from_clause(node, outer, commons)
        frame.windows = {
            self.names.identifier(window.this).lower(): window
            for window in node.args.get("windows") or ()
        }
        frame.aliases.update(self._scalars(node, frame))
        values: list[ColumnValue] = []
        plain: list[ColumnValue] = []  # of items that do not aggregate
        for projection in node.expressions:
            made = self._projected(projection, frame)
            values += made
            plain += () if _aggregates(projection) else made
            for value in made:
                if isinstance(projection, exp.Alias | exp.Aliases):
                    frame.aliases.setdefault(value.name.lower(), value)
        outputs = SqlRelation(values)
        self._conditions(node, frame)
        self._grouped(node, frame, outputs, plain)
        self._ordered(node, frame, outputs)
        return self._result(frame, values)

    def _scalars(self, node: exp.Select, frame: SelectScope) -> Iterator[tuple[str, ColumnValue]]:
        """``WITH (SELECT max(d) FROM s) AS m, a + 1 AS n``, as ClickHouse has it: m is a value."""
        clause = node.args.get("with_")
        for common in clause.expressions if clause is not None else ():
            if common.args.get("scalar"):
                name = self.names.identifier(common.args["alias"].this)
                yield name.lower(), self.value(common.this, name, frame)

    def from_clause(
        self, node: exp.Expr, outer: SelectScope | None, commons: Commons
    ) -> SelectScope:
        frame = SelectScope(outer, commons)
        clause = node.args.get("from_")
        if clause is not None:
            self.add(clause.this, frame)
        self._around(node, frame)
        if (match := node.args.get("match")) is not None and frame.sources:
            frame.sources.append(self._matched(match, frame.sources.pop(), frame))
            frame.forget()
        return frame

    def _matched(self, node: exp.MatchRecognize, source: FromItem, frame: SelectScope) -> FromItem:
        """The rows of MATCH_RECOGNIZE: partitions and measures, with ALL ROWS every column. Its
        conditions choose rows; partitions and their order decide over the measures.
        """
        pattern = node.args.get("pattern")
        variables = _WORDS.findall(pattern.name if pattern is not None else "")
        named = {
            name.lower(): FromItem((self.names.identifier(name),), source.relation)
            for name in variables
        }
        inside = SelectScope(frame, frame.commons, [source], variables=named)
        for item in node.args.get("define") or ():
            self.influence(labels.FILTER, item.this, inside)
        frame.influences.inner.append(inside.influences)
        parts = [
            self.value(item, self._output_name(item, item), inside)
            for item in node.args.get("partition_by") or ()
        ]
        order = node.args.get("order")
        deciding = {flow for value in parts for flow in stepped(value.flows, labels.WINDOW)}
        deciding |= self.flows(order, inside, labels.WINDOW) if order is not None else set()
        measures = [
            replace(value, flows=value.flows | deciding)
            for item in node.args.get("measures") or ()
            for value in self._projected(item.this, inside)
        ]
        rows = node.args.get("rows")
        every = rows is not None and rows.name.upper().startswith("ALL")
        alias = node.args.get("alias")
        name = source.name
        if alias is not None and alias.this is not None:
            name = (self.names.identifier(alias.this),)
        values = [*(source.relation.values if every else parts), *measures]
        return FromItem(name, SqlRelation(values))

    def _around(self, node: exp.Expr, frame: SelectScope) -> None:
        """The joins and lateral views beside a FROM, or beside a table in it."""
        for join in node.args.get("joins") or ():
            self.join(join, frame)
        for lateral in node.args.get("laterals") or ():
            self.add(lateral, frame)

    def _conditions(self, node: exp.Expr, frame: SelectScope) -> None:
        for key in ("prewhere", "where", "having", "qualify"):
            frame.selected = key in {"having", "qualify"}
            if (clause := node.args.get(key)) is not None:
                self.influence(labels.FILTER, clause.this, frame)
        hierarchy = node.args.get("connect")
        if hierarchy is not None:
            for key in ("start", "connect"):
                if (condition := hierarchy.args.get(key)) is not None:
                    self.influence(labels.FILTER, condition, frame)
        limit = node.args.get("limit")
        for item in (limit.args.get("expressions") or ()) if limit is not None else ():
            self.influence(labels.FILTER, item, frame)  # LIMIT 1 BY a

    def influence(self, how: str, condition: exp.Expr, frame: SelectScope) -> None:
        """A condition, split at AND."""
        for conjunct in conjuncts(condition):
            leaves = frozenset(leaf for leaf, _ in self.flows(conjunct, frame))
            if leaves:
                frame.influences.own.append(SqlInfluence(how, (conjunct,), leaves))

    def _grouped(
        self,
        node: exp.Select,
        frame: SelectScope,
        made: SqlRelation,
        plain: Sequence[ColumnValue],
    ) -> None:
        """``plain``: the outputs by which GROUP BY ALL groups."""
        clause = node.args.get("group")
        if clause is not None:
            if clause.args.get("all"):
                flows = {flow for value in plain for flow in value.flows}
            else:
                flows = set(self._listed(clause, frame, made, aliases_first=False))
            self._whole(labels.GROUP_BY, self._listed_texts(clause, made), flows, frame)
        distinct = node.args.get("distinct")
        if distinct is not None:
            on = distinct.args.get("on")
            if on is None:
                flows = {flow for value in made.values for flow in value.flows}
            else:
                flows = set(self._listed(on, frame, made, aliases_first=True))
            self._whole(labels.GROUP_BY, ("DISTINCT",), flows, frame)

    def _ordered(self, node: exp.Expr, frame: SelectScope, made: SqlRelation) -> None:
        for key in ("order", "sort", "cluster"):
            if (clause := node.args.get(key)) is not None:
                flows = set(self._listed(clause, frame, made, aliases_first=True))
                self._whole(labels.SORT, self._listed_texts(clause, made), flows, frame)

    @staticmethod
    def _whole(
        how: str, texts: tuple[exp.Expr | str, ...], flows: Iterable[Flow], frame: SelectScope
    ) -> None:
        if leaves := frozenset(leaf for leaf, _ in flows):
            frame.influences.own.append(SqlInfluence(how, texts, leaves))

    def _listed(
        self,
        clause: exp.Expr,
        frame: SelectScope,
        made: SqlRelation,
        *,
        aliases_first: bool,
    ) -> Iterator[Flow]:
        """GROUP BY and ORDER BY may name an output, or give its number."""
        for item in items(clause):
            if isinstance(item, exp.Literal):
                numbered = _numbered(item, made)
                yield from numbered.flows if numbered is not None else ()
                continue
            output = None
            if aliases_first and item.name.upper() == "ALL" and not made.definite(item.name):
                yield from (flow for value in made.values for flow in value.flows)
                continue
            if isinstance(item, exp.Column) and not item.table:
                name = self.names.identifier(item.this)
                output = made.definite(name)
                if not aliases_first and any(s.relation.definite(name) for s in frame.sources):
                    output = None
            yield from output.flows if output else self.flows(item, frame)

    @staticmethod
    def _listed_texts(clause: exp.Expr, made: SqlRelation) -> tuple[exp.Expr | str, ...]:
        """A number is the text of the output that it counts to."""
        texts: list[exp.Expr | str] = ["ALL"] if clause.args.get("all") else []
        for item in items(clause):
            numbered = _numbered(item, made) if isinstance(item, exp.Literal) else None
            texts += [item] if numbered is None else numbered.texts[:1] or [numbered.name]
        return tuple(texts)

    # --- projections -----------------------------------------------------------------------------

    def _projected(self, node: exp.Expr, frame: SelectScope) -> Sequence[ColumnValue]:
        if isinstance(node, exp.Star):
            return self._without(node, self._all(frame, None), frame)
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            parts = tuple(self.names.identifier(part) for part in node.parts[:-1])
            return self._without(node.this, self._all(frame, parts), frame)
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
            return self._without(node.expression, self._of_struct(node.this, frame), frame)
        if isinstance(node, exp.Aliases):
            flows = self.flows(node.this, frame)
            named = [self.names.identifier(alias) for alias in node.expressions]
            return [ColumnValue(name, flows, (node.this,)) for name in named]
        if isinstance(node, exp.QueryTransform):
            return self._transformed(node, frame)
        if isinstance(node, exp.EQ) and isinstance(node.this, exp.Parameter):
            self.flows(node.expression, frame)  # SELECT @x = a: no output
            return ()
        if isinstance(node, exp.EQ) and node.this.is_string and self._dialect in OF_TSQL:
            name = self.names.identifier(as_written(node.this))  # SELECT 'x' = a
            return [self.value(node.expression, name, frame)]
        bare = node.this if isinstance(node, exp.Alias) else node
        if self._dialect == "duckdb" and isinstance(bare, exp.Explode):  # unnest({'p': a, 'q': b})
            fields = self.value(bare.this, "", frame).fields
            if fields is not None:
                return list(fields.values())
        if isinstance(bare, exp.Like | exp.SimilarTo) and isinstance(bare.this, exp.Star):
            return self._selected(bare, frame)  # DuckDB: SELECT * LIKE 'a%'
        if isinstance(bare, exp.Apply):  # ClickHouse: SELECT * APPLY(sum)
            return list(self._applied(bare, frame))
        if self._dialect in _SELECTING and (columns := _columns_in(bare)) is not None:
            return list(self._for_each(node, bare, columns, frame))
        return [self.value(bare, self._output_name(node, bare), frame)]

    def _for_each(
        self, node: exp.Expr, bare: exp.Expr, columns: exp.Columns, frame: SelectScope
    ) -> Iterator[ColumnValue]:
        """``max(COLUMNS(*))``: one value for each column, under its name or the alias of all."""
        alias = self._output_name(node, bare) if isinstance(node, exp.Alias) else ""
        if "\\" in alias:  # AS 'x_\\1'
            self.gap(UNSUPPORTED, "COLUMNS under names that a pattern makes")
            return
        for column in self._selected(columns, frame):
            frame.selecting = column
            name = column.name if column.tables or not alias else alias
            made = column if bare is columns else self.value(bare, name, frame)
            yield replace(made, name=name, tables=column.tables)
        frame.selecting = None

    def _selected(self, node: exp.Expr, frame: SelectScope) -> Sequence[ColumnValue]:
        """The columns that ``COLUMNS('a|b')``, ``COLUMNS(['a'])``, ``COLUMNS(t.*)``, ``* LIKE 'a'``
        stand for, as far as they are known. Names meet in any case.
        """
        inner = node.this
        if isinstance(node, exp.Columns) and _is_star(inner):
            return self._projected(inner, frame)
        fits: Callable[[str], bool]
        if isinstance(node, exp.Columns) and isinstance(inner, exp.Array):
            listed = {as_written(item).lower() for item in inner.expressions}
            fits = listed.__contains__
        elif isinstance(inner, exp.Literal):
            fits = self._pattern(as_written(inner), whole=False)
        elif not isinstance(node, exp.Columns) and isinstance(node.expression, exp.Literal):
            words = as_written(node.expression)
            like = isinstance(node, exp.Like)
            fits = partial(_is_like, pattern=words) if like else self._pattern(words, whole=True)
        else:
            self.gap(UNSUPPORTED, "columns that a function chooses")
            return ()
        left_out = bool(node.args.get("negate"))
        return [
            replace(value, stars=()) if value.tables else value
            for value in self._all(frame, None)
            if value.tables or fits(value.name.lower()) is not left_out
        ]

    def _pattern(self, pattern: str, *, whole: bool) -> Callable[[str], bool]:
        try:
            return expression_test(f"(?i){pattern}", whole=whole)
        except Exception:  # no pattern for RE2, which DuckDB runs, too
            self.gap(UNSUPPORTED, "COLUMNS of a pattern that cannot be read")
            return lambda _: False

    def _applied(self, node: exp.Apply, frame: SelectScope) -> Iterator[ColumnValue]:
        function = node.expression.name or self.texts.of(node.expression)
        is_sum = function.lower() in AGGREGATES
        for value in self._projected(node.this, frame):
            flows = stepped(value.flows, labels.AGGREGATION if is_sum else labels.TRANSFORMATION)
            name = value.name if value.tables else f"{function}({value.name})"
            yield ColumnValue(name, flows, (node,), tables=value.tables)

    def _of_struct(self, node: exp.Expr, frame: SelectScope) -> Sequence[ColumnValue]:
        """``IF(a, s, t).*``, ``(s).*``: the fields of a value."""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Column):
            return self._all(frame, tuple(self.names.identifier(part) for part in node.parts))
        value = self.value(node, "", frame)
        if not (fields := value.members()):
            self.gap(STAR, f"{self.texts.of(node)}.*: its fields are not known")
        return fields

    def _transformed(self, node: exp.QueryTransform, frame: SelectScope) -> Sequence[ColumnValue]:
        """``TRANSFORM (a) USING 'script' AS (c, d)``: any column may come from any input."""
        schema = node.args.get("schema")
        listed = [item.name for item in schema.expressions] if schema is not None else []
        inputs = [self.flows(item, frame) for item in node.expressions]
        flows = stepped(frozenset().union(*inputs), labels.TRANSFORMATION)
        named = map(self.names.identifier, listed or _WITHOUT_NAMES)
        return [ColumnValue(name, flows, (node,)) for name in named]

    def _output_name(self, node: exp.Expr, bare: exp.Expr) -> str:
        if isinstance(node, exp.Alias):
            return self.names.identifier(node.args["alias"])
        # A column has the name of its function there, or of the column that it casts.
        by_function = self._dialect in OF_POSTGRES
        passed = (exp.Paren, exp.Cast) if by_function else (exp.Paren,)
        while isinstance(bare, passed):
            bare = bare.this
        if isinstance(bare, exp.Column):
            numbered = "$" if isinstance(bare.this, exp.Parameter) else ""  # t.$1
            return numbered + self.names.identifier(bare.this)
        if isinstance(bare, exp.Dot) and isinstance(bare.expression, exp.Identifier):
            return self.names.identifier(bare.expression)
        if by_function:
            return _function_name(bare, self._dialect) or self.texts.name(bare)
        return self.texts.name(node)

    def value(self, bare: exp.Expr, name: str, frame: SelectScope) -> ColumnValue:
        """The value of an expression; a column that an inner query computes has the text there."""
        while isinstance(bare, exp.Paren):
            bare = bare.this
        if isinstance(bare, exp.Column):
            meant = self.column(bare, frame)
            return replace(meant, name=name, texts=meant.texts or (bare,), tables=(), stars=())
        if isinstance(bare, exp.Struct):
            return self._struct(bare, name, frame)
        fields = self._picked(bare, frame) if isinstance(bare, _WITH_FIELDS) else None
        return ColumnValue(name, self.flows(bare, frame), (bare,), fields=fields)

    def _picked(self, node: exp.Expr, frame: SelectScope) -> Mapping[str, ColumnValue] | None:
        """The members of a struct or row that is picked from those of a group:
        ``array_agg(t ORDER BY c LIMIT 1)[OFFSET(0)]``; None for other values. Structs are compared
        by one member after the other: in ``max(struct(a, b)).b`` a decides about b.
        """
        how, deciding, compared = labels.IDENTITY, set[Flow](), False
        names: Sequence[str] | None = None
        while isinstance(node, _PICKING) and not isinstance(node, _AMONG):
            if isinstance(node, exp.AggFunc):
                how = labels.AGGREGATION
            elif isinstance(node, (*_COMPARING, exp.Cast)):
                how = composed(how, labels.TRANSFORMATION)
            for item in (*node.expressions, node.args.get("expression")):
                if isinstance(node, _DECIDED) and item is not None:
                    deciding |= self.flows(item, frame, labels.CONDITIONAL)
            for item in _window_parts(node):
                deciding |= self.flows(item, frame, labels.WINDOW)
            compared |= isinstance(node, _COMPARING)
            if isinstance(node, exp.Cast):
                names = names or self._field_names(node.to)
                if not names:
                    return None
            node = node.this
        if isinstance(node, exp.Struct):
            members = self._struct(node, "", frame).fields or {}
        elif isinstance(node, exp.ArraysZip):
            how = composed(how, labels.TRANSFORMATION)
            members = self._struct(node, "", frame).fields or {}
        elif isinstance(node, _AMONG):
            how = composed(how, labels.TRANSFORMATION)
            compared |= isinstance(node, _COMPARING)
            choices, conditions = _choices(node)
            if (among := self._among(choices, frame)) is None:
                return None
            members = among
            for item in conditions:
                deciding |= self.flows(item, frame, labels.CONDITIONAL)
        elif isinstance(node, exp.Column) and not node.table and self._is_source(node, frame):
            row = next(self._answering((self.names.identifier(node.this),), frame))
            members = {value.name.lower(): value for value in row.relation.values}
            if row.relation.is_open:
                return None
        else:
            return None
        keys = list(members) if names is None else [name.lower() for name in names]
        if len(keys) != len(members):
            return None
        found: dict[str, ColumnValue] = {}
        for key, value in zip(keys, members.values(), strict=True):
            found[key] = replace(value, flows=stepped(value.flows, how) | deciding)
            if compared:
                deciding |= {(leaf, labels.CONDITIONAL) for leaf, _ in value.flows}
        return found

    def _among(
        self, choices: Iterable[exp.Expr], frame: SelectScope
    ) -> Mapping[str, ColumnValue] | None:
        """The fields of ``greatest(struct(a, b), struct(c, d))`` by their places, under the names
        of the first: of b b and d; None where not all are structs of the same number of fields.
        """
        listed: list[Mapping[str, ColumnValue]] = []
        for item in choices:
            if not isinstance(item, exp.Null):
                listed.append(self._built_fields(item, frame) or {})
                if not listed[-1] or len(listed[-1]) != len(listed[0]):
                    return None
        if not listed:
            return None
        places = zip(listed[0].items(), *(fields.values() for fields in listed[1:]), strict=True)
        return {
            key: replace(value, flows=value.flows.union(*(other.flows for other in more)))
            for (key, value), *more in places
        }

    def _built_fields(self, node: exp.Expr, frame: SelectScope) -> Mapping[str, ColumnValue] | None:
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Struct):
            return self._struct(node, "", frame).fields
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self.column(node, frame).fields
        return self._picked(node, frame) if isinstance(node, _WITH_FIELDS) else None

    def _field_names(self, data_type: exp.DataType) -> Sequence[str]:
        """The names of the fields of a struct type, or of an array of such; () for other types."""
        while data_type.this is exp.DataType.Type.ARRAY and data_type.expressions:
            data_type = data_type.expressions[0]
        fields = data_type.expressions if data_type.this is exp.DataType.Type.STRUCT else ()
        named = [field.this for field in fields if isinstance(field, exp.ColumnDef)]
        return [self.names.identifier(name) for name in named] if len(named) == len(fields) else ()

    def _struct(
        self, node: exp.Struct | exp.ArraysZip, name: str, frame: SelectScope
    ) -> ColumnValue:
        members: dict[str, ColumnValue] = {}
        for item in node.expressions:
            if isinstance(item, exp.PropertyEQ | exp.Alias):
                alias = item.this if isinstance(item, exp.PropertyEQ) else item.args["alias"]
                inner = item.expression if isinstance(item, exp.PropertyEQ) else item.this
                member = self.names.identifier(alias)
            else:
                inner, member = item, self._output_name(item, item)
            members[member.lower()] = self.value(inner, member, frame)
        flows = {
            flow
            for member_value in members.values()
            for flow in stepped(member_value.flows, labels.TRANSFORMATION)
        }
        return ColumnValue(name, frozenset(flows), (node,), fields=members)

    def _without(
        self, star: exp.Expr, values: Sequence[ColumnValue], frame: SelectScope
    ) -> Sequence[ColumnValue]:
        """``* ILIKE 'x%' EXCEPT (a) REPLACE (b + 1 AS b) RENAME (c AS d)``."""
        if (pattern := star.args.get("ilike")) is not None:
            words = as_written(pattern)
            values = [
                replace(value, stars=()) if value.tables else value
                for value in values
                if value.tables or _is_like(value.name, words)
            ]
        left_out = {self.names.identifier(item).lower() for item in star.args.get("except_") or ()}
        replaced = {
            self.names.identifier(item.args["alias"]).lower(): item.this
            for item in star.args.get("replace") or ()
        }
        renamed = {
            self.names.identifier(item.this).lower(): self.names.identifier(item.args["alias"])
            for item in star.args.get("rename") or ()
        }
        if not (left_out or replaced or renamed):
            return values
        gone = {*left_out, *replaced, *renamed}
        kept = [value.without(gone) for value in values if value.name.lower() not in left_out]
        if replaced or renamed:
            kept = [value.scattered() for value in kept]
        made = [
            (
                self.value(replaced[value.name.lower()], value.name, frame)
                if value.name.lower() in replaced
                else value
            ).named(renamed.get(value.name.lower(), value.name))
            for value in kept
        ]
        known = {value.name.lower() for value in values}
        added = [
            self.value(node, name, frame) for name, node in replaced.items() if name not in known
        ]
        opens = [value for value in values if value.tables]
        for name, other in renamed.items():
            if name not in known and len(opens) == 1 and len(opens[0].stars) == 1:
                flow = ((opens[0].stars[0].table, name), labels.IDENTITY)
                added.append(ColumnValue(other, frozenset({flow})))
        return [*made, *added]

    # --- FROM ------------------------------------------------------------------------------------

    def add(self, node: exp.Expr, frame: SelectScope, *, hidden: bool = False) -> None:
        """An item of FROM, with the joins that hang at it, as a source of the frame."""
        self.step()
        if isinstance(node, exp.Final | exp.Stream):  # FROM t FINAL, FROM STREAM(t): t
            inner = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
            if (around := node.args.get("alias")) is not None and not inner.args.get("alias"):
                inner.set("alias", around)
            node = inner
        if isinstance(node, exp.AtIndex):  # FROM t, t.items AS i AT place
            place = self.names.identifier(node.expression)
            frame.shared[place.lower()] = ColumnValue(place)
            node = _as_table(node.this)
        alias = node.args.get("alias")
        columns = alias.columns if isinstance(alias, exp.TableAlias) else ()
        label = alias.this if isinstance(alias, exp.TableAlias) and alias.this else node.alias
        relation = self._relation(node, frame, [self.names.identifier(c) for c in columns])
        if relation is not None:
            for pivot in node.args.get("pivots") or ():
                name = (self.names.identifier(label),) if label else self._place(node)
                relation = self._pivoted(FromItem(name, relation), pivot, frame)
                label = pivot.args["alias"].this if pivot.alias else label
            if relation.influences is not None:
                frame.influences.inner.append(relation.influences)
            parts = (self.names.identifier(label),) if label else self._place(node)
            frame.sources.append(FromItem(parts, relation, hidden))
        self._around(node, frame)

    def _relation(
        self, node: exp.Expr, frame: SelectScope, columns: list[str]
    ) -> SqlRelation | None:
        """None where the item is a bracket around others, which are sources themselves."""
        if isinstance(node, exp.Table):
            return self._table(node, frame).renamed(columns)
        if isinstance(node, exp.Lateral):
            inner = node.this
            if isinstance(inner, exp.Subquery | exp.Query):
                return self.query(inner, frame, frame.commons).renamed(columns)
            return self._generated(inner, frame, columns)
        if isinstance(node, exp.Unnest):
            return self._unnested(node, frame, columns)
        if isinstance(node, exp.Values):
            return self._values(node, SelectScope(frame, frame.commons))
        if isinstance(node, exp.Subquery) and _is_join(node):
            inside = SelectScope(frame.parent, frame.commons) if node.alias else frame
            self.add(node.this, inside)  # (a JOIN b ON …)
            if not node.alias:
                return None
            return self._result(inside, self._all(inside, None)).renamed(columns)
        if isinstance(node, exp.Query):
            bare = node.this if isinstance(node, exp.Subquery) else node
            lateral = self._dialect in {"bigquery"}
            outer = frame if lateral else frame.parent
            return self.query(bare, outer, self.commons(node, outer, frame.commons)).renamed(
                columns
            )
        if isinstance(node, exp.Paren):
            self.add(node.this, frame)
            return None
        return self._generated(node, frame, columns)

    def _table(self, node: exp.Table, frame: SelectScope) -> SqlRelation:
        if isinstance(node.this, exp.SemanticView):
            node = node.this.this
        last = node.this.expression if isinstance(node.this, exp.Dot) else node.this
        is_name = isinstance(last, exp.DynamicIdentifier) and last.this.is_string
        if isinstance(last, exp.Func) and not is_name:
            return self._function(node, frame)
        parts = self.names.parts(node)
        if len(parts) == 1:
            key = self.names.identifier(node.this)
            if (common := frame.commons.get(key.lower())) is not None:
                return self._common(common)
            if (nested := self._nested(parts, frame)) is not None:
                return nested
        table = self.names.table(node)
        kept = self._temporary.get(qualified_name(parts)) or self._temporary.get(table)
        if kept is not None:
            self.reads.update(dict.fromkeys(kept.reads))
            return kept.relation
        if len(parts) > 1 and (inner := self._nested(parts, frame)) is not None:
            return inner
        if is_hash(node):
            self.gap(UNSUPPORTED, f"{parts[-1]}: a temporary table that another text makes")
            return SqlRelation((), otherwise=ColumnValue(ANY_COLUMN))
        self.reads[table] = None
        if self.names.is_file(node):
            self.files.add(table)
        return base_table(table, self.names.columns(table))

    def _nested(self, parts: Parts, frame: SelectScope) -> SqlRelation | None:
        """``FROM t, t.items i``: an array of the table, as Redshift and BigQuery have it."""
        if len(parts) < 2:
            return None
        for source in frame.named(parts[:1]):
            if len(source.name) == 1:
                value = self.of_source(source, parts[1])
                for name in parts[2:]:
                    value = value.field(name)
                return _exploded(value.flows, [], ())
        return None

    def _function(self, node: exp.Table, frame: SelectScope) -> SqlRelation:
        """A table function: files that it names are read, its columns come from its arguments."""
        reading = _reads_a_file(node.this)
        for literal in node.this.find_all(exp.Literal, exp.National):
            is_text = bool(literal.args.get("is_string", True))
            if is_text and (reading or "://" in literal.this):
                self.reads[literal.this] = None
                self.files.add(literal.this)
                return base_table(literal.this, None)
        flows = self.flows(node.this, frame)
        if isinstance(node.this, exp.JSONTable | exp.XMLTable):
            listed = node.this.find_all(exp.JSONColumnDef, exp.ColumnDef)
            names = [
                self.names.identifier(definition.this)
                for definition in listed
                if definition.this is not None
            ]
            return _closed(_exploded(flows, names, (node.this,)))
        return SqlRelation((), otherwise=ColumnValue(ANY_COLUMN, flows, (node.this,)))

    def _generated(self, node: exp.Expr, frame: SelectScope, columns: list[str]) -> SqlRelation:
        """Every column of explode, flatten and the like comes from all inputs."""
        if any(str(call.this).upper() == "RESULT_SCAN" for call in node.find_all(exp.Anonymous)):
            self.gap(UNSUPPORTED, "RESULT_SCAN: what another query returned")
        arguments = [part for part, _ in parts_of(node, labels.IDENTITY)]
        flows = {flow for part in arguments for flow in self.flows(part, frame)}
        made = _exploded(frozenset(flows), columns, (node,))
        if made.otherwise is not None and not self._has_fields(node):
            made.otherwise = replace(made.otherwise, element=False)
        return _closed(made)

    def _has_fields(self, node: exp.Expr) -> bool:
        """Whether a name behind its alias is a field of the rows, not a column of the function."""
        return self._dialect != "snowflake" and isinstance(node, exp.Explode | exp.Inline)

    def _unnested(self, node: exp.Unnest, frame: SelectScope, columns: list[str]) -> SqlRelation:
        """UNNEST(a, b) AS u(x, y): each column from the array in its place."""
        arrays = [self.flows(array, frame) for array in node.expressions]
        place = node.args.get("offset")
        numbers = (
            [ColumnValue(self.names.identifier(place))] if isinstance(place, exp.Identifier) else []
        )
        element = _element(frozenset(f for flows in arrays for f in flows), (node,))
        if len(arrays) == len(columns):
            values = [
                ColumnValue(name, stepped(flows, labels.TRANSFORMATION), (node,), element=True)
                for name, flows in zip(columns, arrays, strict=True)
            ]
        else:
            values = [element.named(name) for name in columns]
        made = SqlRelation([*values, *numbers], otherwise=element)
        return made if self._dialect == "bigquery" else _closed(made)

    def _place(self, node: exp.Expr) -> Parts:
        """The name that a relation without an alias has."""
        return self.names.parts(node) if isinstance(node, exp.Table) else ()

    def _pivoted(self, source: FromItem, pivot: exp.Pivot, frame: SelectScope) -> SqlRelation:
        relation = source.relation
        inside = SelectScope(frame.parent, frame.commons, [source])
        fields = [item for item in pivot.args.get("fields") or () if isinstance(item, exp.In)]
        if pivot.args.get("unpivot"):
            return self._unpivoted(relation, pivot, fields, inside)
        deciding = {
            (leaf, labels.CONDITIONAL)
            for item in fields
            for leaf, _ in self.flows(item.this, inside)
        }
        measured = [
            (item, self.flows(item, inside)) for item in pivot.expressions
        ]  # fmt: skip
        made = [
            ColumnValue(
                self.names.identifier(column),
                measured[place % len(measured)][1] | deciding,
                (measured[place % len(measured)][0],),
            )
            for place, column in enumerate(pivot.args.get("columns") or ())
            if measured
        ]
        used = {
            self.names.identifier(column.this).lower()
            for item in (*pivot.expressions, *(f.this for f in fields))
            for column in item.find_all(exp.Column)
        }
        kept = [value.without(used) for value in relation.values if value.name.lower() not in used]
        columns = pivot.args["alias"].columns if pivot.args.get("alias") else ()
        pivoted = SqlRelation([*kept, *made], relation.influences)
        return pivoted.renamed([self.names.identifier(column) for column in columns])

    def _unpivoted(
        self,
        relation: SqlRelation,
        pivot: exp.Pivot,
        fields: Sequence[exp.In],
        inside: SelectScope,
    ) -> SqlRelation:
        """Each listed column becomes rows: its values in one column, its name in another."""
        written = [expression for item in fields for expression in item.expressions]
        rows = [list(item.find_all(exp.Column)) for item in written]  # (b, c) AS 'x'
        listed = [column for row in rows for column in row]
        made = [ColumnValue(self.names.identifier(item.this)) for item in fields]
        names = [
            name
            for item in pivot.expressions
            for name in (item.expressions if isinstance(item, exp.Tuple) else [item.unnest()])
        ]
        for place, name in enumerate(names):
            by_place = all(len(row) == len(names) for row in rows)
            columns = [row[place] for row in rows] if by_place else listed
            flows = frozenset(f for column in columns for f in self.flows(column, inside))
            made.append(ColumnValue(self.names.identifier(name), flows, tuple(columns)))
        used = {self.names.identifier(column.this).lower() for column in listed}
        kept = [value for value in relation.values if value.name.lower() not in used]
        return SqlRelation([*kept, *made], relation.influences)

    def _pivot_alone(self, node: exp.Pivot, frame: SelectScope) -> SqlRelation:
        """DuckDB's statements. The columns that a PIVOT makes are not known."""
        self.add(node.this, frame)
        if not node.args.get("unpivot"):
            self.gap(UNSUPPORTED, "PIVOT: its columns are in the data")
            return self._result(frame, ())
        into = node.args["into"]
        listed = [self.column(column, frame) for column in node.expressions]
        used = {value.name.lower() for value in listed}
        kept = [v for v in self._all(frame, None) if v.name.lower() not in used]
        flows = frozenset(flow for value in listed for flow in value.flows)
        measures = [ColumnValue(self.names.identifier(c.this), flows) for c in into.expressions]
        return self._result(frame, [*kept, ColumnValue(into.this.name), *measures])

    # --- joins -----------------------------------------------------------------------------------

    def join(self, join: exp.Join, frame: SelectScope) -> None:
        before = len(frame.sources)
        words = {str(join.args.get(key) or "").upper() for key in ("kind", "side", "method")}
        if "ARRAY" in words:
            self._join_arrays((join.this, *join.expressions), frame)
            return
        self.add(join.this, frame, hidden=bool(words & {"SEMI", "ANTI"}))
        if (condition := join.args.get("on")) is not None:
            self.influence(labels.JOIN, condition, frame)
        condition = join.args.get("match_condition")
        if condition is not None:
            self.influence(labels.JOIN, condition, frame)
        names = [self.names.identifier(column) for column in join.args.get("using") or ()]
        if "NATURAL" in words:
            names = self._natural(frame, before)
        for name in names:
            self._share(name, frame, before, words)

    def _join_arrays(self, nodes: Sequence[exp.Expr], frame: SelectScope) -> None:
        """ARRAY JOIN b AS x, c: x is a further column, c has elements in place of the array."""
        further: list[ColumnValue] = []
        for node in nodes:
            array = node.unalias()
            name = self._output_name(node, array)
            flows = stepped(self.flows(array, frame), labels.TRANSFORMATION)
            element = ColumnValue(name, flows, (node,), element=True)
            if isinstance(node, exp.Alias):
                further.append(element)
            else:
                self._take_elements(name, element, frame)
        if further:
            frame.sources.append(FromItem((), SqlRelation(further)))

    def _take_elements(self, name: str, element: ColumnValue, frame: SelectScope) -> None:
        """A column of an array is one of its elements from here on."""
        for place, source in enumerate(frame.sources):
            if source.relation.definite(name) is not None:
                self.step(len(source.relation.values))
                values = [element if v.name == name else v for v in source.relation.values]
                changed = SqlRelation(values, source.relation.influences)
                frame.sources[place] = source._replace(relation=changed)
                return
        frame.shared[name.lower()] = element

    # --- flows -----------------------------------------------------------------------------------

    def flows(self, root: exp.Expr, frame: SelectScope, how: str = labels.IDENTITY) -> Flows:
        """The columns behind an expression, each with how it flows."""
        flowing: set[Flow] = set()
        stack: list[tuple[exp.Expr, str]] = [(root, how)]
        while stack:
            self.step()
            node, how = stack.pop()
            if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                parts = tuple(self.names.identifier(part) for part in node.parts[:-1])
                row = self._row("*", list(self._answering(parts, frame))[:1])
                flowing |= stepped(row.flows, how)
            elif isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                flowing |= stepped(self._row("*", frame.sources).flows, how)
            elif isinstance(node, exp.Columns):
                alone = None if node.args.get("unpack") else frame.selecting
                for value in self._selected(node, frame) if alone is None else (alone,):
                    flowing |= stepped(value.flows, how)
            elif isinstance(node, exp.Column):
                if not isinstance(node, exp.Pseudocolumn):
                    flowing |= stepped(self.column(node, frame).flows, how)
            elif name := self._variable(node):
                flowing |= stepped(self.value_variable(name, frame).flows, how)
            elif self._dialect == "snowflake" and isinstance(node, exp.Parameter):
                flowing |= stepped(self._numbered(node, (), frame).flows, how)
            elif isinstance(node, exp.Query | exp.Exists):
                flowing |= self._inner(node, frame, how)
            elif isinstance(node, exp.Comprehension):
                flowing |= self._comprehended(node, frame, how)
            elif isinstance(node, exp.Dot):
                flowing |= stepped(self._dotted(node, frame).flows, how)
            elif self._dialect == "clickhouse" and _asks_a_dictionary(node):
                flowing |= stepped(self._attributes(node), composed(labels.TRANSFORMATION, how))
                stack.extend((key, how) for key, how in parts_of(node, how) if key.index != 0)
            elif isinstance(node, exp.Window) and node.args.get("alias") is not None:
                for window in self._windows(node, frame):
                    stack.extend(parts_of(window, how))
                stack.extend(parts_of(node, how))
            elif not isinstance(node, exp.Identifier | exp.Literal | exp.DataType):
                stack.extend(parts_of(node, how))
        return frozenset(flowing) if flowing else NOTHING

    def _comprehended(self, node: exp.Comprehension, frame: SelectScope, how: str) -> Flows:
        """``[x + a for x in b if x > c]``: x is an element of b."""
        name = self.names.identifier(node.expression)
        element = _element(self.flows(node.args["iterator"], frame), ()).named(name)
        inside = SelectScope(frame, frame.commons, shared={name.lower(): element})
        made = self.flows(node.this, inside, composed(labels.TRANSFORMATION, how))
        condition = node.args.get("condition")
        if condition is not None:
            made |= self.flows(condition, inside, composed(labels.CONDITIONAL, how))
        return made

    def _attributes(self, node: exp.Expr) -> Flows:
        """``dictGet('d.regions', 'name', k)``: the dictionary is read, and its attribute flows."""
        named, *others = node.expressions
        if isinstance(named, exp.Literal):
            parts = split_name(as_written(named))
        else:
            parts = tuple(self.names.identifier(part) for part in named.parts)
        table = qualified_name(self.names.qualified(parts))
        self.reads[table] = None
        asked = others[0] if others and "get" in str(node.this).lower() else exp.Tuple()
        literals = asked.expressions if isinstance(asked, exp.Tuple) else [asked]
        return frozenset(
            ((table, as_written(literal)), labels.IDENTITY)
            for literal in literals
            if isinstance(literal, exp.Literal) and literal.is_string
        )

    def _windows(self, node: exp.Expr, frame: SelectScope) -> Iterator[exp.Expr]:
        """The named windows behind OVER: ``w2 AS (w1 ORDER BY c)`` is w2 and w1."""
        for _ in frame.windows:
            self.step()
            alias = node.args.get("alias")
            window = (
                frame.windows.get(self.names.identifier(alias).lower())
                if alias is not None
                else None
            )
            if window is None:
                return
            yield window
            node = window

    def _dotted(self, node: exp.Dot, frame: SelectScope) -> ColumnValue:
        """``a.b.c.d.e``, ``f(x).y``: the field of what stands before the dot."""
        names: list[str] = []
        inner: exp.Expr = node
        while isinstance(inner, exp.Dot):
            if isinstance(inner.expression, exp.Identifier):
                names.append(self.names.identifier(inner.expression))
            elif isinstance(inner.expression, exp.Func):
                made = self._called(inner, frame)
                return self._fields(made, tuple(reversed(names)))
            inner = inner.this
        is_row = isinstance(inner, exp.Paren)
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if (
            is_row
            and isinstance(inner, exp.Column)
            and not inner.table
            and self._is_source(inner, frame)
        ):
            column = exp.Column(this=exp.to_identifier(names.pop(), quoted=True), table=inner.this)
            return self._fields(self.column(column, frame), tuple(reversed(names)))
        if names and (row := self.row_variable(self._variable(inner), frame)) is not None:
            return self._fields(self.of_source(row, names.pop()), tuple(reversed(names)))
        if isinstance(inner, exp.Identifier):
            return ColumnValue(inner.name)  # a variable of a lambda: its array flows already
        value = self.value(inner, "", frame)
        return self._fields(value, tuple(reversed(names)))

    def _is_source(self, node: exp.Column, frame: SelectScope) -> bool:
        """``(t).a``: whether a table has this name."""
        name = (self.names.identifier(node.this),)
        return next(frame.named(name), None) is not None

    def _called(self, node: exp.Dot, frame: SelectScope) -> ColumnValue:
        """``dbo.f(a)``, ``t.doc.query('…')``: the value of a method is of its document."""
        flows = self.flows(node.expression, frame)
        names: list[exp.Expr] = []
        before = node.this
        while isinstance(before, exp.Dot) and isinstance(before.expression, exp.Identifier):
            names.append(before.expression)
            before = before.this
        if not isinstance(before, exp.Identifier):
            flows |= self.flows(node.this, frame, labels.TRANSFORMATION)
        elif node.expression.name.lower() in _METHODS:
            parts = zip(("this", "table", "db"), [*names, before], strict=False)
            column = exp.Column(**dict(parts))
            flows |= stepped(self.column(column, frame).flows, labels.TRANSFORMATION)
        return ColumnValue(node.expression.name, flows, (node,))

    def _inner(self, node: exp.Expr, frame: SelectScope, how: str) -> Flows:
        """A subquery in an expression: its columns flow, and its conditions decide."""
        if isinstance(node, exp.Exists):
            how = labels.CONDITIONAL if how in labels.DIRECT_HOWS else how
            if not isinstance(node.this, exp.Query):
                return self.flows(node.this, frame, how)
            node = node.this
        made = self.query(node, frame, frame.commons)
        flowing = {flow for value in made.values for flow in stepped(value.flows, how)}
        deciding = (
            composed(labels.CONDITIONAL, labels.IDENTITY) if how in labels.DIRECT_HOWS else how
        )
        for influence in made.influences or ():
            self.step(len(influence.leaves))
            flowing.update((leaf, deciding) for leaf in influence.leaves)
        return frozenset(flowing)


def _asks_a_dictionary(node: exp.Expr) -> bool:
    """``dictGet…``, ``dictHas`` of ClickHouse, whose first argument is a dictionary."""
    return (
        isinstance(node, exp.Anonymous)
        and str(node.this).lower().startswith(("dictget", "dicthas"))
        and bool(node.expressions)
        and isinstance(node.expressions[0], exp.Literal | exp.Column)
    )


def _reads_a_file(function: exp.Expr) -> bool:
    """``read_csv('x.csv')``, ``read_files('/x')``: the first text is a file or a folder."""
    if isinstance(function, exp.Anonymous):
        name = str(function.this).lower()
        return name.startswith("read_") or name in {"parquet_scan", "openrowset"}
    return isinstance(function, exp.ReadCSV | exp.ReadParquet)


def is_hash(table: exp.Table) -> bool:
    """``#t`` and ``##t`` of T-SQL, and Redshift's of that name."""
    named = table.this
    return isinstance(named, exp.Identifier) and (
        bool(named.args.get("temporary") or named.args.get("global_")) or named.name.startswith("#")
    )


def _as_table(node: exp.Expr) -> exp.Expr:
    """``t.items AS i`` as a table of FROM."""
    named = node.this if isinstance(node, exp.Alias) else node
    if not isinstance(named, exp.Column):
        return node
    table = exp.Table(this=named.this, db=named.args.get("table"))
    if isinstance(node, exp.Alias):
        table.set("alias", exp.TableAlias(this=node.args["alias"]))
    return table


def _columns_in(node: exp.Expr) -> exp.Columns | None:
    """The COLUMNS(…) that an expression is made for each column of."""
    for inner in node.dfs(prune=lambda inner: isinstance(inner, exp.Query)):
        if isinstance(inner, exp.Columns) and not inner.args.get("unpack"):
            return inner
    return None


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def _is_like(name: str, pattern: str) -> bool:
    """``ORDER_ID`` of ``order%``. Goes back to the last % alone: at most len(name) times its
    pattern.
    """
    name, pattern = name.lower(), pattern.lower()
    at = place = 0
    after, tried = -1, 0  # behind the last %, and the end of what it stands for
    while at < len(name):
        if pattern[place : place + 1] == "%":
            after, tried = place + 1, at
            place = after
        elif pattern[place : place + 1] in {"_", name[at]}:
            at, place = at + 1, place + 1
        elif after >= 0:
            tried += 1
            at, place = tried, after
        else:
            return False
    return not pattern[place:].strip("%")


# --- the parts of a query ------------------------------------------------------------------------


def _spine(node: exp.SetOperation) -> tuple[exp.Expr, list[exp.SetOperation]]:
    """``a UNION b UNION c`` => a, and the operations with b and c; brackets stay whole."""
    operations: list[exp.SetOperation] = []
    left: exp.Expr = node
    while isinstance(left, exp.SetOperation) and (left is node or not left.args.get("with_")):
        operations.append(left)
        left = left.this
    return left, operations[::-1]


def _either(left: ColumnValue, right: ColumnValue | None) -> ColumnValue:
    if right is None:
        return left
    texts = left.texts + right.texts
    tables = tuple(dict.fromkeys((*left.tables, *right.tables)))
    flows = left.flows | right.flows
    return ColumnValue(left.name, flows, texts[:8], tables=tables, stars=_united_stars(left, right))


def _united_stars(left: ColumnValue, right: ColumnValue) -> tuple[Star, ...]:
    """``SELECT * FROM t UNION SELECT * FROM s``: the columns of s have the names of those of t."""
    if not left.stars or not all(star == Star(star.table) for star in right.stars):
        return left.stars
    first = left.stars[0]
    if first != Star(first.table):
        return left.stars
    more = (star._replace(like=first.table) for star in right.stars if star != first)
    return tuple(dict.fromkeys((*left.stars, *more)))


def _choices(node: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The values among which one of ``_AMONG`` chooses, and what decides."""
    named = node.args
    if isinstance(node, exp.Case):
        branches = named["ifs"]
        values = [*(branch.args.get("true") for branch in branches), named.get("default")]
        conditions = [node.this, *(branch.this for branch in branches)]
    elif isinstance(node, exp.If | exp.Nvl2):
        values, conditions = [named.get("true"), named.get("false")], [node.this]
    elif isinstance(node, exp.Nullif):
        values, conditions = [node.this], [node.expression]
    elif isinstance(node, exp.Lag | exp.Lead):
        values, conditions = [node.this, named.get("default")], []
    else:
        values, conditions = [node.this, *node.expressions], []
    chosen, deciding = ([each for each in some if each] for some in (values, conditions))
    return chosen, deciding


def _window_parts(node: exp.Expr) -> list[exp.Expr]:
    """What decides over which rows a function goes; [] where it has no window."""
    if not isinstance(node, exp.Window):
        return []
    order = node.args.get("order")
    return [*(node.args.get("partition_by") or ()), *([order] if order is not None else ())]


def _function_name(node: exp.Expr, dialect: str) -> str:
    """``sum(a)`` => sum, ``CASE … END`` => case; "" for an operator."""
    while isinstance(node, exp.Window | exp.Filter | exp.WithinGroup):
        node = node.this
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Case):
        return "case"
    if isinstance(node, exp.GroupConcat):
        return "listagg" if dialect == "redshift" else "string_agg"
    operator = isinstance(node, exp.Binary | exp.Unary | exp.Connector)
    return node.sql_name().lower() if isinstance(node, exp.Func) and not operator else ""


def _is_join(node: exp.Subquery) -> bool:
    """Whether brackets hold tables to choose from, not a query: their aliases count outside."""
    inner: exp.Expr = node
    while isinstance(inner, exp.Subquery) and (inner is node or not inner.alias):
        inner = inner.this
    return isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and bool(inner.alias))


def _numbered(item: exp.Literal, made: SqlRelation) -> ColumnValue | None:
    """The output that ``2`` in GROUP BY or ORDER BY stands for."""
    place = int(item.this) if item.this.isdecimal() and len(item.this) < 6 else 0
    return made.values[place - 1] if 0 < place <= len(made.values) else None


def _aggregates(item: exp.Expr) -> bool:
    """Whether an expression of a SELECT aggregates, not only a query in it."""
    parts = item.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(is_aggregate(part) for part in parts)


def _element(flows: Flows, texts: tuple[exp.Expr, ...]) -> ColumnValue:
    return ColumnValue(ANY_COLUMN, stepped(flows, labels.TRANSFORMATION), texts, element=True)


def _exploded(flows: Flows, columns: Sequence[str], texts: tuple[exp.Expr, ...]) -> SqlRelation:
    element = _element(flows, texts)
    return SqlRelation([element.named(name) for name in columns], otherwise=element)


def _closed(relation: SqlRelation) -> SqlRelation:
    """A generator whose columns have names has no others."""
    return SqlRelation(relation.values) if relation.values else relation


def leaves_of(flows: Iterable[Flow]) -> frozenset[Leaf]:
    return frozenset(leaf for leaf, _ in flows)
