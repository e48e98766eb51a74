"""A plan id under a command, a bounded number of its events at a time.

The facts of events add up, so the events of a command are withdrawn piece by piece. Whether the
plan keeps its facts depends on the states of all its events: a few *witnesses*, one of every state,
represent them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from graph_model.batches import batched
from graph_model.facts import Facts
from graph_model.producers.projections import Projection
from graph_model.producers.translation_result import PRUNED
from graph_model.projection.withdrawal import difference
from graph_model.stores.protocols import DocumentState, StoredDocument
from graph_model.stores.protocols.journal import JournalDocuments

EVENTS_A_STEP: Final = 1_000

Project = Callable[[Sequence[StoredDocument]], Projection]


@dataclass(slots=True)
class Witnesses:
    """The first event of each scope and fate."""

    _found: dict[tuple[str, bool, str], StoredDocument] = field(default_factory=dict)

    @property
    def documents(self) -> tuple[StoredDocument, ...]:
        return tuple(self._found.values())

    @property
    def positions(self) -> frozenset[int]:
        return frozenset(one.position for one in self.documents)

    def see(self, projection: Projection, events: Iterable[StoredDocument]) -> bool:
        """Note the states of these; whether one of them is shown."""
        states = {at: (state, reason) for at, state, reason in projection.states}
        dropped = frozenset(projection.dropped)
        for event in events:
            state = states.get(event.position, (event.state, event.reason))
            fate = _fate(*state, dropped=event.position in dropped)
            names_scope = b'"captureScope"' in event.body  # decides which plan it goes with
            self._found.setdefault((event.scope, names_scope, fate), event)
        return any(fate == _SHOWN for _, _, fate in self._found)


_SHOWN: Final = "shown"


def _fate(state: DocumentState, reason: str | None, *, dropped: bool) -> str:
    if (state, reason) == PRUNED:
        return "pruned and dropped" if dropped else "pruned"
    if dropped:
        return "forgotten"
    return _SHOWN if state != DocumentState.WAITING else "waiting"


def revise(
    journal: JournalDocuments,
    plans: Sequence[StoredDocument],
    events: Sequence[int],
    covered: Sequence[int],
    project: Project,
) -> Iterator[Projection]:
    """The projections to commit, one after the other; the last one decides about the plans.

    ``events`` are the positions of all events of the plan id, ``covered`` of those that the command
    may cover. ``project`` translates under the commands in force, with the former facts as
    ``former``.
    """
    witnesses, kept = Witnesses(), {one.position for one in plans}
    plan_facts = project(plans).former or Facts()
    shown = False
    for piece in _pieces(journal, covered):
        revised = project([*plans, *piece])
        shown = witnesses.see(revised, piece)
        yield _of_events(revised, plan_facts, kept | witnesses.positions)
    others = sorted(set(events) - set(covered))
    for piece in _pieces(journal, others):
        if shown:
            break
        shown = witnesses.see(project([*plans, *piece]), piece)
    last = project([*plans, *witnesses.documents])
    yield replace(last, dropped=(*last.dropped, *last.silenced()))


def _pieces(
    journal: JournalDocuments, positions: Sequence[int]
) -> Iterator[tuple[StoredDocument, ...]]:
    return map(journal.documents, batched(positions, EVENTS_A_STEP))


def _of_events(revised: Projection, plan_facts: Facts, kept: Collection[int]) -> Projection:
    """The facts of the events alone, without plans and witnesses, which stay for now."""
    return replace(
        revised,
        parts=(difference(revised.facts, (plan_facts,)),),
        former=difference(revised.former or Facts(), (plan_facts,)),
        states=tuple(state for state in revised.states if state[0] not in kept),
        dropped=tuple(position for position in revised.dropped if position not in kept),
    )
