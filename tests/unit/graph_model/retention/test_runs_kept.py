"""``runs=N`` keeps runs: however many tables a run writes, all its executions stay."""

from __future__ import annotations

from collections import Counter

import pytest

from graph_model.producers.commands import Prune
from graph_model.retention import coverage
from graph_model.retention.coverage import Retention, resolve_prune
from tests.projections import SmallHeadwater, project
from tests.unit.graph_model.producers.test_commands import DAY, START, command, daily
from tests.unit.graph_model.retention.estates import (
    in_one_application,
    in_one_run,
    of_application,
    tables,
)


def prune(headwater: SmallHeadwater, keep: int) -> Prune:
    catalogue = headwater.catalogue
    order = resolve_prune(Retention(keep=keep), catalogue, drop_bodies=True)
    headwater.accept(command(order))
    headwater.project()
    return order


def kept_a_day(headwater: SmallHeadwater) -> dict[int, int]:
    rows = headwater.catalogue.executions(limit=1000).items
    return Counter((row.at - START) // DAY for row in rows)


def assert_four_runs_of_ten_are_whole(kept: dict[int, int]) -> None:
    """A write that was visible when the oldest of them began stays as well."""
    assert {day: kept[day] for day in range(6, 10)} == dict.fromkeys(range(6, 10), 5)
    assert min(kept) >= 5


def test_an_application_that_writes_many_tables_is_one_run() -> None:
    headwater = project(in_one_application(tables(5), range(10)), stepwise=False)
    prune(headwater, 4)
    assert_four_runs_of_ten_are_whole(kept_a_day(headwater))
    headwater.close()


def test_a_run_of_openlineage_with_many_outputs_is_one_run() -> None:
    headwater = project(in_one_run(tables(5), range(10)), stepwise=False)
    prune(headwater, 4)
    assert_four_runs_of_ten_are_whole(kept_a_day(headwater))
    headwater.close()


def test_a_job_with_fewer_runs_keeps_them_all() -> None:
    headwater = project(in_one_application(tables(5), range(3)), stepwise=False)
    assert prune(headwater, 3).cutoffs == ()
    headwater.close()


def test_of_a_stream_which_is_one_run_a_bounded_number_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coverage, "EXECUTIONS_A_RUN", 2)
    load, *batches = daily("load", 1, "file:/raw", "file:/staged", range(10))
    headwater = project([load, *(of_application(one, "stream") for one in batches)], stepwise=False)
    prune(headwater, 1)
    assert sorted(kept_a_day(headwater)) == [8, 9]
    headwater.close()
