"""Values: what a column of a query is made of, and tables whose columns are values.

    select x.total from (select sum(amount) as total from sales) x

``x`` is a relation with the value ``total``: sales.amount, AGGREGATION. A base table is a relation,
too: each column is itself, IDENTITY. Where no schema lists its columns it is ``open``: any name may
be one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

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


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """A column of a relation.

    ``texts`` are the expressions that make it, () for a column of a base table. ``fields`` are the
    members of a struct that the query builds. ``element``: a field picked from it is a field of its
    source (an unnested array). ``tables`` are those whose unknown columns all stand here: the value
    is their ``*``, and the columns of each after the first are known by position alone.
    """

    name: str
    flows: Flows = NOTHING
    texts: tuple[exp.Expr, ...] = ()
    fields: Mapping[str, ColumnValue] | None = None
    element: bool = False
    tables: tuple[str, ...] = ()

    def named(self, name: str) -> ColumnValue:
        return ColumnValue(name, self.flows, self.texts, self.fields, self.element, self.tables)

    def field(self, name: str) -> ColumnValue:
        """The field of a struct: of the member, else of the column that the struct is."""
        if self.fields is not None and (member := self.fields.get(name.lower())) is not None:
            return member
        if self.element or all(how == labels.IDENTITY for _, how in self.flows):
            below = ((table, f"{path}.{name}") for (table, path), _ in self.flows)
            hows = (how for _, how in self.flows)
            return ColumnValue(name, frozenset(zip(below, hows, strict=True)), element=self.element)
        return ColumnValue(name, stepped(self.flows, labels.TRANSFORMATION), self.texts)


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
    come from its arguments.
    """

    __slots__ = ("_by_name", "influences", "opens", "otherwise", "values")

    def __init__(
        self,
        values: Iterable[ColumnValue],
        influences: Influences | None = None,
        otherwise: ColumnValue | None = None,
    ) -> None:
        self.values = tuple(values)
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
            for value in self.opens
        ]

    def renamed(self, names: list[str]) -> SqlRelation:
        """``(select a, b …) q(x, y)``; further columns keep their names."""
        if not names:
            return self
        if self.otherwise is not None and not self.values:
            return SqlRelation([self.otherwise.named(name) for name in names], self.influences)
        if self.opens:
            return self
        values = [
            value.named(names[place]) if place < len(names) else value
            for place, value in enumerate(self.values)
        ]
        return SqlRelation(values, self.influences)


def base_table(table: str, columns: tuple[str, ...] | None) -> SqlRelation:
    """A stored table; open where its columns are not known."""
    if columns is None:
        star = frozenset({((table, ANY_COLUMN), labels.IDENTITY)})
        return SqlRelation([ColumnValue(ANY_COLUMN, star, tables=(table,))])
    return SqlRelation(
        [ColumnValue(name, frozenset({((table, name), labels.IDENTITY)})) for name in columns]
    )
