"""The setting ``HEADWATER_GRAPH_RUNS``, read from its text."""

from __future__ import annotations

import pytest

from graph_model.projection.runs.window import ALL, RunWindow, read_run_window

DAY = 86_400_000


@pytest.mark.parametrize("text", ["none", "newest:3", "newest:1000", "days:1", "days:36500", "all"])
def test_a_window_is_spelled_as_it_is_read(text: str) -> None:
    assert str(read_run_window(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "newest", "newest:", "newest:0", "newest:1001", "newest:-1", "newest:٣", "days:36501",
     "days:1.5", "all:1", "none:", "hours:3", "newest:3:4", "days:000000001"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="newest:<1 to 1000>"):
        read_run_window(text)


def test_days_count_back_from_the_day_of_the_newest_event() -> None:
    assert RunWindow("days", 1).since(5 * DAY + 7) == 5 * DAY
    assert RunWindow("days", 3).since(5 * DAY) == 3 * DAY


def test_all_is_all() -> None:
    assert read_run_window(" All ") == ALL
