"""A column of a dataset at a moment, and a derivation between two such columns: values, pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from graph_model import identity, labels
from graph_model.facts import Edge
from graph_model.lineage.history import Moment
from graph_model.lineage.history.visible_write_reader import moment_of
from graph_model.lineage.inventory import Name, holders
from graph_model.lineage.questions import ColumnNode
from graph_model.lineage.traces import Way


class Cell(NamedTuple):
    """A column of a dataset at a moment.

    ``known``: the path of the known column that stands for it in an answer; "" for its own. The
    ``path`` "" stands for a reader: what its moment holds of columns that no document names.
    """

    moment: Moment
    path: str
    known: str = ""

    @property
    def name(self) -> Name:
        return self.moment.dataset, self.known or self.path


class Hop(NamedTuple):
    """A derivation by a job, between columns at their locations, and its source column.

    ``own``: the derivation leads into the column itself, not into a struct that contains it.
    ``written``: the plan's name (an id) for the table that it wrote.
    """

    edge: Edge
    source: Cell
    job: str
    own: bool = True
    written: str = ""


def cell_at(column: Name, at: int | None) -> Cell:
    """The column as it is visible at the time; without a time at the end of all times."""
    dataset, path = column
    return Cell(moment_of(dataset, at), path)


def is_derived(hops: Iterable[Hop]) -> bool:
    """Whether any of these hops into a column leads into the column itself."""
    return any(hop.own for hop in hops)


def way_of(hop: Hop) -> Way[Cell]:
    """The hop as a step of a chain."""
    kind, how = str(hop.edge.value("kind")), str(hop.edge.value("how"))
    return Way(hop.job, hop.source, kind, how, str(hop.edge.value("expression") or ""))


def is_followed(edge: Edge, *, indirect: bool) -> bool:
    """Whether a walk follows the edge: one that is ``indirect`` follows influences as well."""
    return indirect or edge.value("kind") == labels.DIRECT


@lru_cache(maxsize=20_000)
def column_id(column: Name) -> str:
    return identity.column_id(*column)


def node_of(column: Name) -> ColumnNode:
    return ColumnNode(column_id(column), *column)


def with_structs(column: Name) -> list[Name]:
    """A column and the structs that contain it, innermost first."""
    dataset, path = column
    return [(dataset, holder) for holder in holders(path)]


def structs_around(columns: Iterable[Name]) -> set[Name]:
    """The structs that contain these columns."""
    return {struct for column in columns for struct in with_structs(column)[1:]}


def moved(edge: Edge, source: Name, target: Name) -> Edge:
    """The same derivation between columns at their locations: with the ids of the tables there."""
    out_id, in_id = column_id(source), column_id(target)
    if (edge.out_id, edge.in_id) == (out_id, in_id):
        return edge
    return edge._replace(id=f"{edge.id}.{out_id}.{in_id}", out_id=out_id, in_id=in_id)


def from_column(edge: Edge, source: Name) -> Edge:
    """The same derivation from another column."""
    out_id = column_id(source)
    return edge._replace(id=f"{edge.id}.{out_id}", out_id=out_id)
