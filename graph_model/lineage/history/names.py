"""The names of datasets: a table has a location and catalog names, and both change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from graph_model.batches import batched
from graph_model.facts import DatasetRow
from graph_model.stores.protocols import Catalogue

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
