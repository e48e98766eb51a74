"""Datasets with versions, jobs and runs in Marquez's spelling: absent values are null.

A dataset's version is the execution that wrote it: one id for it everywhere. A node was created
when a run named it first; nothing says when a namespace was. ``partial`` of a dataset or a job,
ours, says that a list within it was cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from graph_model import identity, labels
from graph_model.answers.facets import FacetView
from graph_model.answers.jobs import PlanItem, job_ends, sources_of_plans
from graph_model.answers.nodes import ExecutionView, times_seen
from graph_model.answers.openlineage import Name, name_of
from graph_model.answers.runs import RunBrief, RunPage, RunTrees, RunView
from graph_model.answers.sources import Sources
from graph_model.facts import DatasetRow, ExecutionRow, JobRow
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.naming.columns import read_spellings
from graph_model.picture.json_form import to_json
from graph_model.values import iso, parse_instant

Json = dict[str, Any]
_STATES = {
    labels.COMPLETED: "COMPLETED",
    labels.FAILED: "FAILED",
    labels.RUNNING: "RUNNING",
    labels.ABORTED: "ABORTED",
}
_NANOSECONDS = 1_000_000
MOST_FIELDS: Final = 50_000
"""Fields of all datasets of an answer; the datasets behind them are listed without theirs."""
MOST_DESCRIBED: Final = 100
"""Versions of an answer with their fields: each is a question about its time."""
MOST_ENDS: Final = 1_000
"""Inputs, and outputs, of one job that are listed."""


def identified(name: Name) -> Json:
    return {"namespace": name.namespace, "name": name.name}


# --- datasets ------------------------------------------------------------------------------------


def datasets_json(sources: Sources, rows: Sequence[DatasetRow], at: int | None) -> list[Json]:
    """Datasets without their facets, in this order."""
    ids = [row.id for row in rows]
    schemas = sources.catalogue.newest_schemas(ids, at)
    written = History(sources.catalogue).writes.last(ids, at)
    seen = times_seen(sources, ids, at)
    writers = sources.catalogue.last_writers(ids, at)
    tags = sources.governance.tags
    items = []
    room = MOST_FIELDS
    for row in rows:
        schema = schemas.get(row.id)
        fields = _fields(row.id, schema.columns, tags) if schema else []
        cut = len(fields) > room
        fields = [] if cut else fields
        room -= len(fields)
        writer = writers.get(row.id)
        first, last = seen.get(row.id, (written.get(row.id),) * 2)
        items.append(
            {
                **_described(name_of(row.uri, row.scope), row.uri),
                "createdAt": iso(first),
                "updatedAt": iso(last if last is None else max(last, written.get(row.id, last))),
                "fields": fields,
                "tags": list(tags.get(row.id, ())),
                "lastModifiedAt": iso(written.get(row.id)),
                "lastLifecycleState": None,
                "description": None,
                "currentVersion": writer.id if writer else None,
                "columnLineage": None,
                "facets": {},
                "deleted": False,
                "partial": to_json(Partial("columns", MOST_FIELDS) if cut else None),
            }
        )
    return items


def _described(name: Name, uri: str) -> Json:
    return {
        "id": identified(name),
        "type": "DB_TABLE",
        "name": name.name,
        "physicalName": uri,
        "namespace": name.namespace,
        "sourceName": name.namespace,
    }


def _fields(dataset: str, columns: str, tags: Mapping[str, tuple[str, ...]]) -> list[Json]:
    spellings = sorted(read_spellings(columns).items(), key=lambda pair: pair[1].position)
    return [
        {
            "name": spelling.name,
            "type": spelling.type,
            "tags": list(tags.get(identity.column_id(dataset, path), ())),
            "description": None,
        }
        for path, spelling in spellings
    ]


def versions_json(
    sources: Sources, row: DatasetRow, writes: Sequence[ExecutionView], now: int
) -> list[Json]:
    """Writes of the dataset as versions of it, the first ``MOST_DESCRIBED`` with their fields.
    ``createdByRun`` is null where the job is hidden.
    """
    briefs = RunTrees(sources).states({write.run for write in writes if write.job}, now)
    tags = sources.governance.tags
    items = []
    for place, write in enumerate(writes):
        brief = briefs.get(write.run)
        run = run_json(brief.run_id if brief else write.run, write.state, None, write.at)
        schema = None
        if place < MOST_DESCRIBED:
            at = parse_instant(write.counted_at or write.at)
            schema = sources.catalogue.newest_schemas((row.id,), at).get(row.id)
        items.append(
            {
                **_described(name_of(row.uri, row.scope), row.uri),
                "createdAt": write.at,
                "version": write.id,
                "fields": _fields(row.id, schema.columns, tags) if schema else [],
                "tags": list(tags.get(row.id, ())),
                "lifecycleState": None,
                "description": None,
                "currentSchemaVersion": schema.id if schema else None,
                "createdByRun": {**run, "durationMs": write.duration_ms} if write.job else None,
                "facets": {},
            }
        )
    return items


def facets_json(facets: Iterable[FacetView]) -> Json:
    return {
        facet.name: facet.body for facet in facets if not facet.deleted and facet.body is not None
    }


def text_in(facets: Mapping[str, Any], name: str, key: str) -> str | None:
    """A text of a facet."""
    body = facets.get(name)
    text = body.get(key) if isinstance(body, dict) else None
    return text if isinstance(text, str) else None


# --- jobs ----------------------------------------------------------------------------------------


def jobs_json(sources: Sources, rows: Sequence[JobRow], at: int | None) -> list[Json]:
    """Jobs with their newest run, without facets, in this order."""
    ids = [row.id for row in rows]
    ends = job_ends(sources, ids)
    known = {key for end in ends.values() for key in end.read | end.written}
    names = {row.id: name_of(row.uri, row.scope) for row in sources.catalogue.datasets(known)}
    newest = sources.catalogue.last_executions(ids, at)
    briefs = _briefs(sources, newest.values())
    seen = times_seen(sources, ids, at)
    items = []
    for row in rows:
        last = newest.get(row.id)
        run = None
        if last is not None:
            version = _versioned(Name(row.namespace, row.name), last.logical_plan)
            run = {**_newest_run(last, briefs.get(last.run)), "jobVersion": version}
        end = ends[row.id]
        inputs, outputs = (_listed(side, names) for side in (end.read, end.written))
        most = max(len(inputs), len(outputs))
        cut = Partial("nodes", MOST_ENDS) if most > MOST_ENDS else end.partial
        items.append(
            {
                "id": identified(Name(row.namespace, row.name)),
                "type": "BATCH",
                "name": row.name,
                "simpleName": row.name,
                "parentJobName": None,
                "parentJobUuid": None,
                "createdAt": iso(seen[row.id][0]) if row.id in seen else None,
                "updatedAt": iso(last.at) if last else None,
                "namespace": row.namespace,
                "inputs": inputs[:MOST_ENDS],
                "outputs": outputs[:MOST_ENDS],
                "location": None,
                "description": None,
                "latestRun": run,
                "latestRuns": [run] if run else [],
                "facets": {},
                "currentVersion": run["jobVersion"]["version"] if run else None,
                "labels": [],
                "tags": [],
                "partial": to_json(cut),
            }
        )
    return items


def job_versions_json(sources: Sources, row: JobRow, plans: Sequence[PlanItem]) -> list[Json]:
    """The plans of a job as versions of it."""
    ids = {
        dataset.id for plan in plans for dataset in (*plan.sources, *filter(None, [plan.target]))
    }
    names = {
        stored.id: name_of(stored.uri, stored.scope) for stored in sources.catalogue.datasets(ids)
    }
    last = sources.catalogue.last_of_plans([plan.id for plan in plans], None)
    briefs = _briefs(sources, last.values())
    first = {span.logical_plan: span.first for span in sources.catalogue.plan_spans(last, None)}
    items = []
    for plan in plans:
        run = last.get(plan.id)
        items.append(
            {
                "id": _versioned(Name(row.namespace, row.name), plan.id),
                "name": row.name,
                "createdAt": iso(first.get(plan.id)),
                "version": plan.id,
                "namespace": row.namespace,
                "location": None,
                "inputs": _listed([dataset.id for dataset in plan.sources], names),
                "outputs": _listed([plan.target.id] if plan.target else [], names),
                "latestRun": None if run is None else _newest_run(run, briefs.get(run.run)),
            }
        )
    return items


def _listed(ids: Collection[str], names: Mapping[str, Name]) -> list[Json]:
    return [identified(name) for name in sorted(names[key] for key in ids if key in names)]


# --- runs ----------------------------------------------------------------------------------------


def runs_json(listed: RunPage) -> list[Json]:
    """The runs of a page, those that have not ended first."""
    ended = [_run_of(view, listed.reported.get(view.id)) for view in listed.page.items]
    return [*map(brief_json, listed.open_runs), *ended]


def _run_of(view: RunView, brief: RunBrief | None) -> Json:
    """A run under the client's own id where it reported one."""
    started = view.started_at or (brief.started_at if brief else None)
    return run_json(brief.run_id if brief else view.id, view.state, started, view.ended_at)


