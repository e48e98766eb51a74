"""Ids and texts inside facts are spelled as the JSON encoder spells them, without asking it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.producers.canonical_json import spell, spell_text, spell_texts

TEXTS = st.text(max_size=8) | st.sampled_from(["", '"', "\\", "\0", "a b", "é", "\ud800", "ds_0a"])
PARTS = TEXTS | st.integers() | st.booleans() | st.none() | st.lists(TEXTS, max_size=2)


def by_the_encoder(*parts: Any) -> str:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@settings(deadline=None)
@given(st.lists(PARTS, max_size=5))
def test_a_digest_is_that_of_its_parts_as_json(parts: list[Any]) -> None:
    assert identity.digest(*parts) == by_the_encoder(*parts)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.lists(PARTS, max_size=2))
def test_the_id_of_an_edge_is_the_digest_of_all_that_tells_it_apart(
    start: str, end: str, more: list[Any]
) -> None:
    expected = f"e_{by_the_encoder(labels.FEEDS, start, end, *more)}"
    assert identity.edge_id(labels.FEEDS, start, end, *more) == expected


@given(TEXTS | st.none())
def test_a_text_or_none_is_spelled_as_json(text: str | None) -> None:
    assert spell_text(text) == spell(text)


@given(st.dictionaries(TEXTS, TEXTS, max_size=4))
def test_an_object_of_texts_is_spelled_as_json_in_order(
    texts: dict[str, str],
) -> None:
    assert spell_texts(texts) == spell(texts)
