"""What needs somebody now: ``/graph/incidents``, the desk of the person on call.

Failures of the last day come grouped by their error, without its numbers: 40 jobs that found the
same disk full are one incident, with the jobs, since when they fail, whose they are, the last good
runs to compare them with, and what lies downstream. Beside them stand running jobs, and of the
newest executions the writes that took unusually long or wrote unusually few rows, and the tables
whose checks failed.

What is usual is the median of a table's earlier writes, at least three of the ``_COMPARED`` before.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final

from graph_model import labels
from graph_model.answers.facets import owners_of, quality_marks
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import ExecutionRow
from graph_model.instants import iso
from graph_model.lineage import Partial, Question, Reach
from graph_model.picture.view import CheckView, DatasetReference, JobReference, job_reference
from graph_model.stores.catalogue_values import FailedJob, RecentExecution
from graph_model.stores.graph import Direction
from graph_model.texts import cause_line

EXECUTIONS_READ: Final = 1_000
_FAILURES_READ: Final = 1_000
_DAY_MS: Final = 24 * 3_600_000
#: So many incidents have the number of nodes downstream, which costs a walk each.
_WALKED: Final = 12
_DEPTH: Final = 30
_NODES: Final = 500
_MOST_NAMED: Final = 12
_COMPARED: Final = 7
_LEAST_WRITES: Final = 3
_SLOW: Final = 2
_SLOW_MS: Final = 60_000
_SMALL: Final = 4


@dataclass(frozen=True, slots=True)
class FailingJob:
    """``run`` failed at ``at``; ``since``: the first failure after the last good run. ``good_run``
    and ``good_at`` are None where no run is known to have completed.
    """

    job: JobReference
    at: str
    since: str
    run: str
    good_run: str | None
    good_at: str | None
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Incident:
    """Failures with one error. ``tables`` and ``readers`` count what lies downstream, the written
    tables and the jobs that only read (dashboards) included; None: it was not looked for.
    ``partial``: the bound of that walk.
    """

    error: str | None
    first: str
    last: str
    owners: tuple[str, ...]
    members: tuple[FailingJob, ...]
    tables: int | None
    readers: int | None
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class RunningJob:
    job: JobReference
    run: str
    at: str


@dataclass(frozen=True, slots=True)
class UnusualWrite:
    """The newest write of a table: its duration in ms or its number of rows, and the usual one."""

    dataset: DatasetReference
    job: JobReference | None
    run: str
    at: str
    value: int
    usual: int


@dataclass(frozen=True, slots=True)
class FailedChecks:
    """``check`` names the first failed one of ``failures``."""

    dataset: DatasetReference
    at: str
    check: str
    failures: int


@dataclass(frozen=True, slots=True)
class Incidents:
    """``failed`` counts the jobs whose newest run failed in the last day, ``running`` executions.
    Slow and small writes and failed checks are those of tables written in the last day among the
    newest ``executions``; ``partial``: the bound, where more were written.
    """

    failed: int
    incidents: tuple[Incident, ...]
    running: int
    running_jobs: tuple[RunningJob, ...]
    slow: tuple[UnusualWrite, ...]
    small: tuple[UnusualWrite, ...]
    checks: tuple[FailedChecks, ...]
    executions: int
    partial: Partial | None


@of_one_state
def incidents(sources: Sources, *, now: int) -> Incidents:
    """``now``: epoch ms by the server's clock."""
    since = now - _DAY_MS
    catalogue, hidden = sources.catalogue, sources.hidden
    estate = catalogue.estate(hidden, failures=_FAILURES_READ, at=None, since=since)
    running = catalogue.recent_executions(hidden, state=labels.RUNNING, limit=_MOST_NAMED)
    recent = catalogue.recent_executions(hidden, counted=False, limit=EXECUTIONS_READ)
    written = {one.target: None for one in recent.items if one.target and one.at > since}
    cut = recent.next is not None and recent.items[-1].at > since
    slow, small = _unusual(sources, written, since)
    return Incidents(
        failed=estate.failed_since,
        incidents=_grouped(sources, [one for one in estate.failures if one.at > since]),
        running=running.total,
        running_jobs=_running(sources, running.items),
        slow=slow,
        small=small,
        checks=_failed_checks(sources, written),
        executions=len(recent.items),
        partial=Partial("executions", EXECUTIONS_READ) if cut else None,
    )


# --- failures ------------------------------------------------------------------------------------


def _grouped(sources: Sources, failures: Sequence[FailedJob]) -> tuple[Incident, ...]:
    """The incidents, those with most jobs first, then the newest."""
    members = _members(sources, failures)
    groups: defaultdict[str, list[FailedJob]] = defaultdict(list)
    for failure in failures:
        groups[pattern_of(cause_line(failure.error))].append(failure)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), -group[0].at))
    return tuple(
        _incident(sources, group, members, walked=place < _WALKED)
        for place, group in enumerate(ordered)
    )


_CHANGING: Final = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*|[0-9]+")


def pattern_of(error: str | None) -> str:
    """An error without the numbers and ids by which its repetitions differ: ``part-00012`` and
    ``part-00031`` are one.
    """
    return _CHANGING.sub("#", error or "")


