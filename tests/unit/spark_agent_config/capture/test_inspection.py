"""Asking the JVM: the use of its answers, and of every answer that does not come."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from graph_model.naming import DEFAULT_RULES
from graph_model.naming.jdbc import query_lineage
from graph_model.producers import elements
from spark_agent_config.capture import command_targets
from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.inspection import Inspector, with_projections
from spark_agent_config.capture.plan_document import execution_event, execution_plan
from spark_agent_config.capture.relations import (
    directory,
    source_uris,
    with_prepared,
    with_scheme,
)
from spark_agent_config.executions import QueryListener
from tests.captured_queries import APPLICATION, load_query
from tests.unit.spark_agent_config.fake_jvm import (
    Fuse,
    JvmError,
    Node,
    identifier,
    instance,
    mapping,
    metrics,
    option,
    sequence,
    text,
)

RECORDED = load_query("c_union")
EMPLOYEES, ATTENDANCE = sorted(RECORDED.relations)


def leaf(fuse: Fuse, number: int, path: str, **answers: Any) -> Node:
    first = Node(fuse, exprId=Node(fuse, id=number))
    files = instance(
        fuse,
        "HadoopFsRelation",
        options=mapping(fuse, {"path": path}),
        location=Node(fuse, rootPaths=sequence(fuse, f"file:{path}")),
        fileFormat=Node(fuse, shortName="parquet", toString="Parquet"),
    )
    usual = {"relation": files, "catalogTable": option(fuse)}
    output = sequence(fuse, first)
    return Node(fuse, nodeName="LogicalRelation", output=output, **(usual | answers))


def query(fuse: Fuse, *leaves: Node) -> Node:
    chosen = leaves or (leaf(fuse, EMPLOYEES, "/lake/e"), leaf(fuse, ATTENDANCE, "/lake/a"))
    return Node(
        fuse,
        collectLeaves=sequence(fuse, *chosen),
        subqueriesAll=sequence(fuse),
        schema=Node(fuse, json='{"type": "struct", "fields": []}'),
    )


def insert(fuse: Fuse, **answers: Any) -> Node:
    usual = {
        "nodeName": "InsertIntoHadoopFsRelationCommand",
        "toJSON": RECORDED.plan,
        "query": query(fuse),
        "outputPath": text(fuse, "file:/lake/out"),
        "mode": text(fuse, "Overwrite"),
        "fileFormat": Node(fuse, shortName="parquet"),
        "options": mapping(fuse, {"path": "/lake/out"}),
        "catalogTable": option(fuse),
        "partitionColumns": sequence(fuse, Node(fuse, name="dt")),
        "staticPartitions": mapping(fuse, {"dt": "2026-01-01"}),
        "dynamicPartitionOverwrite": False,
    }
    return Node(fuse, **(usual | answers))


def execution(fuse: Fuse, analyzed: Node, executed: Node | None = None) -> Node:
    scan = instance(fuse, "FileSourceScanExec", metrics=metrics(fuse, numOutputRows=7, scanTime=3))
    plain = instance(
        fuse,
        "DataWritingCommandExec",
        metrics=metrics(fuse, numOutputRows=5, numFiles=1),
        collectLeaves=sequence(fuse, scan),
    )
    return Node(fuse, analyzed=analyzed, executedPlan=executed or plain)


def capture(running: Node, **how: Any) -> list[CapturedQuery]:
    usual: dict[str, Any] = {"timestamp": 1_700_000_000_000, "duration_ns": 5}
    return Inspector(Node(Fuse()), None).capture(running, **(usual | how))


# --- commands that change rows, for failure injection -------------------------------------------


def delta_merge(fuse: Fuse) -> Node:
    def table(number: int, path: str) -> Node:
        return Node(
            fuse,
            collectLeaves=sequence(fuse, leaf(fuse, number, path)),
            subqueriesAll=sequence(fuse),
        )

    return Node(
        fuse,
        nodeName="MergeIntoCommand",
        toJSON=json.dumps([{"class": "x.commands.MergeIntoCommand", "num-children": 0}]),
        source=table(EMPLOYEES, "/lake/e"),
        target=table(ATTENDANCE, "/lake/out"),
    )


def replace_data(fuse: Fuse) -> Node:
    original = Node(
        fuse,
        properties={"location": "file:/lake/out", "provider": "iceberg"},
        getClass=Node(fuse, getSimpleName="SparkTable"),
    )
    operation = Node(fuse, command=text(fuse, "UPDATE"))
    wrapped = instance(fuse, "RowLevelOperationTable", table=original, operation=operation)
    relation = Node(fuse, nodeName="RelationV2[dept#7] db.out", table=wrapped)
    return insert(
        fuse,
        nodeName="ReplaceData",
        toJSON=json.dumps([{"class": "x.plans.logical.ReplaceData", "num-children": 0}]),
        table=Node(fuse, table=wrapped),
        originalTable=Node(fuse, collectLeaves=sequence(fuse, relation)),
    )


# --- failure injection -------------------------------------------------------------------------


def count_of(command: Callable[[Fuse], Node]) -> int:
    fuse = Fuse()
    assert len(capture(execution(fuse, command(fuse)))) == 1
    return fuse.calls


@pytest.mark.parametrize(
    ("command", "number"),
    [(c, n) for c in (delta_merge, replace_data) for n in range(1, count_of(c) + 1)],
)
def test_whichever_call_fails_a_row_level_command_is_told_or_one_line_is(
    command: Callable[[Fuse], Node], number: int, caplog: pytest.LogCaptureFixture
) -> None:
    fuse, queue = Fuse(at=number), Queue()
    inspector = Inspector(Node(fuse), None)

    QueryListener(inspector.capture, queue).onSuccess(  # type: ignore[arg-type]
        "command", execution(fuse, command(fuse)), 5
    )

    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(queue.items) + len(warned) == 1
    assert {_place_of(item) for item in queue.items} <= {"file:/lake/out", None}


def test_a_rewritten_command_is_told_by_the_name_that_its_table_knows() -> None:
    (captured,) = capture(execution(Fuse(), replace_data(Fuse())))

    assert captured.command == "UpdateTable"
    assert (captured.target.mode, captured.target.format) == ("Append", "iceberg")


@pytest.mark.parametrize(
    ("condition", "dynamic"), [("true", None), ("(dept#7 = HR)", True), (None, True)]
)
def test_an_overwrite_by_a_condition_leaves_rows(
    condition: str | None, dynamic: bool | None
) -> None:
    fuse = Fuse()
    table = Node(
        fuse,
        properties={"location": "/lake/out", "provider": "delta"},
        partitioning=[
            Node(fuse, name="identity", references=[Node(fuse, fieldNames=["dept"])]),
            Node(fuse, name="days", references=[Node(fuse, fieldNames=["ts"])]),
        ],
    )
    answers = {} if condition is None else {"deleteExpr": text(fuse, condition)}
    command = insert(
        fuse, nodeName="OverwriteByExpression", table=Node(fuse, table=table), **answers
    )

    (captured,) = capture(execution(fuse, command))

    assert captured.target.mode == "Overwrite"
    assert captured.target.dynamic_partition_overwrite is dynamic
    assert captured.target.partition_columns == ("dept",)


def test_a_plan_that_is_too_large_stays_in_the_jvm_and_its_tables_are_told() -> None:
    fuse, copied = Fuse(), []
    command = insert(fuse, toJSON=lambda: copied.append("copied"))
    inspector = Inspector(Node(fuse), None, lambda plan: plan is command)

    (captured,) = inspector.capture(execution(fuse, command), timestamp=1, duration_ns=1)

    assert (captured.plan, copied) == ("", [])
    assert captured.target.uri == "file:/lake/out"
    assert {r.sources for r in captured.relations.values()} == {
        ("file:/lake/e",),
        ("file:/lake/a",),
    }


def columns(fuse: Fuse, *names: str) -> Node:
    """The output of a plan: ``emp_id#7``."""
    first = Node(fuse, exprId=Node(fuse, id=int(re.sub(r".*#|L|-T.*", "", names[0]))))
    shown = sequence(fuse, *names)
    return Node(fuse, head=first, mkString=shown._answers["mkString"])


