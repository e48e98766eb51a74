"""Column identity: folding, nested paths, duplicates and collisions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import column_path, fold, schema_columns, split_path
from graph_model.values import storable


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Emp_ID", "emp_id"),
        ("ΑΣ", "ας".upper().lower().replace("ς", "σ")),
        ("ας", "ασ"),
        ("Straße", "straße"),
        ("İ", "İ"),
        ("ДАТА", "дата"),
    ],
)
def test_names_fold_character_by_character(written, folded):
    assert fold(written) == folded


def test_folding_twice_is_folding_once_for_every_letter():
    characters = map(chr, range(0x1F000))  # beyond are pictures and ideographs
    wrong = [c for c in characters if fold(fold(c)) != fold(c) or len(fold(c)) != 1]
    assert wrong == []


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        (("a",), "a"),
        (("a", "b"), "a.b"),
        (("a", "b.c"), "a.`b.c`"),
        (("a`b",), "`a``b`"),
        (("",), "``"),
        (("id~2",), "id~2"),
        ((), ""),
    ],
)
def test_paths_quote_only_characters_that_would_divide_them(segments, path):
    assert column_path(segments) == path
    assert split_path(path) == segments


@pytest.mark.parametrize(
    ("text", "segments"),
    [("`a", ("`a",)), ("a`.b", ("a`", "b")), ("`a`b.c", ("`a`b", "c")), ("a.", ("a", ""))],
)
def test_a_stray_quote_is_an_ordinary_character(text, segments):
    assert split_path(text) == segments


@settings(deadline=None)
@given(st.lists(st.text(st.characters() | st.sampled_from(".`~")), max_size=5))
def test_a_path_divides_into_its_segments(segments):
    assert split_path(column_path(segments)) == tuple(map(storable, segments))
    assert fold(column_path(segments)) == column_path([fold(s) for s in segments])


@pytest.mark.parametrize("name", ["c\0", "c\ud800"])
def test_a_path_is_a_text_that_every_store_can_hold(name):
    assert column_path([name]) == "c\ufffd"


@settings(deadline=None)
@given(st.text(st.characters() | st.sampled_from(".`")))
def test_any_text_divides(text):
    assert isinstance(split_path(text), tuple)


def paths(*names: str) -> list[str]:
    columns, _ = schema_columns([(name, None) for name in names])
    return [column.path for column in columns]


def test_columns_are_known_by_their_folded_names_and_keep_their_spelling():
    columns, collisions = schema_columns([("Emp_ID", "int"), ("a.b", None)])
    assert [(c.name, c.path, c.type) for c in columns] == [
        ("Emp_ID", "emp_id", "int"),
        ("a.b", "`a.b`", None),
    ]
    assert collisions == ()


def test_names_that_differ_by_case_alone_keep_it_and_are_reported():
    columns, collisions = schema_columns([("Id", None), ("ID", None), ("Name", None)])
    assert [c.path for c in columns] == ["Id", "ID", "name"]
    assert collisions == ("id",)


def test_a_repeated_name_gets_its_ordinal():
    assert paths("id", "id", "x", "id") == ["id", "id~2", "x", "id~3"]
    assert paths("Id", "Id") == ["id", "id~2"]
    assert paths("Id", "id", "id") == ["Id", "id", "id~2"]
    assert paths("a.b", "a.b") == ["`a.b`", "`a.b~2`"]


def test_an_ordinal_gives_way_to_a_column_of_that_name():
    assert paths("id", "id", "id~2") == ["id", "id~3", "id~2"]
    assert paths("id", "id", "ID~2", "id") == ["id", "id~3", "id~2", "id~4"]


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("aAbB~12.`")), max_size=12))
def test_no_two_columns_of_a_schema_share_a_path(names):
    result = paths(*names)
    assert len(set(result)) == len(result)
    assert all(column_path(split_path(path)) == path for path in result)