def brief_json(brief: RunBrief) -> Json:
    reply = run_json(brief.run_id, brief.state, brief.started_at, brief.ended_at)
    return {**reply, "updatedAt": brief.last_event_at or reply["updatedAt"]}


def ended_json(view: RunView) -> Json:
    return run_json(view.id, view.state, view.started_at, view.ended_at)


def versions_of_run(sources: Sources, view: RunView | None) -> Json:
    """The plan of a run, the versions that it wrote, and of what it reads the newest until its end:
    of its newest 1,000 executions.
    """
    rows = [execution for execution in (view.items if view and view.items else ()) if execution.job]
    if not rows or rows[0].job is None:
        return {}
    read = sources_of_plans(sources, {execution.plan for execution in rows}).values()
    seen = sources.catalogue.last_writers(
        {key for keys in read for key in keys} - sources.hidden,
        max(parse_instant(execution.counted_at or execution.at) for execution in rows),
    )
    versions = {row.id: key for key, row in seen.items()}
    written = {
        execution.id: execution.target.id
        for execution in rows
        if execution.target and execution.state == labels.COMPLETED
    }
    listed = sources.catalogue.datasets({*versions.values(), *written.values()})
    names = {row.id: name_of(row.uri, row.scope) for row in listed}
    return {
        "jobVersion": _versioned(Name(rows[0].job.namespace, rows[0].job.name), rows[0].plan),
        "inputDatasetVersions": _dataset_versions(versions, names),
        "outputDatasetVersions": _dataset_versions(written, names),
    }


