"""Statements that are built once and executed with other values."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from graph_model.errors import Unavailable
from graph_model.stores.catalogue.reading import at_values, is_input, made_once, prepared
from graph_model.stores.database import StoredText, read, rows_of, write

_TABLE = sa.Table(
    "prepared_rows",
    sa.MetaData(),
    sa.Column("id", StoredText(), primary_key=True),
    sa.Column("told", sa.Boolean, nullable=False),
    sa.Column("at", sa.BigInteger),
)
_ROWS = [("a", True, 2**40), ("b", False, None), ("it's 100%", True, 1)]
_BY_IDS = prepared(sa.select(_TABLE).where(is_input(_TABLE.c.id)))


@pytest.fixture
def filled(engine: sa.Engine) -> sa.Engine:
    _TABLE.metadata.create_all(engine)
    rows = [dict(zip(("id", "told", "at"), row, strict=True)) for row in _ROWS]
    write(engine, lambda connection: connection.execute(_TABLE.insert(), rows), Unavailable)
    return engine


def _asked(engine: sa.Engine, statement: sa.Executable, *values: str) -> list[tuple[object, ...]]:
    with read(engine, Unavailable) as connection:
        return sorted(rows_of(connection, statement, at_values(values)))


def test_values_have_the_types_of_their_columns(filled: sa.Engine) -> None:
    result = _asked(filled, _BY_IDS, *(row[0] for row in _ROWS), "unknown")
    assert result == _ROWS
    assert [type(row[1]) for row in result] == [bool, bool, bool]


def test_constants_stand_in_the_text_whatever_they_hold(filled: sa.Engine) -> None:
    @made_once
    def build() -> sa.Select[tuple[str]]:
        wanted = _TABLE.c.id.in_(("a", "it's 100%"))
        return sa.select(_TABLE.c.id).where(wanted, _TABLE.c.at > 0, _TABLE.c.id != "a")

    assert build() is build()
    assert _asked(filled, build()) == [("it's 100%",)]


def test_a_statement_asks_the_schema_of_its_connection(filled: sa.Engine) -> None:
    if filled.dialect.name == "sqlite":
        pytest.skip("SQLite keeps a generation in a file of its own")
    with filled.begin() as connection:
        connection.execute(sa.schema.CreateSchema("headwater_prepared"))
    other = filled.execution_options(schema_translate_map={None: "headwater_prepared"})
    try:
        _TABLE.metadata.create_all(other)
        assert _asked(filled, _BY_IDS, "a") == _ROWS[:1]
        assert _asked(other, _BY_IDS, "a") == []
        assert _asked(filled, _BY_IDS, "a") == _ROWS[:1]
    finally:
        with filled.begin() as connection:
            connection.execute(sa.schema.DropSchema("headwater_prepared", cascade=True))


def test_an_error_of_the_driver_is_told_as_of_every_other_statement(engine: sa.Engine) -> None:
    # A table that has gone is damage of the store on either database, whatever the driver calls it.
    with pytest.raises(Unavailable, match="prepared_rows"):
        _asked(engine, _BY_IDS, "a")


def test_a_connection_that_breaks_is_not_used_again(filled: sa.Engine) -> None:
    if filled.dialect.name == "sqlite":
        pytest.skip("nobody else can end a connection to a file")
    with pytest.raises(Unavailable, match="does not answer"):
        _ask_of_an_ended_process(filled)
    assert _asked(filled, _BY_IDS, "a") == _ROWS[:1]


def _ask_of_an_ended_process(engine: sa.Engine) -> None:
    with read(engine, Unavailable) as connection:
        process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        with engine.connect() as other:
            other.exec_driver_sql(f"SELECT pg_terminate_backend({process}, 10000)")
        rows_of(connection, _BY_IDS, at_values(["a"]))