def cut(fuse: Fuse, rdd: int, *names: str) -> Node:
    """A leaf of rows that Spark computed before the query."""
    rows = instance(fuse, "MapPartitionsRDD", dependencies=sequence(fuse), id=rdd)
    return Node(fuse, nodeName="LogicalRDD", rdd=rows, output=columns(fuse, *names))


def checkpoint(inspector: Inspector, fuse: Fuse, plan: Node, *names: str, text: str = "[]") -> None:
    plan._answers |= {"output": columns(fuse, *names), "toJSON": text}
    usual: dict[str, Any] = {"timestamp": 1, "duration_ns": 1, "function": "localCheckpoint"}
    assert inspector.capture(execution(fuse, plan), **usual) == []


def relation_of(inspector: Inspector, fuse: Fuse, *leaves: Node) -> dict[int, Any]:
    command = insert(fuse, query=query(fuse, *leaves))
    (captured,) = inspector.capture(execution(fuse, command), timestamp=1, duration_ns=1)
    return dict(captured.relations)


def test_the_rows_of_a_checkpoint_have_the_query_that_they_were_computed_by() -> None:
    fuse = Fuse()
    inspector = Inspector(Node(fuse), None)
    names = ("emp_id#7", "pay#8L", "at#9-T600000ms")
    checkpoint(inspector, fuse, query(fuse, leaf(fuse, EMPLOYEES, "/lake/e")), *names)

    read = relation_of(inspector, fuse, cut(fuse, 3, *names))[7]

    assert (read.sources, read.node, read.origin.plan) == (
        ("file:/lake/e",),
        "CheckpointRDD",
        "[]",
    )
    assert read.origin.relations[EMPLOYEES].sources == ("file:/lake/e",)


