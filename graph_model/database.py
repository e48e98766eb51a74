"""The relational database under the journal and the catalogue: one engine, opened here.

SQLite in one file (WAL, every commit an fsync) on a laptop or a single node; PostgreSQL is another
URL. What differs between the two lives in this module and nowhere else: how a connection is set
up, how a write transaction begins, how an insert skips what is known, which errors pass.

    engine = open_database("data/headwater.db")
    prepare(engine, "journal", 1, metadata)
    with read(engine, JournalUnavailable) as connection: ...
    write(engine, work, JournalUnavailable)         # work(connection) may run more than once

Errors of the drivers stop here; only a broken constraint or a refused statement, which would be a
bug of ours, passes through.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Dialect, Engine
from sqlalchemy.types import TypeDecorator, TypeEngine

from graph_model.errors import ConfigurationError, Unavailable

CHUNK: Final = 500
"""How many values one statement asks for: below the limit on parameters of every engine."""

_BUSY_MILLISECONDS: Final = 3_000
_ATTEMPTS: Final = 3
_TURN_SECONDS: Final = 10.0
_POOL_SECONDS: Final = 10.0
_SCHEMA_LOCK: Final = 7_238_145_001  # an arbitrary number, the same in every Headwater process
_WRITE: Final = "headwater_write"
_TURN: Final = "headwater_turn"

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")


# --- types of columns ----------------------------------------------------------------------------


def storable(text: str) -> str:
    """The text as every database stores it: NUL and lone surrogates become U+FFFD.

    A producer may send either inside JSON. PostgreSQL refuses the first, UTF-8 has no form for
    the second, and a document must not fail for it.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class StoredText(TypeDecorator[str]):
    """Text of any length, made storable, compared and sorted by code point on every engine."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else storable(value)


def serial() -> TypeEngine[int]:
    """64 bits; SQLite numbers rows by itself only where the type reads INTEGER."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


# --- opening -------------------------------------------------------------------------------------


