"""Columns of one path in locations that share files: a read of one is a read of the other.

    in/orders_1.csv#amount  ~  in/orders_*.csv#amount  ~  in#amount

Which locations share files is asked as in the walk over tables; their columns meet by their folded
paths. A column counts under the name of a location where a document names it there; on the way to a
reader that names no columns it counts without.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import TypeVar

from graph_model.facts import Edge
from graph_model.lineage.bounds import CANDIDATE_LIMIT, Bounds
from graph_model.lineage.columns.hops import Cell, Hop, from_column, moved, with_structs
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import History
from graph_model.lineage.inventory import Inventory, Name, holders

_Item = TypeVar("_Item")


class SharedColumns:
    """The columns beside others at the time ``at`` (epoch ms, None: the end of time); of some at
    most CANDIDATE_LIMIT.
    """

    def __init__(
        self, history: History, inventory: Inventory, bounds: Bounds, at: int | None
    ) -> None:
        self._history = history
        self._inventory = inventory
        self._bounds = bounds
        self._at = at

    def tables_with(self, tables: Collection[str]) -> set[str]:
        """These tables, and the locations that share files with one of them."""
        return self._history.locations.with_shared(tables, self._at)

    def beside(self, columns: Set[Name]) -> set[Name]:
        """The columns of these paths in the locations that share files with their tables."""
        around = self._around({dataset for dataset, _ in columns})
        shared = sorted(column for column in columns if column[0] in around)
        return set(self._first((other, path) for one, path in shared for other in around[one]))

    def known(self, columns: Iterable[Name]) -> set[Name]:
        """Those of these columns, and of the structs around them, that a document names."""
        return self._inventory.known({one for column in columns for one in with_structs(column)})

    def reads(self, hops: Collection[Hop], of: Set[Name] | None = None) -> list[Hop]:
        """The same hops from the known columns beside their sources (None), or from those ``of``
        them: for the drawing, a walk goes on from the columns that were read.

            out#y <- in/orders_*.csv#amount  =>  out#y <- in/orders_1.csv#amount
        """
        found = self.beside_reads(dict.fromkeys(hop.source for hop in hops), of)
        return [_read_as(hop, name) for hop in hops for name in found.get(hop.source, ())]

    def beside_reads(
        self, read: Iterable[Cell], of: Set[Name] | None = None
    ) -> dict[Cell, list[Name]]:
        """Per column that was read those that it was read as: the known ones beside it (None), or
        those ``of`` them.
        """
        cells = list(read)
        around = self._around({cell.moment.dataset for cell in cells})
        offered = self._first(
            (cell, [(other, path) for path in _paths_of(cell)])
            for cell in cells
            for other in around.get(cell.moment.dataset, ())
            if self._history.visible_writes.reads(cell.moment, other)
        )
        if not offered:
            return {}
        counted = {one for _, names in offered for one in names}
        counted = self._inventory.known(counted) if of is None else counted & of
        found: defaultdict[Cell, list[Name]] = defaultdict(list)
        for cell, names in offered:
            found[cell] += islice(filter(counted.__contains__, names), 1)
        return found

    def writes(self, hops: Mapping[Cell, Collection[Hop]]) -> Iterator[Edge]:
        """The derivations of writes that were seen through another location, into the columns of
        the locations that were written.

            in/orders_*.csv#amount <- raw#amount  =>  in/orders_1.csv#amount <- raw#amount
        """
        for cell, some in hops.items():
            for hop in some:
                if hop.written not in ("", cell.moment.dataset):
                    yield moved(hop.edge, hop.source.name, (hop.written, cell.name[1]))

    def _first(self, found: Iterable[_Item]) -> list[_Item]:
        some = list(islice(found, CANDIDATE_LIMIT + 1))
        if len(some) > CANDIDATE_LIMIT:
            self._bounds.cut("nodes", CANDIDATE_LIMIT)
        return some[:CANDIDATE_LIMIT]

    def _around(self, tables: Collection[str]) -> Mapping[str, Collection[str]]:
        found = self._history.locations.around_at(tables, self._at)
        return {table: others for table, others in found.items() if others}


def _paths_of(read: Cell) -> list[str]:
    """The path of a column that was read, and those of the structs around it, out to the one that
    stands for it.
    """
    paths = holders(read.path)
    return paths[: paths.index(read.name[1]) + 1]


def _read_as(hop: Hop, column: Name) -> Hop:
    """The hop from a column of another location, which its source was read as."""
    dataset, known = column
    path, read = hop.source.path, hop.source.moment
    source = Cell(Moment(dataset, read.since, read.until), path, "" if known == path else known)
    return hop._replace(edge=from_column(hop.edge, column), source=source)
