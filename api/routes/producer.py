"""The producer API of Spline, as its agents speak it; at the root and under ``/producer``.

An agent sends ``HEAD /status`` once: a 2xx with one header line per version, or it switches itself
off. It never looks at bodies of answers, but scripts splice the plan's answer into an event, so
that is exactly the quoted id. Redirects count as success there and lose the document: paths are
normalised before routing (``application.normalise_producer_paths``).
"""

from __future__ import annotations

import json
from typing import Final

from flask import Response, current_app, request

from api.http.blueprint import Blueprint
from api.http.bodies import CONTENT_TYPES, api_version
from api.http.rights import REPORTING
from api.intake.documents import (
    ANY_SIZE,
    LARGE,
    Documents,
    Reading,
    count_refusals,
    created,
    current_delivery,
    prepare_events,
    prepare_plans,
    take,
)
from api.schemas.producer import EventSchema, PlanSchema
from api.service import current_service
from api.settings import Settings
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND

API_VERSIONS: Final = ("1.2", "1.1", "1")
LONG_TERM_VERSIONS: Final = ("1.2", "1.1")
PATHS: Final = ("/status", "/execution-plans", "/execution-events")
PREFIXES: Final = ("", "/producer")
_PLANS: Final = Reading(PLAN_KIND, prepare_plans, ANY_SIZE)
_EVENTS: Final = Reading(EVENT_KIND, prepare_events, LARGE)

blueprint = Blueprint(
    "producer",
    __name__,
    access=REPORTING,
    description="The producer API of Spline: at the root and under /producer",
)
count_refusals(blueprint, {"execution_plans": PLAN_KIND, "execution_events": EVENT_KIND})


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
@blueprint.takes(PlanSchema, CONTENT_TYPES)
@blueprint.doc(
    summary="Take an execution plan",
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
@blueprint.takes({"type": "array", "items": EventSchema}, CONTENT_TYPES)
@blueprint.doc(
    summary="Take execution events", responses={201: {"description": "Durable; no body"}}
)
def execution_events() -> Response:
    """A list of events, all or none. One whose plan is not known yet waits for it."""
    return created(EVENT_KIND, len(_taken(_EVENTS)))


def _taken(reading: Reading) -> Documents:
    """The documents of the current request, durable."""
    version = api_version(request.headers.get("Content-Type"))
    wait = _settings().projection_wait_ms / 1000
    return take(reading, current_delivery(version), current_service(), wait).documents


def _settings() -> Settings:
    settings: Settings = current_app.config["HEADWATER"]
    return settings
