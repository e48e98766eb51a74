"""The OpenLineage documents of one subject key -> what the stores must hold of them. Pure.

A subject key is a run (``run:…``) or what is declared of a job or a dataset (``job:…``,
``dataset:…``); under one key each capture scope is a subject of its own. A run is a function of
all its events, so a new one makes the whole run anew: the projector writes the new facts, then
withdraws those that only the former ones said. Declarations add up: each event stands for itself.

What cannot be read is set aside alone. An event that failed before is tried again with every new
one of its key, so that what stands does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from graph_model.commands import NO_ORDERS, Orders
from graph_model.errors import Unavailable
from graph_model.facts import ExecutionRow, Facts, merge
from graph_model.naming import Rules
from graph_model.openlineage import (
    RECENT,
    Event,
    RunEvent,
    translate_declaration,
    translate_run,
)
from graph_model.openlineage.documents import run_home
from graph_model.projection.attempts import earlier_sets
from graph_model.projection.outcome import PROJECTED, Outcome
from graph_model.store import DocumentState, StoredDocument


def translate_events(documents: Sequence[StoredDocument], orders: Orders, rules: Rules) -> Outcome:
    """All facts of the documents of one key, in every scope; raises Unavailable alone.

    A document that a forget command names is not part of its run, and is to leave the journal. A
    prune command covers a run when it covers each of its writes.
    """
    outcome = Outcome()
    scopes: dict[str, list[StoredDocument]] = {}
    for document in documents:
        if document.content_hash in orders.forgotten:
            outcome.drop([document])
        elif document.content_hash in orders.retracted:
            outcome.retract(document)
        else:
            scopes.setdefault(document.scope, []).append(document)
    for scope, found in sorted(scopes.items()):
        _translate_scope(scope, _read(found, outcome), orders, rules, outcome)
    return outcome


def former_facts(
    documents: Sequence[StoredDocument], orders: Orders, rules: Rules, *, covered: bool
) -> Facts | None:
    """What may stand of these documents, apart from what all of them say; None for nothing.

    With the commands in force and without: one that has just been given may not have taken away
    what it covers. ``covered``: a command covers some of them.
    """
    readable = [one for one in documents if one.state != DocumentState.FAILED]
    earlier = earlier_sets(readable, covered=covered)
    if not earlier:
        return None
    return merge(
        translate_events(some, known, rules).facts
        for some in earlier
        for known in ((NO_ORDERS, orders) if _touches(orders, some) else (NO_ORDERS,))
    )


def _touches(orders: Orders, documents: Iterable[StoredDocument]) -> bool:
    named = (orders.forgotten, orders.retracted)
    return any(one.content_hash in hashes for one in documents for hashes in named)


_Events = Sequence[tuple[StoredDocument, Event]]


def _read(documents: Iterable[StoredDocument], outcome: Outcome) -> _Events:
    """The events that can be read; the others are set aside."""
    found: list[tuple[StoredDocument, Event]] = []
    for document in documents:
        try:
            found.append((document, RECENT.read(document.content_hash, document.body)))
        except Unavailable:
            raise
        except Exception as error:
            outcome.set_aside([document], error)
    return found


def _translate_scope(
    scope: str, found: _Events, orders: Orders, rules: Rules, outcome: Outcome
) -> None:
    runs: dict[str, list[tuple[StoredDocument, RunEvent]]] = {}
    for document, event in found:
        if isinstance(event, RunEvent):
            runs.setdefault(run_home(event), []).append((document, event))
        else:
            translate = partial(translate_declaration, event, rules, scope)
            _add([document], translate, orders, outcome)
    for _, told in sorted(runs.items()):
        events = [event for _, event in told]
        _add(
            [one for one, _ in told], partial(translate_run, events, rules, scope), orders, outcome
        )


def _add(
    documents: Sequence[StoredDocument],
    translate: Callable[[], Facts],
    orders: Orders,
    outcome: Outcome,
) -> None:
    """The facts of documents that stand or fall together."""
    try:
        facts = translate()
    except Unavailable:
        raise
    except Exception as error:
        outcome.set_aside(documents, error)
        return
    writes = [row for row in facts.rows if isinstance(row, ExecutionRow)]
    if writes and all(map(orders.prunes, writes)):
        outcome.hide(documents, dropped=all(map(orders.drops, writes)))
        return
    outcome.states |= dict.fromkeys((document.position for document in documents), PROJECTED)
    outcome.parts.append(facts)
