"""Totals and the last failures, on every database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import DatasetRow, ExecutionRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.contract.databases import full_scans, instructions, recorded_plans
from tests.contract.rows import EXECUTIONS, TIMES, a_dataset, a_job, an_execution, property_test

_JOBS = [a_job(f"job-{n}", "ns", f"job {n}") for n in range(4)]
_DATASETS = [
    *(a_dataset(f"ds-{n}", f"s3://b/{n}") for n in range(3)),
    DatasetRow("ds-name", "spark_catalog/a.b", "", "a.b", "name"),
]


def newest(rows: list[ExecutionRow], job: str, at: int | None) -> ExecutionRow | None:
    own = [row for row in rows if row.job == job and (at is None or row.at <= at)]
    return max(own, key=lambda row: (row.at, row.id), default=None)


@property_test
@given(
    rows=EXECUTIONS,
    hidden=st.sets(st.sampled_from([row.id for row in (*_JOBS, *_DATASETS)])),
    failures=st.integers(1, 4),
    at=st.none() | TIMES,
    since=st.none() | TIMES,
)
def test_the_estate_counts_present_nodes_and_its_failures_are_the_newest(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    hidden: set[str],
    failures: int,
    at: int | None,
    since: int | None,
) -> None:
    catalogue.clear()
    catalogue.record([*_JOBS, *_DATASETS, *rows])
    found = catalogue.estate(hidden, failures=failures, at=at, since=since)
    jobs = {item.job.id for item in catalogue.list_jobs(now=0, hidden=hidden, at=at).items}
    listed = catalogue.list_datasets(hidden=hidden, at=at)
    assert (found.jobs, found.datasets) == (len(jobs), len(listed.items))
    last = [row for job in jobs if (row := newest(rows, job, at)) is not None]
    failed = sorted((-row.at, row.job, row.error or "") for row in last if row.state == "failed")
    assert found.failed == len(failed)
    assert found.failed_since == sum(since is None or -one[0] > since for one in failed)
    named = [(-one.at, one.job.id, one.error or "") for one in found.failures]
    assert named == failed[:failures]


@property_test
@given(rows=EXECUTIONS, at=st.none() | TIMES)
def test_attempts_are_the_plans_that_ended_so_in_a_newest_run_without_success(
    catalogue: Catalogue, rows: list[ExecutionRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record([*_JOBS, *rows])
    expected = {
        (row.job, row.logical_plan)
        for job in _JOBS
        if (last := newest(rows, job.id, at)) is not None and last.state != "completed"
        for row in rows
        if (row.job, row.run) == (last.job, last.run)
        and row.state != "completed"
        and row.at <= last.at
        and row.kind in ("write", "read")
    }
    assert catalogue.attempts([job.id for job in _JOBS], at) == expected


def test_a_long_history_costs_nothing_and_no_execution_is_walked_to() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    steps = []
    for many in (200, 2_000):
        catalogue.clear()
        rows = [an_execution(f"e{n:05}", at=n, state="failed", error="e") for n in range(many)]
        catalogue.record([a_job("job-1", "ns", "j"), *rows])

        def ask() -> None:
            catalogue.estate((), failures=20, at=None)
            catalogue.attempts(["job-1"], None)

        ask()
        steps.append(instructions(engine, ask))
    assert steps[1] < 1.5 * steps[0], steps
    with recorded_plans(engine) as lines:
        catalogue.estate(["job-1"], failures=20, at=900)
        catalogue.attempts(["job-1", "job-2"], 900)
    assert lines
    assert full_scans(lines, ("catalogue_executions", "listed", "seen", "last", "beside")) == []
    engine.dispose()
