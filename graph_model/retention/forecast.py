"""The date when room runs out, from measured growth: pure.

1 GB a week ago, 3 GB now, 10 GB of room => 0.29 GB a day, full in 24.5 days
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

DAY_MS: Final = 86_400_000
EVERY_MS: Final = 3_600_000
"""Between two measures that are kept."""
LOOKED_BACK_MS: Final = 7 * DAY_MS
_LEAST_MS: Final = 600_000
"""A rate over less than this shows a burst, not a day."""
SOON_DAYS: Final = 14.0


@dataclass(frozen=True, slots=True)
class Measure:
    """The use ``at`` a time (epoch ms). ``documents``: the newest position of the journal;
    ``elements`` of the embedded engine, None if unknown.
    """

    at: int
    documents: int
    journal_bytes: int
    catalogue_bytes: int
    elements: int | None

    @property
    def disk_bytes(self) -> int:
        return self.journal_bytes + self.catalogue_bytes


@dataclass(frozen=True, slots=True)
class Growth:
    """A day, at the rate between the oldest measure of the last week and now; None where that is
    not known: too short a time, or no engine.
    """

    documents: float | None = None
    disk_bytes: float | None = None
    elements: float | None = None


def growth(measures: Sequence[Measure], now: Measure) -> Growth:
    """The rate; shrinking counts as none."""
    recent = _last_week(measures, now)
    first = min(recent, key=lambda one: one.at, default=now)
    if now.at - first.at < _LEAST_MS:
        return Growth()
    days = (now.at - first.at) / DAY_MS
    elements = None
    counted = [one for one in recent if one.elements is not None]
    if counted and now.elements is not None and now.at - counted[0].at >= _LEAST_MS:
        since = (now.at - counted[0].at) / DAY_MS
        elements = max(0.0, (now.elements - (counted[0].elements or 0)) / since)
    return Growth(
        max(0.0, (now.documents - first.documents) / days),
        max(0.0, (now.disk_bytes - first.disk_bytes) / days),
        elements,
    )


def measured_since(measures: Sequence[Measure], now: Measure) -> int | None:
    """The time (epoch ms) of the oldest measure of the last week, from which the rate is taken;
    None before the first one.
    """
    return min((one.at for one in _last_week(measures, now)), default=None)


def _last_week(measures: Sequence[Measure], now: Measure) -> list[Measure]:
    return [one for one in measures if 0 <= now.at - one.at <= LOOKED_BACK_MS]


def days_until_full(room: float | None, growth_a_day: float | None) -> float | None:
    """None where nothing grows, or one of the two is not known."""
    if room is None or not growth_a_day:
        return None
    return max(0.0, room) / growth_a_day


def is_soon(days: float | None) -> bool:
    """Whether an operator is warned."""
    return days is not None and days < SOON_DAYS


@dataclass(frozen=True, slots=True)
class Forecast:
    """``free_bytes`` of the disk (None: a database elsewhere), ``capacity`` of the engine in
    elements (None: no embedded engine). Days are None where nothing grows or it is not known yet.
    ``since``: the time of the oldest measure behind the rate (epoch ms).
    """

    measured: Measure
    growth: Growth
    free_bytes: int | None
    capacity: int | None
    since: int | None = None

    @property
    def measured_seconds(self) -> float | None:
        """The time behind the rate."""
        return None if self.since is None else (self.measured.at - self.since) / 1000

    @property
    def disk_days(self) -> float | None:
        return days_until_full(self.free_bytes, self.growth.disk_bytes)

    @property
    def free_elements(self) -> int | None:
        """How many more elements the engine holds; below zero where it holds too many already."""
        filled = self.measured.elements
        return None if self.capacity is None or filled is None else self.capacity - filled

    @property
    def heap_days(self) -> float | None:
        return days_until_full(self.free_elements, self.growth.elements)

    @property
    def warning(self) -> str | None:
        """A warning for the operator; None where nothing is nearly full."""
        warnings = [
            f"the {name} is full in {days:.1f} days at this rate: {remedy}"
            for name, days, remedy in (
                ("disk", self.disk_days, "see headwater storage, HEADWATER_KEEP"),
                ("engine's heap", self.heap_days, "see headwater storage, HEADWATER_GREMLIN_HEAP"),
            )
            if is_soon(days)
        ]
        return "; ".join(warnings) or None


# --- measures as the journal keeps them ----------------------------------------------------------


def read_measures(text: str | None) -> tuple[Measure, ...]:
    """The kept measurements, oldest first; () for none, and for those of an older Headwater in
    another form.
    """
    try:
        return tuple(Measure(**one) for one in json.loads(text or "[]"))
    except (TypeError, ValueError):
        return ()


def write_measures(measures: Sequence[Measure]) -> str:
    kept: list[dict[str, Any]] = [asdict(one) for one in measures]
    return json.dumps(kept, separators=(",", ":"))


def with_measure(measures: Sequence[Measure], now: Measure) -> tuple[Measure, ...] | None:
    """The measures of the last week with this one, an hour apart; None where it is too early."""
    recent = _last_week(measures, now)
    if recent and now.at - recent[-1].at < EVERY_MS:
        return None
    return (*recent, now)
