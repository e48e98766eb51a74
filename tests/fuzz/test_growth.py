"""Short documents that say very much: set aside with a reason, or bounded; never a hang."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model.errors import InvalidDocument
from graph_model.naming import normalise
from graph_model.store import DocumentState
from tests.e2e.producer_service import a_plan
from tests.fuzz.service import PLANS, fuzzed_headwater

pytestmark = pytest.mark.fuzz


def wide_plan(columns: int) -> dict[str, Any]:
    plan = a_plan()
    plan["operations"]["reads"][0]["output"] = [f"c{n}" for n in range(columns)]
    return plan


def many_sources(columns: int) -> dict[str, Any]:
    plan = wide_plan(columns)
    plan["operations"]["reads"][0]["inputSources"] = [f"file:/s/t{n}x" for n in range(columns)]
    return plan


def everything_from_everything(columns: int) -> dict[str, Any]:
    plan = wide_plan(columns)
    outputs = [f"o{n}" for n in range(columns)]
    plan["operations"]["other"] = [
        {"id": "t", "name": "Project", "childIds": ["op-1"], "output": outputs}
    ]
    plan["operations"]["write"]["childIds"] = ["t"]
    plan["attributes"] = [
        {"id": name, "name": name, "childRefs": [{"__exprId": "e"}]} for name in outputs
    ]
    inputs = [{"__attrId": f"c{n}"} for n in range(columns)]
    plan["expressions"] = {"functions": [{"id": "e", "name": "hash", "childRefs": inputs}]}
    return plan


def types_in_types(columns: int) -> dict[str, Any]:
    plan = wide_plan(columns)
    plan["attributes"] = [
        {"id": f"c{n}", "name": f"c{n}", "dataType": "t0"} for n in range(columns)
    ]
    plan["extraInfo"] = {
        "dataTypes": [
            {"id": f"t{n}", "fields": [{"name": f, "dataTypeId": f"t{n + 1}"} for f in "abcd"]}
            for n in range(20)
        ]
    }
    return plan


@pytest.mark.parametrize(
    "plan",
    [many_sources(500), everything_from_everything(750), types_in_types(2_000)],
    ids=["many sources", "everything from everything", "types in types"],
)
def test_a_plan_that_grows_too_large_is_set_aside_with_a_reason(plan: dict[str, Any]) -> None:
    with fuzzed_headwater() as headwater:
        assert headwater.client.post(PLANS, json=plan).status_code == 201
        headwater.small.project()
        (document,) = headwater.documents()
        assert document.state == DocumentState.FAILED
        assert "at most" in (document.reason or "")
        assert InvalidDocument.__name__ in (document.reason or "")
        headwater.small.journal.settle([document.position], DocumentState.PROJECTED, None)
        headwater.check_next_request()


def test_a_query_on_which_the_parser_is_lost_stays_unresolved() -> None:
    """Joins without conditions: each table doubled the work of the parser."""
    query = "(select 1 from " + "a join " * 60 + "b"
    (found,) = normalise(f"jdbc:postgresql://h/d:{query}", "")
    assert found.unresolved


def test_thousands_of_columns_may_share_one_large_type() -> None:
    """The text of a type is made once: this took minutes."""
    with fuzzed_headwater() as headwater:
        assert headwater.post(PLANS, types_in_types(20)).status_code == 201
