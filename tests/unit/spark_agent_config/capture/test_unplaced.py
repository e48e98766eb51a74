"""Writes and reads of which Spark does not give the place: they get a name and a gap."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from spark_agent_config.capture.captured import CapturedQuery, NestedWrites, Table, Target
from spark_agent_config.capture.inspection import Inspector
from spark_agent_config.capture.plan_document import execution_plan
from spark_agent_config.capture.tables import name_of_source, name_of_table
from tests.captured_queries import APPLICATION
from tests.unit.spark_agent_config.capture.test_inspection import (
    EMPLOYEES,
    RECORDED,
    capture,
    execution,
    insert,
    leaf,
    query,
)
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node, instance, mapping, sequence, text


@pytest.mark.parametrize(
    ("kind", "options", "name"),
    [
        ("mongodb", {"collection": "staff", "database": "hr"}, "mongodb:staff"),
        ("Acme", {}, "acme:"),
        ("org.acme.bigquery.DefaultSource", {"table": "hr.staff"}, "bigquery:hr.staff"),
        ("[socket: host:9000]", {}, "socket:"),
        ("RateStream(rowsPerSecond=5)", {}, None),
        ("console", {"path": "/x"}, None),
        ("noop-table", {}, None),
        ("", {"table": "t"}, None),
    ],
)
def test_a_source_without_a_place_is_named_by_its_kind_and_its_table(
    kind: str, options: Mapping[str, str], name: str | None
) -> None:
    assert name_of_source(kind, options) == name


def test_a_table_that_names_itself_is_named_by_its_catalog_or_its_source() -> None:
    assert name_of_table("crm.sales.orders", {"table": "x"}) == "crm:sales.orders"
    assert name_of_table("acme", {"table": "x"}) == "acme:x"


@pytest.mark.parametrize(
    "name",
    ["WriteToMicroBatchDataSource", "InsertIntoDataSourceDirCommand", "SaveAsV1TableCommand"],
)
def test_a_command_around_one_that_is_told_is_not(name: str) -> None:
    fuse = Fuse()
    assert capture(execution(fuse, insert(fuse, nodeName=name))) == []


def test_a_table_that_could_not_be_made_has_the_place_that_the_write_in_it_knew() -> None:
    table = Table("orders", "sales")
    outer = CapturedQuery(
        "CreateTableAsSelect",
        "[]",
        Target("ice:sales.orders", "ErrorIfExists", table=table, unplaced="ice:sales.orders"),
        error="no",
    )
    inner = CapturedQuery(
        "AppendData", "[]", Target("file:/ice/orders", "Append", "iceberg", table=table),
        error="no", staged=True,
    )  # fmt: skip
    other = replace(inner, target=replace(inner.target, table=Table("other", "sales")))
    nested = NestedWrites()

    assert nested.admit([other], 0) == []
    assert nested.admit([inner], 0) == []
    (answer,) = nested.admit([outer], 1)

    assert (answer.command, answer.target.uri) == ("CreateTableAsSelect", "file:/ice/orders")
    assert (answer.target.mode, answer.target.unplaced) == ("ErrorIfExists", None)
    assert nested.release(staged=True) == [other]


def save(fuse: Fuse, provider: str, **options: str) -> Node:
    return insert(
        fuse,
        nodeName="SaveIntoDataSourceCommand",
        dataSource=Node(fuse, shortName=provider),
        options=mapping(fuse, options),
    )


def test_a_write_of_a_connector_is_told_under_a_name_with_its_reads() -> None:
    fuse = Fuse()
    command = save(fuse, "mongodb", collection="staff", password="x")

    (captured,) = capture(execution(fuse, command))

    assert (captured.target.uri, captured.target.mode) == ("mongodb:staff", "Overwrite")
    assert {source for read in captured.relations.values() for source in read.sources} == {
        "file:/lake/e",
        "file:/lake/a",
    }
    assert gaps_of(captured) == [
        ("unknown-place", "Spark does not say where mongodb:staff keeps its data")
    ]


def test_a_write_to_the_console_is_none(caplog: pytest.LogCaptureFixture) -> None:
    fuse = Fuse()
    assert capture(execution(fuse, save(fuse, "console"))) == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    ("answers", "target"),
    [
        ({}, "file:/lake/out"),
        ({"outputPath": lambda: 1 / 0}, "unknown:InsertIntoVendorsTable"),
    ],
)
def test_a_write_that_this_listener_does_not_know_is_told_as_far_as_its_fields_go(
    answers: dict[str, Any], target: str
) -> None:
    fuse = Fuse()
    command = insert(fuse, nodeName="InsertIntoVendorsTable", **answers)

    (captured,) = capture(execution(fuse, command))

    assert captured.target.uri == target
    assert len(captured.relations) == 2
    assert [code for code, _ in gaps_of(captured)] == ["unknown-place"] * target.startswith("unkn")


def test_a_command_without_a_query_and_a_view_are_no_unknown_writes() -> None:
    fuse = Fuse()
    setting = Node(fuse, nodeName="SaveSettingsCommand", toJSON="[]")
    view = insert(fuse, nodeName="OverwriteViewAsSelect")

    assert capture(execution(fuse, setting)) == []
    assert capture(execution(fuse, view)) == []


def test_a_read_without_a_place_is_a_gap_and_no_dataset() -> None:
    fuse = Fuse()
    connected = leaf(fuse, EMPLOYEES, "/", relation=instance(fuse, "SnowflakeRelation"))

    (captured,) = capture(execution(fuse, insert(fuse, query=query(fuse, connected))))

    assert captured.relations[EMPLOYEES].sources == ()
    assert (
        "unknown-place",
        "Spark does not say where SnowflakeRelation keeps its data",
    ) in gaps_of(captured)


def test_a_table_of_a_vendors_catalog_has_its_name_there_for_writers_and_readers() -> None:
    fuse = Fuse()
    table = instance(fuse, "VendorsTable", name="sales.orders")
    named = Node(fuse, name="orders", namespace=["sales"])
    relation = Node(
        fuse,
        nodeName="RelationV2[id#1L] sales.orders",
        table=table,
        identifier=Node(fuse, get=named),
        catalog=Node(fuse, get=Node(fuse, name="crm")),
        output=sequence(fuse, Node(fuse, exprId=Node(fuse, id=EMPLOYEES))),
    )
    append = insert(fuse, nodeName="AppendData", table=relation)
    read = insert(fuse, query=query(fuse, relation))

    (written,), (reading,) = (capture(execution(fuse, item)) for item in (append, read))

    assert written.target.uri == "crm:sales.orders"
    assert reading.relations[EMPLOYEES].sources == ("crm:sales.orders",)
    for captured in (written, reading):
        assert ("unknown-place", "Spark does not say where crm:sales.orders keeps its data") in (
            gaps_of(captured)
        )


def test_a_table_of_another_catalog_is_dropped_where_it_was_met() -> None:
    fuse = Fuse()
    catalog = Node(fuse, name="ice")
    named = Node(fuse, name="t", namespace=["db"])
    table = instance(fuse, "SparkTable", properties={"location": "/ice/db/t"})
    relation = Node(
        fuse, table=table, identifier=Node(fuse, get=named), catalog=Node(fuse, get=catalog)
    )
    resolved = Node(fuse, catalog=catalog, identifier=named)
    drop = Node(fuse, nodeName="DropTable", toJSON=RECORDED.plan, child=resolved, ifExists=True)
    append = insert(fuse, nodeName="AppendData", table=relation)
    inspector = inspector_of(fuse)

    def run(command: Node) -> list[str]:
        ended = inspector.capture(execution(fuse, command), timestamp=1, duration_ns=1)
        return [captured.target.uri for captured in ended]

    assert run(drop) == [], "a table that this session has not met"
    assert run(append) == ["file:/ice/db/t"]
    assert run(drop) == ["file:/ice/db/t"]
    assert run(drop) == []


def inspector_of(fuse: Fuse) -> Inspector:
    return Inspector(Node(fuse), None)


def gaps_of(captured: CapturedQuery) -> list[tuple[str, str]]:
    plan = execution_plan(captured, APPLICATION)
    answer = plan["operations"]["write"]["extra"].get("gaps", ())
    return [(gap["code"], gap["detail"]) for gap in answer]


def test_the_mode_that_an_unknown_command_has_hides_no_history() -> None:
    fuse = Fuse()
    command = insert(
        fuse, nodeName="SaveElsewhere", outputPath=lambda: 1 / 0, mode=text(fuse, "Overwrite")
    )

    (captured,) = capture(execution(fuse, command))

    assert captured.target.append is True
