"""Spark's analyzed plan => a Spline plan, on recordings and on plans made for the purpose."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from graph_model import labels
from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument, read_logic
from spark_agent_config.capture import plan_tree
from spark_agent_config.capture.captured import (
    CapturedQuery,
    EarlierQuery,
    Relation,
    Table,
    TableVersion,
    Target,
)
from spark_agent_config.capture.plan_document import execution_event, execution_plan
from spark_agent_config.capture.plan_expressions import DataTypes
from tests import captures
from tests.captured_queries import APPLICATION, load_query, recorded_queries
from tests.plan_reader import condition_columns, operations, origins, outline, sources

EMPLOYEES = "file:/lake/data/curated/employees"
ATTENDANCE = "file:/lake/data/raw/attendance/att.csv"
LOGICAL = "org.apache.spark.sql.catalyst.plans.logical"
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"


def plan_of(name: str) -> dict[str, Any]:
    return execution_plan(load_query(name), APPLICATION)


def test_each_type_is_written_down_once_behind_those_of_its_elements_and_fields() -> None:
    types = DataTypes()
    array = {"type": "array", "elementType": "long", "containsNull": True}
    fields = [{"name": "a", "type": array, "nullable": False}]
    struct = types.add({"type": "struct", "fields": fields}, True)
    element, field, of_struct = types.as_list()
    assert (element["name"], element["nullable"]) == ("bigint", True)
    assert field["elementDataTypeId"] == element["id"]
    assert [each["dataTypeId"] for each in of_struct["fields"]] == [field["id"]]
    assert of_struct["id"] == struct

    assert [types.add("long", True), types.add(array, False)] == [element["id"], field["id"]]
    assert types.add("long", False) not in (element["id"], field["id"], struct)
    assert len(types.as_list()) == 4


# --- recordings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a2_managers", "c_union", "c_window", "c_explode", "c_cte_twice", "c_rollup"]
)
def test_a_recorded_plan_reads_like_the_stock_agents(name: str) -> None:
    assert outline(plan_of(name), "/none") == outline(captures.plans(name)[0], "/none")


@pytest.mark.parametrize(
    "name", ["a2_managers", "c_union", "c_window", "c_explode", "c_cte_twice", "c_rollup"]
)
def test_a_recorded_plan_is_the_same_logic_as_the_stock_agents(name: str) -> None:
    """Equal fingerprints: a job that both report is one logical plan in the graph."""

    def logic(document: Any) -> Any:
        return read_logic(PlanDocument(read_plan(document), "", "", "1.2"))

    assert logic(plan_of(name)) == logic(captures.plans(name)[0])


def test_every_recording_is_accepted_whole_by_the_reader() -> None:
    assert len(recorded_queries()) >= 8
    for name in recorded_queries():
        document = plan_of(name)
        assert len(read_plan(document).operations) == len(operations(document)), name


def test_references_of_a_recording_are_all_declared() -> None:
    for name in recorded_queries():
        document = plan_of(name)
        declared = {item["id"] for item in document["attributes"]}
        for part in document["expressions"].values():
            declared |= {item["id"] for item in part}
        used = set(re.findall(r'"__(?:attr|expr)Id": "([^"]+)"', json.dumps(document)))
        assert used <= declared, name


def test_a_column_under_a_subquery_arrives_through_the_expression_that_holds_it() -> None:
    document = plan_of("subqueries")

    assert sources(document) == {EMPLOYEES, ATTENDANCE}
    assert origins(document) == {
        "emp_id": {f"{EMPLOYEES}#emp_id"},
        "share": {f"{EMPLOYEES}#salary", f"{ATTENDANCE}#hours"},
    }


def test_the_top_of_a_subquery_is_one_more_child_of_its_holder() -> None:
    listed = operations(plan_of("subqueries"))
    project, outer_filter = (listed[key] for key in ("op-1", listed["op-1"]["childIds"][0]))

    assert (project["name"], len(project["childIds"])) == ("Project", 2)
    assert (outer_filter["name"], len(outer_filter["childIds"])) == ("Filter", 3)


def test_a_condition_of_a_correlated_subquery_knows_the_outer_column() -> None:
    document = plan_of("subqueries")
    conditions = [
        condition_columns(document, operation)
        for operation in operations(document).values()
        if operation["name"] == "Filter"
    ]

    assert {f"{EMPLOYEES}#manager_id", f"{EMPLOYEES}#emp_id"} in conditions


def test_both_uses_of_a_cte_lead_to_its_definition() -> None:
    document = plan_of("c_cte_twice")

    assert origins(document) == {
        "dept": {f"{EMPLOYEES}#dept"},
        "av": {f"{EMPLOYEES}#salary"},
        "av2": {f"{EMPLOYEES}#salary"},
    }
    numbers = [o["params"]["cteId"] for o in operations(document).values() if "Ref" in o["name"]]
    assert numbers == [0, 0]


def with_cte(*definitions: list[dict[str, Any]], query: list[dict[str, Any]]) -> CapturedQuery:
    nodes = [
        [{"class": f"{LOGICAL}.CTERelationDef", "num-children": 1, "id": n, "child": 0}, *nodes]
        for n, nodes in enumerate(definitions)
    ]
    top = {"class": f"{LOGICAL}.WithCTE", "num-children": len(nodes) + 1, "cteDefs": []}
    return query_over(top, *(node for listed in nodes for node in listed), *query)


def reference(definition: int, *columns: dict[str, Any]) -> dict[str, Any]:
    output = [[item] for item in columns]
    kind = f"{LOGICAL}.CTERelationRef"
    return {"class": kind, "num-children": 0, "cteId": definition, "output": output}


def test_a_cte_that_nothing_reads_adds_no_source() -> None:
    query = with_cte(
        [project([column(1, "a")]), relation(column(1, "a"))],
        [relation(column(2, "b"))],
        [reference(0, column(3, "a"))],
        query=[project([column(4, "a")]), reference(2, column(4, "a"))],
    )
    relations = {n: Relation((f"file:/in{n}",), "parquet", {}) for n in (1, 2)}

    document = execution_plan(replace(query, relations=relations), APPLICATION)

    assert [read["inputSources"] for read in document["operations"]["reads"]] == [["file:/in1"]]
    assert origins(document) == {"a": {"file:/in1#a"}}


def rows_of_rdd(*listed: dict[str, Any]) -> dict[str, Any]:
    kind = "org.apache.spark.sql.execution.LogicalRDD"
    return {"class": kind, "num-children": 0, "output": [[item] for item in listed]}


def test_columns_go_through_a_checkpoint_to_its_query_whatever_ids_recur_there() -> None:
    """The checkpoint of a read has the ids of the read itself, and is joined with itself."""
    read = [column(1, "a"), column(2, "b")]
    again = [column(11, "a"), column(12, "b")]
    origin = EarlierQuery(
        json.dumps([project([read[0]], [read[1]]), relation(*read)]),
        {1: Relation(("file:/in",), "parquet", version=TableVersion("4", 4))},
        1,
    )
    cut = Relation(("file:/in",), node="CheckpointRDD", origin=origin)
    query = query_over(
        project([read[0]], [again[1]]), *join([rows_of_rdd(*read)], [rows_of_rdd(*again)])
    )
    query = replace(query, relations={1: cut, 11: cut})

    document = execution_plan(query, APPLICATION)

    assert origins(document) == {"a": {"file:/in#a"}, "b": {"file:/in#b"}}
    assert read_logic(PlanDocument(read_plan(document), "", "", "1.2")).gaps == ()
    versions = execution_event(query, document["id"], APPLICATION)["extra"]["readVersions"]
    assert {version["id"] for version in versions} == {"4"}


def test_a_version_is_listed_for_each_leaf_that_read_it() -> None:
    read = Relation(("file:/in",), "iceberg", version=TableVersion("4", 4, "audit"), leaves=2)
    query = CapturedQuery("UpdateTable", "", Target("file:/in", "Append"), {1: read})

    event = execution_event(query, "p", APPLICATION)

    listed = {"source": "file:/in", "id": "4", "number": 4, "branch": "audit"}
    assert event["extra"]["readVersions"] == [listed, listed]


def test_a_checkpoint_whose_plan_is_too_large_is_a_read_with_a_gap() -> None:
    cut = Relation(("file:/in",), node="CheckpointRDD", origin=EarlierQuery("", {}, 1))
    query = query_over(project([column(1, "a")]), rows_of_rdd(column(1, "a")))

    document = execution_plan(replace(query, relations={1: cut}), APPLICATION)

    assert sources(document) == {"file:/in"}
    (gap,) = read_logic(PlanDocument(read_plan(document), "", "", "1.2")).gaps
    assert gap[0] == "opaque-rdd"


def loop(*numbers: int, anchor: list[Any], step: list[Any]) -> list[dict[str, Any]]:
    ids = [{"product-class": f"{EXPRESSIONS}.ExprId", "id": number} for number in numbers]
    kind = f"{LOGICAL}.UnionLoop"
    node = {"class": kind, "num-children": 2, "id": 7, "anchor": 0, "recursion": 1}
    return [node | {"outputAttrIds": ids}, *anchor, *step]


def join(left: list[Any], right: list[Any]) -> list[dict[str, Any]]:
    top = {"class": f"{LOGICAL}.Join", "num-children": 2, "left": 0, "right": 1}
    inner = {"joinType": {"object": "org.apache.spark.sql.catalyst.plans.Inner$"}}
    return [top | inner, *left, *right]


def itself(*columns: dict[str, Any]) -> dict[str, Any]:
    output = [[item] for item in columns]
    return {"class": f"{LOGICAL}.UnionLoopRef", "num-children": 0, "loopId": 7, "output": output}


def test_columns_of_a_recursive_cte_come_from_both_branches_after_any_number_of_rounds() -> None:
    """Each round hands a to b, b to c, and puts a new one into a: three rounds later it is in c."""
    start = [column(n, name) for n, name in ((1, "a0"), (2, "b0"), (3, "c0"), (4, "d0"))]
    inside = [column(n, name) for n, name in ((11, "a"), (12, "b"), (13, "c"), (14, "d"))]
    outside = [column(n, name) for n, name in ((21, "a"), (22, "b"), (23, "c"), (24, "d"))]
    used = [column(n, name) for n, name in ((31, "a"), (32, "b"), (33, "c"), (34, "d"))]
    new = column(5, "new")
    step = project([new], [inside[0]], [inside[1]], [inside[3]])
    looped = loop(
        21, 22, 23, 24,
        anchor=[relation(*start)],
        step=[step, *join([itself(*inside)], [relation(new)])],
    )  # fmt: skip
    named = project(*([item] for item in outside))
    query = with_cte([named, *looped], query=[project([used[2]]), reference(0, *used)])
    relations = {n: Relation((f"file:/in{n}",), "parquet", {}) for n in (1, 5)}

    document = execution_plan(replace(query, relations=relations), APPLICATION)

    three = {"file:/in1#a0", "file:/in1#b0", "file:/in1#c0", "file:/in5#new"}
    assert origins(document) == {"c": three}
    logic = read_logic(PlanDocument(read_plan(document), "", "", "1.2"))
    assert {flow.source[1] for flow in logic.flows} == {"a0", "b0", "c0", "new"}
    assert logic.gaps == ()
    assert "loopId" not in json.dumps(document), "Spark counts loops per session"


def test_a_column_that_no_round_changes_comes_from_the_first_branch_alone() -> None:
    start, inside = column(1, "a"), column(11, "a")
    looped = loop(21, anchor=[relation(start)], step=[project([inside]), itself(inside)])
    query = with_cte(looped, query=[project([column(31, "a")]), reference(0, column(31, "a"))])
    document = execution_plan(
        replace(query, relations={1: Relation(("file:/in1",), "parquet", {})}), APPLICATION
    )

    assert origins(document) == {"a": {"file:/in1#a"}}


def test_the_condition_of_a_lateral_join_sees_the_columns_of_its_subquery() -> None:
    """``FROM a LEFT JOIN LATERAL (SELECT b AS m FROM t) ON m > a``."""
    made = column(9, "m")
    subquery = [project(alias(9, "m", column(11, "b"))), relation(column(11, "b"))]
    lateral = [node("LateralSubquery", 0, plan=subquery, outerAttrs=[], joinCond=[])]
    joined = {
        "class": f"{LOGICAL}.LateralJoin", "num-children": 1, "left": 0, "right": lateral,
        "joinType": {"object": "org.apache.spark.sql.catalyst.plans.LeftOuter$"},
        "condition": [node("GreaterThan", 2), made, column(1, "a")],
    }  # fmt: skip
    query = query_over(project([made]), joined, relation(column(1, "a")))
    reads = {n: Relation((f"file:/in{n}",), "parquet", {}) for n in (1, 11)}

    document = execution_plan(replace(query, relations=reads), APPLICATION)

    assert origins(document) == {"m": {"file:/in11#b"}}
    (join_,) = (o for o in operations(document).values() if o["name"] == "LateralJoin")
    assert condition_columns(document, join_) >= {"file:/in1#a", "file:/in11#b"}
    assert read_logic(PlanDocument(read_plan(document), "", "", "1.2")).gaps == ()


def test_a_number_that_spark_attaches_to_each_row_is_made_of_no_column() -> None:
    """``zipWithIndex``, and the index of pandas on Spark."""
    number, read = column(9, "distributed_sequence_id"), column(1, "a")
    attached = {"class": f"{LOGICAL}.AttachDistributedSequence", "num-children": 1, "child": 0}
    query = query_over(
        project([read], alias(10, "i", number)),
        attached | {"sequenceAttr": [number]},
        relation(read),
    )
    document = execution_plan(query, APPLICATION)

    assert origins(document) == {"a": {"file:/in#a"}, "i": set()}
    assert read_logic(PlanDocument(read_plan(document), "", "", "1.2")).gaps == ()


def test_rows_that_spark_computed_before_the_write_are_a_gap() -> None:
    output = [[column(1, "key")], [column(2, "x")]]
    transposed = {"class": f"{LOGICAL}.Transpose", "num-children": 0, "output": output, "data": []}
    document = execution_plan(query_over(transposed), APPLICATION)

    logic = read_logic(PlanDocument(read_plan(document), "", "", "1.2"))
    assert [code for code, _ in logic.gaps] == ["opaque-operation"]
    assert "Transpose" in logic.gaps[0][1]


def test_a_struct_without_fields_is_a_type() -> None:
    empty = column(1, "a") | {"dataType": []}
    document = execution_plan(query_over(project([empty]), relation(empty)), APPLICATION)

    (kind,) = document["extraInfo"]["dataTypes"]
    assert (kind["_typeHint"], kind["fields"]) == ("dt.Struct", [])
    assert len(read_plan(document).operations) == 3


@pytest.mark.parametrize("plan", ["", "{", "[]", '[{"class": "x", "num-children": 7}]', "[1]"])
def test_a_plan_that_cannot_be_read_is_told_by_its_tables(plan: str) -> None:
    unread = replace(query_over(relation(column(1, "a"))), plan=plan)
    document = execution_plan(unread, APPLICATION)
    logic = read_logic(PlanDocument(read_plan(document), "", "", "1.2"))

    assert [use.dataset.uri for use in logic.reads] == ["file:/in"]
    assert logic.write.dataset.uri == "file:/out"
    assert [code for code, _ in logic.gaps if code == "unread-plan"] == ["unread-plan"]
    assert execution_plan(unread, APPLICATION)["id"] == document["id"]


def test_grouping_columns_of_a_rollup_lead_through_its_projections() -> None:
    assert origins(plan_of("c_rollup")) == {
        "dept": {f"{EMPLOYEES}#dept"},
        "manager_id": {f"{EMPLOYEES}#manager_id"},
        "s": {f"{EMPLOYEES}#salary"},
    }


def test_a_view_is_named_without_the_time_it_was_made_at() -> None:
    views = [o for o in operations(plan_of("subqueries")).values() if o["name"] == "View"]

    described = [view["params"]["desc"] for view in views]
    assert len(described) == 4
    assert {frozenset(item) for item in described} == {frozenset({"identifier"})}
    assert {item["identifier"]["table"] for item in described} == {"e", "a"}


@pytest.mark.parametrize("name", recorded_queries())
def test_the_ids_of_a_session_do_not_change_the_plan_id(name: str) -> None:
    """Spark numbers expressions and CTEs anew in every session."""
    query = load_query(name)

    def later(match: re.Match[str]) -> str:
        return f"{match[1]}{int(match[2]) + 5_000}"

    plan = re.sub(r'("product-class": "[\w.]+ExprId", "id": )(\d+)', later, query.plan)
    plan = re.sub(r'("(?:cteId|id)": )(\d+)(?=, "(?:_res|under))', later, plan)
    relations = {number + 5_000: item for number, item in query.relations.items()}
    again = replace(query, plan=plan, relations=relations)

    assert plan != query.plan
    assert execution_plan(again, APPLICATION)["id"] == plan_of(name)["id"]


# --- the write ---------------------------------------------------------------------------------


def written(target: Target, command: str = "InsertIntoHadoopFsRelationCommand") -> dict[str, Any]:
    query = replace(load_query("c_union"), target=target, command=command)
    write: dict[str, Any] = execution_plan(query, APPLICATION)["operations"]["write"]
    return write


def test_a_write_says_how_and_where() -> None:
    write = written(
        Target(
            uri="s3://lake/t",
            mode="Append",
            format="parquet",
            options={"path": "s3://lake/t", "__hidden": "x"},
            partition_columns=("dt", "site"),
            static_partitions={"dt": "2026-01-01"},
            dynamic_partition_overwrite=True,
        )
    )

    assert (write["outputSource"], write["append"]) == ("s3://lake/t", True)
    assert write["params"] == {"path": "s3://lake/t"}
    assert write["extra"] == {
        "destinationType": "parquet",
        "saveMode": "Append",
        "partitionColumns": ["dt", "site"],
        "staticPartitions": {"dt": "2026-01-01"},
        "dynamicPartitionOverwrite": True,
    }


def test_only_append_appends() -> None:
    for mode in ("Overwrite", "ErrorIfExists", "Ignore", ""):
        assert written(Target("file:/t", mode=mode))["append"] is False, mode


def test_a_table_is_named_as_the_stock_agent_names_it() -> None:
    table = Table("t", "hr", "file:/warehouse/hr.db/t")
    write = written(Target("file:/warehouse/hr.db/t", table=table))

    assert write["params"]["table"] == {
        "identifier": {"table": "t", "database": "hr"},
        "storage": "Storage(Location: file:/warehouse/hr.db/t)",
    }


def test_a_command_without_a_query_is_a_plan_without_children() -> None:
    plan = [{"class": "org.apache.spark.sql.execution.command.DropTableCommand", "num-children": 0}]
    query = CapturedQuery("DropTableCommand", json.dumps(plan), Target("file:/warehouse/t"))

    document = execution_plan(query, APPLICATION)

    assert document["operations"] == {
        "write": {
            "id": "op-0",
            "name": "DropTableCommand",
            "outputSource": "file:/warehouse/t",
            "append": False,
            "childIds": [],
            "extra": {"destinationType": None},
        }
    }
    assert read_plan(document).write.target == "file:/warehouse/t"


def test_secrets_stay_on_the_driver() -> None:
    query = load_query("c_union")
    number = next(iter(query.relations))
    secret = Relation(
        ("jdbc:postgresql://reader:hush@db/hr?password=hush:emp",),
        "jdbc",
        {"password": "hush", "awsSecretAccessKey": "hush", "url": "jdbc:x://a:hush@b", "user": "r"},
    )
    target = Target("jdbc:sqlserver://db;user=a;password=hush;:emp", options={"sfPassword": "hush"})
    query = replace(query, relations={**query.relations, number: secret}, target=target)
    query = replace(query, error="cannot reach //reader:hush@db")

    document = execution_plan(query, APPLICATION)
    event = execution_event(query, document["id"], APPLICATION)

    assert "hush" not in json.dumps([document, event])
    assert "jdbc:postgresql://*****@db/hr?password=*****:emp" in json.dumps(document)


# --- plans made for the purpose ----------------------------------------------------------------


def column(number: int, name: str) -> dict[str, Any]:
    return {
        "class": f"{EXPRESSIONS}.AttributeReference",
        "num-children": 0,
        "name": name,
        "dataType": "integer",
        "nullable": True,
        "metadata": {},
        "exprId": {"product-class": f"{EXPRESSIONS}.ExprId", "id": number, "jvmId": "j"},
        "qualifier": [],
    }


def alias(number: int, name: str, *below: dict[str, Any]) -> list[dict[str, Any]]:
    node = {
        "class": f"{EXPRESSIONS}.Alias",
        "num-children": 1,
        "child": 0,
        "name": name,
        "exprId": {"product-class": f"{EXPRESSIONS}.ExprId", "id": number, "jvmId": "j"},
    }
    return [node, *below]


def relation(*columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "class": "org.apache.spark.sql.execution.datasources.LogicalRelation",
        "num-children": 0,
        "relation": None,
        "output": [[item] for item in columns],
        "isStreaming": False,
    }


def project(*expressions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "class": f"{LOGICAL}.Project",
        "num-children": 1,
        "projectList": list(expressions),
        "child": 0,
    }


def query_over(*nodes: dict[str, Any]) -> CapturedQuery:
    command = {
        "class": "org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand",
        "num-children": 1,
        "query": 0,
    }
    return CapturedQuery(
        command="InsertIntoHadoopFsRelationCommand",
        plan=json.dumps([command, *nodes]),
        target=Target("file:/out"),
        relations={1: Relation(("file:/in",), "parquet", {})},
    )


def test_a_plan_of_thousands_of_operators_is_no_deeper_than_one() -> None:
    depth = 5_000
    nodes = [project([column(1, "a")]) for _ in range(depth)]

    document = execution_plan(query_over(*nodes, relation(column(1, "a"))), APPLICATION)

    assert len(operations(document)) == depth + 2
    assert origins(document) == {"a": {"file:/in#a"}}


def test_an_expression_of_thousands_of_operators_is_no_deeper_than_one() -> None:
    depth = 5_000
    negation = {"class": f"{EXPRESSIONS}.UnaryMinus", "num-children": 1, "child": 0}
    tree = alias(2, "b", *([negation] * depth), column(1, "a"))

    document = execution_plan(query_over(project(tree), relation(column(1, "a"))), APPLICATION)

    assert len(document["expressions"]["functions"]) == depth + 1
    assert origins(document) == {"b": {"file:/in#a"}}


def test_branches_of_a_union_may_share_their_ids() -> None:
    """``frame.union(frame)`` has the same expression ids on both sides, and above."""
    union = {"class": f"{LOGICAL}.Union", "num-children": 2, "children": [0, 1]}
    top = project(alias(2, "b", column(1, "a")))
    side = relation(column(1, "a"))

    document = execution_plan(query_over(top, union, side, side), APPLICATION)

    (function,) = [f for f in document["expressions"]["functions"] if f["name"] == "union"]
    assert len({ref["__attrId"] for ref in function["childRefs"]}) == 2
    synthetic = [item for item in document["attributes"] if item.get("extra")]
    assert [item["name"] for item in synthetic] == ["a"]
    assert origins(document) == {"b": {"file:/in#a"}}


def test_another_spelling_of_a_column_is_the_name_that_is_written() -> None:
    """``select("emp_id")`` finds EMP_ID and calls it emp_id from there on."""
    top = project([column(1, "emp_id")])

    document = execution_plan(query_over(top, relation(column(1, "EMP_ID"))), APPLICATION)

    assert origins(document) == {"emp_id": {"file:/in#EMP_ID"}}


def test_an_operator_that_nobody_knows_passes_its_columns_on() -> None:
    novel = {"class": f"{LOGICAL}.Novelty", "num-children": 1, "child": 0, "rate": 0.5}

    document = execution_plan(query_over(novel, relation(column(1, "a"))), APPLICATION)

    assert origins(document) == {"a": {"file:/in#a"}}
    assert operations(document)["op-1"]["params"] == {"rate": 0.5}


def test_a_hive_table_has_its_partition_columns_behind_the_others() -> None:
    leaf = {
        "class": "org.apache.spark.sql.catalyst.catalog.HiveTableRelation",
        "num-children": 0,
        "tableMeta": {},
        "dataCols": [[column(1, "a")]],
        "partitionCols": [[column(2, "p")]],
    }

    document = execution_plan(query_over(leaf), APPLICATION)

    assert origins(document) == {"a": {"file:/in#a"}, "p": {"file:/in#p"}}
    (read,) = document["operations"]["reads"]
    assert "params" not in read


@pytest.mark.parametrize(
    ("kind", "field"),
    [("MapInPandas", "output"), ("TransformWithStateInPySpark", "outputAttrs")],
)
def test_output_of_a_function_over_rows_is_made_of_all_its_inputs(kind: str, field: str) -> None:
    function = {
        "class": f"{EXPRESSIONS}.PythonUDF",
        "num-children": 2,
        "name": "clean",
        "func": None,
        "dataType": "integer",
        "children": [0, 1],
        "evalType": 205,
    }
    operator = {
        "class": f"{LOGICAL}.{kind}",
        "num-children": 1,
        "functionExpr": [function, column(1, "a"), column(2, "b")],
        field: [[column(3, "x")], [column(4, "y")]],
        "child": 0,
    }
    leaf = relation(column(1, "a"), column(2, "b"))

    document = execution_plan(query_over(operator, leaf), APPLICATION)

    both = {"file:/in#a", "file:/in#b"}
    assert origins(document) == {"x": both, "y": both}


def test_a_relation_without_an_answer_is_a_read_of_nothing() -> None:
    query = replace(query_over(relation(column(1, "a"))), relations={})

    document = execution_plan(query, APPLICATION)

    (read,) = document["operations"]["reads"]
    assert (read["inputSources"], read["extra"]) == ([], {"sourceType": None})


def test_a_row_out_of_nowhere_has_no_operation() -> None:
    nothing = {"class": f"{LOGICAL}.OneRowRelation", "num-children": 0}
    literal = {
        "class": f"{EXPRESSIONS}.Literal",
        "num-children": 0,
        "value": "1",
        "dataType": "integer",
    }

    document = execution_plan(query_over(project(alias(1, "one", literal)), nothing), APPLICATION)

    assert [o["name"] for o in operations(document).values()][1:] == ["Project"]
    assert "childIds" not in operations(document)["op-1"]


@pytest.mark.parametrize(
    ("text", "data_type", "value"),
    [
        ("7", "integer", 7),
        ("-7", "long", -7),
        ("0.5", "double", 0.5),
        ("NaN", "double", "NaN"),
        ("Infinity", "float", "Infinity"),
        ("true", "boolean", True),
        ("2026-01-01", "date", "2026-01-01"),
        ("1.50", "decimal(3,2)", "1.50"),
        (None, "string", None),
        (
            "[0.25,0.5]",
            {"type": "array", "elementType": "double", "containsNull": False},
            "[0.25,0.5]",
        ),
        ("{1,x}", {"type": "struct", "fields": []}, "{1,x}"),
    ],
)
def test_a_literal_keeps_its_value(text: str | None, data_type: Any, value: object) -> None:
    literal = {
        "class": f"{EXPRESSIONS}.Literal",
        "num-children": 0,
        "value": text,
        "dataType": data_type,
    }
    top = project(alias(2, "c", literal))

    document = execution_plan(query_over(top, relation(column(1, "a"))), APPLICATION)

    assert [item["value"] for item in document["expressions"]["constants"]] == [value]
    json.dumps(document, allow_nan=False)


def node(kind: str, children: int, **fields: Any) -> dict[str, Any]:
    return {"class": f"{EXPRESSIONS}.{kind}", "num-children": children, **fields}


def common(kind: str, number: int, children: int) -> dict[str, Any]:
    package = f"{EXPRESSIONS}.CommonExpressionId"
    return node(kind, children, id={"product-class": package, "id": number, "canonicalized": False})


def nullif(number: int, value: list[dict[str, Any]], other: dict[str, Any]) -> list[dict[str, Any]]:
    """As Spark 4.2 and 4.3 analyse NULLIF."""
    use = common("CommonExpressionRef", number, 0)
    return [
        node("NullIf", 1), node("With", 2),
        node("NullIfResult", 2), node("EqualTo", 2), use, other, use,
        common("CommonExpressionDef", number, 1), *value,
    ]  # fmt: skip


def columns_and_conditions(*tree: dict[str, Any]) -> set[tuple[str, str, str | None]]:
    """(source, how, expression) of the column that is this expression of ``a`` and ``b``."""
    read = relation(column(1, "a"), column(2, "b"))
    plan = read_plan(execution_plan(query_over(project(alias(9, "c", *tree)), read), APPLICATION))
    return {
        (plan.attributes[each.source].name, each.how, each.expression)
        for each in derive(plan).derivations
    }


def test_the_operand_of_nullif_is_its_value_and_the_other_decides() -> None:
    text = "nullif(a, b)"
    assert columns_and_conditions(*nullif(5, [column(1, "a")], column(2, "b"))) == {
        ("a", labels.TRANSFORMATION, text), ("b", labels.CONDITIONAL, text),
    }  # fmt: skip


def test_nullif_of_nullif_has_one_value() -> None:
    inner = nullif(5, [column(1, "a")], column(2, "b"))
    text = "nullif(nullif(a, b), b)"
    assert columns_and_conditions(*nullif(6, inner, column(2, "b"))) == {
        ("a", labels.TRANSFORMATION, text), ("b", labels.CONDITIONAL, text),
    }  # fmt: skip


def test_common_expressions_inside_one_another_are_not_doubled_for_ever() -> None:
    tree = [column(1, "a")]
    for number in range(40):
        tree = nullif(number, tree, column(2, "b"))
    assert {source for source, _, _ in columns_and_conditions(*tree)} == {"a", "b"}


def test_types_of_computed_columns_come_from_mentions_and_from_the_output() -> None:
    """The JSON gives an alias no type: ``odd`` is mentioned above, ``top`` is in the schema."""
    unknown = {"class": f"{EXPRESSIONS}.Unheard", "num-children": 1, "child": 0}
    below = project(alias(2, "odd", unknown, column(1, "a")))
    top = project(alias(3, "top", unknown, {**column(2, "odd"), "dataType": "decimal(9,2)"}))
    schema = {"fields": [{"name": "top", "type": "timestamp", "nullable": False}]}
    query = query_over(top, below, relation(column(1, "a")))

    plan = read_plan(execution_plan(replace(query, schema=json.dumps(schema)), APPLICATION))

    types = {item.name: plan.data_types[item.data_type or ""] for item in plan.attributes.values()}
    assert (types["odd"].text, types["odd"].nullable) == ("decimal(9,2)", True)
    assert (types["top"].text, types["top"].nullable) == ("timestamp", False)


def test_types_of_nested_columns_are_spelled_out() -> None:
    nested = {
        "type": "struct",
        "fields": [
            {"name": "m", "type": {"type": "map", "keyType": "string", "valueType": "long"},
             "nullable": False, "metadata": {}},
            {"name": "l", "type": {"type": "array", "elementType": "integer", "containsNull": True},
             "nullable": True, "metadata": {}},
        ],
    }  # fmt: skip
    leaf = relation({**column(1, "s"), "dataType": nested})

    types = read_plan(execution_plan(query_over(leaf), APPLICATION)).data_types

    texts = {data_type.text for data_type in types.values()}
    assert {"map<string,bigint>", "int"} <= texts
    (struct,) = [data_type for data_type in types.values() if data_type.fields]
    assert [name for name, _ in struct.fields] == ["m", "l"]


def test_a_changelog_view_keeps_the_columns_of_its_table_by_name() -> None:
    """Iceberg runs a function over whole rows there; another such function keeps nothing."""
    kept = ("id", "_change_type", "_change_ordinal", "_commit_snapshot_id")
    row = {"class": f"{EXPRESSIONS}.BoundReference", "num-children": 0, "ordinal": 0}
    made = [alias(10 + place, name, row) for place, name in enumerate(kept)]
    serialized = {
        "class": f"{LOGICAL}.SerializeFromObject",
        "num-children": 1,
        "serializer": made,
    }
    function = {"class": f"{LOGICAL}.MapPartitions", "num-children": 1}

    def read(*names: str) -> dict[str, set[str]]:
        leaf = relation(*(column(number, name) for number, name in enumerate(names, start=1)))
        return origins(execution_plan(query_over(serialized, function, leaf), APPLICATION))

    assert read(*kept) == {name: {f"file:/in#{name}"} for name in kept}
    assert read("id", "amount") == {name: set() for name in kept}


def test_a_list_that_is_not_one_tree_is_refused() -> None:
    query = query_over(project([column(1, "a")]))  # the project's child is missing

    with pytest.raises(ValueError, match="1 children, 0 are there"):
        plan_tree.read_plan(json.loads(query.plan))


# --- events ------------------------------------------------------------------------------------


def test_an_event_of_success_has_a_duration_and_no_error() -> None:
    query = replace(load_query("c_union"), write_metrics={"numOutputRows": 5})
    event = execution_event(query, "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10", APPLICATION)

    assert event == {
        "planId": "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10",
        "timestamp": 1_700_000_000_000,
        "durationNs": 1_500_000_000,
        "extra": {
            "appId": "local-1",
            "user": "someone",
            "readMetrics": dict(query.read_metrics),
            "writeMetrics": {"numOutputRows": 5},
        },
    }
    assert read_event(event).application_id == "local-1"


def test_the_places_of_versions_are_masked_like_those_of_the_plan() -> None:
    place = "s3a://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI0bPxRfiCYEXAMPLEKEY@lake/in"
    relation = Relation((place,), "delta", version=TableVersion("1", 1))
    query = replace(load_query("c_union"), plan="", relations={1: relation})
    plan = execution_plan(query, APPLICATION)
    event = execution_event(query, plan["id"], APPLICATION)

    (read,) = plan["operations"]["reads"]
    assert [version["source"] for version in event["extra"]["readVersions"]] == read["inputSources"]
    assert "EXAMPLEKEY" not in json.dumps([plan, event])


def test_an_event_of_failure_has_an_error_and_the_duration_where_it_is_known() -> None:
    query = replace(load_query("c_union"), error="boom", duration_ns=5)
    event = execution_event(query, "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10", APPLICATION)

    assert event["error"] == "boom"
    assert event["durationNs"] == 5


def test_a_plan_names_its_agent_and_carries_labels() -> None:
    document = plan_of("c_union")

    assert document["labels"] == {"job": ["nightly"]}
    assert document["systemInfo"] == {"name": "spark", "version": "3.5.9"}
    assert document["agentInfo"]["name"] == "headwater-listener"
