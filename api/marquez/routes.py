"""Marquez's reads, for clients that were written against it.

Names in paths are percent-encoded, slashes as ``%2F`` (``http.blueprint``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date
from html import escape
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import Response, jsonify, request
from marshmallow.fields import Field

from api.http.blueprint import Blueprint, TolerantParser, decode_names
from api.marquez import entities, graphs, runs
from api.marquez.graphs import DATASET, JOB
from api.schemas import fields
from api.service.parts import answer_errors, current_sources, lacking
from graph_model import labels
from graph_model.answers import classifications, dataset_writes, openlineage
from graph_model.answers import counts as count_answers
from graph_model.answers import openlineage_nodes as nodes
from graph_model.answers import runs as run_answers
from graph_model.answers.nodes import dataset_row, execution_views, job_row
from graph_model.answers.openlineage import Name, find_dataset, find_job
from graph_model.answers.openlineage_nodes import NamedJob, NamedMatch, NamedRun
from graph_model.answers.search import search_names
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import DatasetRow
from graph_model.lineage import Partial
from graph_model.picture.json_form import to_json
from graph_model.stores.graph import Direction
from graph_model.stores.pages import JobOrder, Page, read_part
from graph_model.values import parse_instant

Item = TypeVar("Item")
Json = dict[str, Any]
PREFIX: Final = "/api/v1"
_MOST_ROWS: Final = 1_000
_MOST_OFFSET: Final = 10_000
_MOST_WITH_RUNS: Final = 25
"""Jobs of a list with their newest runs, datasets with the origins of their columns, as many as
Marquez's page shows; jobs behind with one.
"""
_STATES: Final = {"NEW": "new", **{state.upper(): state for state in labels.SHOWN_STATES}}

blueprint = Blueprint(
    "marquez", __name__, url_prefix=PREFIX, description="The reads of Marquez's API"
)


def spelled(body: Mapping[str, Any]) -> Json:
    """Our error in Marquez's words: a number or a text that is wrong is one of ``errors`` there.

    no job 'job:etl/load' is known  =>  Job 'load' not found.
    """
    message = body["message"]
    if body["code"] == HTTPStatus.BAD_REQUEST and request.method == "GET":
        lacking = [name for name in body["errors"] if not request.args.get(name)]
        listed = [f"query param {name} must be {what[0]}" for name, what in body["errors"].items()]
        if lacking:
            return {"errors": [f"query param {name} must not be null" for name in lacking]}
        if any(f"must be {kind}" in text for kind in ("an integer", "a text") for text in listed):
            return {"errors": listed}
        message = "; ".join(listed) or message
    kind, quoted, rest = message.removeprefix("no ").partition(" '")
    if message.startswith("no ") and quoted and rest.endswith("' is known"):
        name = rest.removesuffix("' is known")
        named = unquote(name.partition("/")[2]) if name.startswith(f"{JOB}:") else name
        message = f"{kind.capitalize()} '{named}' not found."
    return {"code": body["code"], "message": message}


advanced_search = Blueprint(
    "marquez_search",
    __name__,
    url_prefix="/api/v2beta/search",
    description="The search of Marquez's page where it is built with REACT_APP_ADVANCED_SEARCH",
)
answer_errors(blueprint, spelled)
answer_errors(advanced_search, spelled)
decode_names(blueprint)


class _PageQuery(fields.Query):
    limit = fields.IntegerField(0, _MOST_ROWS, load_default=100)
    offset = fields.IntegerField(0, _MOST_OFFSET, load_default=0)


class _States(fields.Choices):
    """Some of some words, in any case: a parameter that may come several times."""

    def read(self, value: Any) -> tuple[str, ...]:
        return super().read(str(value).upper())


class _Parser(TolerantParser):
    def value_of(self, field: Field[Any], values: list[str]) -> Any:
        return ",".join(values) if isinstance(field, _States) else super().value_of(field, values)


blueprint.ARGUMENTS_PARSER = advanced_search.ARGUMENTS_PARSER = _Parser()


class _Day(fields.Checked):
    """A day as epoch milliseconds of its beginning in UTC."""

    expected = "a day as YYYY-MM-DD"

    def read(self, value: Any) -> int:
        return parse_instant(f"{date.fromisoformat(super().read(value)):%Y-%m-%d}T00:00:00Z")


class _JobsQuery(_PageQuery):
    lastRunStates = _States(tuple(_STATES), load_default=())  # noqa: N815 - as on the wire


class _NodeQuery(fields.Query):
    nodeId = fields.TextField(most=20_000, required=True)  # noqa: N815 - as on the wire
    depth = fields.IntegerField(0, graphs.MOST_JOBS, load_default=20)


class _LineageQuery(_NodeQuery):
    direction = fields.Choice(Direction, load_default=Direction.BOTH)


class _ColumnLineageQuery(_NodeQuery):
    withDownstream = fields.Switch(load_default=False)  # noqa: N815 - as on the wire


class _WordsQuery(fields.Query):
    q = fields.TextField(required=True)


class _SearchQuery(_WordsQuery):
    filter = fields.CaselessChoice((DATASET.upper(), JOB.upper()), load_default=None)
    sort = fields.CaselessChoice(("NAME", "UPDATE_AT"), load_default=None)
    namespace = fields.OptionalTextField(load_default="")
    after = _Day(load_default=None)
    before = _Day(load_default=None)
    limit = fields.IntegerField(0, _MOST_ROWS, load_default=10)


class _EventsQuery(_PageQuery):
    after = fields.Instant()
    before = fields.Instant()
    sortDirection = fields.CaselessChoice(("ASC", "DESC"), load_default="DESC")  # noqa: N815 - as on the wire


class _FacetsQuery(fields.Query):
    type = fields.CaselessChoice(("RUN", "JOB"), required=True)


class _Zone(fields.Checked):
    """The name of a time zone."""

    expected = "the name of a time zone, as Europe/Vienna"

    def read(self, value: Any) -> ZoneInfo:
        try:
            return ZoneInfo(super().read(value))
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(value) from error


class _StatisticsQuery(fields.Query):
    period = fields.CaselessChoice(("DAY", "WEEK"), load_default="DAY")
    timezone = _Zone(load_default=None)


# --- graphs --------------------------------------------------------------------------------------


@blueprint.answer("/lineage", "graph: tables and jobs", _LineageQuery)
def lineage(query: Mapping[str, Any]) -> Response:
    """The tables and jobs around one; ``direction`` upstream or downstream is ours."""
    lack = lacking()
    asked = query["nodeId"], query["depth"], query["direction"]
    return jsonify(graphs.tables(current_sources(), *asked, lack))


@blueprint.answer("/column-lineage", "graph: columns", _ColumnLineageQuery)
def column_lineage(query: Mapping[str, Any]) -> Response:
    """The columns that others are made of; with ``withDownstream`` also those made of them."""
    lack = lacking()
    direction = Direction.BOTH if query["withDownstream"] else Direction.UPSTREAM
    asked = query["nodeId"], query["depth"], direction
    return jsonify(graphs.columns(current_sources(), *asked, lack))


# --- namespaces, sources, tags -------------------------------------------------------------------


@blueprint.answer("/namespaces", "namespaces", _PageQuery)
def namespaces(query: Mapping[str, Any]) -> Response:
    """The namespaces of all jobs and datasets, by name."""
    known, partial = openlineage.namespaces_known(current_sources())
    names = _part(sorted({_DEFAULT, *known}), query)
    return jsonify(namespaces=[*map(_namespace, names)], partial=to_json(partial))


@blueprint.answer("/namespaces/<namespace>", "A namespace")
def namespace_named(namespace: str) -> Response:
    """One namespace."""
    _datasets_of(current_sources(), namespace)
    return jsonify(_namespace(namespace))


@blueprint.answer("/sources", "sources", _PageQuery)
def all_sources(query: Mapping[str, Any]) -> Response:
    """The places of datasets: their namespaces."""
    rows = openlineage.named_datasets(current_sources())
    names = _part(sorted({name.namespace for _, name in rows}), query)
    return jsonify(sources=[*map(_source, names)], partial=to_json(rows.partial))


@blueprint.answer("/sources/<source>", "A source")
def source_named(source: str) -> Response:
    """One place of datasets."""
    if not openlineage.datasets_of(current_sources(), source)[0]:
        raise NotFound("source", source)
    return jsonify(_source(source))


@blueprint.answer("/tags", "tags", _PageQuery)
def tags(query: Mapping[str, Any]) -> Response:
    """The classifications in use."""
    used = _part(classifications.tags(current_sources()), query)
    return jsonify(tags=[{"name": use.tag, "description": None} for use in used])


#: Nothing says when a namespace was; Marquez's Java client takes no null.
_NO_TIME: Final = dict.fromkeys(("createdAt", "updatedAt"), runs.moment(0))
_DEFAULT: Final = "default"
"""A namespace that Marquez has from its first start, without a job or a dataset too."""


def _namespace(name: str) -> Json:
    about = "The namespace of jobs that name none" if name == _DEFAULT else None
    owner = {"ownerName": "anonymous", "description": about}
    return {"name": name, **_NO_TIME, **owner, "isHidden": False}


def _datasets_of(sources: Sources, name: str) -> tuple[list[DatasetRow], Partial | None]:
    """Raises NotFound where neither a dataset nor a job has this namespace."""
    rows, partial = openlineage.datasets_of(sources, name)
    if not rows and not partial and name != _DEFAULT:
        listed = sources.catalogue.list_jobs(
            hidden=sources.hidden, namespace=name, limit=1, now=sources.now
        )
        if not listed.total:
            raise NotFound("namespace", name)
    return rows, partial


def _source(name: str) -> Json:
    kind = name.partition(":")[0].upper()
    return {"type": kind, "name": name, "connectionUrl": name, **_NO_TIME, "description": None}


# --- datasets ------------------------------------------------------------------------------------


@blueprint.answer("/namespaces/<namespace>/datasets", "datasets and totalCount", _PageQuery)
def datasets(query: Mapping[str, Any], namespace: str) -> Response:
    """The datasets of a namespace, by name."""
    sources = current_sources()
    rows, partial = _datasets_of(sources, namespace)
    part = _part(rows, query)
    shown = [*map(entities.dataset_json, nodes.named_datasets(sources, part, None))]
    columns, cut = graphs.column_lineages(sources, part[:_MOST_WITH_RUNS])
    for row, reply in zip(part, shown, strict=True):
        reply["columnLineage"] = columns.get(row.id) or None
    partial = partial or cut
    return jsonify(datasets=shown, totalCount=len(rows), partial=to_json(partial))


@blueprint.answer("/namespaces/<namespace>/datasets/<dataset>", "A dataset")
def dataset(namespace: str, dataset: str) -> Response:
    """One dataset with its facets and the origins of its columns."""
    lack = lacking()
    sources, row = find_row(namespace, dataset)
    reply = described(sources, row)
    columns, cut = graphs.column_lineages(sources, (row,))
    reply["columnLineage"] = columns[row.id] or None
    reply["partial"] = reply["partial"] or to_json(cut or lack)
    return jsonify(reply)


@blueprint.answer(
    "/namespaces/<namespace>/datasets/<dataset>/versions", "versions and totalCount", _PageQuery
)
def versions(query: Mapping[str, Any], namespace: str, dataset: str) -> Response:
    """The writes of a dataset, newest first."""
    sources, row = find_row(namespace, dataset)
    written = functools.partial(dataset_writes.history, sources, row.id, at=None, of_hidden=False)
    writes, page = read_part(written, query["offset"], query["limit"], _MOST_ROWS)
    known = nodes.dataset_versions(sources, row, writes)
    if not page.total:
        known = _part([nodes.unwritten_version(sources, row)], query)
    shown = [*map(entities.dataset_version_json, known)]
    total, cut = page.total or 1, to_json(page.partial)
    return jsonify(versions=shown, totalCount=total, partial=cut)


@blueprint.answer("/namespaces/<namespace>/datasets/<dataset>/versions/<version>", "A version")
def version(namespace: str, dataset: str, version: str) -> Response:
    """One write of a dataset, with the facets of its time."""
    sources, row = find_row(namespace, dataset)
    if version == runs.version_of(row.id):
        known = nodes.unwritten_version(sources, row)
    else:
        rows = sources.catalogue.executions_of((runs.key_of(labels.EXECUTION, version),))
        if not rows or rows[0].target != row.id or rows[0].job in sources.hidden:
            raise NotFound("dataset version", version)
        (known,) = nodes.dataset_versions(sources, row, execution_views(sources, rows))
    return jsonify(entities.dataset_version_json(known))


def find_row(namespace: str, dataset: str) -> tuple[Sources, DatasetRow]:
    """The sources for a question about a dataset, and its row. Raises NotFound."""
    sources, key = find_dataset(current_sources(), Name(namespace, dataset))
    return sources, dataset_row(sources, key)


def described(sources: Sources, row: DatasetRow) -> Json:
    """One dataset as it is now."""
    (known,) = nodes.named_datasets(sources, (row,), None)
    return entities.dataset_json(known)


# --- jobs and runs -------------------------------------------------------------------------------


@blueprint.route("/jobs", endpoint="every_job")
@blueprint.answer("/namespaces/<namespace>/jobs", "jobs and totalCount", _JobsQuery)
def jobs(query: Mapping[str, Any], namespace: str | None = None) -> Response:
    """The jobs of a namespace, or all, the last that ran first."""
    lack = lacking()
    sources = current_sources()
    listed = functools.partial(
        sources.catalogue.list_jobs,
        hidden=sources.hidden,
        namespace=namespace,
        states={_STATES[word] for word in query["lastRunStates"]},
        now=sources.now,
        order=JobOrder.LAST_RUN_FALLING,
    )
    summaries, page = read_part(listed, query["offset"], query["limit"], _MOST_ROWS)
    rows = [summary.job for summary in summaries]
    shown = [*map(entities.job_json, nodes.named_jobs(sources, rows, None, _MOST_WITH_RUNS))]
    return jsonify(jobs=shown, totalCount=page.total, partial=to_json(lack))


@blueprint.answer("/namespaces/<namespace>/jobs/<job>", "A job")
def job(namespace: str, job: str) -> Response:
    """One job with its facets and its newest runs."""
    lack = lacking()
    sources, key = find_job(current_sources(), Name(namespace, job))
    (known,) = nodes.named_jobs(sources, sources.catalogue.jobs((key,)), None, 1)
    reply = entities.job_json(known)
    reply["partial"] = reply["partial"] or to_json(lack)
    return jsonify(reply)


@blueprint.answer(
    "/namespaces/<namespace>/jobs/<job>/versions", "versions and totalCount", _PageQuery
)
def job_versions(query: Mapping[str, Any], namespace: str, job: str) -> Response:
    """The plans of a job, the last that ran first: its newest 200."""
    versions = _job_versions(Name(namespace, job))
    return jsonify(versions=_part(versions, query))


@blueprint.answer("/namespaces/<namespace>/jobs/<job>/versions/<version>", "A version")
def job_version(namespace: str, job: str, version: str) -> Response:
    """One plan of a job."""
    for reply in _job_versions(Name(namespace, job)):
        if reply["version"] == runs.version_of(version):
            return jsonify(reply)
    raise NotFound("job version", version)


def _job_versions(name: Name) -> list[Json]:
    sources, key = find_job(current_sources(), name)
    return [*map(entities.job_version_json, nodes.named_plans(sources, job_row(sources, key)))]


@blueprint.answer(
    "/namespaces/<namespace>/jobs/<job>/runs", "runs and totalCount", _PageQuery, endpoint="runs"
)
def runs_of(query: Mapping[str, Any], namespace: str, job: str) -> Response:
    """The runs of a job: those that have not ended, then the others, newest first."""
    sources, key = find_job(current_sources(), Name(namespace, job))
    opened = [brief.run for brief in run_answers.RunTrees(sources).open_runs(key, sources.now)]
    more = len(set(opened) - sources.catalogue.last_of_runs(opened).keys())

    def listed(*, limit: int, cursor: str | None) -> Page[str]:
        page = sources.catalogue.list_runs(key, limit=limit, cursor=cursor)
        ended = [summary.run for summary in page.items if summary.run not in opened]
        first = () if cursor else opened
        return Page((*first, *ended), page.total + more, page.next)

    part, page = read_part(listed, query["offset"], query["limit"], _MOST_ROWS)
    known = nodes.named_runs(sources, {key: part})
    shown = [runs.run_json(known[run]) for run in part if run in known]
    return jsonify(runs=shown, totalCount=page.total)


@blueprint.answer("/jobs/runs/<run>", "A run")
def run(run: str) -> Response:
    """One run, by the client's id or by ours."""
    return jsonify(runs.run_json(_run(run)))


