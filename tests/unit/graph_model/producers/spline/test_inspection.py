"""The fine view of one plan: bounded, and honest about it."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model.picture.operations import PlanInspection
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.inspection import inspect
from graph_model.producers.spline.plan_logic import PlanDocument
from tests.captures import plans
from tests.unit.graph_model.projection.projector.test_projector import a_plan


def inspected(document: dict[str, Any], *, layout: bool = False) -> PlanInspection[str]:
    plan = PlanDocument(read_plan(document), "", "hash", "1.2")
    return inspect(plan, references_of=lambda _, uri: (uri,), layout=layout)


def wide(columns: int, operations: int) -> dict[str, Any]:
    """A chain of projections that pass every column on."""
    names = [f"a{i}" for i in range(columns)]
    ids = [f"p{i}" for i in range(operations)]
    document = a_plan()
    document["attributes"] = [{"id": name, "name": name} for name in names]
    document["operations"] = {
        "write": {"id": "w", "outputSource": "t", "append": False, "childIds": [ids[-1]]},
        "reads": [{"id": "r", "inputSources": ["s"], "output": names}],
        "other": [
            {"id": own, "name": "Project", "childIds": [before], "output": names}
            for before, own in zip(["r", *ids], ids, strict=False)
        ],
    }
    return document


def test_operations_come_inputs_first_with_their_neighbours() -> None:
    (document,) = plans("a3_agg")
    result = inspected(document, layout=True)
    assert [(o.id, o.inputs, o.outputs) for o in result.operations] == [
        ("op-2", (), ("op-1",)),
        ("op-1", ("op-2",), ("op-0",)),
        ("op-0", ("op-1",), ()),
    ]
    assert [o.point.x for o in result.operations if o.point] == sorted(
        o.point.x for o in result.operations if o.point
    )
    assert result.cut is False


def test_an_operation_tells_how_its_new_columns_are_made_and_which_pass_through() -> None:
    (document,) = plans("a3_agg")
    schema = inspected(document).operations[1].schema
    assert schema is not None
    assert {column.name: column.expression for column in schema} == {
        "dept": None,
        "manager": None,
        "n": "count(*)",
        "avg_comp": "avg(total_comp)",
        "max_ratio": "max(ratio)",
    }


def test_a_plan_of_too_many_columns_is_cut_from_its_far_end_and_says_so() -> None:
    result = inspected(wide(columns=300, operations=100))
    sizes = [len(operation.schema or ()) for operation in result.operations]
    assert sum(sizes) == 20_000
    assert sizes[-1] == 300, "the write is the last to lose its columns"
    assert result.cut is True


def test_a_plan_that_fits_is_whole() -> None:
    result = inspected(wide(columns=30, operations=100))
    assert result.cut is False
    assert sum(len(operation.schema or ()) for operation in result.operations) == 30 * 102


@pytest.mark.parametrize("gathered", [["def", "join"], ["join", "def"]], ids=" ".join)
def test_a_folded_plan_has_one_definition_for_all_references_to_a_common_table_expression(
    gathered: list[str],
) -> None:
    document = a_plan()
    document["attributes"] = [{"id": "a", "name": "a"}]
    other = [
        {"id": "view", "name": "View", "childIds": ["r"], "output": ["a"]},
        {"id": "e", "name": "SubqueryAlias", "childIds": ["view"], "params": {"identifier": "e"}},
        {"id": "def", "name": "CTERelationDef", "childIds": ["e"], "params": {"id": 2}},
        {"id": "x", "name": "CTERelationRef", "params": {"cteId": 2}, "output": ["a"]},
        {"id": "y", "name": "CTERelationRef", "params": {"cteId": 2}, "output": ["a"]},
        {"id": "join", "name": "Join", "childIds": ["x", "y"], "output": ["a"]},
        {"id": "with", "name": "WithCTE", "childIds": gathered, "output": ["a"]},
    ]
    document["operations"] = {
        "write": {"id": "w", "outputSource": "t", "append": False, "childIds": ["with"]},
        "reads": [{"id": "r", "inputSources": ["lake/staff"], "output": ["a"]}],
        "other": other,
    }
    plan = PlanDocument(read_plan(document), "", "hash", "1.2")
    result = inspect(plan, references_of=lambda _, uri: (uri,), layout=True, fold=True)
    assert [(operation.label, operation.inputs) for operation in result.operations] == [
        ("staff as e", ()), ("Join", ("r",)), ("t", ("join",)),
    ]  # fmt: skip
    assert sorted(result.operations[0].folded) == [
        "CTERelationDef", "CTERelationRef", "CTERelationRef", "SubqueryAlias", "View",
    ]  # fmt: skip
