"""The pure parts of the catalogue: its tables against the facts, folding."""

from __future__ import annotations

import json
import typing

import pytest
import sqlalchemy as sa

from graph_model import facts
from graph_model.facts import ColumnRow, DatasetRow, JobRow, row_key
from graph_model.stores.catalogue.reading import input_values
from graph_model.stores.catalogue.tables import (
    STORAGES,
    Storage,
    column_text,
    dataset_text,
    fold,
    job_text,
)
from graph_model.stores.database import StoredText
from tests.contract.rows import an_execution

KINDS = {str: StoredText, int: sa.BigInteger, bool: sa.Boolean}


def test_an_input_value_is_text_that_a_database_holds() -> None:
    given = input_values([("a\0b", 1), ("half \ud83d", 2), ("é \\u0000", 3)])
    assert json.loads(given["inputs"]) == [["a\ufffdb", 1], ["half \ufffd", 2], ["é \\u0000", 3]]


def test_there_is_a_table_for_every_kind_of_row() -> None:
    assert {storage.row for storage in STORAGES} == set(typing.get_args(facts.Row))


@pytest.mark.parametrize("storage", STORAGES, ids=lambda storage: storage.row.__name__)
def test_a_table_has_the_fields_of_its_row(storage: Storage) -> None:
    hints = typing.get_type_hints(storage.row)
    assert [column.name for column in storage.fields] == [*storage.row._fields]
    for column in storage.fields:
        assert column.nullable == (type(None) in typing.get_args(hints[column.name]))
        plain = next(iter(typing.get_args(hints[column.name])), hints[column.name])
        assert isinstance(column.type, KINDS[plain])


@pytest.mark.parametrize("storage", STORAGES, ids=lambda storage: storage.row.__name__)
def test_the_key_of_a_table_is_the_key_of_its_row(storage: Storage) -> None:
    values = {name: f"{name}!" for name in storage.row._fields}
    row = storage.row(**values)
    assert row_key(row) == (type(row).__name__, *(values[name] for name in storage.key))
    assert sorted(storage.order) == sorted(storage.key)
    assert storage.owner is None or storage.owner in storage.key


@pytest.mark.parametrize(
    ("one", "other"),
    [("Straße", "STRASSE"), ("ÉTÉ", "e\u0301te\u0301"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("İ", "i\u0307")],
)
def test_texts_that_differ_in_case_fold_to_one(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert fold(fold(one)) == fold(one)


def test_a_search_compares_folded_words() -> None:
    assert dataset_text(DatasetRow("d", "s3://B/X", "", "X", "file")) == ("x", "s3://b/x")
    assert job_text(JobRow("j", "Ns", "Job", shared=False)) == ("job", "ns/job")
    key, text = column_text(ColumnRow("c", "d", "address.Street"))
    assert text == "address.street"
    assert column_text(ColumnRow("x", "e", "ADDRESS.street")) == (key, text)
    long_key, _ = column_text(ColumnRow("c", "d", "odd." * 1_000))
    assert (len(long_key), long_key != key) == (len(key), True)


def test_an_execution_row_stays_within_64_bits() -> None:
    row = an_execution("ex", at=253_402_300_799_999, duration_ns=2**63 - 1)
    assert max(row.at, row.duration_ns or 0) < 2**63
