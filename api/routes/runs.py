"""What OpenLineage tells of runs, and of facets over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.asking import current_sources, typed, whole_or_later
from api.blueprint import Blueprint
from api.marking import refuse_hidden, without_hidden_jobs
from api.replies import page_reply, run_tree_reply, to_json
from api.schemas.graph import AtQuery
from api.schemas.runs import FacetsQuery, FacetsReply, RunTreeReply
from api.service import Service, current_service
from graph_model import labels
from graph_model.about import About
from graph_model.answers.runs import pages
from graph_model.errors import NotFound
from graph_model.run_trees import RunTrees

blueprint = Blueprint("runs", __name__, url_prefix="/graph", description="Runs and facets")


@blueprint.route("/runs/<run_id>")
@blueprint.arguments(AtQuery)
@blueprint.describes(RunTreeReply)
def run_tree(query: Mapping[str, Any], run_id: str) -> Response:
    """A run with what started it, what it started, its events and its executions."""
    service = current_service()
    with whole_or_later():
        reply = _told(run_id, query["at"], service) or _reported(run_id, service)
    return jsonify(without_hidden_jobs(reply, service))


def _told(run_id: str, at: int | None, service: Service) -> dict[str, Any] | None:
    """Of OpenLineage; None where its events name no such run."""
    try:
        tree = RunTrees(service.catalogue, service.journal).tree(run_id, at, service.clock())
    except NotFound:
        return None
    run = tree.branch.run
    if run.job is not None:
        refuse_hidden(run.job.id, service)
    items = _executions(run.job.id, run.run) if run.job is not None else None
    return run_tree_reply(tree, items)


def _reported(run_id: str, service: Service) -> dict[str, Any]:
    """Of Spline's agents, whose runs have neither parents nor events of their own."""
    typed(labels.RUN, run_id)
    rows = service.catalogue.executions(run=run_id, limit=1).items
    if not rows:
        raise NotFound("run", run_id)
    job = refuse_hidden(rows[0].job, service)
    whole = _executions(job, run_id)
    listed: list[Any] = whole["items"]
    state = {"state": whole["state"], "closed": "", "rolledUp": whole["state"], "below": {}}
    return {
        **whole, **state, "runId": None, "run": run_id, "known": True, "folded": False,
        "endless": False, "job": listed[0]["job"], "producer": listed[0]["producer"],
        "lastEventAt": whole["endedAt"], "children": [], "parent": None, "root": None,
        "ancestors": [], "history": [], "facets": {},
    }  # fmt: skip


def _executions(job: str, run: str) -> dict[str, Any]:
    """``{"items": []}`` for a run that has not ended."""
    try:
        found: dict[str, Any] = to_json(pages.run(current_sources(), job, run))
    except NotFound:
        return {"items": [], "partial": None}
    return found


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
    service = current_service()
    refuse_hidden(typed(kind, entity), service)
    known: tuple[object, ...] = (
        service.catalogue.datasets((entity,))
        if kind == labels.DATASET
        else service.catalogue.jobs((entity,))
    )
    if not known:
        raise NotFound(kind, entity)
    page = About(service.catalogue).history(
        entity,
        name=query["name"],
        kind=query["kind"] and query["kind"].value,
        at=query["at"],
        limit=query["limit"],
        cursor=query["cursor"],
    )
    return jsonify(without_hidden_jobs(page_reply(page), service))
