"""Statements that Spark refused to analyse: told by the tables that they name, as failed runs."""

from __future__ import annotations

from typing import Any

import pytest

from spark_agent_config.capture.captured import Application, CapturedQuery
from spark_agent_config.capture.inspection import Inspector
from spark_agent_config.capture.plan_document import execution_event, execution_plan
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node, instance, option, sequence, text

APPLICATION = Application("app-1", "nightly", "ada", "4.0.1")


def named(fuse: Fuse, *parts: str) -> Node:
    """A table by its name, as a parsed statement has it."""
    leaf = instance(fuse, "UnresolvedRelation", multipartIdentifier=sequence(fuse, *parts))
    leaf._answers["collectLeaves"] = sequence(fuse, leaf)
    return leaf


def found(fuse: Fuse, place: str, number: int) -> Node:
    """The analyzed plan of a table: a relation of files."""
    described = Node(
        fuse,
        identifier=Node(fuse, table=place, database=option(fuse)),
        location=text(fuse, f"file:/lake/{place}"),
        provider=option(fuse, "DELTA"),
    )
    leaf = instance(
        fuse,
        "LogicalRelation",
        nodeName="LogicalRelation",
        catalogTable=option(fuse, described),
        relation=instance(fuse, "HadoopFsRelation", options=sequence(fuse)),
        output=sequence(fuse, Node(fuse, exprId=Node(fuse, id=number))),
    )
    leaf._answers |= {"collectLeaves": sequence(fuse, leaf), "subqueriesAll": sequence(fuse)}
    return leaf


def refused(statement: Node, fuse: Fuse, *tables: str) -> list[CapturedQuery]:
    plans = {f"`{name}`": found(fuse, name, n) for n, name in enumerate(tables)}
    session = Node(
        fuse,
        table=lambda name: Node(fuse, queryExecution=Node(fuse, analyzed=plans[name])),
    )
    running = Node(fuse, logical=statement, sparkSession=session)
    return Inspector(Node(fuse), None).capture(
        running, timestamp=7, duration_ns=None, failure=text(fuse, "no such column")
    )


def merge(fuse: Fuse) -> Node:
    target, source = named(fuse, "t"), named(fuse, "s")
    return instance(
        fuse,
        "MergeIntoTable",
        targetTable=target,
        collectLeaves=sequence(fuse, target, source),
        subqueriesAll=sequence(fuse),
    )


def test_a_merge_that_was_refused_is_a_failed_run_of_its_tables() -> None:
    fuse = Fuse()
    (answer,) = refused(merge(fuse), fuse, "t", "s")

    assert (answer.command, answer.error, answer.timestamp) == (
        "MergeIntoTable",
        "no such column",
        7,
    )
    assert (answer.target.uri, answer.target.format, answer.target.append) == (
        "file:/lake/t", "delta", True,
    )  # fmt: skip
    assert {r.sources for r in answer.relations.values()} == {("file:/lake/t",), ("file:/lake/s",)}
    plan = execution_plan(answer, APPLICATION)
    assert [gap["code"] for gap in plan["operations"]["write"]["extra"]["gaps"]] == ["unread-plan"]
    assert execution_event(answer, plan["id"], APPLICATION)["error"] == "no such column"


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_insert_reads_the_tables_of_its_query(overwrite: bool) -> None:
    fuse = Fuse()
    query = Node(
        fuse,
        collectLeaves=sequence(fuse, named(fuse, "s")),
        subqueriesAll=sequence(
            fuse, Node(fuse, collectLeaves=sequence(fuse, named(fuse, "inner")))
        ),
    )
    statement = instance(
        fuse, "InsertIntoStatement", table=named(fuse, "t"), query=query, overwrite=overwrite
    )

    (answer,) = refused(statement, fuse, "t", "s", "inner")

    assert answer.target.append is not overwrite
    assert {r.sources for r in answer.relations.values()} == {
        ("file:/lake/s",),
        ("file:/lake/inner",),
    }


def test_a_table_that_nobody_knows_is_not_made_up() -> None:
    fuse = Fuse()
    assert refused(merge(fuse), fuse, "s") == []
    (answer,) = refused(merge(fuse), fuse, "t")
    assert [r.sources for r in answer.relations.values()] == [("file:/lake/t",)]


def test_a_query_that_was_refused_is_not_told() -> None:
    fuse = Fuse()
    assert refused(instance(fuse, "Project"), fuse) == []


def test_a_jvm_that_breaks_off_anywhere_costs_the_telling_alone() -> None:
    whole = Fuse()
    refused(merge(whole), whole, "t", "s")
    for number in range(1, whole.calls + 1):
        fuse = Fuse(number)
        answer: list[Any] = refused(merge(fuse), fuse, "t", "s")
        assert len(answer) <= 1
