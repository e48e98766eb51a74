"""The graph: overview, lineage, columns across jobs, lists, details, search."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify
from marshmallow import ValidationError, validates_schema

from api.http.blueprint import Blueprint
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
from api.schemas.graph import (
    REACHES,
    FacetsReply,
    GraphReply,
    HistoryReply,
    ListReply,
    OverviewReply,
    PlanReply,
    RunTreeReply,
    reply_of,
)
from api.service import current_service
from api.service.parts import current_sources, lacking, whole_or_later
from graph_model import labels
from graph_model.answers import dataset_writes
from graph_model.answers import datasets as dataset_answers
from graph_model.answers import home as home_answers
from graph_model.answers import jobs as job_answers
from graph_model.answers import lineage as lineage_answer
from graph_model.answers import overview as overview_answer
from graph_model.answers import plans as plan_answers
from graph_model.answers import runs as run_answers
from graph_model.answers import search as search_answers
from graph_model.answers.columns import ColumnPage, describe_column, list_columns
from graph_model.answers.facets import FacetKind, facet_history
from graph_model.answers.nodes import Selection
from graph_model.answers.plans import plan_reply
from graph_model.answers.runs import one_run, one_run_reply, runs_reply
from graph_model.lineage import Question, Reach
from graph_model.picture.json_form import graph_reply, page_reply, to_json
from graph_model.picture.layout import Flow, Flowing, Window
from graph_model.stores.graph import Direction
from graph_model.stores.pages import ColumnOrder, DatasetOrder, ExecutionOrder, JobOrder

_SEARCH_KINDS = ("dataset", "job", "column")
_SEARCHED_KINDS = (*_SEARCH_KINDS, "run")
_SIZE = re.compile(r"([1-9]\d{1,4})x([1-9]\d{1,4})")
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


class FacetsQuery(HistoryQuery):
    name = TextField(most=200, load_default=None)
    kind = Choice(tuple(map(str, FacetKind)), load_default=None)


blueprint = Blueprint("graph", __name__, url_prefix="/graph", description="The lineage graph")


def _selection(query: Mapping[str, Any]) -> Selection:
    return Selection(query["namespace"], query["job"], query["layer"], query["classification"])


def _question(query: Mapping[str, Any], node: str, *, columns: bool) -> Question:
    return Question(
        node=node,
        direction=query["direction"],
        depth=query["depth"],
        at=query["at"],
        columns=columns,
        indirect=query["indirect"],
        limit=query["limit"],
        reach=query["reach"],
        not_seen=query["reach"] is Reach.SEEN,
    )


@blueprint.route("/overview")
@blueprint.arguments(OverviewQuery)
@blueprint.describes(OverviewReply)
def overview(query: Mapping[str, Any]) -> Response:
    """All jobs and tables."""
    lack = lacking()
    estate = overview_answer.overview(
        current_sources(),
        _selection(query),
        query=query["query"],
        limit=query["limit"],
        at=query["at"],
        layout=query["layout"],
        by_layer=query["group"] is not None,
        flow=query["flow"],
        counts_lone=query["lone"] == "counted",
    )
    reply = graph_reply(estate.view, lack)
    counted = {name: to_json(getattr(estate, name)) for name in ("totals", "failures", "lone")}
    return jsonify(reply | counted)


@blueprint.route("/lineage")
@blueprint.arguments(LineageQuery)
@blueprint.describes(GraphReply)
def lineage(query: Mapping[str, Any]) -> Response:
    """The neighbourhood of a dataset, a job or a column."""
    lack = lacking()
    with whole_or_later():
        view = lineage_answer.lineage(
            current_sources(),
            _question(query, query["node"], columns=query["columns"]),
            jobs=query["jobs"],
            layout=query["layout"],
            by_layer=query["group"] is not None,
            flow=query["flow"],
            beyond=query["beyond"],
            selection=_selection(query),
        )
    return jsonify(graph_reply(view, lack))


@blueprint.route("/column-lineage")
@blueprint.arguments(ColumnLineageQuery)
@blueprint.describes(GraphReply)
def column_lineage(query: Mapping[str, Any]) -> Response:
    """Columns across jobs, with the expression at every hop."""
    lack = lacking()
    with whole_or_later():
        view = lineage_answer.column_lineage(
            current_sources(),
            query["dataset"],
            query["column"],
            _question(query, "", columns=True),
            ends=query["ends"],
            layout=query["layout"],
            by_layer=query["group"] is not None,
        )
    return jsonify(graph_reply(view, lack))


@blueprint.route("/jobs")
@blueprint.arguments(JobsQuery)
@blueprint.describes(ListReply)
def jobs(query: Mapping[str, Any]) -> Response:
    """Jobs, by namespace and name unless ``sort`` names another order."""
    now = current_service().clock()
    return jsonify(page_reply(job_answers.jobs(current_sources(), **query, now=now)))


@blueprint.route("/jobs/<job_id>")
@blueprint.arguments(AtQuery)
@blueprint.describes(reply_of(job_answers.JobPage))
def job(query: Mapping[str, Any], job_id: str) -> Response:
    """One job with its logical plans."""
    return jsonify(to_json(job_answers.job(current_sources(), job_id, query["at"])))


@blueprint.route("/jobs/<job_id>/runs")
@blueprint.arguments(HistoryQuery)
@blueprint.describes(ListReply)
def runs(query: Mapping[str, Any], job_id: str) -> Response:
    """The runs of a job, newest first."""
    now = current_service().clock()
    page = run_answers.runs(current_sources(), job_id, **query, now=now)
    return jsonify(runs_reply(page))


@blueprint.route("/jobs/<job_id>/runs/<run_id>")
@blueprint.no_parameters
@blueprint.describes(reply_of(run_answers.RunView))
def run(job_id: str, run_id: str) -> Response:
    """One run with its executions."""
    return jsonify(to_json(run_answers.run(current_sources(), job_id, run_id)))


@blueprint.route("/datasets")
@blueprint.arguments(DatasetsQuery)
@blueprint.describes(HistoryReply)
def datasets(query: Mapping[str, Any]) -> Response:
    """Datasets, by name unless ``sort`` names another order."""
    listed = dataset_answers.datasets(current_sources(), **query)
    bounds = {"partial": to_json(listed.partial)}
    if query["unread_columns"]:
        bounds["unexplained"] = listed.unexplained
    return jsonify(page_reply(listed.page) | bounds)


@blueprint.route("/datasets/<dataset_id>")
@blueprint.arguments(AtQuery)
@blueprint.describes(reply_of(dataset_answers.DatasetPage))
def dataset(query: Mapping[str, Any], dataset_id: str) -> Response:
    """One dataset: its schema, the jobs that write and read it."""
    page = dataset_answers.dataset(current_sources(), dataset_id, query["at"])
    return jsonify(to_json(page))


@blueprint.route("/datasets/<dataset_id>/history")
@blueprint.arguments(HistoryQuery)
@blueprint.describes(HistoryReply)
def history(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The executions that wrote a dataset, newest first."""
    page = dataset_writes.history(current_sources(), dataset_id, **query)
    return jsonify({**page_reply(page), "partial": to_json(page.partial)})


