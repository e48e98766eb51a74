"""Which commit of a Delta table is a command's, and what it says of partitions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spark_agent_config.captured import CapturedQuery, Relation, Target, Version
from spark_agent_config.maintenance import maintained
from spark_agent_config.plan_document import execution_plan
from spark_agent_config.table_versions import Commit, delta_commit, read_before
from tests.captured_queries import APPLICATION

START = 1_000


def commit(operation: str, at: int, *files: dict[str, Any], **metrics: str) -> str:
    information = {"timestamp": at, "operation": operation, "operationMetrics": metrics}
    return "\n".join(map(json.dumps, [{"commitInfo": information}, *files]))


def added(**values: str | None) -> dict[str, Any]:
    return {"add": {"path": "x", "partitionValues": values, "dataChange": True}}


def removed(**values: str | None) -> dict[str, Any]:
    return {"remove": {"path": "x", "partitionValues": values}}


def test_the_commit_since_the_command_began_is_its() -> None:
    texts = {
        8: commit("OPTIMIZE", START + 90),
        7: commit("WRITE", START + 50, added(dt="d 1"), removed(dt=None), numOutputRows="6", x="?"),
        6: commit("WRITE", START - 1),
    }

    found = delta_commit(texts, ["dt"], START)

    assert found is not None
    assert found.version == Version("7", 7)
    assert found.counts == {"numOutputRows": 6}
    assert found.partitions == ("dt=__HIVE_DEFAULT_PARTITION__", "dt=d%201")


@pytest.mark.parametrize(
    "texts",
    [
        {7: commit("WRITE", START + 50), 6: commit("MERGE", START + 20)},
        {7: commit("OPTIMIZE", START + 50)},
        {7: commit("WRITE", START - 1)},
        {7: ""},
        {},
    ],
)
def test_no_commit_is_taken_where_it_may_be_anothers(texts: dict[int, str]) -> None:
    assert delta_commit(texts, [], START) is None


def test_partitions_under_other_names_than_the_columns_are_not_told() -> None:
    """Column mapping: the log has physical names."""
    found = delta_commit({1: commit("WRITE", START, added(**{"col-1": "d"}))}, ["dt"], START)

    assert found is not None
    assert found.partitions == ()


@pytest.mark.parametrize(
    ("columns", "keys", "whole"),
    [
        ((), ("dt",), True),
        (("DT",), ("dt", "h"), True),
        (("dt", "amount"), ("dt",), False),
        (("amount",), None, False),
        (None, ("dt",), False),
    ],
)
def test_an_overwrite_replaces_partitions_where_their_columns_alone_decide(
    columns: tuple[str, ...] | None, keys: tuple[str, ...] | None, whole: bool
) -> None:
    target = Target("file:/t", "Overwrite", partition_columns=keys, replaced_by=columns)

    assert target.replaces_partitions is whole


def reading(command: str, version: Version | None) -> CapturedQuery:
    table = Relation(("file:/t",), "iceberg", version=version)
    other = Relation(("file:/s",), "iceberg", version=Version("1", 1, "audit"))
    return CapturedQuery(command, "", Target("file:/t", "Append"), {1: table, 2: other})


BEFORE = Version("11", 4, "audit")
WRITTEN = Commit(Version("12", 5, "audit"), parent=BEFORE)


@pytest.mark.parametrize(
    ("command", "asked", "read"),
    [
        ("MergeIntoTable", Version("12", 5, "audit"), BEFORE),
        ("AppendData", Version("12", 5, "audit"), BEFORE),
        ("UpdateTable", None, BEFORE),  # a WAP branch is not named in the statement
        ("AppendData", None, None),
        ("AppendData", Version("9", 2), Version("9", 2)),
        ("AppendData", Version("9", 2, "other"), Version("9", 2, "other")),
    ],
)
def test_a_write_to_a_branch_read_what_the_branch_held_before_it(
    command: str, asked: Version | None, read: Version | None
) -> None:
    found = read_before(reading(command, asked), WRITTEN)

    assert found[1].version == read
    assert found[2].version == Version("1", 1, "audit")


def test_a_command_that_moves_no_rows_says_what_it_did_and_closes_nothing() -> None:
    query = maintained("VacuumTableCommand", Target("file:/t", "Append", "delta"), "files removed")

    write = execution_plan(query, APPLICATION)["operations"]["write"]

    assert (write["name"], write["append"]) == ("VacuumTableCommand", True)
    assert write["extra"]["reason"] == "files removed"
