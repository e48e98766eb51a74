"""The bulk loader's CSV: written files are read back the same, and others are refused."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidInput
from graph_model.facts import Edge, Vertex, properties
from pipeline.records import header, read_elements, record, split, type_of

DATASET = Vertex("ds_1", "dataset", properties({"uri": "s3://lake/a", "scope": ""}))
FEEDS = Edge("e_1", "feeds", "ds_1", "op_1", properties({"index": 0}))

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
VALUES = TEXT | st.integers(-(1 << 63), (1 << 63) - 1) | st.booleans() | st.floats(
    allow_nan=False, allow_infinity=False
)  # fmt: skip


def read(text: str, kind: Any = Vertex, *, empty_strings: bool = True) -> list[Any]:
    lines = text.encode().splitlines(keepends=True) if "\r" not in text else io.BytesIO(
        text.encode()
    )  # fmt: skip
    return list(read_elements(kind, lines, "part-00000.gz", empty_strings=empty_strings))


def written(*elements: Vertex | Edge) -> str:
    columns = {key: type_of(value) for each in elements for key, value in each.properties}
    lines = [header(type(elements[0]), columns), *(record(each, columns) for each in elements)]
    return "".join(f"{line}\n" for line in lines)


def test_a_vertex_file_marks_every_property_as_single() -> None:
    assert written(DATASET) == (
        '~id,~label,scope:String(single),uri:String(single)\nds_1,dataset,"","s3://lake/a"\n'
    )


def test_an_edge_file_names_both_ends_and_no_cardinality() -> None:
    other = Edge("e_2", "feeds", "op_1", "ds_2", properties({"mode": 'over "it"', "new": True}))
    assert written(FEEDS, other) == (
        "~id,~from,~to,~label,index:Long,mode:String,new:Bool\n"
        "e_1,ds_1,op_1,feeds,0,,\n"
        'e_2,op_1,ds_2,feeds,,"over ""it""",true\n'
    )


@given(st.lists(st.dictionaries(st.sampled_from("abc"), TEXT), max_size=4))
def test_any_text_comes_back_as_it_was(listed: list[dict[str, str]]) -> None:
    elements = [Vertex(f"v_{n}", "job", properties(each)) for n, each in enumerate(listed)]
    if elements:
        data = io.BytesIO(written(*elements).encode())
        assert list(read_elements(Vertex, data, "f", empty_strings=True)) == elements


@given(VALUES)
def test_any_value_comes_back_with_its_type(value: Any) -> None:
    edge = Edge("e", "feeds", "a", "b", properties({"value": value}))
    data = io.BytesIO(written(edge).encode())
    (result,) = read_elements(Edge, data, "f", empty_strings=True)
    assert result == edge
    assert type(result.properties[0][1]) is type(value)


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_another_reader_of_rfc_4180_sees_the_same_fields(texts: list[str]) -> None:
    vertex = Vertex("v", "job", tuple((f"k{n}", text) for n, text in enumerate(texts)))
    rows = list(csv.reader(io.StringIO(written(vertex), newline=""), strict=True))
    assert rows[1] == ["v", "job", *texts]


def test_a_blank_field_is_no_value_and_a_quoted_one_an_empty_text() -> None:
    text = '~id,~label,a:String(single),b:String(single)\nv,job,,""\n'
    assert read(text) == [Vertex("v", "job", (("b", ""),))]
    assert read(text, empty_strings=False) == [Vertex("v", "job", ())]


def test_spaces_around_delimiters_are_trimmed_and_lines_may_end_with_a_return() -> None:
    text = '~id, ~label ,a:String(single)\r\nv , job,"  kept "\r\n'
    assert read(text) == [Vertex("v", "job", (("a", "  kept "),))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no header"),
        ("~id,a:String(single)\n", "header begins"),
        ("~id,~label,a:String\n", r"\(single\)"),
        ("~id,~label,a:Text(single)\n", "no column"),
        ("~id,~label,a:String[]\n", "no column"),
        ("~id,~label,a:Long(single),a:String(single)\n", "two columns"),
        ("~id,~label\nv,job,more\n", "3 fields"),
        ("~id,~label\nv\n", "1 fields"),
        ("~id,~label\n,job\n", "empty field"),
        ("~id,~label,a:Long(single)\nv,job,1.5\n", "1.5"),
        ("~id,~label,a:Bool(single)\nv,job,yes\n", "no Bool"),
        ('~id,~label,a:String(single)\nv,job,"a"b\n', "after its end"),
        ('~id,~label,a:String(single)\nv,job,"a\n', "no end"),
        ("~id,~label,a:String(single)\nv,job,a\0b\n", "null"),
    ],
)
def test_content_that_the_loader_would_refuse_is_refused_with_its_place(
    text: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        read(text)


def test_an_edge_column_with_a_cardinality_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no edge"):
        read("~id,~from,~to,~label,a:Long(single)\n", Edge)


def test_fields_are_told_apart_by_their_quotes() -> None:
    assert split('a,"b, c",') == [("a", False), ("b, c", True), ("", False)]
    assert split('"line\nbreak",""') == [("line\nbreak", True), ("", True)]


def test_a_key_that_no_header_can_hold_is_refused() -> None:
    for key in ("a b", "a:b", "a,b", "", "a\nb", "~id"):
        with pytest.raises(ValueError, match="header"):
            header(Vertex, {key: "String"})


def test_a_property_without_its_column_is_refused() -> None:
    with pytest.raises(ValueError, match="no column"):
        record(DATASET, {"uri": "String"})
    with pytest.raises(ValueError, match="its column is Long"):
        record(DATASET, {"uri": "Long", "scope": "String"})
