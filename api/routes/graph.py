"""The graph: overview, lineage, columns across jobs, lists, details, search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from flask import Response, jsonify

from api.blueprint import Blueprint
from api.replies import graph_reply, page_reply, plan_reply, runs_reply, to_json
from api.schemas.graph import (
    AtQuery,
    ColumnLineageQuery,
    HistoryQuery,
    JobsQuery,
    LastWriterQuery,
    LineageQuery,
    ListQuery,
    NoQuery,
    OverviewQuery,
    PlanQuery,
    SearchQuery,
)
from api.schemas.reply import GraphReply, ItemReply, LastWriterReply, ListReply, PlanReply
from api.service import current_service
from graph_model import identity, labels
from graph_model.answers import Answers
from graph_model.errors import NotFound, Rebuilding
from graph_model.lineage import Question

blueprint = Blueprint("graph", __name__, url_prefix="/graph", description="The lineage graph")
#: How long a walk may take before it answers with what it has.
TIME_LIMIT_MS: Final = 20_000


def _answers() -> Answers:
    service = current_service()
    return Answers(service.graph, service.catalogue, service.journal)


def _rebuilding() -> bool:
    return current_service().projector.state == "rebuilding"


@contextmanager
def _whole_or_later() -> Iterator[None]:
    """While the graph is behind, what is not found may only not be there yet: 503, not 404."""
    rebuilding = _rebuilding()
    try:
        yield
    except NotFound as error:
        if rebuilding or _rebuilding():
            raise Rebuilding(f"{error} yet: the graph is being rebuilt") from error
        raise


def _deadline() -> Callable[[], bool]:
    end = time.monotonic() + TIME_LIMIT_MS / 1000
    return lambda: time.monotonic() > end


def _typed(kind: str, identifier: str) -> str:
    """An id in a path must be of the right kind; anything else is unknown."""
    if identity.kind_of(identifier) != kind:
        raise NotFound(kind, identifier)
    return identifier


def _described(schema: type) -> Callable[[Any], Any]:
    """The reply's shape for the OpenAPI document (``api.replies`` has built it already)."""
    return blueprint.alt_response(200, schema=schema, success=True)  # type: ignore[no-any-return]


@blueprint.route("/overview")
@blueprint.arguments(OverviewQuery)
@_described(GraphReply)
def overview(query: Mapping[str, Any]) -> Response:
    """All jobs and tables."""
    rebuilding = _rebuilding()
    view = _answers().overview(
        namespace=query["namespace"],
        query=query["q"],
        limit=query["limit"],
        at=query["at"],
        layout=query["layout"],
    )
    return jsonify(graph_reply(view, rebuilding))


@blueprint.route("/lineage")
@blueprint.arguments(LineageQuery)
@_described(GraphReply)
def lineage(query: Mapping[str, Any]) -> Response:
    """The neighbourhood of a dataset, a job or a column."""
    answers = _answers()
    rebuilding = _rebuilding()
    with _whole_or_later():
        node = answers.references.resolve(query["node"], query["at"])
    question = Question(
        node=node,
        direction=query["direction"],
        depth=query["depth"],
        at=query["at"],
        columns=query["columns"],
        indirect=query["indirect"],
        limit=query["limit"],
    )
    view = answers.lineage(
        question,
        jobs=query["jobs"],
        layout=query["layout"],
        expired=_deadline(),
        time_limit_ms=TIME_LIMIT_MS,
    )
    return jsonify(graph_reply(view, rebuilding))


@blueprint.route("/column-lineage")
@blueprint.arguments(ColumnLineageQuery)
@_described(GraphReply)
def column_lineage(query: Mapping[str, Any]) -> Response:
    """Columns across jobs, with the expression at every hop."""
    question = Question(
        node="",
        direction=query["direction"],
        depth=query["depth"],
        at=query["at"],
        columns=True,
        indirect=query["indirect"],
        limit=query["limit"],
    )
    rebuilding = _rebuilding()
    with _whole_or_later():
        view = _answers().column_lineage(
            query["dataset"],
            query["column"],
            question,
            layout=query["layout"],
            expired=_deadline(),
            time_limit_ms=TIME_LIMIT_MS,
        )
    return jsonify(graph_reply(view, rebuilding))


