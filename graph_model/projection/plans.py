"""Which documents of a plan id belong together: pure, on documents that the journal kept.

What is projected together is a *plan id*: all plan documents and events that carry it, whatever
scope they came under, for an event that came without a scope belongs to the plan that one scope
has reported. :func:`gather` decides that as a function of the set of documents alone, so any
order of arrival gives the same subjects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import lifting
from graph_model.documents import ExecutionEvent, read_event, read_plan
from graph_model.projection.notes import projected
from graph_model.store import DocumentKind, DocumentState, StoredDocument
from graph_model.translate import PlanDocument

GATHERING_VERSION: Final = "4"
"""Counted up when equal documents are sorted out otherwise."""

_WAITING_REASON: Final = "its execution plan has not been received yet"
_SHADOWED_REASON: Final = "another document of the same plan id has precedence"
_SCOPE_LABEL: Final = b'"captureScope"'
_CONTRADICTS: Final = "another discriminator than its plan: "


@dataclass(frozen=True, slots=True)
class Gathered:
    """The documents of one plan id, sorted out.

    ``chosen`` maps a scope to its plan document and the events that belong to it; ``shadowed``
    are plan documents that another one of their scope outranks; ``waiting`` are events without
    a plan to go with; ``contradicting`` are events whose discriminator is not that of the plan
    they would go with, each with the reason to show.
    """

    chosen: dict[str, tuple[StoredDocument, tuple[StoredDocument, ...]]]
    shadowed: tuple[StoredDocument, ...]
    waiting: tuple[StoredDocument, ...]
    contradicting: tuple[tuple[StoredDocument, str], ...] = ()


def gather(documents: Sequence[StoredDocument]) -> Gathered:
    """Which plan speaks for each scope, and which events go with it.

    Of several plan documents of one scope the highest API version wins, then the least hash. An
    event goes with the plan of its own scope; an event that names no scope itself, when no plan is
    of the scope of its key, with the only scope that has a plan.

    Spline answers "UUID collision" when a plan id comes again with another ``discriminator``, so
    there the order of arrival decides. Here a plan document with another discriminator is a
    second body of its id, ranked like any other, and an event is held against the plan that
    speaks in the end. One that carries no discriminator contradicts nothing.
    """
    plans: dict[str, list[StoredDocument]] = {}
    events: list[StoredDocument] = []
    for document in documents:
        if document.kind == DocumentKind.PLAN:
            plans.setdefault(document.scope, []).append(document)
        else:
            events.append(document)
    ranked = {scope: _ranked(found) for scope, found in plans.items()}
    going: dict[str, list[StoredDocument]] = {scope: [] for scope in ranked}
    waiting: list[StoredDocument] = []
    contradicting: list[tuple[StoredDocument, str]] = []
    for event in sorted(events, key=lambda document: document.content_hash):
        scope = _scope_for(event, ranked.keys())
        if scope is None:
            waiting.append(event)
        elif reason := _contradiction(event, ranked[scope][0]):
            contradicting.append((event, reason))
        else:
            going[scope].append(event)
    return Gathered(
        {scope: (found[0], tuple(going[scope])) for scope, found in sorted(ranked.items())},
        tuple(other for found in ranked.values() for other in found[1:]),
        tuple(waiting),
        tuple(contradicting),
    )


def _contradiction(event: StoredDocument, plan: StoredDocument) -> str:
    """Why this event is no run of this plan; empty when nothing speaks against it."""
    said = _discriminator(event)
    if said is None:
        return ""  # before the plan is looked at: a plan is large
    known = _discriminator(plan)
    if known is None or said == known:
        return ""
    return (
        f"{_CONTRADICTS}{said[:100]!r} is not {known[:100]!r}. Two different plans share this "
        "plan id: give one of them an id of its own, or send the event with its plan's "
        "discriminator"
    )


def carries_discriminator(event: StoredDocument) -> bool:
    """Whether an event may contradict its plan, whose body must then be looked at."""
    return b'"discriminator"' in event.body


def _discriminator(document: StoredDocument) -> str | None:
    """Agents send none, so nearly every document is answered without parsing it."""
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
    """The scope that an event goes with; None when it goes with none of those known.

    A scope that the event does not name itself comes from the key that it was sent with. Its plan
    may name another (agents put labels on plans alone), so that one is only the first guess.
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
        read_plan(body, document.plan_id),
        document.scope,
        document.content_hash,
        document.api_version,
    )


def read_event_document(document: StoredDocument) -> ExecutionEvent:
    """The normal form of a stored event; raises InvalidDocument."""
    body = json.loads(document.body)
    return read_event(lifting.lift_event(body) if document.api_version == "1" else body)


# --- what becomes of each document ---------------------------------------------------------------


def may_recover(document: StoredDocument) -> bool:
    """Whether a failed event was only held against a plan that may not have the last word."""
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
    """Why an event goes with no plan: there is none, or none of its scope."""
    if not gathered.chosen:
        return _WAITING_REASON
    scopes = ", ".join(repr(scope) for scope in list(gathered.chosen)[:10])
    return f"its plan is known in the scopes {scopes} only: the label captureScope would say which"
