"""Parts of the graph that never change, kept from one question to the next.

Only content that an id determines for ever is kept: the id of a logical plan is a digest of all its
facts in graph and catalogue, the id of a column is a digest of its table and path. Whether a plan
still counts is not kept. A walk reaches a plan through its executions, its declaration or an edge,
which are read anew for every question; so it does not reach plans that another process has
withdrawn, pruned or forgotten. Nothing is kept of a plan without its marker, or of a plan that a
limit has cut.

A structure belongs to one catalogue: the next generation may come from another translator, and
begins with an empty structure. Every command ends a structure, too (``api.service.parts``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeVar

from cachetools import LRUCache

from graph_model.facts import DatasetRow, Edge, LogicalPlanRow
from graph_model.naming.columns import ColumnSpelling
from graph_model.naming.containment import Location
from graph_model.stores.catalogue_values import Surroundings

_MEGABYTE: Final = 1_000_000
_ID_BYTES: Final = 150  # a text of some forty characters in a collection
_ENTRY_BYTES: Final = 300  # any other entry


_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class StructureCache(Generic[_Key, _Value]):
    """Values by key with a total weight of at most ``most``; the least recently used are evicted.

    A lock around cachetools' LRUCache, because questions in several threads use it for many keys.
    """

    def __init__(self, most: int, weigh: Callable[[_Value], int]) -> None:
        self._values: LRUCache[_Key, _Value] = LRUCache(most, weigh)
        self._lock = Lock()

    def find(self, keys: Iterable[_Key]) -> dict[_Key, _Value]:
        """The cached values of these keys."""
        with self._lock:
            return {key: self._values[key] for key in keys if key in self._values}

    def keep(self, values: Mapping[_Key, _Value]) -> None:
        with self._lock:
            for key, value in values.items():
                with suppress(ValueError):  # heavier than the whole cache
                    self._values[key] = value


class PlacedDataset(NamedTuple):
    """A dataset with its location, the ids that the folders above it have as datasets, and where to
    look for the locations that share files with it: a function of the dataset's id.
    """

    row: DatasetRow
    location: Location
    folders: tuple[str, ...] = ()
    surroundings: tuple[Surroundings, ...] = ()


class Structure:
    """Datasets, plans, columns and schemas, of some 90 MB at most.

    ``complete``: the logical plans that have their marker. ``sources``: the inputs of such a plan,
    each with the origin of its edge.
    ``plans``: a plan's row. ``datasets``: a dataset and its place. ``columns``: the dataset and
    path behind a column's id; ``joined`` of those that only answers have (``open_columns``).
    ``derivations``: by (logical plan, column) the edges into it.
    ``spellings``: by the id of a schema its columns by their paths.
    """

    def __init__(self) -> None:
        self.complete: StructureCache[str, bool] = StructureCache(
            5 * _MEGABYTE, lambda _: _ENTRY_BYTES
        )
        self.sources: StructureCache[str, Mapping[str, str]] = StructureCache(
            10 * _MEGABYTE, _weight_of_ids
        )
        self.plans: StructureCache[str, LogicalPlanRow] = StructureCache(
            15 * _MEGABYTE, _weight_of_row
        )
        self.datasets: StructureCache[str, PlacedDataset] = StructureCache(
            10 * _MEGABYTE, _weight_of_place
        )
        self.columns: StructureCache[str, tuple[str, str]] = StructureCache(
            10 * _MEGABYTE, _weight_of_ids
        )
        self.joined: StructureCache[str, tuple[str, str]] = StructureCache(
            5 * _MEGABYTE, _weight_of_ids
        )
        self.derivations: StructureCache[tuple[str, str], tuple[Edge, ...]] = StructureCache(
            20 * _MEGABYTE, _weight_of_edges
        )
        self.spellings: StructureCache[str, Mapping[str, ColumnSpelling]] = StructureCache(
            15 * _MEGABYTE, _weight_of_spellings
        )


def _weight_of_ids(ids: Iterable[str]) -> int:
    return _ENTRY_BYTES + sum(_ID_BYTES + len(key) for key in ids)


def _weight_of_place(placed: PlacedDataset) -> int:
    texts = 3 * len(placed.row.uri) + len(placed.row.name)
    return 3 * _ENTRY_BYTES + texts + 3 * _ID_BYTES * len(placed.folders)


def _weight_of_row(row: LogicalPlanRow) -> int:
    return _ENTRY_BYTES + 4 * _ID_BYTES + len(row.gaps) + len(row.partition_keys)


def _weight_of_edges(edges: Iterable[Edge]) -> int:
    return _ENTRY_BYTES + sum(
        6 * _ID_BYTES + sum(len(str(value)) for _, value in edge.properties) for edge in edges
    )


def _weight_of_spellings(columns: Mapping[str, ColumnSpelling]) -> int:
    return _ENTRY_BYTES + sum(
        _ID_BYTES + len(path) + len(column.name) + len(column.type or "")
        for path, column in columns.items()
    )