@blueprint.answer("/jobs/runs/<run>/facets", "facets", _FacetsQuery)
def run_facets(query: Mapping[str, Any], run: str) -> Response:
    """The facets of a run, or with ``type=job`` those that it sent of its job."""
    named = _run(run)
    facets = named.sent.job if query["type"] == "JOB" else named.sent.run
    return jsonify(runId=runs.run_json(named)["id"], facets=facets)


def _run(run: str) -> NamedRun:
    for spelling in (run, runs.key_of(labels.RUN, run)):
        with suppress(NotFound):
            return nodes.named_run(current_sources(), spelling)
    raise NotFound("run", run)


# --- events --------------------------------------------------------------------------------------


@blueprint.route("/events", endpoint="every_event")
@blueprint.route("/events/lineage", endpoint="lineage_events")
@blueprint.answer("/events/<path:namespace>", "events and totalCount", _EventsQuery)
def events(query: Mapping[str, Any], namespace: str | None = None) -> Response:
    """Events of runs by their time, of those received last (``asc``: first): of 500 more than the
    page needs, at most 5,000; without those that name something hidden. Of the jobs of a namespace
    alone, as Marquez's Python client asks: it leaves the slashes of this one as they are.
    """
    falling, end = query["sortDirection"] == "DESC", query["offset"] + query["limit"]
    window = openlineage.EventWindow(query["after"], query["before"], namespace)
    events, partial = openlineage.events_by_time(current_sources(), window, end, falling=falling)
    shown = _part(events, query)
    return jsonify(events=shown, totalCount=len(events), partial=to_json(partial))


