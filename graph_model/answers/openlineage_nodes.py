"""Datasets, jobs and runs as OpenLineage names them, many at once, for APIs that list them whole.

Each value says what is known of a node: its facets as they were sent, the times at which a run
named it, its neighbours by their names. A dataset's version is the execution that wrote it, a job's
its logical plan; a dataset that nobody wrote has one version, with its own id. Times are epoch
milliseconds, those of runs ISO 8601.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, NamedTuple

from graph_model import identity, labels
from graph_model.answers.facets import facets_in_force
from graph_model.answers.jobs import job, job_ends, sources_of_plans
from graph_model.answers.nodes import ExecutionView, times_of_plans, times_seen
from graph_model.answers.openlineage import Name, SentFacets, name_of, names_of, sent_facets
from graph_model.answers.runs import ReportedRun, RunBrief, RunTrees, one_run
from graph_model.answers.sources import Sources
from graph_model.facts import DatasetRow, ExecutionRow, JobRow, SchemaRow
from graph_model.lineage import Partial
from graph_model.naming.columns import read_spellings
from graph_model.stores.catalogue_values import Span
from graph_model.values import iso, parse_instant

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
MOST_RUNS: Final = 250
"""Runs of an answer with facets and versions, the others with their states and times."""
_RECENT: Final = 1_000
_NANOSECONDS: Final = 1_000_000
_SCHEMA: Final = "schema"


# --- runs ----------------------------------------------------------------------------------------


class NamedVersion(NamedTuple):
    """What a run read or wrote: ``version`` as the module says, ``dataset`` its id."""

    name: Name
    version: str
    dataset: str


@dataclass(frozen=True, slots=True)
class NamedRun:
    """``id`` is that of the graph's run, ``run_id`` the client's, None where it gave none; ``plan``
    "" where its job is not shown.
    """

    id: str
    run_id: str | None
    state: str
    started_at: str | None
    ended_at: str | None
    last_event_at: str | None
    job: Name | None = None
    plan: str = ""
    sent: SentFacets = field(default_factory=SentFacets)
    read: tuple[NamedVersion, ...] = ()
    written: tuple[NamedVersion, ...] = ()


def named_runs(sources: Sources, runs: Mapping[str, Collection[str]]) -> dict[str, NamedRun]:
    """Runs (ids by that of their job) by id, as they are now."""
    asked = dict.fromkeys(run for some in runs.values() for run in some)
    briefs = RunTrees(sources).states(asked, sources.now)
    last = sources.catalogue.last_of_runs(asked)
    jobs = {
        row.id: Name(row.namespace, row.name)
        for row in sources.catalogue.jobs(set(runs) - sources.hidden)
    }
    first = set(islice(asked, MOST_RUNS))
    described = {job: [run for run in some if run in first] for job, some in runs.items()}
    subjects = {run: brief.id for run, brief in briefs.items() if run in first}
    details = _details(sources, described, subjects)
    names = names_of(
        sources, {key for run in details.values() for key in (*run.read, *run.written)}
    )
    shown = {}
    for run in (run for run in asked if run in briefs or run in last):
        row, detail = last.get(run), details.get(run, _Details(SentFacets()))
        own = _briefly(briefs[run]) if run in briefs else _ended(last[run])
        shown[run] = replace(
            own,
            job=jobs.get(row.job) if row else None,
            plan=row.logical_plan if row else "",
            sent=detail.sent,
            read=_versions(names, detail.read),
            written=_versions(names, detail.written),
        )
    return shown


def named_run(sources: Sources, run: str) -> NamedRun:
    """One run, by the client's id or by ours; a Spark application and its commands, which are runs
    of their own, share versions and plan. Raises NotFound.
    """
    answer = one_run(sources, run, at=None, now=sources.now)
    if isinstance(answer, ReportedRun):
        key, reported = answer.ended.id, answer.job
        return named_runs(sources, {reported.id: [key]} if reported else {})[key]
    brief = answer.tree.branch.run
    own = _briefly(brief)
    shared = named_runs(sources, {brief.job.id: [brief.run]} if brief.job else {}).get(
        brief.run, own
    )
    return replace(
        own,
        job=shared.job,
        plan=shared.plan,
        sent=sent_facets(sources, (brief.id,)).get(brief.id, SentFacets()),
        read=shared.read,
        written=shared.written,
    )


def _briefly(brief: RunBrief) -> NamedRun:
    times = brief.started_at, brief.ended_at, brief.last_event_at
    return NamedRun(brief.run, brief.run_id, brief.state, *times)


def _ended(row: ExecutionRow) -> NamedRun:
    """A run of Spline's agents, by its last execution."""
    duration = None if row.duration_ns is None else row.duration_ns // _NANOSECONDS
    started = None if duration is None else iso(row.claimed_at - duration)
    return NamedRun(row.run, None, row.state, started, iso(row.claimed_at), None)


