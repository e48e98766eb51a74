"""The home page of an estate in which the newest executions are those of a few busy jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graph_model.answers.home import home
from graph_model.facts import ExecutionRow
from graph_model.lineage import Partial
from tests.contract.rows import a_dataset, a_job, an_execution
from tests.projections import SmallHeadwater, small_headwater

HOUR = 3_600_000
DAY = 24 * HOUR
NOW = 1_772_323_200_000
DAILY, BUSY = 300, 5
LATE, FAILED = 17, 42


def runs_of(job: int, ends: Iterator[int]) -> list[ExecutionRow]:
    """The newest first, each of them a run of one execution."""
    return [
        an_execution(
            f"ex-{job}-{run}", job=f"job-{job}", run=f"run-{job}-{run}", target=f"ds-{job}", at=end
        )
        for run, end in enumerate(ends)
    ]


def daily(job: int) -> list[ExecutionRow]:
    """50 runs, the newest 8 to 20 hours ago; of the late job two days ago."""
    newest = 2 * DAY if job == LATE else 8 * HOUR + job * 144_000
    if job == FAILED:
        newest = 8 * HOUR
    rows = runs_of(job, (NOW - newest - run * DAY for run in range(50)))
    if job == FAILED:
        rows[0] = rows[0]._replace(state="failed", error="boom")
    return rows


@pytest.fixture(scope="module")
def estate() -> Iterator[SmallHeadwater]:
    """In the last seven hours only busy jobs ran, 10,000 times."""
    headwater = small_headwater()
    jobs = range(DAILY + BUSY)
    rows = [row for job in range(DAILY) for row in daily(job)]
    for job in range(DAILY, DAILY + BUSY):
        rows += runs_of(job, (NOW - run * 12_000 for run in range(2_000)))
    assert sum(row.at > NOW - 7 * HOUR for row in rows) == 10_000
    headwater.catalogue.copy([
        *(a_job(f"job-{job}", "etl", f"job {job}") for job in jobs),
        *(a_dataset(f"ds-{job}", f"s3://lake/{job}") for job in jobs),
        *rows,
    ])  # fmt: skip
    yield headwater
    headwater.close()


def test_late_jobs_and_failures_are_found_behind_any_number_of_newer_executions(
    estate: SmallHeadwater,
) -> None:
    found = home(estate.sources, now=NOW)
    assert (found.failed, found.totals.failed) == (1, 1)
    assert [(one.job.name, one.error) for one in found.failures] == [(f"job {FAILED}", "boom")]
    assert found.late == 1
    assert [(one.job.name, one.every_ms) for one in found.late_jobs] == [(f"job {LATE}", DAY)]


def test_tables_written_lately_are_found_among_the_newest_executions_and_the_bound_is_reported(
    estate: SmallHeadwater,
) -> None:
    found = home(estate.sources, now=NOW)
    assert len(found.written) == BUSY
    assert found.executions == 1_000
    assert found.partial == Partial("executions", 1_000)


def test_hidden_jobs_are_neither_late_nor_failed(estate: SmallHeadwater) -> None:
    hidden = frozenset({f"job-{LATE}", f"job-{FAILED}"})
    found = home(replace(estate.sources, hidden=hidden), now=NOW)
    assert (found.failed, found.failures, found.late, found.late_jobs) == (0, (), 0, ())
