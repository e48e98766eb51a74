"""ALTER TABLE ... RENAME TO: the former and the later names of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model.answers.nodes import dataset_references
from graph_model.answers.sources import Sources
from graph_model.facts import RenameRow
from graph_model.lineage.history.history import History
from graph_model.lineage.history.read_rule import END
from graph_model.picture.view import DatasetReference, iso

RENAMES_FOLLOWED: Final = 20
"""The most renames that an answer follows back."""


@dataclass(frozen=True, slots=True)
class RenameEnd:
    """The other name of a renamed table, and the time of the rename."""

    dataset: DatasetReference
    at: str


@dataclass(frozen=True, slots=True)
class RenameEnds:
    """The newest rename to the name of a dataset, and the newest one away from it."""

    came_from: RenameEnd | None
    went_to: RenameEnd | None


@dataclass(frozen=True, slots=True)
class Renaming:
    """A rename that an answer followed: ``former`` became ``current``."""

    former: DatasetReference
    current: DatasetReference
    at: str


def rename_ends(sources: Sources, history: History, dataset: str, at: int | None) -> RenameEnds:
    """The renames of a dataset, and of the catalog names that stand for it at the time."""
    own = _called(history, dataset, at)
    rows = sorted(sources.catalogue.renames_of(own, at), key=lambda row: (row.at, row))
    came = [(row.former, row.at) for row in rows if row.current in own and row.former not in own]
    went = [(row.current, row.at) for row in rows if row.former in own and row.current not in own]
    return RenameEnds(_newest(sources, came), _newest(sources, went))


def _called(history: History, dataset: str, at: int | None) -> set[str]:
    moment = END if at is None else at
    stood = history.names.locate(
        (name, moment) for name in history.names.names_of((dataset,))[dataset]
    )
    return {dataset, *(name for (name, _), place in stood.items() if place == dataset)}


def _newest(sources: Sources, ends: list[tuple[str, int]]) -> RenameEnd | None:
    if not ends:
        return None
    other, time = ends[-1]
    known = dataset_references(sources, (other,))
    return RenameEnd(known[other], iso(time) or "") if other in known else None


def rename_of(sources: Sources, execution: str, target: str) -> RenameRow | None:
    """The rename of ``target`` by an execution, unless the former name is hidden."""
    rows = (row for row in sources.catalogue.renames_by((execution,)) if row.current == target)
    return next((row for row in rows if row.former not in sources.hidden), None)


def renaming(sources: Sources, row: RenameRow) -> Renaming:
    ends = dataset_references(sources, (row.former, row.current))
    return Renaming(ends[row.former], ends[row.current], iso(row.at) or "")
