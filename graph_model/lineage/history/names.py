"""The names and the locations of datasets: a table has a location and catalog names, and both
change; a location may hold others, for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from graph_model import identity
from graph_model.batches import batched
from graph_model.facts import DatasetRow
from graph_model.lineage.structure import PlacedDataset, StructureCache
from graph_model.naming import varying_part
from graph_model.naming.containment import Location, begins, folders_above, holds, meets
from graph_model.stores.catalogue_values import Surroundings

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


_READ_AT_ONCE: Final = 1_000


class DatasetNames:
    """Names and locations from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._names: dict[str, frozenset[str]] = {}  # location -> every name it had
        self._locations: dict[str, frozenset[str]] = {}  # name -> every location it stood for

    def names_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset all its catalog names."""
        self._learn_names(set(datasets) - self._names.keys())
        return {dataset: self._names[dataset] for dataset in datasets}

    def locations_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset all its locations: itself if it is no catalog name."""
        self._learn_names(set(datasets) - self._locations.keys())
        return {dataset: self._locations[dataset] for dataset in datasets}

    def tables(self, rows: Iterable[DatasetRow]) -> Iterator[DatasetRow]:
        """Each table once: without catalog names that have a location, where its data flows."""
        for some in batched(rows, _READ_AT_ONCE):
            places = self.locations_of({row.id for row in some if row.kind == "name"})
            yield from (row for row in some if row.id in places.get(row.id, (row.id,)))

    def locate(self, moments: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Per (dataset, time) its location: every step of a walk uses this function."""
        asked = set(moments)
        places = self.locations_of({dataset for dataset, _ in asked})
        only = {dataset: next(iter(found)) for dataset, found in places.items() if len(found) == 1}
        found = {moment: only[moment[0]] for moment in asked if moment[0] in only}
        moved = asked - found.keys() if len(only) < len(places) else set()
        return found | (self._catalogue.locations_of(moved) if moved else {})

    def targets_of(self, datasets: Collection[str]) -> dict[str, list[tuple[str, str]]]:
        """Per dataset its names as a write's target: (target, required location or "")."""
        names = self.names_of(datasets)
        places = self.locations_of({name for found in names.values() for name in found})
        return {
            dataset: [
                *([] if dataset in found else [(dataset, "")]),  # a name that lost its location
                *((name, dataset if len(places[name]) > 1 else "") for name in sorted(found)),
            ]
            for dataset, found in names.items()
        }

    def _learn_names(self, datasets: Collection[str]) -> None:
        """Reads both directions at once: a question for one usually needs the other next."""
        if datasets:
            self._note_names(datasets, self._catalogue.names_around(datasets))

    def _note_names(self, datasets: Collection[str], pairs: Collection[tuple[str, str]]) -> None:
        names: defaultdict[str, set[str]] = defaultdict(set)
        places: defaultdict[str, set[str]] = defaultdict(set)
        for name, location in pairs:
            names[location].add(name)
            places[name].add(location)
        self._names |= {d: frozenset(names.get(d, ())) for d in datasets}
        self._locations |= {d: frozenset(places.get(d, (d,))) for d in {*datasets, *places}}


#: Locations that share files with one dataset, of each kind of surroundings.
LOCATION_LIMIT: Final = 1_000
_PATTERN: Final = "pattern"
_LOCATIONS: Final = ("file", _PATTERN)


class SharedLocations:
    """The locations that share files with a dataset, from one catalogue; kept for the life of the
    object. Which do follows from their URIs (``naming.containment``).

        s3://land/in/orders_*.csv  =>  s3://land/in, s3://land/in/orders_1.csv

    ``cut``: some were left out, because there are more than ``LOCATION_LIMIT``. ``known`` keeps
    datasets for later questions.
    """

    def __init__(self, catalogue: Catalogue, known: StructureCache[str, PlacedDataset]) -> None:
        self._catalogue = catalogue
        self._known = known
        self._around: dict[str, tuple[str, ...]] = {}
        self._placed: dict[str, PlacedDataset] = {}
        self._seen: dict[Surroundings, tuple[DatasetRow, ...]] = {}
        self.cut = False

    def around(self, datasets: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Per dataset the others that share files with it, none for nearly all."""
        new = {dataset for dataset in datasets if dataset not in self._around}
        if new:
            self._learn(new)
        return {dataset: self._around[dataset] for dataset in datasets}

    def around_at(self, datasets: Collection[str], at: int | None) -> dict[str, tuple[str, ...]]:
        """As ``around``, without locations that did not exist yet; None: the end of time."""
        found = self.around(datasets)
        others = {other for some in found.values() for other in some}
        if at is None or not others:
            return found
        seen = self._catalogue.seen(others, at)
        return {one: tuple(o for o in some if o in seen) for one, some in found.items()}

    def with_shared(self, datasets: Collection[str], at: int | None) -> set[str]:
        """These datasets, and those that share files with one of them and existed."""
        found = self.around_at(datasets, at)
        return {*datasets, *(other for some in found.values() for other in some)}

    def folders_of(self, dataset: str) -> tuple[str, ...]:
        """The ids that the folders above a location have as datasets; it has been asked for, or
        shares files with one that has.
        """
        return self._placed[dataset].folders

    def holds(self, outer: str, inner: str) -> bool:
        """Whether one location holds all of the other one; both are known as in ``folders_of``."""
        one, other = self._placed[outer], self._placed[inner]
        return one.row.scope == other.row.scope and holds(one.location, other.location)

    def lists(self, pattern: str, files: Collection[str], other: str) -> bool:
        """Whether a read of a list of files, for which a pattern stands, may have read another
        location: it holds the whole pattern, or it is one of the files or lies in one.
        """
        return (
            other == pattern
            or self.holds(other, pattern)
            or varying_part(self._placed[other].location.uri, self._placed[pattern].location.uri)
            in files
        )

    def is_pattern(self, dataset: str) -> bool:
        return self._placed[dataset].location.is_pattern

    def _learn(self, datasets: Collection[str]) -> None:
        self._around |= dict.fromkeys(datasets, ())
        self._read(datasets)
        placed = [self._placed[dataset] for dataset in datasets if dataset in self._placed]
        self._look({place for one in placed for place in one.surroundings})
        for own in placed:
            found = {row.id: row for place in own.surroundings for row in self._seen[place]}
            found.pop(own.row.id, None)
            if found:
                self._note(found.values())
                near = (key for key in found if meets(own.location, self._placed[key].location))
                self._around[own.row.id] = tuple(sorted(near))

    def _read(self, datasets: Collection[str]) -> None:
        self._placed |= self._known.find(set(datasets) - self._placed.keys())
        new = set(datasets) - self._placed.keys()
        if new:
            self._note(self._catalogue.datasets(new))
            self._known.keep({key: self._placed[key] for key in new & self._placed.keys()})

    def _note(self, rows: Iterable[DatasetRow]) -> None:
        self._placed |= {row.id: _placed(row) for row in rows if row.id not in self._placed}

    def _look(self, places: Collection[Surroundings]) -> None:
        new = {place for place in places if place not in self._seen}
        if not new:
            return
        for place, rows in self._catalogue.datasets_around(new, LOCATION_LIMIT).items():
            self.cut |= len(rows) > LOCATION_LIMIT
            self._seen[place] = tuple(row for row in rows if row.kind in _LOCATIONS)


def _placed(row: DatasetRow) -> PlacedDataset:
    if row.kind not in _LOCATIONS:
        return PlacedDataset(row, Location(row.uri, is_pattern=False))
    location = Location(row.uri, row.kind == _PATTERN)
    folders = tuple(identity.dataset_id(row.scope, uri) for uri in folders_above(location))
    beneath = Surroundings("", row.scope, begins(location))
    return PlacedDataset(row, location, folders, (*map(Surroundings, folders), beneath))
