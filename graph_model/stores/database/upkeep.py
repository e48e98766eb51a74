"""Sizes, checks and the space of deleted rows."""

from __future__ import annotations

from functools import partial
from typing import Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import Unavailable
from graph_model.stores.database.disk_reserve import is_short
from graph_model.stores.database.failures import POSTGRESQL, translated
from graph_model.stores.database.locks import autocommitting
from graph_model.stores.database.transactions import write

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
    found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return tuple(f"the database file: {line}" for line in found if line != "ok")


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
