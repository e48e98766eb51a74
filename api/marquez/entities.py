"""Datasets with versions and jobs in Marquez's spelling: absent values are null.

A dataset's version is the execution that wrote it, a job's its plan: one id for it everywhere,
spelled as the UUID that Marquez's clients parse; one that nobody wrote has one version, with its
own id. A node was created when a run named it first.
``partial`` of a dataset or a job, ours, says that a list within it was cut.

    ex_240cfd1ca5b26949a04f0dab9b0133bf  =>  240cfd1c-a5b2-6949-a04f-0dab9b0133bf
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from api.marquez.runs import identified, moment, newest_runs, runs_json, version_of, versioned
from graph_model import identity, labels
from graph_model.answers.facets import facets_in_force
from graph_model.answers.jobs import PlanItem, job_ends
from graph_model.answers.nodes import ExecutionView, times_of_plans, times_seen
from graph_model.answers.openlineage import Name, name_of, names_of, sent_facets
from graph_model.answers.sources import Sources
from graph_model.facts import DatasetRow, ExecutionRow, JobRow, SchemaRow
from graph_model.lineage import Partial
from graph_model.naming.columns import read_spellings
from graph_model.picture.json_form import to_json
from graph_model.values import parse_instant

Json = dict[str, Any]
MOST_FIELDS: Final = 50_000
"""Fields of all datasets of an answer; the datasets behind them are listed without theirs."""
MOST_DESCRIBED: Final = 100
"""Versions of an answer with their fields (each is a question about its time), datasets and jobs
with their facets.
"""
MOST_LATEST: Final = 10
"""Newest runs of a job."""
MOST_ENDS: Final = 1_000
"""Inputs, and outputs, of one job that are listed."""


# --- datasets ------------------------------------------------------------------------------------


def datasets_json(sources: Sources, rows: Sequence[DatasetRow], at: int | None) -> list[Json]:
    """Datasets in this order, the first ``MOST_DESCRIBED`` with their facets."""
    ids = [row.id for row in rows]
    schemas = sources.catalogue.newest_schemas(ids, at)
    seen = times_seen(sources, ids, at)
    writers = sources.catalogue.last_writers(ids, at, sources.hidden)
    written = {key: row.at for key, row in writers.items()}
    subjects = {key: row.subject for key, row in writers.items()}
    facets = facets_in_force(sources, ids[:MOST_DESCRIBED], labels.DATASET, at, subjects)
    items = []
    room = MOST_FIELDS
    for row in rows:
        own, schema = facets.get(row.id, {}), schemas.get(row.id)
        shown = _dataset_json(sources, row, schema, own)
        cut = len(shown["fields"]) > room
        if cut:
            shown = _dataset_json(sources, row, None, own)
        room -= len(shown["fields"])
        first, last = seen.get(row.id, (written.get(row.id),) * 2)
        items.append(
            {
                **shown,
                "createdAt": moment(first),
                "updatedAt": moment(last if last is None else max(last, written.get(row.id, last))),
                "lastModifiedAt": moment(written.get(row.id)),
                "lastLifecycleState": text_in(own, *_LIFECYCLE) or "",
                "currentVersion": version_of(writers[row.id].id if row.id in writers else row.id),
                "columnLineage": None,
                "deleted": text_in(own, *_LIFECYCLE) == "DROP",
                "partial": to_json(Partial("columns", MOST_FIELDS) if cut else None),
            }
        )
    return items


_LIFECYCLE: Final = ("lifecycleStateChange", "lifecycleStateChange")
_SCHEMA: Final = "schema"


def _dataset_json(
    sources: Sources, row: DatasetRow, schema: SchemaRow | None, facets: Mapping[str, Any]
) -> Json:
    """What a dataset has and each version of it. The schema is kept apart from the facets, once for
    all runs that report it.
    """
    name, tags = name_of(row.uri, row.scope, sources.rules), sources.governance.tags
    fields = _fields(row.id, schema.columns, tags, facets) if schema else []
    listed = [
        {key: field[key] for key in ("name", "type", "description") if field[key] is not None}
        for field in fields
    ]
    return {
        "id": identified(name),
        "type": "DB_TABLE",
        "name": name.name,
        "physicalName": name.name,
        "namespace": name.namespace,
        "sourceName": name.namespace,
        "description": text_in(facets, *_DESCRIPTION),
        "fields": fields,
        "tags": list(tags.get(row.id, ())),
        "facets": {**({_SCHEMA: {"fields": listed}} if listed else {}), **facets},
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


def versions_json(sources: Sources, row: DatasetRow, writes: Sequence[ExecutionView]) -> list[Json]:
    """Writes of the dataset as versions of it, the first ``MOST_DESCRIBED`` with their fields."""
    made: dict[str, list[str]] = {}
    for write in writes:
        if write.job:
            made.setdefault(write.job.id, []).append(write.run)
    runs = runs_json(sources, made)
    described = sources.catalogue.executions_of([write.id for write in writes[:MOST_DESCRIBED]])
    subjects = {execution.id: execution.subject for execution in described}
    sent = sent_facets(sources, set(subjects.values()))
    items = []
    for place, write in enumerate(writes):
        schema = None
        if place < MOST_DESCRIBED:
            at = parse_instant(write.counted_at or write.at)
            schema = sources.catalogue.newest_schemas((row.id,), at).get(row.id)
        own = sent[subjects[write.id]].datasets if subjects.get(write.id) in sent else {}
        reply = _version_json(sources, row, write.id, write.at, schema, own.get(row.id, {}))
        if write.job is not None and write.run in runs:
            version = versioned(Name(write.job.namespace, write.job.name), write.plan)
            reply["createdByRun"] = {**runs[write.run], "jobVersion": version}
        items.append(reply)
    return items


def unwritten_json(sources: Sources, row: DatasetRow) -> Json:
    """The one version of a dataset that nobody wrote: it has the id of the dataset."""
    first, _ = times_seen(sources, (row.id,), None).get(row.id, (None, None))
    schema = sources.catalogue.newest_schemas((row.id,), None).get(row.id)
    own = facets_in_force(sources, (row.id,), labels.DATASET, None).get(row.id, {})
    return _version_json(sources, row, row.id, first, schema, own)


def _version_json(
    sources: Sources,
    row: DatasetRow,
    key: str,
    at: int | str | None,
    schema: SchemaRow | None,
    facets: Mapping[str, Any],
) -> Json:
    return {
        **_dataset_json(sources, row, schema, facets),
        "createdAt": moment(at),
        "version": version_of(key),
        "lifecycleState": text_in(facets, *_LIFECYCLE) or "",
        "currentSchemaVersion": version_of(schema.id) if schema else None,
        "createdByRun": None,
    }


def text_in(facets: Mapping[str, Any], name: str, key: str) -> str | None:
    """A text of a facet."""
    body = facets.get(name)
    text = body.get(key) if isinstance(body, dict) else None
    return text if isinstance(text, str) else None


# --- jobs ----------------------------------------------------------------------------------------


def jobs_json(
    sources: Sources, rows: Sequence[JobRow], at: int | None, with_runs: int = 0
) -> list[Json]:
    """Jobs with their newest run in this order, the first ``with_runs`` with ``MOST_LATEST``, the
    first ``MOST_DESCRIBED`` with their facets; runs are those of now, of others than declarations.
    """
    ids = [row.id for row in rows]
    ends = job_ends(sources, ids)
    known = {key for end in ends.values() for key in end.read | end.written}
    names = names_of(sources, known)
    newest = sources.catalogue.last_executions(ids, at)
    ran = {key: last for key, last in newest.items() if last.kind != labels.DECLARATION_KIND}
    latest = {key: [row.run] for key, row in ran.items()}
    latest |= newest_runs(sources, ran.keys() & set(ids[:with_runs]), MOST_LATEST)
    runs = runs_json(sources, latest)
    parents = _parents(sources, ran)
    seen = times_of_plans(sources, {key: end.plans for key, end in ends.items()}, at)
    facets = facets_in_force(sources, ids[:MOST_DESCRIBED], labels.JOB, at)
    items = []
    for row in rows:
        name = Name(row.namespace, row.name)
        newest_of = [runs[run] for run in latest.get(row.id, ()) if run in runs]
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
                "description": text_in(own, *_DESCRIPTION),
                "latestRun": newest_of[0] if newest_of else None,
                "latestRuns": newest_of or None,
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
_DESCRIPTION: Final = ("documentation", "description")
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
    names = names_of(sources, ids)
    last = sources.catalogue.last_of_plans([plan.id for plan in plans], None)
    runs = runs_json(sources, {row.id: [each.run for each in last.values()]})
    first = {span.logical_plan: span.first for span in sources.catalogue.plan_spans(last, None)}
    own = facets_in_force(sources, (row.id,), labels.JOB, None).get(row.id, {})
    name = Name(row.namespace, row.name)
    items = []
    for plan in plans:
        version = versioned(name, plan.id)
        run = runs.get(last[plan.id].run) if plan.id in last else None
        items.append(
            {
                "id": version,
                "name": row.name,
                "createdAt": moment(first.get(plan.id)),
                "version": version_of(plan.id),
                "namespace": row.namespace,
                "location": text_in(own, *_LOCATION),
                "inputs": _listed([dataset.id for dataset in plan.sources], names),
                "outputs": _listed([plan.target.id] if plan.target else [], names),
                "latestRun": run and {**run, "jobVersion": version},
            }
        )
    return items


def _listed(ids: Collection[str], names: Mapping[str, Name]) -> list[Json]:
    return [identified(name) for name in sorted(names[key] for key in ids if key in names)]
