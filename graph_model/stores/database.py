"""The relational database under the journal and the catalogue: one engine, opened here.

SQLite in one file (WAL, every commit an fsync) on a laptop or a single node; PostgreSQL is another
URL. Only this module knows the differences between the two: the setup of a connection, the start of
a transaction, inserts that skip known rows, locks between processes, errors that pass by
themselves.

    engine = open_database("data/headwater.db")
    prepare(engine, "journal", 1, metadata)
    with read(engine, JournalUnavailable) as connection: ...
    write(engine, work, JournalUnavailable)         # work(connection) may run more than once

Errors of the drivers stop here; only a broken constraint or a refused statement, which would be a
bug of ours, passes through.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Dialect, Engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from graph_model.errors import ConfigurationError, Unavailable
from graph_model.storable_text import storable, storable_value

CHUNK: Final = 500
"""How many values one statement asks for: below the limit on parameters of every engine."""

_BUSY_MILLISECONDS: Final = 3_000
_ATTEMPTS: Final = 3
_TURN_SECONDS: Final = 10.0
_POOL_SECONDS: Final = 10.0
_POOL_KEPT: Final = 24
"""Connections to a file that stay open: one for each request worked on and a few. One beyond them
is closed after use, and to open one costs as much as fifty statements."""
_POOL_BEYOND: Final = 16
_LOCK_SECONDS: Final = 30.0
_WRITE: Final = "headwater_write"
_TURN: Final = "headwater_turn"
_DAMAGE: Final = "headwater_damage"
_POSTGRESQL: Final = "postgresql"
_DRIVER: Final = "postgresql+psycopg"
_DRIVER_NEEDED: Final = "PostgreSQL needs its driver: pip install 'psycopg[binary]>=3.2,<4'"
_VERIFIED: Final = "verify-full"
_POSTGRESQL_PORT: Final = 5432
_SECRETS: Final = frozenset({"password", "sslpassword"})

Database = Engine
"""The result of ``open_database``, for callers that pass it on without knowing SQLAlchemy."""

Credentials = Callable[[], Mapping[str, str]]
"""``user``, ``password`` of the next connection (``stores.credentials``)."""

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")


class Damage:
    """Of one engine: the first sign that its stored data is damaged, for a caller that can act on
    it.
    """

    def __init__(self) -> None:
        self.met: str | None = None


class Lock(IntEnum):
    """Advisory locks between the processes on one PostgreSQL database, by number.

    Arbitrary, and the same in every Headwater. On SQLite its own write lock, and the lock on the
    data folder, do the same.
    """

    SCHEMA = 7_238_145_001
    ORDER = 7_238_145_002  # positions are given, and become visible, in one order
    PROJECTION = 7_238_145_003  # one projector at a time
    SERVICE = 7_238_145_004  # shared by services, held alone by what suffers no other
    COUNTS = 7_238_145_005  # what is counted is looked up and written by one at a time


# --- types of columns ----------------------------------------------------------------------------


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


def open_database(path_or_url: str | Path, credentials: Credentials | None = None) -> Engine:
    """An engine for a database file, or for a URL (``sqlite://`` is one in memory).

    The folder of a file is made. Nothing is read or written yet: ``prepare`` does that.
    ``credentials`` are asked for each new connection to a server. Raises ConfigurationError where
    the URL cannot be read or its driver is missing.
    """
    url = _url(path_or_url)
    try:
        if url.get_backend_name() == "sqlite":
            return _open_sqlite(url)
        return _sign_in(_open_server(url), credentials)
    except ImportError as error:
        said = _DRIVER_NEEDED if url.get_backend_name() == _POSTGRESQL else str(error)
        raise ConfigurationError(f"database {shown(url)}: {said}") from error
    except exc.ArgumentError as error:
        raise ConfigurationError(f"database {shown(url)}: {error}") from error
    except OSError as error:
        raise ConfigurationError(
            f"database {shown(url)}: cannot make its folder: {error}"
        ) from error


def shown(url: URL) -> str:
    """The URL for a person or a log: ``postgresql+psycopg://me:***@host/db``."""
    hidden = {name: "***" for name in url.query if name.lower() in _SECRETS}
    return url.set(query={**url.query, **hidden}).render_as_string(hide_password=True)


def _url(path_or_url: str | Path) -> URL:
    if isinstance(path_or_url, Path) or "://" not in path_or_url:
        return URL.create("sqlite", database=str(path_or_url))
    try:
        url = sa.make_url(path_or_url)
    except (exc.ArgumentError, ValueError):
        # The text may hold a password, so it is not repeated here, nor is an error that quotes it.
        raise ConfigurationError("the database URL cannot be read") from None
    # What other programs call it, without a driver: postgres://… and postgresql://…
    return url.set(drivername=_DRIVER) if url.drivername in {"postgres", _POSTGRESQL} else url


def _open_server(url: URL) -> Engine:
    given = {"connect_timeout": 10, "application_name": "headwater"}
    known = url.get_backend_name() == _POSTGRESQL
    return sa.create_engine(
        url,
        connect_args={k: v for k, v in given.items() if known and k not in url.query},
        pool_pre_ping=True,
        pool_size=10,
        max_overflow=20,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,
        execution_options={_DAMAGE: Damage()},
    )


def _sign_in(engine: Engine, credentials: Credentials | None) -> Engine:
    if credentials is not None:

        def give(_dialect: Dialect, _record: object, _args: object, given: dict[str, Any]) -> None:
            given.update(credentials())

        event.listen(engine, "do_connect", give)
    return engine


class Server(NamedTuple):
    """The address in a database URL."""

    host: str
    port: int
    user: str


def verified_server(database: str) -> tuple[str, Server]:
    """The URL of a server whose certificate and name are verified, and its address.

    ``sslmode`` is verify-full unless the URL says so itself. Raises ConfigurationError for another
    mode, since a token may not go to a server that anyone could be, and without a host or a user.
    """
    url = _url(database)
    mode = url.query.get("sslmode", _VERIFIED)
    if mode != _VERIFIED:
        raise ConfigurationError(
            f"database {shown(url)}: IAM authentication needs sslmode={_VERIFIED}, not {mode}"
        )
    if not url.host or not url.username:
        raise ConfigurationError(f"database {shown(url)}: IAM authentication needs host and user")
    secured = url.update_query_dict({"sslmode": _VERIFIED})
    server = Server(url.host, url.port or _POSTGRESQL_PORT, url.username)
    return secured.render_as_string(hide_password=False), server


def apart(engine: Engine, schema: str) -> Engine:
    """The same server, its tables in this schema; its damage is noted apart."""
    return engine.execution_options(schema_translate_map={None: schema}, **{_DAMAGE: Damage()})


def noted_damage(engine: Engine) -> str | None:
    """The damage that a transaction of this engine has met; None for none."""
    noted: Damage = engine.get_execution_options()[_DAMAGE]
    return noted.met


def is_in_memory(engine: Engine) -> bool:
    """Whether it is a database that lives in its one connection."""
    return engine.dialect.name == "sqlite" and _in_memory(engine.url)


def _in_memory(url: URL) -> bool:
    return url.database in (None, "", ":memory:")


def _open_sqlite(url: URL) -> Engine:
    in_memory = _in_memory(url)
    if not in_memory and not str(url.database).startswith("file:"):  # a URI says how to open
        Path(str(url.database)).absolute().parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(
        url,
        # A database in memory lives in its connection: one, which threads take in turn.
        poolclass=sa.QueuePool,
        pool_size=1 if in_memory else _POOL_KEPT,
        max_overflow=0 if in_memory else _POOL_BEYOND,
        pool_timeout=_POOL_SECONDS,
        connect_args={"check_same_thread": False},
        hide_parameters=True,
        # Threads queue here rather than in SQLite, whose waiting is polling and not fair.
        execution_options={_TURN: threading.Lock(), _DAMAGE: Damage()},
    )
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is ours, see _begin_sqlite
    for pragma in (
        *_of_new_files(connection),
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -16384",
    ):
        try:
            connection.execute(f"PRAGMA {pragma}").close()
        except UnicodeDecodeError as error:  # in SQLite's own words about a schema that is damaged
            raise _malformed() from error


def _of_new_files(connection: sqlite3.Connection) -> tuple[str, ...]:
    """A file with tables keeps its setting; reading it would be a write."""
    try:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    except (sqlite3.Error, UnicodeDecodeError):
        return ()  # said by what follows
    return () if pages else ("auto_vacuum = INCREMENTAL",)


def _malformed() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("the schema of the database cannot be read")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later cannot wait for its turn: it fails at once.
    writes = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# --- transactions --------------------------------------------------------------------------------


@contextmanager
def read(engine: Engine, unavailable: type[Unavailable]) -> Iterator[Connection]:
    """One transaction that reads: every statement in it sees the same state."""
    try:
        with engine.connect() as connection:
            if engine.dialect.name == _POSTGRESQL:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield connection
    except exc.SQLAlchemyError as error:
        _note_damage(engine, error)
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
                    _note_damage(engine, error)
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


# --- taking turns --------------------------------------------------------------------------------


def keep_order(connection: Connection, lock: Lock) -> None:
    """Until this transaction ends, no other one that asks for the same lock goes on.

    PostgreSQL gives numbers of a sequence at once and shows rows at the commit, in another order:
    a reader that remembers the last position it saw would miss the smaller one that comes later.
    On SQLite there is one writer at a time anyway.
    """
    if connection.dialect.name == _POSTGRESQL:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(int(lock))))