def open_database(path_or_url: str | Path) -> Engine:
    """An engine for a database file, or for a URL (``sqlite://`` is one in memory).

    The folder of a file is made. Nothing is read or written yet: ``prepare`` does that. Raises
    ConfigurationError where the URL cannot be read or its driver is missing.
    """
    url = _url(path_or_url)
    try:
        if url.get_backend_name() == "sqlite":
            return _open_sqlite(url)
        return sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)
    except (exc.ArgumentError, ImportError) as error:
        raise ConfigurationError(f"database {url!r}: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"database {url!r}: cannot make its folder: {error}") from error


def _url(path_or_url: str | Path) -> URL:
    if isinstance(path_or_url, Path) or "://" not in path_or_url:
        return URL.create("sqlite", database=str(path_or_url))
    try:
        return sa.make_url(path_or_url)
    except (exc.ArgumentError, ValueError) as error:
        # The text may hold a password, so it is not repeated here.
        raise ConfigurationError("the database URL cannot be read") from error


def _open_sqlite(url: URL) -> Engine:
    in_memory = url.database in (None, "", ":memory:")
    if not in_memory and not str(url.database).startswith("file:"):  # a URI says how to open
        Path(str(url.database)).absolute().parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(
        url,
        # A database in memory lives in its connection: one, which threads take in turn.
        poolclass=sa.QueuePool,
        pool_size=1 if in_memory else 10,
        max_overflow=0 if in_memory else 20,
        pool_timeout=_POOL_SECONDS,
        connect_args={"check_same_thread": False},
        hide_parameters=True,
        # Threads queue here rather than in SQLite, whose waiting is polling and not fair.
        execution_options={_TURN: threading.Lock()},
    )
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is ours, see _begin_sqlite
    for pragma in (
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -16384",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later cannot wait for its turn: it fails at once.
    writes = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# --- transactions --------------------------------------------------------------------------------


@contextmanager
def read(engine: Engine, unavailable: type[Unavailable]) -> Iterator[Connection]:
    """One transaction that reads: every statement in it sees the same state (on SQLite)."""
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    except exc.SQLAlchemyError as error:
        raise _translated(error, unavailable) from error


def write(
    engine: Engine, work: Callable[[Connection], _Result], unavailable: type[Unavailable]
) -> _Result:
    """Run ``work`` in one transaction; on return it is durable, on an exception nothing is.

    ``work`` runs again when another writer was in the way, a bounded number of times. Raises
    ``unavailable`` with a plain reason.
    """
    with _turn(engine, unavailable):
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                with (
                    engine.connect().execution_options(**{_WRITE: True}) as connection,
                    connection.begin(),
                ):
                    return work(connection)
            except exc.SQLAlchemyError as error:
                if not (attempts_left and _passes(error)):
                    raise _translated(error, unavailable) from error
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def _turn(engine: Engine, unavailable: type[Unavailable]) -> Iterator[None]:
    lock: threading.Lock | None = engine.get_execution_options().get(_TURN)
    if lock is None:
        yield
    elif lock.acquire(timeout=_TURN_SECONDS):
        try:
            yield
        finally:
            lock.release()
    else:
        raise unavailable("the database is busy: another writer holds it for too long")


def insert_new(connection: Connection, table: sa.Table) -> sa.Insert:
    """An insert that leaves rows alone whose key is known."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def chunks(values: Iterable[_Value], size: int = CHUNK) -> Iterator[Sequence[_Value]]:
    """``[1, 2, 3], 2 => [1, 2], [3]``."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


# --- the version of the tables -------------------------------------------------------------------

_versions = sa.Table(
    "headwater_schema",
    sa.MetaData(),
    sa.Column("component", StoredText(), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


def prepare(engine: Engine, component: str, version: int, metadata: sa.MetaData) -> None:
    """Make the tables of one component where they are missing, and record their version.

    Raises ConfigurationError where a newer Headwater made them or the database cannot be used,
    Unavailable where another process holds it.
    """
    try:
        found = write(engine, lambda c: _prepare(c, component, version, metadata), Unavailable)
    except Unavailable as error:
        cause = error.__cause__
        if isinstance(cause, exc.SQLAlchemyError) and not _passes(cause):
            raise ConfigurationError(f"database {engine.url!r}: {error}") from error
        raise
    if found > version:
        raise ConfigurationError(
            f"the {component} tables in {engine.url!r} have version {found}, and this Headwater"
            f" knows them up to version {version}: start the newer Headwater that wrote them, or"
            " restore a backup that was taken before the upgrade"
        )


def _prepare(connection: Connection, component: str, version: int, metadata: sa.MetaData) -> int:
    if connection.dialect.name == "postgresql":
        # CREATE TABLE IF NOT EXISTS of two processes at once may still collide there.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
    _versions.metadata.create_all(connection)
    asked = sa.select(_versions.c.version).where(_versions.c.component == component)
    found = connection.execute(asked).scalar_one_or_none()
    if found is None:
        metadata.create_all(connection)
        connection.execute(_versions.insert(), {"component": component, "version": version})
        return version
    return int(found)


# --- errors --------------------------------------------------------------------------------------

_SQLITE_REASONS: Final = {
    sqlite3.SQLITE_FULL: "no space left for the database: its disk, or its size limit, is full",
    sqlite3.SQLITE_BUSY: "the database is locked: another process writes to it",
    sqlite3.SQLITE_LOCKED: "the database is locked: another connection writes to it",
    sqlite3.SQLITE_READONLY: "the database cannot be written: it is read-only",
    sqlite3.SQLITE_IOERR: "the disk of the database reports an error",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the database file is damaged: restore a backup",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database",
}
_PASSING_SQLITE: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PASSING_POSTGRESQL: Final = frozenset({"40001", "40P01", "55P03"})  # serialisation, deadlock, lock
_BUGS: Final = (exc.IntegrityError, exc.ProgrammingError, exc.DataError)


def _translated(error: exc.SQLAlchemyError, unavailable: type[Unavailable]) -> Exception:
    """What a caller shall see instead of this error; the error itself where it is a bug."""
    if isinstance(error, exc.TimeoutError):
        return unavailable("the database is busy: no connection became free in time")
    if isinstance(error, exc.DBAPIError) and not isinstance(error, _BUGS):
        return unavailable(_reason(error))
    return error


def _reason(error: exc.DBAPIError) -> str:
    known = _SQLITE_REASONS.get(_sqlite_code(error))
    first_line = (str(error.orig).strip().splitlines() or ["no reason given"])[0]
    return known or f"the database does not answer: {first_line}"


def _passes(error: exc.SQLAlchemyError) -> bool:
    """Whether a transaction may succeed when it is simply run again."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return _sqlite_code(error) in _PASSING_SQLITE or state in _PASSING_POSTGRESQL


def _sqlite_code(error: exc.SQLAlchemyError) -> int:
    # The low byte is the kind, the rest tells variants apart (SQLITE_IOERR_FSYNC ...).
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else -1
