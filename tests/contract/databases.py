"""The databases that journal and catalogue are held to: each test gets an empty one.

SQLite in a file, and a PostgreSQL server (``postgresql.py``), which is started once for all tests;
every test works in a schema of its own there, which is dropped after it. SQLite in memory, which no
service uses, is there for tests that need a second database.
``HEADWATER_TEST_DATABASE_URL`` names another server instead.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.contract.postgresql import postgresql

SETTING: Final = "HEADWATER_TEST_DATABASE_URL"
EVERY: Final = ("file", "server")


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The address of a PostgreSQL server that all tests of this run share; see database_url."""
    if named := os.environ.get(SETTING):
        yield named
        return
    # Tests about a power cut use servers of their own.
    with postgresql(fsync="off", full_page_writes="off", max_connections="200") as server:
        yield server.url


def create_all(metadata: sa.MetaData, bind: Any, *arguments: Any, **options: Any) -> None:
    """``MetaData.create_all`` from statements that this process has compiled before.

    SQLAlchemy compiles them for each database anew and asks for each table whether it is there:
    that takes five times as long as to execute them.
    """
    if not isinstance(bind, Connection) or arguments or options:
        _create_all(metadata, bind, *arguments, **options)
        return
    statements = _statements(metadata, bind.dialect.name)
    if bind.dialect.name == "sqlite":
        bind.exec_driver_sql(statements[0])  # an error of the driver is told as of each statement
        cursor = bind.connection.cursor()
        for statement in statements[1:]:
            cursor.execute(statement)
        cursor.close()
        return
    translated = bind.get_execution_options().get("schema_translate_map", {}).get(None)
    schema = f'SET LOCAL search_path TO "{translated}"' if translated else ""
    bind.exec_driver_sql(";".join((schema, *statements, "RESET search_path")))


_create_all: Final = sa.MetaData.create_all


@cache
def _statements(metadata: sa.MetaData, dialect: str) -> tuple[str, ...]:
    made: list[str] = []

    def note(statement: Any, *_: object, **__: object) -> None:
        text = str(statement.compile(dialect=mock.dialect)).strip()
        made.append(re.sub(r"^CREATE ((?:UNIQUE )?\w+) ", r"CREATE \1 IF NOT EXISTS ", text))

    mock = sa.create_mock_engine(
        {"sqlite": "sqlite://"}.get(dialect, "postgresql+psycopg://"), note
    )
    _create_all(metadata, mock, checkfirst=False)
    return tuple(made)


class Statements(dict[Any, Any]):
    """The statements that this process has compiled, for the databases of all its tests.

    SQLAlchemy keeps them for each engine, so that every test would compile the same ones again: a
    third of what it costs to open a Headwater in memory. Here the name and version of the dialect
    stand in a key for the dialect of an engine.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_of_any_engine(key), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        if len(self) >= _MOST_STATEMENTS:
            self.clear()
        super().__setitem__(_of_any_engine(key), compiled)


def _of_any_engine(key: tuple[Any, ...]) -> tuple[Any, ...]:
    dialect, *others = key
    return (dialect.name, dialect.driver, getattr(dialect, "server_version_info", None), *others)


def create_engine(*arguments: Any, **options: Any) -> Engine:
    """``sa.create_engine``, the statements of the engine those of all."""
    engine = _create_engine(*arguments, **options)
    engine.update_execution_options(compiled_cache=_STATEMENTS)
    return engine


_create_engine: Final = sa.create_engine
_STATEMENTS: Final = Statements()
_MOST_STATEMENTS: Final = 3_000


@contextmanager
def empty_database(kind: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database of this kind."""
    if kind == "memory":
        yield "sqlite://"
    elif kind == "file":
        folder: Path = request.getfixturevalue("tmp_path")
        yield f"sqlite:///{folder / 'headwater.db'}"
    else:
        with schema_on(request.getfixturevalue("server_url")) as url:
            yield url


@contextmanager
def schema_on(server_url: str) -> Iterator[str]:
    """The URL of an empty schema on a PostgreSQL server. Catalogues, which have schemas of their
    own, are dropped with it.
    """
    name = f"headwater_test_{uuid.uuid4().hex}"
    engine = open_database(server_url)
    try:
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(name))
        own = engine.url.update_query_dict({"options": f"-csearch_path={name}"})
        yield own.render_as_string(hide_password=False)
        with engine.begin() as connection:
            for made in sa.inspect(connection).get_schema_names():
                if made == name or made.startswith("headwater_catalogue_"):
                    connection.execute(sa.schema.DropSchema(made, cascade=True))
    finally:
        engine.dispose()


@contextmanager
def recorded_plans(engine: Engine) -> Iterator[list[str]]:
    """EXPLAIN QUERY PLAN of each SELECT and UPDATE that SQLite runs meanwhile, line by line.

    With its parameters as they are: spelled out, they would make a partial index look useful.
    """
    lines: list[str] = []

    def explain(
        connection: Connection, _cursor: object, statement: str, parameters: Any, *_: object
    ) -> None:
        if not statement.startswith(("SELECT", "WITH", "UPDATE")):
            return
        raw = connection.connection.cursor()
        raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        lines.extend(row[3] for row in raw.fetchall())
        raw.close()

    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield lines
    finally:
        event.remove(engine, "before_cursor_execute", explain)


def full_scans(lines: Sequence[str], tables: Sequence[str]) -> list[str]:
    """The lines that walk a whole table or a whole index; ``tables`` are names or aliases."""
    return [line for line in lines if any(line.startswith(f"SCAN {table}") for table in tables)]


def instructions(engine: Engine, ask: Callable[[], object]) -> int:
    """How many steps SQLite takes meanwhile, in tens. The plan of a statement with its parameters
    spelled out does not show this cost.
    """
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    def listen(connection: Any, *_: object) -> None:
        connection.set_progress_handler(step, 10)

    def leave(connection: Any, *_: object) -> None:
        if connection is not None:
            connection.set_progress_handler(None, 0)

    event.listen(engine, "checkout", listen)
    event.listen(engine, "checkin", leave)
    try:
        ask()
    finally:
        event.remove(engine, "checkout", listen)
        event.remove(engine, "checkin", leave)
    return steps


@pytest.fixture(params=EVERY)
def engine(request: pytest.FixtureRequest) -> Iterator[sa.Engine]:
    """An empty database of every kind, one after the other."""
    with empty_database(request.param, request) as url:
        made = open_database(url)
        yield made
        made.dispose()


@pytest.fixture
def catalogue(engine: sa.Engine) -> Catalogue:
    """An empty catalogue on a database of every kind."""
    return Catalogue(engine)
