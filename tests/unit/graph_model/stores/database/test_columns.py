"""The bytes that SQLite holds for an id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.stores.database.statements import packed_id, unpacked_id

DIGITS = "0f" * 16
UUID = "00c0ffee-0000-5000-8000-00000000000f"

ids = st.builds(
    "{}{}".format,
    st.sampled_from(["", "ds_", "job_", "x", "_", "run:", "-", "DS_"]),
    st.one_of(
        st.text("0123456789abcdef", min_size=30, max_size=33),
        st.uuids().map(str),
        st.just(UUID.upper()),
    ),
)


@given(st.one_of(st.text(), ids))
def test_every_text_comes_back_as_it_was(text: str) -> None:
    assert unpacked_id(packed_id(text)) == text


@given(st.lists(st.one_of(st.text(), ids), unique=True))
def test_other_texts_are_held_as_something_else(texts: list[str]) -> None:
    assert len({packed_id(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "length"),
    [(f"ds_{DIGITS}", 18), (DIGITS, 16), (UUID, 17), (f"run:{UUID}", 20)],
)
def test_an_id_takes_half_of_its_letters(text: str, length: int) -> None:
    stored = packed_id(text)
    assert isinstance(stored, bytes)
    assert len(stored) == length


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plan-1",
        f"ds_{DIGITS.upper()}",
        f"ds_{DIGITS}\n",
        f"ds-{DIGITS}",
        UUID.upper(),
        f"DS_{DIGITS}",
        f"é_{DIGITS}",
        f"_{DIGITS}",
        f"a_b_{DIGITS}",
        f"ds_  {DIGITS[2:]}",
        f"ds_{DIGITS[2:]}zz",
    ],
)
def test_any_other_text_stays_a_text(text: str) -> None:
    assert packed_id(text) == text


@given(st.lists(st.text("0123456789abcdef", min_size=32, max_size=32)))
def test_ids_of_one_kind_keep_their_order(digits: list[str]) -> None:
    texts = [f"ds_{digit}" for digit in digits]
    assert [unpacked_id(stored) for stored in sorted(map(packed_id, texts))] == sorted(texts)  # type: ignore[type-var]
