"""Space: the reserve of the disk, sizes, and the space of deleted rows; checks of the file.

Free space on the disk of SQLite's files that new documents leave to removals:

    256 MB reserved, 900 MB free                        taken
    256 MB reserved, 260 MB free, 5 MB to be written    refused: 260 - 5 < 256
    256 MB reserved, 250 MB free                        refused; a command that removes is taken

A removal needs room before it makes room: for its command and the pages that it changes in
the write-ahead log, and to copy that log into the file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import DiskNearlyFull, Unavailable
from graph_model.stores.database.statements import POSTGRESQL, translated
from graph_model.stores.database.transactions import autocommitting, write

_OPTION: Final = "headwater_disk_reserve"
_MEASURED_SECONDS: Final = 1.0
_NEAR: Final = 8
"""Up to this multiple of the reserve the promised bytes are counted, which costs a question."""


class DiskReserve:
    """``size`` bytes of the disk stay free. For any thread.

    ``free`` measures the free bytes, and raises OSError where it cannot: then nothing is refused.
    It is called once a second at most; between two measurements each request counts with its size.
    Where little is free, it is less by the ``promised`` bytes: those that will be written for
    documents that were taken before. ``seconds`` never go back.
    """

    def __init__(
        self, size: int, free: Callable[[], int], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self.size = size
        self.promised: Callable[[], int] = lambda: 0
        self._free = free
        self._seconds = seconds
        self._lock = Lock()
        self._measured_at = float("-inf")
        self._promised = 0  # at that time
        self._left: int | None = None  # free at that time, less what is promised and taken since

    def take(self, size: int) -> None:
        """Count ``size`` bytes that are about to be written. Raises DiskNearlyFull if they do not
        leave the reserve free.
        """
        with self._lock:
            if (left := self._check(size)) is not None:
                self._left = left - size

    def check(self, size: int) -> None:
        """Raises DiskNearlyFull if ``size`` bytes do not leave the reserve free; counts nothing."""
        with self._lock:
            self._check(size)

    def _check(self, size: int) -> int | None:
        left = self._measured()
        if left is not None and left - size < self.size:
            raise self._refusal(left, size)
        return left

    @property
    def refusal(self) -> DiskNearlyFull | None:
        """The error that even a document of no size meets; None where it is taken."""
        with self._lock:
            left = self._measured()
            return None if left is None or left >= self.size else self._refusal(left, 0)

    @property
    def is_reached(self) -> bool:
        """Whether even a document of no size is refused."""
        return self.refusal is not None

    def _refusal(self, left: int, size: int) -> DiskNearlyFull:
        return DiskNearlyFull(left + self._promised, self.size, size, self._promised)

    def _measured(self) -> int | None:
        now = self._seconds()
        if now - self._measured_at >= _MEASURED_SECONDS:
            self._measured_at = now
            try:
                free = self._free()
            except OSError:
                self._left = None
            else:
                self._promised = self.promised() if free < _NEAR * self.size else 0
                self._left = free - self._promised
        return self._left


def keep_reserve(engine: Engine, reserve: DiskReserve | None) -> None:
    """From now on what is written with this engine knows the reserve of its disk."""
    engine.update_execution_options(**{_OPTION: reserve})


def reserve_of(engine: Engine) -> DiskReserve | None:
    """The reserve of the disk; None where nothing is reserved, or the disk is a server's."""
    reserve: DiskReserve | None = engine.get_execution_options().get(_OPTION)
    return reserve


def is_short(engine: Engine) -> bool:
    """Whether the disk has only its reserve left."""
    reserve = reserve_of(engine)
    return reserve is not None and reserve.is_reached


