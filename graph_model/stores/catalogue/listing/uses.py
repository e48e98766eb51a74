"""The number of rows with a value, kept in a table where no index has it.

A facet's body goes with the last facet that has its digest. An index by digest would repeat the
whole key of every facet; a number for each digest is a fortieth of it. The transaction that adds or
removes rows also updates the number, by the rows that it really added or removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.catalogue.tables import Storage, facet_uses
from graph_model.stores.database import Lock, insert_rows, keep_order

_THIS: Final = facet_uses.c.digest == sa.bindparam("value")
_ADD: Final = facet_uses.update().where(_THIS).values(uses=facet_uses.c.uses + sa.bindparam("more"))
_DROP: Final = facet_uses.delete().where(_THIS, facet_uses.c.uses <= 0)


def take_turn(connection: Connection, storages: Iterable[Storage]) -> None:
    """Begin a transaction that counts: until its end no other one adds or removes rows."""
    if any(storage.counted is not None for storage in storages):
        keep_order(connection, Lock.COUNTS)


def count_added(connection: Connection, storage: Storage, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add these rows, which were not stored before, to the number of their value."""
    if counted := _counted(storage, rows):
        insert_rows(connection, facet_uses, [(value, 0) for value in counted])
        connection.execute(_ADD, [{"value": v, "more": n} for v, n in counted.items()])


def count_removed(
    connection: Connection, storage: Storage, rows: Iterable[tuple[Any, ...]]
) -> None:
    """Subtract these rows, which were stored, from the number of their value."""
    if counted := _counted(storage, rows):
        connection.execute(_ADD, [{"value": v, "more": -n} for v, n in counted.items()])
        connection.execute(_DROP, [{"value": value} for value in counted])


def _counted(storage: Storage, rows: Iterable[tuple[Any, ...]]) -> Counter[str]:
    if storage.counted is None:
        return Counter()
    place = storage.row._fields.index(storage.counted)
    return Counter(row[place] for row in rows)
