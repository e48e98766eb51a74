"""``/graph/home``: failures of the last day, late jobs, the last writes.

All of it comes from the newest executions of the catalogue, at most ``EXECUTIONS_READ``; totals are
counted over everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.answers.home.rhythm import is_late, rhythm_of
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.overview import Totals
from graph_model.answers.sources import Sources, of_one_state
from graph_model.error_text import cause_line
from graph_model.lineage import Partial
from graph_model.picture.view import DatasetReference, JobReference, iso
from graph_model.stores.protocols import RecentExecution

EXECUTIONS_READ: Final = 10_000
_PAGE: Final = 1_000
_DAY_MS: Final = 24 * 3_600_000
_MOST_NAMED: Final = 12


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A job whose newest run failed; ``error`` is the line that names the cause."""

    job: JobReference
    at: str
    error: str | None


@dataclass(frozen=True, slots=True)
class LateJob:
    """``every_ms``: how often it usually runs."""

    job: JobReference
    last: str
    every_ms: int


@dataclass(frozen=True, slots=True)
class WrittenDataset:
    dataset: DatasetReference
    at: str
    job: JobReference | None


@dataclass(frozen=True, slots=True)
class Home:
    """``failed`` and ``late`` count all, their lists name the newest; ``executions``: how many
    were looked at for them; ``partial``: the bound, where there are more; ``as_of``: the newest
    event.
    """

    totals: Totals
    failed: int
    failures: tuple[FailedRun, ...]
    late: int
    late_jobs: tuple[LateJob, ...]
    written: tuple[WrittenDataset, ...]
    executions: int
    partial: Partial | None
    as_of: str | None


@of_one_state
def home(sources: Sources, *, now: int) -> Home:
    """``now``: epoch ms by the server's clock."""
    recent, partial = _recent(sources)
    failed, late = _failed(recent, now), _late(recent, now)
    written = _written(recent)
    named = [*failed[:_MOST_NAMED], *(one for one, _ in late[:_MOST_NAMED]), *written]
    jobs = job_references(sources, {one.job for one in named})
    datasets = dataset_references(sources, {one.target for one in written})
    estate = sources.catalogue.estate(sources.hidden, failures=1, at=None)
    return Home(
        totals=Totals(estate.jobs, estate.datasets, estate.failed),
        failed=len(failed),
        failures=_failures(failed, jobs),
        late=len(late),
        late_jobs=_late_jobs(late, jobs),
        written=tuple(
            WrittenDataset(datasets[one.target], iso(one.at) or "", jobs.get(one.job))
            for one in written
            if one.target in datasets
        ),
        executions=len(recent),
        partial=partial,
        as_of=iso(recent[0].at) if recent else None,
    )


def _recent(sources: Sources) -> tuple[list[RecentExecution], Partial | None]:
    """The newest executions, newest first, and the bound where there are more."""
    found: list[RecentExecution] = []
    cursor = None
    while len(found) < EXECUTIONS_READ:
        page = sources.catalogue.recent_executions(
            sources.hidden, counted=False, limit=_PAGE, cursor=cursor
        )
        found += page.items
        cursor = page.next
        if cursor is None:
            return found, None
    return found, Partial("executions", EXECUTIONS_READ)


def _failed(recent: Iterable[RecentExecution], now: int) -> list[RecentExecution]:
    """Of each job whose newest execution failed in the last day that one, newest first."""
    newest: dict[str, RecentExecution] = {}
    for one in recent:
        newest.setdefault(one.job, one)
    return [one for one in newest.values() if one.state == labels.FAILED and one.at > now - _DAY_MS]


def _late(recent: Iterable[RecentExecution], now: int) -> list[tuple[RecentExecution, int]]:
    """The last execution of each late job with its rhythm, the one that is longest late first."""
    last: dict[str, RecentExecution] = {}
    ends: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for one in recent:
        last.setdefault(one.job, one)
        ends[one.job].setdefault(one.run, one.at)
    late = []
    for job, runs in ends.items():
        rhythm = rhythm_of(runs.values())
        if rhythm is not None and is_late(last[job].at, rhythm, now):
            late.append((last[job], rhythm))
    return sorted(late, key=lambda one: (one[0].at + one[1], one[0].job))


def _written(recent: Iterable[RecentExecution]) -> list[RecentExecution]:
    """The last completed write of each of the datasets written last, newest first."""
    newest: dict[str, RecentExecution] = {}
    for one in recent:
        if one.kind == labels.WRITE_KIND and one.state == labels.COMPLETED and one.target:
            newest.setdefault(one.target, one)
    return list(newest.values())[:_MOST_NAMED]


def _failures(
    failed: Sequence[RecentExecution], jobs: Mapping[str, JobReference]
) -> tuple[FailedRun, ...]:
    return tuple(
        FailedRun(jobs[one.job], iso(one.at) or "", cause_line(one.error))
        for one in failed[:_MOST_NAMED]
        if one.job in jobs
    )


def _late_jobs(
    late: Sequence[tuple[RecentExecution, int]], jobs: Mapping[str, JobReference]
) -> tuple[LateJob, ...]:
    return tuple(
        LateJob(jobs[one.job], iso(one.at) or "", rhythm)
        for one, rhythm in late[:_MOST_NAMED]
        if one.job in jobs
    )
