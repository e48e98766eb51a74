"""MERGE, UPDATE and DELETE from the plan's JSON, as Delta and as Spark's own rewrite tell them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import Logic, PlanDocument, read_logic
from spark_agent_config.capture.captured import CapturedQuery, Relation, Target
from spark_agent_config.capture.plan_document import execution_plan
from tests.captured_queries import APPLICATION

_CATALYST = "org.apache.spark.sql.catalyst"
_EXPRESSIONS = f"{_CATALYST}.expressions"
_LOGICAL = f"{_CATALYST}.plans.logical"

Json = list[Any]


def column(name: str, number: int) -> Json:
    fields = {"name": name, "dataType": "integer", "nullable": True, "exprId": {"id": number}}
    return [{"class": f"{_EXPRESSIONS}.AttributeReference", "num-children": 0, **fields}]


def literal(value: str, kind: str = "boolean") -> Json:
    fields = {"value": value, "dataType": kind}
    return [{"class": f"{_EXPRESSIONS}.Literal", "num-children": 0, **fields}]


def call(kind: str, *children: Json, package: str = _EXPRESSIONS, **fields: Any) -> Json:
    head = {"class": f"{package}.{kind}", "num-children": len(children), **fields}
    return [head, *(node for child in children for node in child)]


def relation(first: int, *names: str) -> Json:
    output = [column(name, first + place) for place, name in enumerate(names)]
    return call("LogicalRelation", package="org.apache.spark.sql.execution.datasources",
                relation=None, output=output)  # fmt: skip


TARGET = relation(1, "id", "pay", "unit")
SOURCE = relation(11, "key", "amount")
RELATIONS = {1: Relation(("file:/lake/target",)), 11: Relation(("file:/lake/source",))}


def logic_of(told_as: str, command: Json) -> Logic:
    target = Target("file:/lake/target", mode="Append", format="delta")
    query = CapturedQuery(told_as, json.dumps(command), target, RELATIONS)
    plan = execution_plan(query, APPLICATION)
    return read_logic(PlanDocument(read_plan(plan), "", "hash", "1.2"))


def flows(logic: Logic) -> set[tuple[str, str, str, str]]:
    """(written column, read column, where it lies, how)."""
    places = {use.dataset_id: use.dataset.uri.rpartition("/")[2] for use in logic.reads}
    return {(f.target[1], f.source[1], places[f.source[0]], f.how) for f in logic.flows}


def delta(kind: str, **fields: Any) -> Json:
    return call(kind, package="org.apache.spark.sql.delta.commands", **fields)


def clause(kind: str, condition: Json | None, **actions: Json) -> Json:
    children = [] if condition is None else [condition]
    for name, value in actions.items():
        action = call("DeltaMergeAction", value, package=_LOGICAL, targetColNameParts=f"[{name}]")
        children.append(action)
    return call(f"DeltaMergeInto{kind}Clause", *children, package=_LOGICAL)


def test_a_merge_of_delta_gives_each_column_the_values_of_its_clauses() -> None:
    condition = call("EqualTo", column("id", 1), column("key", 11))
    big = call("GreaterThan", column("amount", 12), literal("5", "integer"))
    more = call("Add", column("pay", 2), column("amount", 12))
    command = delta(
        "MergeIntoCommand",
        source=SOURCE,
        target=TARGET,
        condition=condition,
        matchedClauses=[
            clause("MatchedUpdate", big, id=column("id", 1), pay=more, unit=column("unit", 3)),
            clause("MatchedDelete", None),
        ],
        notMatchedClauses=[
            clause("NotMatchedInsert", None, id=column("key", 11), pay=column("amount", 12))
        ],
        notMatchedBySourceClauses=[],
    )

    logic = logic_of("MergeIntoCommand", command)

    assert logic.mode == "append"
    assert flows(logic) == {
        ("id", "id", "target", "IDENTITY"),
        ("id", "key", "source", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "pay", "target", "TRANSFORMATION"),
        ("pay", "amount", "source", "IDENTITY"),
        ("pay", "amount", "source", "TRANSFORMATION"),
        ("pay", "amount", "source", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }
    assert {(i.source[1], i.how) for i in logic.influences} == {
        ("id", "JOIN"),
        ("key", "JOIN"),
        ("amount", "FILTER"),  # rows that are not updated are deleted
    }
    assert logic.gaps == ()


def test_the_condition_of_a_clause_that_deletes_chooses_rows() -> None:
    old = call("GreaterThan", column("pay", 2), literal("5", "integer"))
    command = delta(
        "MergeIntoCommand",
        source=SOURCE,
        target=TARGET,
        condition=call("EqualTo", column("id", 1), column("key", 11)),
        matchedClauses=[
            clause("MatchedDelete", call("IsNull", column("amount", 12))),
            clause("MatchedUpdate", call("IsNull", column("unit", 3)), pay=column("key", 11)),
        ],
        notMatchedClauses=[],
        notMatchedBySourceClauses=[clause("NotMatchedBySourceDelete", old)],
    )
    decide = {(i.source[1], i.how) for i in logic_of("MergeIntoCommand", command).influences}
    assert decide == {("id", "JOIN"), ("key", "JOIN"), ("amount", "FILTER"), ("pay", "FILTER")}


def test_an_update_of_delta_may_hold_expressions_of_its_own_package() -> None:
    checked = call("CheckOverflowInTableWrite", call("Add", column("pay", 2), column("id", 1)),
                   package="org.apache.spark.sql.delta")  # fmt: skip
    command = delta(
        "UpdateCommand",
        target=TARGET,
        updateExpressions=[column("id", 1), checked, column("unit", 3)],
        condition=call("EqualTo", column("unit", 3), literal("7", "integer")),
    )

    logic = logic_of("UpdateCommand", command)

    assert {use.dataset.uri for use in logic.reads} == {"file:/lake/target"}
    assert flows(logic) == {
        ("id", "id", "target", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "pay", "target", "TRANSFORMATION"),
        ("pay", "id", "target", "TRANSFORMATION"),
        ("pay", "unit", "target", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }


def test_a_delete_of_delta_keeps_columns_and_says_its_condition() -> None:
    condition = call("GreaterThan", column("pay", 2), literal("5", "integer"))

    logic = logic_of("DeleteCommand", delta("DeleteCommand", target=TARGET, condition=condition))

    assert {(name, source) for name, source, _, _ in flows(logic)} == {
        (name, name) for name in ("id", "pay", "unit")
    }
    assert {(i.source[1], i.how) for i in logic.influences} == {("pay", "FILTER")}


def row_level(kind: str, query: Json) -> Json:
    return call(kind, query, package=_LOGICAL, table=TARGET, query=0)


def test_a_merge_that_spark_rewrote_is_read_from_its_instructions() -> None:
    """The table's bookkeeping (_file) is no column of the output."""
    big = call("GreaterThan", column("amount", 12), literal("5", "integer"))
    file = column("_file", 4)
    more = call("Add", column("pay", 2), column("amount", 12))

    def keep(condition: Json, *values: Json) -> Json:
        places = list(range(1, len(values) + 1))
        return call("MergeRows$Keep", condition, *values, package=_LOGICAL, condition=0,
                    output=places)  # fmt: skip

    true, none = literal("true"), literal("null")
    whole = (column("id", 1), column("pay", 2), column("unit", 3), file)
    rows = call(
        "MergeRows",
        call("Join", relation(1, "id", "pay", "unit", "_file"), SOURCE, package=_LOGICAL),
        package=_LOGICAL,
        matchedInstructions=[
            keep(big, column("id", 1), more, column("unit", 3), file),
            call("MergeRows$Discard", true, package=_LOGICAL, condition=0),
        ],
        notMatchedInstructions=[keep(true, column("key", 11), column("amount", 12), none, none)],
        notMatchedBySourceInstructions=[keep(true, *whole)],
        output=[column(name, 20 + i) for i, name in enumerate(("id", "pay", "unit", "_file"))],
    )

    logic = logic_of("MergeIntoTable", row_level("ReplaceData", rows))

    assert logic.mode == "append"
    assert logic.write.columns is not None
    assert [c.name for c in logic.write.columns] == ["id", "pay", "unit"]
    assert flows(logic) == {
        ("id", "id", "target", "IDENTITY"),
        ("id", "key", "source", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "pay", "target", "TRANSFORMATION"),
        ("pay", "amount", "source", "IDENTITY"),
        ("pay", "amount", "source", "TRANSFORMATION"),
        ("pay", "amount", "source", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }
    assert ("amount", "FILTER") in {(i.source[1], i.how) for i in logic.influences}


def test_a_row_that_is_taken_out_and_put_in_again_makes_no_column_of_the_nulls_of_the_first() -> (
    None
):
    big = call("GreaterThan", column("amount", 12), literal("5", "integer"))
    none = literal("null")
    put = (column("id", 1), column("amount", 12), column("unit", 3))
    split = call("MergeRows$Split", big, none, none, none, *put, package=_LOGICAL, condition=0,
                 output=[1, 2, 3], otherOutput=[4, 5, 6])  # fmt: skip
    rows = call(
        "MergeRows",
        call("Join", TARGET, SOURCE, package=_LOGICAL),
        package=_LOGICAL,
        matchedInstructions=[split],
        notMatchedInstructions=[],
        notMatchedBySourceInstructions=[],
        output=[column(name, 20 + i) for i, name in enumerate(("id", "pay", "unit"))],
    )
    assert flows(logic_of("MergeIntoTable", row_level("WriteDelta", rows))) == {
        ("id", "id", "target", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "amount", "source", "IDENTITY"),
        ("pay", "amount", "source", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }


@pytest.mark.parametrize("bookkeeping", [False, True], ids=["Spark 3.5", "Spark 4.1"])
def test_an_update_that_spark_rewrote_is_read_from_its_projection(bookkeeping: bool) -> None:
    small = call("EqualTo", column("unit", 3), literal("7", "integer"))

    def either(name: str, number: int, new: Json, old: Json) -> Json:
        return call("Alias", call("If", small, new, old), name=name, exprId={"id": number})

    more = call("Add", column("pay", 2), column("id", 1))
    projection = [
        either("id", 21, column("id", 1), column("id", 1)),
        either("pay", 22, more, column("pay", 2)),
        either("unit", 23, column("unit", 3), column("unit", 3)),
        column("_file", 4),
    ]
    query = call("Project", relation(1, "id", "pay", "unit", "_file"), package=_LOGICAL,
                 projectList=projection)  # fmt: skip
    if bookkeeping:
        operation = call("Alias", literal("1"), name="__row_operation", exprId={"id": 30})
        listed = [operation, column("id", 21), column("pay", 22), column("unit", 23)]
        query = call("Project", query, package=_LOGICAL, projectList=listed)

    logic = logic_of("UpdateTable", row_level("ReplaceData", query))

    assert logic.mode == "append"
    assert "UpdateTable" in {operation.name for operation in logic.operations}
    assert logic.write.columns is not None
    assert [c.name for c in logic.write.columns] == ["id", "pay", "unit"]
    assert {(to, source) for to, source, _, how in flows(logic) if how != "CONDITIONAL"} == {
        ("id", "id"),
        ("pay", "pay"),
        ("pay", "id"),
        ("unit", "unit"),
    }
    assert ("pay", "unit", "target", "CONDITIONAL") in flows(logic)
    assert ("id", "id", "target", "IDENTITY") in flows(logic)


def test_an_update_that_spark_rewrote_as_a_union_keeps_both_of_its_inputs() -> None:
    """A subquery in the condition: the changed rows, and beside them those that stay."""
    chosen = call("GreaterThan", column("unit", 3), column("amount", 12))
    own = {"id": 1, "pay": 2, "unit": 3}
    changed = [
        call("Alias", call("If", chosen, column("id" if name == "pay" else name, new),
                           column(name, number)), name=name, exprId={"id": 30 + number})
        for name, number, new in (("id", 1, 1), ("pay", 2, 1), ("unit", 3, 3))
    ]  # fmt: skip
    scan = relation(1, *own)
    joined = call("Join", scan, SOURCE, package=_LOGICAL)
    kept = call("Filter", scan, package=_LOGICAL, condition=call("Not", chosen))
    union = call("Union", call("Project", joined, package=_LOGICAL, projectList=changed), kept,
                 package=_LOGICAL)  # fmt: skip

    logic = logic_of("UpdateTable", row_level("ReplaceData", union))

    assert {use.dataset.uri for use in logic.reads} == {"file:/lake/target", "file:/lake/source"}
    assert flows(logic) == {
        ("id", "id", "target", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "id", "target", "IDENTITY"),
        ("pay", "unit", "target", "CONDITIONAL"),
        ("pay", "amount", "source", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }


def test_a_value_that_a_clause_copies_under_a_condition_is_a_copy() -> None:
    """Unlike one that a CASE of the query chooses."""
    big = call("GreaterThan", column("amount", 12), literal("5", "integer"))
    written = call("CaseWhen", big, column("key", 11))
    insert = clause("NotMatchedInsert", big, id=column("key", 11), pay=column("amount", 12),
                    unit=written)  # fmt: skip
    command = delta("MergeIntoCommand", source=SOURCE, target=TARGET, matchedClauses=[],
                    notMatchedClauses=[insert], notMatchedBySourceClauses=[])  # fmt: skip

    result = {flow for flow in flows(logic_of("MergeIntoCommand", command)) if flow[2] == "source"}

    assert {flow for flow in result if flow[3] != "CONDITIONAL"} == {
        ("id", "key", "source", "IDENTITY"),
        ("pay", "amount", "source", "IDENTITY"),
        ("unit", "key", "source", "TRANSFORMATION"),
    }
    assert {flow[0] for flow in result if flow[3] == "CONDITIONAL"} == {"id", "pay", "unit"}


def test_a_delete_that_writes_positions_only_still_has_the_tables_columns() -> None:
    query = call("Project", relation(1, "id", "pay", "unit", "_pos"), package=_LOGICAL,
                 projectList=[column("_pos", 4)])  # fmt: skip

    logic = logic_of("DeleteFromTable", row_level("WriteDelta", query))

    assert logic.mode == "append"
    assert {(name, source) for name, source, _, _ in flows(logic)} == {
        (name, name) for name in ("id", "pay", "unit")
    }


@pytest.mark.parametrize("kind", ["MergeIntoCommand", "UpdateCommand", "DeleteCommand"])
def test_a_command_without_its_parts_is_told_without_columns(kind: str) -> None:
    logic = logic_of(kind, delta(kind))

    assert logic.mode == "append"
    assert logic.flows == ()


def test_a_column_that_a_merge_adds_to_a_delta_table_comes_from_its_value_alone() -> None:
    action = call("DeltaMergeAction", column("amount", 12), package=_LOGICAL,
                  targetColNameParts="[bonus]")  # fmt: skip
    clause = call("DeltaMergeIntoNotMatchedInsertClause", action, package=_LOGICAL)
    command = call("MergeIntoCommand", package="org.apache.spark.sql.delta.commands",
                   source=SOURCE, target=TARGET, matchedClauses=[], notMatchedClauses=[clause],
                   notMatchedBySourceClauses=[])  # fmt: skip
    names = ("id", "pay", "unit", "bonus")
    fields = [{"name": name, "type": "integer", "nullable": True} for name in names]
    target = Target("file:/lake/target", mode="Append", format="delta")
    query = CapturedQuery(
        "MergeIntoCommand", json.dumps(command), target, RELATIONS,
        schema=json.dumps({"type": "struct", "fields": fields}),
    )  # fmt: skip

    logic = read_logic(
        PlanDocument(read_plan(execution_plan(query, APPLICATION)), "", "hash", "1.2")
    )

    assert {flow[:3] for flow in flows(logic) if flow[0] == "bonus"} == {
        ("bonus", "amount", "source")
    }


# --- Hudi: the statement as it was analysed --------------------------------------------------


def hudi(kind: str, field: str, statement: Json) -> Json:
    package = "org.apache.spark.sql.hudi.command"
    return call(f"{kind}HoodieTableCommand", package=package, **{field: statement})


def assignment(name: str, number: int, value: Json) -> Json:
    return call("Assignment", column(name, number), value, package=_LOGICAL, key=0, value=1)


HUDI_TARGET = call("LogicalRelation", package="org.apache.spark.sql.execution.datasources",
                   relation=None, output=[column("_hoodie_commit_time", 9),
                   *(column(name, n) for n, name in enumerate(("id", "pay", "unit"), start=1))],
                   )  # fmt: skip


def test_an_update_of_hudi_sets_the_columns_that_it_names() -> None:
    more = call("Add", column("pay", 2), column("id", 1))
    condition = call("EqualTo", column("unit", 3), literal("7", "integer"))
    statement = call("UpdateTable", HUDI_TARGET, package=_LOGICAL, condition=condition,
                     assignments=[assignment("pay", 2, more)])  # fmt: skip

    logic = logic_of("UpdateTable", hudi("Update", "ut", statement))

    assert logic.mode == "append"
    assert flows(logic) == {
        ("id", "id", "target", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "pay", "target", "TRANSFORMATION"),
        ("pay", "id", "target", "TRANSFORMATION"),
        ("pay", "unit", "target", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }


def test_a_merge_of_hudi_is_read_from_its_actions() -> None:
    big = call("GreaterThan", column("amount", 12), literal("5", "integer"))
    update = call("UpdateAction", big, assignment("pay", 2, column("amount", 12)),
                  package=_LOGICAL, condition=big, assignments=[1])  # fmt: skip
    insert = call("InsertAction", assignment("id", 1, column("key", 11)),
                  package=_LOGICAL, assignments=[0])  # fmt: skip
    condition = call("EqualTo", column("id", 1), column("key", 11))
    statement = call("MergeIntoTable", HUDI_TARGET, SOURCE, package=_LOGICAL,
                     matchedActions=[update], notMatchedActions=[insert],
                     mergeCondition=condition)  # fmt: skip

    logic = logic_of("MergeIntoTable", hudi("MergeInto", "mergeInto", statement))

    assert flows(logic) == {
        ("id", "id", "target", "IDENTITY"),
        ("id", "key", "source", "IDENTITY"),
        ("pay", "pay", "target", "IDENTITY"),
        ("pay", "amount", "source", "IDENTITY"),
        ("pay", "amount", "source", "CONDITIONAL"),
        ("unit", "unit", "target", "IDENTITY"),
    }
    assert {(i.source[1], i.how) for i in logic.influences} == {("id", "JOIN"), ("key", "JOIN")}


def test_a_delete_of_hudi_keeps_columns_and_says_its_condition() -> None:
    condition = call("GreaterThan", column("pay", 2), literal("5", "integer"))
    statement = call("DeleteFromTable", HUDI_TARGET, package=_LOGICAL, condition=condition)

    logic = logic_of("DeleteFromTable", hudi("Delete", "dft", statement))

    assert {flow[:2] for flow in flows(logic)} == {(name, name) for name in ("id", "pay", "unit")}
    assert {(i.source[1], i.how) for i in logic.influences} == {("pay", "FILTER")}
