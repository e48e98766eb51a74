"""The OpenLineage documents of one subject key -> their facts and states. Pure.

A subject key is a run (``run:…``) or a declared job or dataset (``job:…``,
``dataset:…``); under one key each capture scope is a subject of its own. A run is a function of
all its events, so a new one translates the whole run again: the projector writes the new facts,
then withdraws those of the former events alone. Declarations add up: each event counts alone.

An unreadable event is set aside alone. An event that failed before is tried again with every new
one of its key, so that the facts do not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import itemgetter
from threading import Lock
from typing import Final, NamedTuple

from cachetools import LRUCache

from graph_model.errors import Unavailable
from graph_model.facts import (
    ArrivalRow,
    ExecutionRow,
    Facts,
    Part,
    RunRow,
    SharedFacts,
    merge,
)
from graph_model.naming import Rules
from graph_model.producers.counted_times import TOLERANCE_MS, count_times
from graph_model.producers.document_notes import projected
from graph_model.producers.openlineage import (
    Event,
    RunEvent,
    SubjectTranslation,
    read_declaration,
    read_event,
    read_run,
)
from graph_model.producers.openlineage.events.separation import separate_runs
from graph_model.producers.producer import NO_EFFECTS, CommandEffects
from graph_model.producers.projections import Outcome, earlier_sets
from graph_model.stores.documents import DocumentState, StoredDocument

_MOST_ELEMENTS: Final = 20_000
#: The note at a document with a damaged facet, which is not in the graph.
FACET_SET_ASIDE: Final = "facet-set-aside"
_Set = frozenset[tuple[str, str]]


class Terms(NamedTuple):
    """The values on which facts depend beside documents: see ``Producer.translator``."""

    rules: Rules
    clock_tolerance: int = TOLERANCE_MS


def translate_events(
    documents: Sequence[StoredDocument], effects: CommandEffects, terms: Terms
) -> Outcome:
    """All facts of the documents of one key, in every scope; raises only Unavailable.

    A document that a forget command names is left out of its run and reported for deletion. A prune
    command covers a run when it covers each of its writes.
    """
    outcome = Outcome()
    scopes: dict[str, list[StoredDocument]] = {}
    for document in documents:
        if document.content_hash in effects.forgotten:
            outcome.drop([document])
        elif document.content_hash in effects.retracted:
            outcome.retract(document)
        else:
            scopes.setdefault(document.scope, []).append(document)
    for scope, found in sorted(scopes.items()):
        _translate_scope(scope, _read(found, outcome), effects, terms, outcome)
    return outcome


class OngoingRuns:
    """Facts of runs in progress, by the set of their documents, under one set of rules.

    The next event of such a run translates it anew and withdraws the former facts, which this cache
    saves from being computed a second time. Ended runs rarely get another event and are not cached.
    Facts missing here are translated again.
    """

    def __init__(self, most_elements: int = _MOST_ELEMENTS) -> None:
        self._kept: LRUCache[_Set, tuple[Part, ...]] = LRUCache(most_elements, _count_elements)
        self._lock = Lock()

    def keep(self, documents: Iterable[StoredDocument], outcome: Outcome) -> None:
        """Keep the outcome of these documents, unless a command covers one or one failed."""
        if outcome.covered or any(
            state != DocumentState.PROJECTED for state, _ in outcome.states.values()
        ):
            return
        own = [part for part in outcome.parts if isinstance(part, Facts)]
        rows = [row for part in own for row in part.rows if isinstance(row, RunRow)]
        if rows and all(row.ended_at is None for row in rows):
            with self._lock, suppress(ValueError):  # larger than the whole cache
                self._kept[_set_of(documents)] = tuple(outcome.parts)

    def find(self, documents: Iterable[StoredDocument]) -> tuple[Part, ...] | None:
        """The facts of these documents if no command covered one; None where not cached."""
        with self._lock:
            return self._kept.get(_set_of(documents))


def _set_of(documents: Iterable[StoredDocument]) -> _Set:
    return frozenset((one.scope, one.content_hash) for one in documents)


def _count_elements(parts: Iterable[Part]) -> int:
    """Approximately; a catalogue's row is an element, too."""
    return sum(part.size + len(part.rows if isinstance(part, Facts) else ()) for part in parts)


