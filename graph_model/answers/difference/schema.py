"""Two schemas of one dataset, column by column.

    (id int, pay int)  =>  (id int, Pay bigint, day date)
    pay retyped int -> bigint, pay respelled pay -> Pay, day added

A column is known by its folded path (``naming.fold``), so another spelling is no other column; a
type by its meaning (``long`` is ``bigint``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model.naming.schemas import same_type

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"
RETYPED: Final = "retyped"
RESPELLED: Final = "respelled"
MOVED: Final = "moved"


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    path: str
    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """``before`` and ``after`` are types; for a respelled column names; for a moved one its place
    (from 1) among the columns of both schemas; None on the side without the column.
    """

    change: str
    path: str
    before: str | None
    after: str | None


Schema = tuple[ComparedColumn, ...]


def read_schema(columns: str) -> Schema:
    """The columns of a ``SchemaRow``; the first of two with one path."""
    found = {
        column["path"]: ComparedColumn(column["path"], column["name"], column.get("type"))
        for column in reversed(json.loads(columns))
    }
    return tuple(reversed(found.values()))


def compare_schemas(
    before: Sequence[ComparedColumn], after: Sequence[ComparedColumn]
) -> tuple[ColumnChange, ...]:
    """The changes from one schema to the other; empty for equal ones. Added and removed in schema
    order.
    """
    old = {column.path: column for column in before}
    new = {column.path: column for column in after}
    return (
        *(ColumnChange(REMOVED, c.path, c.type or "", None) for c in before if c.path not in new),
        *(ColumnChange(ADDED, c.path, None, c.type or "") for c in after if c.path not in old),
        *(one for path, c in old.items() if path in new for one in _within(c, new[path])),
        *_moved([path for path in old if path in new], [path for path in new if path in old]),
    )


def _within(before: ComparedColumn, after: ComparedColumn) -> Iterator[ColumnChange]:
    if not same_type(before.type, after.type):
        yield ColumnChange(RETYPED, before.path, before.type, after.type)
    if before.name != after.name:
        yield ColumnChange(RESPELLED, before.path, before.name, after.name)


def _moved(before: Sequence[str], after: Sequence[str]) -> Iterator[ColumnChange]:
    """The columns of both in another place, which matters to an insert by position."""
    places = {path: place for place, path in enumerate(after, 1)}
    for place, path in enumerate(before, 1):
        if places[path] != place:
            yield ColumnChange(MOVED, path, str(place), str(places[path]))


def describe(changes: Sequence[ColumnChange]) -> tuple[str, ...]:
    """One short sentence for each change."""
    return tuple(_sentence(one) for one in changes)


def _sentence(one: ColumnChange) -> str:
    if one.change == ADDED:
        return f"column {one.path} added{_typed(one.after)}"
    if one.change == REMOVED:
        return f"column {one.path} removed"
    if one.change == RESPELLED:
        return f"column {one.before} is now spelled {one.after}"
    if one.change == MOVED:
        return f"column {one.path} moved from place {one.before} to {one.after}"
    return f"column {one.path} was {one.before or 'untyped'}, is {one.after or 'untyped'}"


def _typed(text: str | None) -> str:
    return f" ({text})" if text else ""
