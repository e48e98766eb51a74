"""The working data of one long task: private temporary databases, gone when closed.

SQLite keeps such a database in a file without a name once it outgrows its page cache.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Engine

_URL: Final = "sqlite:///file:?uri=true"
"""SQLite's name of a temporary database: a file with an empty path."""
_METADATA: Final = sa.MetaData()
_IDS: Final = sa.Table(
    "ids", _METADATA, sa.Column("id", sa.Text, primary_key=True), sqlite_with_rowid=False
)
_CONTENTS: Final = sa.Table(
    "contents",
    _METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
_NOTE: Final = sqlite.insert(_IDS).on_conflict_do_nothing()
_KEEP: Final = sa.insert(_CONTENTS).prefix_with("OR REPLACE")


class NotedIds:
    """A set of ids that may outgrow memory."""

    def __init__(self) -> None:
        self._engine = _open()

    def clear(self) -> None:
        """Forget every id."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(_IDS))

    def add(self, ids: Iterable[str]) -> None:
        """Note ids; known ones are ignored."""
        if rows := [{"id": noted} for noted in ids]:
            with self._engine.begin() as connection:
                connection.execute(_NOTE, rows)

    def missing(self, ids: Collection[str]) -> set[str]:
        """The ids among these that were never noted."""
        asked = sa.func.json_each(json.dumps(list(ids))).table_valued("value")
        known = sa.select(_IDS.c.id).where(_IDS.c.id.in_(sa.select(asked.c.value)))
        with self._engine.begin() as connection:
            return set(ids).difference(connection.execute(known).scalars())

    def close(self) -> None:
        """Drop the set; safe to call twice."""
        self._engine.dispose()


class KeptContents:
    """Contents by their keys that may outgrow memory."""

    def __init__(self) -> None:
        self._engine = _open()

    def clear(self) -> None:
        """Forget everything."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(_CONTENTS))

    def find(self, key: str) -> bytes | None:
        """The content that was kept last under a key."""
        asked = sa.select(_CONTENTS.c.content).where(_CONTENTS.c.key == key)
        with self._engine.begin() as connection:
            content: bytes | None = connection.execute(asked).scalar()
        return content

    def keep(self, key: str, content: bytes) -> None:
        """Keep this in place of the former content."""
        with self._engine.begin() as connection:
            connection.execute(_KEEP, {"key": key, "content": content})

    def close(self) -> None:
        """Drop all of it; safe to call twice."""
        self._engine.dispose()


def _open() -> Engine:
    """A database that lives in its one connection, which any thread may use."""
    engine = sa.create_engine(
        _URL, poolclass=sa.StaticPool, connect_args={"check_same_thread": False}
    )
    _METADATA.create_all(engine)
    return engine
