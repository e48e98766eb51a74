"""Growth and the day when it is full, from measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from graph_model.retention.forecast import (
    DAY_MS,
    EVERY_MS,
    LEAST_MS,
    SPARE_BYTES,
    TOO_EARLY,
    Forecast,
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


def days_of(*journal_gb: float, first: int = 1_000) -> tuple[list[Measure], Measure]:
    """One measure a day and the present one, with so much in the journal and so many elements."""
    measures = [
        Measure(
            at=first + day * DAY_MS,
            documents=day,
            journal_bytes=int(size * 1e9),
            catalogue_bytes=0,
            elements=int(size * 1_000),
        )
        for day, size in enumerate(journal_gb)
    ]
    return measures[:-1], measures[-1]


def forecast(
    measures: Sequence[Measure] = (),
    now: Measure = NOW,
    *,
    free: int | None = None,
    capacity: int | None = None,
    holds: bool = False,
    reserve: int = 0,
    refusal: str | None = None,
) -> Forecast:
    since = measured_since(measures, now)
    return Forecast(now, growth(measures, now), free, capacity, since, holds, reserve, refusal)


def test_a_disk_is_full_at_its_reserve() -> None:
    kept = [before(1, journal_bytes=NOW.journal_bytes - 1_000)]
    result = forecast(kept, NOW, free=900 << 20, reserve=256 << 20)
    assert result.disk_days == pytest.approx((644 << 20) / 1_000)
    assert result.warning is None


def test_where_documents_are_refused_the_disk_is_full_and_the_warning_gives_the_reason() -> None:
    kept = [before(1, journal_bytes=NOW.journal_bytes - 1_000)]
    result = forecast(kept, free=900 << 20, reserve=256 << 20, refusal="no room for new ones")
    assert (result.disk_days, result.warning) == (0, "no room for new ones")
    held = forecast(free=0, holds=True, reserve=1, refusal="no room for new ones").warning or ""
    assert held.startswith("no room for new ones; the engine's heap is full now")


def test_the_rate_is_that_since_the_oldest_measure_of_the_last_week() -> None:
    kept = [
        before(9, documents=0, journal_bytes=0, elements=0),
        before(4, documents=1_000, journal_bytes=1_600, elements=500),
        before(1, documents=2_900),
    ]
    assert growth(kept, NOW) == Growth(500.0, 100.0, 50.0)
    assert measured_since(kept, NOW) == NOW.at - 4 * DAY_MS
    assert measured_since(kept[:1], NOW) is None


def test_a_part_of_a_day_is_behind_the_rate_only_where_there_is_no_whole_one() -> None:
    assert measured_since([before(0.5)], NOW) == NOW.at - DAY_MS // 2
    assert growth([before(0.5, journal_bytes=1_900)], NOW).disk_bytes == pytest.approx(200.0)
    assert measured_since([before(1.5), before(1.1), before(0.5)], NOW) == before(1.1).at


def test_a_rate_is_that_of_ten_minutes_at_least() -> None:
    shorter = replace(NOW, at=NOW.at - LEAST_MS + 1, journal_bytes=1_999)
    assert growth([shorter], NOW).disk_bytes is None
    assert growth([replace(shorter, at=NOW.at - LEAST_MS)], NOW).disk_bytes == pytest.approx(144.0)


def test_one_large_removal_does_not_hide_the_growth_of_the_other_days() -> None:
    result = growth(*days_of(100, 102, 104, 106, 6, 8, 10, 12))
    assert result.disk_bytes == pytest.approx(12e9 / 7)
    assert result.elements == pytest.approx(12_000 / 7)


def test_removing_each_night_as_much_as_came_is_no_growth() -> None:
    hours = [
        replace(NOW, at=hour * EVERY_MS, journal_bytes=10_000 + 100 * (hour % 24))
        for hour in range(24 * 5)
    ]
    assert growth(hours[:-1], hours[-1]).disk_bytes == 0.0


def test_a_load_once_a_week_is_growth() -> None:
    result = growth(*days_of(10, 10, 10, 24, 24, 24, 24, 24))
    assert result.disk_bytes == pytest.approx(2e9)


def test_hours_in_which_the_service_was_off_are_shared_out() -> None:
    kept = [before(5.5, journal_bytes=900), before(1.25, journal_bytes=1_450)]
    assert growth(kept, NOW).disk_bytes == pytest.approx(200.0)


def test_a_shrunken_journal_does_not_grow() -> None:
    assert growth([before(2, journal_bytes=9_000, elements=900)], NOW).disk_bytes == 0.0


def test_there_is_no_rate_in_the_first_ten_minutes() -> None:
    assert growth([before(0.0069, documents=0)], NOW) == Growth()
    assert growth([], NOW) == Growth()


@pytest.mark.parametrize("days", [0.0, 0.007, 0.5, 0.999])
def test_nothing_warns_of_the_burst_of_a_backfill_before_a_day_has_passed(days: float) -> None:
    kept = [before(days, documents=0, journal_bytes=0, elements=0)]
    assert forecast(kept, free=SPARE_BYTES + 1_000, capacity=1_000).warning is None
    assert forecast(kept).too_early == TOO_EARLY
    assert forecast([before(1)]).too_early is None
    kept = [before(1, documents=0, journal_bytes=0, elements=0)]
    assert forecast(kept, capacity=1_000).warning is not None


def test_a_graph_that_was_not_counted_then_has_no_rate() -> None:
    assert growth([before(2, elements=None)], NOW).elements is None
    assert growth([before(2)], replace(NOW, elements=None)).elements is None
    result = growth([before(2, elements=None), before(1, elements=600)], NOW)
    assert result.elements == 100.0


@pytest.mark.parametrize(
    ("room", "rate", "days"),
    [
        (100, 10.0, 10.0),
        (-5, 10.0, 0.0),
        (0, 0.0, 0.0),
        (0, None, 0.0),
        (100, 0.0, None),
        (None, 1.0, None),
        (100, None, None),
    ],
)
def test_days_are_room_by_rate_and_none_are_left_of_no_room(
    room: int | None, rate: float | None, days: float | None
) -> None:
    assert days_until_full(room, rate) == days


@pytest.mark.parametrize("kept", [[], [before(2)], [before(2, elements=900)]])
def test_a_heap_over_its_capacity_is_a_warning_whatever_it_did(kept: list[Measure]) -> None:
    result = forecast(kept, capacity=700)
    assert result.heap_days == 0.0
    assert result.warning is not None
    assert result.warning.startswith("the engine's heap is full now")


def test_a_graph_that_holds_documents_is_full_a_little_below_its_capacity() -> None:
    assert forecast([before(2)], capacity=720).warning is None
    assert "heap is full now" in str(forecast([before(2)], capacity=720, holds=True).warning)


def test_a_disk_is_full_when_a_log_does_not_fit() -> None:
    assert forecast(free=SPARE_BYTES + 1).warning is None
    assert "the disk is full now" in str(forecast(free=SPARE_BYTES).warning)


def test_a_disk_that_is_soon_full_is_a_warning_with_its_days() -> None:
    kept, now = days_of(1, 2, 3)
    result = forecast(kept, now, free=SPARE_BYTES + 5 * 10**9, capacity=1_000_000)
    assert result.warning is not None
    assert result.warning.startswith("the disk is full in 5.0 days at this rate")
    assert "heap" not in result.warning


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
def test_a_text_that_is_no_list_of_measures_is_none(text: str | None) -> None:
    assert read_measures(text) == ()