def test_the_second_use_of_a_checkpoint_in_a_query_is_known_by_its_rdd() -> None:
    """Spark gives the columns of the right side of a join with itself other ids."""
    fuse = Fuse()
    inspector = Inspector(Node(fuse), None)
    checkpoint(inspector, fuse, query(fuse, leaf(fuse, EMPLOYEES, "/lake/e")), "emp_id#7")

    reads = relation_of(inspector, fuse, cut(fuse, 3, "emp_id#7"), cut(fuse, 3, "emp_id#20"))

    assert reads[20].origin is reads[7].origin
    assert 21 not in relation_of(inspector, fuse, cut(fuse, 4, "emp_id#21"))


def test_checkpoints_that_share_their_first_column_are_two() -> None:
    fuse = Fuse()
    inspector = Inspector(Node(fuse), None)
    checkpoint(inspector, fuse, query(fuse, leaf(fuse, EMPLOYEES, "/lake/e")), "a#7", "b#8")
    checkpoint(inspector, fuse, query(fuse, leaf(fuse, ATTENDANCE, "/lake/a")), "a#7", "c#9")

    assert relation_of(inspector, fuse, cut(fuse, 3, "a#7", "b#8"))[7].sources == ("file:/lake/e",)
    assert relation_of(inspector, fuse, cut(fuse, 4, "a#7", "c#9"))[7].sources == ("file:/lake/a",)


def test_a_loop_of_checkpoints_keeps_its_tables_and_a_bounded_plan() -> None:
    fuse = Fuse()
    inspector = Inspector(Node(fuse), None)
    rows, origins = leaf(fuse, EMPLOYEES, "/lake/e"), []
    for number in range(7, 60):
        text = json.dumps("x" * 100_000)
        checkpoint(inspector, fuse, query(fuse, rows), f"a#{number}", text=text)
        rows = cut(fuse, number, f"a#{number}")
        read = relation_of(inspector, fuse, rows)[number]
        assert read.sources == ("file:/lake/e",)
        origins.append(read.origin)

    assert max(origin.weight for origin in origins) <= 2_000_000
    assert [origin.plan for origin in origins].count("") == 2


def test_a_batch_function_sees_the_query_of_the_stream_that_runs_it() -> None:
    fuse = Fuse()
    source = query(fuse, leaf(fuse, EMPLOYEES, "/lake/in"))
    source._answers |= {"output": columns(fuse, "emp_id#7"), "toJSON": "[7]"}
    sink = text(fuse, "ForeachBatchSink")
    write = Node(fuse, query=source, sink=sink, catalogTable=option(fuse))
    stream = Node(fuse, logicalPlan=write)
    running: list[Node] = [Node(fuse), stream]
    inspector = Inspector(Node(fuse), None, running=lambda: running)

    read = relation_of(inspector, fuse, cut(fuse, 3, "emp_id#7"))[7]
    assert (read.sources, read.origin.plan) == (("file:/lake/in",), "[7]")

    ended = Inspector(Node(fuse), None)
    assert ended.capture_stream(stream) is None
    assert relation_of(ended, fuse, cut(fuse, 3, "emp_id#7"))[7].origin.plan == "[7]"


