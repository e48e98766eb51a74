"""What one subject asks of the stores, and the states that its documents get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from graph_model.facts import Facts, merge
from graph_model.projection.outcome import Outcome, States
from graph_model.store import DocumentState, StoredDocument

FORGOTTEN_REASON: Final = "it was forgotten: it speaks again with a run that was not"


@dataclass(frozen=True, slots=True)
class Projection:
    """What one subject asks of the stores, and the states its documents get when it is done.

    ``parts`` together are its facts; what many subjects say alike (a known logical plan) is the
    same value in each of them.
    """

    parts: tuple[Facts, ...]
    former: Facts | None  # what stood before, when some of it may have to go
    states: States
    dropped: tuple[int, ...] = ()  # positions that are to leave the journal
    earlier: tuple[int, ...] = ()  # positions of what ``former`` comes from
    unsettled: bool = False  # a command covers a new event: does its plan still say something?

    @property
    def facts(self) -> Facts:
        """All of them as one; raises FactConflict where two contradict each other."""
        return merge(self.parts)

    def silenced(self) -> Iterator[int]:
        """The positions of plans that were forgotten and have nothing else to speak for."""
        return (position for position, _, reason in self.states if reason == FORGOTTEN_REASON)


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
    """What an outcome asks of the stores; ``documents`` are all that it is about."""
    found = tuple(documents)
    earlier = tuple(d.position for d in found if not d.is_fresh) if former else ()
    dropped = tuple(sorted(outcome.dropped))
    changes = outcome.changes(found)
    return Projection(tuple(outcome.parts), former, changes, dropped, earlier, unsettled)
