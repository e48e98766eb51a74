"""Differences between times, executions or plans; versions; causes of a failed run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.replies.differences import changes_reply, plan_difference_reply, plan_partial, time_reply
from api.replies.graph import page_reply, to_json
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
from graph_model.answers.difference.questions import Differences
from graph_model.answers.difference.upstream import Upstream
from graph_model.answers.executions import execution_views
from graph_model.lineage import Partial, Question

blueprint = Blueprint("difference", __name__, url_prefix="/graph", description="What changed")
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
        differences = Differences(current_sources())
        if query["from_plan"] is not None:
            return jsonify(_between_plans(differences, query))
        if query["from_execution"] is not None:
            return jsonify(_between_executions(differences, query, lack=lack))
        times = (query["begin"], query["end"])
        return jsonify(_between_times(differences, query, query["node"], times, lack=lack))


def _between_times(
    differences: Differences,
    query: Mapping[str, Any],
    node: str,
    times: tuple[int | None, int | None],
    *,
    lack: Partial | None,
) -> dict[str, Any]:
    found = differences.between(
        node,
        times,
        Question(
            node="",
            direction=query["direction"],
            depth=query["depth"],
            columns=query["columns"],
            indirect=query["indirect"],
            limit=query["limit"],
        ),
        jobs=query["jobs"],
        unchanged=query["unchanged"],
        layout=query["layout"],
    )
    return time_reply(found, lack=lack)


def _between_plans(differences: Differences, query: Mapping[str, Any]) -> dict[str, Any]:
    found = differences.plans(query["from_plan"], query["to_plan"], layout=query["layout"])
    partial = lacking() or plan_partial(found)
    return {
        "kind": "plans",
        "plan": plan_difference_reply(found, unchanged=query["unchanged"]),
        "partial": to_json(partial),
    }


def _between_executions(
    differences: Differences, query: Mapping[str, Any], *, lack: Partial | None
) -> dict[str, Any]:
    """The answers at the times of both, about the output of the second one unless a node is given;
    and their plans, if both are kept.
    """
    before = differences.execution(query["from_execution"])
    after = differences.execution(query["to_execution"])
    node = query["node"] or after.target or after.job
    times = (before.at, after.at)
    reply = _between_times(differences, query, node, times, lack=lack)
    plan = differences.plans_of_executions(before, after, layout=query["layout"])
    shown = None if plan is None else plan_difference_reply(plan, unchanged=query["unchanged"])
    views = map(to_json, execution_views(differences.sources, (before, after)))
    return reply | {
        "kind": "executions",
        "executions": dict(zip(("before", "after"), views, strict=True)),
        "plan": shown,
        "partial": reply["partial"] or to_json(plan_partial(plan)),
    }


# --- versions ------------------------------------------------------------------------------------


@blueprint.route("/datasets/<dataset_id>/versions")
@blueprint.arguments(VersionsQuery)
@blueprint.describes(VersionsReply)
def dataset_versions(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The schemas of a dataset over time, with the writers of each."""
    with whole_or_later():
        page = Differences(current_sources()).dataset_versions(
            dataset_id, at=query["at"], limit=query["limit"], cursor=query["cursor"]
        )
    return jsonify(page_reply(page))


@blueprint.route("/jobs/<job_id>/versions")
@blueprint.arguments(VersionsQuery)
@blueprint.describes(VersionsReply)
def job_versions(query: Mapping[str, Any], job_id: str) -> Response:
    """The logical plans of a job over time, and the differences from one to the next."""
    differences = Differences(current_sources())
    with whole_or_later():
        page = differences.job_versions(
            job_id, at=query["at"], limit=query["limit"], cursor=query["cursor"]
        )
    return jsonify(page_reply(page) | {"partial": to_json(differences.partial)})


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
        found = Upstream(current_sources(), nodes=_NODES_UPSTREAM).changes(
            node,
            kind,
            since=query["since"],
            at=query["at"],
            depth=query["depth"],
            limit=query["limit"],
        )
    return jsonify(changes_reply(found, lack))
