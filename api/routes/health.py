"""Liveness, readiness and metrics. Probes may carry a query of a load balancer: it is ignored."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response, jsonify
from marshmallow import Schema, fields

from api.http import metrics as measured
from api.http.blueprint import Blueprint
from api.http.errors import RETRY_AFTER_SECONDS
from api.http.rights import OPEN
from api.service import current_service
from api.service.readiness import ask


class LiveReply(Schema):
    """The process answers."""

    status = fields.String(required=True)


class LagReply(Schema):
    """How far the graph is behind: documents, and since how many seconds the oldest is there."""

    documents = fields.Integer(required=True)
    seconds = fields.Float(required=True)


class ReadyReply(Schema):
    """The answer of each part; ``pending`` counts documents that are not in the graph yet."""

    status = fields.String(required=True)
    checks = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    pending = fields.Integer(allow_none=True)
    lag = fields.Nested(LagReply, allow_none=True)


blueprint = Blueprint("health", __name__, description="Whether this Headwater is well")


@blueprint.route("/health/live", access=OPEN)
@blueprint.response(200, LiveReply)
def live() -> dict[str, Any]:
    """200 while the process answers."""
    return {"status": "live"}


@blueprint.route("/health/ready", access=OPEN)
@blueprint.response(200, ReadyReply)
@blueprint.doc(
    responses={503: {"description": "Rebuilding, or a part is away: the same body"}},
)
def ready() -> Response:
    """200 when documents are taken and the graph is up to date with the journal."""
    readiness = ask(current_service())
    response = jsonify(asdict(readiness))
    if readiness.status != "ready":
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


@blueprint.route("/metrics")
@blueprint.no_parameters
@blueprint.doc(
    summary="Metrics, for Prometheus",
    responses={200: {"description": "The text format", "content": {"text/plain": {}}}},
)
def metrics() -> Response:
    """Counters of this process, and the present content of the journal."""
    return Response(current_service().metrics.text(), content_type=measured.CONTENT_TYPE)
