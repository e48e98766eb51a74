"""Laws of the difference of two plans, on plans that real agents sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from graph_model.answers.difference.plans import PlanDifference, compare_plans
from graph_model.answers.plans import PlanPage, plan
from graph_model.errors import InvalidInput
from graph_model.producers.spline.documents import PLAN_KIND
from tests.captures import load, names
from tests.oracle.comparison import is_empty
from tests.projections import SmallHeadwater, small_headwater, submission

_IDS = re.compile(r'"(op|attr|expr)-(\d+)"')
_RENAMED = "0badcafe-0000-5000-8000-"


def renumbered(document: Any) -> Any:
    """The same plan under other ids, as another session of the same job would send it."""
    text = _IDS.sub(lambda one: f'"{one[1]}-{1000 + int(one[2])}"', json.dumps(document))
    return {**json.loads(text), "id": _RENAMED + document["id"].replace("-", "")[-12:]}


@pytest.fixture(scope="module")
def pages() -> Iterator[list[tuple[PlanPage, PlanPage]]]:
    """Every captured plan of API 1.2 with itself renumbered."""
    headwater = small_headwater()
    documents = [
        exchange.document
        for name in names()
        for exchange in load(name)
        if exchange.kind == "plan" and "v1.2" in exchange.content_type
    ]
    sent = [(document, renumbered(document)) for document in documents]
    for pair in sent:
        _accept(headwater, *pair)
    headwater.project()
    sources = headwater.sources
    yield [
        (
            plan(sources, item["id"], at=None, document=False, layout=False),
            plan(sources, other["id"], at=None, document=False, layout=False),
        )
        for item, other in sent
    ]
    headwater.close()


def _accept(headwater: SmallHeadwater, *documents: Any) -> None:
    for document in documents:
        try:
            headwater.accept(submission(PLAN_KIND, document))
        except InvalidInput as error:  # a capture that nobody could send
            pytest.fail(f"{document['id']}: {error}")


def told(found: PlanDifference, first: str, second: str) -> set[Any]:
    return {
        (getattr(operation, first), getattr(operation, second)) for operation in found.operations
    }


def test_a_plan_under_other_ids_is_the_same_plan(pages: list[tuple[PlanPage, PlanPage]]) -> None:
    assert len(pages) > 20
    for first, other in pages:
        for item in (compare_plans(first, first), compare_plans(first, other)):
            assert is_empty(item), (first.plan_id, item.summary)
            assert all(step.before and step.after for step in item.operations)


def test_any_two_plans_mirror_each_other(pages: list[tuple[PlanPage, PlanPage]]) -> None:
    plans = [page for page, _ in pages]
    for first, other in zip(plans, plans[1:] + plans[:1], strict=True):
        forth, back = compare_plans(first, other), compare_plans(other, first)
        assert told(forth, "before", "after") == told(back, "after", "before")
        assert len(forth.summary) == len(back.summary)
        counted = [sorted(step.change or "" for step in entry.columns) for entry in (forth, back)]
        swapped = {"added": "removed", "removed": "added"}
        assert counted[0] == sorted(swapped.get(item, item) for item in counted[1])
