"""OpenLineage's events as documents: recognised, journalled, and all of one subject key -> facts.

    document -> mask -> read_event (checks) -> subject key -> submission
    documents of a subject key -> facts and states. Pure

The journal keeps the event as it was sent, unknown facets included, with secrets masked.

A subject key is a run (``run:…``) or a declared job or dataset (``job:…``,
``dataset:…``); under one key each capture scope is a subject of its own. A run is a function of
all its events, so a new one translates the whole run again: the projector writes the new facts,
then withdraws those of the former events alone. Declarations add up: each event counts alone.

An unreadable event is set aside alone. An event that failed before is tried again with every new
one of its key, so that the facts do not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import itemgetter
from threading import Lock
from typing import Any, Final, NamedTuple

from cachetools import LRUCache

from graph_model import labels
from graph_model.errors import InvalidDocument, Unavailable
from graph_model.facts import ArrivalRow, ExecutionRow, Facts, Part, RunRow, SharedFacts, merge
from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.bounds import TOLERANCE_MS, count_times
from graph_model.producers.openlineage import OPENLINEAGE_VERSION
from graph_model.producers.openlineage.events.accumulate import separate_runs
from graph_model.producers.openlineage.events.documents import (
    DATASET_EVENT_KIND,
    EVENT_KINDS,
    JOB_EVENT_KIND,
    RUN_EVENT_KIND,
    DatasetEvent,
    Event,
    JobEvent,
    RunEvent,
    read_event,
    read_json,
    subject_key,
)
from graph_model.producers.openlineage.events.facets import DECLARATION_FACET
from graph_model.producers.openlineage.translate import (
    SubjectTranslation,
    read_declaration,
    read_run,
)
from graph_model.producers.producer import NO_EFFECTS, CommandEffects, Reported
from graph_model.producers.projections import (
    Outcome,
    Projection,
    earlier_sets,
    projected,
    projection_of,
)
from graph_model.stores.documents import (
    DocumentKind,
    DocumentState,
    StoredDocument,
    Submission,
    compact_json,
    make_submission,
)
from spark_agent_config.masking import mask_secrets

# --- submissions ----------------------------------------------------------------------------------


SPECIFICATION: Final = "2"
"""The version of the specification's core under which its events are journaled, whatever version an
event names: they all have one shape, and ``schemaURL`` stays in the body."""

KINDS: Final[Mapping[type[Event], DocumentKind]] = {
    RunEvent: RUN_EVENT_KIND,
    JobEvent: JOB_EVENT_KIND,
    DatasetEvent: DATASET_EVENT_KIND,
}
_PARTS: Final = frozenset({"run", "job", "dataset"})


def recognise(document: Mapping[str, Any]) -> Sequence[Reported]:
    """An event; () for anything else. The shape of the document gives the kind of event."""
    if "eventTime" in document and _PARTS & document.keys():
        return (Reported(RUN_EVENT_KIND, SPECIFICATION, document),)
    return ()


def event_submission(document: Any, key_scope: str = "") -> Submission:
    """A validated and masked event; raises InvalidDocument naming the invalid field.

    ``key_scope`` is the capture scope of the API key that sent it.
    """
    masked = mask_secrets(document)
    if not isinstance(masked, Mapping):
        raise InvalidDocument("", "a JSON object")
    body = compact_json(masked)
    _refuse_declaration(masked)
    event = read_event(masked)
    return make_submission(KINDS[type(event)], SPECIFICATION, subject_key(event), key_scope, body)


def _refuse_declaration(event: Mapping[str, Any]) -> None:
    """Refuses declarations from clients: only people declare."""
    job = event.get("job")
    facets = job.get("facets") if isinstance(job, Mapping) else None
    if isinstance(facets, Mapping) and DECLARATION_FACET in facets:
        raise InvalidDocument(
            f"job.facets.{DECLARATION_FACET}", "no such facet: POST /declarations writes it"
        )


# --- the documents of one subject key -------------------------------------------------------------


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
    for scope, listed in sorted(scopes.items()):
        _translate_scope(scope, _read(listed, outcome), effects, terms, outcome)
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
    return frozenset((document.scope, document.content_hash) for document in documents)


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
    readable = [document for document in documents if document.state != DocumentState.FAILED]
    earlier = earlier_sets(readable, covered=outcome.covered)
    if not earlier:
        return None
    former: list[Part] = []
    for some in earlier:
        parts = ongoing.find(some)
        former += translate_events(some, NO_EFFECTS, terms).parts if parts is None else parts
        if _touches(effects, some):
            former += translate_events(some, effects, terms).parts
    stays = {part.key for part in outcome.parts if isinstance(part, SharedFacts)}
    return merge(
        part for part in former if not isinstance(part, SharedFacts) or part.key not in stays
    )


def _touches(effects: CommandEffects, documents: Iterable[StoredDocument]) -> bool:
    named = (effects.forgotten, effects.retracted)
    return any(document.content_hash in hashes for document in documents for hashes in named)


_Events = Sequence[tuple[StoredDocument, Event]]


def _read(documents: Iterable[StoredDocument], outcome: Outcome) -> _Events:
    """The events that can be read; the others are reported as failed."""
    events: list[tuple[StoredDocument, Event]] = []
    for document in documents:
        try:
            events.append((document, read_event(document.body)))
        except Unavailable:
            raise
        except Exception as error:
            outcome.set_aside([document], error)
    return events


def _translate_scope(
    scope: str, read: _Events, effects: CommandEffects, terms: Terms, outcome: Outcome
) -> None:
    rules = terms.rules
    run_events: list[tuple[StoredDocument, RunEvent]] = []
    for document, event in read:
        if isinstance(event, RunEvent):
            run_events.append((document, event))
        else:
            translate = partial(read_declaration, event, rules, scope)
            _add([(document, event)], translate, effects, terms, outcome)
    for run in separate_runs(run_events, itemgetter(1)):
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
    # What a run declares of other jobs goes when the run goes.
    ran = [row for row in writes if row.kind != labels.DECLARATION_KIND] or writes
    if writes and all(map(effects.prunes, ran)):
        outcome.hide(documents, dropped=all(map(effects.drops, ran)))
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


# --- the producer ---------------------------------------------------------------------------------


class OpenLineage:
    """A producer, see ``producer.Producer``. A run is a function of all its events."""

    kinds = EVENT_KINDS
    additions: frozenset[DocumentKind] = frozenset()
    from_clients = True
    api_versions = (SPECIFICATION,)
    versions = (OPENLINEAGE_VERSION,)
    announced: Mapping[str, DocumentKind] = {}
    openings = ('{"eventTime"', '{"eventType"')
    spelled: frozenset[DocumentKind] = frozenset()

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        return recognise(document)

    def submission(self, reported: Reported) -> Submission:
        return event_submission(reported.document)

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject:  # noqa: ARG002
        return read_json(document.body)

    def spellings(self, document: StoredDocument) -> None:
        """None: the preview of naming rules shows the names of plans."""

    def translator(self, rules: Rules, clock_tolerance: int) -> OpenLineageTranslator:
        return OpenLineageTranslator(rules, clock_tolerance)


class OpenLineageTranslator:
    """Translates the events of subject keys under one set of rules, all of a key together."""

    additions = None

    def __init__(self, rules: Rules, clock_tolerance: int) -> None:
        self._terms = Terms(rules, clock_tolerance)
        self._ongoing = OngoingRuns()

    def forget(self) -> None:
        """Keeps everything: cached facts depend on the rules alone."""

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],  # noqa: ARG002 - all events of a key are translated together
        effects: CommandEffects,
    ) -> Projection:
        outcome = translate_events(documents, effects, self._terms)
        former = former_facts(documents, outcome, effects, self._terms, self._ongoing)
        self._ongoing.keep(documents, outcome)
        return projection_of(outcome, former, documents)
