"""Pages of a list, their cursors, and the orders in which the lists can be asked for.

A cursor is the beginning of a list's next page, as an opaque text: the sort key of the last item
shown, so a page costs the same at any depth and a row that arrives meanwhile moves nothing. It
carries the name of its list: the cursor of one list is refused by another.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from graph_model.errors import InvalidReference

Item = TypeVar("Item")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list: ``total`` over all pages, ``next`` an opaque cursor or None."""

    items: tuple[Item, ...]
    total: int
    next: str | None


Paged = TypeVar("Paged", bound=Page[Any])


class ListOrder(StrEnum):
    """The field of the items by which a list is sorted; ``-`` in front: from the greatest.

    An item whose field is unknown comes last in both directions.
    """

    @property
    def falls(self) -> bool:
        return self.value.startswith("-")

    @property
    def field(self) -> str:
        return self.value.removeprefix("-")


class DatasetOrder(ListOrder):
    NAME = "name"
    NAME_FALLING = "-name"
    URI = "uri"
    URI_FALLING = "-uri"
    TYPE = "type"
    TYPE_FALLING = "-type"
    LAST_WRITE = "lastWrite"
    LAST_WRITE_FALLING = "-lastWrite"


class JobOrder(ListOrder):
    """``state``: failed last runs after completed ones, each of them by time."""

    NAMESPACE = "namespace"
    NAMESPACE_FALLING = "-namespace"
    NAME = "name"
    NAME_FALLING = "-name"
    LAST_RUN = "lastRun"
    LAST_RUN_FALLING = "-lastRun"
    STATE = "state"
    STATE_FALLING = "-state"
    RUNS = "runs"
    RUNS_FALLING = "-runs"


class ExecutionOrder(ListOrder):
    AT = "at"
    AT_FALLING = "-at"
    DURATION = "durationMs"
    DURATION_FALLING = "-durationMs"


class ColumnOrder(ListOrder):
    """``table``: by the name of the table, then by the column's path."""

    NAME = "name"
    NAME_FALLING = "-name"
    TABLE = "table"
    TABLE_FALLING = "-table"


def walk_pages(ask: Callable[[str | None], Page[Item]]) -> Iterator[Page[Item]]:
    """Every page of a list, each requested with the ``next`` of the one before."""
    cursor: str | None = None
    while True:
        page = ask(cursor)
        yield page
        cursor = page.next
        if cursor is None:
            return


def read_part(
    ask: Callable[..., Paged], offset: int, limit: int, most: int
) -> tuple[list[Any], Paged]:
    """The items of a list behind the first ``offset``, for clients that have no cursors, and its
    first page. ``ask`` takes ``limit`` (at most ``most``) and ``cursor``.
    """
    end = offset + limit
    first = page = ask(limit=max(1, min(most, end)), cursor=None)
    rows = list(first.items)
    while page.next is not None and len(rows) < end:
        page = ask(limit=min(most, end - len(rows)), cursor=page.next)
        rows += page.items
    return rows[offset:end], first


def walk_rows(read: Callable[[Row | None], Sequence[Row]]) -> Iterator[Row]:
    """Every row of a list that is read in parts, each behind the last row of the one before."""
    after: Row | None = None
    while rows := read(after):
        yield from rows
        after = rows[-1]


EXECUTIONS: Final = "executions"
"""The list of executions, newest first: its key is (at, id)."""
_PAST_INTEGERS: Final = 2**63
"""The first integer of more than 64 bits."""
_EXPECTED: Final = "a cursor that this list gave as `next`"


def write_cursor(kind: str, *key: str | int) -> str:
    """``[A-Za-z0-9_-]+``; read it with the same ``kind``. Integers are of 64 bits."""
    text = json.dumps([kind, *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, kind: str, *types: type) -> tuple[str | int, ...]:
    """The key that ``write_cursor`` was given: one value of each of the types, ``str`` or ``int``.

    Raises InvalidReference for anything that ``write_cursor`` does not give for this kind.
    """
    try:
        decoded = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        parts = json.loads(decoded)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise InvalidReference(cursor, _EXPECTED) from error
    shape = (str, *types)
    if (
        not isinstance(parts, list)
        or [type(part) for part in parts] != list(shape)
        or parts[0] != kind
        or write_cursor(*parts) != cursor
        or any(
            isinstance(part, int) and not -_PAST_INTEGERS <= part < _PAST_INTEGERS for part in parts
        )
    ):
        raise InvalidReference(cursor, _EXPECTED)
    return tuple(parts[1:])


def newest_page(
    kind: str,
    items: Iterable[Item],
    key: Callable[[Item], tuple[int, str]],
    limit: int,
    cursor: str | None,
) -> Page[Item]:
    """One page of a list in memory, newest first; its cursor is the key of the last item shown."""
    ordered = sorted(items, key=key, reverse=True)
    after = read_cursor(cursor, kind, int, str) if cursor is not None else None
    left = [item for item in ordered if after is None or key(item) < after]
    shown = left[:limit]
    following = write_cursor(kind, *key(shown[-1])) if len(left) > limit else None
    return Page(tuple(shown), len(ordered), following)


def checked_limit(limit: int) -> int:
    """The limit of a page, 1 to 1000; ValueError otherwise (the edge has checked it before)."""
    if not 1 <= limit <= 1000:
        raise ValueError(f"limit: expected 1 to 1000, not {limit}")
    return limit
