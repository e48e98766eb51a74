"""Ids are digests of their parts as compact JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model import identity, labels

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


def test_ids_stay_as_they_were_first_written() -> None:
    assert identity.dataset_id("", "s3://lake/people") == "ds_da8f3680302e6f252892816c23bc68ad"
    assert identity.column_id("ds_0", "größe\ud800") == "col_8cb3b04baea7228f3faadc6f65e1a863"
    assert identity.job_id('a "b"', "c\\d") == "job_859036a154cb92874986fdea328eeb13"
