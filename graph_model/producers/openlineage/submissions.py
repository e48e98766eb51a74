"""OpenLineage's events -> submissions to the journal.

    document -> mask -> read_event (checks) -> subject key -> submission

The journal keeps the event as it was sent, unknown facets included, with secrets masked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.producers.openlineage.events.declaration_facet import DECLARATION_FACET
from graph_model.producers.openlineage.events.documents import (
    DATASET_EVENT_KIND,
    JOB_EVENT_KIND,
    RUN_EVENT_KIND,
    DatasetEvent,
    Event,
    JobEvent,
    RunEvent,
    read_event,
    subject_key,
)
from graph_model.producers.producer import Reported
from graph_model.stores.documents import DocumentKind, Submission, compact_json, make_submission
from spark_agent_config.masking import mask_secrets

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
