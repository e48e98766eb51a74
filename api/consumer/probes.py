"""Spline's version and its deployment probes."""

from __future__ import annotations

from flask import Response, current_app, jsonify

from api.consumer.queries import SpringParser
from api.http.blueprint import Blueprint
from api.http.errors import RETRY_AFTER_SECONDS
from api.http.rights import OPEN
from api.service import current_service
from api.service.readiness import ask

blueprint = Blueprint("about", __name__, url_prefix="/about", description="As Spline's /about")
blueprint.ARGUMENTS_PARSER = SpringParser()


@blueprint.route("/version")
@blueprint.no_parameters
@blueprint.doc(responses={200: {"description": "Version of the build"}})
def version() -> Response:
    """The version; the time and the source of its build are not recorded."""
    number = current_app.config["API_VERSION"]
    return jsonify({"build": {"version": number, "timestamp": "", "revision": ""}})


@blueprint.route("/liveness", access=OPEN)
@blueprint.doc(responses={200: {"description": "The process answers; no body"}})
def liveness() -> Response:
    """200 while the process answers."""
    return _empty(200)


@blueprint.route("/readiness", access=OPEN)
@blueprint.doc(
    responses={
        200: {"description": "Answers are whole; no body"},
        503: {"description": "Rebuilding, or a component is unavailable; /health/ready names it"},
    },
)
def readiness() -> Response:
    """The status of /health/ready, without its body."""
    ready = ask(current_service()).status == "ready"
    response = _empty(200 if ready else 503)
    if not ready:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _empty(status: int) -> Response:
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response