def _versions(names: Mapping[str, Name], versions: Mapping[str, str]) -> tuple[NamedVersion, ...]:
    """``versions``: per dataset its version."""
    named = (
        NamedVersion(names[key], version, key) for key, version in versions.items() if key in names
    )
    return tuple(sorted(named))


def _newest_runs(sources: Sources, jobs: Collection[str]) -> dict[str, list[str]]:
    """Per job its newest runs, newest first: among four times as many executions."""
    times = sources.catalogue.times_of_runs(jobs, 4 * MOST_LATEST)
    newest = {
        job: dict.fromkeys(run for run, _ in sorted(own, key=lambda place: -place[1]))
        for job, own in times.items()
    }
    return {job: [*islice(some, MOST_LATEST)] for job, some in newest.items()}


@dataclass(frozen=True, slots=True)
class _Details:
    """``read`` and ``written``: per dataset (an id) its version, without hidden ones."""

    sent: SentFacets
    read: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)


def _details(
    sources: Sources, runs: Mapping[str, Collection[str]], subjects: Mapping[str, str]
) -> dict[str, _Details]:
    """Of runs (ids by that of their job) with the subject of their own events, where known: of a
    job's those among its newest 1,000 executions, in one question for all.

    A version that a run read is the newest visible write before its end, of what its plans read;
    where there is none, the dataset itself. A run that failed, or has not ended, wrote none.
    """
    wanted = {run for some in runs.values() for run in some}
    rows = [
        row
        for some in sources.catalogue.executions_of_runs(runs, _RECENT).values()
        for row in some
        if row.job not in sources.hidden and row.run in wanted
    ]
    reporters = {**{row.run: row.subject for row in rows}, **subjects}
    sent = sent_facets(sources, {*reporters.values(), *(row.subject for row in rows)})
    details = {run: _Details(sent.get(subject, SentFacets())) for run, subject in reporters.items()}
    for run, dataset, version in _versions_read(sources, rows):
        details[run].read[dataset] = version
    for row in rows:
        if row.state == labels.COMPLETED and row.target and row.target not in sources.hidden:
            details[row.run].written[row.target] = row.id
    return details


def _versions_read(sources: Sources, rows: Iterable[ExecutionRow]) -> list[tuple[str, str, str]]:
    """(run, dataset, version) of all that the runs of these executions read."""
    ends: dict[tuple[str, str], int] = {}
    for row in rows:
        at = ends.get((row.run, row.logical_plan), row.at)
        ends[row.run, row.logical_plan] = max(at, row.at)
    reads = sources_of_plans(sources, {plan for _, plan in ends})
    spans = {
        (run, key): Span(key, 0, at)
        for (run, plan), at in ends.items()
        for key in reads.get(plan, ())
        if key not in sources.hidden
    }
    newest = sources.catalogue.newest_writes(set(spans.values()))
    versions: dict[Span, str] = {}
    for span, some in newest.items():
        shown = [(n.write.at, n.write.id) for n in some if n.write.job not in sources.hidden]
        versions[span] = max(shown, default=(0, span.target))[1]
    return [(run, key, versions[span]) for (run, key), span in spans.items()]


# --- datasets ------------------------------------------------------------------------------------


class NamedField(NamedTuple):
    name: str
    type: Any
    tags: tuple[str, ...]
    description: Any


@dataclass(frozen=True, slots=True)
class NamedDataset:
    """A dataset, or one version of it: then ``first`` is the time of the write, and ``run`` made
    it. ``schema`` is the id of the schema, ``cut`` says that it is not shown.
    """

    name: Name
    fields: tuple[NamedField, ...]
    tags: tuple[str, ...]
    facets: Json
    schema: str | None
    version: str
    first: int | None
    last: int | None = None
    written: int | None = None
    cut: Partial | None = None
    run: NamedRun | None = None


def named_datasets(
    sources: Sources, rows: Sequence[DatasetRow], at: int | None
) -> list[NamedDataset]:
    """Datasets in this order, the first ``MOST_DESCRIBED`` with their facets."""
    ids = [row.id for row in rows]
    schemas = sources.catalogue.newest_schemas(ids, at)
    seen = times_seen(sources, ids, at)
    writers = sources.catalogue.last_writers(ids, at, sources.hidden)
    subjects = {key: row.subject for key, row in writers.items()}
    facets = facets_in_force(sources, ids[:MOST_DESCRIBED], labels.DATASET, at, subjects)
    shown, room = [], MOST_FIELDS
    for row in rows:
        write = writers.get(row.id)
        written = write.at if write else None
        first, last = seen.get(row.id, (written, written))
        own, version = facets.get(row.id, {}), write.id if write else row.id
        dataset = _dataset(sources, row, schemas.get(row.id), own, version, first)
        if len(dataset.fields) > room:
            dataset = replace(dataset, fields=(), cut=Partial("columns", MOST_FIELDS))
        room -= len(dataset.fields)
        newest = max((time for time in (last, written) if time is not None), default=None)
        shown.append(replace(dataset, last=newest, written=written))
    return shown


