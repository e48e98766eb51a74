"""Values: what a column of a query is made of, and tables whose columns are values.

    select x.total from (select sum(amount) as total from sales) x

``x`` is a relation with the value ``total``: sales.amount, AGGREGATION. A base table is a relation,
too: each column is itself, IDENTITY. Where no schema lists its columns it is ``open``: any name may
be one of them.

The parts of an expression contribute to its value as in Spark plans
(``graph_model.producers.spline.column_derivation``): a value flows, an aggregate function makes
AGGREGATION and any other TRANSFORMATION; conditions of CASE, IF and FILTER (WHERE …) and an
ordering inside an aggregate are CONDITIONAL; PARTITION BY, ORDER BY and the arguments of ranking
functions are WINDOW.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from sqlglot import exp

from graph_model import labels
from graph_model.sql.names import ANY_COLUMN, Leaf

Flow = tuple[Leaf, str]  # and how it flows: IDENTITY … CONDITIONAL
Flows = frozenset[Flow]
NOTHING: Final[Flows] = frozenset()

_HOWS: Final = (*labels.DIRECT_HOWS, labels.WINDOW, labels.CONDITIONAL)


def composed(outer: str, inner: str) -> str:
    """The flow through both steps: what decided still decides, the stronger of two flows wins."""
    return _COMPOSED[outer, inner]


def _compose(outer: str, inner: str) -> str:
    for how in (outer, inner):
        if how not in labels.DIRECT_HOWS:
            return how
    return max(outer, inner, key=labels.DIRECT_HOWS.index)


_COMPOSED: Final = {(a, b): _compose(a, b) for a in _HOWS for b in _HOWS}


def stepped(flows: Flows, how: str) -> Flows:
    """The flows after one more step."""
    return flows if how == labels.IDENTITY else frozenset((s, _COMPOSED[how, h]) for s, h in flows)


_BETWEEN_CANDIDATES: Final = "\0"


def any_of(tables: Collection[str]) -> str:
    """In a leaf the one of several tables that has the column: only their schemas can say which."""
    return _BETWEEN_CANDIDATES.join(sorted(tables))


def candidates(table: str) -> tuple[str, ...]:
    """The tables of which a leaf's table is one: itself, or those of ``any_of``."""
    return tuple(table.split(_BETWEEN_CANDIDATES))


class Star(NamedTuple):
    """All columns of a table whose schema is not known, but those ``left_out`` (in lower case).

    They have their own names; where ``into`` is not None these names, by position; where ``like``
    is a table the names of its columns, by position. ``scattered``: other values stand among them
    (``* REPLACE (1 AS a)``).
    """

    table: str
    left_out: frozenset[str] = frozenset()
    into: tuple[str, ...] | None = None
    like: str = ""
    scattered: bool = False

    @property
    def by_name(self) -> bool:
        return self.into is None and not self.like


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """A column of a relation.

    ``texts`` are the expressions that make it, () for a column of a base table. ``fields`` are the
    members of a struct that the query builds. ``element``: a field picked from it is a field of its
    source (an unnested array). ``tables`` are those whose unknown columns all stand here: the value
    is their ``*``, and the columns of each after the first are known by position alone. ``stars``
    say which columns of these tables it holds, as far as that can be said.
    """

    name: str
    flows: Flows = NOTHING
    texts: tuple[exp.Expr, ...] = ()
    fields: Mapping[str, ColumnValue] | None = None
    element: bool = False
    tables: tuple[str, ...] = ()
    stars: tuple[Star, ...] = ()

    def named(self, name: str) -> ColumnValue:
        return ColumnValue(
            name, self.flows, self.texts, self.fields, self.element, self.tables, self.stars
        )

    def without(self, names: Iterable[str]) -> ColumnValue:
        """The ``*`` without the columns of these names (in lower case)."""
        if not self.stars or not (left_out := frozenset(names)):
            return self
        first, *others = self.stars
        if others or not first.by_name:
            return replace(self, stars=())  # the positions are others
        return replace(self, stars=(first._replace(left_out=first.left_out | left_out),))

    def scattered(self) -> ColumnValue:
        """The ``*`` with other values among its columns."""
        return replace(self, stars=tuple(star._replace(scattered=True) for star in self.stars))

    def placed(self, names: Sequence[str]) -> ColumnValue:
        """The ``*`` under these names, by position."""
        stars = tuple(star._replace(into=tuple(names), like="") for star in self.stars)
        plain = all(star.into is None for star in self.stars)
        return replace(self, stars=stars if plain else ())

    def field(self, name: str) -> ColumnValue:
        """The field of a struct: of the member, else of the column that the struct is."""
        if self.fields is not None and (member := self.fields.get(name.lower())) is not None:
            return member
        if self.element or all(how == labels.IDENTITY for _, how in self.flows):
            below = ((table, f"{path}.{name}") for (table, path), _ in self.flows)
            hows = (how for _, how in self.flows)
            return ColumnValue(name, frozenset(zip(below, hows, strict=True)), element=self.element)
        return ColumnValue(name, stepped(self.flows, labels.TRANSFORMATION), self.texts)

    def members(self) -> Sequence[ColumnValue]:
        """The fields of a struct, of which ``*`` stands for those that nothing lists; () without a
        source.
        """
        if self.fields is not None:
            return list(self.fields.values())
        tables = tuple(sorted({table for (table, _), _ in self.flows}))
        star = ColumnValue(ANY_COLUMN, self.flows, self.texts, element=self.element, tables=tables)
        return [star] if tables else ()


