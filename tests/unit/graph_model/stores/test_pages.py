"""Cursors: opaque, exact, and only good for the list that gave them."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidReference
from graph_model.stores.pages import Page, checked_limit, read_cursor, read_part, write_cursor

KEYS = st.lists(st.text(max_size=8) | st.integers(-(2**63), 2**63 - 1), max_size=4)


@given(KEYS)
def test_a_cursor_gives_its_key_back(key: list[str | int]) -> None:
    cursor = write_cursor("runs", *key)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    assert read_cursor(cursor, "runs", *map(type, key)) == tuple(key)


def test_a_key_with_a_lone_surrogate_survives() -> None:
    assert read_cursor(write_cursor("jobs", "\ud800"), "jobs", str) == ("\ud800",)


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "é",
        "\ud800",
        "A",
        encoded("[" * 10_000),
        encoded("1"),
        encoded("{}"),
        encoded("[]"),
        encoded('["runs"]'),
        encoded('["runs",true]'),
        encoded('["runs",1.0]'),
        encoded('["runs","1"]'),
        encoded('["runs",1,2]'),
        encoded('["jobs",1]'),
        encoded('["runs", 1]'),
        encoded('["runs",1]') + "=",
        encoded('["runs",1]') + " ",
        encoded('["runs",01]'),
        encoded(f'["runs",{2**63}]'),
        encoded(f'["runs",{-(2**63) - 1}]'),
        encoded('["runs",' + "9" * 5_000 + "]"),
    ],
)
def test_a_cursor_that_no_list_gave_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidReference):
        read_cursor(cursor, "runs", int)


@given(st.text(max_size=30))
def test_any_other_text_is_refused_and_nothing_else_happens(text: str) -> None:
    with pytest.raises(InvalidReference):
        read_cursor(text, "runs", int, str)


@pytest.mark.parametrize("limit", [1, 1_000])
def test_limits_within_range_pass(limit: int) -> None:
    assert checked_limit(limit) == limit


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_limits_out_of_range_do_not(limit: int) -> None:
    with pytest.raises(ValueError, match="1 to 1000"):
        checked_limit(limit)


@pytest.mark.parametrize(
    ("offset", "limit", "part", "asked"),
    [
        (0, 2, [0, 1], [2]),
        (2, 3, [2, 3, 4], [3, 2]),
        (4, 9, [4, 5, 6], [3, 3, 3]),
        (1, 0, [], [1]),
        (0, 0, [], [1]),
        (9, 1, [], [3, 3, 3]),
    ],
)
def test_a_part_by_its_offset_is_read_in_pages(
    offset: int, limit: int, part: list[int], asked: list[int]
) -> None:
    limits: list[int] = []

    def ask(*, limit: int, cursor: str | None) -> Page[int]:
        limits.append(limit)
        start = int(cursor or 0)
        end = min(7, start + limit)
        return Page(tuple(range(start, end)), 7, str(end) if end < 7 else None)

    rows, first = read_part(ask, offset, limit, most=3)
    assert (rows, first.total, limits) == (part, 7, asked)
