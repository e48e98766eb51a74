"""Times on the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.instants import LATEST, iso, parse_instant

MARCH_FIRST = 1_772_352_900_000


@pytest.mark.parametrize(
    "text",
    [
        "1772352900000",
        "2026-03-01T08:15:00.000Z",
        "2026-03-01T08:15:00Z",
        "2026-03-01T08:15Z",
        "2026-03-01T08:15:00",
        "2026-03-01T09:15:00+01:00",
        "2026-03-01T09:15:00 01:00",
        "2026-03-01 08:15:00",
        "2026-03-01T08:15:00.000999Z",
    ],
)
def test_every_spelling_of_a_time_is_the_same_time(text: str) -> None:
    assert parse_instant(text) == MARCH_FIRST


def test_a_date_is_its_midnight_in_utc() -> None:
    assert iso(parse_instant("2026-03-01")) == "2026-03-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "text",
    ["", " ", "now", "-1", "1.5", "1e3", "1969-12-31", "253402300800000", "9" * 400, "2026-13-01"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_instant(text)


@given(st.integers(min_value=0, max_value=LATEST))
def test_a_written_time_is_read_back(milliseconds: int) -> None:
    assert parse_instant(iso(milliseconds)) == milliseconds
    assert parse_instant(str(milliseconds)) == milliseconds
