"""The list of all executions, on every database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import ExecutionRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import RecentExecution
from graph_model.stores.database import open_database
from tests.contract.databases import recorded_plans
from tests.contract.rows import EXECUTIONS, TIMES, a_job, an_execution, property_test

_JOBS = [a_job(f"job-{n}", "ns", f"job {n}") for n in range(4)]


@property_test
@given(
    rows=EXECUTIONS,
    hidden=st.sets(st.sampled_from([row.id for row in _JOBS])),
    state=st.none() | st.sampled_from(["completed", "failed"]),
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
        page = catalogue.recent_executions(hidden, state=state, limit=limit, cursor=cursor, at=at)
        assert page.total == len(expected)
        found += page.items
        cursor = page.next
        if cursor is None:
            break
    assert [one.id for one in found] == expected


def test_doubtful_executions_are_listed_alone_from_an_index_of_their_own() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    doubtful = [an_execution(f"ex-{number}", at=number, ahead=5) for number in range(3)]
    catalogue.record([*doubtful, *(an_execution(f"ok-{number}", at=number) for number in range(9))])
    with recorded_plans(engine) as lines:
        page = catalogue.recent_executions((), doubtful=True, limit=2)
    assert [(one.id, one.at, one.ahead) for one in page.items] == [("ex-2", 2, 5), ("ex-1", 1, 5)]
    assert page.total == 3
    assert any("catalogue_executions_doubtful" in line for line in lines)
    engine.dispose()


def test_a_page_follows_the_index_by_time() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    with recorded_plans(engine) as lines:
        catalogue.recent_executions(["job-1"], counted=False, limit=100)
    assert any("catalogue_executions_by_time" in line for line in lines)
    assert "USE TEMP B-TREE FOR ORDER BY" not in lines, "sorted instead of read in order"
    engine.dispose()
