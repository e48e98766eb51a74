"""A job and its executions as facts; elements that all runs of a job share are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from graph_model import identity, labels
from graph_model.facts import (
    Edge,
    EventLabelRow,
    ExecutionRow,
    FactCollector,
    JobRow,
    Scalar,
    Vertex,
    edge,
    properties,
)
from graph_model.naming import JobName

MOST_EXTRA_CHARACTERS: Final = 20_000
"""The limit of the labels of an event together, and of each other text about it."""
_MAX_LABEL_CHARACTERS: Final = 500
_NO_LABELS: Final = "{}"
_DAY_MS: Final = 86_400_000
_DAYS_KEPT: Final = 4_096

Labels = Mapping[str, Sequence[str]]


def add_job(collector: FactCollector, job_id: str, job: JobName) -> None:
    """Add a job's vertex and row."""
    collector.add(
        Vertex(job_id, labels.JOB, properties({"namespace": job.namespace, "name": job.name})),
        JobRow(job_id, job.namespace, job.name, job.shared),
    )


def add_execution(collector: FactCollector, row: ExecutionRow) -> None:
    """Add an execution with its run and its day."""
    collector.add(*run_elements(row), row)


def run_elements(row: ExecutionRow) -> tuple[Vertex | Edge, ...]:
    """The graph elements of an execution: a function of its row alone."""
    day = _elements_of_day(row.job, row.logical_plan, row.claimed_at // _DAY_MS)
    return (
        *day,
        Vertex(row.run, labels.RUN),
        _execution_vertex(row),
        edge(labels.HAS, day[0].id, row.run),
        edge(labels.PERFORMED, row.run, row.id),
    )


@lru_cache(maxsize=_DAYS_KEPT)
def _elements_of_day(job: str, logical_plan: str, day: int) -> tuple[Vertex, Edge, Edge]:
    """The elements that all executions of a plan on one day share; ``day`` counts from 1970."""
    at = day * _DAY_MS
    vertex = Vertex(day_id(job, at), labels.DAY, (("date", utc_date(at)),))
    return (
        vertex,
        edge(labels.HAS, job, vertex.id),
        edge(labels.FOLLOWED, vertex.id, logical_plan),
    )


def _execution_vertex(row: ExecutionRow) -> Vertex:
    values: dict[str, Scalar | None] = {
        "at": row.claimed_at,
        "state": row.state,
        "duration_ns": row.duration_ns,
        "error": row.error,
        "metrics": row.metrics,
        "mode": row.mode,
        "plan": row.plan_id,
    }
    return Vertex(row.id, labels.EXECUTION, properties(values))


def labels_text(labelled: Labels) -> str:
    """As JSON; "{}" where that is too long."""
    if not labelled:
        return _NO_LABELS
    text = identity.spelled({name: list(values) for name, values in sorted(labelled.items())})
    return text if len(text) <= MOST_EXTRA_CHARACTERS else _NO_LABELS


def label_rows(execution: str, *listed: Labels) -> set[EventLabelRow]:
    """The labels of the event and of the plan: a filter may name either. None for labels too long
    to be shown.
    """
    return {
        EventLabelRow(execution, name[:_MAX_LABEL_CHARACTERS], value[:_MAX_LABEL_CHARACTERS])
        for labelled in listed
        if labels_text(labelled) != _NO_LABELS
        for name, values in labelled.items()
        for value in values
    }


def utc_date(at: int) -> str:
    """The UTC date of an epoch-millisecond time, ``2026-03-01``."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def day_id(job: str, at: int) -> str:
    """The id of the ``day`` vertex for an execution of the job at this time."""
    return identity.vertex_id(labels.DAY, job, utc_date(at))
