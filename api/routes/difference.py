"""Differences between times, executions or plans; versions; causes of a failed run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Response, jsonify
from marshmallow import ValidationError, fields, validates_schema

from api.http.blueprint import Blueprint
from api.schemas.fields import Choice, Flag, Instant, IntegerField, Query, TextField
from api.schemas.graph import MAX_DEPTH, ItemReply, ListReply, NodeReply, PartialReply, Reply
from api.service.parts import current_sources, lacking, whole_or_later
from graph_model import labels
from graph_model.answers.difference import versions
from graph_model.answers.difference.plans import PlanPairs, plan_difference_reply, plan_partial
from graph_model.answers.difference.times import compare_executions, compare_times, time_reply
from graph_model.answers.difference.upstream import Upstream, changes_reply
from graph_model.lineage import Partial, Question
from graph_model.picture.json_form import page_reply, to_json
from graph_model.stores.graph import Direction

PLANS: Final = ("fromPlan", "toPlan")
EXECUTIONS: Final = ("fromExecution", "toExecution")
TIMES: Final = ("from", "to")
#: Parameters of a question about a graph alone, with their defaults.
OF_GRAPHS: Final[Mapping[str, Any]] = {
    "node": None,
    "direction": Direction.BOTH,
    "depth": 1,
    "columns": False,
    "jobs": True,
    "indirect": False,
    "limit": 500,
}


class DifferenceQuery(Query):
    """``from`` and ``to``, two executions, or two plans: one of the three."""

    node = TextField(most=20_000)
    begin = Instant(data_key="from")
    end = Instant(data_key="to")
    from_execution = TextField(data_key="fromExecution", load_default=None)
    to_execution = TextField(data_key="toExecution", load_default=None)
    from_plan = TextField(data_key="fromPlan", load_default=None)
    to_plan = TextField(data_key="toPlan", load_default=None)
    direction = Choice(Direction)
    depth = IntegerField(0, MAX_DEPTH)
    columns = Flag()
    jobs = Flag()
    indirect = Flag()
    limit = IntegerField(1, 5_000)
    unchanged = Flag(load_default=False)
    layout = Flag(load_default=False)

    @validates_schema(pass_original=True, skip_on_field_errors=True)
    def check_sides(self, _data: Any, given: Any, **_: Any) -> None:
        """Both sides of one kind, and nothing that another kind takes."""
        kind = next((k for k in (PLANS, EXECUTIONS) if given.keys() & set(k)), TIMES)
        for name in kind if kind is not TIMES else ("from", "node"):
            if name not in given:
                raise ValidationError(_NEEDED[name], name)
        refused = {*PLANS, *EXECUTIONS, *TIMES} - set(kind)
        for name in sorted(refused | (set(OF_GRAPHS) if kind is PLANS else set())):
            if name in given:
                raise ValidationError(f"no {name} beside {kind[0]} and {kind[1]}", name)


_NEEDED: Final = {
    "from": "a time (with to), or fromExecution and toExecution, or fromPlan and toPlan",
    "node": "the dataset, job or column whose lineage is compared",
    "fromPlan": "a plan id beside toPlan",
    "toPlan": "a plan id beside fromPlan",
    "fromExecution": "the id of an execution beside toExecution",
    "toExecution": "the id of an execution beside fromExecution",
}


class VersionsQuery(Query):
    limit = IntegerField(1, 100, load_default=20)
    cursor = TextField(load_default=None)
    at = Instant()


class ChangesQuery(Query):
    since = Instant()
    at = Instant()
    depth = IntegerField(1, MAX_DEPTH, load_default=10)
    limit = IntegerField(1, 500, load_default=100)


class SideReply(Reply):
    at = fields.String(required=True, allow_none=True)
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")
    folded = fields.Boolean(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class ChangedNodeReply(NodeReply):
    change = fields.String(
        required=True, allow_none=True, metadata={"enum": ["added", "removed", "changed"]}
    )


class ChangedEdgeReply(Reply):
    id = fields.String(required=True)
    source = fields.String(required=True, data_key="from")
    target = fields.String(required=True, data_key="to")
    change = fields.String(
        required=True, allow_none=True, metadata={"enum": ["added", "removed", "changed"]}
    )


class PlanDifferenceReply(Reply):
    same_logic = fields.Boolean(required=True, data_key="sameLogic")
    summary = fields.List(fields.String(), required=True)
    operations = fields.List(fields.Nested(ItemReply), required=True)
    columns = fields.List(fields.Dict(), required=True)


class DifferenceReply(Reply):
    """Of two plans ``plan`` alone is there; of two executions also both of them."""

    kind = fields.String(required=True, metadata={"enum": ["times", "executions", "plans"]})
    begin = fields.Nested(SideReply, data_key="from")
    end = fields.Nested(SideReply, data_key="to")
    nodes = fields.List(fields.Nested(ChangedNodeReply))
    edges = fields.List(fields.Nested(ChangedEdgeReply))
    plan = fields.Nested(PlanDifferenceReply, allow_none=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class VersionsReply(ListReply):
    """Newest first; ``changes`` is null for the first of its kind."""


class CauseReply(Reply):
    kind = fields.String(required=True)
    node = fields.Nested(ItemReply, required=True)
    distance = fields.Integer(required=True)
    reason = fields.String(required=True)


class ChangesReply(Reply):
    node = fields.String(required=True)
    since = fields.String(required=True, allow_none=True)
    until = fields.String(required=True, allow_none=True)
    items = fields.List(fields.Nested(CauseReply), required=True)
    total = fields.Integer(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


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
    comparison = compare_times(
        current_sources(), query["node"], times, _question(query), **_options(query)
    )
    return time_reply(comparison, lack=lack)


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
    difference = pairs.compare(query["from_plan"], query["to_plan"], layout=query["layout"])
    return {
        "kind": "plans",
        "plan": plan_difference_reply(difference, unchanged=query["unchanged"]),
        "partial": to_json(lack or plan_partial(difference)),
    }


def _of_executions(query: Mapping[str, Any], lack: Partial | None) -> dict[str, Any]:
    executions = (query["from_execution"], query["to_execution"])
    comparison = compare_executions(
        current_sources(), executions, query["node"], _question(query), **_options(query)
    )
    reply = time_reply(comparison.lineage, lack=lack)
    plan = comparison.plan
    return reply | {
        "kind": "executions",
        "executions": {"before": to_json(comparison.before), "after": to_json(comparison.after)},
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
        history = versions.job_versions(current_sources(), job_id, **query)
    return jsonify(page_reply(history.page) | {"partial": to_json(history.partial)})


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
        changes = Upstream(current_sources(), nodes=_NODES_UPSTREAM).changes(node, kind, **query)
    return jsonify(changes_reply(changes, lack))
