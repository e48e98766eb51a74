"""Differences between times, executions or plans; versions; causes of a failed run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.schemas.graph.difference import (
    OF_GRAPHS,
    ChangesQuery,
    ChangesReply,
    DifferenceQuery,
    DifferenceReply,
    VersionsQuery,
    VersionsReply,
)
from api.service.sources import current_sources, lacking, whole_or_later
from graph_model import labels
from graph_model.answers.difference import versions
from graph_model.answers.difference.plans import PlanPairs, plan_difference_reply, plan_partial
from graph_model.answers.difference.times import compare_executions, compare_times, time_reply
from graph_model.answers.difference.upstream import Upstream, changes_reply
from graph_model.lineage import Partial, Question
from graph_model.picture.json_form import page_reply, to_json

blueprint = Blueprint("difference", __name__, url_prefix="/graph", description="Changes of lineage")
#: Nodes of each answer upstream that causes are looked for in.
_NODES_UPSTREAM = 1_000


# --- differences ---------------------------------------------------------------------------------


@blueprint.route("/diff")
@blueprint.arguments(DifferenceQuery)
@blueprint.describes(DifferenceReply)
def diff(query: Mapping[str, Any]) -> Response:
    """Differences between two times, two executions or two plans."""
    query = {**OF_GRAPHS, **query}
    lack = lacking()
    with whole_or_later():
        if query["from_plan"] is not None:
            return jsonify(_of_plans(query, lack))
        if query["from_execution"] is not None:
            return jsonify(_of_executions(query, lack))
        return jsonify(_of_times(query, lack))


def _of_times(query: Mapping[str, Any], lack: Partial | None) -> dict[str, Any]:
    times = (query["begin"], query["end"])
    found = compare_times(
        current_sources(), query["node"], times, _question(query), **_options(query)
    )
    return time_reply(found, lack=lack)


def _question(query: Mapping[str, Any]) -> Question:
    return Question(
        node="",
        direction=query["direction"],
        depth=query["depth"],
        columns=query["columns"],
        indirect=query["indirect"],
        limit=query["limit"],
    )


def _options(query: Mapping[str, Any]) -> dict[str, bool]:
    return {name: query[name] for name in ("jobs", "unchanged", "layout")}


def _of_plans(query: Mapping[str, Any], lack: Partial | None) -> dict[str, Any]:
    pairs = PlanPairs(current_sources())
    found = pairs.compare(query["from_plan"], query["to_plan"], layout=query["layout"])
    return {
        "kind": "plans",
        "plan": plan_difference_reply(found, unchanged=query["unchanged"]),
        "partial": to_json(lack or plan_partial(found)),
    }


def _of_executions(query: Mapping[str, Any], lack: Partial | None) -> dict[str, Any]:
    executions = (query["from_execution"], query["to_execution"])
    found = compare_executions(
        current_sources(), executions, query["node"], _question(query), **_options(query)
    )
    reply = time_reply(found.lineage, lack=lack)
    plan = found.plan
    return reply | {
        "kind": "executions",
        "executions": {"before": to_json(found.before), "after": to_json(found.after)},
        "plan": None if plan is None else plan_difference_reply(plan, unchanged=query["unchanged"]),
        "partial": reply["partial"] or to_json(plan_partial(plan)),
    }


# --- versions ------------------------------------------------------------------------------------


@blueprint.route("/datasets/<dataset_id>/versions")
@blueprint.arguments(VersionsQuery)
@blueprint.describes(VersionsReply)
def dataset_versions(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The schemas of a dataset over time, with the writers of each."""
    with whole_or_later():
        page = versions.dataset_versions(current_sources(), dataset_id, **query)
    return jsonify(page_reply(page))


@blueprint.route("/jobs/<job_id>/versions")
@blueprint.arguments(VersionsQuery)
@blueprint.describes(VersionsReply)
def job_versions(query: Mapping[str, Any], job_id: str) -> Response:
    """The logical plans of a job over time, and the differences from one to the next."""
    with whole_or_later():
        found = versions.job_versions(current_sources(), job_id, **query)
    return jsonify(page_reply(found.page) | {"partial": to_json(found.partial)})


# --- since the last good run ---------------------------------------------------------------------


@blueprint.route("/datasets/<dataset_id>/changes")
@blueprint.arguments(ChangesQuery)
@blueprint.describes(ChangesReply)
def dataset_changes(query: Mapping[str, Any], dataset_id: str) -> Response:
    """Changes upstream of a dataset since its last good write."""
    return _changes(dataset_id, labels.DATASET, query)


@blueprint.route("/jobs/<job_id>/changes")
@blueprint.arguments(ChangesQuery)
@blueprint.describes(ChangesReply)
def job_changes(query: Mapping[str, Any], job_id: str) -> Response:
    """Changes upstream of a job since its last good run."""
    return _changes(job_id, labels.JOB, query)


def _changes(node: str, kind: str, query: Mapping[str, Any]) -> Response:
    lack = lacking()
    with whole_or_later():
        found = Upstream(current_sources(), nodes=_NODES_UPSTREAM).changes(node, kind, **query)
    return jsonify(changes_reply(found, lack))
