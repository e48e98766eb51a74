"""Which versions a micro-batch read and made, from the answers of Spark and the formats."""

from __future__ import annotations

from typing import Any

import pytest

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion, Target
from spark_agent_config.capture.questions import Questions
from spark_agent_config.capture.streams import (
    StreamVersions,
    delta_versions,
    is_of_batch,
)
from spark_agent_config.capture.table_versions import TableVersions
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node, sequence


def offset(version: int, index: int = -1, *, starting: bool = False) -> dict[str, Any]:
    return {"reservoirVersion": version, "index": index, "isStartingVersion": starting}


@pytest.mark.parametrize(
    ("start", "end", "read"),
    [
        (None, offset(3), TableVersion("2", 2)),
        (None, offset(2, 7, starting=True), TableVersion("2", 2)),
        (offset(2, 7, starting=True), offset(5), TableVersion("4", 4)),
        (offset(3), offset(5), TableVersion("4", 4, since=3)),
        (offset(3, 2), offset(4, 1), TableVersion("4", 4, since=3)),
        (offset(3), offset(3, 0), TableVersion("3", 3, since=3)),
        (offset(3), offset(3), None),
        (None, offset(0), None),
        (None, None, None),
        (None, {"logOffset": 4}, None),
    ],
)
def test_offsets_of_delta_are_versions(start: Any, end: Any, read: TableVersion | None) -> None:
    assert delta_versions(start, end) == read


@pytest.mark.parametrize(
    ("end", "read"),
    [(offset(4), TableVersion("3", 3, since=2)), (offset(2), None)],
)
def test_a_stream_that_starts_at_a_version_reads_changes_from_there_on(
    end: Any, read: TableVersion | None
) -> None:
    assert delta_versions(None, end, 2) == read
    assert delta_versions(offset(2), end, None) == read


def test_a_commit_of_delta_names_its_stream_and_batch() -> None:
    actions = [{"commitInfo": {}}, {"txn": {"appId": "q", "version": 4}}, {"add": {}}]
    assert is_of_batch(actions, "q", 4)
    assert not is_of_batch(actions, "q", 5)
    assert not is_of_batch(actions, "another", 4)
    assert not is_of_batch([{"add": {}}], "q", 4)


def snapshot(fuse: Fuse, number: int, **summary: str) -> Node:
    return Node(
        fuse,
        snapshotId=100 + number,
        sequenceNumber=number,
        parentId=99 + number,
        timestampMillis=number,
        summary=summary,
        addedDataFiles=[],
        removedDataFiles=[],
        addedDeleteFiles=[],
    )


def iceberg(fuse: Fuse, *snapshots: Node) -> Node:
    listed = Node(fuse, size=len(snapshots), get=lambda place: snapshots[place])
    by_id = {100 + number: each for number, each in enumerate(snapshots, start=1)}
    return Node(fuse, snapshots=listed, snapshot=by_id.get, specs={}, io=None)


def batch_of_iceberg(
    fuse: Fuse, start: dict[str, int] | None, batch: int, began: str | None = None
) -> CapturedQuery:
    """A stream from a table with three snapshots of two files into one that it wrote twice.

    It is joined with files: their leaf has no method ``table``, which py4j says when it is called.
    """
    files = {"added-data-files": "2"}
    source = iceberg(fuse, *(snapshot(fuse, number, **files) for number in (1, 2, 3)))
    streamed = {"spark.sql.streaming.queryId": "q"}
    made = [{**streamed, "spark.sql.streaming.epochId": str(number)} for number in (0, 1)]
    written = iceberg(fuse, *(snapshot(fuse, n, **item) for n, item in enumerate(made, start=1)))
    options = Node(fuse, get={"stream-from-timestamp": began}.get)
    streaming = Node(fuse, table=Node(fuse, table=source), extraOptions=options)
    static = Node(fuse)
    running = Node(
        fuse,
        analyzedPlan=Node(fuse, collectLeaves=sequence(fuse, streaming, static)),
        logicalPlan=Node(fuse, table=Node(fuse, table=written)),
    )
    end = {"snapshot_id": 103, "position": 2}
    progress = {
        "id": "q",
        "batchId": batch,
        "sources": [{"description": "stream@1", "startOffset": start, "endOffset": end}],
    }
    relations = {3: Relation(("file:/ice/s",), "iceberg"), 4: Relation(("file:/dim",), "parquet")}
    query = CapturedQuery("w", "[]", Target("file:/ice/t", "Append", "iceberg"), relations)
    questions = Questions()
    versions = StreamVersions(questions, TableVersions(questions, Node(fuse), None))
    return versions.complete(query, running, progress)


@pytest.mark.parametrize(
    ("start", "since"),
    [
        (None, None),
        ({"snapshot_id": 102, "position": 2}, 3),
        ({"snapshot_id": 102, "position": 1}, 2),
        ({"snapshot_id": 103, "position": 1}, 3),
    ],
)
def test_a_batch_of_iceberg_has_the_version_that_it_made_and_those_that_it_read(
    start: dict[str, int] | None, since: int | None
) -> None:
    answer = batch_of_iceberg(Fuse(), start, 1)
    assert answer.written_version == TableVersion("102", 2, "main")
    assert answer.relations[3].version == TableVersion("103", 3, since=since)
    assert answer.relations[4].version is None
    assert batch_of_iceberg(Fuse(), start, 7).written_version is None


@pytest.mark.parametrize(
    ("began", "start", "since"),
    [
        ("3", None, 3),
        ("2", None, 2),
        ("1", None, None),  # perhaps older ones than the newest snapshots are read, too
        ("9", None, None),
        ("2", {"snapshot_id": 102, "position": 2}, 3),
    ],
)
def test_a_stream_of_iceberg_that_starts_at_a_time_reads_changes_from_there_on(
    began: str, start: dict[str, int] | None, since: int | None
) -> None:
    answer = batch_of_iceberg(Fuse(), start, 1, began)
    assert answer.relations[3].version == TableVersion("103", 3, since=since)


@pytest.mark.parametrize("at", range(1, 40))
def test_an_answer_that_does_not_come_leaves_the_batch_as_it_is(at: int) -> None:
    answer = batch_of_iceberg(Fuse(at), None, 1)
    assert answer.target.uri == "file:/ice/t"
    assert set(answer.relations) == {3, 4}
