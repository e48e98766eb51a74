"""The time from which answers count what a document reports.

Clocks of clients differ, and one of the year 9999 would rule its tables and the newest time of all
answers for good. So a time more than a tolerance after the first receipt of its document is
doubtful, and counts from that receipt:

    claimed 9999-12-31, received 2026-03-01  =>  at 2026-03-01, ahead by the rest

Vertices and ids keep the claimed time: only rows of the catalogue, by which answers select and
order, have the counted one beside it. A time long past counts as claimed: old logs are imported
years later, and a time before others rules nothing. Within a run, events keep the order of their
claimed times.

The receipt is that of the journal (``StoredDocument.received_at``), which backups and exports have
too. So a rebuild and a restored journal count alike; a repeat of a document changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from graph_model.facts import CountedRow, Facts, Row, RunRow, row_key

_HOUR_MS: Final = 3_600_000
_MOST_HOURS: Final = 8_760
TOLERANCE_MS: Final = 24 * _HOUR_MS
"""How far a time may be after its receipt, unless a setting says otherwise: any wrong time zone is
within a day.
"""
NO_RECEIPT: Final = 0
"""In place of the time of a receipt where a document was never received, such as a captured one."""


def read_tolerance(text: str) -> int:
    """The milliseconds of a whole number of hours. Raises ValueError with the values that there
    are.
    """
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_HOURS):
        raise ValueError(f"a whole number of hours from 1 to {_MOST_HOURS}")
    return int(text) * _HOUR_MS


def count_times(facts: Facts, claims: Iterable[tuple[int, int]], tolerance: int) -> Facts:
    """The facts of documents, with counted times in their rows; the same facts where none of these
    is doubtful, which costs next to nothing.

    ``claims`` are the documents' (claimed time, first receipt), all times in milliseconds. Of
    several documents with one claimed time the earliest receipt counts.
    """
    doubtful: dict[int, int] = {}
    for claimed, received in claims:
        if claimed - received > tolerance and received != NO_RECEIPT:
            doubtful[claimed] = min(received, doubtful.get(claimed, received))
    if not doubtful:
        return facts
    rows = (_counted(row, doubtful) for row in facts.rows)
    return replace(facts, rows=tuple(sorted(rows, key=row_key)))


def _counted(row: Row, doubtful: Mapping[int, int]) -> Row:
    if isinstance(row, CountedRow):
        at = doubtful.get(row.at, row.at)
        return row._replace(at=at, ahead=row.at - at)
    if isinstance(row, RunRow):
        ended_at = row.ended_at
        return row._replace(
            started_at=doubtful.get(row.started_at, row.started_at),
            ended_at=None if ended_at is None else doubtful.get(ended_at, ended_at),
            last_at=doubtful.get(row.last_at, row.last_at),
        )
    return row
