"""The shapes of the graph's replies for the OpenAPI document; what its questions take stands beside
their routes.

``picture.json_form`` and the modules of the questions make replies from typed values; these schemas
describe them. A test loads real replies through them, so the description cannot drift.
"""

from __future__ import annotations

from marshmallow import INCLUDE, Schema, fields

from graph_model.lineage import Reach
from graph_model.picture.layout import Flow

MAX_DEPTH = 50
#: What a question may follow; a walk by plans in force alone is a part of POSSIBLE.
REACHES = (Reach.SEEN, Reach.POSSIBLE)


class Reply(Schema):
    class Meta:
        unknown = INCLUDE


class PartialReply(Reply):
    reason = fields.String(required=True)
    limit = fields.Integer(required=True)


class DepthReply(Reply):
    asked = fields.Integer(required=True)
    reached = fields.Integer(required=True)


class NodeReply(Reply):
    """A dataset, a job or a column; docs/http.md lists the fields of each kind."""

    id = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": ["dataset", "job", "column"]})
    label = fields.String(required=True)
    x = fields.Float()
    y = fields.Float()
    width = fields.Float()
    height = fields.Float()


class EdgeReply(Reply):
    """``from`` and ``to`` follow the data. The kind is feeds, DIRECT or INDIRECT."""

    id = fields.String(required=True)
    source = fields.String(required=True, data_key="from")
    target = fields.String(required=True, data_key="to")
    kind = fields.String(required=True, metadata={"enum": ["feeds", "DIRECT", "INDIRECT"]})
    plans = fields.List(fields.String(), required=True)
    attempted = fields.Boolean()
    seen = fields.Boolean()
    route = fields.List(fields.List(fields.Float()))


class GraphReply(Reply):
    nodes = fields.List(fields.Nested(NodeReply), required=True)
    edges = fields.List(fields.Nested(EdgeReply), required=True)
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")
    depth = fields.Nested(DepthReply, required=True)
    folded = fields.Boolean(required=True)
    focus = fields.String(required=True, allow_none=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
    layers = fields.List(fields.Dict())
    hidden = fields.Integer()
    flow = fields.String(metadata={"enum": list(Flow)})
    not_seen = fields.Dict(data_key="notSeen")


class TotalsReply(Reply):
    jobs = fields.Integer(required=True)
    datasets = fields.Integer(required=True)
    failed = fields.Integer(required=True)


class JobNameReply(Reply):
    id = fields.String(required=True)
    namespace = fields.String(required=True)
    name = fields.String(required=True)


class FailureReply(Reply):
    job = fields.Nested(JobNameReply, required=True)
    at = fields.String(required=True)


class OverviewReply(GraphReply):
    totals = fields.Nested(TotalsReply, required=True)
    failures = fields.List(fields.Nested(FailureReply), required=True)
    lone = fields.Dict(required=True, allow_none=True)


class HomeReply(Reply):
    totals = fields.Nested(TotalsReply, required=True)
    failed = fields.Integer(required=True)
    failures = fields.List(fields.Nested(FailureReply), required=True)
    late = fields.Integer(required=True)
    late_jobs = fields.List(fields.Dict(), required=True, data_key="lateJobs")
    written = fields.List(fields.Dict(), required=True)
    executions = fields.Integer(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")


class IncidentsReply(Reply):
    failed = fields.Integer(required=True)
    incidents = fields.List(fields.Dict(), required=True)
    running = fields.Integer(required=True)
    running_jobs = fields.List(fields.Dict(), required=True, data_key="runningJobs")
    slow = fields.List(fields.Dict(), required=True)
    small = fields.List(fields.Dict(), required=True)
    checks = fields.List(fields.Dict(), required=True)
    executions = fields.Integer(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class MapReply(Reply):
    within = fields.List(fields.String(), required=True)
    areas = fields.List(fields.Dict(), required=True)
    flows = fields.List(fields.Dict(), required=True)
    datasets = fields.Integer(required=True)
    names = fields.Integer(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class ItemReply(Reply):
    id = fields.String(required=True)


class ListReply(Reply):
    items = fields.List(fields.Nested(ItemReply), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


class HistoryReply(ListReply):
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class OperationReply(Reply):
    id = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": ["read", "transform", "write"]})
    name = fields.String(required=True)
    inputs = fields.List(fields.String(), required=True)
    outputs = fields.List(fields.String(), required=True)
    aliases = fields.List(fields.String(), required=True)
    folded = fields.List(fields.String(), required=True)


class PlanReply(Reply):
    id = fields.String(required=True)
    plan_id = fields.String(required=True, data_key="planId")
    plan = fields.String(required=True)
    operations = fields.List(fields.Nested(OperationReply), required=True)


class RenameReply(Reply):
    former = fields.Nested(ItemReply, required=True)
    current = fields.Nested(ItemReply, required=True)
    at = fields.String(required=True)


class LastWriterReply(Reply):
    execution = fields.Nested(ItemReply, required=True, allow_none=True)
    failed_since = fields.List(fields.Nested(ItemReply), required=True, data_key="failedSince")
    certain = fields.Boolean(required=True)
    candidates = fields.List(fields.Nested(ItemReply), required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
    renames = fields.List(fields.Nested(RenameReply), required=True)


class FacetReply(Reply):
    name = fields.String(required=True)
    kind = fields.String(required=True)
    at = fields.String(required=True)
    deleted = fields.Boolean(required=True)


class FacetsReply(Reply):
    items = fields.List(fields.Nested(FacetReply), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


class RunReply(ItemReply):
    run_id = fields.String(required=True, allow_none=True, data_key="runId")
    state = fields.String(required=True)
    rolled_up = fields.String(required=True, data_key="rolledUp")
    below = fields.Dict(required=True)


class RunTreeReply(RunReply):
    children = fields.List(fields.Nested(RunReply), required=True)
    history = fields.List(fields.Dict(), required=True)
    facets = fields.Dict(required=True)
    cut = fields.List(fields.String(), required=True)
    items = fields.List(fields.Nested(ItemReply), required=True)