@dataclass(frozen=True, slots=True)
class SqlInfluence:
    """A condition, a grouping or an order; ``how`` FILTER, JOIN, GROUP_BY or SORT."""

    how: str
    texts: tuple[exp.Expr | str, ...]
    leaves: frozenset[Leaf]


@dataclass(slots=True)
class Influences:
    """Those of a query, and of the queries it selects from: a tree, as one may be read twice."""

    own: list[SqlInfluence] = field(default_factory=list)
    inner: list[Influences] = field(default_factory=list)

    def __iter__(self) -> Iterator[SqlInfluence]:
        """Each query once, inner ones first."""
        seen: set[int] = set()
        stack: list[tuple[Influences, bool]] = [(self, False)]
        while stack:
            node, read = stack.pop()
            if read:
                yield from node.own
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((inner, False) for inner in reversed(node.inner))


class SqlRelation:
    """The columns of a table, a subquery or a function, in order.

    ``otherwise`` are the flows of any other name: the columns of a function are not known, and all
    come from its arguments. ``stored`` is the name of a stored table whose columns these are.
    """

    __slots__ = ("_by_name", "influences", "opens", "otherwise", "stored", "values")

    def __init__(
        self,
        values: Iterable[ColumnValue],
        influences: Influences | None = None,
        otherwise: ColumnValue | None = None,
        stored: str = "",
    ) -> None:
        self.values = tuple(values)
        self.stored = stored
        self.influences = influences
        self.otherwise = otherwise
        self.opens = tuple(value for value in self.values if value.tables)
        self._by_name: dict[str, ColumnValue] = {}
        for value in self.values:
            if not value.tables:
                self._by_name.setdefault(value.name, value)
                self._by_name.setdefault(value.name.lower(), value)

    @property
    def is_open(self) -> bool:
        """Whether it may have columns that nothing names."""
        return bool(self.opens) or self.otherwise is not None

    def definite(self, name: str) -> ColumnValue | None:
        """The column of that name, where it is known to exist."""
        return self._by_name.get(name) or self._by_name.get(name.lower())

    def possible(self, name: str) -> list[ColumnValue]:
        """The columns of that name that its open tables may have."""
        if self.otherwise is not None:
            picked = self.otherwise
            return [picked.field(name) if picked.element else picked.named(name)]
        return [
            ColumnValue(name, frozenset({((value.tables[0], name), labels.IDENTITY)}))
            if any(path == ANY_COLUMN for (_, path), _ in value.flows)
            else value.field(name)  # * of a struct
            for value in self.opens
            if not any(name.lower() in star.left_out for star in value.stars)
        ]

    def renamed(self, names: list[str]) -> SqlRelation:
        """``(select a, b …) q(x, y)``; further columns keep their names."""
        if not names:
            return self
        if self.otherwise is not None and not self.values:
            return SqlRelation([self.otherwise.named(name) for name in names], self.influences)
        if self.opens:
            alone = len(self.values) == 1
            return SqlRelation(
                [v.placed(names) if alone else replace(v, stars=()) for v in self.values],
                self.influences,
                self.otherwise,
                self.stored,
            )
        values = [
            value.named(names[place]) if place < len(names) else value
            for place, value in enumerate(self.values)
        ]
        return SqlRelation(values, self.influences)


