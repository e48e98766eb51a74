"""The same type in the spellings of several agents: Spark's names, its SQL, its classes."""

from __future__ import annotations

import pytest

from graph_model.naming.schemas import plain_type, same_type


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("long", "bigint"), ("integer", "int"), ("short", "smallint"), ("byte", "tinyint"),
        ("LongType", "bigint"), ("BIGINT", "long"), ("real", "float"), ("bool", "boolean"),
        ("decimal(10, 2)", "decimal(10,2)"), ("numeric(10,2)", "DECIMAL(10,2)"),
        ("decimal", "decimal(10,0)"), ("null", "void"), ("timestamp_ltz", "timestamp"),
        ("timestamp_ntz", "TIMESTAMP_NTZ"), ("calendarinterval", "interval"),
        ("interval day to second", "INTERVAL DAY TO SECOND"), ("StringType", "string"),
        ("array<long>", "array<bigint>"), ("array", "array<struct<a:int>>"),
        ("map<string, integer>", "map<string,int>"), ("struct", "struct<a:int>"),
        ("struct<long: long, b: array<short>>", "struct<long:bigint,b:array<smallint>>"),
        (None, None),
    ],
)  # fmt: skip
def test_a_type_is_one_however_it_is_spelled(one: str | None, other: str | None) -> None:
    assert same_type(one, other)
    assert same_type(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("long", "int"), ("decimal(10,2)", "decimal(12,2)"), ("decimal", "decimal(10,2)"),
        ("timestamp", "timestamp_ntz"), ("timestamp", "date"), ("array<int>", "array<bigint>"),
        ("array", "map<int,int>"), ("struct<long:int>", "struct<bigint:int>"), (None, "int"),
        ("interval", "interval day to second"), ("struct<a:int>", "struct<b:int>"),
    ],
)  # fmt: skip
def test_types_that_differ_are_told_apart(one: str | None, other: str | None) -> None:
    assert not same_type(one, other)
    assert not same_type(other, one)


def test_a_plain_type_is_spelled_as_sql_spells_it() -> None:
    assert plain_type(" struct<Long : LongType , b : array< short >> ") == (
        "struct<Long:bigint,b:array<smallint>>"
    )
