"""OpenLineage's API, as its clients speak it: one event a request, or a batch.

A client is answered 201 once the event is durable: it is the one answer that the Java, Python and
Go clients all take for success, and those call from the job's own thread. 4xx is for what can
never work (Python raises it into the job), 503 for "come back".

A Java client whose URL has any path, be it a lone ``/``, posts to that path and adds no endpoint:
so an event is also taken at the root.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from flask import Response, jsonify, request

from api.blueprint import Blueprint
from api.bodies import require_json
from api.errors import Reason
from api.intake import Reading, take
from api.openlineage import (
    AT_ONCE,
    SPECIFICATION,
    Batch,
    prepare_events,
    take_batch,
)
from api.routes.producer import created, delivered, tell_reason, tell_refusal
from api.service import current_service
from graph_model.store import DocumentKind

PATHS: Final = ("/api/v1/lineage", "/api/v1/lineage/batch")
_REFUSED_KIND: Final = "lineage"
_EVENT: Final = {
    "type": "object",
    "description": "A RunEvent, JobEvent or DatasetEvent of openlineage.io/spec/2-0-2",
}
_EVENTS: Final = Reading(DocumentKind.RUN_EVENT, prepare_events)
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

blueprint = Blueprint("openlineage", __name__, description="OpenLineage: events of any tool")


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


@blueprint.route("/", methods=["POST"], endpoint="event_at_root")
@blueprint.route("/api/v1/lineage", methods=["POST"])
@blueprint.doc(
    summary="Take an OpenLineage event",
    requestBody=_body(_EVENT),
    responses={201: {"description": "Durable; no body"}},
)
def event() -> Response:
    """Durable when answered; the graph follows. A repeat is a 201 as well."""
    service = current_service()
    taken = take(_EVENTS, delivered(_version()), service, AT_ONCE)
    return created(taken[0].kind, 1)


@blueprint.route("/api/v1/lineage/batch", methods=["POST"])
@blueprint.doc(
    summary="Take a list of OpenLineage events",
    requestBody=_body({"type": "array", "items": _EVENT}),
    responses={
        200: {
            "description": "What can be taken is durable; the rest is listed",
            "content": {"application/json": {"schema": _SUMMARY}},
        }
    },
)
def batch() -> Response:
    """Each event stands for itself: those that can never be taken are listed with the reason."""
    service = current_service()
    taken = take_batch(delivered(_version()), service)
    for kind, number in taken.kinds.items():
        service.metrics.received(kind.value, number)
    for failure in taken.failures:
        tell_reason(_REFUSED_KIND, Reason("invalid", f"[{failure.index}] {failure.reason}"))
    return jsonify(_describe(taken))


def _describe(taken: Batch) -> dict[str, Any]:
    failed = len(taken.failures)
    return {
        "status": "partial_success" if failed else "success",
        "summary": {
            "received": taken.received,
            "successful": taken.received - failed,
            "failed": failed,
            "retriable": 0,
            "non_retriable": failed,
        },
        "failed_events": [
            {"index": one.index, "reason": one.reason, "retriable": False} for one in taken.failures
        ],
    }


def _version() -> str:
    require_json(request.headers.get("Content-Type"))
    return SPECIFICATION


def count_refusal(response: Response) -> Response:
    """A request with events that is answered with an error, whoever answers it."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        tell_refusal(_REFUSED_KIND, response.status_code)
    return response


blueprint.after_request(count_refusal)
