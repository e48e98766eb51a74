"""One plan in the form of Spline's viewers: ids, operations, schemas, expression trees."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from api.consumer.plans import (
    MOST_DEPTH,
    MOST_NODES,
    Trees,
    base36,
    detailed_json,
    event_id,
    known_id,
    local_id,
    operation_json,
    plan_json,
    read_event_id,
    split_local_id,
)
from graph_model.answers.consumer.executions import EventId
from graph_model.errors import NotFound
from graph_model.producers.spline.documents import ExecutionPlan, read_plan
from graph_model.values import plain
from tests.builders import PLAN_ID, PlanBuilder
from tests.unit.graph_model.answers.consumer.test_plan_documents import operation_called, sum_plan

EVENT = f"{PLAN_ID}:kf12oi"


def names_of(detailed: dict[str, Any]) -> list[list[str]]:
    return [[attribute["name"] for attribute in schema] for schema in detailed["schemas"]]


# --- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (35, "z"), (36, "10"), (1234567890, "kf12oi")]
)
def test_times_are_spelled_in_base_36(number: int, text: str) -> None:
    assert base36(number) == text
    assert event_id(PLAN_ID, number) == f"{PLAN_ID}:{text}"
    whole = f"{PLAN_ID}:{text}"
    assert read_event_id(whole) == EventId(whole, PLAN_ID, number, None)


def test_an_event_that_shares_its_time_is_told_apart() -> None:
    text = event_id(PLAN_ID, 1234567890, "ex_00ff")
    assert text == f"{EVENT}-ex_00ff"
    assert read_event_id(text) == EventId(text, PLAN_ID, 1234567890, "ex_00ff")


@pytest.mark.parametrize(
    "text", ["", ":", "x", f"{PLAN_ID}:", f"{PLAN_ID}:K!", f"{PLAN_ID}:{'z' * 99}"]
)
def test_an_id_of_no_event_is_not_found(text: str) -> None:
    with pytest.raises(NotFound):
        read_event_id(text)


@pytest.mark.parametrize("local", ["op-1", "3", "a:b", "a/b", "a%3Ab", "a b?#&", "é\n"])
def test_a_local_id_survives_paths_and_queries(local: str) -> None:
    text = local_id(PLAN_ID, local)
    assert text.count(":") == 1, "a viewer cuts off the text behind the last colon"
    plan_id, sent = split_local_id(text, "operation")
    assert (plan_id, known_id(sent, {local})) == (PLAN_ID, local)
    assert known_id(local, {local}) == local, "a server that has decoded the path"
    assert known_id("other", {local}) is None


def test_ids_of_the_agents_are_spelled_as_they_are() -> None:
    assert local_id(PLAN_ID, "attr-12") == f"{PLAN_ID}:attr-12"


@pytest.mark.parametrize(
    ("text", "searched"),
    [("Ünïcode ÉTÉ", "unicode ete"), ("STRASSE", "strasse"), ("Straße", "strasse")],
)
def test_a_search_minds_neither_case_nor_accents(text: str, searched: str) -> None:
    assert plain(text) == searched


# --- operations ----------------------------------------------------------------------------------


def test_a_condition_is_shown_as_a_tree() -> None:
    plan = sum_plan()
    detailed = operation_json(plan, operation_called(plan, "Filter"))
    (column, literal) = detailed["operation"]["properties"]["condition"]["children"]
    assert detailed["operation"]["properties"]["condition"] | {"children": []} == {
        "_typeHint": "expr.Binary", "dataTypeId": "type boolean", "name": "greaterthan",
        "symbol": ">", "children": [],
    }  # fmt: skip
    assert column == {
        "_typeHint": "expr.AttrRef", "dataTypeId": "type int", "name": "salary",
        "refId": f"{PLAN_ID}:attr-1",
    }  # fmt: skip
    assert literal["_typeHint"] == "expr.Literal"
    assert literal["value"] == 10


def test_an_alias_has_one_child() -> None:
    plan = sum_plan()
    detailed = operation_json(plan, operation_called(plan, "Project"))
    passing, alias = detailed["operation"]["properties"]["projectList"]
    assert passing["_typeHint"] == "expr.AttrRef"
    assert (alias["_typeHint"], alias["alias"], alias["child"]["symbol"]) == (
        "expr.Alias",
        "total",
        "+",
    )
    assert "children" not in alias


def test_schemas_are_those_of_the_inputs_and_then_the_operations_own() -> None:
    plan = sum_plan()
    detailed = operation_json(plan, operation_called(plan, "Project"))
    assert names_of(detailed) == [
        ["id", "salary", "bonus"],
        ["id", "total"],
    ]
    write = operation_json(plan, plan.write.id)
    assert names_of(write) == [["id", "total"]] * 2
    assert write["operation"]["properties"]["outputSource"] == plan.write.target
    assert write["operation"]["properties"]["append"] is False


def test_types_are_cut_to_those_used_with_those_inside_them() -> None:
    plan = PlanBuilder()
    address = plan.struct_type(city="string", zip="int")
    people = plan.read("file:/lake/people", "id: bigint", f"homes: {plan.array_type(address)}")
    plan.write(plan.project(people, "homes"))
    built = plan.build()
    detailed = operation_json(built, operation_called(built, "Project"))
    used = {item["id"] for item in detailed["dataTypes"]}
    assert "type bigint" in used, "the input's schema counts"
    write = operation_json(built, built.write.id)
    names = sorted(item["_typeHint"] for item in write["dataTypes"])
    assert names == ["dt.Array", "dt.Simple", "dt.Simple", "dt.Struct"]
    assert all(item["nullable"] is not None for item in write["dataTypes"])


def test_a_type_that_nothing_declares_becomes_a_simple_one() -> None:
    document = PlanBuilder()
    table = document.read("file:/in", "a")
    document.write(table)
    body = document.document()
    body["attributes"][0]["dataType"] = "integer"
    assert plan_json(read_plan(body))["extra"]["dataTypes"] == [
        {"_typeHint": "dt.Simple", "id": "integer", "name": "integer", "nullable": True}
    ]


def with_ids(plan: ExecutionPlan, ids: dict[str, str]) -> ExecutionPlan:
    operations = tuple(
        replace(one, id=ids[one.id], children=tuple(ids[child] for child in one.children))
        for one in plan.operations
    )
    return replace(plan, operations=operations)


@pytest.mark.parametrize("spelling", ["0", "op-0"])
def test_the_write_is_found_as_the_viewer_spells_it_unless_an_operation_has_that_id(
    spelling: str,
) -> None:
    """Spline's UI 0.7.6 makes the id of a plan's write up, by the version of the agent."""
    plan = sum_plan()
    own = {one.id: f"own-{place}" for place, one in enumerate(plan.operations)}
    found = operation_json(with_ids(plan, own), spelling)
    assert found["operation"]["_id"] == f"{plan.id}:{own[plan.write.id]}"
    own[plan.reads[0].id] = spelling
    assert operation_json(with_ids(plan, own), spelling)["operation"]["_type"] == "Read"


def test_unknown_operations_are_not_found() -> None:
    with pytest.raises(NotFound):
        operation_json(sum_plan(), "op-99")


def test_shared_expressions_do_not_explode() -> None:
    plan = PlanBuilder()
    table = plan.read("file:/in", "a: int")
    doubled = table["a"]
    for _ in range(60):  # 2**60 leaves as a tree
        doubled = plan.call("add", doubled, doubled, symbol="+", type="int")
    plan.write(plan.project(table, b=doubled))
    built = plan.build()
    tree = Trees(built).tree(doubled)
    assert 0 < _count(tree) <= MOST_NODES + 1


def test_deep_expressions_are_cut_with_their_text() -> None:
    plan = PlanBuilder()
    table = plan.read("file:/in", "a: int")
    deep = table["a"]
    for _ in range(3_000):
        deep = plan.call("negative", deep, type="int")
    plan.write(plan.project(table, b=deep))
    tree = Trees(plan.build()).tree(deep)
    json.dumps(tree)
    depth = 0
    while tree.get("children"):
        (tree,) = tree["children"]
        depth += 1
    assert depth == MOST_DEPTH
    assert tree["_typeHint"] == "expr.GenericLeaf"


def test_references_are_replaced_anywhere_in_parameters_and_plain_data_stays() -> None:
    plan = sum_plan()
    value = {"a": [{"__attrId": "attr-0"}, {"__attrId": "attr-0", "more": 1}], "b": {"c": None}}
    replaced = Trees(plan).replaced(value)
    assert replaced["a"][0]["refId"] == f"{PLAN_ID}:attr-0"
    assert replaced["a"][1] == {"__attrId": "attr-0", "more": 1}
    assert replaced["b"] == {"c": None}


def test_content_that_a_document_does_not_hold_is_a_leaf() -> None:
    trees = Trees(sum_plan())
    replaced = trees.replaced({"condition": {"__exprId": "gone"}, "other": {"__attrId": "gone"}})
    assert replaced["condition"]["_typeHint"] == "expr.UntypedExpression"
    assert replaced["other"]["refId"] == f"{PLAN_ID}:gone"


def _count(tree: dict[str, Any]) -> int:
    waiting, found = [tree], 0
    while waiting:
        node = waiting.pop()
        found += 1
        waiting += node.get("children", [])
    return found


def test_a_plan_of_thousands_of_operations_has_its_edges() -> None:
    plan = PlanBuilder()
    step = plan.read("file:/in", "a: int")
    for number in range(2_000):
        step = plan.project(step, a=plan.call("negative", step["a"], type=f"int{number % 2}"))
    plan.write(step)
    assert len(detailed_json(plan.build())["graph"]["edges"]) == 2_001


def test_a_plan_with_2000_columns_is_shown_whole() -> None:
    plan = PlanBuilder()
    wide = plan.read("file:/in", *(f"c{number}: int" for number in range(2_000)))
    step = plan.project(
        wide, **{f"d{n}": plan.call("negative", wide[f"c{n}"], type="int") for n in range(2_000)}
    )
    plan.write(step)
    built = plan.build()
    detailed = operation_json(built, operation_called(built, "Project"))
    assert [len(schema) for schema in detailed["schemas"]] == [2_000, 2_000]
    assert len(detailed["operation"]["properties"]["projectList"]) == 2_000
    assert all("alias" in tree for tree in detailed["operation"]["properties"]["projectList"])
    assert len(plan_json(built)["extra"]["attributes"]) == 4_000
