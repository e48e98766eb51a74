"""Which commit of a Delta table is a command's, and its partitions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion, Target
from spark_agent_config.capture.plan_document import execution_plan
from spark_agent_config.capture.procedures import maintained
from spark_agent_config.capture.questions import Questions
from spark_agent_config.capture.table_versions import (
    Commit,
    Period,
    TableVersions,
    commits_after,
    delta_commit,
    made_on_main,
    names_in_the_log,
    newest_history,
    only_one_of,
    read_before,
    with_commit,
)
from tests.captured_queries import APPLICATION
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node, instance

START = 1_000
PERIOD = Period(START, START + 60)


def commit(operation: str, at: int, *files: dict[str, Any], **metrics: str) -> str:
    information = {"timestamp": at, "operation": operation, "operationMetrics": metrics}
    return "\n".join(map(json.dumps, [{"commitInfo": information}, *files]))


def added(**values: str | None) -> dict[str, Any]:
    return {"add": {"path": "x", "partitionValues": values, "dataChange": True}}


def removed(**values: str | None) -> dict[str, Any]:
    return {"remove": {"path": "x", "partitionValues": values}}


def test_the_commit_while_the_command_ran_is_its() -> None:
    texts = {
        9: commit("WRITE", START + 90),
        8: commit("OPTIMIZE", START + 55),
        7: commit("WRITE", START + 50, added(dt="d 1"), removed(dt=None), numOutputRows="6", x="?"),
        6: commit("WRITE", START - 1),
    }

    result = delta_commit(texts.items(), {"dt": "dt"}, PERIOD)

    assert result is not None
    assert result.version == TableVersion("7", 7)
    assert result.counts == {"numOutputRows": 6}
    assert result.partitions == ("dt=__HIVE_DEFAULT_PARTITION__", "dt=d%201")


@pytest.mark.parametrize(
    "texts",
    [
        {7: commit("WRITE", START + 50), 6: commit("MERGE", START + 20)},
        {7: commit("OPTIMIZE", START + 50)},
        {7: commit("WRITE", START - 1)},
        {7: commit("WRITE", START + 61)},
        {7: ""},
        {},
    ],
)
def test_no_commit_is_taken_where_it_may_be_anothers(texts: dict[int, str]) -> None:
    assert delta_commit(texts.items(), {}, PERIOD) is None


def test_commits_before_the_command_are_not_read() -> None:
    commits = iter([(7, commit("WRITE", START)), (6, commit("WRITE", START - 1)), (5, "")])

    result = delta_commit(commits, {}, PERIOD)

    assert result is not None
    assert list(commits) == [(5, "")]


class Snapshot:
    """An Iceberg snapshot that knows its time and its id."""

    def __init__(self, made_at: int, key: int = 0) -> None:
        self.made_at = made_at
        self.key = key

    def timestampMillis(self) -> int:
        return self.made_at

    def snapshotId(self) -> int:
        return self.key


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ([START + 61, START + 60, START - 1], START + 60),
        ([START, START - 1, START + 5], START),  # older commits are not looked at
        ([START + 2, START + 1], None),
        ([START + 61, START - 1], None),
        ([], None),
    ],
)
def test_a_snapshot_is_a_commands_where_it_alone_was_made_meanwhile(
    times: list[int], found: int | None
) -> None:
    snapshot = only_one_of(map(Snapshot, times), PERIOD)

    assert (snapshot and snapshot.made_at) == found


def test_partitions_under_physical_names_are_told_by_their_columns() -> None:
    """Column mapping: the log has names that only the table's schema knows."""
    commits = [(1, commit("WRITE", START, added(**{"col-1": "d"})))]
    schema = {"name": "dt", "metadata": {"delta.columnMapping.physicalName": "col-1"}}

    columns = names_in_the_log(["dt"], json.dumps({"fields": [schema, {"name": "id"}]}))
    result = delta_commit(commits, columns, PERIOD)
    other = delta_commit(commits, {"dt": "dt"}, PERIOD)

    assert result is not None
    assert other is not None
    assert result.partitions == ("dt=d",)
    assert other.partitions == (), "names that are not the columns'"