@contextmanager
def alone(engine: Engine, lock: Lock, unavailable: type[Unavailable]) -> Iterator[None]:
    """Hold a lock between processes for work longer than a transaction.

    A process that dies releases it. On SQLite nothing is held: one process serves one folder.
    Raises ``unavailable`` when another holds it for longer than half a minute.
    """
    if engine.dialect.name != _POSTGRESQL:
        yield
        return
    connection = _autocommitting(engine, unavailable)
    try:
        _wait_for(connection, lock, unavailable)
        yield
    finally:
        _let_go(connection, lock)


def _wait_for(connection: Connection, lock: Lock, unavailable: type[Unavailable]) -> None:
    try:
        connection.exec_driver_sql(f"SET lock_timeout = {int(_LOCK_SECONDS * 1000)}")
        connection.execute(sa.select(sa.func.pg_advisory_lock(int(lock))))
    except exc.SQLAlchemyError as error:
        raise _translated(error, unavailable) from error


def _let_go(connection: Connection, lock: Lock) -> None:
    """Back to the pool without the lock; a connection that keeps it is closed, which unlocks it."""
    try:
        connection.execute(sa.select(sa.func.pg_advisory_unlock(int(lock))))
        connection.exec_driver_sql("RESET lock_timeout")
    except exc.SQLAlchemyError:
        connection.invalidate()
    finally:
        connection.close()


