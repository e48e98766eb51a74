"""Pages of a list, and the orders in which the lists can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Item = TypeVar("Item")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list: ``total`` over all pages, ``next`` an opaque cursor or None."""

    items: tuple[Item, ...]
    total: int
    next: str | None


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


def walk_rows(read: Callable[[Row | None], Sequence[Row]]) -> Iterator[Row]:
    """Every row of a list that is read in parts, each behind the last row of the one before."""
    after: Row | None = None
    while rows := read(after):
        yield from rows
        after = rows[-1]
