"""Bodies of the journal: their hash and how they are packed."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import ConfigurationError
from graph_model.producers.spline.documents import PLAN_KIND
from graph_model.stores.database import open_database
from graph_model.stores.documents import content_hash
from graph_model.stores.journal import Journal, stored_bodies
from graph_model.stores.journal.stored_bodies import VOCABULARIES, check_vocabularies, pack, unpack


def test_the_content_hash_is_fixed_for_ever() -> None:
    # Stored documents are known by it: another value here means another journal.
    expected = "6cf782b375415a6119bc48bcba7bb200de77df93cdb7d332f42e6024523f1fff"
    assert content_hash("plan", "1.2", b'{"id":"x"}') == expected
    assert content_hash(PLAN_KIND, "1.2", b'{"id":"x"}') == expected


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


@given(st.binary())
def test_a_body_that_was_packed_without_a_vocabulary_is_read_for_ever(body: bytes) -> None:
    assert unpack(zlib.compress(body)) == body


def test_vocabularies_are_frozen() -> None:
    # A body packed against one is read with these very bytes alone. A new one comes after these.
    hashes = [hashlib.sha256(item).hexdigest() for item in VOCABULARIES]
    assert hashes == ["8f1f1c608e4ea39d9c2c42ed874c3099415c1a2e6b7d3ddb197abcc2db3057ed"]


def test_a_vocabulary_that_has_changed_stops_the_start_and_spoils_no_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_vocabularies()
    changed = bytearray(VOCABULARIES[0])
    changed[7] ^= 1
    monkeypatch.setattr(stored_bodies, "BY_NUMBER", {zlib.adler32(changed): bytes(changed)})
    with pytest.raises(ConfigurationError, match="Install Headwater again"):
        Journal(open_database("sqlite://"))


def test_a_body_that_needs_an_unknown_vocabulary_is_an_error_that_names_it() -> None:
    packer = zlib.compressobj(zdict=b"words of a later Headwater")
    packed = packer.compress(b"words of a later Headwater") + packer.flush()
    number = zlib.adler32(b"words of a later Headwater")
    with pytest.raises(ValueError, match=f"needs vocabulary {number:08x}"):
        unpack(packed)


def test_events_take_much_less_than_zlib_alone_makes_of_them() -> None:
    fixtures = Path(__file__).parents[4] / "fixtures" / "openlineage" / "captured"
    answer = [json.loads(path.read_text("utf-8")) for path in sorted(fixtures.glob("*.json"))]
    bodies = [
        json.dumps(event, separators=(",", ":")).encode() for item in answer for event in item
    ]
    alone = sum(len(zlib.compress(body)) for body in bodies)
    assert sum(len(pack(body)) for body in bodies) < 0.7 * alone
