"""The first questions of a reader, about the whole estate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.schemas.graph import HomeReply, IncidentsReply, ListReply, MapQuery, MapReply, RunsQuery
from api.service import current_service
from api.service.sources import current_sources
from graph_model.answers import home as home_answers
from graph_model.answers import incidents as incident_answers
from graph_model.picture.json_form import page_reply, to_json

blueprint = Blueprint("home", __name__, url_prefix="/graph", description="The whole estate")


@blueprint.route("/home")
@blueprint.no_parameters
@blueprint.describes(HomeReply)
def home() -> Response:
    """Failures of the last day, late jobs, and the last writes."""
    return jsonify(to_json(home_answers.home(current_sources(), now=current_service().clock())))


@blueprint.route("/incidents")
@blueprint.no_parameters
@blueprint.describes(IncidentsReply)
def incidents() -> Response:
    """Failures of the last day by their error, running jobs, unusual writes, failed checks."""
    found = incident_answers.incidents(current_sources(), now=current_service().clock())
    return jsonify(to_json(found))


@blueprint.route("/map")
@blueprint.arguments(MapQuery)
@blueprint.describes(MapReply)
def area_map(query: Mapping[str, Any]) -> Response:
    """The areas of the estate and the flows between them."""
    within = query["within"]
    found = home_answers.estate_map(
        current_sources(), by=query["by"], within=within.split("\n") if within else []
    )
    return jsonify(to_json(found))


@blueprint.route("/runs")
@blueprint.arguments(RunsQuery)
@blueprint.describes(ListReply)
def all_runs(query: Mapping[str, Any]) -> Response:
    """The runs of all jobs, newest first unless ``sort`` names another order."""
    return jsonify(page_reply(home_answers.all_runs(current_sources(), **query)))
