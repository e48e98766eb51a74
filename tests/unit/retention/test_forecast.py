"""Growth and the day when it is full, from measures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph_model.retention.forecast import (
    DAY_MS,
    EVERY_MS,
    Growth,
    Measure,
    days_until_full,
    growth,
    measured_since,
    read_measures,
    with_measure,
    write_measures,
)

NOW = Measure(100 * DAY_MS, 3_000, 2_000, 1_000, 700)


def before(days: float, **changes: int | None) -> Measure:
    return replace(NOW, at=int(NOW.at - days * DAY_MS), **changes)  # type: ignore[arg-type]


def test_the_rate_is_that_since_the_oldest_measure_of_the_last_week() -> None:
    kept = [
        before(9, documents=0, journal_bytes=0, elements=0),
        before(4, documents=1_000, journal_bytes=1_600, elements=500),
        before(1, documents=2_900),
    ]
    assert growth(kept, NOW) == Growth(500.0, 100.0, 50.0)
    assert measured_since(kept, NOW) == NOW.at - 4 * DAY_MS
    assert measured_since(kept[:1], NOW) is None


def test_what_shrank_does_not_grow_and_what_is_too_young_is_not_known() -> None:
    assert growth([before(2, journal_bytes=9_000, elements=900)], NOW).disk_bytes == 0.0
    assert growth([before(0.001)], NOW) == Growth()
    assert growth([], NOW) == Growth()


def test_a_graph_that_was_not_counted_then_has_no_rate() -> None:
    assert growth([before(2, elements=None)], NOW).elements is None
    found = growth([before(2, elements=None), before(1, elements=600)], NOW)
    assert found.elements == 100.0


@pytest.mark.parametrize(
    ("room", "rate", "days"),
    [(100, 10.0, 10.0), (-5, 10.0, 0.0), (100, 0.0, None), (None, 1.0, None), (100, None, None)],
)
def test_days_are_room_by_rate(room: int | None, rate: float | None, days: float | None) -> None:
    assert days_until_full(room, rate) == days


def test_measures_are_kept_an_hour_apart_for_a_week() -> None:
    kept = with_measure([], NOW)
    assert kept == (NOW,)
    assert with_measure(kept, replace(NOW, at=NOW.at + EVERY_MS - 1)) is None
    later = replace(NOW, at=NOW.at + EVERY_MS)
    assert with_measure(kept, later) == (NOW, later)
    for _ in range(400):
        later = replace(later, at=later.at + EVERY_MS)
        kept = with_measure(kept, later)
        assert kept is not None
    assert len(kept) <= 7 * 24 + 1
    assert read_measures(write_measures(kept)) == kept


@pytest.mark.parametrize("text", [None, "", "no json", '[{"at": 1}]', "[1]", "{}"])
def test_what_is_no_list_of_measures_is_none(text: str | None) -> None:
    assert read_measures(text) == ()