@blueprint.route("/jobs")
@blueprint.arguments(JobsQuery)
@_described(ListReply)
def jobs(query: Mapping[str, Any]) -> Response:
    """Jobs, by namespace and name."""
    page = _answers().jobs(
        query=query["q"],
        namespace=query["namespace"],
        limit=query["limit"],
        cursor=query["cursor"],
        at=query["at"],
    )
    return jsonify(page_reply(page))


@blueprint.route("/jobs/<job_id>")
@blueprint.arguments(AtQuery)
@_described(ItemReply)
def job(query: Mapping[str, Any], job_id: str) -> Response:
    """One job with its logical plans."""
    return jsonify(to_json(_answers().job(_typed(labels.JOB, job_id), query["at"])))


@blueprint.route("/jobs/<job_id>/runs")
@blueprint.arguments(HistoryQuery)
@_described(ListReply)
def runs(query: Mapping[str, Any], job_id: str) -> Response:
    """The runs of a job, newest first."""
    page = _answers().runs(
        _typed(labels.JOB, job_id),
        limit=query["limit"],
        cursor=query["cursor"],
        at=query["at"],
    )
    return jsonify(runs_reply(page))


@blueprint.route("/jobs/<job_id>/runs/<run_id>")
@blueprint.arguments(NoQuery)
@_described(ItemReply)
def run(query: Mapping[str, Any], job_id: str, run_id: str) -> Response:
    """One run with its executions."""
    del query
    return jsonify(to_json(_answers().run(_typed(labels.JOB, job_id), _typed(labels.RUN, run_id))))


@blueprint.route("/datasets")
@blueprint.arguments(ListQuery)
@_described(ListReply)
def datasets(query: Mapping[str, Any]) -> Response:
    """Datasets, by name."""
    page = _answers().datasets(
        query=query["q"], limit=query["limit"], cursor=query["cursor"], at=query["at"]
    )
    return jsonify(page_reply(page))


@blueprint.route("/datasets/<dataset_id>")
@blueprint.arguments(AtQuery)
@_described(ItemReply)
def dataset(query: Mapping[str, Any], dataset_id: str) -> Response:
    """One dataset: its schema, who writes and reads it."""
    return jsonify(to_json(_answers().dataset(_typed(labels.DATASET, dataset_id), query["at"])))


@blueprint.route("/datasets/<dataset_id>/history")
@blueprint.arguments(HistoryQuery)
@_described(ListReply)
def history(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The executions that wrote a dataset, newest first."""
    page = _answers().history(
        _typed(labels.DATASET, dataset_id),
        limit=query["limit"],
        cursor=query["cursor"],
        at=query["at"],
    )
    return jsonify(page_reply(page))


@blueprint.route("/datasets/<dataset_id>/last-writer")
@blueprint.arguments(LastWriterQuery)
@_described(LastWriterReply)
def last_writer(query: Mapping[str, Any], dataset_id: str) -> Response:
    """Who wrote a dataset, or one partition of it, last."""
    found = _answers().last_writer(
        _typed(labels.DATASET, dataset_id), partition=query["partition"], at=query["at"]
    )
    return jsonify(to_json(found))


@blueprint.route("/plans/<plan_id>")
@blueprint.arguments(PlanQuery)
@_described(PlanReply)
def plan(query: Mapping[str, Any], plan_id: str) -> Response:
    """The fine view of one plan: operations, schemas, expressions."""
    rebuilding = _rebuilding()
    with _whole_or_later():
        page = _answers().plan(
            plan_id, at=query["at"], document=query["document"], layout=query["layout"]
        )
    return jsonify(plan_reply(page, rebuilding))


@blueprint.route("/search")
@blueprint.arguments(SearchQuery)
@_described(ListReply)
def search(query: Mapping[str, Any]) -> Response:
    """Datasets, jobs and columns by name."""
    page = _answers().search(query["q"], kinds=query["kind"], limit=query["limit"])
    return jsonify(page_reply(page))
