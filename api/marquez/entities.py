"""Datasets with versions, jobs and runs in Marquez's spelling: absent values are null.

A dataset's version is the execution that wrote it, a job's its plan: one id for it everywhere,
spelled as the UUID that Marquez's clients parse; one that nobody wrote has one version, with its
own id. A node was created when a run named it first.
``partial`` of a dataset or a job, ours, says that a list within it was cut.

    ex_240cfd1ca5b26949a04f0dab9b0133bf  =>  240cfd1c-a5b2-6949-a04f-0dab9b0133bf
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from graph_model import identity, labels
from graph_model.answers.facets import FacetView, facets_in_force
from graph_model.answers.jobs import PlanItem, job_ends, sources_of_plans
from graph_model.answers.nodes import ExecutionView, times_of_plans, times_seen
from graph_model.answers.openlineage import Name, name_of
from graph_model.answers.runs import RunBrief, RunPage, RunTrees, RunView
from graph_model.answers.sources import Sources
from graph_model.facts import DatasetRow, ExecutionRow, JobRow, SchemaRow
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
_DIGEST: Final = 32  # characters
MOST_FIELDS: Final = 50_000
"""Fields of all datasets of an answer; the datasets behind them are listed without theirs."""
MOST_DESCRIBED: Final = 100
"""Versions of an answer with their fields (each is a question about its time), datasets and jobs
with their facets.
"""
MOST_ENDS: Final = 1_000
"""Inputs, and outputs, of one job that are listed."""


def moment(at: int | str | None) -> str | None:
    """A time (epoch ms, or in our spelling) in Marquez's: 08:00:00.000Z => 08:00:00Z."""
    text = iso(at) if isinstance(at, int) else at
    return text and text.replace(".000Z", "Z")


def identified(name: Name) -> Json:
    return {"namespace": name.namespace, "name": name.name}


def version_of(key: str) -> str:
    """The id of an execution, a plan, a schema or a run as a UUID; another text as it is."""
    digest = key.rpartition("_")[2]
    return str(UUID(digest)) if identity.kind_of(key) and len(digest) == _DIGEST else key


def key_of(kind: str, version: str) -> str:
    """The id of this kind (``labels``) behind a version; a text that is none as it is."""
    try:
        return f"{identity.PREFIXES[kind]}_{UUID(version).hex}"
    except ValueError:
        return version


# --- datasets ------------------------------------------------------------------------------------


def datasets_json(
    sources: Sources,
    rows: Sequence[DatasetRow],
    at: int | None,
    tags: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Json]:
    """Datasets in this order, the first ``MOST_DESCRIBED`` with their facets; ``tags`` where these
    have changed since ``sources`` were read.
    """
    ids = [row.id for row in rows]
    schemas = sources.catalogue.newest_schemas(ids, at)
    written = History(sources.catalogue).writes.last(ids, at)
    seen = times_seen(sources, ids, at)
    writers = sources.catalogue.last_writers(ids, at)
    facets = facets_in_force(sources, ids[:MOST_DESCRIBED], labels.DATASET, at)
    tags = sources.governance.tags if tags is None else tags
    items = []
    room = MOST_FIELDS
    for row in rows:
        schema = schemas.get(row.id)
        own = facets.get(row.id, {})
        fields = _fields(row.id, schema.columns, tags, own) if schema else []
        cut = len(fields) > room
        fields = [] if cut else fields
        room -= len(fields)
        writer = writers.get(row.id)
        first, last = seen.get(row.id, (written.get(row.id),) * 2)
        items.append(
            {
                **_described(name_of(row.uri, row.scope, sources.rules), own),
                "createdAt": moment(first),
                "updatedAt": moment(last if last is None else max(last, written.get(row.id, last))),
                "fields": fields,
                "tags": list(tags.get(row.id, ())),
                "lastModifiedAt": moment(written.get(row.id)),
                "lastLifecycleState": text_in(own, *_LIFECYCLE) or "",
                "currentVersion": version_of(writer.id if writer else row.id),
                "columnLineage": None,
                "facets": _with_schema(own, fields),
                "deleted": text_in(own, *_LIFECYCLE) == "DROP",
                "partial": to_json(Partial("columns", MOST_FIELDS) if cut else None),
            }
        )
    return items


_LIFECYCLE: Final = ("lifecycleStateChange", "lifecycleStateChange")
_SCHEMA: Final = "schema"


def _with_schema(facets: Mapping[str, Any], fields: Sequence[Json]) -> Json:
    """The schema is kept apart from the facets, once for all runs that report it."""
    listed = [
        {key: field[key] for key in ("name", "type", "description") if field[key] is not None}
        for field in fields
    ]
    return {**({_SCHEMA: {"fields": listed}} if listed else {}), **facets}


def _described(name: Name, facets: Mapping[str, Any]) -> Json:
    return {
        "id": identified(name),
        "type": "DB_TABLE",
        "name": name.name,
        "physicalName": name.name,
        "namespace": name.namespace,
        "sourceName": name.namespace,
        "description": text_in(facets, "documentation", "description"),
    }


