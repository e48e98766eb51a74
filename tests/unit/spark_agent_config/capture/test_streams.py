"""Streaming queries and nested writes: reports, their times, and that nothing is raised."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_agent_config.capture.captured import CapturedQuery, NestedWrites, Relation, Target
from spark_agent_config.capture.inspection import STREAMING_COMMAND, Inspector
from spark_agent_config.capture.streams import StreamEvents, Streams, with_progress
from tests.unit.spark_agent_config.fake_jvm import (
    Fuse,
    Node,
    identifier,
    instance,
    option,
    sequence,
    text,
)

WRITE = CapturedQuery(STREAMING_COMMAND, "[]", Target("file:/lake/out", mode="Append"))
PROGRESS = {
    "timestamp": "2026-01-02T03:04:05.678Z",
    "durationMs": {"addBatch": 900, "triggerExecution": 1000},
    "numInputRows": 7,
    "sink": {"numOutputRows": -1},
}


class Told:
    def __init__(self) -> None:
        self.writes: list[CapturedQuery] = []

    def __call__(self, query: CapturedQuery) -> None:
        self.writes.append(query)


def streams(
    told: Told, capture: Callable[[Any], CapturedQuery | None] = lambda _: WRITE
) -> Streams:
    return Streams(lambda query: f"running {query}", capture, told, lambda batch, *_: batch)


def test_a_batch_is_told_at_its_end_with_its_rows() -> None:
    answer = Told()
    following = streams(answer)
    following.started("q", "r")
    following.progressed("r", PROGRESS)

    (write,) = answer.writes
    assert write.timestamp == 1_767_323_046_678
    assert write.duration_ns == 1_000_000_000
    assert write.read_metrics == {"numOutputRows": 7}
    assert write.write_metrics == {}, "the sink does not count"
    counted = with_progress(WRITE, {**PROGRESS, "sink": {"numOutputRows": 3}})
    assert counted.write_metrics == {"numOutputRows": 3}


def test_the_plan_is_taken_once_a_run_and_idle_triggers_are_not_told() -> None:
    answer, taken = Told(), []

    def capture(running: Any) -> CapturedQuery:
        taken.append(running)
        return WRITE

    following = streams(answer, capture)
    following.started("q", "r")
    for _ in range(3):
        following.progressed("r", PROGRESS)
        following.progressed("r", {**PROGRESS, "durationMs": {"triggerExecution": 1}})

    assert (len(answer.writes), taken) == (3, ["running q"])


def test_the_plan_of_a_run_is_looked_for_and_kept_by_one_thread_at_a_time() -> None:
    following = streams(Told())
    alone = []

    class Captured(dict[str, CapturedQuery | None]):
        def __contains__(self, run: object) -> bool:
            alone.append(following._lock.locked())
            return super().__contains__(run)

        def __setitem__(self, run: str, captured: CapturedQuery | None) -> None:
            alone.append(following._lock.locked())
            super().__setitem__(run, captured)

    following._captured = Captured()
    following.started("q", "r")
    following.progressed("r", PROGRESS)

    assert alone == [True, True]


def test_a_sink_that_keeps_nothing_is_not_told() -> None:
    answer = Told()
    following = streams(answer, lambda _: None)
    following.started("q", "r")
    following.progressed("r", PROGRESS)
    following.ended("r", "broken", 5)

    assert answer.writes == []


def test_a_stream_that_ends_with_an_error_is_told_and_one_that_is_stopped_is_not() -> None:
    answer = Told()
    following = streams(answer)
    for run, error in (("r1", None), ("r2", "it broke")):
        following.started("q", run)
        following.ended(run, error, 5)
    following.ended("never-seen", "it broke", 6)

    assert answer.writes == [replace(WRITE, error="it broke", timestamp=5)]


def test_a_stream_that_cannot_be_inspected_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: Any) -> CapturedQuery:
        raise RuntimeError("no such method\n\tat java.lang.Thread")

    following = streams(Told(), broken)
    following.started("q", "r")
    for _ in range(3):
        following.progressed("r", PROGRESS)

    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "\tat" not in caplog.text


# --- the bus of the application ---------------------------------------------------------------


def progress_event(fuse: Fuse, run: str) -> Node:
    progress = json.dumps({**PROGRESS, "id": "q", "runId": run})
    return instance(fuse, "QueryProgressEvent", progress=Node(fuse, json=progress))


def event_of(fuse: Fuse, kind: str, run: str, error: str | None = None) -> Node:
    return instance(fuse, f"Query{kind}Event", id="q", runId=run, exception=option(fuse, error))


def test_streams_of_all_sessions_are_heard_on_the_bus_of_the_application() -> None:
    answer, fuse = Told(), Fuse()
    following = streams(answer)
    events = StreamEvents(lambda _, run: None if run == "of nobody" else following, lambda: 5)
    for run, error in (("r1", None), ("r2", "it broke"), ("of nobody", "it broke")):
        events.accept(event_of(fuse, "Started", run))
        events.accept(progress_event(fuse, run))
        events.accept(event_of(fuse, "Terminated", run, error))

    assert [write.error for write in answer.writes] == [None, None, "it broke"]
    assert not following.knows("r1")


def test_a_stream_that_ran_before_anybody_listened_is_heard_from_then_on() -> None:
    answer = Told()
    following = streams(answer)
    StreamEvents(lambda *_: following, lambda: 5).accept(progress_event(Fuse(), "r"))
    assert len(answer.writes) == 1


def test_an_event_that_the_jvm_does_not_explain_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events = StreamEvents(lambda *_: streams(Told()), lambda: 5)
    for _ in range(2):
        events.accept(instance(Fuse(), "QueryStartedEvent"))
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


# --- questions to a running query ------------------------------------------------------------


def running(fuse: Fuse, **answers: Any) -> Node:
    source = Node(
        fuse,
        nodeName="StreamingExecutionRelation",
        source=text(fuse, "FileStreamSource[file:/lake/in]"),
        catalogTable=option(fuse),
        output=sequence(fuse, Node(fuse, exprId=Node(fuse, id=3))),
    )
    query = Node(
        fuse,
        collectLeaves=sequence(fuse, source),
        subqueriesAll=sequence(fuse),
        schema=Node(fuse, json='{"type": "struct", "fields": []}'),
    )
    usual: dict[str, Any] = {
        "query": query,
        "toJSON": "[]",
        "outputMode": text(fuse, "Append"),
        "catalogTable": option(fuse),
        "sink": text(fuse, "FileSink[file:/lake/out]"),
    }
    return Node(fuse, logicalPlan=Node(fuse, **(usual | answers)))


class Paths:
    """``jvm.org.apache.hadoop.fs.Path(text)``."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, place: str) -> Any:
        fuse = Fuse()
        system = Node(fuse, makeQualified=lambda _: text(fuse, place))
        return Node(fuse, getFileSystem=lambda _: system)


