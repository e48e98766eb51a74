"""Captured documents with a few places changed: taken and projected, or refused by name."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from tests.fuzz.budget import examples
from tests.fuzz.mutations import mutated
from tests.fuzz.service import EVENTS, PLANS, FuzzedHeadwater, Ledger, fuzzed_headwater

pytestmark = pytest.mark.fuzz

EVERYTHING = Ledger()

requests = st.lists(
    st.one_of(
        st.tuples(st.just(PLANS), mutated("plan")), st.tuples(st.just(EVENTS), mutated("event"))
    ),
    min_size=1,
    max_size=3,
)


@examples(smoke=12)
@given(sent=requests)
def test_whatever_comes_is_projected_or_refused(sent: list[tuple[str, tuple[str, Any]]]) -> None:
    with fuzzed_headwater() as headwater:
        for path, (content_type, document) in sent:
            headwater.post(path, document, content_type)
        headwater.check_next_request()
        EVERYTHING.check(headwater)
        read_everything(headwater)


def read_everything(headwater: FuzzedHeadwater) -> None:
    """Every route answers for a few nodes of each kind."""
    headwater.get("/graph/overview", layout="true")
    for vertex in headwater.vertices(labels.DATASET)[:3]:
        headwater.get("/graph/lineage", node=vertex.id, columns="true", indirect="true", depth=3)
        headwater.get(f"/graph/datasets/{vertex.id}")
        headwater.get(f"/graph/datasets/{vertex.id}/history")
        headwater.get("/graph/column-lineage", dataset=vertex.id, layout="true")
    for vertex in headwater.vertices(labels.JOB)[:2]:
        headwater.get("/graph/lineage", node=vertex.id, layout="true")
        headwater.get(f"/graph/jobs/{vertex.id}")
        headwater.get(f"/graph/jobs/{vertex.id}/runs")
    for vertex in headwater.vertices(labels.EXECUTION_PLAN)[:2]:
        headwater.get(f"/graph/plans/{quote(vertex.id)}", document="true", layout="true")