def base_table(table: str, columns: tuple[str, ...] | None) -> SqlRelation:
    """A stored table; open where its columns are not known."""
    if columns is None:
        star = frozenset({((table, ANY_COLUMN), labels.IDENTITY)})
        return SqlRelation([ColumnValue(ANY_COLUMN, star, tables=(table,), stars=(Star(table),))])
    return SqlRelation(
        [ColumnValue(name, frozenset({((table, name), labels.IDENTITY)})) for name in columns],
        stored=table,
    )


# --- expressions ----------------------------------------------------------------------------------


Mask = Callable[[str], str]
"""A literal's text without what it holds."""


def masked(text: str) -> str:
    """Any literal, without what it holds."""
    del text
    return "?"


_MOST_TEXT: Final = 2_000
_MOST_NAME: Final = 200

_WRAPPERS: Final = (
    exp.Paren, exp.Alias, exp.Aliases, exp.PivotAlias, exp.Window, exp.Filter, exp.Ordered,
    exp.Order, exp.WithinGroup, exp.Distinct, exp.IgnoreNulls, exp.RespectNulls, exp.Tuple,
    exp.Kwarg, exp.WindowSpec, exp.Collate, exp.HavingMax,
)  # fmt: skip
"""Hand on what is in them."""

#: sqlglot counts them among the aggregates; they pick one row's value.
_PICKING: Final = (exp.Lag, exp.Lead, exp.NthValue)
_RANKING: Final = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile
)  # fmt: skip
AGGREGATES: Final = frozenset(
    {"bool_and", "bool_or", "every", "json_object_agg", "jsonb_object_agg", "json_agg", "jsonb_agg",
     "group_concat_distinct", "approximate", "listaggdistinct", "hll", "mode", "checksum_agg",
     "xmlagg", "product", "collect", "map_agg", "multimap_agg", "map_union", "histogram", "sum",
     "max", "min", "avg", "count"}
)  # fmt: skip
"""Aggregate functions that sqlglot takes for unknown ones; the plain ones behind a schema."""

#: Arguments that only decide over the result.
_DECIDING: Final[dict[type[Any], tuple[frozenset[str], str]]] = {
    exp.Case: (frozenset({"this"}), labels.CONDITIONAL),
    exp.If: (frozenset({"this"}), labels.CONDITIONAL),
    exp.Nvl2: (frozenset({"this"}), labels.CONDITIONAL),
    exp.Nullif: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.Filter: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.ArgMax: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.ArgMin: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.ArrayFilter: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.HavingMax: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.Order: (frozenset({"expressions"}), labels.CONDITIONAL),
    exp.Window: (frozenset({"partition_by", "order", "spec"}), labels.WINDOW),
}
_PERCENTILES: Final = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)


