"""The OpenLineage documents of one subject key -> what the stores must hold of them. Pure.

A subject key is a run (``run:…``) or what is declared of a job or a dataset (``job:…``,
``dataset:…``); under one key each capture scope is a subject of its own. A run is a function of
all its events, so a new one makes the whole run anew: the projector writes the new facts, then
withdraws those that only the former ones said. Declarations add up: each event stands for itself.

What cannot be read is set aside alone. An event that failed before is tried again with every new
one of its key, so that what stands does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from graph_model.commands import NO_ORDERS, Orders
from graph_model.errors import Unavailable
from graph_model.facts import ArrivalRow, ExecutionRow, Facts, RunRow, merge
from graph_model.naming import Rules
from graph_model.openlineage import (
    Event,
    RunEvent,
    Translation,
    read_declaration,
    read_event,
    read_run,
)
from graph_model.openlineage.documents import run_home
from graph_model.projection.attempts import earlier_sets
from graph_model.projection.notes import projected
from graph_model.projection.outcome import Outcome
from graph_model.shelf import Shelf
from graph_model.store import DocumentState, StoredDocument

_MOST_ELEMENTS: Final = 20_000
_Set = frozenset[tuple[str, str]]


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


class Said:
    """What runs said that go on, by the set of their documents: under one set of rules.

    The next event of such a run makes it anew and takes back what it said before, which then need
    not be worked out a second time. What has ended rarely speaks again, and is not remembered.
    Nothing depends on it: what is missing here is translated.
    """

    def __init__(self, most_elements: int = _MOST_ELEMENTS) -> None:
        self._kept: Shelf[_Set, tuple[Facts, ...]] = Shelf(most_elements, _count_elements)

    def keep(self, documents: Iterable[StoredDocument], outcome: Outcome) -> None:
        """Remember what these came to, where no command covers any of them and none failed."""
        if outcome.covered or any(
            state != DocumentState.PROJECTED for state, _ in outcome.states.values()
        ):
            return
        rows = [row for part in outcome.parts for row in part.rows if isinstance(row, RunRow)]
        if rows and all(row.ended_at is None for row in rows):
            self._kept.keep({_set_of(documents): tuple(outcome.parts)})

    def find(self, documents: Iterable[StoredDocument]) -> tuple[Facts, ...] | None:
        """What these documents say where no command covers any; None where that is not known."""
        return self._kept.get(_set_of(documents))


def _set_of(documents: Iterable[StoredDocument]) -> _Set:
    return frozenset((one.scope, one.content_hash) for one in documents)


def _count_elements(parts: Iterable[Facts]) -> int:
    return sum(len(part.vertices) + len(part.edges) + len(part.rows) for part in parts)


def former_facts(
    documents: Sequence[StoredDocument], orders: Orders, rules: Rules, said: Said, *, covered: bool
) -> Facts | None:
    """What may stand of these documents, apart from what all of them say; None for nothing.

    With the commands in force and without: one that has just been given may not have taken away
    what it covers. ``covered``: a command covers some of them.
    """
    readable = [one for one in documents if one.state != DocumentState.FAILED]
    earlier = earlier_sets(readable, covered=covered)
    if not earlier:
        return None
    found: list[Facts] = []
    for some in earlier:
        parts = said.find(some)
        found += translate_events(some, NO_ORDERS, rules).parts if parts is None else parts
        if _touches(orders, some):
            found += translate_events(some, orders, rules).parts
    return merge(found)


def _touches(orders: Orders, documents: Iterable[StoredDocument]) -> bool:
    named = (orders.forgotten, orders.retracted)
    return any(one.content_hash in hashes for one in documents for hashes in named)


_Events = Sequence[tuple[StoredDocument, Event]]


def _read(documents: Iterable[StoredDocument], outcome: Outcome) -> _Events:
    """The events that can be read; the others are set aside."""
    found: list[tuple[StoredDocument, Event]] = []
    for document in documents:
        try:
            found.append((document, read_event(document.body)))
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
            translate = partial(read_declaration, event, rules, scope)
            _add([(document, event)], translate, orders, outcome)
    for _, told in sorted(runs.items()):
        events = [event for _, event in told]
        _add(told, partial(read_run, events, rules, scope), orders, outcome)


def _add(
    told: _Events, translate: Callable[[], Translation], orders: Orders, outcome: Outcome
) -> None:
    """The facts of documents that stand or fall together."""
    documents = [document for document, _ in told]
    try:
        translation = translate()
    except Unavailable:
        raise
    except Exception as error:
        outcome.set_aside(documents, error)
        return
    writes = [row for row in translation.own.rows if isinstance(row, ExecutionRow)]
    if writes and all(map(orders.prunes, writes)):
        outcome.hide(documents, dropped=all(map(orders.drops, writes)))
        return
    left_out = translation.left_out
    outcome.states |= {one.position: projected(one, left_out) for one in documents}
    outcome.parts += translation.parts
    if writes:
        outcome.parts.append(Facts(rows=tuple(sorted(_arrivals(writes, told)))))


def _arrivals(executions: Iterable[ExecutionRow], told: _Events) -> Iterator[ArrivalRow]:
    """An execution has come with the first event of its time, which ended it; else with the last
    of all.
    """
    last = max(document.received_at for document, _ in told)
    for row in executions:
        ending = [document.received_at for document, event in told if event.at == row.at]
        yield ArrivalRow(row.id, min(ending, default=last))
