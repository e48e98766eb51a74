"""The same type in the spellings of several agents: Spark's names, its SQL, its classes."""

from __future__ import annotations

import pytest

from graph_model.naming.columns import field_changes, plain_type, same_nesting, same_type


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


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("int", "bigint", []),
        ("struct<a:int,b:string>", "struct<b:string,A:long>", [("a", "int", "bigint")]),
        ("struct<a:int>", "struct<a:int,b:int>", [("b", None, "int")]),
        ("struct<a:int,b:decimal(10,2)>", "struct<a:int>", [("b", "decimal(10,2)", None)]),
        (
            "array<struct<id:int,at:struct<day:date,hour:int>>>",
            "array<struct<id:int,at:struct<day:date>>>",
            [
                ("at", "struct<day:date,hour:int>", "struct<day:date>"),
                ("at.hour", "int", None),
            ],
        ),
        (
            "map<string,struct<v:int>>",
            "map<string,struct<w:int>>",
            [("v", "int", None), ("w", None, "int")],
        ),
        ("struct<a:int>", "string", [("a", "int", None)]),
        (
            "struct<a:struct<x:int>,b:int>",
            "struct<b:int>",
            [("a", "struct<x:int>", None), ("a.x", "int", None)],
        ),
        ("string", "struct<a:int>", []),
        ("struct<a:struct<x:int>>", "struct<a:struct>", []),
        ("struct<a:int>", "struct<a:int,... 3 more fields>", []),
        ("struct<a:int>", "map<string,int>", []),  # x.a reads a key of the map
    ],
)  # fmt: skip
def test_the_fields_of_two_types_are_compared_one_by_one(
    before: str, after: str, changes: list[tuple[str, str | None, str | None]]
) -> None:
    result = [(".".join(path), old, new) for path, old, new in field_changes(before, after)]
    assert result == changes


def test_two_types_differ_by_their_fields_alone_within_equal_arrays_and_maps() -> None:
    assert same_nesting("array<struct<a:int>>", "array<struct<b:int>>")
    assert not same_nesting("array<struct<a:int>>", "struct<a:int>")
    assert not same_nesting("map<int,struct<a:int>>", "map<string,struct<a:int>>")
    assert not same_nesting("struct<a:int>", "string")
