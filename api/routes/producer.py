"""The producer API of Spline, as its agents speak it; at the root and under ``/producer``.

An agent asks ``HEAD /status`` once: a 2xx with one header line per version, or it switches itself
off. It never looks at bodies of answers, but scripts splice the plan's answer into an event, so
that is exactly the quoted id. Redirects count as success there and lose the document: paths are
normalised before routing (``application.normalise_producer_paths``).
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any, Final

from flask import Response, current_app, json, request

from api.blueprint import Blueprint
from api.bodies import CONTENT_TYPES, Limits, api_version, gunzip, is_gzip, read_bounded
from api.intake import Delivery, take_events, take_plan
from api.principals import current_principal
from api.readiness import probe_journal
from api.schemas.event import EventSchema
from api.schemas.plan import PlanSchema
from api.service import current_service
from api.settings import Settings
from graph_model.store import DocumentKind

API_VERSIONS: Final = ("1.2", "1.1", "1")
LONG_TERM_VERSIONS: Final = ("1.2", "1.1")
PATHS: Final = ("/status", "/execution-plans", "/execution-events")
PREFIXES: Final = ("", "/producer")
_KINDS: Final = {"execution-plans": DocumentKind.PLAN, "execution-events": DocumentKind.EVENT}

blueprint = Blueprint(
    "producer",
    __name__,
    description="The producer API of Spline: at the root and under /producer",
)


def _body(schema: type[PlanSchema] | type[EventSchema], *, many: bool) -> dict[str, Any]:
    inner: Any = {"type": "array", "items": schema} if many else schema
    return {"required": True, "content": {kind: {"schema": inner} for kind in CONTENT_TYPES}}


@blueprint.route("/status")
@blueprint.doc(summary="The handshake", responses={200: {"description": "Documents are taken"}})
def status() -> Response:
    """Which versions are spoken here; 503 when documents cannot be made durable now.

    ``ABSA-Spline-API-Version`` comes as one header line per version.
    """
    probe_journal(current_service())
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
    plan_id = take_plan(_delivery(), current_service(), _wait_seconds())
    current_service().metrics.received(DocumentKind.PLAN.value, 1)
    return Response(json.dumps(plan_id), status=201, mimetype="application/json")


@blueprint.route("/execution-events", methods=["POST"])
@blueprint.doc(
    summary="Take execution events",
    requestBody=_body(EventSchema, many=True),
    responses={201: {"description": "Durable; no body"}},
)
def execution_events() -> Response:
    """A list of events, all or none. One whose plan is not known yet waits for it."""
    number = take_events(_delivery(), current_service(), _wait_seconds())
    current_service().metrics.received(DocumentKind.EVENT.value, number)
    response = Response(status=201)
    del response.headers["Content-Type"]
    return response


def _settings() -> Settings:
    settings: Settings = current_app.config["HEADWATER"]
    return settings


def _wait_seconds() -> float:
    return _settings().projection_wait_ms / 1000


def _delivery() -> Delivery:
    return read_delivery(api_version(request.headers.get("Content-Type")))


def read_delivery(version: str) -> Delivery:
    """The request's body, still packed, with what its headers say about it."""
    settings, principal = _settings(), current_principal()
    limits = Limits(settings.max_body_bytes, settings.max_compressed_bytes)
    packed = is_gzip(request.headers.get("Content-Encoding"))
    raw = read_bounded(request.stream, limits.compressed if packed else limits.inflated)
    return Delivery(
        raw,
        "gzip" if packed else "identity",
        version,
        request.path,
        partial(gunzip, limit=limits.inflated) if packed else bytes,
        principal.name,
        principal.scope,
    )


def count_refusal(response: Response) -> Response:
    """A request with documents that is answered with an error, whoever answers it."""
    kind = _KINDS.get(request.path.rpartition("/")[2])
    if kind is not None and response.status_code >= HTTPStatus.BAD_REQUEST:
        current_service().metrics.refused(kind.value, response.status_code)
    return response


blueprint.after_request(count_refusal)
