"""Bodies become values, and values the one spelling that is journaled: by the book, only faster."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graph_model.documents.json_texts
from graph_model.documents.json_texts import parse_instruction, parse_json
from graph_model.errors import InvalidFields
from graph_model.producers.projections import repeated_keys
from graph_model.stores.documents import compact_json

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ['":', '\\":', "\\", '"', " :", "a:b", "{", "\u007f", "\u2028", "\U0001f600", "NaN", "\\ud800"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)
SPELLINGS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 2]),
        "separators": st.sampled_from([None, (",", ":"), (" ,", " :"), ("\n,", "\t:\r")]),
    }
)


def spelled(value: Any, hole: str) -> str:
    """JSON text of a value in which the text ``HOLE`` stands for a value without a form in JSON."""
    return json.dumps(value).replace('"HOLE"', hole)


def around(hole: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The hole at any depth, with other values beside it."""

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.tuples(VALUES, inner).map(list) | st.tuples(TEXTS, inner).map(
            lambda pair: {"beside": [], pair[0]: pair[1]}
        )

    return st.tuples(st.recursive(st.just("HOLE"), deeper, max_leaves=4), hole).map(
        lambda drawn: spelled(*drawn)
    )


def escaped(text: str) -> str:
    """Every character of it as ``\\uXXXX``."""
    units = text.encode("utf-16-be")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return '"' + "".join(f"\\u{pair}" for pair in pairs) + '"'


@settings(deadline=None)
@given(VALUES, SPELLINGS, st.booleans())
def test_a_value_is_read_as_it_was_meant_however_it_is_spelled(
    value: Any, spelling: dict[str, Any], marked: bool
) -> None:
    body = json.dumps(value, **spelling).encode()
    read = parse_json(b"\xef\xbb\xbf" + body if marked else body)
    assert read == value
    assert repr(read) == repr(value)  # 1 is no 1.0, and no True


@settings(deadline=None)
@given(VALUES)
def test_the_journaled_spelling_is_that_of_the_standard_library(value: Any) -> None:
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert compact_json(value) == plain.encode()
    assert compact_json(parse_json(compact_json(value))) == compact_json(value)


DUPLICATES = st.tuples(TEXTS, SCALARS, SCALARS, st.booleans()).map(
    lambda drawn: "{%s: %s, \"between\" : 1, %s :%s}" % (  # noqa: UP031 - braces of JSON
        json.dumps(drawn[0]),
        json.dumps(drawn[1]),
        escaped(drawn[0]) if drawn[3] else json.dumps(drawn[0]),
        json.dumps(drawn[2]),
    )
)  # fmt: skip


@settings(deadline=None)
@given(around(DUPLICATES))
def test_of_a_key_that_stands_twice_the_last_value_counts_in_any_spelling(text: str) -> None:
    read = parse_json(f'{{"document": {text}}}'.encode())
    assert len(read.pop("_repeatedKeys", [])) <= 1
    assert read == {"document": mended(json.loads(text))}


@settings(deadline=None)
@given(around(DUPLICATES))
def test_a_document_to_carry_out_at_once_gives_each_key_one_value(text: str) -> None:
    document = f'{{"document": {text}}}'
    if repeated_keys(parse_json(document.encode())):
        with pytest.raises(InvalidFields, match="one value for each key"):
            parse_instruction(document.encode())
    else:
        assert parse_instruction(document.encode()) == mended(json.loads(document))


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ('{"a": 1, "a": 1}', None),
        ('{"a": {"x": 1, "y": [2]}, "b": 0, "a": {"y": [2], "x": 1}}', None),
        ('{"a": 1, "\\u0061": 1}', None),
        ('{"a": 1, "a": 2}', ["a"]),
        ('{"a": 1, "a": true}', ["a"]),
        ('{"a": 1, "a": 2, "a": 1}', ["a"]),
        ('{"a": {"x": 1}, "a": {"x": 1, "y": null}}', ["a"]),
        ('{"p": [{"q": {"a": 1, "a": 2}}], "b": "", "b": null}', ["b", "p.0.q.a"]),
        ('{"a": {"x": 1, "x": 2}, "a": 3}', ["a"]),  # a value that does not count needs no note
        (r'{"\ud800": 1, "\ud801": 2}', ["\ufffd"]),
        (r'{"a": 1, "a": 2, "\ud800": 1, "\ud801": 2}', ["a", "\ufffd"]),
    ],
)
def test_a_document_notes_the_keys_whose_values_differ(text: str, noted: list[str] | None) -> None:
    read = parse_json(text.encode())
    assert read.pop("_repeatedKeys", None) == noted
    assert read == mended(json.loads(text))