def _fields(
    dataset: str, columns: str, tags: Mapping[str, tuple[str, ...]], facets: Mapping[str, Any]
) -> list[Json]:
    schema = facets.get(_SCHEMA)
    listed = schema.get("fields") if isinstance(schema, dict) else None
    words = {
        field.get("name"): field.get("description")
        for field in (listed if isinstance(listed, list) else ())
        if isinstance(field, dict)
    }
    spellings = sorted(read_spellings(columns).items(), key=lambda pair: pair[1].position)
    return [
        {
            "name": spelling.name,
            "type": spelling.type,
            "tags": list(tags.get(identity.column_id(dataset, path), ())),
            "description": words.get(spelling.name),
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
    items = []
    for place, write in enumerate(writes):
        schema = None
        if place < MOST_DESCRIBED:
            at = parse_instant(write.counted_at or write.at)
            schema = sources.catalogue.newest_schemas((row.id,), at).get(row.id)
        reply = _version_json(sources, row, write.id, write.at, schema)
        items.append({**reply, "createdByRun": _version_run(write, briefs.get(write.run))})
    return items


def unwritten_json(sources: Sources, row: DatasetRow) -> Json:
    """The one version of a dataset that nobody wrote: it has the id of the dataset."""
    first, _ = times_seen(sources, (row.id,), None).get(row.id, (None, None))
    schema = sources.catalogue.newest_schemas((row.id,), None).get(row.id)
    return _version_json(sources, row, row.id, first, schema)


def _version_json(
    sources: Sources, row: DatasetRow, key: str, at: int | str | None, schema: SchemaRow | None
) -> Json:
    tags = sources.governance.tags
    fields = _fields(row.id, schema.columns, tags, {}) if schema else []
    return {
        **_described(name_of(row.uri, row.scope, sources.rules), {}),
        "createdAt": moment(at),
        "version": version_of(key),
        "fields": fields,
        "tags": list(tags.get(row.id, ())),
        "lifecycleState": "",
        "currentSchemaVersion": version_of(schema.id) if schema else None,
        "createdByRun": None,
        "facets": _with_schema({}, fields),
    }


def _version_run(write: ExecutionView, brief: RunBrief | None) -> Json | None:
    if write.job is None:
        return None
    run = brief.run_id if brief else version_of(write.run)
    reply = run_json(run, write.state, brief.started_at if brief else None, write.at)
    version = _versioned(Name(write.job.namespace, write.job.name), write.plan)
    duration = None if write.duration_ms is None else int(write.duration_ms)
    return {**reply, "durationMs": duration, "jobVersion": version}


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
    """Jobs with their newest run in this order, the first ``MOST_DESCRIBED`` with their facets."""
    ids = [row.id for row in rows]
    ends = job_ends(sources, ids)
    known = {key for end in ends.values() for key in end.read | end.written}
    names = {
        row.id: name_of(row.uri, row.scope, sources.rules)
        for row in sources.catalogue.datasets(known)
    }
    newest = sources.catalogue.last_executions(ids, at)
    ran = {key: last for key, last in newest.items() if last.kind != labels.DECLARATION_KIND}
    briefs = _briefs(sources, ran.values())
    parents = _parents(sources, ran)
    seen = times_of_plans(sources, {key: end.plans for key, end in ends.items()}, at)
    facets = facets_in_force(sources, ids[:MOST_DESCRIBED], labels.JOB, at)
    items = []
    for row in rows:
        name, last = Name(row.namespace, row.name), ran.get(row.id)
        run = None if last is None else _newest_run(name, last, briefs.get(last.run))
        end, own, above = ends[row.id], facets.get(row.id, {}), parents.get(row.id)
        parent = above.name if above else None
        inputs, outputs = (_listed(side, names) for side in (end.read, end.written))
        most = max(len(inputs), len(outputs))
        cut = Partial("nodes", MOST_ENDS) if most > MOST_ENDS else end.partial
        version = version_of(newest[row.id].logical_plan) if row.id in newest else None
        items.append(
            {
                "id": identified(name),
                "type": _TYPES.get(text_in(own, "jobType", "processingType") or "", "BATCH"),
                "name": row.name,
                "simpleName": row.name.removeprefix(f"{parent}.") if parent else row.name,
                "parentJobName": parent,
                "parentJobUuid": version_of(above.id) if above else None,
                "createdAt": moment(seen[row.id][0]) if row.id in seen else None,
                "updatedAt": moment(newest[row.id].at) if row.id in newest else None,
                "namespace": row.namespace,
                "inputs": inputs[:MOST_ENDS],
                "outputs": outputs[:MOST_ENDS],
                "location": text_in(own, *_LOCATION),
                "description": text_in(own, "documentation", "description"),
                "latestRun": run,
                "latestRuns": [run] if run else [],
                "facets": own,
                "currentVersion": version,
                "labels": [word for key in _LABELS if (word := text_in(own, "jobType", key))],
                "tags": [],
                "partial": to_json(cut),
            }
        )
    return items


_TYPES: Final = {"STREAMING": "STREAM", "SERVICE": "SERVICE"}
_LOCATION: Final = ("sourceCodeLocation", "url")
_LABELS: Final = ("jobType", "integration")


def _parents(sources: Sources, newest: Mapping[str, ExecutionRow]) -> dict[str, JobRow]:
    """Per job the one whose run started its newest one."""
    rows = sources.catalogue.runs.first_of_runs({row.run for row in newest.values()})
    above = {row.run: row.parent_job for row in rows if row.parent_job not in ("", row.job)}
    wanted = set(above.values()) - sources.hidden
    jobs = {job.id: job for job in sources.catalogue.jobs(wanted)}
    return {key: jobs[above[row.run]] for key, row in newest.items() if above.get(row.run) in jobs}


def job_versions_json(sources: Sources, row: JobRow, plans: Sequence[PlanItem]) -> list[Json]:
    """The plans of a job as versions of it."""
    ids = {
        dataset.id for plan in plans for dataset in (*plan.sources, *filter(None, [plan.target]))
    }
    names = {
        stored.id: name_of(stored.uri, stored.scope, sources.rules)
        for stored in sources.catalogue.datasets(ids)
    }
    last = sources.catalogue.last_of_plans([plan.id for plan in plans], None)
    briefs = _briefs(sources, last.values())
    first = {span.logical_plan: span.first for span in sources.catalogue.plan_spans(last, None)}
    own = facets_in_force(sources, (row.id,), labels.JOB, None).get(row.id, {})
    name = Name(row.namespace, row.name)
    items = []
    for plan in plans:
        run = last.get(plan.id)
        items.append(
            {
                "id": _versioned(name, plan.id),
                "name": row.name,
                "createdAt": moment(first.get(plan.id)),
                "version": version_of(plan.id),
                "namespace": row.namespace,
                "location": text_in(own, *_LOCATION),
                "inputs": _listed([dataset.id for dataset in plan.sources], names),
                "outputs": _listed([plan.target.id] if plan.target else [], names),
                "latestRun": None if run is None else _newest_run(name, run, briefs.get(run.run)),
            }
        )
    return items


def _listed(ids: Collection[str], names: Mapping[str, Name]) -> list[Json]:
    return [identified(name) for name in sorted(names[key] for key in ids if key in names)]


# --- runs ----------------------------------------------------------------------------------------


def runs_json(sources: Sources, job: str, name: Name, listed: RunPage) -> list[Json]:
    """The runs of a page of this job (its id and name), the open ones first, each once."""
    shown = {brief.run: brief_json(brief) for brief in listed.open_runs}
    for view in listed.page.items:
        shown.setdefault(view.id, _run_of(view, listed.reported.get(view.id)))
    last = sources.catalogue.last_of_runs(shown).items()
    plans = {key: _versioned(name, row.logical_plan) for key, row in last if row.job == job}
    return [{**run, "jobVersion": plans.get(key)} for key, run in shown.items()]


def _run_of(view: RunView, brief: RunBrief | None) -> Json:
    """A run under the client's own id where it reported one, and in its state: an aborted run's
    executions are failed ones.
    """
    started = view.started_at or (brief.started_at if brief else None)
    state = brief.state if brief and brief.state not in labels.STATES else view.state
    return run_json(brief.run_id if brief else version_of(view.id), state, started, view.ended_at)


def brief_json(brief: RunBrief) -> Json:
    reply = run_json(brief.run_id, brief.state, brief.started_at, brief.ended_at)
    return {**reply, "updatedAt": moment(brief.last_event_at) or reply["updatedAt"]}


def ended_json(view: RunView) -> Json:
    return run_json(version_of(view.id), view.state, view.started_at, view.ended_at)


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
    names = {row.id: name_of(row.uri, row.scope, sources.rules) for row in listed}
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
    return {**identified(name), "version": version_of(version)}


def run_json(run: str, state: str, started: str | None, ended: str | None) -> Json:
    return {
        "id": run,
        "createdAt": moment(started or ended),
        "updatedAt": moment(ended or started),
        "nominalStartTime": None,
        "nominalEndTime": None,
        "state": _STATES.get(state, "RUNNING"),
        "startedAt": moment(started),
        "endedAt": moment(ended),
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


def states_of(sources: Sources, jobs: Sequence[JobRow]) -> dict[str, str]:
    """Per job (an id) the state of its newest run in Marquez's words."""
    newest = sources.catalogue.last_executions([row.id for row in jobs], None)
    briefs = _briefs(sources, newest.values())
    states = {key: briefs.get(row.run, row).state for key, row in newest.items()}
    return {key: _STATES.get(state, "RUNNING") for key, state in states.items()}


def _newest_run(name: Name, row: ExecutionRow, brief: RunBrief | None) -> Json:
    version = {"jobVersion": _versioned(name, row.logical_plan)}
    if brief is not None:
        return {**brief_json(brief), **version}
    duration = None if row.duration_ns is None else row.duration_ns // _NANOSECONDS
    started = None if duration is None else iso(row.claimed_at - duration)
    reply = run_json(version_of(row.run), row.state, started, iso(row.claimed_at))
    return {**reply, "durationMs": duration, **version}
