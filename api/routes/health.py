"""Whether the process answers, and whether its answers are whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response, jsonify

from api.blueprint import Blueprint
from api.errors import RETRY_AFTER_SECONDS
from api.readiness import ask
from api.schemas.health import LiveReply, ReadyReply
from api.service import current_service

blueprint = Blueprint("health", __name__, description="Whether this Headwater is well")


@blueprint.route("/health/live")
@blueprint.response(200, LiveReply)
def live() -> dict[str, Any]:
    """200 while the process answers."""
    return {"status": "live"}


@blueprint.route("/health/ready")
@blueprint.response(200, ReadyReply)
@blueprint.doc(responses={503: {"description": "Rebuilding, or a part is away: the same body"}})
def ready() -> Response:
    """200 when documents are taken and the graph is up to date with the journal."""
    readiness = ask(current_service())
    response = jsonify(asdict(readiness))
    if readiness.status != "ready":
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response
