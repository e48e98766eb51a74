"""The visible writes of a table with a long history, read from a catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from graph_model import labels
from graph_model.facts import ExecutionRow, PartitionRow, Row
from graph_model.lineage.history.history import History
from graph_model.lineage.history.versions import VisibleWrites
from graph_model.lineage.history.visible_write_reader import moment_of
from graph_model.stores.catalogue import SqlCatalogue
from graph_model.stores.database import open_database
from graph_model.stores.protocols import OlderWrites
from tests.contract.rows import an_execution

HOUR = 3_600_000
RUNS = 40


def a_write(plan: str, at: int, **values: Any) -> ExecutionRow:
    """One execution of an application of its own."""
    row = an_execution(f"{plan}-{at}", logical_plan=plan, at=at, application_id=f"app-{at}")
    return row._replace(**{"mode": labels.APPEND, **values})


def newest(tmp_path: Path, rows: Iterable[Row]) -> VisibleWrites:
    engine = open_database(tmp_path / "headwater.db")
    catalogue = SqlCatalogue(engine)
    catalogue.record(list(rows))
    moment = moment_of("ds-1", None)
    found = History(catalogue).visible_writes.of([moment])[moment]
    engine.dispose()
    return found


def test_of_many_appends_the_newest_of_each_plan_and_the_period_of_the_others_are_read(
    tmp_path: Path,
) -> None:
    rows = [a_write("often", hour * HOUR) for hour in range(RUNS)]
    rare = [a_write("rare", hour * HOUR + 1) for hour in (3, 5)]
    found = newest(tmp_path, [*rows, *rare])
    assert found.older == (OlderWrites("often", "job-1", 0, (RUNS - 10) * HOUR),)
    assert {write.id for write in found.writes if write.logical_plan == "rare"} == {
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
    found = newest(tmp_path, [*rows, *other])
    assert {write.logical_plan for write in found.writes} == {"listener"}
    assert (len(found.writes), found.older) == (RUNS, ())


def test_of_many_overwrites_of_partitions_the_newest_of_each_partition_is_visible(
    tmp_path: Path,
) -> None:
    """Four regions, ten times each."""
    rows = [a_write("load", hour * HOUR, mode=labels.OVERWRITE_PARTITIONS) for hour in range(RUNS)]
    parts = [
        PartitionRow(row.id, "ds-1", "write", f"region={place % 4}")
        for place, row in enumerate(rows)
    ]
    found = newest(tmp_path, [*rows, *parts])
    assert [write.at // HOUR for write in found.writes] == [39, 38, 37, 36]
    assert (found.older, found.rough) == ((), False)


def test_writes_shortly_before_an_overwrite_are_not_visible_however_many(tmp_path: Path) -> None:
    """They are read, because a report of the overwrite may be a little earlier."""
    rows = [a_write("append", second * 1_000) for second in range(RUNS)]
    overwrite = a_write("whole", RUNS * 1_000, mode=labels.OVERWRITE)
    found = newest(tmp_path, [*rows, overwrite])
    assert [write.id for write in found.writes] == [overwrite.id]
    assert found.older == ()