def _dataset_versions(versions: Mapping[str, str], names: Mapping[str, Name]) -> list[Json]:
    """``versions``: the dataset (id) of each version."""
    pairs = sorted((names[key], version) for version, key in versions.items() if key in names)
    return [{"datasetVersionId": _versioned(*pair), "facets": {}} for pair in pairs]


def _versioned(name: Name, version: str) -> Json:
    return {**identified(name), "version": version}


def run_json(run: str, state: str, started: str | None, ended: str | None) -> Json:
    return {
        "id": run,
        "createdAt": started or ended,
        "updatedAt": ended or started,
        "nominalStartTime": None,
        "nominalEndTime": None,
        "state": _STATES.get(state, "RUNNING"),
        "startedAt": started,
        "endedAt": ended,
        "durationMs": parse_instant(ended) - parse_instant(started) if started and ended else None,
        "args": {},
        "jobVersion": None,
        "inputDatasetVersions": [],
        "outputDatasetVersions": [],
        "facets": {},
    }


def _briefs(sources: Sources, rows: Iterable[ExecutionRow]) -> Mapping[str, RunBrief]:
    runs = {row.run: row.at for row in rows}
    return RunTrees(sources).states(runs, max(runs.values(), default=0))


def _newest_run(row: ExecutionRow, brief: RunBrief | None) -> Json:
    if brief is not None:
        return brief_json(brief)
    duration = None if row.duration_ns is None else row.duration_ns // _NANOSECONDS
    started = None if duration is None else iso(row.claimed_at - duration)
    reply = run_json(row.run, row.state, started, iso(row.claimed_at))
    return {**reply, "durationMs": duration}