def test_projections_that_the_json_leaves_out_are_asked_of_the_operator() -> None:
    fuse = Fuse()

    def cell(name: str, number: int) -> Node:
        tree = [{"class": "x.AttributeReference", "name": name, "exprId": {"id": number}}]
        return Node(fuse, toJSON=json.dumps(tree))

    output = sequence(fuse, cell("amount", 9))
    rows = sequence(fuse, sequence(fuse, cell("pay", 1)), sequence(fuse, cell("bonus", 2)))
    none = sequence(fuse)
    expand = instance(
        fuse, "Expand", output=output, projections=rows, children=none, innerChildren=none
    )
    command = instance(
        fuse, "Command", children=sequence(fuse, expand), innerChildren=sequence(fuse)
    )
    head = json.loads(cell("amount", 9).toJSON())
    text = json.dumps([{"class": "x.Expand", "projections": None, "output": [head]}])

    (node,) = json.loads(with_projections(text, command))

    assert [[c[0]["name"] for c in row] for row in node["projections"]] == [["pay"], ["bonus"]]
    assert with_projections("[]", None) == "[]", "nothing is asked where nothing is missing"


# --- failure injection of an insert --------------------------------------------------------------


def count_of_calls() -> int:
    fuse = Fuse()
    assert len(capture(execution(fuse, insert(fuse)))) == 1
    return fuse.calls


@pytest.mark.parametrize("number", range(1, count_of_calls() + 1))
def test_whichever_call_fails_the_rest_is_told_or_nothing_is(
    number: int, caplog: pytest.LogCaptureFixture
) -> None:
    fuse = Fuse(at=number)
    queue = Queue()
    inspector = Inspector(Node(fuse), None)

    QueryListener(inspector.capture, queue).onSuccess(  # type: ignore[arg-type]
        "command", execution(fuse, insert(fuse)), 5
    )

    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(queue.items) + len(warned) == 1, "told, or one line that it is not"
    for captured in queue.items:
        plan = execution_plan(captured, APPLICATION)
        write = plan["operations"]["write"]
        gaps = [gap["code"] for gap in write["extra"].get("gaps", ())]
        assert write["outputSource"] == "file:/lake/out" or "unknown-place" in gaps
        execution_event(captured, plan["id"], APPLICATION)


def test_most_calls_may_fail_without_losing_the_document() -> None:
    answer = 0
    calls = count_of_calls()
    for number in range(1, calls + 1):
        fuse = Fuse(at=number)
        try:
            answer += len(capture(execution(fuse, insert(fuse))))
        except JvmError:
            continue
    # Needed are the analyzed plan and its name.
    assert answer == calls - 2


def _place_of(captured: CapturedQuery) -> str | None:
    """None: a name stands for the place, and the plan gets a gap."""
    return captured.target.uri if captured.target.unplaced is None else None


class Queue:
    def __init__(self) -> None:
        self.items: list[CapturedQuery] = []

    def offer(self, item: CapturedQuery) -> bool:
        self.items.append(item)
        return True


def test_trouble_of_one_kind_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    listener = QueryListener(Inspector(Node(Fuse()), None).capture, Queue())  # type: ignore[arg-type]
    for _ in range(3):
        listener.onSuccess("command", Node(Fuse()), 5)

    assert len(caplog.records) == 1
    assert "\tat" not in caplog.text, "no stack trace of the JVM in the job's log"


# --- reports -----------------------------------------------------------------------------------


def test_a_write_of_files_is_told_with_all_that_the_command_knows() -> None:
    fuse = Fuse()
    (captured,) = capture(execution(fuse, insert(fuse)))

    assert captured.target.uri == "file:/lake/out"
    assert captured.target.mode == "Overwrite"
    assert captured.target.partition_columns == ("dt",)
    assert captured.target.static_partitions == {"dt": "2026-01-01"}
    assert captured.target.dynamic_partition_overwrite is False
    assert {n: r.sources for n, r in captured.relations.items()} == {
        EMPLOYEES: ("file:/lake/e",),
        ATTENDANCE: ("file:/lake/a",),
    }
    assert captured.read_metrics == {"numOutputRows": 7}
    assert captured.write_metrics == {"numOutputRows": 5, "numFiles": 1}