@blueprint.route("/datasets/<dataset_id>/last-writer")
@blueprint.arguments(LastWriterQuery)
@blueprint.describes(reply_of(dataset_writes.LastWriter))
def last_writer(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The last write of a dataset, or of one of its partitions."""
    writer = dataset_writes.last_writer(current_sources(), dataset_id, **query)
    return jsonify(to_json(writer))


@blueprint.route("/plans/<plan_id>")
@blueprint.arguments(PlanQuery)
@blueprint.describes(PlanReply)
def plan(query: Mapping[str, Any], plan_id: str) -> Response:
    """The fine view of one plan: operations, schemas, expressions."""
    lack = lacking()
    with whole_or_later():
        page = plan_answers.plan(current_sources(), plan_id, **query)
    return jsonify(plan_reply(page, lack))


@blueprint.route("/search")
@blueprint.arguments(SearchQuery)
@blueprint.describes(ListReply)
def search(query: Mapping[str, Any]) -> Response:
    """Datasets, jobs, columns and runs by what people remember of them."""
    answer = search_answers.search(current_sources(), **query)
    more = {"setAside": list(answer.set_aside), "partial": to_json(answer.partial)}
    return jsonify(page_reply(answer.page) | more)


# The first questions of a reader, about the whole estate.

estate_routes = Blueprint("home", __name__, url_prefix="/graph", description="The whole estate")


@estate_routes.route("/home")
@estate_routes.no_parameters
@estate_routes.describes(reply_of(home_answers.Home))
def home() -> Response:
    """Failures of the last day, late jobs, and the last writes."""
    return jsonify(to_json(home_answers.home(current_sources(), now=current_service().clock())))


@estate_routes.route("/incidents")
@estate_routes.no_parameters
@estate_routes.describes(reply_of(home_answers.Incidents))
def incidents() -> Response:
    """Failures of the last day by their error, running jobs, unusual writes, failed checks."""
    recent = home_answers.incidents(current_sources(), now=current_service().clock())
    return jsonify(to_json(recent))


@estate_routes.route("/map")
@estate_routes.arguments(MapQuery)
@estate_routes.describes(reply_of(home_answers.EstateMap))
def area_map(query: Mapping[str, Any]) -> Response:
    """The areas of the estate and the flows between them."""
    within = query["within"]
    estate_map = home_answers.estate_map(
        current_sources(), by=query["by"], within=within.split("\n") if within else []
    )
    return jsonify(to_json(estate_map))


@estate_routes.route("/runs")
@estate_routes.arguments(RunsQuery)
@estate_routes.describes(HistoryReply)
def all_runs(query: Mapping[str, Any]) -> Response:
    """The runs of all jobs, newest first unless ``sort`` names another order."""
    listed = home_answers.all_runs(current_sources(), **query)
    return jsonify(page_reply(listed.page) | {"partial": to_json(listed.partial)})


# The columns of all datasets, and one column with its definition in words.

column_routes = Blueprint("columns", __name__, url_prefix="/graph", description="Columns")


@column_routes.route("/columns")
@column_routes.arguments(ColumnListQuery)
@column_routes.describes(ListReply)
def columns(query: Mapping[str, Any]) -> Response:
    """The columns of all datasets, by name unless ``sort`` names another order."""
    return jsonify(page_reply(list_columns(current_sources(), **query)))


@column_routes.route("/columns/<column_id>")
@column_routes.arguments(AtQuery)
@column_routes.describes(reply_of(ColumnPage))
def column(query: Mapping[str, Any], column_id: str) -> Response:
    """One column: its table, its type, and its definition as a sentence."""
    return jsonify(to_json(describe_column(current_sources(), column_id, query["at"])))


# Runs from OpenLineage's events, and facets over time.

run_routes = Blueprint("runs", __name__, url_prefix="/graph", description="Runs and facets")


@run_routes.route("/runs/<run_id>")
@run_routes.arguments(AtQuery)
@run_routes.describes(RunTreeReply)
def run_tree(query: Mapping[str, Any], run_id: str) -> Response:
    """A run with its parents, its children, its events and its executions."""
    now = current_service().clock()
    with whole_or_later():
        shown = one_run(current_sources(), run_id, at=query["at"], now=now)
    return jsonify(one_run_reply(shown))


@run_routes.route("/datasets/<dataset_id>/facets")
@run_routes.arguments(FacetsQuery)
@run_routes.describes(FacetsReply)
def dataset_facets(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The facets of a dataset over time, newest first."""
    return _facets(labels.DATASET, dataset_id, query)


@run_routes.route("/jobs/<job_id>/facets")
@run_routes.arguments(FacetsQuery)
@run_routes.describes(FacetsReply)
def job_facets(query: Mapping[str, Any], job_id: str) -> Response:
    """The facets of a job over time, newest first."""
    return _facets(labels.JOB, job_id, query)


def _facets(kind: str, entity: str, query: Mapping[str, Any]) -> Response:
    return jsonify(page_reply(facet_history(current_sources(), kind, entity, **query)))