@contextmanager
def claim_database(engine: Engine, *, shared: bool) -> Iterator[bool]:
    """Hold the database for this service: beside others that share it, or alone.

    False if that is not possible now. On SQLite always True: there the data folder is held.
    """
    if engine.dialect.name != _POSTGRESQL:
        yield True
        return
    attempt = sa.func.pg_try_advisory_lock_shared if shared else sa.func.pg_try_advisory_lock
    release = sa.func.pg_advisory_unlock_shared if shared else sa.func.pg_advisory_unlock
    with _session(engine, Unavailable) as connection:
        try:
            held = bool(connection.execute(sa.select(attempt(int(Lock.SERVICE)))).scalar())
        except exc.SQLAlchemyError as error:
            raise _translated(error, Unavailable) from error
        try:
            yield held
        finally:
            if held:  # at once; the session's end does the same, but some time after its close
                with suppress(exc.SQLAlchemyError):
                    connection.execute(sa.select(release(int(Lock.SERVICE))))


@contextmanager
def _session(engine: Engine, unavailable: type[Unavailable]) -> Iterator[Connection]:
    """A connection of its own, closed at the end, together with the locks of its session."""
    connection = _autocommitting(engine, unavailable)
    try:
        connection.detach()
        yield connection
    finally:
        connection.close()