@pytest.mark.parametrize(
    ("target", "leaves_some", "dynamic"),
    [
        (Target("file:/t", "Overwrite", "delta"), True, True),
        (Target("file:/t", "Overwrite", "delta"), False, None),
        (Target("file:/t", "Append", "delta"), True, None),
        (Target("file:/t", "Overwrite", dynamic_partition_overwrite=False), True, False),
    ],
)
def test_an_overwrite_that_leaves_files_is_dynamic_by_a_setting_of_the_session(
    target: Target, leaves_some: bool, dynamic: bool | None
) -> None:
    made = Commit(TableVersion("1", 1), {}, ("dt=d",), ("dt",), leaves_some=leaves_some)

    answer = with_commit(CapturedQuery("AppendData", "", target), made)

    assert answer.target.dynamic_partition_overwrite is dynamic
    assert answer.written_partitions == ("dt=d",)


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


def reading(command: str, version: TableVersion | None) -> CapturedQuery:
    table = Relation(("file:/t",), "iceberg", version=version)
    other = Relation(("file:/s",), "iceberg", version=TableVersion("1", 1, "audit"))
    return CapturedQuery(command, "", Target("file:/t", "Append"), {1: table, 2: other})


BEFORE = TableVersion("11", 4, "audit")
NAMED = Commit(TableVersion("12", 5, "audit"), parent=BEFORE)
OF_SESSION = replace(NAMED, branch_of_session=True)  # spark.wap.branch: no statement names it


@pytest.mark.parametrize("command", ["MergeIntoTable", "UpdateTable", "AppendData"])
@pytest.mark.parametrize(
    ("commit", "asked", "read"),
    [
        (NAMED, TableVersion("12", 5, "audit"), BEFORE),
        (NAMED, None, None),  # MERGE INTO t.branch_audit USING t reads main
        (OF_SESSION, None, BEFORE),
        (OF_SESSION, TableVersion("12", 5, "audit"), BEFORE),
        (OF_SESSION, TableVersion("9", 2), TableVersion("9", 2)),
        (OF_SESSION, TableVersion("9", 2, "other"), TableVersion("9", 2, "other")),
    ],
)
def test_a_write_to_a_branch_read_the_content_that_the_branch_had_before(
    command: str, commit: Commit, asked: TableVersion | None, read: TableVersion | None
) -> None:
    versions = read_before(reading(command, asked), commit)

    assert versions[1].version == read
    assert versions[2].version == TableVersion("1", 1, "audit")


def test_an_incremental_read_of_the_table_itself_ends_before_the_write() -> None:
    written = Commit(TableVersion("12", 5, "main"), parent=TableVersion("11", 4, "main"))

    result = read_before(reading("AppendData", TableVersion("12", 5, since=3)), written)

    assert result[1].version == TableVersion("11", 4, since=3)


def snapshot(fuse: Fuse, number: int) -> Node:
    return Node(fuse, snapshotId=number * 11, sequenceNumber=number, timestampMillis=number)


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ({"end-snapshot-id": "33"}, TableVersion("33", 3, since=2)),
        ({}, TableVersion("44", 4, since=2)),
        ({"branch": "audit"}, TableVersion("55", 5, "audit", since=2)),
    ],
)
def test_an_incremental_read_of_iceberg_saw_the_commits_after_its_first_snapshot(
    options: dict[str, str], read: TableVersion
) -> None:
    fuse = Fuse()
    snapshots = {number * 11: snapshot(fuse, number) for number in (1, 3)}
    branches = {"main": snapshot(fuse, 4), "audit": snapshot(fuse, 5)}
    table = Node(fuse, snapshot=(snapshots | branches).get)

    assert commits_after(table, {"start-snapshot-id": "11", **options}) == read


@pytest.mark.parametrize(
    ("stages", "setting", "read"),
    [
        ("true", "nightly", TableVersion("77", 7, "nightly")),
        ("true", "unborn", None),  # the first write makes the branch
        ("true", None, None),
        (None, "nightly", None),  # the table does not stage writes
    ],
)
def test_a_read_that_names_no_branch_is_one_of_the_branch_of_its_session(
    stages: str | None, setting: str | None, read: TableVersion | None
) -> None:
    fuse = Fuse()
    held = Node(
        fuse,
        properties=Node(fuse, get={"write.wap.enabled": stages}.get),
        refs=Node(fuse, get={"nightly": "its reference"}.get),
        snapshot={"nightly": snapshot(fuse, 7)}.get,
        currentSnapshot=None,
    )
    asked = Node(fuse, table=held, snapshotId=None, branch=None)
    session = Node(fuse, conf=Node(fuse, get=lambda name, _: {"spark.wap.branch": setting}[name]))
    versions = TableVersions(Questions(), Node(fuse), None)

    assert versions.of_iceberg_table(asked, {}, session) == read
    assert versions.of_iceberg_table(asked, {}, None) is None


