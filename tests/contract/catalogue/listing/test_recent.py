"""The list of all executions, on every database."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import ExecutionRow, RunRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import RecentExecution
from graph_model.stores.database import open_database
from tests.contract.databases import recorded_plans
from tests.contract.rows import EXECUTIONS, TIMES, a_job, a_run, an_execution, property_test

_JOBS = [a_job(f"job-{n}", "ns", f"job {n}") for n in range(4)]


@property_test
@given(
    rows=EXECUTIONS,
    hidden=st.sets(st.sampled_from([row.id for row in _JOBS])),
    state=st.none() | st.sampled_from(["completed", "failed", "aborted", "running"]),
    at=st.none() | TIMES,
    limit=st.integers(1, 3),
)
def test_pages_together_are_all_writes_and_reads_newest_first(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    hidden: set[str],
    state: str | None,
    at: int | None,
    limit: int,
) -> None:
    catalogue.clear()
    catalogue.record([*_JOBS, *rows])
    expected = [
        row.id
        for row in sorted(rows, key=lambda row: (row.at, row.id), reverse=True)
        if row.kind in ("write", "read")
        and row.job not in hidden
        and row.target not in hidden
        and (state is None or row.state == state)
        and (at is None or row.at <= at)
    ]
    found: list[RecentExecution] = []
    cursor = None
    while True:
        page = catalogue.recent_executions(
            hidden, state=state, limit=limit, cursor=cursor, at=at, now=0
        )
        assert page.total == len(expected)
        found += page.items
        cursor = page.next
        if cursor is None:
            break
    assert [one.id for one in found] == expected


def _run_below(parent: str, number: int, run: str, ended_at: int | None = None) -> RunRow:
    own = {"subject": f"of {number}", "run_id": run, "scope": "", "last_at": 9, "root_run": ""}
    return a_run(number, **own, parent_run=parent, ended_at=ended_at)


def test_an_execution_is_aborted_once_a_run_further_above_has_ended(catalogue: Catalogue) -> None:
    """Ids of runs that stand in several rows, and in a cycle, end the walk at its bound."""
    running = an_execution("e-1", job="job-1", at=5, subject="of 0", running=True)
    above = [("mid", "child"), ("top", "mid"), ("dag", "mid")]
    cycle = [("mid", "top"), ("other", "top"), ("top", "other"), ("top", "other")]
    rows = [_run_below(parent, number, run) for number, (parent, run) in enumerate(above + cycle)]
    catalogue.record([*_JOBS, running, *rows, _run_below("", 20, "dag", 20)])
    for now, state in ((19, "running"), (20, "aborted")):
        (item,) = catalogue.recent_executions((), state=state, now=now).items
        assert (item.id, item.state) == ("e-1", state)


def test_doubtful_executions_are_listed_alone_from_an_index_of_their_own() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    doubtful = [an_execution(f"ex-{number}", at=number, ahead=5) for number in range(3)]
    catalogue.record([*doubtful, *(an_execution(f"ok-{number}", at=number) for number in range(9))])
    with recorded_plans(engine) as lines:
        page = catalogue.recent_executions((), now=0, doubtful=True, limit=2)
    assert [(one.id, one.at, one.ahead) for one in page.items] == [("ex-2", 2, 5), ("ex-1", 1, 5)]
    assert page.total == 3
    assert any("catalogue_executions_doubtful" in line for line in lines)
    engine.dispose()


def test_running_executions_are_listed_and_counted_from_an_index_of_their_own() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    rows = [an_execution(f"ex-{n}", at=n, subject=f"of {n}", running=n < 3) for n in range(9)]
    catalogue.record([*_JOBS, *rows, _run_below("", 2, "ended", ended_at=5)])
    with recorded_plans(engine) as lines:
        page = catalogue.recent_executions((), now=6, state="running", limit=1)
    assert ([one.id for one in page.items], page.total) == (["ex-1"], 2)
    walked = [line for line in lines if line.startswith("SCAN catalogue_executions")]
    assert len(walked) == 2
    assert all(line.endswith("catalogue_executions_running") for line in walked)
    engine.dispose()


def test_words_are_looked_for_in_errors_jobs_applications_and_plans(catalogue: Catalogue) -> None:
    catalogue.clear()
    rows = [
        an_execution("ex-1", at=1, job="job-1", error="ERROR: Division by 0%", state="failed"),
        an_execution("ex-2", at=2, job="job-2", application_id="application_17_0001"),
        an_execution("ex-3", at=3, job="job-1", plan_id="run:4f1a0000-2655-4b47-95b2-b912b8998697"),
    ]
    catalogue.record([*_JOBS, *rows])

    def words(query: str, **more: Any) -> list[str]:
        page = catalogue.recent_executions((), now=0, query=query, **more)
        assert page.total == len(page.items)
        return [one.id for one in page.items]

    assert words("division 0%") == ["ex-1"]
    assert words("division job 2") == []
    assert words("APPLICATION_17") == ["ex-2"]
    assert words("4f1a0000-2655-4b47-95b2-b912b8998697") == ["ex-3"]
    assert words("job") == ["ex-3", "ex-2", "ex-1"]
    assert words("job", since=1) == ["ex-3", "ex-2"]
    assert words("", job="job-1") == ["ex-3", "ex-1"]
    assert words("job", by_job_name=False) == []
    assert words("division", by_job_name=False) == ["ex-1"]
    assert words("job division", by_job_name=False) == ["ex-1"]


def test_the_time_behind_so_many_of_the_newest_executions(catalogue: Catalogue) -> None:
    catalogue.clear()
    catalogue.record([an_execution(f"ex-{n}", at=n, job=f"job-{n % 2}") for n in range(6)])
    assert catalogue.recent_until(2, at=None, now=0) == 3
    assert catalogue.recent_until(2, at=4, now=0) == 2
    assert catalogue.recent_until(2, job="job-1", at=None, now=0) == 1
    assert catalogue.recent_until(6, at=None, now=0) is None


def test_a_page_follows_the_index_by_time() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    with recorded_plans(engine) as lines:
        catalogue.recent_executions(["job-1"], counted=False, limit=100, now=0)
    assert any("catalogue_executions_by_time" in line for line in lines)
    assert "USE TEMP B-TREE FOR ORDER BY" not in lines, "sorted instead of read in order"
    engine.dispose()