def captured(stream: Node) -> CapturedQuery | None:
    return Inspector(Paths(), None).capture_stream(stream)


def test_a_stream_of_files_names_its_directories() -> None:
    write = captured(running(Fuse()))

    assert write is not None
    assert (write.target.uri, write.target.mode) == ("file:/lake/out", "Append")
    assert write.relations == {3: Relation(("file:/lake/in",), None)}


@pytest.mark.parametrize(
    ("sink", "mode", "expected"),
    [
        ("DeltaSink[/lake/d]", "Append", ("/lake/d", "Append", "delta")),
        ("FileSink[file:/lake/d]", "Complete", ("file:/lake/d", "Overwrite", None)),
        ("FileSink[file:/lake/d]", "Update", ("file:/lake/d", "Append", None)),
    ],
)
def test_sinks_say_where_and_how(
    sink: str, mode: str, expected: tuple[str, str, str | None]
) -> None:
    fuse = Fuse()
    write = captured(running(fuse, sink=text(fuse, sink), outputMode=text(fuse, mode)))

    assert write is not None
    assert (write.target.uri, write.target.mode, write.target.format) == expected


@pytest.mark.parametrize("sink", ["MemorySink", "ForeachBatchSink", "ConsoleSink@7"])
def test_other_sinks_are_not_told(sink: str) -> None:
    fuse = Fuse()
    assert captured(running(fuse, sink=text(fuse, sink))) is None


def test_a_stream_into_a_table_is_told_where_the_table_lies() -> None:
    fuse = Fuse()
    table = Node(
        fuse, identifier=identifier(fuse, "t", "hr"), location=text(fuse, "s3://lake/hr/t")
    )
    write = captured(running(fuse, catalogTable=option(fuse, table)))

    assert write is not None
    assert write.target.uri == "s3://lake/hr/t"
    assert write.target.table is not None


