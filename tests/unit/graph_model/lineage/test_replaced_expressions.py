"""An expression that a later run replaced is history: the rule in all its cases is a history
(``tests/fixtures/histories/replaced-expression.json``); here are its texts and counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graph_model import identity
from graph_model.lineage import Answer, Lineage, Question
from graph_model.stores.graph import Direction
from tests.projections import SmallHeadwater, lineage_event, project

MONDAY, FRIDAY = 1_767_571_200_000, 1_767_916_800_000  # 2026-01-05 and 2026-01-09, 00:00 UTC
OUT = identity.dataset_id("", "s3://lake/out")
TOTAL = identity.column_id(OUT, "total")


def run(day: str, expression: str, condition: str) -> dict[str, Any]:
    """A run that computes ``total`` from ``amount``, of rows with a condition on ``kind``."""
    source = {"namespace": "s3://lake", "name": "in"}
    computed = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": expression}
    filtered = {"type": "INDIRECT", "subtype": "FILTER", "description": condition}
    facets = {
        "columnLineage": {
            "fields": {
                "total": {
                    "inputFields": [source | {"field": "amount", "transformations": [computed]}]
                }
            },
            "dataset": [source | {"field": condition, "transformations": [filtered]}],
        }
    }
    return {
        "eventType": "COMPLETE",
        "eventTime": f"{day}T00:00:00.000Z",
        "run": {"runId": f"run of {day}"},
        "job": {"namespace": "etl", "name": "load"},
        "inputs": [source],
        "outputs": [{"namespace": "s3://lake", "name": "out", "facets": facets}],
    }


@pytest.fixture
def rewritten() -> Iterator[SmallHeadwater]:
    events = [run("2026-01-05", "amount * rate", "kind"), run("2026-01-09", "round(amount)", "day")]
    headwater = project(map(lineage_event, events), stepwise=False)
    yield headwater
    headwater.close()


def expressions(answer: Answer) -> set[str]:
    return {edge.expression for edge in answer.column_edges if edge.kind == "DIRECT"}


@pytest.mark.parametrize(
    ("at", "expected"),
    [(MONDAY, "amount * rate"), (FRIDAY - 1, "amount * rate"), (FRIDAY, "round(amount)")],
)
@pytest.mark.parametrize("direction", [Direction.UPSTREAM, Direction.DOWNSTREAM])
def test_a_column_has_the_expression_of_the_newest_run_at_the_time(
    rewritten: SmallHeadwater, at: int, expected: str, direction: Direction
) -> None:
    start = TOTAL
    if direction == Direction.DOWNSTREAM:
        start = identity.column_id(identity.dataset_id("", "s3://lake/in"), "amount")
    lineage = Lineage(rewritten.graph, rewritten.catalogue)
    question = Question(start, direction, 3, at, columns=True)
    assert expressions(lineage.ask(question)) == {expected}
    inside = Question(OUT, Direction.UPSTREAM, 3, at, columns=True)
    assert expressions(lineage.ask(inside)) == {expected}


def test_influences_are_counted_as_they_are_drawn(rewritten: SmallHeadwater) -> None:
    lineage = Lineage(rewritten.graph, rewritten.catalogue)
    answer = lineage.ask(Question(OUT, Direction.UPSTREAM, 1, FRIDAY, columns=True, indirect=True))
    drawn = [edge for edge in answer.column_edges if edge.kind == "INDIRECT"]
    assert [edge.expression for edge in drawn] == ["day"]
    assert sum(influence.columns for influence in answer.influences[TOTAL]) == len(drawn)
