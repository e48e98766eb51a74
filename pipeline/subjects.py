"""All documents of a plan id -> facts, with the service's own translation, in bounded memory.

    documents in order (the events last) -> Projection, Projection, …

Up to ``EVENTS_TOGETHER`` events a plan id is translated in one call, as the service does. Beyond
that the law ``translate(plan, E1 + E2) = translate(plan, E1) + translate(plan, E2)`` is used: the
documents that are no events stay in memory, the events pass by in pieces. So what a plan id takes
is its plans and ``EVENTS_TOGETHER`` events with their facts, however often it ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from graph_model.commands import Orders
from graph_model.projection.outcome import reason_of
from graph_model.projection.plans import gather, states_of
from graph_model.projection.projections import Projection
from graph_model.projection.translation import Translation
from graph_model.store import DocumentState, StoredDocument

EVENTS_TOGETHER: Final = 5_000


def project_plan_id(
    documents: Iterable[StoredDocument],
    translation: Translation,
    orders: Orders,
    *,
    together: int = EVENTS_TOGETHER,
) -> Iterator[Projection]:
    """What all documents of one plan id stand for, in pieces whose union is the whole.

    ``documents`` come with the events last. What cannot be translated is set aside with its reason
    in the states; nothing is raised for it.
    """
    rest = iter(documents)
    others: list[StoredDocument] = []
    first: list[StoredDocument] = []
    for document in rest:
        (others if translation.needs_all(document) else first).append(document)
        if len(first) > together:
            break
    if len(first) <= together:
        yield translation.project_all([*others, *first], orders)
    else:
        yield from _LongHistory(others, translation, orders).project(chain(first, rest), together)


class _LongHistory:
    """The plans of one plan id, and what is known of its events so far."""

    def __init__(
        self, plans: Sequence[StoredDocument], translation: Translation, orders: Orders
    ) -> None:
        self._plans = plans
        self._translation = translation
        self._orders = orders
        self._spoken: set[str] = set()  # scopes with an event that is not forgotten

    def project(self, events: Iterator[StoredDocument], together: int) -> Iterator[Projection]:
        alone = self._translation.project_all(self._plans, self._orders)
        failed = {at for at, state, _ in alone.states if state == DocumentState.FAILED}
        self._plans = [one for one in self._plans if one.position not in failed]
        yield Projection((), None, alone.states)
        while piece := list(islice(events, together)):
            yield from self._piece(piece)
        yield from self._silent()

    def _piece(self, events: Sequence[StoredDocument]) -> Iterator[Projection]:
        if damaged := [event for event in events if event.damage]:
            yield self._translation.project_all(damaged, self._orders)
            events = [event for event in events if not event.damage]
        try:
            gathered = gather([*self._plans, *events])
        except Exception as error:  # whatever a hostile body makes of it
            yield _failed(events, reason_of(error))
            return
        said = {at: (state, reason) for at, state, reason in states_of(gathered)}
        for scope, (plan, going) in gathered.chosen.items():
            if any(event.content_hash not in self._orders.forgotten for event in going):
                self._spoken.add(scope)
                projection = self._translation.project_all([plan, *going], self._orders)
                said |= {at: (state, why) for at, state, why in projection.states}
                yield Projection(projection.parts, None, ())
        positions = {event.position for event in events}
        yield Projection(
            (), None, tuple((at, *state) for at, state in said.items() if at in positions)
        )

    def _silent(self) -> Iterator[Projection]:
        """Plans whose events, if there are any, are all forgotten."""
        for scope, (plan, _) in gather(self._plans).chosen.items():
            if scope not in self._spoken:
                parts = self._translation.project_all([plan], self._orders).parts
                yield Projection(parts, None, ())


def _failed(documents: Sequence[StoredDocument], reason: str) -> Projection:
    states = tuple((one.position, DocumentState.FAILED, reason) for one in documents)
    return Projection((), None, states)
