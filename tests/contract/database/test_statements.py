"""Lists as one parameter, and inserts that skip known rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.database import StoredText, in_list, insert_new, serial

_METADATA = sa.MetaData()
_THINGS = sa.Table(
    "things",
    _METADATA,
    sa.Column("number", serial(), primary_key=True, autoincrement=True),
    sa.Column("name", StoredText(), nullable=False, unique=True),
    sa.Column("note", StoredText()),
    sa.Column("body", sa.LargeBinary),
)
_NAMED = sa.select(_THINGS.c.name).where(in_list(_THINGS.c.name, "names")).order_by(_THINGS.c.name)
_NUMBERED = sa.select(_THINGS.c.number).where(in_list(_THINGS.c.number, "numbers"))


@pytest.fixture
def connection(engine: sa.Engine) -> Any:
    with engine.begin() as made:
        _METADATA.create_all(made)
        yield made


def insert(connection: Connection, *names: str, **more: Any) -> None:
    connection.execute(insert_new(connection, _THINGS), [{"name": n, **more} for n in names])


@pytest.mark.parametrize(
    "asked",
    [(), ("a",), ("a", "b", "nobody"), ("'", '"', "\\", "é\u2028"), tuple(map(str, range(900)))],
    ids=["none", "one", "some", "marks", "many"],
)
def test_texts_among_a_list_are_found(connection: Connection, asked: Sequence[str]) -> None:
    insert(connection, "a", "b", "c", "'", '"', "\\", "é\u2028")
    result = connection.execute(_NAMED, {"names": asked}).scalars().all()
    assert set(result) == {"a", "b", "c", "'", '"', "\\", "é\u2028"} & set(asked)


def test_a_text_is_asked_for_as_it_is_stored(connection: Connection) -> None:
    insert(connection, "nul\0", "half \ud800")
    asked = {"names": ["nul\0", "half \ud800"]}
    assert connection.execute(_NAMED, asked).scalars().all() == ["half \ufffd", "nul\ufffd"]


def test_whole_numbers_are_found(connection: Connection) -> None:
    insert(connection, "a", "b", "c")
    result = connection.execute(_NUMBERED, {"numbers": [1, 3, 2**40]}).scalars().all()
    assert sorted(result) == [1, 3]


def test_rows_that_are_known_are_left_alone(connection: Connection) -> None:
    insert(connection, "a", note="first")
    insert(connection, "a", note="second")
    connection.execute(_THINGS.insert(), [{"name": "b", "note": "50% :x ?"}])
    asked = sa.select(_THINGS.c.name, _THINGS.c.note).order_by(_THINGS.c.name)
    assert [tuple(row) for row in connection.execute(asked)] == [("a", "first"), ("b", "50% :x ?")]
