"""Runs in Marquez's spelling: with the facets that their events sent, and the versions of what they
read and wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from graph_model import identity, labels
from graph_model.answers.openlineage import READ, WRITTEN, Name
from graph_model.answers.openlineage_nodes import NamedRun, NamedVersion
from graph_model.values import iso, parse_instant

Json = dict[str, Any]
_STATES = {state: state.upper() for state in labels.SHOWN_STATES}
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


def run_json(run: NamedRun) -> Json:
    """Its fields of the nominal times are null there, whatever the facet says."""
    started, ended = run.started_at, run.ended_at
    return {
        "id": run.run_id or version_of(run.id),
        "createdAt": moment(started or ended),
        "updatedAt": moment(run.last_event_at or ended or started),
        "nominalStartTime": None,
        "nominalEndTime": None,
        "state": _STATES.get(run.state, "RUNNING"),
        "startedAt": moment(started),
        "endedAt": moment(ended),
        "durationMs": parse_instant(ended) - parse_instant(started) if started and ended else None,
        "args": _arguments(run.sent.run),
        "jobVersion": versioned(run.job, run.plan) if run.job else None,
        "inputDatasetVersions": _versions(run, run.read, READ),
        "outputDatasetVersions": _versions(run, run.written, WRITTEN),
        "facets": run.sent.run,
    }


def _arguments(facets: Mapping[str, Any]) -> Json:
    """What Marquez makes ``args`` of: ``nominalTime`` in Java's spelling, and ``parent``."""
    nominal, parent = facets.get("nominalTime", {}), facets.get("parent", {})
    arguments: Json = {
        f"nominal_{word}_time": _zoned(text)
        for word in ("start", "end")
        if isinstance(text := nominal.get(f"nominal{word.capitalize()}Time"), str)
    }
    run, job = (parent.get(key) for key in ("run", "job"))
    if isinstance(run, dict) and isinstance(job, dict):
        arguments |= {"run_id": run.get("runId"), "name": job.get("name")}
        arguments["namespace"] = job.get("namespace")
    return arguments


def _zoned(text: str) -> str:
    """2026-03-01T08:00:00Z => 2026-03-01T08:00Z[UTC]."""
    try:
        at = moment(parse_instant(text)) or text
    except ValueError:
        return text
    return f"{at.removesuffix('Z').removesuffix(':00')}Z[UTC]"


def _versions(run: NamedRun, versions: Iterable[NamedVersion], usage: str) -> list[Json]:
    kept = _OF_A_READ if usage == READ else ()
    return [
        {
            "datasetVersionId": versioned(name, version),
            "facets": {
                **run.sent.usage.get((usage, key), {}),
                **{n: f for n, f in run.sent.datasets.get(key, {}).items() if n in kept},
            },
        }
        for name, version, key in versions
    ]
