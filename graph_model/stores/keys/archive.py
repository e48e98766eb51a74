"""Keys as lines of a backup: their rows, which hold no secret.

    {"key": {"id": "3f9c21ab77e0", "name": "jobs", "roles": "producer", "digest": "…", …}}

A key that the database holds already stays as it is: a key that was revoked after the backup stays
revoked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.database import insert_new
from graph_model.stores.keys.tables import api_keys
from graph_model.stores.roles import Role

_NUMBERS = ("rate_per_minute", "created_at", "any_scope")
_ADDED = {"any_scope": 0}
"""Fields that a backup of an earlier version lacks."""


def key_lines(connection: Connection) -> Iterator[dict[str, Any]]:
    """A line for each key, oldest first; none if the table of keys was never made.

    A table of an earlier version, which no service of this one has opened yet, lacks columns.
    """
    inspector = sa.inspect(connection)
    if not inspector.has_table(api_keys.name):
        return
    names = {column["name"] for column in inspector.get_columns(api_keys.name)}
    present = [column for column in api_keys.columns if column.name in names]
    asked = sa.select(*present).order_by(api_keys.c.created_at, api_keys.c.id)
    for row in connection.execute(asked):
        yield {"key": dict(row._mapping)}


def checked_key(values: Any) -> dict[str, Any]:
    """The row of a line's key. Raises ValueError, KeyError or TypeError for an invalid line."""
    row = {column.name: {**_ADDED, **values}[column.name] for column in api_keys.columns}
    texts = [row[name] for name in ("id", "name", "roles", "scope", "digest", "last_four")]
    numbers = [row[name] for name in _NUMBERS]
    if not all(isinstance(one, str) for one in texts) or not all(map(_is_whole, numbers)):
        raise ValueError("its key has a field of another type")
    if row["revoked_at"] is not None and not _is_whole(row["revoked_at"]):
        raise ValueError("its key is revoked at no time")
    for role in row["roles"].split(","):
        Role(role)
    return row


def insert_keys(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Keep these keys; one whose id or name is known stays as it is."""
    if rows:
        connection.execute(insert_new(connection, api_keys), rows)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
