"""The visible writes of a table with a long history, read from a catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from graph_model import labels
from graph_model.facts import ExecutionRow, NameRow, PartitionRow, Row, row_key
from graph_model.lineage.history import Moment, history
from graph_model.lineage.history.history import History, moment_of
from graph_model.lineage.history.rules import REACH_MS, VisibleWrites
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import OlderWrites, SpanWrites
from graph_model.stores.database import open_database
from tests.contract.histories import HISTORIES, ROWS_BESIDE
from tests.contract.rows import an_execution, property_test

HOUR = 3_600_000
RUNS = 40


def a_write(plan: str, at: int, **values: Any) -> ExecutionRow:
    """One execution of an application of its own."""
    row = an_execution(f"{plan}-{at}", logical_plan=plan, at=at, application_id=f"app-{at}")
    return row._replace(**{"mode": labels.APPEND, **values})


def at_moment(tmp_path: Path, rows: Iterable[Row], moment: Moment) -> VisibleWrites:
    engine = open_database(tmp_path / "headwater.db")
    catalogue = Catalogue(engine)
    catalogue.record(list(rows))
    visible = History(catalogue).visible_writes.of([moment])[moment]
    engine.dispose()
    return visible


def newest(tmp_path: Path, rows: Iterable[Row]) -> VisibleWrites:
    return at_moment(tmp_path, rows, moment_of("ds-1", None))


def test_of_many_appends_the_newest_of_each_plan_and_the_period_of_the_others_are_read(
    tmp_path: Path,
) -> None:
    rows = [a_write("often", hour * HOUR) for hour in range(RUNS)]
    rare = [a_write("rare", hour * HOUR + 1) for hour in (3, 5)]
    visible = newest(tmp_path, [*rows, *rare])
    assert visible.older == (OlderWrites("often", "job-1", 0, (RUNS - 10) * HOUR),)
    assert {write.id for write in visible.writes if write.logical_plan == "rare"} == {
        row.id for row in rare
    }


def test_a_second_agent_s_reports_of_many_appends_are_no_writes_of_their_own(
    tmp_path: Path,
) -> None:
    rows = [a_write("listener", hour * HOUR) for hour in range(RUNS)]
    other = [
        row._replace(id=f"agent-{row.at}", logical_plan="agent", producer="openlineage-spark")
        for row in rows
    ]
    visible = newest(tmp_path, [*rows, *other])
    assert {write.logical_plan for write in visible.writes} == {"listener"}
    assert (len(visible.writes), visible.older) == (RUNS, ())


def test_of_many_overwrites_of_partitions_the_newest_of_each_partition_is_visible(
    tmp_path: Path,
) -> None:
    """Four regions, ten times each."""
    rows = [a_write("load", hour * HOUR, mode=labels.OVERWRITE_PARTITIONS) for hour in range(RUNS)]
    parts = [
        PartitionRow(row.id, "ds-1", "write", f"region={place % 4}")
        for place, row in enumerate(rows)
    ]
    visible = newest(tmp_path, [*rows, *parts])
    assert [write.at // HOUR for write in visible.writes] == [39, 38, 37, 36]
    assert (visible.older, visible.rough) == ((), False)


def test_writes_shortly_before_an_overwrite_are_not_visible_however_many(tmp_path: Path) -> None:
    """They are read, because a report of the overwrite may be a little earlier."""
    rows = [a_write("append", second * 1_000) for second in range(RUNS)]
    overwrite = a_write("whole", RUNS * 1_000, mode=labels.OVERWRITE)
    visible = newest(tmp_path, [*rows, overwrite])
    assert [write.id for write in visible.writes] == [overwrite.id]
    assert visible.older == ()


def test_a_period_that_ends_with_the_last_overwrite_is_listed() -> None:
    older = OlderWrites("often", "job-1", 0, 5 * HOUR)
    visible = history._visible_writes(
        moment_of("ds-1", None), 5 * HOUR, SpanWrites((), (older,)), ()
    )
    assert visible.older == (older,)


# --- an overwrite that another agent reports otherwise -------------------------------------------


def of_two_agents(at: int, **of_listener: Any) -> list[ExecutionRow]:
    """One overwrite that the listener reports in its way, and another agent as a whole one."""
    agent = a_write("agent-whole", at, mode=labels.OVERWRITE, producer="agent")
    return [agent, agent._replace(id=f"listener-{at}", producer="listener", **of_listener)]


def appends(first: int, count: int = RUNS) -> list[ExecutionRow]:
    return [a_write("load", hour * HOUR, producer="agent") for hour in range(first, first + count)]


def test_an_overwrite_of_another_branch_hides_no_earlier_write_however_many_follow(
    tmp_path: Path,
) -> None:
    """The agent does not know of branches, the listener does."""
    early = a_write("early", 0, producer="agent")
    branch = of_two_agents(
        10 * HOUR, logical_plan="publish", branch="audit", version="7", version_number=7
    )
    visible = newest(tmp_path, [early, *branch, *appends(11, 20)])
    assert early.id in {write.id for write in visible.writes}


def test_an_overwrite_of_one_partition_hides_no_earlier_write_however_many_follow(
    tmp_path: Path,
) -> None:
    early = a_write("early", 0, producer="agent")
    partial = of_two_agents(
        10 * HOUR, logical_plan="part", mode=labels.OVERWRITE_PARTITIONS, dynamic=True
    )
    parts = [
        PartitionRow(early.id, "ds-1", "write", "dt=1"),
        PartitionRow(partial[1].id, "ds-1", "write", "dt=2"),
    ]
    rows = [early, *partial, *parts, *appends(11, 20)]
    moment = moment_of("ds-1", None)._replace(partitions=("dt=1",))
    visible = at_moment(tmp_path, rows, moment)
    assert early.id in {write.id for write in visible.writes}


@pytest.mark.parametrize("count", [5, 20, 2_100])
@pytest.mark.parametrize("length", [0, HOUR])
def test_an_overwrite_stays_visible_where_its_better_report_is_a_little_earlier(
    tmp_path: Path, count: int, length: int
) -> None:
    """The report that names all inputs is 9 s older than the one that SQL finds last."""
    agent, listener = of_two_agents(10 * HOUR, logical_plan="listener-whole")
    agent = agent._replace(at=agent.at - 9_000)
    rows = [agent, listener, *appends(11, count)]
    at = (12 + count) * HOUR
    visible = at_moment(tmp_path, rows, Moment("ds-1", at, at + length))
    seen = {write.logical_plan for write in visible.writes}
    seen |= {older.logical_plan for older in visible.older}
    assert "agent-whole" in seen


# --- rows that cannot be told apart, or stand under two names ------------------------------------


def test_an_overwrite_under_another_name_of_the_table_counts_among_many_writes(
    tmp_path: Path,
) -> None:
    """``ds-name`` stands for ``ds-1``."""
    loads = [a_write("load", hour * HOUR) for hour in range(20)]
    over = a_write(
        "over", 30 * HOUR, target="ds-name", mode=labels.OVERWRITE_PARTITIONS, dynamic=True
    )
    parts = [PartitionRow(row.id, row.target, "write", "dt=1") for row in (*loads, over)]
    name = NameRow("ds-name", "ds-1", over.id, 0)
    visible = newest(tmp_path, [*loads, over, *parts, name])
    assert [write.id for write in visible.writes] == [over.id]
    assert visible.older == ()


def test_overwrites_of_partitions_at_one_millisecond_are_read_row_by_row(tmp_path: Path) -> None:
    rows = [
        a_write("load", 0, mode=labels.OVERWRITE_PARTITIONS, dynamic=True)._replace(
            id=f"load-{number:02}", application_id=f"app-{number}"
        )
        for number in range(16)
    ]
    parts = [
        PartitionRow(row.id, "ds-1", "write", f"dt={place % 2}") for place, row in enumerate(rows)
    ]
    visible = newest(tmp_path, [*rows, *parts])
    assert [write.id for write in visible.writes] == ["load-15", "load-14"]
    assert visible.older == ()


def test_inserts_of_many_create_commands_are_no_writes_of_their_own(tmp_path: Path) -> None:
    """Each CREATE TABLE IF NOT EXISTS … AS SELECT reports its insert and then itself."""
    command = labels.CTAS_COMMANDS[0]
    inserts = [a_write("insert", hour * HOUR, command="InsertIntoTable") for hour in range(20)]
    creates = [
        row._replace(id=f"create-{row.at}", at=row.at + 300, logical_plan="create", command=command)
        for row in inserts
    ]
    visible = newest(tmp_path, [*inserts, *creates])
    assert all(len(write.executions) == 2 for write in visible.writes)
    assert (len(visible.writes), visible.older) == (20, ())


# --- brute force ---------------------------------------------------------------------------------


def _spread(row: Any) -> Row:
    """Seven seconds between two times: some reports of one write are apart, others are not. All
    write one target, each plan's by an agent of its own.
    """
    if isinstance(row, ExecutionRow):
        producer = f"agent of {row.logical_plan}"
        row = row._replace(target="ds-0", producer=producer, state="completed", kind="write")
    spread: Row = row._replace(at=row.at * 7_000) if hasattr(row, "at") else row
    return spread


_MOMENTS = [
    Moment(target, at * 7_000, (at + length) * 7_000, parts)
    for target in ("ds-0", "ds-2")
    for at in (5, 14)
    for length in (0, 4)
    for parts in ((), ("dt=1",))
]


@settings(property_test, max_examples=100)
@given(rows=HISTORIES, beside=ROWS_BESIDE)
def test_every_visible_write_is_listed_or_in_a_period_of_one_of_its_plans_however_few_are_read(
    rows: list[ExecutionRow], beside: list[Row]
) -> None:
    catalogue = Catalogue(open_database(":memory:"))
    spread = [*map(_spread, rows), *map(_spread, beside)]
    catalogue.record([*{row_key(row): row for row in spread}.values()])
    executions = {row.id: row for row in spread if isinstance(row, ExecutionRow)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "EXACT_EXECUTIONS", 100)
        whole = History(catalogue).visible_writes.of(_MOMENTS)
        patch.setattr(history, "EXACT_EXECUTIONS", 1)
        few = History(catalogue).visible_writes.of(_MOMENTS)
    for moment, visible in whole.items():
        listed = {write.id for write in few[moment].writes}
        for write in visible.writes:
            reports = [executions[execution] for execution in write.executions]
            of_plans = {report.logical_plan for report in reports}
            # Of agents that contradict each other about the branch one alone is in the period.
            early = REACH_MS if len({report.branch for report in reports}) > 1 else 0
            assert write.id in listed or any(
                older.logical_plan in of_plans and older.first - early <= write.at <= older.last
                for older in few[moment].older
            ), (moment, write)