# --- search --------------------------------------------------------------------------------------


@blueprint.answer("/search", "results and totalCount", _SearchQuery)
def search(query: Mapping[str, Any]) -> Response:
    """Datasets, then jobs by name, or by ``sort``: among the first 1,000 that our search finds."""
    sources = current_sources()
    kinds = [kind for kind in (DATASET, JOB) if query["filter"] in (None, kind.upper())]
    page = search_names(sources, query["q"], kinds=kinds, limit=_MOST_ROWS)
    matches = nodes.named_matches(sources, [match.id for match in page.items])
    items = [match for match in matches if _fits(match, query)]
    items.sort(key=_ORDERS[query["sort"]])
    cut = Partial("nodes", _MOST_ROWS) if page.total > _MOST_ROWS else None
    results = [
        {
            "type": kind.upper(),
            "name": name.name,
            "updatedAt": runs.moment(at),
            "namespace": name.namespace,
            "nodeId": name.node(kind),
        }
        for kind, name, at in items[: query["limit"]]
    ]
    return jsonify(totalCount=len(items), results=results, partial=to_json(cut))


_ORDERS: Final[dict[str | None, Callable[[NamedMatch], Any]]] = {
    None: lambda hit: (hit.kind, hit.name.name, hit.name.namespace),
    "NAME": lambda hit: (hit.name.name, hit.kind, hit.name.namespace),
    "UPDATE_AT": lambda hit: -(hit.at or 0),
}


