"""The view of one plan in Spline's viewers: ids, expression trees, columns inside the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from graph_model.answers.consumer.plan_documents import AttributeGraph, PlanAttributes
from graph_model.answers.consumer.plans import (
    MOST_DEPTH,
    MOST_NODES,
    EventId,
    Trees,
    base36,
    detailed_operation,
    detailed_plan,
    event_id,
    known_id,
    local_id,
    plan_info,
    read_event_id,
    split_local_id,
)
from graph_model.errors import NotFound
from graph_model.producers.spline.documents import ExecutionPlan, read_plan
from graph_model.values import plain
from tests.builders import PLAN_ID, PlanBuilder
from tests.captures import plans

EVENT = f"{PLAN_ID}:kf12oi"


# --- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (35, "z"), (36, "10"), (1234567890, "kf12oi")]
)
def test_times_are_spelled_in_base_36(number: int, text: str) -> None:
    assert base36(number) == text
    assert event_id(PLAN_ID, number) == f"{PLAN_ID}:{text}"
    assert read_event_id(f"{PLAN_ID}:{text}") == EventId(PLAN_ID, number, None)


def test_an_event_that_shares_its_time_is_told_apart() -> None:
    text = event_id(PLAN_ID, 1234567890, "ex_00ff")
    assert text == f"{EVENT}-ex_00ff"
    assert read_event_id(text) == EventId(PLAN_ID, 1234567890, "ex_00ff")


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


def sum_plan() -> ExecutionPlan:
    """SELECT id, salary + bonus AS total FROM employees WHERE salary > 10."""
    plan = PlanBuilder()
    employees = plan.read("file:/lake/employees", "id: int", "salary: int", "bonus: int")
    wanted = plan.call(
        "greaterthan", employees["salary"], plan.literal(10), symbol=">", type="boolean"
    )
    kept = plan.filter(employees, wanted)
    total = plan.call("add", kept["salary"], kept["bonus"], symbol="+", type="int")
    plan.write(plan.project(kept, "id", total=total))
    return plan.build()


def named(graph: AttributeGraph) -> tuple[list[str], set[tuple[str, str]]]:
    names = {node.attribute: node.name for node in graph.nodes}
    return [node.name for node in graph.nodes], {(names[a], names[b]) for a, b in graph.edges}


def operation_called(plan: ExecutionPlan, name: str) -> str:
    return next(operation.id for operation in plan.operations if operation.name == name)


def test_a_condition_is_shown_as_a_tree() -> None:
    plan = sum_plan()
    detailed = detailed_operation(plan, operation_called(plan, "Filter"))
    (column, literal) = detailed.operation.properties["condition"]["children"]
    assert detailed.operation.properties["condition"] | {"children": []} == {
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
    detailed = detailed_operation(plan, operation_called(plan, "Project"))
    passing, alias = detailed.operation.properties["projectList"]
    assert passing["_typeHint"] == "expr.AttrRef"
    assert (alias["_typeHint"], alias["alias"], alias["child"]["symbol"]) == (
        "expr.Alias",
        "total",
        "+",
    )
    assert "children" not in alias


def test_schemas_are_those_of_the_inputs_and_then_the_operations_own() -> None:
    plan = sum_plan()
    detailed = detailed_operation(plan, operation_called(plan, "Project"))
    assert [[a.name for a in schema] for schema in detailed.schemas] == [
        ["id", "salary", "bonus"],
        ["id", "total"],
    ]
    write = detailed_operation(plan, plan.write.id)
    assert [[a.name for a in schema] for schema in write.schemas] == [["id", "total"]] * 2
    assert write.operation.properties["outputSource"] == plan.write.target
    assert write.operation.properties["append"] is False


def test_types_are_cut_to_those_used_with_those_inside_them() -> None:
    plan = PlanBuilder()
    address = plan.struct_type(city="string", zip="int")
    people = plan.read("file:/lake/people", "id: bigint", f"homes: {plan.array_type(address)}")
    plan.write(plan.project(people, "homes"))
    built = plan.build()
    detailed = detailed_operation(built, operation_called(built, "Project"))
    used = {item["id"] for item in detailed.data_types}
    assert "type bigint" in used, "the input's schema counts"
    write = detailed_operation(built, built.write.id)
    names = sorted(item["_typeHint"] for item in write.data_types)
    assert names == ["dt.Array", "dt.Simple", "dt.Simple", "dt.Struct"]
    assert all(item["nullable"] is not None for item in write.data_types)


def test_a_type_that_nothing_declares_becomes_a_simple_one() -> None:
    document = PlanBuilder()
    table = document.read("file:/in", "a")
    document.write(table)
    body = document.document()
    body["attributes"][0]["dataType"] = "integer"
    info = plan_info(read_plan(body))
    assert info.extra["dataTypes"] == [
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
    found = detailed_operation(with_ids(plan, own), spelling)
    assert found.operation.id == f"{plan.id}:{own[plan.write.id]}"
    own[plan.reads[0].id] = spelling
    assert detailed_operation(with_ids(plan, own), spelling).operation.type == "Read"


def test_unknown_operations_are_not_found() -> None:
    with pytest.raises(NotFound):
        detailed_operation(sum_plan(), "op-99")


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


# --- columns inside a plan -----------------------------------------------------------------------


def test_a_column_comes_from_the_columns_that_its_expression_takes() -> None:
    plan = sum_plan()
    attributes = PlanAttributes(plan)
    total = plan.operations[-2].output
    assert total is not None
    names, edges = named(attributes.lineage(total[1]))
    assert names == ["salary", "bonus", "total"], "the column asked for is last"
    assert edges == {("total", "salary"), ("total", "bonus")}
    assert named(attributes.impact(total[1])) == (["total"], set())


def test_impact_begins_with_the_column_and_ends_edges_at_it() -> None:
    attributes = PlanAttributes(sum_plan())
    names, edges = named(attributes.impact("attr-1"))
    assert names == ["salary", "total"]
    assert edges == {("total", "salary")}


def test_a_column_knows_where_it_appears_and_which_operations_it_passes_through() -> None:
    plan = sum_plan()
    attributes = PlanAttributes(plan)
    read, kept = (operation_called(plan, name) for name in ("LogicalRelation", "Filter"))
    (salary, _, total) = attributes.lineage(plan.operations[-2].output[1]).nodes  # type: ignore[index]
    assert (salary.origin, salary.passed) == (read, (kept,))
    assert (total.origin, total.passed) == (operation_called(plan, "Project"), ())
    (identifier,) = attributes.impact("attr-0").nodes
    assert identifier.origin == read
    assert set(identifier.passed) == {o.id for o in plan.operations} - {read}


def test_the_captured_aggregate_as_its_query_says() -> None:
    """avg(total_comp) AS avg_comp … GROUP BY dept, manager: worked out by hand."""
    (document,) = plans("a3_agg")
    plan = read_plan(document)
    attributes = PlanAttributes(plan)
    key = {plan.attributes[key].name: key for key in attributes.emitted}
    assert named(attributes.lineage(key["avg_comp"]))[1] == {("avg_comp", "total_comp")}
    assert named(attributes.impact(key["total_comp"]))[1] == {("avg_comp", "total_comp")}
    assert named(attributes.lineage(key["n"]))[1] == set(), "count(*) comes from no column"


def test_a_chain_of_thousands_of_operations_is_walked() -> None:
    plan = PlanBuilder()
    step = plan.read("file:/in", "a: int")
    for number in range(2_000):
        step = plan.project(step, a=plan.call("negative", step["a"], type=f"int{number % 2}"))
    plan.write(step)
    built = plan.build()
    attributes = PlanAttributes(built)
    last = built.operations[-2].output
    assert last is not None
    lineage, impact = attributes.lineage(last[0]), attributes.impact("attr-0")
    assert len(lineage.nodes) == len(impact.nodes) == 2_001
    assert len(lineage.edges) == len(impact.edges) == 2_000
    assert len(detailed_plan(built).edges) == 2_001


def test_a_plan_with_2000_columns_is_shown_whole() -> None:
    plan = PlanBuilder()
    wide = plan.read("file:/in", *(f"c{number}: int" for number in range(2_000)))
    step = plan.project(
        wide, **{f"d{n}": plan.call("negative", wide[f"c{n}"], type="int") for n in range(2_000)}
    )
    plan.write(step)
    built = plan.build()
    detailed = detailed_operation(built, operation_called(built, "Project"))
    assert [len(schema) for schema in detailed.schemas] == [2_000, 2_000]
    assert len(detailed.operation.properties["projectList"]) == 2_000
    assert all("alias" in tree for tree in detailed.operation.properties["projectList"])
    assert len(plan_info(built).extra["attributes"]) == 4_000
    names, edges = named(PlanAttributes(built).impact(wide["c7"].id))
    assert (names, edges) == (["c7", "d7"], {("d7", "c7")})
