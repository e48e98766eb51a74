"""The databases that journal and catalogue are held to: each test gets an empty one.

``HEADWATER_TEST_DATABASE_URL`` adds another engine (PostgreSQL); every test then works in a schema
of its own, which is dropped after it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from graph_model.database import open_database

SERVER_URL = os.environ.get("HEADWATER_TEST_DATABASE_URL", "")
SHARED = ("file", "server") if SERVER_URL else ("file",)
"""Databases that several processes can open."""

EVERY = ("memory", *SHARED)


@contextmanager
def empty_database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of an empty database of this kind."""
    if kind == "memory":
        yield "sqlite://"
    elif kind == "file":
        yield f"sqlite:///{folder / 'headwater.db'}"
    else:
        with _schema_on_server() as url:
            yield url


@contextmanager
def _schema_on_server() -> Iterator[str]:
    name = f"headwater_test_{uuid.uuid4().hex}"
    engine = open_database(SERVER_URL)
    try:
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(name))
        own = engine.url.update_query_dict({"options": f"-csearch_path={name}"})
        yield own.render_as_string(hide_password=False)
        with engine.begin() as connection:
            connection.execute(sa.schema.DropSchema(name, cascade=True))
    finally:
        engine.dispose()


@contextmanager
def recorded_plans(engine: Engine) -> Iterator[list[str]]:
    """EXPLAIN QUERY PLAN of each SELECT and UPDATE that SQLite runs meanwhile, line by line."""
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
