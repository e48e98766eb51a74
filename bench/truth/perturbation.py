"""How a source column is changed: a fraction of its values made fresh, shuffled, or blanked."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from bench.truth.schema import Leaf, Table, values_at, with_values

FRESH: Final = "fresh"
SHUFFLE: Final = "shuffle"
BLANK: Final = "blank"
STRATEGIES: Final = (FRESH, SHUFFLE, BLANK)

_FIRST_FRESH: Final = 700_000  # no table holds numbers near it
_FIRST_DAY: Final = datetime.date(1901, 1, 1)


@dataclass(frozen=True, slots=True)
class Change:
    """One re-run: the change, and the leaf that it changes. The seed decides in which rows."""

    leaf: Leaf
    data_type: str
    strategy: str
    seed: int


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The changed table, and the values that it has nowhere else (only FRESH makes any)."""

    table: Table
    fresh: frozenset[Any]


def changes(
    columns: Sequence[tuple[Leaf, str]], *, seeds: int, strategies: Sequence[str] = STRATEGIES
) -> Iterator[Change]:
    """Every way to change every leaf, leaf by leaf."""
    for leaf, data_type in columns:
        for strategy in strategies:
            for seed in range(seeds):
                yield Change(leaf, data_type, strategy, seed)


def perturb(table: Table, change: Change) -> Perturbed:
    """The table with one leaf changed; the other columns stay as they are.

    FRESH gives half of the values (seed 0), all of them (seed 1), then random parts, values that
    occur nowhere else; SHUFFLE deals the column's own values out anew, so that joins and filters
    still match; BLANK makes a third NULL.
    """
    leaf = change.leaf
    old = [v for row in table.rows for v in values_at(row[leaf.column], leaf.path)]
    source = random.Random(f"{leaf.text} {change.strategy} {change.seed}")
    new = _changed(old, change, source)
    supply = iter(new)
    rows = tuple(
        {**row, leaf.column: with_values(row[leaf.column], leaf.path, supply)} for row in table.rows
    )
    fresh = set(new) - set(old) if change.strategy == FRESH else set()
    return Perturbed(replace(table, rows=rows), frozenset(fresh) - {None, True, False})


def _changed(old: Sequence[Any], change: Change, source: random.Random) -> list[Any]:
    if change.strategy == SHUFFLE:
        return _shuffled(old, source)
    count = len(old)
    chosen = set(source.sample(range(count), _how_many(change, count)))
    if change.strategy == BLANK:
        return [None if place in chosen else value for place, value in enumerate(old)]
    return [
        fresh_value(value, change.data_type, place) if place in chosen else value
        for place, value in enumerate(old)
    ]


def _how_many(change: Change, count: int) -> int:
    if change.strategy == BLANK:
        return max(1, count // 3) if count else 0
    return count if change.seed % 2 else (count + 1) // 2


def _shuffled(old: Sequence[Any], source: random.Random) -> list[Any]:
    """Another order when there is one: a column of two values must not come out as it was."""
    new = list(old)
    for _ in range(10):
        source.shuffle(new)
        if new != list(old):
            break
    return new


def fresh_value(value: Any, data_type: str, place: int) -> Any:
    """A value of the type that no table holds; booleans have none, theirs is the opposite.

    A string keeps its beginning (``'HR'`` => ``'HR~4'``): patterns and prefixes still match.
    """
    if data_type == "boolean":
        return not value
    if data_type == "string":
        return f"{'' if value is None else value}~{place}"
    if data_type == "date":
        return _FIRST_DAY + datetime.timedelta(days=place)
    if data_type.startswith("decimal"):
        return Decimal(_FIRST_FRESH + place) + Decimal("0.25")
    if data_type == "double":
        return _FIRST_FRESH + place + 0.5
    return _FIRST_FRESH + place