def test_metrics_come_from_below_adaptive_execution_and_its_stages() -> None:
    fuse = Fuse()
    scan = instance(fuse, "FileSourceScanExec", metrics=metrics(fuse, numOutputRows=4))
    cached = instance(fuse, "InMemoryTableScanExec", metrics=metrics(fuse, numOutputRows=99))
    stage = instance(
        fuse,
        "ShuffleQueryStageExec",
        plan=instance(fuse, "ShuffleExchangeExec", collectLeaves=sequence(fuse, scan, cached)),
    )
    final = instance(
        fuse,
        "DataWritingCommandExec",
        metrics=metrics(fuse, numOutputRows=2),
        collectLeaves=sequence(fuse, stage, scan),
    )
    result = instance(fuse, "ResultQueryStageExec", plan=final, metrics=metrics(fuse))
    for inside in (final, result):
        adaptive = instance(
            fuse, "AdaptiveSparkPlanExec", executedPlan=inside, metrics=metrics(fuse)
        )

        (captured,) = capture(execution(fuse, insert(fuse), adaptive))

        assert captured.read_metrics == {"numOutputRows": 8}
        assert captured.write_metrics == {"numOutputRows": 2}


def test_a_mode_that_spark_does_not_say_hides_no_history() -> None:
    fuse = Fuse()
    silent = insert(fuse, mode=lambda: 1 / 0, dynamicPartitionOverwrite=lambda: 1 / 0)

    (captured,) = capture(execution(fuse, silent))

    assert captured.target.append is True
    assert captured.target.dynamic_partition_overwrite is True


CAUSE = "\nCaused by: java.io.FileNotFoundException: /lake/in"


def test_a_failed_write_is_told_with_its_error_and_without_counts() -> None:
    fuse = Fuse()
    failure = text(fuse, "org.apache.spark.SparkException: " + "x" * 20_000 + CAUSE)

    (captured,) = capture(execution(fuse, insert(fuse)), duration_ns=None, failure=failure)

    assert captured.error is not None
    assert captured.error.startswith("org.apache.spark.SparkException")
    assert captured.error.endswith(CAUSE)
    assert len(captured.error) == 16_000
    assert captured.write_metrics == {}


def planned(fuse: Fuse, at: int) -> Node:
    planning = Node(fuse, startTimeMs=at)
    return Node(fuse, phases=Node(fuse, apply={"planning": planning}.__getitem__))


@pytest.mark.parametrize(
    ("began", "lasted"), [(1_699_999_998_500, 1_500_000_000), (1_700_000_000_001, None)]
)
def test_a_failed_write_lasted_from_its_planning_to_its_failure(
    began: int, lasted: int | None
) -> None:
    fuse = Fuse()
    running = Node(
        fuse,
        analyzed=insert(fuse),
        executedPlan=lambda: 1 / 0,
        tracker=planned(fuse, began),
    )

    (captured,) = capture(running, duration_ns=None, failure=text(fuse, "boom"))

    assert captured.duration_ns == lasted


def test_the_duration_of_a_write_that_failed_unplanned_is_unknown() -> None:
    fuse = Fuse()
    failure = text(fuse, "boom")
    (captured,) = capture(execution(fuse, insert(fuse)), duration_ns=None, failure=failure)
    assert captured.duration_ns is None


def test_a_query_is_not_asked_for_its_plan() -> None:
    fuse = Fuse()
    assert capture(execution(fuse, Node(fuse, nodeName="Project"))) == []
    assert fuse.calls == 2


def test_an_ignored_write_that_wrote_nothing_is_not_told() -> None:
    fuse = Fuse()
    idle = instance(
        fuse,
        "DataWritingCommandExec",
        metrics=metrics(fuse, numFiles=0),
        collectLeaves=sequence(fuse),
    )
    ignoring = insert(fuse, mode=text(fuse, "Ignore"))

    assert capture(execution(fuse, ignoring, idle)) == []
    assert len(capture(execution(fuse, ignoring))) == 1