def count_of_calls() -> int:
    fuse = Fuse()
    assert captured(running(fuse)) is not None
    return fuse.calls


@pytest.mark.parametrize("number", range(1, count_of_calls() + 1))
def test_whichever_call_fails_a_stream_raises_nothing(number: int) -> None:
    fuse = Fuse(at=number)
    stream, answer = running(fuse), Told()
    inspector = Inspector(Paths(), None)
    following = Streams(
        lambda _: stream, inspector.capture_stream, answer, inspector.complete_batch
    )
    following.started("q", "r")
    following.progressed("r", PROGRESS)

    assert all(write.target.uri == "file:/lake/out" for write in answer.writes)


def test_a_query_that_cannot_be_found_raises_nothing() -> None:
    def find(_: str) -> Any:
        raise RuntimeError("gone")

    answer = Told()
    following = Streams(find, lambda _: WRITE, answer, lambda batch, *_: batch)
    following.started("q", "r")
    following.progressed("r", PROGRESS)

    assert answer.writes == []


# --- nested writes ---------------------------------------------------------------------------


def write_of(command: str, uri: str = "jdbc:h2:mem:emp", **fields: Any) -> CapturedQuery:
    return CapturedQuery(command, "[]", Target(uri), **fields)


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("SaveIntoDataSourceCommand", "InsertIntoDataSourceCommand"),
        ("AppendData", "CreateTableAsSelect"),
        ("OverwriteByExpression", "ReplaceTableAsSelect"),
    ],
)
def test_a_write_inside_another_is_told_once_with_its_counts(inner: str, outer: str) -> None:
    nested = NestedWrites()
    assert nested.admit([write_of(inner, write_metrics={"numOutputRows": 4})], 10) == []
    assert nested.next_due is not None

    (answer,) = nested.admit([write_of(outer)], 11)

    assert (answer.command, answer.write_metrics) == (outer, {"numOutputRows": 4})
    assert nested.next_due is None


def test_a_write_that_may_stand_alone_waits_a_moment_whatever_else_ends() -> None:
    nested = NestedWrites()
    alone = write_of("SaveIntoDataSourceCommand")
    nested.admit([alone], 10)
    elsewhere = write_of("InsertIntoDataSourceCommand", "jdbc:h2:mem:other")

    assert nested.admit([elsewhere], 11) == [elsewhere]
    assert nested.due(14.9) == []
    assert nested.due(15.1) == [alone]
    nested.admit([alone], 20)
    assert nested.admit([], 25.1) == [alone]
    nested.admit([alone], 30)
    assert nested.release(staged=False) == [alone]
    assert nested.release(staged=False) == []


def test_a_write_into_a_table_that_is_being_made_waits_for_the_command_that_makes_it() -> None:
    nested = NestedWrites()
    inner = write_of("OverwriteByExpression", staged=True)
    nested.admit([inner], 10)

    assert nested.due(60) == []
    assert nested.release(staged=False) == [], "nothing has happened yet"
    (answer,) = nested.admit([write_of("ReplaceTableAsSelect")], 61)
    assert answer.command == "ReplaceTableAsSelect"
    nested.admit([inner], 100)
    assert nested.due(161) == [inner], "nothing was heard of the other"
    nested.admit([inner], 200)
    assert nested.release(staged=True) == [inner]


def test_a_failed_write_into_a_table_that_is_being_made_is_told_if_nothing_follows() -> None:
    nested = NestedWrites()
    failed = write_of("AppendData", staged=True, error="no")
    nested.admit([failed], 0)

    assert nested.release(staged=False) == [failed]


def test_writes_of_several_threads_find_the_ones_around_them() -> None:
    nested = NestedWrites()
    for number in range(3):
        assert nested.admit([write_of("AppendData", f"/{number}", staged=True)], number) == []

    for number in (1, 0, 2):
        (answer,) = nested.admit([write_of("CreateTableAsSelect", f"/{number}")], 10)
        assert answer.command == "CreateTableAsSelect"
    assert nested.next_due is None


def test_a_write_that_stands_by_itself_is_told_at_once() -> None:
    nested = NestedWrites()
    append = write_of("AppendData", staged=False)

    assert nested.admit([append], 0) == [append]


def test_held_writes_are_bounded() -> None:
    nested = NestedWrites()
    listed = [write_of("AppendData", f"/{number}") for number in range(101)]

    assert nested.admit(listed, 0) == listed[:1]
