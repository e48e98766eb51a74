"""What changed: between two times, executions or plans; versions; upstream since the last good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.asking import (
    TIME_LIMIT_MS,
    current_sources,
    deadline,
    is_rebuilding,
    typed,
    whole_or_later,
)
from api.blueprint import Blueprint
from api.differences import changes_reply, plan_difference_reply, plan_partial, time_reply
from api.marking import mark_declared, refuse_hidden, refuse_named_hidden
from api.replies import page_reply, to_json
from api.schemas.difference import (
    OF_GRAPHS,
    ChangesQuery,
    ChangesReply,
    DifferenceQuery,
    DifferenceReply,
    VersionsQuery,
    VersionsReply,
)
from api.service import current_service
from graph_model import labels
from graph_model.answers.executions import execution_views
from graph_model.difference.questions import Differences
from graph_model.difference.upstream import Upstream
from graph_model.facts import ExecutionRow
from graph_model.lineage import Partial, Question

blueprint = Blueprint("difference", __name__, url_prefix="/graph", description="What changed")
#: Nodes of each answer upstream that causes are looked for in.
_NODES_UPSTREAM = 1_000


def _differences() -> Differences:
    service = current_service()
    return Differences(
        current_sources(),
        hidden=service.governance.hidden,
        expired=deadline(),
        time_limit_ms=TIME_LIMIT_MS,
    )


# --- differences ---------------------------------------------------------------------------------


@blueprint.route("/diff")
@blueprint.arguments(DifferenceQuery)
@blueprint.describes(DifferenceReply)
def diff(query: Mapping[str, Any]) -> Response:
    """What changed between two times, two executions or two plans."""
    query = {**OF_GRAPHS, **query}
    rebuilding = is_rebuilding()
    with whole_or_later():
        differences = _differences()
        if query["from_plan"] is not None:
            return jsonify(_between_plans(differences, query))
        if query["from_execution"] is not None:
            return jsonify(_between_executions(differences, query, rebuilding=rebuilding))
        times = (query["begin"], query["end"])
        return jsonify(
            _between_times(differences, query, query["node"], times, rebuilding=rebuilding)
        )


def _between_times(
    differences: Differences,
    query: Mapping[str, Any],
    node: str,
    times: tuple[int | None, int | None],
    *,
    rebuilding: bool,
) -> dict[str, Any]:
    found = differences.between(
        (_resolved(node, times[0]), _resolved(node, times[1])),
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
    )
    reply = time_reply(
        found,
        current_service().governance,
        rebuilding=rebuilding,
        unchanged=query["unchanged"],
        layout=query["layout"],
    )
    plans = {plan for edge in reply["edges"] for plan in edge["plans"]}
    mark_declared(reply["edges"], current_service().catalogue.declared_plans(plans))
    return reply


def _resolved(node: str, at: int | None) -> str:
    service = current_service()
    return refuse_named_hidden(service.references.resolve(node, at), node, service)


def _between_plans(differences: Differences, query: Mapping[str, Any]) -> dict[str, Any]:
    found = differences.plans(query["from_plan"], query["to_plan"], layout=query["layout"])
    partial = Partial("rebuilding", 0) if is_rebuilding() else plan_partial(found)
    return {
        "kind": "plans",
        "plan": plan_difference_reply(found, unchanged=query["unchanged"]),
        "partial": to_json(partial),
    }


def _between_executions(
    differences: Differences, query: Mapping[str, Any], *, rebuilding: bool
) -> dict[str, Any]:
    """The question at the times of both, about what the second one wrote unless a node is given;
    and their plans, where both are kept.
    """
    before = differences.execution(query["from_execution"])
    after = differences.execution(query["to_execution"])
    node = query["node"] or after.target or after.job
    times = (before.at, after.at)
    reply = _between_times(differences, query, node, times, rebuilding=rebuilding)
    plan = differences.plans_of_executions(before, after, layout=query["layout"])
    shown = None if plan is None else plan_difference_reply(plan, unchanged=query["unchanged"])
    return reply | {
        "kind": "executions",
        "executions": {"before": _execution(before), "after": _execution(after)},
        "plan": shown,
        "partial": reply["partial"] or to_json(plan_partial(plan)),
    }


def _execution(row: ExecutionRow) -> dict[str, Any]:
    return dict(to_json(execution_views(current_sources(), (row,))[0]))


# --- versions ------------------------------------------------------------------------------------


@blueprint.route("/datasets/<dataset_id>/versions")
@blueprint.arguments(VersionsQuery)
@blueprint.describes(VersionsReply)
def dataset_versions(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The schemas that a dataset has had, and who wrote each."""
    page = _differences().dataset_versions(
        _known(labels.DATASET, dataset_id),
        at=query["at"],
        limit=query["limit"],
        cursor=query["cursor"],
    )
    return jsonify(page_reply(page))


@blueprint.route("/jobs/<job_id>/versions")
@blueprint.arguments(VersionsQuery)
@blueprint.describes(VersionsReply)
def job_versions(query: Mapping[str, Any], job_id: str) -> Response:
    """The logical plans of a job over time, and what changed from one to the next."""
    differences = _differences()
    page = differences.job_versions(
        _known(labels.JOB, job_id), at=query["at"], limit=query["limit"], cursor=query["cursor"]
    )
    return jsonify(page_reply(page) | {"partial": to_json(differences.partial)})


# --- since the last good run ---------------------------------------------------------------------


@blueprint.route("/datasets/<dataset_id>/changes")
@blueprint.arguments(ChangesQuery)
@blueprint.describes(ChangesReply)
def dataset_changes(query: Mapping[str, Any], dataset_id: str) -> Response:
    """What changed upstream of a dataset since its last good write."""
    return _changes(labels.DATASET, dataset_id, query)


@blueprint.route("/jobs/<job_id>/changes")
@blueprint.arguments(ChangesQuery)
@blueprint.describes(ChangesReply)
def job_changes(query: Mapping[str, Any], job_id: str) -> Response:
    """What changed upstream of a job since its last good run."""
    return _changes(labels.JOB, job_id, query)


def _changes(kind: str, identifier: str, query: Mapping[str, Any]) -> Response:
    rebuilding = is_rebuilding()
    service = current_service()
    upstream = Upstream(_differences(), service.graph, service.catalogue, nodes=_NODES_UPSTREAM)
    found = upstream.changes(
        _known(kind, identifier),
        since=query["since"],
        at=query["at"],
        depth=query["depth"],
        limit=query["limit"],
    )
    return jsonify(changes_reply(found, rebuilding))


def _known(kind: str, identifier: str) -> str:
    """An id of this kind, known and not hidden from the caller."""
    with whole_or_later():
        service = current_service()
        return refuse_hidden(service.references.resolve(typed(kind, identifier)), service)
