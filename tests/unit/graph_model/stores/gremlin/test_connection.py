"""Connections to a Gremlin server heal, have time limits, and give failures their names."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from graph_model.errors import GraphRejected, GraphTimeout, GraphUnavailable
from graph_model.stores.gremlin import traversals
from graph_model.stores.gremlin.connection import Connections, Limits
from graph_model.stores.gremlin.dialect import (
    EMBEDDED,
    NEPTUNE,
    Dialect,
    FailureAction,
    Retry,
    judge,
)
from tests.unit.graph_model.stores.gremlin.fake_gremlin import (
    Exchange,
    FakeGremlin,
    Pauses,
    answer,
    close_with,
    fail,
    hang_up,
    reply,
    reply_after,
    reply_in_parts,
    reply_to_another,
    send_raw,
    stay_silent,
)
from tests.waiting import eventually

CONFLICT = "Conflict: element modified in another transaction"
ASK = traversals.ping()


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


PATIENT = Limits(connections=2, connect=60.0, wait=60.0, answer=60.0, grace=0.0, stream=60.0)
QUICK = replace(PATIENT, wait=0.2, answer=0.2)  # where a limit passes; else a busy machine does


@contextmanager
def connected(
    server: FakeGremlin,
    *,
    limits: Limits = PATIENT,
    dialect: Dialect = EMBEDDED,
    pauses: Callable[[float], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    headers: Callable[[], dict[str, str]] = dict,
) -> Iterator[Connections]:
    connections = Connections(
        server.url,
        dialect,
        limits=limits,
        headers=headers,
        clock=clock,
        sleep=pauses or Pauses(),
        chance=lambda: 1.0,
    )
    try:
        yield connections
    finally:
        connections.close()


# --- answers -------------------------------------------------------------------------------------


def test_an_answer_is_the_items_of_all_its_parts() -> None:
    with FakeGremlin(reply_in_parts([1, 2], ["three"], [])) as server, connected(server) as graph:
        assert graph.submit(ASK) == [1, 2, "three"]


def test_one_connection_serves_many_requests() -> None:
    with FakeGremlin(reply(1)) as server, connected(server) as graph:
        for _ in range(5):
            assert graph.submit(ASK) == [1]
        assert server.connections == 1


def test_a_stream_gives_parts_as_they_arrive() -> None:
    with FakeGremlin(reply_in_parts([1], [2], [3])) as server, connected(server) as graph:
        assert list(graph.stream(ASK)) == [[1], [2], [3]]
        assert graph.submit(ASK) == [1, 2, 3]
        assert server.connections == 1


def test_a_stream_that_is_left_does_not_leave_its_rest_to_the_next_question() -> None:
    script = (reply_in_parts([1], [2], [3]), reply("mine"))
    with FakeGremlin(*script) as server, connected(server) as graph:
        stream = graph.stream(ASK)
        assert next(stream) == [1]
        stream.close()  # type: ignore[attr-defined]
        assert graph.submit(ASK) == ["mine"]


def test_the_headers_are_asked_at_every_handshake() -> None:
    signatures = iter(["first", "second"])
    with (
        FakeGremlin(reply(1), hang_up(), reply(2)) as server,
        connected(server, headers=lambda: {"Authorization": next(signatures)}) as graph,
    ):
        graph.submit(ASK)
        graph.submit(ASK)
        assert [each["Authorization"] for each in server.headers] == ["first", "second"]


# --- time ----------------------------------------------------------------------------------------


def test_a_late_answer_is_never_given_to_the_next_question() -> None:
    timed_out = threading.Event()
    script = (reply_after(timed_out, "late"), reply("mine"))
    with FakeGremlin(*script) as server, connected(server, limits=QUICK) as graph:
        with pytest.raises(GraphTimeout):
            graph.submit(ASK)
        timed_out.set()
        assert graph.submit(ASK, seconds=60.0) == ["mine"]
        assert server.connections == 2


def test_a_question_that_took_too_long_is_not_asked_again() -> None:
    with FakeGremlin(stay_silent()) as server, connected(server, limits=QUICK) as graph:
        with pytest.raises(GraphTimeout):
            graph.submit(ASK)
        assert len(server.requests) == 1


def test_a_server_that_gives_up_in_time_is_a_timeout() -> None:
    with FakeGremlin(fail(598, "A timeout occurred")) as server, connected(server) as graph:
        with pytest.raises(GraphTimeout):
            graph.submit(ASK)
        assert len(server.requests) == 1


def test_waiting_for_a_free_connection_ends() -> None:
    limits, gate = replace(QUICK, connections=1, answer=60.0), threading.Event()
    with FakeGremlin(reply_after(gate, 1)) as server, connected(server, limits=limits) as graph:
        other = threading.Thread(target=graph.submit, args=(ASK,))
        other.start()
        while not server.requests:
            time.sleep(0.01)
        with pytest.raises(GraphTimeout, match="busy"):
            graph.submit(ASK)
        gate.set()
        other.join()


def test_a_failed_connect_gives_its_place_back() -> None:
    limits = replace(PATIENT, connections=1)
    with (
        FakeGremlin(reply(1), handshakes=[500, 500, 101]) as server,
        connected(server, limits=limits) as graph,
    ):
        for _ in range(2):
            with pytest.raises(GraphUnavailable):
                graph.submit(ASK)
        assert graph.submit(ASK) == [1]


def test_more_threads_than_connections_all_get_their_own_answers() -> None:
    async def echo(exchange: Exchange) -> None:
        await exchange.send([exchange.request[-1]])

    answers: list[list[Any]] = []
    with FakeGremlin(echo) as server, connected(server) as graph:
        threads = [
            threading.Thread(target=lambda: answers.append(graph.submit(ASK))) for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 12
        assert server.connections <= 2


def test_an_old_idle_connection_is_not_trusted() -> None:
    clock = Clock()
    with FakeGremlin(reply(1)) as server, connected(server, clock=clock) as graph:
        graph.submit(ASK)
        clock.now += PATIENT.idle - 1
        graph.submit(ASK)
        assert server.connections == 1
        clock.now += PATIENT.idle + 1
        graph.submit(ASK)
        assert server.connections == 2


# --- broken connections --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        hang_up(),
        hang_up("a part"),
        reply_to_another("not yours"),
        send_raw(b"\x81 rubbish"),
        close_with(1001),
    ],
    ids=["hang up", "hang up in the middle", "another's answer", "rubbish", "going away"],
)
def test_a_broken_connection_is_replaced_and_the_question_asked_again(broken: Any) -> None:
    with FakeGremlin(broken, reply("mine")) as server, connected(server) as graph:
        assert graph.submit(ASK) == ["mine"]
        assert server.connections == 2


def test_a_server_that_always_hangs_up_is_unavailable() -> None:
    with FakeGremlin(hang_up()) as server, connected(server) as graph:
        with pytest.raises(GraphUnavailable):
            graph.submit(ASK)
        assert len(server.requests) == EMBEDDED.retry(FailureAction.BROKEN).attempts


def test_an_error_that_broke_one_connection_is_not_tried_on_the_other_idle_ones() -> None:
    limits = replace(PATIENT, connections=6)
    gate = threading.Event()
    script = (*[reply_after(gate, 1)] * 6, hang_up(), reply("mine"))
    with FakeGremlin(*script) as server, connected(server, limits=limits) as graph:
        threads = [threading.Thread(target=graph.submit, args=(ASK,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(server.requests) == 6)
        gate.set()
        for thread in threads:
            thread.join()
        assert server.connections == 6
        assert graph.submit(ASK) == ["mine"]
        assert server.connections == 7


def test_a_stream_that_breaks_in_the_middle_is_unavailable() -> None:
    with FakeGremlin(hang_up("a part")) as server, connected(server) as graph:
        stream = graph.stream(ASK)
        assert next(stream) == ["a part"]
        with pytest.raises(GraphUnavailable):
            next(stream)


def test_nobody_listening_is_unavailable_and_names_the_address() -> None:
    with FakeGremlin(reply(1)) as server:
        url = server.url
    graph = Connections(url, EMBEDDED, limits=PATIENT, sleep=Pauses())
    with pytest.raises(GraphUnavailable, match=url):
        graph.submit(ASK)
    graph.close()


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_handshake_is_unavailable_at_once(status: int) -> None:
    with FakeGremlin(reply(1), handshakes=[status] * 9) as server, connected(server) as graph:
        with pytest.raises(GraphUnavailable, match=f"HTTP {status}"):
            graph.submit(ASK)
        assert len(server.headers) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_full_is_asked_again_later(status: int) -> None:
    with (
        FakeGremlin(reply(1), handshakes=[status, status, 101]) as server,
        connected(server) as graph,
    ):
        assert graph.submit(ASK) == [1]


def test_a_request_that_the_server_finds_too_large_is_rejected() -> None:
    with FakeGremlin(close_with(1009)) as server, connected(server) as graph:
        with pytest.raises(GraphRejected):
            graph.submit(ASK)
        assert len(server.requests) == 1


def test_an_answer_larger_than_we_accept_is_rejected() -> None:
    limits = replace(PATIENT, message_bytes=2000)
    with (
        FakeGremlin(reply("x" * 4000)) as server,
        connected(server, limits=limits) as graph,
        pytest.raises(GraphRejected),
    ):
        graph.submit(ASK)


# --- errors of the server ------------------------------------------------------------------------


def test_a_conflict_is_tried_again_after_growing_pauses() -> None:
    pauses = Pauses()
    dialect = replace(EMBEDDED, retries={FailureAction.CONFLICT: Retry(5, 0.1, 0.3)})
    script = (*[fail(500, CONFLICT)] * 4, reply("done"))
    with (
        FakeGremlin(*script) as server,
        connected(server, dialect=dialect, pauses=pauses) as graph,
    ):
        assert graph.submit(ASK) == ["done"]
        assert pauses.taken == pytest.approx([0.1, 0.2, 0.3, 0.3])
        assert server.connections == 1


def test_pauses_are_spread_by_chance_but_never_below_half() -> None:
    pauses = Pauses()
    dialect = replace(EMBEDDED, retries={FailureAction.CONFLICT: Retry(2, 0.1, 1.0)})
    with FakeGremlin(fail(500, CONFLICT), reply(1)) as server:
        graph = Connections(server.url, dialect, limits=PATIENT, sleep=pauses, chance=lambda: 0.0)
        graph.submit(ASK)
        graph.close()
    assert pauses.taken == pytest.approx([0.05])


def test_conflicts_without_end_are_unavailable() -> None:
    with FakeGremlin(fail(500, CONFLICT)) as server, connected(server) as graph:
        with pytest.raises(GraphUnavailable, match="Conflict"):
            graph.submit(ASK)
        assert len(server.requests) == EMBEDDED.retry(FailureAction.CONFLICT).attempts


def test_a_wrong_request_is_rejected_once_and_the_connection_kept() -> None:
    script = (fail(500, "Vertex does not exist: x"), reply(1))
    with FakeGremlin(*script) as server, connected(server) as graph:
        with pytest.raises(GraphRejected, match="does not exist"):
            graph.submit(ASK)
        assert graph.submit(ASK) == [1]
        assert server.connections == 1


def test_an_error_about_a_request_that_nobody_could_read_is_an_error() -> None:
    async def nameless(exchange: Exchange) -> None:
        await exchange.socket.send_bytes(answer(None, (), 498, "could not be parsed"))

    with (
        FakeGremlin(nameless) as server,
        connected(server) as graph,
        pytest.raises(GraphRejected, match="could not be parsed"),
    ):
        graph.submit(ASK)


def test_a_writer_that_became_a_reader_is_left_for_a_new_connection() -> None:
    violation = fail(400, '{"code": "ReadOnlyViolationException", "detailedMessage": "moved"}')
    with (
        FakeGremlin(violation, reply("written")) as server,
        connected(server, dialect=NEPTUNE) as graph,
    ):
        assert graph.submit(ASK) == ["written"]
        assert server.connections == 2


@pytest.mark.parametrize(
    ("code", "message", "verdict"),
    [
        (500, CONFLICT, FailureAction.CONFLICT),
        (500, "java.util.ConcurrentModificationException", FailureAction.CONFLICT),
        (500, "Vertex with id already exists: ds_1", FailureAction.CONFLICT),
        (500, '{"code":"ConcurrentModificationException"}', FailureAction.CONFLICT),
        (500, '{"code":"ThrottlingException"}', FailureAction.BUSY),
        (500, '{"code":"MemoryLimitExceededException"}', FailureAction.STRAINED),
        (500, '{"code":"TimeLimitExceededException"}', FailureAction.TIMEOUT),
        (500, '{"code":"MalformedQueryException"}', FailureAction.REJECTED),
        (500, '{"code":"ReadOnlyViolationException"}', FailureAction.MOVED),
        (500, "{not json", FailureAction.REJECTED),
        (429, "Rate limiting", FailureAction.BUSY),
        (596, "temporary", FailureAction.CONFLICT),
        (598, "", FailureAction.TIMEOUT),
        (597, "a script that cannot be read", FailureAction.REJECTED),
        (407, "", FailureAction.REFUSED),
        (499, "", FailureAction.REJECTED),
    ],
)
def test_errors_are_judged_by_their_words_then_their_number(
    code: int, message: str, verdict: FailureAction
) -> None:
    assert judge(code, message) is verdict


# --- the end -------------------------------------------------------------------------------------


def test_a_closed_graph_answers_nothing_more() -> None:
    with FakeGremlin(reply(1)) as server:
        graph = Connections(server.url, EMBEDDED, limits=PATIENT)
        graph.submit(ASK)
        graph.close()
        graph.close()
        with pytest.raises(GraphUnavailable, match="closed"):
            graph.submit(ASK)
        assert len(server.requests) == 1


def test_a_child_process_opens_connections_of_its_own() -> None:
    with FakeGremlin(reply(1)) as server, connected(server) as graph:
        graph.submit(ASK)
        ours, theirs = os.pipe()
        with warnings.catch_warnings():  # newer Pythons warn about forking with threads
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            try:
                os.write(theirs, repr(graph.submit(ASK)).encode())
            finally:
                os._exit(0)
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            assert pipe.read() == b"[1]"
        os.waitpid(child, 0)
        assert server.connections == 2
        assert graph.submit(ASK) == [1]
        assert server.connections == 2
