"""The writes and removals that one subject needs, and the states of its documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from graph_model.facts import Facts, Part, merge
from graph_model.producers.translation_result import Outcome, States
from graph_model.stores.protocols import DocumentState, StoredDocument

FORGOTTEN_REASON: Final = "its runs were forgotten; it counts again with the next run that is not"


@dataclass(frozen=True, slots=True)
class Projection:
    """The writes and removals that one subject needs, and the states of its documents afterwards.

    ``parts`` together are its facts; a part that many subjects share (a known logical plan) has
    the same key in each of them.
    """

    parts: tuple[Part, ...]
    former: Facts | None  # the former facts, of which some may have to go
    states: States
    dropped: tuple[int, ...] = ()  # positions that are to leave the journal
    unsettled: bool = False  # a command covers a new event: does its plan still say something?

    @property
    def facts(self) -> Facts:
        """All of them as one; raises FactConflict where two contradict each other."""
        return merge(self.parts)

    def silenced(self) -> Iterator[int]:
        """The positions of plans that were forgotten and have no events left."""
        return (position for position, _, reason in self.states if reason == FORGOTTEN_REASON)


def combined(projections: Iterable[Projection]) -> Projection:
    """The projections of several groups of one key's documents as one, none adding to another."""
    found = tuple(projections)
    former = [one.former for one in found if one.former is not None]
    return Projection(
        tuple(part for one in found for part in one.parts),
        merge(former) if former else None,
        tuple(state for one in found for state in one.states),
        tuple(sorted(at for one in found for at in one.dropped)),
        any(one.unsettled for one in found),
    )


def settlements(
    projections: Iterable[Projection],
) -> list[tuple[list[int], DocumentState, str | None]]:
    """The states of several projections: the positions that share one (and its reason) together."""
    together: dict[tuple[DocumentState, str | None], list[int]] = {}
    for projection in projections:
        for position, state, reason in projection.states:
            together.setdefault((state, reason), []).append(position)
    return [(positions, state, reason) for (state, reason), positions in together.items()]


def projection_of(
    outcome: Outcome,
    former: Facts | None,
    documents: Iterable[StoredDocument],
    *,
    unsettled: bool = False,
) -> Projection:
    """The projection for an outcome; ``documents`` are all documents of it."""
    found = tuple(documents)
    dropped = tuple(sorted(outcome.dropped))
    changes = outcome.changes(found)
    return Projection(tuple(outcome.parts), former, changes, dropped, unsettled)
