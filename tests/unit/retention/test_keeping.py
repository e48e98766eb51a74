"""What HEADWATER_KEEP says, and how a prune is cut into steps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.producers.commands.documents import Cutoff
from graph_model.retention.keeping import Keep, read_keep
from graph_model.retention.steps import next_step, split_time, worth_moving
from tests.projections import SmallHeadwater, project
from tests.unit.producers.test_commands import DAY, START, command, daily

HOUR = 3_600_000


def test_a_setting_names_runs_days_and_the_hour() -> None:
    assert read_keep(" ") is None
    assert read_keep("runs=100, days=400") == Keep(runs=100, days=400, hour=3)
    assert read_keep("days=90,hour=0") == Keep(days=90, hour=0)
    assert str(read_keep("days=90,hour=0")) == "days=90"
    assert read_keep("bodies=keep,runs=9") == Keep(runs=9, keeps_bodies=True)
    assert str(read_keep("bodies=keep,runs=9")) == "runs=9,bodies=keep"


def test_days_are_counted_from_now_and_runs_say_no_time() -> None:
    assert Keep(days=2).before(10 * DAY) == 8 * DAY
    assert Keep(runs=2).before(10 * DAY) is None


def test_a_night_begins_at_its_hour() -> None:
    keep = Keep(runs=1, hour=4)
    assert keep.night(10 * DAY + 4 * HOUR - 1) == 9
    assert keep.night(10 * DAY + 4 * HOUR) == keep.night(11 * DAY + 3 * HOUR) == 10


@pytest.mark.parametrize(
    "text",
    [
        "runs", "runs=", "runs=1 2", "runs=1;days=2", ",", "days=36501", "bodies=keep",
        "runs=1,bodies=9", "runs=1,bodies=",
    ],
)  # fmt: skip
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="runs="):
        read_keep(text)


@given(st.lists(st.integers(0, 50), min_size=2), st.integers(1, 10))
def test_a_time_splits_executions_into_what_one_step_takes(times: list[int], most: int) -> None:
    def count(before: int) -> int:
        return sum(at < before for at in times)

    before = max(times) + 1
    if count(before) <= most:
        return
    found = split_time(count, before, most)
    assert count(found) > 0
    assert count(found) <= max(most, times.count(found - 1))
    assert found == before or count(found + 1) > most or count(found) > most


def estate() -> SmallHeadwater:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    other = daily("other", 2, "file:/raw", "file:/else", range(4))
    return project([*load, *other], stepwise=False)


def cutoff(name: str, uri: str, days: int) -> Cutoff:
    return Cutoff("default", name, "", uri, START + days * DAY)


def in_steps(headwater: SmallHeadwater, rest: Sequence[Cutoff], most: int) -> list[int]:
    from graph_model.producers.commands.documents import Prune

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
    assert worth_moving([staged, nothing], headwater.catalogue) == (staged,)
    extra = daily("load", 1, "file:/raw", "file:/staged", range(10, 20))
    headwater.accept(*extra)
    headwater.project()
    assert worth_moving([staged, nothing], headwater.catalogue) == ()
    headwater.close()