def _autocommitting(engine: Engine, unavailable: type[Unavailable]) -> Connection:
    try:
        return engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    except exc.SQLAlchemyError as error:
        raise _translated(error, unavailable) from error


# --- statements ----------------------------------------------------------------------------------


def insert_new(connection: Connection, table: sa.Table) -> sa.Insert:
    """An insert that leaves rows alone whose key is known."""
    return _insert_new(connection.dialect.name, table)


@lru_cache
def _insert_new(dialect: str, table: sa.Table) -> sa.Insert:
    if dialect == _POSTGRESQL:
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


class JsonRows(FunctionElement[Any]):
    """The elements of a JSON array as rows with one column, ``value``."""

    inherit_cache = True


class JsonCell(FunctionElement[Any]):
    """An element, by its number, of the JSON array in a column ``value``."""

    inherit_cache = True


@compiles(JsonRows, "sqlite")
def _rows_on_sqlite(element: JsonRows, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(JsonRows, _POSTGRESQL)
def _rows_on_postgresql(element: JsonRows, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements(CAST({compiler.process(element.clauses, **options)} AS jsonb))"


@compiles(JsonCell, "sqlite")
def _cell_on_sqlite(element: JsonCell, compiler: SQLCompiler, **options: Any) -> str:
    value, number = (compiler.process(clause, **options) for clause in element.clauses)
    return f"json_extract({value}, '$[{number}]')"


@compiles(JsonCell, _POSTGRESQL)
def _cell_on_postgresql(element: JsonCell, compiler: SQLCompiler, **options: Any) -> str:
    value, number = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({value} ->> {number})"


def among(column: sa.Column[Any], name: str) -> sa.ColumnElement[bool]:
    """``column IN (…)`` for the list bound to ``name``, of texts or of whole numbers.

    A list of any length is one parameter of the same statement. An expanding parameter is spelled
    into the statement anew each time, which takes longer than the look-up itself.
    """
    return column.in_(_cells(sa.bindparam(name, type_=_JsonList()), column))


def none_of(column: sa.Column[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
    """``column NOT IN (…)`` for these texts or whole numbers: one parameter, as in ``among``."""
    return column.not_in(_cells(sa.bindparam(None, [*values], type_=_JsonList()), column))


def _cells(listed: sa.BindParameter[Any], column: sa.Column[Any]) -> sa.Select[Any]:
    """The elements of a list as rows of the kind of a column."""
    rows = JsonRows(listed).table_valued("value")
    kind = sa.BigInteger if isinstance(column.type, sa.Integer) else sa.Text
    return sa.select(sa.cast(JsonCell(rows.c.value, sa.literal_column("0")), kind))


class _JsonList(TypeDecorator[Sequence[Any]]):
    """A list as a text: ``["a", "b"]`` => ``[["a"], ["b"]]``, each a row of one cell."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> str:  # noqa: ARG002
        return json.dumps([[storable_value(one)] for one in value or ()], ensure_ascii=False)


def insertion(connection: Connection, table: sa.Table) -> str:
    """The text of ``insert_new`` for the driver itself, with the values of all columns by place.

    They are stored as they are: nothing looks at each of them again.
    """
    schemas = connection.get_execution_options().get("schema_translate_map") or {}
    return _insertion(connection.dialect.name, table, schemas.get(None))


@lru_cache
def _insertion(dialect: str, table: sa.Table, schema: str | None) -> str:
    own = table.to_metadata(sa.MetaData(schema=schema))
    by_place: Any = postgresql.psycopg if dialect == _POSTGRESQL else sqlite
    style = "format" if dialect == _POSTGRESQL else "qmark"
    return str(_insert_new(dialect, own).compile(dialect=by_place.dialect(paramstyle=style)))


class PreparedStatement:
    """A statement that is built once and executed many times with other values."""

    def __init__(self, statement: sa.Select[Any] | sa.CompoundSelect[Any]) -> None:
        self._statement = statement

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows; ``values`` are those of the parameters, by name."""
        return list(map(tuple, connection.execute(self._statement, values)))


def damage(connection: Connection) -> tuple[str, ...]:
    """Damage that the database itself finds in its file; PostgreSQL is not checked."""
    if connection.dialect.name != "sqlite":
        return ()
    found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return tuple(f"the database file: {line}" for line in found if line != "ok")


def count_from(connection: Connection, table: sa.Table, column: str) -> None:
    """Go on numbering after the greatest number there is; SQLite does by itself."""
    if connection.dialect.name != _POSTGRESQL:
        return
    greatest = connection.execute(sa.select(sa.func.max(table.c[column]))).scalar()
    if greatest is not None:
        sequence = sa.func.pg_get_serial_sequence(table.name, column)
        connection.execute(sa.select(sa.func.setval(sequence, greatest)))


def chunks(values: Iterable[_Value], size: int = CHUNK) -> Iterator[Sequence[_Value]]:
    """``[1, 2, 3], 2 => [1, 2], [3]``."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def database_bytes(connection: Connection) -> int:
    """The size of the database on its disk, without its log."""
    if connection.dialect.name == _POSTGRESQL:
        named = sa.func.pg_database_size(sa.func.current_database())
        return int(connection.execute(sa.select(named)).scalar_one())
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


_TABLE_BYTES: Final = sa.text(
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'"
    " AND n.nspname LIKE :schemas AND c.relname LIKE :tables"
)


def used_bytes(connection: Connection, tables: str, schemas: str = "%") -> int:
    """Bytes in use: of SQLite's file all pages that are not free, on PostgreSQL the tables, with
    their indexes, whose names are LIKE ``tables`` in schemas LIKE ``schemas``. Reads no rows.
    """
    if connection.dialect.name == _POSTGRESQL:
        asked = {"tables": tables, "schemas": schemas}
        return int(connection.execute(_TABLE_BYTES, asked).scalar_one())
    return database_bytes(connection) - free_bytes(connection)


def free_bytes(connection: Connection) -> int:
    """Of SQLite's file: the free pages for the next rows. 0 on PostgreSQL."""
    if connection.dialect.name == _POSTGRESQL:
        return 0
    pages = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
    return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


# --- looking after ------------------------------------------------------------------------------

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


def tidy(engine: Engine, unavailable: type[Unavailable], *, least: int = _LEAST_DEAD) -> bool:
    """One bounded step of freeing the space of deleted rows; False when none is left.

    SQLite gives pages back to the disk (a file of an older Headwater keeps them for its next rows).
    PostgreSQL vacuums and analyzes the table with most dead rows, if they are a tenth and more than
    ``least``: its own autovacuum waits for a fifth. A table once an hour at most.
    """
    if engine.dialect.name == _POSTGRESQL:
        return _vacuum_a_table(engine, unavailable, least)
    return write(engine, _give_pages_back, unavailable)


def _give_pages_back(connection: Connection) -> bool:
    if connection.exec_driver_sql("PRAGMA auto_vacuum").scalar_one() == 0:
        return False
    pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    free = int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
    beyond = free - pages // _KEPT_FREE
    # The driver takes one step of the pragma, and a step frees one page: (1000) => one page gone.
    for _ in range(min(STEP_PAGES, beyond)):
        connection.exec_driver_sql("PRAGMA incremental_vacuum(1)").close()
    return beyond > 0


def _vacuum_a_table(engine: Engine, unavailable: type[Unavailable], least: int) -> bool:
    with _autocommitting(engine, unavailable) as connection:
        try:
            table = connection.execute(_WORN, {"least": least}).scalar()
            if table is not None:
                connection.exec_driver_sql(f"VACUUM (ANALYZE) {table}")
        except exc.SQLAlchemyError as error:
            raise _translated(error, unavailable) from error
    return table is not None


# --- the version of the tables -------------------------------------------------------------------

_versions = sa.Table(
    "headwater_schema",
    sa.MetaData(),
    sa.Column("component", StoredText(), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


def prepare(
    engine: Engine,
    component: str,
    version: int,
    metadata: sa.MetaData,
    *,
    empty_older: bool = False,
) -> None:
    """Make the missing tables of one component, and record their version.

    With ``empty_older`` tables of an older version are made anew, empty: for data that can be made
    again. Else they are taken over as they are, and an older Headwater then leaves them alone.

    Raises ConfigurationError if a newer Headwater made them or the database cannot be used,
    Unavailable if another process holds it.
    """
    try:
        found = write(
            engine,
            lambda c: _prepare(c, component, version, metadata, empty_older=empty_older),
            Unavailable,
        )
    except Unavailable as error:
        cause = error.__cause__
        if isinstance(cause, exc.SQLAlchemyError) and not _passes(cause):
            raise ConfigurationError(f"database {shown(engine.url)}: {error}") from error
        raise
    if found > version:
        raise ConfigurationError(
            f"the {component} tables in {shown(engine.url)} have version {found}, and this"
            f" Headwater knows them up to version {version}: start the newer Headwater that wrote"
            " them, or restore a backup that was taken before the upgrade"
        )


def _prepare(
    connection: Connection,
    component: str,
    version: int,
    metadata: sa.MetaData,
    *,
    empty_older: bool,
) -> int:
    # CREATE TABLE IF NOT EXISTS of two processes at once may still collide on PostgreSQL.
    keep_order(connection, Lock.SCHEMA)
    _versions.metadata.create_all(connection)
    asked = sa.select(_versions.c.version).where(_versions.c.component == component)
    found = connection.execute(asked).scalar_one_or_none()
    if found is not None and found < version and empty_older:
        metadata.drop_all(connection)
        connection.execute(_versions.delete().where(_versions.c.component == component))
        found = None
    if found is None:
        metadata.create_all(connection)
        connection.execute(_versions.insert(), {"component": component, "version": version})
        return version
    if found < version:
        own = _versions.c.component == component
        connection.execute(_versions.update().where(own).values(version=version))
    return max(int(found), version)


# --- errors --------------------------------------------------------------------------------------

_SQLITE_REASONS: Final = {
    sqlite3.SQLITE_FULL: "no space left for the database: its disk, or its size limit, is full",
    sqlite3.SQLITE_BUSY: "the database is locked: another process writes to it",
    sqlite3.SQLITE_LOCKED: "the database is locked: another connection writes to it",
    sqlite3.SQLITE_READONLY: "the database cannot be written: it is read-only",
    sqlite3.SQLITE_IOERR: "the disk of the database reports an error",
    sqlite3.SQLITE_IOERR_WRITE: "the database cannot be written: no space is left on its disk, or a"
    " limit on the size of files is reached",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the database file is damaged: restore a backup",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database",
}
_POSTGRESQL_REASONS: Final = {
    "53100": "no space left for the database: the disk of the PostgreSQL server is full",
    "53200": "the PostgreSQL server is out of memory",
    "53300": "the PostgreSQL server takes no further connections",
    "55P03": "the database is locked: another process works on it",
    "57P03": "the PostgreSQL server is starting or stopping",
    "25006": "the database cannot be written: it is read-only",
}
_PASSING_SQLITE: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PASSING_POSTGRESQL: Final = frozenset({"40001", "40P01", "55P03"})  # serialisation, deadlock, lock
_DAMAGE_SQLITE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DAMAGE_POSTGRESQL: Final = frozenset({"XX001", "XX002", "42P01", "42703", "3F000"})
"""Damaged data, damaged index, no such table, no such column, no such schema."""
_DAMAGE_TEXTS: Final = ("Could not decode to UTF-8", "no such table", "no such column")
"""Messages of the sqlite3 module without a code of its own. Statements take the names of tables and
columns from the metadata that made them: a missing one has been changed in the file.
"""
_BUGS: Final = (exc.IntegrityError, exc.ProgrammingError, exc.DataError)


def _translated(error: exc.SQLAlchemyError, unavailable: type[Unavailable]) -> Exception:
    """The error for the caller in place of this one; the error itself if it is a bug."""
    if isinstance(error, exc.TimeoutError):
        return unavailable("the database is busy: no connection became free in time")
    if isinstance(error, exc.DBAPIError) and (not isinstance(error, _BUGS) or tells_damage(error)):
        known = _reason(error)
        return unavailable(known or "the database does not answer", "" if known else _said(error))
    return error


def _reason(error: exc.DBAPIError) -> str | None:
    """In words of our own; None for an error that we have none for."""
    code = _sqlite_code(error)
    return (
        _SQLITE_REASONS.get(code)
        or _SQLITE_REASONS.get(_kind(code))
        or _POSTGRESQL_REASONS.get(_state(error))
    )


def _said(error: exc.DBAPIError) -> str:
    """The first line of the driver, which may name the server's address."""
    return (str(error.orig).strip().splitlines() or ["no reason given"])[0]


def _passes(error: BaseException) -> bool:
    """Whether a transaction may succeed when it is simply run again."""
    return _kind(_sqlite_code(error)) in _PASSING_SQLITE or _state(error) in _PASSING_POSTGRESQL


def is_busy(error: Exception) -> bool:
    """Whether the next transaction would wait as long as this one and fail, too."""
    if not isinstance(error, Unavailable):
        return False
    cause = error.__cause__
    if cause is None or isinstance(cause, exc.TimeoutError) or _passes(cause):
        return True
    return isinstance(cause, exc.DBAPIError) and cause.connection_invalidated


def _note_damage(engine: Engine, error: exc.SQLAlchemyError) -> None:
    noted: Damage = engine.get_execution_options()[_DAMAGE]
    if noted.met is None and isinstance(error, exc.DBAPIError) and tells_damage(error):
        noted.met = _reason(error) or "its content cannot be read"


def tells_damage(error: BaseException | None) -> bool:
    """Whether an error, or its cause, means that the stored data itself is damaged.

    An unreadable page, a file that is no database, a text whose bytes are no UTF-8, a missing
    column, table or schema of PostgreSQL.
    """
    while error is not None:
        if _kind(_sqlite_code(error)) in _DAMAGE_SQLITE or _state(error) in _DAMAGE_POSTGRESQL:
            return True
        if any(text in str(getattr(error, "orig", "")) for text in _DAMAGE_TEXTS):
            return True
        error = error.__cause__
    return False


def _state(error: BaseException) -> str:
    return getattr(getattr(error, "orig", None), "sqlstate", None) or ""


def _sqlite_code(error: BaseException) -> int:
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return code if isinstance(code, int) else -1


def _kind(sqlite_code: int) -> int:
    """The low byte is the kind, the rest separates variants (SQLITE_IOERR_FSYNC ...)."""
    return sqlite_code & 0xFF if sqlite_code >= 0 else -1
