"""Orders of lists in SQL: a page is the rows behind the keys of the last row shown.

All keys of an order go in one direction, so that "behind" is one comparison of tuples, and they end
with an id, so that no row is listed twice or left out. An unknown value counts as greater than
every other one, and comes last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.catalogue.reading.conditions import BEFORE_EVERYTHING
from graph_model.stores.database import after_keys
from graph_model.stores.pages import ListOrder, checked_limit, read_cursor, write_cursor

_AFTER_EVERYTHING: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ListKeys:
    """``name``, that of the list and its order, is part of the cursors: those of another one are
    refused. ``keys`` are columns or expressions of integers and texts, never null.
    """

    name: str
    falls: bool
    keys: Sequence[sa.ColumnElement[Any]]

    def read(
        self,
        connection: Connection,
        asked: sa.Select[Any],
        cursor: str | None,
        limit: int,
        values: Mapping[str, Any] | None = None,
    ) -> tuple[list[tuple[Any, ...]], str | None]:
        """The rows behind the cursor, and the cursor of the next page. ``values`` are those of the
        parameters of ``asked``.
        """
        if cursor is not None:
            last = read_cursor(cursor, self.name, *self._types)
            asked = asked.where(after_keys(self.keys, last, falls=self.falls))
        ways = [key.desc() if self.falls else key.asc() for key in self.keys]
        page = asked.add_columns(*self.keys).order_by(*ways).limit(checked_limit(limit) + 1)
        rows = connection.execute(page, values or {}).all()
        shown = [tuple(row)[: -len(self.keys)] for row in rows[:limit]]
        if len(rows) <= limit:
            return shown, None
        return shown, write_cursor(self.name, *tuple(rows[limit - 1])[-len(self.keys) :])

    @property
    def _types(self) -> list[type]:
        return [int if isinstance(key.type, sa.Integer) else str for key in self.keys]


def unknown_last(number: sa.ColumnElement[Any], order: ListOrder) -> sa.ColumnElement[Any]:
    """A number that may be null, as a key."""
    beyond = BEFORE_EVERYTHING if order.falls else _AFTER_EVERYTHING
    return sa.func.coalesce(number, sa.literal(beyond, sa.BigInteger()), type_=sa.BigInteger())
