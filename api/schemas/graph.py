"""Query strings of the graph's routes, and the shapes of their replies for the OpenAPI document.

``picture.json_form`` and the modules of the questions make replies from typed values; these schemas
describe them. A test loads real replies through them, so the description cannot drift.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, fields, validates_schema

from api.schemas.fields import (
    Checked,
    Choice,
    Choices,
    Flag,
    Instant,
    IntegerField,
    OptionalTextField,
    Query,
    TextField,
)
from graph_model import labels
from graph_model.answers.facets import FacetKind
from graph_model.lineage import Reach
from graph_model.picture.layout import Flow, Flowing, Window
from graph_model.stores.graph import Direction
from graph_model.stores.pages import ColumnOrder, DatasetOrder, ExecutionOrder, JobOrder

_SEARCH_KINDS = ("dataset", "job", "column")
_SEARCHED_KINDS = (*_SEARCH_KINDS, "run")
MAX_DEPTH = 50
_SIZE = re.compile(r"([1-9]\d{1,4})x([1-9]\d{1,4})")
#: What a question may follow; a walk by plans in force alone is a part of POSSIBLE.
REACHES = (Reach.SEEN, Reach.POSSIBLE)
#: Of a walk around one node, which ends by its limit and its time as well.
MAX_STEPS = 500
_MOST_ROWS = 10**15 - 1


class FlowField(Checked):
    """``right``, ``down``, or the size of a window in pixels: what is read best there."""

    expected = "right, down, or a size in pixels such as 1280x600"
    shape: Mapping[str, Any] = {
        "type": "string",
        "pattern": r"^(right|down|[1-9]\d{1,4}x[1-9]\d{1,4})$",
    }

    def read(self, value: Any) -> Flowing:
        text = super().read(value)
        if text in set(Flow):
            return Flow(text)
        size = _SIZE.fullmatch(text)
        if size is None:
            raise ValueError(value)
        return Window(float(size[1]), float(size[2]))


class PictureQuery(Query):
    """``flow``: the way that data takes through a picture with places."""

    layout = Flag(load_default=False)
    group = Choice(("layer",), load_default=None)
    flow = FlowField(load_default=Flow.RIGHT)

    @validates_schema(skip_on_field_errors=True)
    def check_flow(self, data: Any, **_: Any) -> None:
        """Top down there are places, and neither lanes nor columns."""
        if data["flow"] is Flow.DOWN and not (
            data["layout"] and data["group"] is None and not data.get("columns", False)
        ):
            expected = "right, or layout=true without group and without columns"
            raise ValidationError(expected, "flow")


class OverviewQuery(PictureQuery):
    namespace = TextField(load_default=None)
    job = TextField(most=20_000, load_default=None)
    query = OptionalTextField(most=200, load_default="", data_key="q")
    layer = TextField(most=64, load_default=None)
    classification = TextField(most=64, load_default=None)
    limit = IntegerField(1, 2_000, load_default=500)
    at = Instant()
    lone = Choice(("drawn", "counted"), load_default="drawn")


class LineageQuery(PictureQuery):
    node = TextField(most=20_000, required=True)
    direction = Choice(Direction, load_default=Direction.BOTH)
    depth = IntegerField(0, MAX_STEPS, load_default=1)
    at = Instant()
    columns = Flag(load_default=False)
    jobs = Flag(load_default=True)
    indirect = Flag(load_default=False)
    namespace = TextField(load_default=None)
    job = TextField(most=20_000, load_default=None)
    layer = TextField(most=64, load_default=None)
    classification = TextField(most=64, load_default=None)
    limit = IntegerField(1, 5_000, load_default=500)
    beyond = Flag(load_default=False)
    reach = Choice(REACHES, load_default=Reach.SEEN)


class ColumnLineageQuery(Query):
    dataset = TextField(most=20_000, required=True)
    column = TextField(most=20_000, load_default=None)
    direction = Choice(Direction, load_default=Direction.BOTH)
    depth = IntegerField(0, MAX_STEPS, load_default=1)
    at = Instant()
    indirect = Flag(load_default=False)
    ends = Flag(load_default=False)
    limit = IntegerField(1, 5_000, load_default=500)
    layout = Flag(load_default=False)
    group = Choice(("layer",), load_default=None)
    reach = Choice(REACHES, load_default=Reach.SEEN)

    @validates_schema(skip_on_field_errors=True)
    def check_reach(self, data: Any, **_: Any) -> None:
        """An edge from end to end is not drawn by its steps: seen ones and others are one."""
        if data["ends"] and data["reach"] is not Reach.SEEN:
            raise ValidationError("seen, where ends is true", "reach")


class ListQuery(Query):
    query = OptionalTextField(most=200, load_default="", data_key="q")
    limit = IntegerField(1, 1_000, load_default=100)
    cursor = TextField(load_default=None)
    at = Instant()


class JobsQuery(ListQuery):
    namespace = TextField(load_default=None)
    state = Choice(labels.SHOWN_STATES, load_default=None)
    owner = TextField(most=200, load_default=None)
    late = Flag(load_default=False)
    order = Choice(JobOrder, load_default=JobOrder.NAMESPACE, data_key="sort")


class ColumnListQuery(Query):
    query = OptionalTextField(most=200, load_default="", data_key="q")
    limit = IntegerField(1, 1_000, load_default=100)
    cursor = TextField(load_default=None)
    order = Choice(ColumnOrder, load_default=ColumnOrder.NAME, data_key="sort")


class DatasetsQuery(ListQuery):
    layer = TextField(most=64, load_default=None)
    classification = TextField(most=64, load_default=None)
    owner = TextField(most=200, load_default=None)
    unread = Flag(load_default=False)
    unread_columns = Flag(load_default=False, data_key="unreadColumns")
    least_rows = IntegerField(0, _MOST_ROWS, load_default=None, data_key="minRows")
    most_rows = IntegerField(0, _MOST_ROWS, load_default=None, data_key="maxRows")
    order = Choice(DatasetOrder, load_default=DatasetOrder.NAME, data_key="sort")

    @validates_schema(skip_on_field_errors=True)
    def check_rows(self, data: Any, **_: Any) -> None:
        least, most = data["least_rows"], data["most_rows"]
        if least is not None and most is not None and least > most:
            raise ValidationError(f"an integer from minRows ({least}) on", "maxRows")


class HistoryQuery(Query):
    limit = IntegerField(1, 1_000, load_default=100)
    cursor = TextField(load_default=None)
    at = Instant()


class RunsQuery(HistoryQuery):
    query = OptionalTextField(most=200, load_default="", data_key="q")
    job = TextField(most=20_000, load_default=None)
    state = Choice(labels.SHOWN_STATES, load_default=None)
    doubtful = Flag(load_default=False)
    order = Choice(ExecutionOrder, load_default=ExecutionOrder.AT_FALLING, data_key="sort")


class MapQuery(Query):
    """``within``: the area that is open, its parts from the widest on, one a line."""

    by = Choice(("place", "layer"), load_default="place")
    within = OptionalTextField(most=2_000, load_default="")


class AtQuery(Query):
    at = Instant()


class LastWriterQuery(Query):
    partition = TextField(load_default=None)
    at = Instant()


class PlanQuery(Query):
    at = Instant()
    document = Flag(load_default=False)
    layout = Flag(load_default=False)
    flow = Choice(Flow, load_default=Flow.RIGHT)
    fold = Flag(load_default=False)


class SearchQuery(Query):
    text = TextField(most=200, required=True, data_key="q")
    kinds = Choices(_SEARCHED_KINDS, load_default=_SEARCH_KINDS, data_key="kind")
    limit = IntegerField(1, 100, load_default=20)


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


class FacetsQuery(HistoryQuery):
    name = TextField(most=200, load_default=None)
    kind = Choice(tuple(map(str, FacetKind)), load_default=None)


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