def dataset_versions(
    sources: Sources, row: DatasetRow, writes: Sequence[ExecutionView]
) -> list[NamedDataset]:
    """Writes of the dataset as versions of it, the first ``MOST_DESCRIBED`` with their fields."""
    made: dict[str, list[str]] = {}
    for write in writes:
        if write.job:
            made.setdefault(write.job.id, []).append(write.run)
    runs = named_runs(sources, made)
    described = sources.catalogue.executions_of([write.id for write in writes[:MOST_DESCRIBED]])
    subjects = {execution.id: execution.subject for execution in described}
    sent = sent_facets(sources, set(subjects.values()))
    versions = []
    for place, write in enumerate(writes):
        schema = None
        if place < MOST_DESCRIBED:
            at = parse_instant(write.counted_at or write.at)
            schema = sources.catalogue.newest_schemas((row.id,), at).get(row.id)
        facets = sent.get(subjects.get(write.id, ""), SentFacets()).datasets.get(row.id, {})
        version = _dataset(sources, row, schema, facets, write.id, parse_instant(write.at))
        if write.job is not None and write.run in runs:
            name = Name(write.job.namespace, write.job.name)
            run = replace(runs[write.run], job=name, plan=write.plan)
            version = replace(version, run=run)
        versions.append(version)
    return versions


def unwritten_version(sources: Sources, row: DatasetRow) -> NamedDataset:
    """The one version of a dataset that nobody wrote."""
    first, _ = times_seen(sources, (row.id,), None).get(row.id, (None, None))
    schema = sources.catalogue.newest_schemas((row.id,), None).get(row.id)
    facets = facets_in_force(sources, (row.id,), labels.DATASET, None).get(row.id, {})
    return _dataset(sources, row, schema, facets, row.id, first)


def _dataset(
    sources: Sources,
    row: DatasetRow,
    schema: SchemaRow | None,
    facets: Json,
    version: str,
    first: int | None,
) -> NamedDataset:
    return NamedDataset(
        name_of(row.uri, row.scope, sources.rules),
        _fields(sources, row.id, schema.columns, facets) if schema else (),
        sources.governance.tags.get(row.id, ()),
        facets,
        schema.id if schema else None,
        version,
        first,
    )


def _fields(sources: Sources, dataset: str, columns: str, facets: Json) -> tuple[NamedField, ...]:
    """In the order of the schema, which is kept apart from the facets, once for all runs that
    report it; only the facet describes its fields.
    """
    schema = facets.get(_SCHEMA)
    listed = schema.get("fields") if isinstance(schema, dict) else None
    words = {
        field.get("name"): field.get("description")
        for field in (listed if isinstance(listed, list) else ())
        if isinstance(field, dict)
    }
    tags = sources.governance.tags
    spellings = sorted(read_spellings(columns).items(), key=lambda pair: pair[1].position)
    return tuple(
        NamedField(
            spelling.name,
            spelling.type,
            tags.get(identity.column_id(dataset, path), ()),
            words.get(spelling.name),
        )
        for path, spelling in spellings
    )


# --- jobs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedJob:
    """``plan`` is the newest that ran, ``parent`` the job whose run started its newest one;
    ``cut``: it has more inputs or outputs than are listed. ``runs`` are the newest, newest first.
    """

    name: Name
    parent: JobRow | None
    plan: str | None
    first: int | None
    last: int | None
    inputs: tuple[Name, ...]
    outputs: tuple[Name, ...]
    cut: Partial | None
    facets: Json
    runs: tuple[NamedRun, ...]


