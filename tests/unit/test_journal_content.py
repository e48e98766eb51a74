"""Bodies of the journal: their hash and how they are packed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.journal.content import content_hash, pack, unpack
from graph_model.store import DocumentKind


def test_the_content_hash_is_fixed_for_ever() -> None:
    # Stored documents are known by it: another value here means another journal.
    expected = "6cf782b375415a6119bc48bcba7bb200de77df93cdb7d332f42e6024523f1fff"
    assert content_hash("plan", "1.2", b'{"id":"x"}') == expected
    assert content_hash(DocumentKind.PLAN, "1.2", b'{"id":"x"}') == expected


@given(st.tuples(st.text(), st.text(), st.binary()), st.tuples(st.text(), st.text(), st.binary()))
def test_different_content_has_different_hashes(
    one: tuple[str, str, bytes], other: tuple[str, str, bytes]
) -> None:
    assert (content_hash(*one) == content_hash(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("plan", "1.2", b""), ("plan1", ".2", b"")),
        (("plan", "1", b".2"), ("plan", "1.2", b"")),
        (("plan", '1"]\n', b""), ("plan", "1", b'"]\n')),
    ],
)
def test_parts_do_not_run_into_each_other(
    one: tuple[str, str, bytes], other: tuple[str, str, bytes]
) -> None:
    assert content_hash(*one) != content_hash(*other)


@given(st.binary())
def test_a_packed_body_is_unpacked_as_it_was(body: bytes) -> None:
    assert unpack(pack(body)) == body


@pytest.mark.parametrize("damaged", [b"", b"rubbish", pack(b"x" * 100)[:-3]])
def test_a_damaged_body_is_an_error(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="cannot be inflated"):
        unpack(damaged)
