"""Bounds on what one client may do to the answers of all: the size of its facts, and its times.

**Size.** The embedded engine holds about 1,500,000 vertices and edges in its default heap. One
document of 64 MB can spell 400,000 pairs of columns, and an engine that a few of them fill can no
longer be asked to remove them. So a subject (a plan; all events of a run; a declaration) brings at
most an eighth of a default heap. The bounds are constants of the translator: equal documents lose
the same, wherever they are translated.

**Times.** Clocks of clients differ, and one of the year 9999 would rule its tables and the newest
time of all answers for good. So a time more than a tolerance after the first receipt of its
document is doubtful, and counts from that receipt:

    claimed 9999-12-31, received 2026-03-01  =>  at 2026-03-01, ahead by the rest

Vertices and ids keep the claimed time: only rows of the catalogue, by which answers select and
order, have the counted one beside it. A time long past counts as claimed: old logs are imported
years later, and a time before others rules nothing. Within a run, events keep the order of their
claimed times.

The receipt is that of the journal (``StoredDocument.received_at``), which backups and exports have
too. So a rebuild and a restored journal count alike; a repeat of a document changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from graph_model.facts import (
    CountedRow,
    Facts,
    Part,
    Properties,
    Row,
    RunRow,
    merge,
    row_key,
)

MOST_ELEMENTS: Final = 100_000
"""Vertices and edges: a copy of a table of 10,000 columns has 70,000."""
ELEMENTS_OF_A_COLUMN: Final = 3
"""Its vertex, and edges from its table and from the schema that lists it."""
MOST_CHARACTERS: Final = 50_000_000
"""Of all properties of these vertices and edges."""
MOST_ROWS: Final = 200_000
"""Rows of the catalogue."""


class Weight(NamedTuple):
    """``characters`` are those of the properties of the elements."""

    elements: int = 0
    characters: int = 0
    rows: int = 0

    @property
    def excess(self) -> str:
        """The bound that is exceeded, in words; "" for none.

        Without the amount: runs of one job that exceed it by different numbers are one logical
        plan.
        """
        if self.elements_excess:
            return self.elements_excess
        if self.characters > MOST_CHARACTERS:
            return f"more than {MOST_CHARACTERS:,} characters in the graph"
        if self.rows > MOST_ROWS:
            return f"more than {MOST_ROWS:,} rows of the catalogue"
        return ""

    @property
    def elements_excess(self) -> str:
        """``excess`` of whatever holds these elements: it is asked for first."""
        too_many = self.elements > MOST_ELEMENTS
        return f"more than {MOST_ELEMENTS:,} vertices and edges" if too_many else ""


def weigh(facts: Facts) -> Weight:
    """The weight of these facts, which hold each element once."""
    characters = sum(_length(vertex.properties) for vertex in facts.vertices)
    characters += sum(_length(edge.properties) for edge in facts.edges)
    return Weight(facts.size, characters, len(facts.rows))


def _length(properties: Properties) -> int:
    return sum(len(value) for _, value in properties if isinstance(value, str))


def excess_of(parts: Sequence[Part], weights: Iterable[Weight]) -> str:
    """The bound that the parts exceed together; ``weights`` are theirs.

    A fact in several parts counts once: parts are merged only where their sum exceeds a bound.
    """
    listed = list(weights)
    together = Weight(*(sum(numbers) for numbers in zip(*listed, strict=True)))
    return weigh(merge(parts)).excess if together.excess else ""


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
