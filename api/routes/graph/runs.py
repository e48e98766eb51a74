"""Runs from OpenLineage's events, and facets over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.schemas.graph import AtQuery, FacetsQuery, FacetsReply, RunTreeReply
from api.service import current_service
from api.service.sources import current_sources, whole_or_later
from graph_model import labels
from graph_model.answers.facets import facet_history
from graph_model.answers.runs import one_run, one_run_reply
from graph_model.picture.json_form import page_reply

blueprint = Blueprint("runs", __name__, url_prefix="/graph", description="Runs and facets")


@blueprint.route("/runs/<run_id>")
@blueprint.arguments(AtQuery)
@blueprint.describes(RunTreeReply)
def run_tree(query: Mapping[str, Any], run_id: str) -> Response:
    """A run with its parents, its children, its events and its executions."""
    now = current_service().clock()
    with whole_or_later():
        found = one_run(current_sources(), run_id, at=query["at"], now=now)
    return jsonify(one_run_reply(found))


@blueprint.route("/datasets/<dataset_id>/facets")
@blueprint.arguments(FacetsQuery)
@blueprint.describes(FacetsReply)
def dataset_facets(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The facets of a dataset over time, newest first."""
    return _facets(labels.DATASET, dataset_id, query)


@blueprint.route("/jobs/<job_id>/facets")
@blueprint.arguments(FacetsQuery)
@blueprint.describes(FacetsReply)
def job_facets(query: Mapping[str, Any], job_id: str) -> Response:
    """The facets of a job over time, newest first."""
    return _facets(labels.JOB, job_id, query)


def _facets(kind: str, entity: str, query: Mapping[str, Any]) -> Response:
    return jsonify(page_reply(facet_history(current_sources(), kind, entity, **query)))