def test_a_table_made_by_a_query_takes_mode_and_counts_of_its_insert() -> None:
    fuse = Fuse()
    inspector = Inspector(Node(fuse), None)
    described = Node(
        fuse,
        storage=Node(fuse, locationUri=option(fuse, "here")),
        identifier=identifier(fuse, "t", "hr"),
        location=text(fuse, "file:/lake/out"),
        provider=option(fuse, "PARQUET"),
        partitionColumnNames=sequence(fuse, "dt"),
    )
    create = Node(
        fuse,
        nodeName="CreateDataSourceTableAsSelectCommand",
        toJSON=RECORDED.plan,
        query=query(fuse),
        mode=text(fuse, "Append"),
        table=described,
    )
    executed = instance(
        fuse, "ExecutedCommandExec", metrics=metrics(fuse), collectLeaves=sequence(fuse)
    )

    inspector.capture(execution(fuse, insert(fuse)), timestamp=1, duration_ns=1)
    (answer,) = inspector.capture(execution(fuse, create, executed), timestamp=2, duration_ns=1)
    (again,) = inspector.capture(execution(fuse, create, executed), timestamp=3, duration_ns=1)
    assert (again.target.mode, again.write_metrics) == ("Append", {}), "an insert is used once"

    assert (answer.target.mode, answer.write_metrics["numOutputRows"]) == ("Overwrite", 5)
    inspector.capture(
        execution(fuse, insert(fuse, mode=text(fuse, "Append"))), timestamp=1, duration_ns=1
    )
    create._answers["mode"] = text(fuse, "ErrorIfExists")
    (made,) = inspector.capture(execution(fuse, create, executed), timestamp=2, duration_ns=1)
    assert made.target.append is False, "a table that was made, whatever its insert says"
    create._answers["mode"] = text(fuse, "Ignore")
    inside, creating = execution(fuse, insert(fuse)), execution(fuse, create, executed)
    for number, told_of in ((8, 1), (6, 0)):  # begun after the command, and before it
        inside._answers["id"], creating._answers["id"] = number, 7
        inspector.capture(inside, timestamp=4, duration_ns=1)
        assert len(inspector.capture(creating, timestamp=5, duration_ns=1)) == told_of
    create._answers["mode"] = text(fuse, "Append")
    assert (answer.target.format, answer.target.partition_columns) == ("parquet", ("dt",))
    assert answer.target.table is not None
    assert (answer.target.table.name, answer.target.table.database) == ("t", "hr")


@pytest.mark.parametrize(
    ("partition", "static", "dynamic"),
    [
        ({"dt": "Some(2026-01-01)"}, {"dt": "2026-01-01"}, False),
        ({"dt": "Some(2026-01-01)", "site": "None"}, {"dt": "2026-01-01"}, True),
        ({"site": "None"}, {}, True),
        ({}, {}, None),
    ],
)
def test_an_insert_into_a_hive_table_says_which_partitions(
    partition: dict[str, str], static: dict[str, str], dynamic: bool | None
) -> None:
    fuse = Fuse()
    described = Node(
        fuse,
        storage=Node(fuse, locationUri=option(fuse, "here")),
        identifier=identifier(fuse, "t", "hr"),
        location=text(fuse, "file:/warehouse/t"),
        provider=option(fuse, "hive"),
        partitionColumnNames=sequence(fuse, "dt"),
    )
    command = Node(
        fuse,
        nodeName="InsertIntoHiveTable",
        toJSON=RECORDED.plan,
        query=query(fuse),
        table=described,
        overwrite=True,
        partition=mapping(fuse, partition),
    )

    (captured,) = capture(execution(fuse, command))

    assert captured.target.mode == "Overwrite"
    assert captured.target.static_partitions == static
    assert captured.target.dynamic_partition_overwrite is dynamic


def test_a_table_that_names_a_place_elsewhere_is_made_there() -> None:
    fuse = Fuse()
    options = {"url": "jdbc:h2:mem", "dbtable": "emp"}
    described = Node(
        fuse,
        storage=Node(fuse, locationUri=option(fuse, "here"), properties=mapping(fuse, options)),
        identifier=identifier(fuse, "t", "hr"),
        location=text(fuse, "file:/warehouse/t"),
    )
    command = Node(fuse, nodeName="CreateDataSourceTableCommand", toJSON="[]", table=described)

    (captured,) = capture(execution(fuse, command))

    assert captured.target.uri == "jdbc:h2:mem:emp"


def test_a_dropped_table_is_where_it_was_last_seen() -> None:
    fuse = Fuse()

    def gone(_: Any) -> Any:
        raise JvmError("no such table")

    catalog = Node(
        fuse,
        getTableMetadata=lambda _: Node(fuse, location=text(fuse, "s3://lake/t")),
        getCurrentDatabase="default",
        defaultTablePath=lambda _: text(fuse, "file:/warehouse/t"),
    )
    session = Node(fuse, sparkSession=Node(fuse, sessionState=Node(fuse, catalog=catalog)))
    inspector = Inspector(Node(fuse), None)

    def run(name: str) -> list[CapturedQuery]:
        command = Node(fuse, nodeName=name, toJSON="[]", tableName=identifier(fuse, "t"))
        running = Node(fuse, analyzed=command, sparkSession=session.sparkSession())
        return inspector.capture(running, timestamp=1, duration_ns=1)

    (truncated,) = run("TruncateTableCommand")
    catalog._answers["getTableMetadata"] = gone
    (dropped,) = run("DropTableCommand")

    assert truncated.target.uri == dropped.target.uri == "s3://lake/t"


