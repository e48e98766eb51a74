"""Bytes that no client means: cut, packed, nested, endless."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.producer_service import PLAN_ID, SPLINE_1_2, a_plan, an_event
from tests.fuzz.budget import LONG, examples
from tests.fuzz.service import EVENTS, LIMIT, NOW, PLANS, check_refusal, fuzzed_headwater

pytestmark = pytest.mark.fuzz

PACKED = gzip.compress(json.dumps(a_plan()).encode(), mtime=0)
long = pytest.mark.skipif(not LONG, reason="make fuzz")
GZIP = {"Content-Encoding": "gzip"}


class EndlessBody(io.RawIOBase):
    """100 MB of spaces that are never held; counts the bytes taken."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 100_000_000
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self.left)
        buffer[:size] = b" " * size
        self.left -= size
        self.taken += size
        return size


@examples(smoke=12)
@given(cut=st.integers(0, len(PACKED) - 1))
def test_a_gzip_cut_anywhere_is_refused(cut: int) -> None:
    with fuzzed_headwater() as headwater:
        assert headwater.post(PLANS, PACKED[:cut], headers=GZIP).status_code == 400


@examples(smoke=12)
@given(place=st.integers(0, len(PACKED) - 1), value=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_harmless(place: int, value: int) -> None:
    changed = PACKED[:place] + bytes([value]) + PACKED[place + 1 :]
    with fuzzed_headwater() as headwater:
        headwater.post(PLANS, changed, headers=GZIP)
        headwater.check_next_request()


@examples(smoke=12)
@given(raw=st.binary(max_size=200), path=st.sampled_from([PLANS, EVENTS]))
def test_any_bytes_are_answered(raw: bytes, path: str) -> None:
    with fuzzed_headwater() as headwater:
        headwater.post(path, raw)


@pytest.mark.parametrize("opened", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_a_hundred_thousand_levels_are_refused(opened: bytes, closed: bool) -> None:
    ending = opened.translate(bytes.maketrans(b"[{", b"]}"), b'"a:')[::-1] if closed else b""
    raw = opened * 100_000 + b"1" + ending * 100_000
    with fuzzed_headwater() as headwater:
        assert headwater.post(PLANS, gzip.compress(raw, 1), headers=GZIP).status_code == 400
        headwater.check_next_request()


def test_a_hundred_megabytes_are_not_read_to_their_end() -> None:
    body = EndlessBody()
    with fuzzed_headwater() as headwater:
        response = headwater.client.post(
            PLANS,
            content_type=SPLINE_1_2,
            environ_overrides={"wsgi.input": body, "wsgi.input_terminated": True},
        )
        check_refusal(response)
        assert response.status_code == 413
        assert body.taken <= LIMIT + 1_000_000
        headwater.check_next_request()


@long
def test_ten_thousand_events_are_taken_and_projected() -> None:
    with fuzzed_headwater() as headwater:
        assert headwater.post(PLANS, a_plan()).status_code == 201
        events = [an_event(timestamp=NOW + n) for n in range(10_000)]
        assert headwater.client.post(
            EVENTS, json=events, content_type=SPLINE_1_2
        ).status_code == 201  # fmt: skip
        headwater.small.project()
        assert headwater.small.journal.summary().projected == 10_001
        assert headwater.get(f"/graph/plans/{PLAN_ID}")["planId"] == PLAN_ID


@long
@pytest.mark.parametrize("cyclic", [False, True])
def test_a_chain_of_fifty_thousand_expressions_is_projected(cyclic: bool) -> None:
    first = {"__exprId": "e49999"} if cyclic else {"__attrId": "attr-0"}
    plan = a_plan()
    plan["operations"]["other"] = [
        {"id": "t", "name": "Project", "childIds": ["op-1"], "output": ["o"]}
    ]
    plan["operations"]["write"]["childIds"] = ["t"]
    plan["attributes"] += [{"id": "o", "name": "o", "childRefs": [{"__exprId": "e49999"}]}]
    functions = [{"id": "e0", "name": "add", "childRefs": [first]}]
    functions += [
        {"id": f"e{n}", "name": "add", "childRefs": [{"__exprId": f"e{n - 1}"}]}
        for n in range(1, 50_000)
    ]
    plan["expressions"] = {"functions": functions}
    with fuzzed_headwater() as headwater:
        assert headwater.post(PLANS, plan).status_code == 201
        headwater.check_next_request()
