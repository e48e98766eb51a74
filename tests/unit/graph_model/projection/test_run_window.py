"""The setting ``HEADWATER_GRAPH_RUNS``, read from its text."""

from __future__ import annotations

import pytest

from graph_model.projection.run_window import NONE, read_run_window


@pytest.mark.parametrize("text", ["none", "newest:3", "newest:1000"])
def test_a_window_is_spelled_as_it_is_read(text: str) -> None:
    assert str(read_run_window(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "newest", "newest:", "newest:0", "newest:1001", "newest:-1", "newest:٣", "none:",
     "hours:3", "newest:3:4", "newest:000000001"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="newest:<1 to 1000>"):
        read_run_window(text)


@pytest.mark.parametrize("text", ["days:90", "all"])
def test_a_former_setting_is_refused_with_the_one_that_comes_near(text: str) -> None:
    with pytest.raises(ValueError, match="newest:90 has the runs of 90 days"):
        read_run_window(text)


def test_none_is_none() -> None:
    assert read_run_window(" None ") == NONE