def parts_of(node: exp.Expr, how: str) -> Iterator[tuple[exp.Expr, str]]:
    """The parts of an expression, each with its flow into the whole."""
    kind = type(node)
    if isinstance(node, exp.Grouping | exp.GroupingId):  # which columns are grouped, no values
        return
    if isinstance(node, _RANKING):
        how = composed(labels.WINDOW, how)
    elif is_aggregate(node):
        how = composed(how, labels.AGGREGATION)
    elif not isinstance(node, _WRAPPERS):
        how = composed(how, labels.TRANSFORMATION)
    deciding, decision = _DECIDING.get(kind, (frozenset(), how))
    if kind is exp.Order and node.this is None:  # ORDER BY of a window or of a WITHIN GROUP
        deciding = frozenset()
    if kind is exp.WithinGroup and not isinstance(node.this, _PERCENTILES):
        deciding, decision = frozenset({"expression"}), labels.CONDITIONAL
    elif kind is exp.WithinGroup:
        how = composed(how, labels.AGGREGATION)
    elif kind is exp.Window and node.args.get("over") == "KEEP":  # (DENSE_RANK LAST ORDER BY c)
        decision = labels.CONDITIONAL
    asking = _asking(node)
    for key, value in node.args.items():
        own = composed(decision, how) if key in deciding else how
        if isinstance(value, exp.Expr):
            yield value, own
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, exp.Expr):
                    yield item, composed(labels.CONDITIONAL, how) if place in asking else own


def _asking(node: exp.Expr) -> Collection[int]:
    """Places of arguments that only decide: DECODE(a, 1, b, c) => 0, 1; sumIf(b, a > 1) => 1;
    multiIf(a, b, c, d, e) => 0, 2.
    """
    last = len(node.expressions) - 1
    if isinstance(node, exp.DecodeCase):
        return {0, *range(1, last, 2)}
    if isinstance(node, exp.Anonymous) and str(node.this).lower() == "multiif":
        return range(0, last, 2)
    if isinstance(node, exp.CombinedAggFunc) and str(node.this).endswith("If"):
        return {last}
    return ()


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.AggFunc):
        return not isinstance(node, _PICKING)
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATES


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """``a AND (b AND c)`` => a, b, c."""
    stack = [condition]
    while stack:
        node = stack.pop()
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And):
            stack.extend((node.expression, node.this))
        else:
            yield node


def items(clause: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions of GROUP BY (sets, cubes and rollups, too) or ORDER BY."""
    stack: list[exp.Expr] = [clause]
    while stack:
        node = stack.pop()
        if isinstance(node, _LISTS):
            for value in node.args.values():
                listed = value if isinstance(value, list) else [value]
                stack.extend(item for item in reversed(listed) if isinstance(item, exp.Expr))
        else:
            yield node


_LISTS: Final = (
    exp.Group, exp.Order, exp.Ordered, exp.GroupingSets, exp.Cube, exp.Rollup, exp.Tuple, exp.Paren,
    exp.Cluster, exp.Sort, exp.Distinct,
)  # fmt: skip


# --- text ----------------------------------------------------------------------------------------

_LITERALS: Final = (
    exp.Literal, exp.National, exp.RawString, exp.UnicodeString, exp.ByteString, exp.HexString,
    exp.Heredoc,
)  # fmt: skip


_WRITTEN: Final = "written"


def as_written(literal: exp.Expr) -> str:
    """A literal that is a name, whether its text was made already or not."""
    return str(literal.meta.get(_WRITTEN, literal.this))


class Texts:
    """Expressions as text of their dialect, with literals masked."""

    def __init__(self, dialect: str, mask: Mask) -> None:
        self._dialect = dialect
        self._mask = mask
        self._known: dict[int, tuple[exp.Expr, str]] = {}  # by id; the node keeps its id taken

    def of(self, node: exp.Expr | str) -> str:
        """At most 2,000 characters; an expression that nests too deeply has the text "..."."""
        if isinstance(node, str):
            return node
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._written(node))
        return known[1]

    def joined(self, nodes: Sequence[exp.Expr | str]) -> str:
        return _shortened(labels.BETWEEN_EXPRESSIONS.join(sorted({self.of(n) for n in nodes})))

    def name(self, node: exp.Expr) -> str:
        """The name of a column without an alias."""
        return self.of(node)[:_MOST_NAME]

    def _written(self, node: exp.Expr) -> str:
        for literal in node.find_all(*_LITERALS):
            if literal.args.get("is_string", True) and literal.arg_key != "unit":
                literal.meta.setdefault(_WRITTEN, literal.this)
                literal.set("this", self._mask(literal.this))
        try:
            return _shortened(node.sql(dialect=self._dialect, comments=False))
        except RecursionError:
            return "..."


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."
