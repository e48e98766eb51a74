"""Columns of ids: whatever a statement asks, ids and other texts are found alike."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from graph_model.errors import Unavailable
from graph_model.facts import PartitionRow
from graph_model.identity import dataset_id
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.reading import at_values, is_input, made_once, prepared
from graph_model.stores.database import (
    StoredId,
    in_list,
    insert_rows,
    none_of,
    read,
    rows_of,
    write,
)
from tests.contract.rows import an_execution

ID = dataset_id("", "s3://lake/a")
OTHER = dataset_id("", "s3://lake/b")
NAMED = "named by a client"
VALUES = ("", NAMED, ID, OTHER)

_TABLE = sa.Table("rows_by_id", sa.MetaData(), sa.Column("id", StoredId(), primary_key=True))
_ASKED = prepared(sa.select(_TABLE.c.id).where(is_input(_TABLE.c.id)))


@pytest.fixture
def filled(engine: sa.Engine) -> sa.Engine:
    _TABLE.metadata.create_all(engine)
    rows = [(value,) for value in VALUES]
    assert write(engine, lambda c: insert_rows(c, _TABLE, rows), Unavailable) == len(VALUES)
    return engine


def found(engine: sa.Engine, *conditions: sa.ColumnElement[bool], **values: object) -> list[str]:
    with read(engine, Unavailable) as connection:
        asked = sa.select(_TABLE.c.id).where(*conditions)
        return sorted(connection.execute(asked, values).scalars())


@pytest.mark.parametrize("value", VALUES)
def test_a_row_is_found_by_its_id_however_it_is_asked_for(filled: sa.Engine, value: str) -> None:
    assert found(filled, _TABLE.c.id == value) == [value]
    assert found(filled, _TABLE.c.id.in_((value, "unknown"))) == [value]
    assert found(filled, in_list(_TABLE.c.id, "ids"), ids=[value, "unknown"]) == [value]
    assert found(filled, none_of(_TABLE.c.id, [item for item in VALUES if item != value])) == [
        value
    ]
    with read(filled, Unavailable) as connection:
        assert rows_of(connection, _ASKED, at_values([value, "unknown"])) == [(value,)]


@pytest.mark.parametrize("value", VALUES)
def test_rows_are_inserted_and_deleted_by_statements_as_well(filled: sa.Engine, value: str) -> None:
    write(filled, lambda c: c.execute(_TABLE.delete().where(_TABLE.c.id == value)), Unavailable)
    assert value not in found(filled)
    write(filled, lambda c: c.execute(_TABLE.insert(), [{"id": value}]), Unavailable)
    assert found(filled) == sorted(VALUES)


def test_a_known_row_is_not_inserted_again(filled: sa.Engine) -> None:
    rows = [(ID,), (NAMED,), ("new",)]
    assert write(filled, lambda c: insert_rows(c, _TABLE, rows), Unavailable) == 1


def test_an_empty_id_can_stand_in_the_text_of_a_statement(filled: sa.Engine) -> None:
    @made_once
    def named() -> sa.Select[tuple[str]]:
        return sa.select(sa.func.min(_TABLE.c.id)).where(_TABLE.c.id != "", is_input(_TABLE.c.id))

    with read(filled, Unavailable) as connection:
        assert rows_of(connection, named(), at_values(["", ID])) == [(ID,)]


def test_a_catalogue_of_real_ids_equals_itself_read_page_by_page(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [an_execution(dataset_id("ex", str(n)), at=n, target=ID) for n in range(9)]
    parts = [PartitionRow(row.id, ID, "write", f"p={n}") for n, row in enumerate(rows)]
    catalogue.record([*rows, *parts])
    catalogue.record([*rows, *parts])
    monkeypatch.setattr("graph_model.stores.catalogue.rows._PAGE", 2)
    assert sorted(catalogue.scan(), key=repr) == sorted([*rows, *parts], key=repr)
    assert catalogue.last_writes([ID], 5) == {ID: 5}
    catalogue.withdraw([*rows, *parts])
    assert list(catalogue.scan()) == []
