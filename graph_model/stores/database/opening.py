"""An engine for a database file or a URL: its connections, and the versions of its tables.

The working data of one long task is in private temporary databases, gone when closed: SQLite keeps
such a database in a file without a name once it outgrows its page cache.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, Connection, Dialect, Engine
from sqlalchemy.schema import CreateColumn

from graph_model.errors import ConfigurationError, Unavailable
from graph_model.stores.database.statements import (
    DAMAGE,
    PACKED_ID,
    POSTGRESQL,
    Damage,
    StoredText,
    packed_id,
    passes,
)
from graph_model.stores.database.transactions import (
    TURN,
    Lock,
    begin_on_sqlite,
    is_in_memory,
    keep_order,
    write,
)

_BUSY_MILLISECONDS: Final = 3_000
_POOL_SECONDS: Final = 10.0
_POOL_KEPT: Final = 24
"""Connections to a file that stay open: one for each request worked on and a few. One beyond them
is closed after use, and to open one costs as much as fifty statements."""
_POOL_BEYOND: Final = 16
_DRIVER: Final = "postgresql+psycopg"
_DRIVER_NEEDED: Final = "PostgreSQL needs its driver: pip install 'psycopg[binary]>=3.2,<4'"
_VERIFIED: Final = "verify-full"
_POSTGRESQL_PORT: Final = 5432
_SECRETS: Final = frozenset({"password", "sslpassword"})
_IDLE_SECONDS: Final = 10
_INTERVAL_SECONDS: Final = 5
_PROBES: Final = 3
_SILENT_MILLISECONDS: Final = 1_000 * (_IDLE_SECONDS + _PROBES * _INTERVAL_SECONDS)
"""A computer that vanished has said no farewell: without probes the operating system believes in it
for two hours, and as long the server would keep the locks of its sessions."""
_PROBED_BY_CLIENT: Final = {
    "keepalives_idle": _IDLE_SECONDS,
    "keepalives_interval": _INTERVAL_SECONDS,
    "keepalives_count": _PROBES,
    "tcp_user_timeout": _SILENT_MILLISECONDS,
}
_PROBED_BY_SERVER: Final = {
    "tcp_keepalives_idle": _IDLE_SECONDS,
    "tcp_keepalives_interval": _INTERVAL_SECONDS,
    "tcp_keepalives_count": _PROBES,
    "tcp_user_timeout": _SILENT_MILLISECONDS,
}

_SET_FOR_SESSION: Final = {
    **_PROBED_BY_SERVER,
    # The many seeks of one statement look expensive to the planner, and the compiler of expressions
    # would cost more than they do, with each execution.
    "jit": "off",
}

Database = Engine
"""The result of ``open_database``, for callers that pass it on without knowing SQLAlchemy."""

Credentials = Callable[[], Mapping[str, str]]
"""``user``, ``password`` of the next connection (``stores.aws``)."""


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
        problem = _DRIVER_NEEDED if url.get_backend_name() == POSTGRESQL else str(error)
        raise ConfigurationError(f"database {shown(url)}: {problem}") from error
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
    # The spellings of other programs, without a driver: postgres://… and postgresql://…
    return url.set(drivername=_DRIVER) if url.drivername in {"postgres", POSTGRESQL} else url


def _open_server(url: URL) -> Engine:
    given = {"connect_timeout": 10, "application_name": "headwater", **_PROBED_BY_CLIENT}
    known = url.get_backend_name() == POSTGRESQL
    engine = sa.create_engine(
        url,
        connect_args={k: v for k, v in given.items() if known and k not in url.query},
        pool_pre_ping=True,
        pool_size=10,
        max_overflow=20,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,
        execution_options={DAMAGE: Damage()},
    )
    if known:
        event.listen(engine, "connect", _set_up_session)
    return engine


def _set_up_session(connection: Any, _record: object) -> None:
    """The session's own settings: the server looks whether this client is still there, and runs
    statements as planned.
    """
    asked = ", ".join(
        f"set_config('{name}', '{value}', false)" for name, value in _SET_FOR_SESSION.items()
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {asked}")
    connection.commit()


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


def engine_for_schema(engine: Engine, schema: str) -> Engine:
    """The same server, its tables in this schema; its damage is noted apart."""
    return engine.execution_options(schema_translate_map={None: schema}, **{DAMAGE: Damage()})


def _open_sqlite(url: URL) -> Engine:
    in_memory = is_in_memory(url)
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
        execution_options={TURN: threading.Lock(), DAMAGE: Damage()},
    )
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", begin_on_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is ours, see begin_on_sqlite
    connection.create_function(PACKED_ID, 1, packed_id, deterministic=True)
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
        return ()  # the next statement reports it
    return () if pages else ("auto_vacuum = INCREMENTAL",)


def _malformed() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("the schema of the database cannot be read")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


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

    Tables that are kept get the indexes that they lack, and the columns that have a default: a
    later Headwater may have more of both, while the rows are the same.

    With ``empty_older`` tables of an older version are made anew, empty: for data that can be made
    again. Else they are taken over as they are, and an older Headwater then leaves them alone.

    Raises ConfigurationError if a newer Headwater made them or the database cannot be used,
    Unavailable if another process holds it.
    """
    try:
        recorded = write(
            engine,
            lambda c: _prepare(c, component, version, metadata, empty_older=empty_older),
            Unavailable,
        )
    except Unavailable as error:
        cause = error.__cause__
        if isinstance(cause, exc.SQLAlchemyError) and not passes(cause):
            raise ConfigurationError(f"database {shown(engine.url)}: {error}") from error
        raise
    if recorded > version:
        raise ConfigurationError(
            f"the {component} tables in {shown(engine.url)} have version {recorded}, and this"
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
    recorded = connection.execute(asked).scalar_one_or_none()
    if recorded is not None and recorded < version and empty_older:
        metadata.drop_all(connection)
        connection.execute(_versions.delete().where(_versions.c.component == component))
        recorded = None
    if recorded is None:
        metadata.create_all(connection)
        connection.execute(_versions.insert(), {"component": component, "version": version})
        return version
    if recorded < version:
        _make_missing_columns(connection, metadata)
    if recorded <= version:
        _make_missing_indexes(connection, metadata)
    if recorded < version:
        own = _versions.c.component == component
        connection.execute(_versions.update().where(own).values(version=version))
    return max(int(recorded), version)


def _make_missing_indexes(connection: Connection, metadata: sa.MetaData) -> None:
    for table in metadata.sorted_tables:
        known = _index_names(connection, table)
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            if index.name not in known:
                index.create(connection)


def _index_names(connection: Connection, table: sa.Table) -> set[str | None]:
    schema = connection.schema_for_object(table)
    if connection.dialect.name != "sqlite":
        return {index["name"] for index in sa.inspect(connection).get_indexes(table.name, schema)}
    # SQLAlchemy also reads the text of a partial index, which a damaged file may have lost.
    place = f'"{schema}".' if schema else ""
    listed = connection.exec_driver_sql(f'PRAGMA {place}index_list("{table.name}")')
    return {row[1] for row in listed}


def _make_missing_columns(connection: Connection, metadata: sa.MetaData) -> None:
    for table in metadata.sorted_tables:
        known = {column["name"] for column in sa.inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.server_default is not None and column.name not in known:
                definition = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f'ALTER TABLE "{table.name}" ADD COLUMN {definition}')


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
