"""The jobs that wait for their next run, on every database."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import ExecutionRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.contract.databases import full_scans, instructions, recorded_plans
from tests.contract.rows import EXECUTIONS, a_job, an_execution, property_test

_JOBS = [a_job(f"job-{n}", "ns", f"job {n}") for n in range(3)]
_EACH_RUN = st.integers(0, 40).map(lambda at: an_execution("", at=at, run=f"run-{at}"))
_REGULAR = st.lists(_EACH_RUN, max_size=12, unique_by=lambda row: row.at).map(
    lambda rows: [row._replace(id=f"ex-{row.at:02}") for row in rows]
)


def ends_of_runs(rows: list[ExecutionRow], job: str, most: int) -> list[int]:
    """Newest first: of each run that does not lie within a newer one."""
    left = [row for row in rows if row.job == job]
    ends: list[int] = []
    while left and len(ends) < most:
        newest = max(row.at for row in left)
        run = min((row.id, row.run) for row in left if row.at == newest)[1]
        first = min(row.at for row in rows if (row.job, row.run) == (job, run))
        ends.append(newest)
        left = [row for row in left if row.at < first]
    return ends


@property_test
@given(
    rows=EXECUTIONS | _REGULAR,
    hidden=st.sets(st.sampled_from([row.id for row in _JOBS])),
    now=st.integers(0, 60),
    most=st.integers(2, 7),
)
def test_waiting_jobs_are_all_but_those_that_mostly_waited_as_long(
    catalogue: Catalogue, rows: list[ExecutionRow], hidden: set[str], now: int, most: int
) -> None:
    catalogue.clear()
    catalogue.record([*_JOBS, *rows])
    expected = {}
    for job in {row.id for row in _JOBS} - hidden:
        ends = ends_of_runs(rows, job, most)
        as_long = [1 for later, earlier in pairwise(ends) if later - earlier >= now - ends[0]]
        if ends and len(as_long) < most // 2:
            expected[job] = tuple(ends)
    assert catalogue.waiting_jobs(hidden, now=now, most=most) == expected


def test_executions_of_one_run_have_one_time_however_many_they_are(
    catalogue: Catalogue,
) -> None:
    rows = [
        an_execution(f"ex-{run}-{number}", run=f"run-{run}", at=run * 1_000 + number)
        for run in range(5)
        for number in range(50)
    ]
    catalogue.record([_JOBS[1], *rows])
    found = catalogue.waiting_jobs((), now=6_000, most=4)
    assert found == {"job-1": (4_049, 3_049, 2_049, 1_049)}


@pytest.mark.parametrize("per_run", [1, 100])
def test_neither_a_long_history_nor_a_long_run_is_walked_through(per_run: int) -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    steps = []
    for many in (8 * per_run, 80 * per_run):
        catalogue.clear()
        rows = [an_execution(f"e{n}", at=n, run=f"run-{n // per_run}") for n in range(many)]
        catalogue.record([_JOBS[1], *rows])

        def ask(many: int = many) -> None:
            assert len(catalogue.waiting_jobs((), now=many + 2 * per_run, most=7)["job-1"]) == 7

        ask()
        steps.append(instructions(engine, ask))
    assert steps[1] < 1.2 * steps[0] + 5, steps
    assert steps[1] < 200, steps
    engine.dispose()


def test_each_step_is_a_seek_in_an_index() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    with recorded_plans(engine) as lines:
        catalogue.waiting_jobs(["job-2"], now=5, most=7)
    seeks = [line for line in lines if " seen " in line]
    by_job, by_run = "catalogue_executions_by_job", "catalogue_executions_by_job_and_run"
    assert sorted(line.partition("INDEX ")[2] for line in seeks) == [
        f"{by_job} (job=? AND at<?)",
        f"{by_job} (job=? AND at=?)",
        f"{by_job} (job=?)",
        f"{by_run} (job=? AND run=?)",
    ]
    assert all(line.startswith("SEARCH seen USING ") for line in seeks), seeks
    assert full_scans(lines, ("catalogue_executions", "seen")) == []
    engine.dispose()
