"""Runs in Marquez's spelling: with the facets that their events sent, and the versions of what they
read and wrote.

``MOST_RUNS`` of an answer have facets and versions, the others their states and times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, Final
from uuid import UUID

from graph_model import identity, labels
from graph_model.answers.openlineage import READ, WRITTEN, Name, SentFacets, names_of
from graph_model.answers.runs import RunBrief, RunTrees, run_details
from graph_model.answers.sources import Sources
from graph_model.facts import ExecutionRow
from graph_model.values import iso, parse_instant

Json = dict[str, Any]
MOST_RUNS: Final = 250
_STATES = {state: state.upper() for state in labels.SHOWN_STATES}
_NANOSECONDS = 1_000_000
_DIGEST: Final = 32  # characters
_OF_A_READ: Final = ("dataQualityMetrics", "dataQualityAssertions")
"""Facets of a dataset that Marquez lists with the run that read it."""


def moment(at: int | str | None) -> str | None:
    """A time (epoch ms, or in our spelling) in Marquez's: 08:00:00.000Z => 08:00:00Z."""
    text = iso(at) if isinstance(at, int) else at
    return text and text.replace(".000Z", "Z")


def identified(name: Name) -> Json:
    return {"namespace": name.namespace, "name": name.name}


def versioned(name: Name, version: str) -> Json:
    return {**identified(name), "version": version_of(version)}


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


OF_A_VERTEX: Final[tuple[str, ...]] = (
    "jobVersion",
    "inputDatasetVersions",
    "outputDatasetVersions",
)
"""What a Spark application and its commands, which are runs of their own, share."""


def newest_runs(sources: Sources, jobs: Collection[str], each: int) -> dict[str, list[str]]:
    """Per job its newest ``each`` runs, newest first: among four times as many executions."""
    times = sources.catalogue.times_of_runs(jobs, 4 * each)
    return {
        job: list(islice(dict.fromkeys(run for run, _ in sorted(own, key=lambda o: -o[1])), each))
        for job, own in times.items()
    }


def runs_json(sources: Sources, runs: Mapping[str, Collection[str]]) -> dict[str, Json]:
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
    known = {run: brief for run, brief in briefs.items() if run in first}
    details = _details(sources, described, known)
    shown = {}
    for run in asked:
        brief, row = briefs.get(run), last.get(run)
        if brief is not None:
            reply = brief_json(brief)
        elif row is not None:
            reply = ended_json(row)
        else:
            continue
        if row is not None and row.job in jobs:
            reply["jobVersion"] = versioned(jobs[row.job], row.logical_plan)
        shown[run] = {**reply, **details.get(run, {})}
    return shown


def brief_json(brief: RunBrief) -> Json:
    reply = run_json(brief.run_id, brief.state, brief.started_at, brief.ended_at)
    return {**reply, "updatedAt": moment(brief.last_event_at) or reply["updatedAt"]}


def ended_json(row: ExecutionRow) -> Json:
    """A run of Spline's agents, by its last execution."""
    duration = None if row.duration_ns is None else row.duration_ns // _NANOSECONDS
    started = None if duration is None else iso(row.claimed_at - duration)
    return run_json(version_of(row.run), row.state, started, iso(row.claimed_at))


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


def sent_json(facets: Mapping[str, Any]) -> Json:
    """The facets of a run, and what Marquez makes ``args`` of: ``nominalTime`` in Java's spelling,
    and ``parent``. Its fields of the nominal times are null, whatever the facet says.
    """
    nominal, parent = facets.get("nominalTime", {}), facets.get("parent", {})
    args: Json = {
        f"nominal_{word}_time": _zoned(text)
        for word in ("start", "end")
        if isinstance(text := nominal.get(f"nominal{word.capitalize()}Time"), str)
    }
    run, job = (parent.get(key) for key in ("run", "job"))
    if isinstance(run, dict) and isinstance(job, dict):
        args |= {"run_id": run.get("runId"), "name": job.get("name")}
        args["namespace"] = job.get("namespace")
    return {"facets": dict(facets), "args": args}


def _zoned(text: str) -> str:
    """2026-03-01T08:00:00Z => 2026-03-01T08:00Z[UTC]."""
    try:
        at = moment(parse_instant(text)) or text
    except ValueError:
        return text
    return f"{at.removesuffix('Z').removesuffix(':00')}Z[UTC]"


def _details(
    sources: Sources, runs: Mapping[str, Collection[str]], briefs: Mapping[str, RunBrief]
) -> dict[str, Json]:
    """Per run its facets and versions."""
    found = run_details(sources, runs, {run: brief.id for run, brief in briefs.items()})
    ids = {key for run in found.values() for key in (*run.read, *run.written)}
    names = names_of(sources, ids)
    return {
        key: {
            **sent_json(run.sent.run),
            "inputDatasetVersions": _versions(names, run.read, run.sent, READ),
            "outputDatasetVersions": _versions(names, run.written, run.sent, WRITTEN),
        }
        for key, run in found.items()
    }


def _versions(
    names: Mapping[str, Name], versions: Mapping[str, str], sent: SentFacets, usage: str
) -> list[Json]:
    """``versions``: per dataset its version."""
    listed = sorted((names[key], version, key) for key, version in versions.items() if key in names)
    kept = _OF_A_READ if usage == READ else ()
    return [
        {
            "datasetVersionId": versioned(name, version),
            "facets": {
                **sent.usage.get((usage, key), {}),
                **{n: f for n, f in sent.datasets.get(key, {}).items() if n in kept},
            },
        }
        for name, version, key in listed
    ]