def _members(sources: Sources, failures: Iterable[FailedJob]) -> dict[str, FailingJob]:
    catalogue = sources.catalogue
    failing = {failure.job.id: failure for failure in failures}
    newest = catalogue.last_executions(failing, None)
    good = catalogue.last_completed(failing, None)
    first = catalogue.first_failures({(job, good[job].at if job in good else 0) for job in failing})
    owners = owners_of(failing, "job", catalogue, None)
    return {
        job: FailingJob(
            job=job_reference(failure.job),
            at=iso(failure.at) or "",
            since=iso(first.get(job, failure.at)) or "",
            run=newest[job].run if job in newest else "",
            good_run=good[job].run if job in good else None,
            good_at=iso(good[job].at) if job in good else None,
            owners=owners.get(job, ()),
        )
        for job, failure in failing.items()
    }


def _incident(
    sources: Sources,
    group: Sequence[FailedJob],
    members: Mapping[str, FailingJob],
    *,
    walked: bool,
) -> Incident:
    """``group``: newest first."""
    failing = [members[failure.job.id] for failure in group]
    tables, readers, partial = _downstream(sources, group) if walked else (None, None, None)
    return Incident(
        error=cause_line(group[0].error),
        first=min(one.since for one in failing),
        last=failing[0].at,
        owners=tuple(dict.fromkeys(owner for one in failing for owner in one.owners)),
        members=tuple(failing),
        tables=tables,
        readers=readers,
        partial=partial,
    )


def _downstream(sources: Sources, group: Iterable[FailedJob]) -> tuple[int, int, Partial | None]:
    """How many tables the failed plans write, with all tables downstream, and how many jobs only
    read one of them.
    """
    catalogue = sources.catalogue
    tried = catalogue.attempts([failure.job.id for failure in group], None)
    rows = catalogue.logical_plans({plan for _, plan in tried})
    starts = {row.target for row in rows} - {""}
    if not starts:
        return 0, 0, None
    question = Question("", Direction.DOWNSTREAM, depth=_DEPTH, limit=_NODES, reach=Reach.POSSIBLE)
    answer = sources.lineage.ask_downstream(starts, question)
    readers = {use.job for use in answer.plans if not use.targets}
    tables = starts | set(answer.datasets)
    return len(tables - sources.hidden), len(readers - sources.hidden), answer.partial


# --- beside the failures -------------------------------------------------------------------------


def _running(sources: Sources, executions: Sequence[RecentExecution]) -> tuple[RunningJob, ...]:
    jobs = job_references(sources, {one.job for one in executions})
    return tuple(
        RunningJob(jobs[one.job], one.run, iso(one.at) or "")
        for one in executions
        if one.job in jobs
    )


def _unusual(
    sources: Sources, written: Collection[str], since: int
) -> tuple[tuple[UnusualWrite, ...], tuple[UnusualWrite, ...]]:
    """The slow and the small writes among the newest of these tables."""
    writes = sources.catalogue.newest_writes_of(written, _COMPARED + 1)
    newest = [rows for rows in writes.values() if rows[0].at > since]
    slow = _outside(newest, _duration_of, is_slow)
    small = _outside(newest, _rows_of, is_small)
    named = [row for row, _, _ in (*slow, *small)]
    jobs = job_references(sources, {row.job for row in named})
    datasets = dataset_references(sources, {row.target for row in named})

    def views(found: Iterable[tuple[ExecutionRow, int, int]]) -> tuple[UnusualWrite, ...]:
        return tuple(
            UnusualWrite(
                datasets[row.target], jobs.get(row.job), row.run, iso(row.at) or "", value, usual
            )
            for row, value, usual in found
            if row.target in datasets
        )

    return views(slow), views(small)


def _outside(
    histories: Iterable[Sequence[ExecutionRow]],
    measure: Callable[[ExecutionRow], int | None],
    unusual: Callable[[int, int], bool],
) -> list[tuple[ExecutionRow, int, int]]:
    """The newest rows with an unusual measure, that and the median before; newest first."""
    found = []
    for newest, *before in histories:
        value = measure(newest)
        known = [one for row in before if (one := measure(row)) is not None]
        if value is None or len(known) < _LEAST_WRITES:
            continue
        usual = median_low(known)
        if unusual(value, usual):
            found.append((newest, value, usual))
    found.sort(key=lambda one: (-one[0].at, one[0].id))
    return found[:_MOST_NAMED]


def is_slow(value: int, usual: int) -> bool:
    """Twice the usual time and a minute more (ms)."""
    return value > _SLOW * usual and value > usual + _SLOW_MS


def is_small(value: int, usual: int) -> bool:
    """Less than a quarter of the usual rows."""
    return value * _SMALL < usual


def _duration_of(row: ExecutionRow) -> int | None:
    return None if row.duration_ns is None else row.duration_ns // 1_000_000


def _rows_of(row: ExecutionRow) -> int | None:
    metrics = json.loads(row.metrics)
    value = metrics.get("write", {}).get("numOutputRows") if isinstance(metrics, dict) else None
    return value if isinstance(value, int) else None


def _failed_checks(sources: Sources, written: Mapping[str, None]) -> tuple[FailedChecks, ...]:
    marks = quality_marks(sources, set(written) - sources.hidden, None)
    failed = {key: mark for key, mark in marks.items() if mark.failures > 0}
    datasets = dataset_references(sources, failed)
    found = [
        FailedChecks(datasets[key], mark.at, _words_of(mark.failed[0]), mark.failures)
        for key, mark in failed.items()
        if key in datasets and mark.failed
    ]
    found.sort(key=lambda one: (one.at, one.dataset.id), reverse=True)
    return tuple(found[:_MOST_NAMED])


def _words_of(check: CheckView) -> str:
    return f"{check.assertion} ({check.column})" if check.column else check.assertion