def test_each_document_of_a_list_has_its_own_note() -> None:
    read = parse_json(b'[{"a": 1, "a": 2}, {"a": 1, "a": 1}, {"b": {"c": 1, "c": 2}}]')
    assert [item.get("_repeatedKeys") for item in read] == [["a"], None, ["b.c"]]


def test_the_note_is_bounded_and_counts_the_omitted_paths() -> None:
    twice = ",".join(f'"k{number}": 1, "k{number}": 2' for number in range(50))
    noted = parse_json(f"{{{twice}}}".encode())["_repeatedKeys"]
    assert (len(noted), noted[0], noted[-1]) == (21, "k0", "and 30 more")


def test_a_noted_document_that_comes_again_from_a_backup_is_the_same() -> None:
    read = parse_json(b'{"a": 1, "a": 2}')
    assert parse_json(compact_json(read)) == read


NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1E+999", "9" * 400 + ".0"]


@settings(deadline=None)
@given(around(st.sampled_from(NO_NUMBERS)))
def test_a_number_that_is_not_finite_is_refused_at_any_depth(text: str) -> None:
    with pytest.raises(InvalidFields, match=r"is no number|too large"):
        parse_json(text.encode())


def test_an_integer_beyond_pythons_limit_is_refused_without_pythons_advice() -> None:
    with pytest.raises(InvalidFields) as refused:
        parse_json(b'{"id": ' + b"9" * 10_000 + b"}")
    assert str(refused.value) == "document: expected JSON (an integer is too long)"


def mended(value: Any) -> Any:
    """Lone surrogates as U+FFFD, slowly."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= item <= "\udfff" else item for item in value)
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value


@settings(deadline=None)
@given(around(st.sampled_from([r'"\ud800"', r'"\uDBFFa"', r'"a\udc00b"', r'{"k\udfff": 1}'])))
def test_a_lone_surrogate_is_mended_at_any_depth(text: str) -> None:
    read = parse_json(text.encode())
    assert read == mended(json.loads(text))
    assert compact_json(read)


def test_a_pair_of_surrogates_is_the_character_that_it_stands_for() -> None:
    read = parse_json(rb'{"\ud83d\ude00": "\uD83D\uDE00\ud83d"}')
    assert read == {"\U0001f600": "\U0001f600\ufffd"}


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_a_body_that_nests_too_deep_is_refused(opening: str) -> None:
    with pytest.raises(InvalidFields, match="nested less deeply"):
        parse_json((opening * 200_000).encode())


@pytest.mark.parametrize("body", [b"", b"\xef\xbb\xbf\xef\xbb\xbf{}", b"{} x", b'{"a" 1}', b'"\t"'])
def test_a_body_that_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidFields, match="JSON"):
        parse_json(body)


@settings(deadline=None)
@given(VALUES, SPELLINGS, st.integers(0, 40))
def test_values_are_counted_in_the_text_as_in_the_document(
    value: Any, spelling: dict[str, Any], most: int
) -> None:
    """Commas and opening brackets outside strings, whatever the strings hold."""
    body = json.dumps(value, **spelling).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_model.documents.json_texts, "MOST_VALUES", most)
        if marks(value) <= most:
            assert parse_json(body) == value
        else:
            refused(body)


def refused(body: bytes) -> None:
    with pytest.raises(InvalidFields, match="values"):
        parse_json(body)


def marks(value: Any) -> int:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return 1 + max(len(value) - 1, 0) + sum(map(marks, inside))
    return 0