STEP_PAGES: Final = 1_000
"""Free pages that one step gives back (4 MB): writers wait no longer than that takes."""
_KEPT_FREE: Final = 10
"""The tenth part of a file stays free for the next rows."""
_WORN: Final = sa.text(
    "SELECT format('%I.%I', schemaname, relname) FROM pg_stat_user_tables"
    " WHERE (relname LIKE 'journal%' OR relname LIKE 'catalogue%')"
    " AND n_dead_tup > :least AND n_dead_tup * 10 > n_live_tup"
    " AND coalesce(last_vacuum, '-infinity') < now() - interval '1 hour'"
    " ORDER BY n_dead_tup DESC LIMIT 1"
)
_LEAST_DEAD: Final = 10_000


def damage(connection: Connection) -> tuple[str, ...]:
    """Damage that the database itself finds in its file; PostgreSQL is not checked."""
    if connection.dialect.name != "sqlite":
        return ()
    lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return tuple(f"the database file: {line}" for line in lines if line != "ok")


def database_bytes(connection: Connection) -> int:
    """The size of the database on its disk, without its log."""
    if connection.dialect.name == POSTGRESQL:
        named = sa.func.pg_database_size(sa.func.current_database())
        return int(connection.execute(sa.select(named)).scalar_one())
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


_TABLE_BYTES: Final = sa.text(
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
    " WHERE c.relkind = 'r' AND c.relname LIKE :tables"
)


def used_bytes(connection: Connection, tables: str) -> int:
    """Bytes in use: of SQLite's file all pages that are not free, on PostgreSQL the tables, with
    their indexes, whose names are LIKE ``tables`` in schemas LIKE ``schemas``. Reads no rows.
    """
    if connection.dialect.name == POSTGRESQL:
        return int(connection.execute(_TABLE_BYTES, {"tables": tables}).scalar_one())
    return database_bytes(connection) - free_bytes(connection)


def free_bytes(connection: Connection) -> int:
    """Of SQLite's file: the free pages for the next rows. 0 on PostgreSQL."""
    if connection.dialect.name == POSTGRESQL:
        return 0
    pages = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
    return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


def tidy(engine: Engine, unavailable: type[Unavailable], *, least: int = _LEAST_DEAD) -> bool:
    """One bounded step of freeing the space of deleted rows; False when none is left.

    SQLite gives pages back to the disk (a file of an older Headwater keeps them for its next rows),
    and all of them, with the file of its write-ahead log, while the disk has only its reserve left.
    PostgreSQL vacuums and analyzes the table with most dead rows, if they are a tenth and more than
    ``least``: its own autovacuum waits for a fifth. A table once an hour at most.
    """
    if engine.dialect.name == POSTGRESQL:
        return _vacuum_a_table(engine, unavailable, least)
    short = is_short(engine)
    more = write(engine, partial(_give_pages_back, short=short), unavailable)
    if short and not more:
        _empty_log(engine, unavailable)
    return more


def _give_pages_back(connection: Connection, *, short: bool) -> bool:
    if connection.exec_driver_sql("PRAGMA auto_vacuum").scalar_one() == 0:
        return False
    pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    free = int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
    beyond = free if short else free - pages // _KEPT_FREE
    # The driver takes one step of the pragma, and a step frees one page: (1000) => one page gone.
    for _ in range(min(STEP_PAGES, beyond)):
        connection.exec_driver_sql("PRAGMA incremental_vacuum(1)").close()
    return beyond > 0


def _empty_log(engine: Engine, unavailable: type[Unavailable]) -> None:
    """Copy the write-ahead log into the file, which only then becomes shorter, and empty it.
    Without effect while a reader still needs the log: the next step tries again.
    """
    with autocommitting(engine, unavailable) as connection:
        try:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
        except exc.SQLAlchemyError as error:
            raise translated(error, unavailable) from error


def _vacuum_a_table(engine: Engine, unavailable: type[Unavailable], least: int) -> bool:
    with autocommitting(engine, unavailable) as connection:
        try:
            table = connection.execute(_WORN, {"least": least}).scalar()
            if table is not None:
                connection.exec_driver_sql(f"VACUUM (ANALYZE) {table}")
        except exc.SQLAlchemyError as error:
            raise translated(error, unavailable) from error
    return table is not None
