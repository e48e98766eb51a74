"""The setting HEADWATER_KEEP, and a prune that is cut into steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity
from graph_model.producers.commands import Cutoff, Prune, recorded_cutoffs
from graph_model.retention.coverage import Move, next_step, split_time, worth_moving
from graph_model.retention.policy import RetentionPolicy, read_policy
from tests.contract.rows import an_execution
from tests.projections import SmallHeadwater, budget, project, small_headwater
from tests.unit.graph_model.producers.test_commands import DAY, START, command, daily
from tests.unit.graph_model.retention.estates import in_one_run, tables

HOUR = 3_600_000


def test_a_setting_names_runs_days_and_the_hour() -> None:
    assert read_policy(" ") is None
    assert read_policy("runs=100, days=400") == RetentionPolicy(runs=100, days=400, hour=3)
    assert read_policy("days=90,hour=0") == RetentionPolicy(days=90, hour=0)
    assert str(read_policy("days=90,hour=0")) == "days=90"
    assert read_policy("bodies=keep,runs=9") == RetentionPolicy(runs=9, keeps_bodies=True)
    assert str(read_policy("bodies=keep,runs=9")) == "runs=9,bodies=keep"


def test_days_are_counted_from_now_and_runs_say_no_time() -> None:
    assert RetentionPolicy(days=2).before(10 * DAY) == 8 * DAY
    assert RetentionPolicy(runs=2).before(10 * DAY) is None


def test_a_night_begins_at_its_hour() -> None:
    keep = RetentionPolicy(runs=1, hour=4)
    assert keep.night(10 * DAY + 4 * HOUR - 1) == 9
    assert keep.night(10 * DAY + 4 * HOUR) == keep.night(11 * DAY + 3 * HOUR) == 10


@pytest.mark.parametrize(
    "text",
    [
        "runs", "runs=", "runs=1 2", "runs=1;days=2", ",", "days=36501", "bodies=keep",
        "runs=1,bodies=9", "runs=1,bodies=",
    ],
)  # fmt: skip
def test_a_text_that_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="runs="):
        read_policy(text)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12), st.integers(1, 10))
@budget(25)
def test_a_time_splits_executions_into_parts_that_fit_one_step(times: list[int], most: int) -> None:
    def count(before: int) -> int:
        return sum(START + at < before for at in times)

    rows = [
        an_execution(f"e{place}", job=JOB, target=STAGED, at=START + at)
        for place, at in enumerate(times)
    ]
    headwater = small_headwater()
    headwater.catalogue.record(rows)
    end = cutoff("load", "file:/staged", 1)
    result = split_time([Move(end)], headwater.catalogue, most)
    headwater.close()
    assert count(result) > 0
    assert count(result) <= max(most, count_first(times))
    assert result == end.before or count(result + 1) > most


def count_first(times: list[int]) -> int:
    """Those of the first millisecond go together."""
    return times.count(min(times))


def estate() -> SmallHeadwater:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    other = daily("other", 2, "file:/raw", "file:/else", range(4))
    return project([*load, *other], stepwise=False)


JOB = identity.job_id("default", "load")
STAGED = identity.dataset_id("", "file:/staged")


def cutoff(name: str, uri: str, days: int) -> Cutoff:
    return Cutoff("default", name, "", uri, START + days * DAY)


def in_steps(headwater: SmallHeadwater, wished: Sequence[Cutoff], most: int) -> list[int]:
    rest = worth_moving(wished, {}, headwater.catalogue)
    taken: list[int] = []
    while rest:
        step = next_step(rest, headwater.catalogue, most)
        rest = step.rest
        if step.cutoffs:
            taken.append(step.executions)
            headwater.accept(command(Prune(step.cutoffs, drop_bodies=True)))
            headwater.project()
    return taken


@pytest.mark.parametrize(("most", "steps"), [(3, [3, 3, 2, 2]), (9, [8, 2]), (100, [10])])
def test_steps_take_a_bounded_number_and_together_all(most: int, steps: list[int]) -> None:
    headwater = estate()
    wished = [cutoff("load", "file:/staged", 8), cutoff("other", "file:/else", 2)]
    assert in_steps(headwater, wished, most) == steps
    assert headwater.catalogue.executions(limit=10).total == 4
    headwater.close()


def test_a_cutoff_moves_when_it_takes_a_tenth() -> None:
    headwater = estate()
    (staged,) = [cutoff("load", "file:/staged", 1)]
    nothing = cutoff("other", "file:/else", 0)
    assert worth_moving([staged, nothing], {}, headwater.catalogue) == (Move(staged),)
    extra = daily("load", 1, "file:/raw", "file:/staged", range(10, 20))
    headwater.accept(*extra)
    headwater.project()
    assert worth_moving([staged, nothing], {}, headwater.catalogue) == ()
    headwater.close()


def test_executions_left_before_the_cutoff_in_force_move_none() -> None:
    headwater = project(in_one_run(tables(1), range(10), others=["file:/kept"]), stepwise=False)
    first = Cutoff("etl", "nightly", "", tables(1)[0], START + 5 * DAY)
    assert in_steps(headwater, [first], 100) == [5]
    in_force = recorded_cutoffs(headwater.catalogue)
    assert headwater.catalogue.executions(limit=1).total == 20, "each run wrote a table that stays"
    assert worth_moving([first], in_force, headwater.catalogue) == ()
    later = replace(first, before=START + 7 * DAY)
    (move,) = worth_moving([later], in_force, headwater.catalogue)
    assert move.count(headwater.catalogue) == 2
    headwater.close()


def test_all_tables_of_a_run_are_cut_at_one_time() -> None:
    headwater = project(in_one_run(tables(4), range(10)), stepwise=False)
    wished = [Cutoff("etl", "nightly", "", uri, START + 8 * DAY) for uri in tables(4)]
    left: list[int] = []
    rest = worth_moving(wished, {}, headwater.catalogue)
    while rest:
        step = next_step(rest, headwater.catalogue, 10)
        rest = step.rest
        headwater.accept(command(Prune(step.cutoffs, drop_bodies=True)))
        headwater.project()
        left.append(headwater.catalogue.executions(limit=1).total)
    assert left == [32, 24, 16, 8], "two runs a step"
    headwater.close()