@advanced_search.answer("/<any(jobs, datasets):searched>", "hits and highlights", _WordsQuery)
def search_whole(query: Mapping[str, Any], searched: str) -> Response:
    """The first ten datasets or jobs that our search finds, each with its facets, as Marquez keeps
    them in OpenSearch; what in its name matches stands between ``<em>`` and ``</em>``.
    """
    sources = current_sources()
    kind = searched.removesuffix("s")
    page = search_names(sources, query["q"], kinds=(kind,), limit=10)
    ids = [match.id for match in page.items]
    if kind == JOB:
        jobs = sorted(sources.catalogue.jobs(ids), key=lambda row: ids.index(row.id))
        hits = [_job_hit(job) for job in nodes.named_jobs(sources, jobs, None)]
    else:
        rows = sorted(sources.catalogue.datasets(ids), key=lambda row: ids.index(row.id))
        hits = [*map(entities.dataset_json, nodes.named_datasets(sources, rows, None))]
    kept = ("namespace", "name", "type", "facets", "run_id", "eventType", "runFacets")
    shown = [{key: hit[key] for key in kept if key in hit} for hit in hits]
    marked = [{"name": [_marked(hit["name"], query["q"])]} for hit in shown]
    return jsonify(hits=shown, highlights=marked)


_EVENT_TYPES: Final = {"COMPLETED": "COMPLETE", "FAILED": "FAIL", "ABORTED": "ABORT"}