def former_facts(
    documents: Sequence[StoredDocument],
    outcome: Outcome,
    effects: CommandEffects,
    terms: Terms,
    ongoing: OngoingRuns,
) -> Facts | None:
    """Facts that may be in the graph for these documents, other than those of all together (the
    ``outcome``); None for none.

    Both with the commands in force and without them: the projector may not yet have carried out a
    new command.
    """
    readable = [one for one in documents if one.state != DocumentState.FAILED]
    earlier = earlier_sets(readable, covered=outcome.covered)
    if not earlier:
        return None
    found: list[Part] = []
    for some in earlier:
        parts = ongoing.find(some)
        found += translate_events(some, NO_EFFECTS, terms).parts if parts is None else parts
        if _touches(effects, some):
            found += translate_events(some, effects, terms).parts
    stays = {part.key for part in outcome.parts if isinstance(part, SharedFacts)}
    return merge(
        part for part in found if not isinstance(part, SharedFacts) or part.key not in stays
    )


def _touches(effects: CommandEffects, documents: Iterable[StoredDocument]) -> bool:
    named = (effects.forgotten, effects.retracted)
    return any(one.content_hash in hashes for one in documents for hashes in named)


_Events = Sequence[tuple[StoredDocument, Event]]


def _read(documents: Iterable[StoredDocument], outcome: Outcome) -> _Events:
    """The events that can be read; the others are reported as failed."""
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
    scope: str, found: _Events, effects: CommandEffects, terms: Terms, outcome: Outcome
) -> None:
    rules = terms.rules
    told: list[tuple[StoredDocument, RunEvent]] = []
    for document, event in found:
        if isinstance(event, RunEvent):
            told.append((document, event))
        else:
            translate = partial(read_declaration, event, rules, scope)
            _add([(document, event)], translate, effects, terms, outcome)
    for run in separate_runs(told, itemgetter(1)):
        events = [event for _, event in run.members]
        translate = partial(read_run, events, rules, scope, run.mark)
        _add(run.members, translate, effects, terms, outcome)


def _add(
    members: _Events,
    translate: Callable[[], SubjectTranslation],
    effects: CommandEffects,
    terms: Terms,
    outcome: Outcome,
) -> None:
    """The facts of documents that succeed or fail together."""
    documents = [document for document, _ in members]
    try:
        translation = translate()
    except Unavailable:
        raise
    except Exception as error:
        outcome.set_aside(documents, error)
        return
    claims = ((event.at, document.received_at) for document, event in members)
    own = count_times(translation.own, claims, terms.clock_tolerance)
    translation = replace(translation, own=own)
    writes = [row for row in translation.own.rows if isinstance(row, ExecutionRow)]
    if writes and all(map(effects.prunes, writes)):
        outcome.hide(documents, dropped=all(map(effects.drops, writes)))
        return
    outcome.states |= {
        document.position: projected(
            document,
            (*translation.left_out, *((FACET_SET_ASIDE, problem) for problem in event.set_aside)),
        )
        for document, event in members
    }
    outcome.parts += translation.parts
    if writes:
        outcome.parts.append(Facts(rows=tuple(sorted(_arrivals(writes, members)))))


def _arrivals(executions: Iterable[ExecutionRow], members: _Events) -> Iterator[ArrivalRow]:
    """An execution arrived with the first event of its end time, which ended it; otherwise with the
    last event.
    """
    last = max(document.received_at for document, _ in members)
    for row in executions:
        ending = [document.received_at for document, event in members if event.at == row.claimed_at]
        yield ArrivalRow(row.id, min(ending, default=last))
