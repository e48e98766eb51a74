"""The catalogue in force, and the next one while it is built.

A re-projection fills a catalogue of its own and then takes the place of the old one, so that no
answer ever mixes two translations. On SQLite each generation is a file beside the journal's
(``catalogue-7.db``), on PostgreSQL a schema of the journal's database (``headwater_catalogue_7``).
Which one is in force stands in the journal, so every process on one journal sees the same.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.catalogue.catalogue import SqlCatalogue
from graph_model.catalogue.tables import VERSION
from graph_model.database import open_database, write
from graph_model.errors import Unavailable
from graph_model.store import Journal

GENERATION_KEY: Final = "catalogue_generation"
_SCHEMA: Final = "headwater_catalogue_"


class SqlGenerations:
    """See ``store.Generations``. ``database`` is the engine of the journal, from open_database.

    Raises what SqlCatalogue raises.
    """

    def __init__(self, database: Engine, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        self._lock = threading.Lock()
        self._number = self._recorded()
        self._current = self._open(self._number)
        self._next: SqlCatalogue | None = None

    @property
    def version(self) -> int:
        """See ``store.Generations``."""
        return VERSION

    @property
    def current(self) -> SqlCatalogue:
        """The catalogue in force."""
        return self._current

    def refresh(self) -> None:
        """Follow a switch that another process has made."""
        number = self._recorded()
        with self._lock:
            if number != self._number:
                self._number, self._current = number, self._open(number)

    def begin(self) -> SqlCatalogue:
        """The next catalogue, empty."""
        self._next = self._open(self._number + 1)
        self._next.clear()
        return self._next

    def switch(self) -> None:
        """Put the next catalogue in force, durably; the former one stays until ``drop_former``."""
        if self._next is None:
            raise ValueError("no generation was begun")
        self._journal.set_meta(GENERATION_KEY, str(self._number + 1))
        with self._lock:
            self._number, self._current, self._next = self._number + 1, self._next, None

    def drop_former(self) -> None:
        """Remove the generation before the one in force; nothing when there is none."""
        self._drop(self._number - 1)

    def close(self) -> None:
        """Give back connections; safe to call twice."""
        self._current.close()
        if self._next is not None:
            self._next.close()

    def _recorded(self) -> int:
        return int(self._journal.get_meta(GENERATION_KEY) or 0)

    def _open(self, number: int) -> SqlCatalogue:
        return SqlCatalogue(self._engine(number))

    def _engine(self, number: int) -> Engine:
        if self._database.dialect.name == "sqlite":
            file = self._file(number)
            return open_database("sqlite://" if file is None else file)
        write(self._database, lambda c: _create_schema(c, number), Unavailable)
        return self._database.execution_options(schema_translate_map={None: f"{_SCHEMA}{number}"})

    def _file(self, number: int) -> Path | None:
        """None for a database in memory."""
        journal = self._database.url.database
        return Path(journal).with_name(f"catalogue-{number}.db") if journal else None

    def _drop(self, number: int) -> None:
        if self._database.dialect.name != "sqlite":
            write(self._database, lambda c: _drop_schema(c, number), Unavailable)
        elif file := self._file(number):
            for suffix in ("", "-wal", "-shm"):
                file.with_name(file.name + suffix).unlink(missing_ok=True)


def _create_schema(connection: Connection, number: int) -> None:
    connection.execute(sa.schema.CreateSchema(f"{_SCHEMA}{number}", if_not_exists=True))


def _drop_schema(connection: Connection, number: int) -> None:
    connection.execute(sa.schema.DropSchema(f"{_SCHEMA}{number}", cascade=True, if_exists=True))