def _job_hit(job: NamedJob) -> Json:
    """A job with its last run; one without a run has the type of no event."""
    reply = entities.job_json(job)
    run = reply["latestRun"] or {"id": None, "state": None, "facets": {}}
    event = _EVENT_TYPES.get(run["state"], run["state"])
    return {**reply, "run_id": run["id"], "eventType": event, "runFacets": run["facets"]}


def _marked(name: str, text: str) -> str:
    """Orders<1>, or  =>  <em>Or</em>ders&lt;1&gt;: the page takes it as HTML."""
    lower = name.lower()
    start = lower.find(text.lower()) if len(lower) == len(name) else -1  # a few letters become two
    if start < 0:
        return escape(name)
    end = start + len(text.lower())
    before, matched, behind = name[:start], name[start:end], name[end:]
    return f"{escape(before)}<em>{escape(matched)}</em>{escape(behind)}"


def _fits(hit: NamedMatch, query: Mapping[str, Any]) -> bool:
    """Whether its name holds the text, in its namespace, and it was changed between the days."""
    after, before = query["after"], query["before"]
    return (
        query["q"].casefold() in hit.name.name.casefold()
        and query["namespace"] in ("", hit.name.namespace)
        and (after is None or (hit.at is not None and hit.at >= after))
        and (before is None or (hit.at is not None and hit.at < before))
    )


