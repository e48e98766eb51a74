"""The documents of a plan id that belong together: pure, on documents from the journal.

The unit of projection is a *plan id*: all plan documents and events that carry it, under any scope,
since an event without a scope belongs to the plan of the only scope that reported one.
:func:`gather` decides that as a function of the set of documents alone, so any order of arrival
gives the same subjects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model.producers.projections import Projection, projected, reason_of
from graph_model.producers.spline import lifting
from graph_model.producers.spline.documents import PLAN_KIND, ExecutionEvent, read_event, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.values import batched

GATHERING_VERSION: Final = "4"
"""Raised when equal documents are assigned differently."""

_WAITING_REASON: Final = "its execution plan has not been received yet"
_SHADOWED_REASON: Final = "another document of the same plan id has precedence"
_SCOPE_LABEL: Final = b'"captureScope"'
_CONTRADICTS: Final = "another discriminator than its plan: "


@dataclass(frozen=True, slots=True)
class Gathered:
    """The documents of one plan id, by use.

    ``chosen`` maps a scope to its plan document and the events that belong to it; ``shadowed`` are
    plan documents that another one of their scope outranks; ``waiting`` are events without a plan;
    ``contradicting`` are events whose discriminator differs from that of their plan, each with the
    reason to show.
    """

    chosen: dict[str, tuple[StoredDocument, tuple[StoredDocument, ...]]]
    shadowed: tuple[StoredDocument, ...]
    waiting: tuple[StoredDocument, ...]
    contradicting: tuple[tuple[StoredDocument, str], ...] = ()


def gather(documents: Sequence[StoredDocument]) -> Gathered:
    """Choose the plan document of each scope, and its events.

    Of several plan documents of one scope the highest API version wins, then the least hash. An
    event belongs to the plan of its own scope; an event that names no scope, where no plan has the
    scope of its API key, belongs to the plan of the only scope that has one.

    Spline answers "UUID collision" when a plan id comes again with another ``discriminator``, so
    there the order of arrival decides. Here a plan document with another discriminator is a second
    body of its id, ranked like any other, and an event is compared with the chosen plan. An event
    without a discriminator contradicts nothing.
    """
    plans: dict[str, list[StoredDocument]] = {}
    events: list[StoredDocument] = []
    for document in documents:
        if document.kind == PLAN_KIND:
            plans.setdefault(document.scope, []).append(document)
        else:
            events.append(document)
    ranked = {scope: _ranked(listed) for scope, listed in plans.items()}
    taken: dict[str, list[StoredDocument]] = {scope: [] for scope in ranked}
    waiting: list[StoredDocument] = []
    contradicting: list[tuple[StoredDocument, str]] = []
    for event in sorted(events, key=lambda document: document.content_hash):
        scope = _scope_for(event, ranked.keys())
        if scope is None:
            waiting.append(event)
        elif reason := _contradiction(event, ranked[scope][0]):
            contradicting.append((event, reason))
        else:
            taken[scope].append(event)
    return Gathered(
        {scope: (ranking[0], tuple(taken[scope])) for scope, ranking in sorted(ranked.items())},
        tuple(other for ranking in ranked.values() for other in ranking[1:]),
        tuple(waiting),
        tuple(contradicting),
    )


def _contradiction(event: StoredDocument, plan: StoredDocument) -> str:
    """The reason why this event is no run of this plan; empty for none."""
    discriminator = _discriminator(event)
    if discriminator is None:
        return ""  # before reading the plan, which is large
    known = _discriminator(plan)
    if known is None or discriminator == known:
        return ""
    return (
        f"{_CONTRADICTS}{discriminator[:100]!r} is not {known[:100]!r}. Two different plans share"
        " this plan id: give one of them an id of its own, or send the event with its plan's "
        "discriminator"
    )


def carries_discriminator(event: StoredDocument) -> bool:
    """Whether an event may contradict its plan, whose body must then be looked at."""
    return b'"discriminator"' in event.body


def _discriminator(document: StoredDocument) -> str | None:
    """Agents send none, so nearly every document is decided without parsing it."""
    if b'"discriminator"' not in document.body:
        return None
    value = json.loads(document.body).get("discriminator")
    return None if value is None else str(value)


def _ranked(plans: list[StoredDocument]) -> list[StoredDocument]:
    return sorted(plans, key=_rank) if len(plans) > 1 else plans


def _rank(document: StoredDocument) -> tuple[tuple[int, ...], str]:
    version = tuple(-int(part) for part in document.api_version.split("."))
    return (*version, 0)[:2], document.content_hash


def _scope_for(event: StoredDocument, known: Collection[str]) -> str | None:
    """The scope of an event's plan; None where no plan is known for it.

    A scope that the event does not name comes from its API key. Its plan may name another scope
    (agents put labels on plans alone), so the key's scope is only tried first.
    """
    if event.scope in known:
        return event.scope
    named = event.scope != "" and _SCOPE_LABEL in event.body
    return next(iter(known)) if not named and len(known) == 1 else None


def read_plan_document(document: StoredDocument) -> PlanDocument:
    """The normal form of a stored plan; raises InvalidDocument."""
    body = json.loads(document.body)
    if document.api_version == "1":
        body = lifting.lift(body)
    return PlanDocument(
        read_plan(body, document.subject_key),
        document.scope,
        document.content_hash,
        document.api_version,
    )


def read_event_document(document: StoredDocument) -> ExecutionEvent:
    """The normal form of a stored event; raises InvalidDocument."""
    body = json.loads(document.body)
    return read_event(lifting.lift_event(body) if document.api_version == "1" else body)


# --- the result for each document ----------------------------------------------------------------


def may_recover(document: StoredDocument) -> bool:
    """Whether a failed event contradicts a plan that another document may still outrank."""
    return (document.reason or "").startswith(_CONTRADICTS)


def states_of(gathered: Gathered) -> tuple[tuple[int, DocumentState, str | None], ...]:
    states: list[tuple[int, DocumentState, str | None]] = []
    for plan, events in gathered.chosen.values():
        states += [(d.position, *projected(d)) for d in (plan, *events)]
    for plan in gathered.shadowed:
        states.append((plan.position, DocumentState.PROJECTED, _SHADOWED_REASON))
    for event in gathered.waiting:
        states.append((event.position, DocumentState.WAITING, _waiting_reason(gathered)))
    for event, reason in gathered.contradicting:
        states.append((event.position, DocumentState.FAILED, reason))
    return tuple(states)


def _waiting_reason(gathered: Gathered) -> str:
    """The reason why an event has no plan: none is known, or none of its scope."""
    if not gathered.chosen:
        return _WAITING_REASON
    scopes = ", ".join(repr(scope) for scope in list(gathered.chosen)[:10])
    return (
        f"its plan is known in the scopes {scopes} only: set the label captureScope to choose one"
    )


# --- more events than memory holds ---------------------------------------------------------------


class LongHistory:
    """The plans of one plan id, and the state of its events so far.

    By the law ``translate(plan, E1 + E2) = translate(plan, E1) + translate(plan, E2)`` the plans
    stay in memory and the events are translated in pieces.
    """

    def __init__(
        self,
        plans: Sequence[StoredDocument],
        project: Callable[[Sequence[StoredDocument]], Projection],
        forgotten: Collection[str],
    ) -> None:
        self._plans = plans
        self._project = project
        self._forgotten = forgotten
        self._spoken: set[str] = set()  # scopes with an event not forgotten

    def project_pieces(
        self, events: Iterator[StoredDocument], batch_size: int
    ) -> Iterator[Projection]:
        """Translate the events, ``batch_size`` at a time."""
        alone = self._project(self._plans)
        failed = {at for at, state, _ in alone.states if state == DocumentState.FAILED}
        self._plans = [document for document in self._plans if document.position not in failed]
        yield Projection((), None, alone.states)
        for piece in batched(events, batch_size):
            yield from self._piece(piece)
        yield from self._silent()

    def _piece(self, events: Sequence[StoredDocument]) -> Iterator[Projection]:
        if damaged := [event for event in events if event.damage]:
            yield self._project(damaged)
            events = [event for event in events if not event.damage]
        try:
            gathered = gather([*self._plans, *events])
        except Exception as error:  # a hostile body may raise any error
            yield _failed(events, reason_of(error))
            return
        states = {at: (state, reason) for at, state, reason in states_of(gathered)}
        for scope, (plan, events_of_plan) in gathered.chosen.items():
            if any(event.content_hash not in self._forgotten for event in events_of_plan):
                self._spoken.add(scope)
                projection = self._project([plan, *events_of_plan])
                states |= {at: (state, why) for at, state, why in projection.states}
                yield Projection(projection.parts, None, ())
        positions = {event.position for event in events}
        yield Projection(
            (), None, tuple((at, *state) for at, state in states.items() if at in positions)
        )

    def _silent(self) -> Iterator[Projection]:
        """Plans whose events are all forgotten, or that have none."""
        for scope, (plan, _) in gather(self._plans).chosen.items():
            if scope not in self._spoken:
                yield Projection(self._project([plan]).parts, None, ())


def _failed(documents: Sequence[StoredDocument], reason: str) -> Projection:
    states = tuple((document.position, DocumentState.FAILED, reason) for document in documents)
    return Projection((), None, states)