def test_a_dropped_view_is_not_told() -> None:
    fuse = Fuse()
    command = Node(fuse, nodeName="DropTableCommand", toJSON="[]", isView=True)

    assert capture(execution(fuse, command)) == []


def test_a_jdbc_source_is_told_without_the_counter_of_its_alias() -> None:
    fuse = Fuse()
    jdbc = Node(
        fuse,
        url="jdbc:h2:mem",
        tableOrQuery="(select 1) SPARK_GEN_SUBQ_17",
        parameters=mapping(fuse, {"user": "u"}),
    )
    relation = instance(fuse, "JDBCRelation", jdbcOptions=jdbc)
    reading = query(fuse, leaf(fuse, EMPLOYEES, "", relation=relation))

    (captured,) = capture(execution(fuse, insert(fuse, query=reading)))

    assert captured.relations[EMPLOYEES].sources == ("jdbc:h2:mem:(select 1) SPARK_GEN_SUBQ_0",)
    assert captured.relations[EMPLOYEES].format == "jdbc"


@pytest.mark.parametrize(
    ("source", "prepared", "told"),
    [
        ("emp", "", "emp"),
        (
            "(SELECT id FROM t) SPARK_GEN_SUBQ_0",
            "WITH t AS (SELECT id FROM hr.emp) ",
            "(WITH t AS (SELECT id FROM hr.emp) SELECT * FROM (SELECT id FROM t) SPARK_GEN_SUBQ_0)"
            " SPARK_GEN_SUBQ_0",
        ),
        (
            "t",
            "with t as (select 1 a) ",
            "(with t as (select 1 a) SELECT * FROM t) SPARK_GEN_SUBQ_0",
        ),
        (
            "(SELECT id FROM #tmp) SPARK_GEN_SUBQ_0",
            "(SELECT id INTO #tmp FROM hr.emp) ",
            "(WITH #tmp AS ((SELECT id  FROM hr.emp)) SELECT * FROM (SELECT id FROM #tmp)"
            " SPARK_GEN_SUBQ_0) SPARK_GEN_SUBQ_0",
        ),
        ("emp", "SET LOCK_TIMEOUT 10 ", "emp"),
    ],
)
def test_text_that_jdbc_sends_before_a_query_is_part_of_it(
    source: str, prepared: str, told: str
) -> None:
    assert with_prepared(source, prepared) == told


@pytest.mark.parametrize(
    ("prepared", "url"),
    [
        ("WITH t AS (SELECT id FROM hr.emp)", "jdbc:postgresql://h/db"),
        ("SELECT id INTO #t FROM hr.emp;", "jdbc:sqlserver://h;databaseName=db"),
    ],
)
def test_the_server_finds_the_table_behind_the_text_that_jdbc_sends_before_a_query(
    prepared: str, url: str
) -> None:
    name = "#t" if "#t" in prepared else "t"
    source = with_prepared(f"(SELECT id FROM {name}) SPARK_GEN_SUBQ_0", prepared)

    result = query_lineage(f"{url}:{source}", ["id"], DEFAULT_RULES)

    assert result is not None
    assert list(result[1]) == [("hr", "emp")]
    assert result[0].problems == ()


def test_a_catalog_table_is_read_where_the_catalog_says_it_lies() -> None:
    fuse = Fuse()
    described = Node(
        fuse, identifier=identifier(fuse, "t", "hr"), location=text(fuse, "s3://lake/hr/t")
    )
    reading = query(fuse, leaf(fuse, EMPLOYEES, "/x", catalogTable=option(fuse, described)))

    (captured,) = capture(execution(fuse, insert(fuse, query=reading)))

    relation = captured.relations[EMPLOYEES]
    assert relation.sources == ("s3://lake/hr/t",)
    assert relation.table is not None
    assert (relation.table.name, relation.table.database) == ("t", "hr")


