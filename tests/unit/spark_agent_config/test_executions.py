"""The queries of an application's sessions, each for the listener of its session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from spark_agent_config.capture.streams import Streams
from spark_agent_config.executions import Executions, QueryListener
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node

UNUSED = Streams(lambda _: None, lambda _: None, lambda _: None, lambda batch, *_: batch)


class Listener(QueryListener):
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def onSuccess(self, function: str, _execution: Any, duration_ns: int) -> None:
        self.calls.append((function, duration_ns))

    def onFailure(self, function: str, _execution: Any, exception: Any) -> None:
        self.calls.append((function, exception))


class Settings:
    """A session's, as the JVM has them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)

    def get(self, name: str, default: str) -> str:
        return self.values.get(name, default)

    def set(self, name: str, value: str) -> None:
        self.values[name] = value


def session_of(name: str, *, copied: Node | None = None, fuse: Fuse | None = None) -> Node:
    values = {} if copied is None else copied.conf().values
    return Node(fuse or Fuse(), toString=name, conf=Settings(values))


def end_of(session: Node, *, failure: str | None = None, fuse: Fuse | None = None) -> Node:
    """``SparkListenerSQLExecutionEnd`` of a query of the session."""
    fuse = fuse or Fuse()
    execution = Node(fuse, sparkSession=session)
    return Node(
        fuse,
        qe=execution,
        executionName=Node(fuse, get="save"),
        executionFailure=Node(fuse, isDefined=failure is not None, get=failure),
        duration=7,
    )


def test_a_query_goes_to_the_listener_of_its_session_and_else_to_the_oldest() -> None:
    executions, oldest, other = Executions("p"), Listener(), Listener()
    sessions = [session_of(name) for name in ("one", "two", "of a client")]
    executions.join(sessions[0], oldest, UNUSED)
    executions.join(sessions[1], other, UNUSED)

    for session in sessions:
        executions.accept(end_of(session))

    assert oldest.calls == [("save", 7), ("save", 7)]
    assert other.calls == [("save", 7)]


def test_a_copy_that_spark_makes_of_a_session_for_a_stream_has_its_listener() -> None:
    executions, oldest, other = Executions("p"), Listener(), Listener()
    executions.join(session_of("one"), oldest, UNUSED)
    session = session_of("two")
    executions.join(session, other, UNUSED)
    executions.accept(end_of(session_of("two's", copied=session)))
    assert (oldest.calls, other.calls) == ([], [("save", 7)])


def test_a_query_is_reported_by_one_of_the_processes_that_share_an_application() -> None:
    executions, listeners = [Executions("p"), Executions("q")], [Listener(), Listener()]
    sessions = [session_of(name) for name in ("one", "two", "of a client")]
    for position in (0, 1):
        executions[position].join(sessions[position], listeners[position], UNUSED)

    for session in sessions:
        for each in executions:  # Spark calls one after the other
            each.accept(end_of(session))

    assert [len(listener.calls) for listener in listeners] == [2, 1]


def test_a_session_whose_listener_has_left_is_reported_by_none() -> None:
    executions, oldest, other = Executions("p"), Listener(), Listener()
    sessions = [session_of(name) for name in ("one", "two", "of a client")]
    marks = (
        executions.join(sessions[0], oldest, UNUSED),
        executions.join(sessions[1], other, UNUSED),
    )
    executions.accept(end_of(sessions[2]))

    assert not executions.leave(marks[0])
    for session in sessions:
        executions.accept(end_of(session))

    assert (len(oldest.calls), len(other.calls)) == (1, 2)
    assert executions.leave(marks[1])


def test_a_session_that_is_observed_again_after_a_close_is_reported() -> None:
    executions, listener, session = Executions("p"), Listener(), session_of("one")
    executions.leave(executions.join(session, Listener(), UNUSED))
    executions.join(session, listener, UNUSED)
    executions.accept(end_of(session))
    assert listener.calls == [("save", 7)]


def test_sessions_of_clients_are_reported_after_a_close_by_the_next_observation() -> None:
    client, listener = session_of("of a client"), Listener()
    former = Executions("p")
    mark = former.join(session_of("one"), Listener(), UNUSED)
    former.accept(end_of(client))
    former.leave(mark)
    executions = Executions("p")
    executions.join(session_of("one"), listener, UNUSED)
    executions.accept(end_of(client))
    assert listener.calls == [("save", 7)]


def test_an_end_without_a_plan_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    executions = Executions("p")
    executions.join(session_of("one"), Listener(), UNUSED)
    executions.accept(Node(Fuse(), qe=None))
    assert caplog.records == []


def test_a_failed_query_comes_with_its_exception() -> None:
    executions, listener, session = Executions("p"), Listener(), session_of("one")
    executions.join(session, listener, UNUSED)
    executions.accept(end_of(session, failure="no such column"))
    assert listener.calls == [("save", "no such column")]


def test_a_jvm_that_answers_nothing_fails_no_job_and_is_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    whole = Fuse()
    executions = Executions("p")
    session = session_of("one", fuse=whole)
    executions.join(session, Listener(), UNUSED)
    executions.accept(end_of(session, fuse=whole))
    for at in range(1, whole.calls + 1):
        fuse = Fuse(at)
        executions.accept(end_of(session_of("one", copied=session, fuse=fuse), fuse=fuse))
    assert [r.getMessage().partition(":")[0] for r in caplog.records] == [
        "Lineage of a query is lost"
    ]


def streams_named(name: str) -> Streams:
    return Streams(lambda _: name, lambda _: None, lambda _: None, lambda batch, *_: batch)


def test_a_stream_is_followed_by_the_one_that_saw_it_start_and_else_by_its_sessions() -> None:
    executions, oldest, other = Executions("p"), streams_named("1"), streams_named("2")
    sessions = [session_of(name) for name in ("one", "two", "of a client")]
    executions.join(sessions[0], Listener(), oldest)
    mark = executions.join(sessions[1], Listener(), other)
    running = {str(n): Node(Fuse(), sparkSession=session) for n, session in enumerate(sessions)}
    oldest.started("seen", "run")

    def follower(query: str, run: str) -> Streams | None:
        return executions.streams_of(running.get, query, run)

    assert [follower(number, "unseen") for number in "012"] == [oldest, other, oldest]
    assert follower("seen", "run") is oldest
    assert follower("gone", "unseen") is None
    executions.leave(mark)
    assert follower("1", "unseen") is None
