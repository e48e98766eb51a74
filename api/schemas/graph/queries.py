"""Query strings of the graph's routes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, validates_schema

from api.schemas.fields import Checked
from api.schemas.query import (
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
from graph_model.lineage import Reach
from graph_model.picture.layout import Flow, Flowing, Window
from graph_model.stores.graph import Direction
from graph_model.stores.pages import ColumnOrder, DatasetOrder, ExecutionOrder, JobOrder

_SEARCH_KINDS = ("dataset", "job", "column")
MAX_DEPTH = 50
_SIZE = re.compile(r"([1-9]\d{1,4})x([1-9]\d{1,4})")
#: What a question may follow; a walk by plans in force alone is a part of POSSIBLE.
REACHES = (Reach.SEEN, Reach.POSSIBLE)
#: Of a walk around one node, which ends by its limit and its time as well.
MAX_STEPS = 500


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
    order = Choice(JobOrder, load_default=JobOrder.NAMESPACE, data_key="sort")


class ColumnListQuery(Query):
    query = OptionalTextField(most=200, load_default="", data_key="q")
    limit = IntegerField(1, 1_000, load_default=100)
    cursor = TextField(load_default=None)
    order = Choice(ColumnOrder, load_default=ColumnOrder.NAME, data_key="sort")


class DatasetsQuery(ListQuery):
    layer = TextField(most=64, load_default=None)
    classification = TextField(most=64, load_default=None)
    order = Choice(DatasetOrder, load_default=DatasetOrder.NAME, data_key="sort")


class HistoryQuery(Query):
    limit = IntegerField(1, 1_000, load_default=100)
    cursor = TextField(load_default=None)
    at = Instant()


class RunsQuery(HistoryQuery):
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
    kinds = Choices(_SEARCH_KINDS, load_default=_SEARCH_KINDS, data_key="kind")
    limit = IntegerField(1, 100, load_default=20)
