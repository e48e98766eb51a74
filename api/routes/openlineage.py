"""OpenLineage's API: one event a request, or a batch.

The answer is 201 once the event is durable: the one status that the Java, Python and Go clients all
take for success, and those call from the job's own thread. 4xx is for events that can never be
accepted (Python raises it into the job), 503 for a later attempt.

A Java client whose URL has any path, be it a lone ``/``, posts to that path and adds no endpoint:
so an event is also taken at the root.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Response, jsonify, request

from api.http.blueprint import REPORTING, Blueprint
from api.http.bodies import require_json
from api.http.errors import Reason
from api.intake.documents import (
    LARGE,
    Reading,
    count_refusals,
    created,
    current_delivery,
    note_reason,
    once,
    read_each,
    take,
)
from api.service import current_service
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.openlineage.producer import SPECIFICATION, event_submission
from graph_model.stores.documents import DocumentKind, Submission

PATHS: Final = ("/api/v1/lineage", "/api/v1/lineage/batch")
_REFUSED_KIND: Final = "lineage"
_AT_ONCE: Final = 0.0
"""Clients call from the job's own thread and give up after 5 s: none waits for the graph."""
_EVENT: Final = {
    "type": "object",
    "description": "A RunEvent, JobEvent or DatasetEvent of openlineage.io/spec/2-0-2",
}
_EVENTS: Final = Reading(
    RUN_EVENT_KIND, lambda event, _, scope: (event_submission(event, scope),), LARGE
)
_SUMMARY: Final = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["success", "partial_success"]},
        "summary": {
            "type": "object",
            "properties": {
                name: {"type": "integer"}
                for name in ("received", "successful", "failed", "retriable", "non_retriable")
            },
        },
        "failed_events": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "index": {"type": "integer"},
                    "reason": {"type": "string"},
                    "retriable": {"type": "boolean"},
                },
            },
        },
    },
}

blueprint = Blueprint(
    "openlineage", __name__, access=REPORTING, description="OpenLineage: events of any tool"
)
count_refusals(blueprint, dict.fromkeys(("event_at_root", "event", "batch"), _REFUSED_KIND))


@blueprint.route("/", methods=["POST"], endpoint="event_at_root")
@blueprint.route("/api/v1/lineage", methods=["POST"])
@blueprint.takes(_EVENT)
@blueprint.doc(
    summary="Take an OpenLineage event", responses={201: {"description": "Durable; no body"}}
)
def event() -> Response:
    """Durable when answered; the graph follows. A repeat is a 201 as well."""
    service = current_service()
    taken = take(_EVENTS, current_delivery(_version()), service, _AT_ONCE)
    return created(taken.documents[0].kind, 1)


@blueprint.route("/api/v1/lineage/batch", methods=["POST"])
@blueprint.takes({"type": "array", "items": _EVENT})
@blueprint.doc(
    summary="Take a list of OpenLineage events",
    responses={
        200: {
            "description": "Accepted documents are durable; refused ones are listed",
            "content": {"application/json": {"schema": _SUMMARY}},
        }
    },
)
def batch() -> Response:
    """Each event stands for itself: those that can never be taken are listed with the reason."""
    service = current_service()
    result = BatchResult()
    reading = Reading(RUN_EVENT_KIND, result.prepare, None)
    take(reading, current_delivery(_version()), service, _AT_ONCE)
    for kind, number in result.kinds.items():
        service.metrics.received(kind, number)
    for index, reason in result.failures:
        note_reason(_REFUSED_KIND, Reason("invalid", f"[{index}] {reason}"))
    return jsonify(result.reply())


@dataclass(slots=True)
class BatchResult:
    """The events of a batch: ``kinds`` counts those to be made durable, ``failures`` are the places
    of those that can never be taken, with the reason.
    """

    kinds: Counter[DocumentKind] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def prepare(self, document: Any, _version: str, scope: str) -> tuple[Submission, ...]:
        """The submissions of those that can be taken."""
        events, refusals = read_each(document, lambda event, _path: event_submission(event, scope))
        self.kinds.update(event.kind for event in events)
        self.failures += ((refusal.place, str(refusal.error)) for refusal in refusals)
        return once(events)

    def reply(self) -> dict[str, Any]:
        successful, failed = self.kinds.total(), len(self.failures)
        return {
            "status": "partial_success" if failed else "success",
            "summary": {
                "received": successful + failed,
                "successful": successful,
                "failed": failed,
                "retriable": 0,
                "non_retriable": failed,
            },
            "failed_events": [
                {"index": index, "reason": reason, "retriable": False}
                for index, reason in self.failures
            ],
        }


def _version() -> str:
    require_json(request.headers.get("Content-Type"))
    return SPECIFICATION