def named_jobs(
    sources: Sources, rows: Sequence[JobRow], at: int | None, with_runs: int = 0
) -> list[NamedJob]:
    """Jobs with their newest run in this order, the first ``with_runs`` with ``MOST_LATEST``, the
    first ``MOST_DESCRIBED`` with their facets; runs are those of now, of others than declarations.
    """
    ids = [row.id for row in rows]
    ends = job_ends(sources, ids)
    names = names_of(sources, {key for end in ends.values() for key in end.read | end.written})
    newest = sources.catalogue.last_executions(ids, at)
    ran = {key: last for key, last in newest.items() if last.kind != labels.DECLARATION_KIND}
    latest = {key: [row.run] for key, row in ran.items()}
    latest |= _newest_runs(sources, ran.keys() & set(ids[:with_runs]))
    runs = named_runs(sources, latest)
    parents = _parents(sources, ran)
    seen = times_of_plans(sources, {key: end.plans for key, end in ends.items()}, at)
    facets = facets_in_force(sources, ids[:MOST_DESCRIBED], labels.JOB, at)
    shown = []
    for row in rows:
        end, last = ends[row.id], newest.get(row.id)
        inputs, outputs = _named(end.read, names), _named(end.written, names)
        over = max(len(inputs), len(outputs)) > MOST_ENDS
        shown.append(
            NamedJob(
                Name(row.namespace, row.name),
                parent=parents.get(row.id),
                plan=last.logical_plan if last else None,
                first=seen[row.id][0] if row.id in seen else None,
                last=last.at if last else None,
                inputs=inputs[:MOST_ENDS],
                outputs=outputs[:MOST_ENDS],
                cut=Partial("nodes", MOST_ENDS) if over else end.partial,
                facets=facets.get(row.id, {}),
                runs=tuple(runs[run] for run in latest.get(row.id, ()) if run in runs),
            )
        )
    return shown


def _parents(sources: Sources, newest: Mapping[str, ExecutionRow]) -> dict[str, JobRow]:
    rows = sources.catalogue.runs.first_of_runs({row.run for row in newest.values()})
    above = {row.run: row.parent_job for row in rows if row.parent_job not in ("", row.job)}
    wanted = set(above.values()) - sources.hidden
    jobs = {job.id: job for job in sources.catalogue.jobs(wanted)}
    return {key: jobs[above[row.run]] for key, row in newest.items() if above.get(row.run) in jobs}


@dataclass(frozen=True, slots=True)
class NamedPlan:
    """A version of a job: ``run`` is its newest, ``facets`` are those of the job."""

    id: str
    job: Name
    first: int | None
    inputs: tuple[Name, ...]
    outputs: tuple[Name, ...]
    run: NamedRun | None
    facets: Json


def named_plans(sources: Sources, row: JobRow) -> list[NamedPlan]:
    """The plans of a job, the last that ran first."""
    plans = job(sources, row.id, None).plans
    ends = {
        plan.id: ([end.id for end in plan.sources], [plan.target.id] if plan.target else [])
        for plan in plans
    }
    names = names_of(sources, {key for sides in ends.values() for side in sides for key in side})
    last = sources.catalogue.last_of_plans(ends, None)
    runs = named_runs(sources, {row.id: [each.run for each in last.values()]})
    first = {span.logical_plan: span.first for span in sources.catalogue.plan_spans(last, None)}
    facets = facets_in_force(sources, (row.id,), labels.JOB, None).get(row.id, {})
    name, shown = Name(row.namespace, row.name), []
    for key, (read, written) in ends.items():
        run = runs.get(last[key].run) if key in last else None
        run = replace(run, job=name, plan=key) if run else None
        inputs, outputs = _named(read, names), _named(written, names)
        shown.append(NamedPlan(key, name, first.get(key), inputs, outputs, run, facets))
    return shown


def _named(ids: Collection[str], names: Mapping[str, Name]) -> tuple[Name, ...]:
    return tuple(sorted(names[key] for key in ids if key in names))


# --- what a search finds --------------------------------------------------------------------------


class NamedMatch(NamedTuple):
    """``at`` is the newest write or run, of a dataset without a write its newest read."""

    kind: str
    name: Name
    at: int | None


def named_matches(sources: Sources, ids: Sequence[str]) -> list[NamedMatch]:
    """The datasets and jobs with these ids, in this order."""
    writers = sources.catalogue.last_writers(ids, None, sources.hidden)
    written = {key: row.at for key, row in writers.items()}
    ran = sources.catalogue.last_executions(ids, None)
    rows = sources.catalogue.datasets(ids)
    seen = times_seen(sources, {row.id for row in rows} - written.keys(), None)
    times = {key: last for key, (_, last) in seen.items()} | written
    named = {}
    for row in rows:
        name = name_of(row.uri, row.scope, sources.rules)
        named[row.id] = NamedMatch(labels.DATASET, name, times.get(row.id))
    for job_row in sources.catalogue.jobs(ids):
        last, name = ran.get(job_row.id), Name(job_row.namespace, job_row.name)
        named[job_row.id] = NamedMatch(labels.JOB, name, last.at if last else None)
    return [named[key] for key in ids if key in named]
