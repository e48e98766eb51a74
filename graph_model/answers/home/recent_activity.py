"""``/graph/home``: failures of the last day, late jobs, the last writes.

Failures and late jobs are counted over all jobs. The tables written last are found among the newest
executions of the catalogue, at most ``EXECUTIONS_READ``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.answers.home.rhythm import RUNS_COMPARED, is_late, rhythm_of
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.overview import Totals
from graph_model.answers.sources import Sources, of_one_state
from graph_model.error_text import cause_line
from graph_model.lineage import Partial
from graph_model.picture.view import DatasetReference, JobReference, iso, job_reference
from graph_model.stores.protocols import FailedJob, RecentExecution

EXECUTIONS_READ: Final = 1_000
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
    """``failed`` and ``late`` count all, their lists name the newest. ``executions``: how many were
    looked at for ``written``; ``partial``: the bound, where more might name more tables. ``as_of``:
    the newest event.
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


@dataclass(frozen=True, slots=True)
class _Late:
    job: str
    last: int
    rhythm: int


@of_one_state
def home(sources: Sources, *, now: int) -> Home:
    """``now``: epoch ms by the server's clock."""
    since = now - _DAY_MS
    estate = sources.catalogue.estate(sources.hidden, failures=_MOST_NAMED, at=None, since=since)
    late = _late(sources, now)
    recent = sources.catalogue.recent_executions(
        sources.hidden, counted=False, limit=EXECUTIONS_READ
    )
    written = _written(recent.items)
    cut = recent.next is not None and len(written) < _MOST_NAMED
    named = late[:_MOST_NAMED]
    jobs = job_references(sources, {one.job for one in named} | {one.job for one in written})
    datasets = dataset_references(sources, {one.target for one in written})
    return Home(
        totals=Totals(estate.jobs, estate.datasets, estate.failed),
        failed=estate.failed_since,
        failures=tuple(_failure(one) for one in estate.failures if one.at > since),
        late=len(late),
        late_jobs=tuple(
            LateJob(jobs[one.job], iso(one.last) or "", one.rhythm)
            for one in named
            if one.job in jobs
        ),
        written=tuple(
            WrittenDataset(datasets[one.target], iso(one.at) or "", jobs.get(one.job))
            for one in written
            if one.target in datasets
        ),
        executions=len(recent.items),
        partial=Partial("executions", EXECUTIONS_READ) if cut else None,
        as_of=iso(recent.items[0].at) if recent.items else None,
    )


def _failure(failed: FailedJob) -> FailedRun:
    return FailedRun(job_reference(failed.job), iso(failed.at) or "", cause_line(failed.error))


def _late(sources: Sources, now: int) -> list[_Late]:
    """The late jobs, the one that is longest late first.

    A job that is late waits longer than its rhythm, which is: than it mostly did.
    """
    waiting = sources.catalogue.waiting_jobs(sources.hidden, now=now, most=RUNS_COMPARED)
    late = [
        _Late(job, times[0], rhythm)
        for job, times in waiting.items()
        if (rhythm := rhythm_of(times)) is not None and is_late(times[0], rhythm, now)
    ]
    return sorted(late, key=lambda one: (one.last + one.rhythm, one.job))


def _written(recent: Iterable[RecentExecution]) -> list[RecentExecution]:
    """The last completed write of each of the datasets written last, newest first."""
    newest: dict[str, RecentExecution] = {}
    for one in recent:
        if one.kind == labels.WRITE_KIND and one.state != labels.FAILED and one.target:
            newest.setdefault(one.target, one)
    return list(newest.values())[:_MOST_NAMED]
