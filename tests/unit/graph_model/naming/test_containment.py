r"""Locations that share files: Hadoop's rules for patterns, folders by their paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.naming.containment import (
    MOST_FOLDERS,
    Location,
    begins,
    folders_above,
    holds,
    meets,
)
from graph_model.naming.uris import normalise


def location(path: str) -> Location:
    (name,) = normalise(f"s3://land/{path}", "")
    return Location(name.uri, name.kind == "pattern")


HELD = [
    ("in", "in/o_1.csv"),
    ("in", "in/a/o_1.csv"),
    ("in", "in/o_*.csv"),
    ("in/o_*.csv", "in/o_1.csv"),
    ("in/*", "in/a"),
    ("in/*", "in/a/o_1.csv"),  # a read of a folder finds the files in it
    ("in/?_1.csv", "in/o_1.csv"),
    ("in/[a-c]_1.csv", "in/b_1.csv"),
    ("in/[^a]_1.csv", "in/b_1.csv"),
    ("in/[!a]_1.csv", "in/b_1.csv"),
    ("in/[]a]*.csv", "in/].csv"),
    (r"in/[a\-c]*.csv", "in/-.csv"),
    ("in/{o,c}_*.csv", "in/c_1.csv"),
    ("in/{o_{1,2},c}*.csv", "in/o_2.csv"),
    ("in/{a/b,c}/*.csv", "in/a/b/o.csv"),
    (r"in/\*_?.csv", "in/*_1.csv"),
    ("in/a.b(c)+|$^*", "in/a.b(c)+|$^d"),
]
APART = [
    ("in", "in2"),
    ("in", "inn/o_1.csv"),
    ("in/o_1.csv", "in/o_2.csv"),
    ("in/o_*.csv", "in/c_1.csv"),
    ("in/*.csv", "in/a/o_1.csv"),  # * does not cross /
    ("in/?.csv", "in/aa.csv"),
    ("in/[^a]*.csv", "in/a_1.csv"),
    ("in/[a-c]_1.csv", "in/d_1.csv"),
    (r"in/[a\-c]_*.csv", "in/b_1.csv"),
    (r"in/\?_*.csv", "in/o_1.csv"),
    ("in/{o,c}_*.csv", "in/d_1.csv"),
    ("in/o_*.csv", "in/*_1.csv"),  # two patterns
    ("in/*/o.csv", "in/o_1.csv"),  # the name of a single file, not of a folder
    ("in/*{a", "in/ba"),  # Hadoop refuses these
    ("in/*[z-a]", "in/bz"),
    ("in/*[", "in/b["),
]
IN_PART = [("in/*/o_*.csv", "in/a"), ("in/*/o_*.csv", "in"), ("*/o_1.csv", "in")]


@pytest.mark.parametrize(("outer", "inner"), HELD)
def test_a_folder_or_a_pattern_holds_what_it_names(outer: str, inner: str) -> None:
    first, other = location(outer), location(inner)
    if first.is_pattern:
        other = other._replace(is_pattern=False)  # a file may be called so
    assert holds(first, other)
    assert not holds(other, first)
    assert meets(first, other)
    assert meets(other, first)


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_names_share_no_file(one: str, other: str) -> None:
    assert not meets(location(one), location(other))
    assert not meets(location(other), location(one))


@pytest.mark.parametrize(("pattern", "folder"), IN_PART)
def test_a_pattern_shares_files_with_each_folder_on_its_way(pattern: str, folder: str) -> None:
    assert meets(location(pattern), location(folder))
    assert meets(location(folder), location(pattern))
    assert not holds(location(pattern), location(folder))


@pytest.mark.parametrize(
    ("uri", "above"),
    [
        ("s3://b/in/a*.csv", ("s3://b/in", "s3://b")),
        ("s3://b/in/*/a*.csv", ("s3://b/in", "s3://b")),
        ("s3://b/*.csv", ("s3://b",)),
        ("s3://b/in", ("s3://b",)),
        ("s3://b", ()),
        ("file:/*.csv", ("file:/",)),
        ("file:/in/a", ("file:/in", "file:/")),
        ("kafka:a*", ()),
    ],
)
def test_the_folders_above_a_location(uri: str, above: tuple[str, ...]) -> None:
    assert folders_above(Location(uri, "*" in uri)) == above


def test_only_the_nearest_folders_of_a_long_path_count() -> None:
    result = folders_above(Location("file:" + "/a" * 2_000, is_pattern=False))
    assert len(result) == MOST_FOLDERS
    assert len(result[0]) > len(result[-1]) > len("file:") + 2 * 1_900


ANY_PATH = st.text("ab/*?[]{},^!-\\.é", min_size=1, max_size=12)


@given(ANY_PATH, ANY_PATH)
def test_every_text_has_an_answer_that_is_found_by_its_folders_or_its_beginning(
    one: str, other: str
) -> None:
    first, second = location(one), location(other)
    assert meets(first, second) == meets(second, first)
    if first != second and meets(first, second):
        place, pattern = (second, first) if first.is_pattern else (first, second)
        ways = (
            pattern.uri in folders_above(place),
            place.uri in folders_above(pattern),
            place.uri.startswith(begins(pattern)),
            pattern.uri.startswith(begins(place)),
            set(folders_above(pattern)[:1]) & set(folders_above(place)),
        )
        assert any(ways)