def creating(fuse: Fuse, *commits: int) -> tuple[Node, Node]:
    """CREATE TABLE AS SELECT of Iceberg, planned at START, and its table with such commits."""
    made = [Node(fuse, timestampMillis=at) for at in commits]
    held = Node(fuse, snapshots=Node(fuse, size=len(made), get=lambda place: made[place]))
    catalog = Node(fuse, loadTable=lambda _: Node(fuse, table=held))
    name = Node(fuse, catalog=catalog, identifier="t")
    planning = Node(fuse, startTimeMs=START)
    phases = Node(fuse, apply=lambda _: planning)
    running = Node(fuse, tracker=Node(fuse, phases=phases))
    return instance(fuse, "CreateTableAsSelect", name=name), running


def is_untouched(fuse: Fuse, *commits: int) -> bool:
    versions = TableVersions(Questions(), Node(fuse), None)
    query = CapturedQuery("CreateTableAsSelect", "", Target("file:/t", "Ignore", "iceberg"))
    return versions.is_untouched(query, *creating(fuse, *commits))


def test_a_table_whose_newest_commit_is_older_than_the_command_was_left_alone() -> None:
    assert is_untouched(Fuse(), START - 9, START - 1)
    assert is_untouched(Fuse())
    assert not is_untouched(Fuse(), START - 9, START)


def test_a_write_is_told_where_the_table_does_not_answer() -> None:
    whole = Fuse()
    is_untouched(whole, START - 1)
    assert [is_untouched(Fuse(at), START - 1) for at in range(1, whole.calls + 1)] == [
        False
    ] * whole.calls


def test_a_command_that_moves_no_rows_names_its_effect_and_closes_nothing() -> None:
    query = maintained("VacuumTableCommand", Target("file:/t", "Append", "delta"), "files removed")

    write = execution_plan(query, APPLICATION)["operations"]["write"]

    assert (write["name"], write["append"]) == ("VacuumTableCommand", True)
    assert write["extra"]["reason"] == "files removed"


HISTORY = [(10, 1), (20, 2), (35, 3)]


@pytest.mark.parametrize(
    ("history", "snapshot", "made_at", "expected"),
    [
        (HISTORY, 2, 20, (True, False)),
        (HISTORY, 3, 30, (False, False)),
        ([*HISTORY, (40, 2)], 2, 20, (True, False)),
        (HISTORY, 3, 35, (True, True)),
        ([], 3, 35, (False, False)),
    ],
    ids=["older", "published", "rolled back", "newest", "no history"],
)
def test_a_snapshot_was_committed_to_main_where_its_own_time_stands_in_the_history(
    history: list[tuple[int, int]], snapshot: int, made_at: int, expected: tuple[bool, bool]
) -> None:
    assert made_on_main(history, Snapshot(made_at, snapshot)) == expected


class Entries:
    """The text that Iceberg's history writes of itself."""

    def __init__(self, entries: list[tuple[int, int]]) -> None:
        self.entries = entries

    def history(self) -> Entries:
        return self

    def size(self) -> int:
        return len(self.entries)

    def subList(self, since: int, until: int) -> Entries:
        return Entries(self.entries[since:until])

    def toString(self) -> str:
        first = "SnapshotLogEntry{{timestampMillis={}, snapshotId={}}}"
        return f"[{', '.join(first.format(*entry) for entry in self.entries)}]"


def test_of_a_long_history_the_newest_entries_are_looked_at() -> None:
    entries = [(number, number + 7) for number in range(300)]

    assert newest_history(Entries(entries[:2])) == [(0, 7), (1, 8)]
    assert newest_history(Entries(entries)) == entries[-200:]
