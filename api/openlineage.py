"""OpenLineage's events -> the journal: one, or a batch of which the bad ones do not spoil the rest.

    document -> mask -> read_event (checks) -> subject key -> submission

What is journaled is the event as it was sent, unknown facets included, with secrets masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.bodies import compact_json
from api.dumps import OPENLINEAGE
from api.errors import InvalidRequest
from api.intake import MOST_EVENTS, Delivery, Reading, take
from api.service import Service
from graph_model import naming
from graph_model.errors import InvalidDocument
from graph_model.journal import make_submission
from graph_model.openlineage import (
    DatasetEvent,
    Event,
    JobEvent,
    RunEvent,
    read_event,
    subject_key,
)
from graph_model.openlineage.declarations import refuse_statement
from graph_model.store import DocumentKind, Submission

SPECIFICATION: Final = OPENLINEAGE
"""Whatever version an event names: they all have one shape, and ``schemaURL`` stays in the body."""

KINDS: Final[Mapping[type[Event], DocumentKind]] = {
    RunEvent: DocumentKind.RUN_EVENT,
    JobEvent: DocumentKind.JOB_EVENT,
    DatasetEvent: DocumentKind.DATASET_EVENT,
}
AT_ONCE: Final = 0.0
"""Clients call from the thread that runs the job and give up after 5 s: nobody waits here for the
graph."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An event of a batch that can never be taken: sending it again is of no use."""

    index: int
    reason: str


@dataclass(slots=True)
class Batch:
    """What became of the events of a request; ``kinds`` counts those that are durable."""

    received: int = 0
    kinds: Counter[DocumentKind] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


def take_batch(delivery: Delivery, service: Service) -> Batch:
    """Take what can be taken of a list of events. Raises InvalidInput or JournalUnavailable."""
    batch = Batch()

    def prepare(document: Any, _version: str, scope: str) -> tuple[Submission, ...]:
        return _prepare_batch(document, scope, batch)

    take(Reading(DocumentKind.RUN_EVENT, prepare, remember=False), delivery, service, AT_ONCE)
    return batch


def prepare_events(document: Any, _version: str, key_scope: str = "") -> tuple[Submission]:
    """The one event of a request; see ``prepare_event``."""
    return (prepare_event(document, key_scope),)


def prepare_event(document: Any, key_scope: str = "") -> Submission:
    """A checked and masked event; raises InvalidDocument naming what is wrong.

    ``key_scope`` is the capture scope: that of the key which it came with.
    """
    masked = naming.mask_secrets(document)
    if not isinstance(masked, Mapping):
        raise InvalidDocument("", "a JSON object")
    return _submission(masked, compact_json(masked), key_scope)


def _submission(masked: Mapping[str, Any], body: bytes, key_scope: str) -> Submission:
    refuse_statement(masked)
    event = read_event(masked)
    kind, key = KINDS[type(event)], subject_key(event)
    return make_submission(kind, SPECIFICATION, key, key_scope, body)


def _prepare_batch(document: Any, scope: str, batch: Batch) -> tuple[Submission, ...]:
    if not isinstance(document, list):
        raise InvalidRequest({"document": ["a list of events"]})
    if len(document) > MOST_EVENTS:
        raise InvalidRequest({"document": [f"at most {MOST_EVENTS:,} events in one request"]})
    batch.received = len(document)
    prepared: dict[str, Submission] = {}
    for index, event in enumerate(document):
        try:
            submission = prepare_event(event, scope)
        except InvalidDocument as error:
            batch.failures.append(Failure(index, str(error)))
        else:
            batch.kinds[submission.kind] += 1
            prepared[submission.content_hash] = submission
    return tuple(prepared.values())
