"""The columns and rows that moved between two outcomes of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

ROWS: Final = -1
"""Stands for the rows as a whole where an output column's place is expected."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``rows`` in the order that the job gave, one hashable value per output column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Movement:
    """``columns`` are the places of output columns that moved, ROWS among them for the rows.

    ``arrived``: the columns in which a fresh value of the source stands as it is. ``ordered``:
    each column holds the same values, and the rows are not the same: another order, or values
    that are paired otherwise; which of the columns moved is open.
    """

    columns: frozenset[int]
    arrived: frozenset[int]
    ordered: bool

    @property
    def still(self) -> bool:
        return not (self.columns or self.arrived or self.ordered)


def compare(
    before: Outcome, after: Outcome, *, key: Sequence[int] = (), fresh: Collection[Any] = ()
) -> Movement:
    """With a key: columns of rows that both have, and the keys as a whole. Without one: each
    column as a multiset when the number of rows is the same, else only the rows."""
    moved = _keyed(before, after, key) if key else _unkeyed(before, after)
    ordered = not moved and before.rows != after.rows
    return Movement(moved, _arrived(before, after, fresh), ordered)


def is_key(outcome: Outcome, key: Sequence[int]) -> bool:
    """Whether no two rows agree in the key columns."""
    return len({tuple(row[place] for place in key) for row in outcome.rows}) == len(outcome.rows)


def _keyed(before: Outcome, after: Outcome, key: Sequence[int]) -> frozenset[int]:
    if not (is_key(before, key) and is_key(after, key)):
        return _unkeyed(before, after)
    old, new = _by_key(before, key), _by_key(after, key)
    moved = {
        place
        for shared in old.keys() & new.keys()
        for place in range(len(before.columns))
        if old[shared][place] != new[shared][place]
    }
    if old.keys() != new.keys():
        moved.add(ROWS)
        moved |= {place for place in key if _column(before, place) != _column(after, place)}
    return frozenset(moved)


def _unkeyed(before: Outcome, after: Outcome) -> frozenset[int]:
    if len(before.rows) != len(after.rows):
        return frozenset({ROWS})
    places = range(len(before.columns))
    return frozenset(place for place in places if _column(before, place) != _column(after, place))


def _by_key(outcome: Outcome, key: Sequence[int]) -> Mapping[tuple[Any, ...], tuple[Any, ...]]:
    return {tuple(row[place] for place in key): row for row in outcome.rows}


def _column(outcome: Outcome, place: int) -> Counter[Any]:
    return Counter(row[place] for row in outcome.rows)


def _arrived(before: Outcome, after: Outcome, fresh: Collection[Any]) -> frozenset[int]:
    return frozenset(
        place
        for place in range(len(after.columns))
        if any(_holds(row[place], fresh) for row in after.rows)
        and not any(_holds(row[place], fresh) for row in before.rows)
    )


def _holds(value: Any, fresh: Collection[Any]) -> bool:
    if isinstance(value, tuple):
        return any(_holds(item, fresh) for item in value)
    return value in fresh