def test_a_statement_with_several_inserts_is_several_writes() -> None:
    fuse = Fuse()
    both = sequence(
        fuse,
        insert(fuse, outputPath=text(fuse, "file:/a")),
        insert(fuse, outputPath=text(fuse, "file:/b")),
    )

    captured = capture(execution(fuse, Node(fuse, nodeName="Union", children=both)))

    assert [item.target.uri for item in captured] == ["file:/a", "file:/b"]
    assert [item.write_metrics for item in captured] == [{}, {}]


def test_a_write_of_a_source_of_its_own_is_told_by_its_options() -> None:
    fuse = Fuse()
    options = {"url": "jdbc:h2:mem", "dbtable": "emp", "password": "hush", "batchsize": "9"}
    command = Node(
        fuse,
        nodeName="SaveIntoDataSourceCommand",
        toJSON=json.dumps([]),
        query=query(fuse),
        mode=text(fuse, "Append"),
        options=mapping(fuse, options),
        dataSource=Node(fuse, shortName="jdbc"),
    )

    (captured,) = capture(execution(fuse, command))

    assert captured.target.uri == "jdbc:h2:mem:emp"
    assert captured.target.append is True
    assert captured.target.options == {"dbtable": "emp"}


@pytest.mark.parametrize(
    ("provider", "options", "uris"),
    [
        ("jdbc", {"url": "jdbc:h2:mem", "dbtable": "emp"}, ("jdbc:h2:mem:emp",)),
        ("jdbc", {"url": "jdbc:h2:mem", "query": "select 1"}, ("jdbc:h2:mem:select 1",)),
        ("kafka", {"topic": "events"}, ("kafka:events",)),
        ("org.apache.KafkaTable", {"subscribe": "a, b"}, ("kafka:a", "kafka:b")),
        ("kafka", {"assign": '{"a": [0], "b": [1]}'}, ("kafka:a", "kafka:b")),
        ("kafka", {"assign": "{"}, ()),
        ("kafka", {"subscribepattern": "orders-.*"}, ()),
        ("kafka", {"topic": "t", "kafka.bootstrap.servers": "b:9092,c"}, ("kafka://b:9092,c/t",)),
        ("jdbc", {"url": "jdbc:h2:mem"}, ()),
        ("noop", {}, ()),
    ],
)
def test_a_source_is_named_by_its_options(
    provider: str, options: dict[str, str], uris: tuple[str, ...]
) -> None:
    assert source_uris(provider, options) == uris


def test_a_stream_of_a_table_is_read_where_the_plan_before_it_runs_says() -> None:
    """Spark 3.5's running plan keeps a scan of the source, and no table."""
    fuse = Fuse()
    output = sequence(fuse, Node(fuse, exprId=Node(fuse, id=EMPLOYEES)))
    running_leaf = Node(fuse, nodeName="StreamingDataSourceV2Relation", output=output)
    table = instance(fuse, "SparkTable", properties={"location": "s3://lake/t"})
    leaf = Node(fuse, nodeName="StreamingRelationV2", output=output, table=table)
    write = Node(
        fuse,
        query=query(fuse, running_leaf),
        toJSON="[]",
        outputMode=text(fuse, "Append"),
        sink=text(fuse, "FileSink[s3://lake/out]"),
    )
    running = Node(fuse, logicalPlan=write, analyzedPlan=query(fuse, leaf))
    path = Node(fuse, getFileSystem=Node(fuse, makeQualified=text(fuse, "s3://lake/out")))
    jvm = SimpleNamespace(
        org=SimpleNamespace(
            apache=SimpleNamespace(hadoop=SimpleNamespace(fs=SimpleNamespace(Path=lambda _: path)))
        )
    )

    captured = Inspector(jvm, None).capture_stream(running)

    assert captured is not None
    assert captured.relations[EMPLOYEES].sources == ("s3://lake/t",)


def test_small_readings_of_paths() -> None:
    assert with_scheme("/lake/t") == "file:/lake/t"
    assert with_scheme("s3://lake/t") == "s3://lake/t"
    assert directory("file:///lake/t/part-0.parquet") == "file:///lake/t"


def test_the_listener_and_the_server_agree_on_the_lifecycle_commands() -> None:
    """Else CREATE TABLE over files that are there would hide their writers."""
    assert frozenset() == command_targets.LIFECYCLE_COMMANDS - elements.LIFECYCLE_COMMANDS
