"""The producer API of Spline, as its agents speak it; at the root and under ``/producer``.

An agent sends ``HEAD /status`` once: a 2xx with one header line per version, or it switches itself
off. It never looks at bodies of answers, but scripts splice the plan's answer into an event, so
that is exactly the quoted id. Redirects count as success there and lose the document: paths are
normalised before routing (``application.normalise_producer_paths``).
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Final

from flask import Response, current_app, g, request

from api.http.blueprint import Blueprint
from api.http.bodies import CONTENT_TYPES, api_version
from api.http.errors import Reason
from api.http.principals import current_principal
from api.http.rights import REPORTING
from api.intake.documents import (
    ANY_SIZE,
    LARGE,
    Documents,
    Reading,
    current_delivery,
    prepare_events,
    prepare_plans,
    take,
)
from api.schemas.event import EventSchema
from api.schemas.plan import PlanSchema
from api.service import current_service
from api.settings import Settings
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.protocols import DocumentKind

API_VERSIONS: Final = ("1.2", "1.1", "1")
LONG_TERM_VERSIONS: Final = ("1.2", "1.1")
PATHS: Final = ("/status", "/execution-plans", "/execution-events")
PREFIXES: Final = ("", "/producer")
_PLANS: Final = Reading(PLAN_KIND, prepare_plans, ANY_SIZE)
_EVENTS: Final = Reading(EVENT_KIND, prepare_events, LARGE)
_KINDS: Final = {"execution-plans": PLAN_KIND, "execution-events": EVENT_KIND}

blueprint = Blueprint(
    "producer",
    __name__,
    access=REPORTING,
    description="The producer API of Spline: at the root and under /producer",
)


def _body(schema: type[PlanSchema] | type[EventSchema], *, many: bool) -> dict[str, Any]:
    inner: Any = {"type": "array", "items": schema} if many else schema
    return {"required": True, "content": {kind: {"schema": inner} for kind in CONTENT_TYPES}}


@blueprint.route("/status")
@blueprint.doc(summary="The handshake", responses={200: {"description": "Documents are taken"}})
def status() -> Response:
    """The supported API versions; 503 when documents cannot be made durable now.

    ``ABSA-Spline-API-Version`` comes as one header line per version.
    """
    current_service().journal.ensure_taking()
    response = Response(status=200)
    for version in API_VERSIONS:
        response.headers.add("ABSA-Spline-API-Version", version)
    for version in LONG_TERM_VERSIONS:
        response.headers.add("ABSA-Spline-API-LTS-Version", version)
    response.headers.add("ABSA-Spline-Accept-Request-Encoding", "gzip")
    del response.headers["Content-Type"]
    return response


@blueprint.route("/execution-plans", methods=["POST"])
@blueprint.doc(
    summary="Take an execution plan",
    requestBody=_body(PlanSchema, many=False),
    responses={
        201: {
            "description": "Durable; the plan's id",
            "content": {"application/json": {"schema": {"type": "string", "format": "uuid"}}},
        }
    },
)
def execution_plans() -> Response:
    """Durable when answered; the graph follows. A repeat is a 201 as well."""
    (plan,) = _taken(_PLANS)
    return created(PLAN_KIND, 1, json.dumps(plan.subject_key))


@blueprint.route("/execution-events", methods=["POST"])
@blueprint.doc(
    summary="Take execution events",
    requestBody=_body(EventSchema, many=True),
    responses={201: {"description": "Durable; no body"}},
)
def execution_events() -> Response:
    """A list of events, all or none. One whose plan is not known yet waits for it."""
    return created(EVENT_KIND, len(_taken(_EVENTS)))


def _taken(reading: Reading) -> Documents:
    """The documents of the current request, durable."""
    version = api_version(request.headers.get("Content-Type"))
    wait = _settings().projection_wait_ms / 1000
    return take(reading, current_delivery(version), current_service(), wait)


def created(kind: DocumentKind, number: int, body: str = "") -> Response:
    """The 201 of a request that brought so many documents of a kind."""
    current_service().metrics.received(kind, number)
    response = Response(body, status=HTTPStatus.CREATED, mimetype="application/json")
    if not body:
        del response.headers["Content-Type"]
    return response


def _settings() -> Settings:
    settings: Settings = current_app.config["HEADWATER"]
    return settings


def count_refusal(response: Response) -> Response:
    """A request with documents that is answered with an error, by any handler."""
    kind = _KINDS.get(request.path.rpartition("/")[2])
    if kind is not None and response.status_code >= HTTPStatus.BAD_REQUEST:
        note_refusal(kind, response.status_code)
    return response


def note_refusal(kind: str, status: int) -> None:
    """Count a request with documents that is answered with an error, and log why."""
    current_service().metrics.refused(kind, status)
    note_reason(kind, g.get("reason") or Reason("other", f"answered {status}"))


def note_reason(kind: str, reason: Reason) -> None:
    """Why documents of the current request, or one of a batch, are refused."""
    service = current_service()
    service.metrics.refused_for(kind, reason.kind)
    service.refusals.log_refusal(kind, reason, current_principal().name)


blueprint.after_request(count_refusal)
