"""Counts by hour or day: runs by state, and the jobs, datasets and namespaces known at the time.

There are 24 intervals for hours and 7 for days, the last of which holds the current time. Runs
are counted from the newest executions; intervals that lie before these are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final, NamedTuple

from graph_model import labels
from graph_model.answers.openlineage import name_of
from graph_model.answers.sources import Sources

Counted = list[tuple["CountedInterval", Mapping[str, int]]]
"""Each interval with its counts by name."""
MOST_EXECUTIONS: Final = 10_000
MOST_DATASETS: Final = 10_000
_PAGE: Final = 1_000
_HOURS: Final = 24
_DAYS: Final = 7
_ENDS: Final = {
    labels.COMPLETED: "complete",
    labels.FAILED: "fail",
    labels.ABORTED: "abort",
}


class CountedInterval(NamedTuple):
    """``begin <= t < end`` in epoch ms."""

    begin: int
    end: int


def last_hours(now: int) -> list[CountedInterval]:
    """The 24 hours until the current one's end, oldest first; ``now`` is epoch ms."""
    hour = 3_600_000
    end = now // hour * hour + hour
    return [CountedInterval(at, at + hour) for at in range(end - _HOURS * hour, end, hour)]


def last_days(now: int, zone: tzinfo) -> list[CountedInterval]:
    """The 7 days until the current one's end as the zone's clocks have them, oldest first."""
    today = datetime.fromtimestamp(now / 1000, UTC).astimezone(zone)
    midnight = today.replace(hour=0, minute=0, second=0, microsecond=0)
    edges = [
        round((midnight + timedelta(days=day)).timestamp() * 1000) for day in range(1 - _DAYS, 2)
    ]
    return [CountedInterval(*ends) for ends in pairwise(edges)]


def events(sources: Sources, spans: Sequence[CountedInterval]) -> Counted:
    """The starts of runs and their ends in each span, by state."""
    ends: set[tuple[str, str, int]] = set()
    starts: dict[str, int] = {}
    since, cursor, read = spans[0].begin - 1, None, 0
    while True:
        page = sources.catalogue.recent_executions(
            sources.hidden, since=since, counted=False, limit=_PAGE, cursor=cursor, now=sources.now
        )
        read += len(page.items)
        for item in page.items:
            began = item.at - (item.duration_ms or 0)
            starts[item.run] = min(starts.get(item.run, began), began)
            if item.state in _ENDS:
                ends.add((item.run, _ENDS[item.state], item.at))
        cursor = page.next
        if cursor is None:
            break
        if read >= MOST_EXECUTIONS or sources.expired():
            since = page.items[-1].at
            break
    happened = Counter(("start", place) for at in starts.values() for place in _within(spans, at))
    happened.update((state, place) for _, state, at in ends for place in _within(spans, at))
    return [
        (span, {word: happened[word, place] for word in ("start", *_ENDS.values())})
        for place, span in enumerate(spans)
        if span.begin > since
    ]


def _within(spans: Sequence[CountedInterval], at: int) -> list[int]:
    return [place for place, span in enumerate(spans) if span.begin <= at < span.end]


def jobs(sources: Sources, spans: Sequence[CountedInterval]) -> Counted:
    """The jobs that were known at the end of each span."""
    return _counted(
        spans,
        lambda at: sources.catalogue.list_jobs(hidden=sources.hidden, at=at, limit=1, now=at).total,
    )


def datasets(sources: Sources, spans: Sequence[CountedInterval]) -> Counted:
    """The datasets that were known at the end of each span."""
    return _counted(
        spans,
        lambda at: sources.catalogue.list_datasets(hidden=sources.hidden, at=at, limit=1).total,
    )


def namespaces(sources: Sources, spans: Sequence[CountedInterval]) -> Counted:
    """The namespaces of the datasets that were known at the end of each span, among the first
    ``MOST_DATASETS`` by name; where no dataset came, no namespace did.
    """
    known = datasets(sources, spans)
    ends = {item["count"]: span.end - 1 for span, item in known}
    counts = {count: _namespaces_at(sources, at) for count, at in ends.items()}
    return [(span, {"count": counts[item["count"]]}) for span, item in known]


def _namespaces_at(sources: Sources, at: int) -> int:
    names: set[str] = set()
    cursor, read = None, 0
    while read < MOST_DATASETS:
        page = sources.catalogue.list_datasets(
            hidden=sources.hidden, at=at, limit=_PAGE, cursor=cursor
        )
        names.update(name_of(row.uri, row.scope, sources.rules).namespace for row in page.items)
        cursor, read = page.next, read + _PAGE
        if cursor is None or sources.expired():
            break
    return len(names)


def _counted(spans: Sequence[CountedInterval], count: Callable[[int], int]) -> Counted:
    """What is known stays known, so between equal counts no question is asked."""
    known: dict[int, int] = {}

    def fill(first: int, last: int) -> None:
        for place in (first, last):
            if place not in known:
                known[place] = count(spans[place].end - 1)
        if last - first < 2:
            return
        if known[first] == known[last]:
            known.update(dict.fromkeys(range(first, last), known[first]))
            return
        middle = (first + last) // 2
        fill(first, middle)
        fill(middle, last)

    fill(0, len(spans) - 1)
    return [(span, {"count": known[place]}) for place, span in enumerate(spans)]
