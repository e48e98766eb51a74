"""The graph: overview, lineage, columns across jobs, lists, details, search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

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
from api.marking import (
    dataset_filter,
    filter_datasets,
    mark_declared,
    marked_dataset,
    marked_graph,
    marked_page,
    refuse_hidden,
    refuse_named_hidden,
    without_hidden_columns,
    without_hidden_jobs,
    without_hidden_references,
)
from api.replies import page_reply, plan_reply, runs_reply, to_json
from api.schemas.graph import (
    AtQuery,
    ColumnLineageQuery,
    DatasetsQuery,
    HistoryQuery,
    JobsQuery,
    LastWriterQuery,
    LineageQuery,
    NoQuery,
    OverviewQuery,
    PlanQuery,
    SearchQuery,
)
from api.schemas.reply import (
    GraphReply,
    ItemReply,
    LastWriterReply,
    ListReply,
    OverviewReply,
    PlanReply,
)
from api.service import current_service
from graph_model import identity, labels
from graph_model.answers import column_lineage as column_answer
from graph_model.answers import jobs as job_answers
from graph_model.answers import lineage as lineage_answer
from graph_model.answers import overview as overview_answer
from graph_model.answers import search as search_answer
from graph_model.answers.datasets import history as dataset_history
from graph_model.answers.datasets import last_writer as dataset_writer
from graph_model.answers.datasets import pages as dataset_answers
from graph_model.answers.datasets.pages import DatasetItem
from graph_model.answers.plans import pages as plan_answers
from graph_model.answers.runs import pages as run_answers
from graph_model.cursors import read_cursor, write_cursor
from graph_model.errors import InvalidReference
from graph_model.facts import DatasetRow
from graph_model.filtering import Filter
from graph_model.lineage import Question
from graph_model.run_trees import RunTrees
from graph_model.store import Page
from graph_model.view import GraphView

blueprint = Blueprint("graph", __name__, url_prefix="/graph", description="The lineage graph")
_KEPT: Final = "datasets-kept"


def _graph(view: GraphView, rebuilding: bool, query: Mapping[str, Any]) -> dict[str, Any]:
    governance = current_service().governance
    reply = marked_graph(
        view, governance, rebuilding=rebuilding, layout=query["layout"], group=query["group"]
    )
    mark_declared(reply["edges"], view.declared)
    return reply


def _shown(kind: str, identifier: str) -> str:
    """An id of this kind; what is hidden is unknown to whoever is no admin."""
    return refuse_hidden(typed(kind, identifier), current_service())


def _named_job(query: Mapping[str, Any]) -> str | None:
    """The id of the job that a filter names."""
    if query["job"] is None:
        return None
    service = current_service()
    found = refuse_named_hidden(
        service.references.resolve(query["job"], query["at"]), query["job"], service
    )
    if identity.kind_of(found) != labels.JOB:
        raise InvalidReference(query["job"], "a job: its id or job:<namespace>/<name>")
    return found


def _filter(query: Mapping[str, Any]) -> Filter:
    service = current_service()
    keep = dataset_filter(
        query["layer"], query["classification"], service.governance, service.catalogue
    )
    return Filter(query["namespace"], _named_job(query), keep)


@blueprint.route("/overview")
@blueprint.arguments(OverviewQuery)
@blueprint.describes(OverviewReply)
def overview(query: Mapping[str, Any]) -> Response:
    """All jobs and tables."""
    rebuilding = is_rebuilding()
    service = current_service()
    governance = service.governance
    with current_sources().at_once() as sources:
        view = overview_answer.overview(
            sources,
            namespace=query["namespace"],
            job=_named_job(query),
            query=query["q"],
            limit=query["limit"],
            at=query["at"],
            layout=query["layout"],
            keep=dataset_filter(
                query["layer"], query["classification"], governance, service.catalogue
            ),
        )
        totals, failures = overview_answer.totals(sources, governance.hidden, query["at"])
    reply = _graph(view, rebuilding, query)
    return jsonify(reply | {"totals": to_json(totals), "failures": to_json(failures)})


@blueprint.route("/lineage")
@blueprint.arguments(LineageQuery)
@blueprint.describes(GraphReply)
def lineage(query: Mapping[str, Any]) -> Response:
    """The neighbourhood of a dataset, a job or a column."""
    sources = current_sources()
    rebuilding = is_rebuilding()
    with whole_or_later():
        node = refuse_named_hidden(
            sources.references.resolve(query["node"], query["at"]),
            query["node"],
            current_service(),
        )
        wanted = _filter(query)
    question = Question(
        node=node,
        direction=query["direction"],
        depth=query["depth"],
        at=query["at"],
        columns=query["columns"],
        indirect=query["indirect"],
        limit=query["limit"],
    )
    view = lineage_answer.lineage(
        sources,
        question,
        jobs=query["jobs"],
        layout=query["layout"],
        wanted=wanted,
        expired=deadline(),
        time_limit_ms=TIME_LIMIT_MS,
    )
    return jsonify(_graph(view, rebuilding, query))


@blueprint.route("/column-lineage")
@blueprint.arguments(ColumnLineageQuery)
@blueprint.describes(GraphReply)
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
    rebuilding = is_rebuilding()
    sources = current_sources()
    service = current_service()
    with whole_or_later():
        if service.governance.hidden:
            named = query["dataset"].removeprefix("dataset:")
            refuse_named_hidden(sources.references.dataset(named, query["at"]), named, service)
        view = column_answer.column_lineage(
            sources,
            query["dataset"],
            query["column"],
            question,
            ends=query["ends"],
            layout=query["layout"],
            expired=deadline(),
            time_limit_ms=TIME_LIMIT_MS,
        )
    return jsonify(_graph(view, rebuilding, query))


@blueprint.route("/jobs")
@blueprint.arguments(JobsQuery)
@blueprint.describes(ListReply)
def jobs(query: Mapping[str, Any]) -> Response:
    """Jobs, by namespace and name."""
    page = job_answers.jobs(
        current_sources(),
        query=query["q"],
        namespace=query["namespace"],
        limit=query["limit"],
        cursor=query["cursor"],
        at=query["at"],
    )
    return jsonify(marked_page(page, current_service().governance))


@blueprint.route("/jobs/<job_id>")
@blueprint.arguments(AtQuery)
@blueprint.describes(ItemReply)
def job(query: Mapping[str, Any], job_id: str) -> Response:
    """One job with its logical plans."""
    governance = current_service().governance
    key = _shown(labels.JOB, job_id)
    page = without_hidden_references(
        to_json(job_answers.job(current_sources(), key, query["at"])), governance
    )
    return jsonify(without_hidden_jobs(page, current_service()))


@blueprint.route("/jobs/<job_id>/runs")
@blueprint.arguments(HistoryQuery)
@blueprint.describes(ListReply)
def runs(query: Mapping[str, Any], job_id: str) -> Response:
    """The runs of a job, newest first."""
    service = current_service()
    key = _shown(labels.JOB, job_id)
    page = run_answers.runs(
        current_sources(), key, limit=query["limit"], cursor=query["cursor"], at=query["at"]
    )
    trees = RunTrees(service.catalogue, service.journal)
    at = query["at"] if query["at"] is not None else service.clock()
    going = () if query["cursor"] else trees.open_runs(key, at)
    return jsonify(runs_reply(page, trees.states([run.id for run in page.items], at), going))


@blueprint.route("/jobs/<job_id>/runs/<run_id>")
@blueprint.arguments(NoQuery)
@blueprint.describes(ItemReply)
def run(query: Mapping[str, Any], job_id: str, run_id: str) -> Response:
    """One run with its executions."""
    del query
    return jsonify(
        to_json(
            run_answers.run(
                current_sources(), _shown(labels.JOB, job_id), typed(labels.RUN, run_id)
            )
        )
    )


@blueprint.route("/datasets")
@blueprint.arguments(DatasetsQuery)
@blueprint.describes(ListReply)
def datasets(query: Mapping[str, Any]) -> Response:
    """Datasets, by name."""
    service = current_service()
    keep = dataset_filter(
        query["layer"], query["classification"], service.governance, service.catalogue
    )
    if keep is not None:
        return jsonify(marked_page(_kept_datasets(query, keep), service.governance))
    page = dataset_answers.datasets(
        current_sources(),
        query=query["q"],
        limit=query["limit"],
        cursor=query["cursor"],
        at=query["at"],
    )
    return jsonify(marked_page(page, service.governance))


def _kept_datasets(
    query: Mapping[str, Any], keep: Callable[[DatasetRow], bool]
) -> Page[DatasetItem]:
    start = int(read_cursor(query["cursor"], _KEPT, int)[0]) if query["cursor"] else 0
    catalogue = current_service().catalogue
    rows, total = filter_datasets(keep, query["q"], start, query["limit"], catalogue, query["at"])
    end = start + len(rows)
    following = write_cursor(_KEPT, end) if rows and end < total else None
    return Page(
        dataset_answers.dataset_items(current_sources(), rows, query["at"]), total, following
    )


@blueprint.route("/datasets/<dataset_id>")
@blueprint.arguments(AtQuery)
@blueprint.describes(ItemReply)
def dataset(query: Mapping[str, Any], dataset_id: str) -> Response:
    """One dataset: its schema, who writes and reads it."""
    governance = current_service().governance
    key = _shown(labels.DATASET, dataset_id)
    page = marked_dataset(
        to_json(dataset_answers.dataset(current_sources(), key, query["at"])), governance
    )
    return jsonify(without_hidden_jobs(page, current_service()))


@blueprint.route("/datasets/<dataset_id>/history")
@blueprint.arguments(HistoryQuery)
@blueprint.describes(ListReply)
def history(query: Mapping[str, Any], dataset_id: str) -> Response:
    """The executions that wrote a dataset, newest first."""
    page = dataset_history.history(
        current_sources(),
        _shown(labels.DATASET, dataset_id),
        limit=query["limit"],
        cursor=query["cursor"],
        at=query["at"],
    )
    return jsonify(page_reply(page))


@blueprint.route("/datasets/<dataset_id>/last-writer")
@blueprint.arguments(LastWriterQuery)
@blueprint.describes(LastWriterReply)
def last_writer(query: Mapping[str, Any], dataset_id: str) -> Response:
    """Who wrote a dataset, or one partition of it, last."""
    found = dataset_writer.last_writer(
        current_sources(),
        _shown(labels.DATASET, dataset_id),
        partition=query["partition"],
        at=query["at"],
    )
    return jsonify(to_json(found))


@blueprint.route("/plans/<plan_id>")
@blueprint.arguments(PlanQuery)
@blueprint.describes(PlanReply)
def plan(query: Mapping[str, Any], plan_id: str) -> Response:
    """The fine view of one plan: operations, schemas, expressions."""
    rebuilding = is_rebuilding()
    with whole_or_later():
        page = plan_answers.plan(
            current_sources(),
            plan_id,
            at=query["at"],
            document=query["document"],
            layout=query["layout"],
        )
    return jsonify(plan_reply(page, rebuilding))


@blueprint.route("/search")
@blueprint.arguments(SearchQuery)
@blueprint.describes(ListReply)
def search(query: Mapping[str, Any]) -> Response:
    """Datasets, jobs and columns by name."""
    service = current_service()
    page = search_answer.search(
        current_sources(), query["q"], kinds=query["kind"], limit=query["limit"]
    )
    return jsonify(marked_page(without_hidden_columns(page, service), service.governance))
