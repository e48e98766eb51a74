"""The date when room runs out, from measured growth: pure.

1 GB a week ago, 3 GB now, 10 GB of room => 0.29 GB a day, full in 24.5 days
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

DAY_MS: Final = 86_400_000
EVERY_MS: Final = 3_600_000
"""The time between two measures that are kept."""
LOOKED_BACK_MS: Final = 7 * DAY_MS
LEAST_MS: Final = 600_000
"""The shortest time behind a rate."""
SURE_MS: Final = DAY_MS
"""The shortest time behind a warning: most estates load at certain hours, so a part of a day, or a
backfill of some minutes, shows no day."""
SOON_DAYS: Final = 14.0
SPARE_BYTES: Final = 100_000_000
"""A disk with less is full: a write-ahead log and temporary files need it."""
TOO_EARLY: Final = (
    "measured for less than a day: the rate may be that of a burst, so nothing warns of it"
)


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
    """The growth a day: the sum of the increases of each day of the last week, divided by the
    number of days. On the first day it is the rate of the hours so far. None where it is not known:
    with less than ten minutes of measures, or without an engine.
    """

    documents: float | None = None
    disk_bytes: float | None = None
    elements: float | None = None


def growth(measures: Sequence[Measure], now: Measure) -> Growth:
    """The rate. A day that ends with less than it began with counts as no growth, so that one large
    removal does not hide the growth of the other days.

        10, 12, 14 GB, a removal, 3, 5 GB => (2 + 2 + 0 + 2) / 4 = 1.5 GB a day
    """
    recent = [*_last_week(measures, now), now]
    counted = [(measure.at, measure.elements) for measure in recent if measure.elements is not None]
    return Growth(
        _rate([(measure.at, measure.documents) for measure in recent]),
        _rate([(measure.at, measure.disk_bytes) for measure in recent]),
        None if now.elements is None else _rate(counted),
    )


def _rate(sizes: Sequence[tuple[int, int]]) -> float | None:
    """The growth a day; ``sizes`` are (time, size), oldest first."""
    edges = _edges(sizes)
    span = edges[-1][0] - edges[0][0]
    if span < LEAST_MS:
        return None
    added = sum(max(0, later - earlier) for (_, earlier), (_, later) in pairwise(edges))
    return added / (span / DAY_MS)


def _edges(sizes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The newest size and, backwards from it, one for each day (or a little more). A part of a day
    at the beginning is left out, unless there is nothing else: where documents come by day and go
    at night, it would count the arrivals and not the removals.
    """
    edges = [sizes[-1]]
    for size in reversed(sizes):
        if edges[-1][0] - size[0] >= DAY_MS:
            edges.append(size)
    return edges[::-1] if len(edges) > 1 else [sizes[0], sizes[-1]]


def measured_since(measures: Sequence[Measure], now: Measure) -> int | None:
    """The time (epoch ms) of the measure from which the rate is taken; None before the first."""
    recent = _last_week(measures, now)
    return _edges([(measure.at, 0) for measure in [*recent, now]])[0][0] if recent else None


def _last_week(measures: Sequence[Measure], now: Measure) -> list[Measure]:
    return [measure for measure in measures if 0 <= now.at - measure.at <= LOOKED_BACK_MS]


def days_until_full(free: float | None, growth_a_day: float | None) -> float | None:
    """0 where nothing is free, whether it grows or not; None where nothing grows, or one of the
    two is not known.
    """
    if free is not None and free <= 0:
        return 0.0
    if free is None or not growth_a_day:
        return None
    return free / growth_a_day


def describe_full(name: str, days: float) -> str:
    """The disk or the heap, and its days: ``disk``, 0 => ``the disk is full now``."""
    when = f"in {days:,.1f} days at this rate" if days else "now"
    return f"the {name} is full {when}"


@dataclass(frozen=True, slots=True)
class Forecast:
    """``free_bytes`` of the disk (None: a database elsewhere), ``capacity`` of the engine in
    elements (None: no embedded engine); ``holds``: documents wait for room in the graph. Days are 0
    for a disk or heap that is full, None where nothing grows or the growth is not known yet.
    ``since``: the time of the oldest measure behind the rate (epoch ms). ``reserve_bytes`` of the
    disk are left to removals. ``refusal``: why new documents are refused now; None: they are taken.
    """

    measured: Measure
    growth: Growth
    free_bytes: int | None
    capacity: int | None
    since: int | None = None
    holds: bool = False
    reserve_bytes: int = 0
    refusal: str | None = None

    @property
    def measured_seconds(self) -> float | None:
        """The time behind the rate."""
        return None if self.since is None else (self.measured.at - self.since) / 1000

    @property
    def too_early(self) -> str | None:
        """Why nothing warns of a date yet; None after a day of measures."""
        seconds = self.measured_seconds
        return TOO_EARLY if seconds is None or seconds * 1000 < SURE_MS else None

    def warns(self, days: float | None) -> bool:
        """Whether to warn an operator: at once of a disk or heap that is full, and after a day of
        measures of one that will be full soon.
        """
        if not days:
            return days is not None
        return self.too_early is None and days < SOON_DAYS

    @property
    def disk_days(self) -> float | None:
        """Days until documents are refused, or the free bytes are no more than ``SPARE_BYTES``."""
        if self.refusal is not None:
            return 0.0
        if self.free_bytes is None:
            return None
        spare = max(SPARE_BYTES, self.reserve_bytes)
        return days_until_full(self.free_bytes - spare, self.growth.disk_bytes)

    @property
    def free_elements(self) -> int | None:
        """How many more elements the engine holds; below zero where it holds too many already."""
        filled = self.measured.elements
        return None if self.capacity is None or filled is None else self.capacity - filled

    @property
    def heap_days(self) -> float | None:
        """Days until the heap is full. Documents may be held a little below the capacity, when they
        need more room than is free.
        """
        return 0.0 if self.holds else days_until_full(self.free_elements, self.growth.elements)

    @property
    def warning(self) -> str | None:
        """A warning for the operator; None where nothing is full, or soon will be."""
        disk = self.refusal or self._warning_of("disk", self.disk_days, "HEADWATER_KEEP")
        heap = self._warning_of("engine's heap", self.heap_days, "HEADWATER_GREMLIN_HEAP")
        return "; ".join(filter(None, (disk, heap))) or None

    def _warning_of(self, name: str, days: float | None, setting: str) -> str | None:
        if days is None or not self.warns(days):
            return None
        return f"{describe_full(name, days)}: see headwater storage, {setting}"


# --- measures as the journal keeps them ----------------------------------------------------------


def read_measures(text: str | None) -> tuple[Measure, ...]:
    """The kept measurements, oldest first; () for none, and for those of an older Headwater in
    another form.
    """
    try:
        return tuple(Measure(**fields) for fields in json.loads(text or "[]"))
    except (TypeError, ValueError):
        return ()


def write_measures(measures: Sequence[Measure]) -> str:
    kept: list[dict[str, Any]] = [asdict(measure) for measure in measures]
    return json.dumps(kept, separators=(",", ":"))


def with_measure(measures: Sequence[Measure], now: Measure) -> tuple[Measure, ...] | None:
    """The measures of the last week with this one, an hour apart; None where the last one is less
    than an hour old.
    """
    recent = _last_week(measures, now)
    if recent and now.at - recent[-1].at < EVERY_MS:
        return None
    return (*recent, now)