# --- counts over time ----------------------------------------------------------------------------


@blueprint.answer(
    "/stats/<any('lineage-events', jobs, datasets, sources):counted>",
    "an interval each hour or day, oldest first",
    _StatisticsQuery,
)
def counts(query: Mapping[str, Any], counted: str) -> Response:
    """Runs by state in each hour of a day or day of a week; jobs, datasets and sources known at its
    end.
    """
    sources, zone = current_sources(), query["timezone"] or UTC
    last_days, last_hours = count_answers.last_days, count_answers.last_hours
    spans = last_days(sources.now, zone) if query["period"] == "WEEK" else last_hours(sources.now)
    known = _COUNTED[counted](sources, spans)
    return jsonify([{**_interval(span), **numbers} for span, numbers in known])


def _interval(span: count_answers.CountedInterval) -> Json:
    return {"startInterval": runs.moment(span.begin), "endInterval": runs.moment(span.end)}


_COUNTED: Final = {
    "lineage-events": count_answers.events,
    "jobs": count_answers.jobs,
    "datasets": count_answers.datasets,
    "sources": count_answers.namespaces,
}


# --- pages by offset -----------------------------------------------------------------------------


def _part(rows: Sequence[Item], query: Mapping[str, Any]) -> list[Item]:
    return list(rows[query["offset"] : query["offset"] + query["limit"]])
