"""A load through an endpoint that fails as Neptune does, at every point: nothing lost or twice.

The endpoint is a proxy (``fake_gremlin``) before a real Gremlin Server that is set up like
Neptune: an element written twice would show as a property with two values, which no reader of
ours takes.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from graph_model.errors import GraphRejected, GraphTimeout, GraphUnavailable
from graph_model.facts import Facts, merge
from graph_model.stores.gremlin.connection import Connections
from graph_model.stores.gremlin.dialect import NEPTUNE, FailureAction
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from tests.contract.facts_to_write import everything, facts, plan, vertex, whole
from tests.contract.gremlin_server import PATIENT
from tests.unit.graph_model.stores.gremlin.fake_gremlin import (
    Exchange,
    FakeGremlin,
    Pauses,
    Step,
    close_with,
    fail,
    forward,
    forward_and,
    forward_half,
    forward_then,
    hang_up,
    reply,
    send_raw,
)

pytestmark = pytest.mark.engine

SMALL: Final = replace(NEPTUNE, batch_elements=8)
FEW: Final = replace(PATIENT, connections=2, grace=0.0)
WRITTEN: Final = merge([plan("one", executions=2), plan("other")])


def error(code: str, status: int = 500) -> Step:
    """As Neptune says it: the number tells little, the code in the message names the error."""
    return fail(status, json.dumps({"requestId": "0-0", "code": code, "detailedMessage": "…"}))


@dataclass
class Line:
    """A graph behind the endpoint, and the requests that the endpoint saw."""

    graph: GremlinGraph
    connections: Connections
    server: FakeGremlin
    pauses: Pauses


def note(done: threading.Event) -> Step:
    """Says to the test, instead of an answer to the client, that the server did as asked."""

    async def step(_exchange: Exchange) -> None:
        done.set()

    return step


@contextmanager
def line(script: Sequence[Step], *, handshakes: Sequence[int] = ()) -> Iterator[Line]:
    pauses = Pauses()
    with FakeGremlin(*script, handshakes=handshakes) as server:
        connections = Connections(server.url, SMALL, limits=FEW, sleep=pauses, chance=lambda: 0.5)
        graph = GremlinGraph(connections)
        try:
            yield Line(graph, connections, server, pauses)
        finally:
            graph.close()


@pytest.fixture
def behind(neptune_url: str) -> Iterator[GremlinGraph]:
    """The engine itself, empty, without the endpoint."""
    graph = open_graph(neptune_url, dialect="neptune", limits=PATIENT)
    graph.clear()
    yield graph
    graph.close()


@pytest.fixture
def requests(neptune_url: str, behind: GremlinGraph) -> int:
    """How many requests the load takes when nothing fails."""
    with line([forward(neptune_url)]) as undisturbed:
        undisturbed.graph.write(WRITTEN)
        assert everything(behind) == whole(WRITTEN)
        assert undisturbed.pauses.taken == []
        assert undisturbed.server.connections == 1
        return len(undisturbed.server.requests)


# name -> (the faults from one engine's address, further requests, further connections)
Fault = Callable[[str], list[Step]]
HEALED: Final[dict[str, tuple[Fault, int, int]]] = {
    "conflict": (lambda url: [error("ConcurrentModificationException")], 1, 0),
    "conflicts in a row": (lambda url: [error("ConcurrentModificationException")] * 9, 9, 0),
    "throttling": (lambda url: [error("ThrottlingException")], 1, 0),
    "too many requests": (lambda url: [error("TooManyRequestsException", 429)], 1, 0),
    "queue full": (lambda url: [error("QueryLimitExceededException")], 1, 0),
    "memory": (lambda url: [error("MemoryLimitExceededException")] * 2, 2, 0),
    "internal failure": (lambda url: [error("InternalFailureException")], 1, 0),
    "maintenance": (lambda url: [error("CancelledByMaintenanceException")], 1, 0),
    "failover": (lambda url: [error("ReadOnlyViolationException", 400)], 1, 1),
    "a slow failover": (lambda url: [error("ReadOnlyViolationException", 400)] * 7, 7, 7),
    "shutdown": (lambda url: [error("ServerShutdownException"), hang_up()], 2, 2),
    "cut before it was done": (lambda url: [hang_up()], 1, 1),
    "cut after it was done": (lambda url: [forward_and(url, hang_up())], 1, 1),
    "cut after part of the answer": (lambda url: [forward_and(url, hang_up("x"))], 1, 1),
    "half an answer": (lambda url: [forward_half(url)], 1, 1),
    "rubbish after it was done": (lambda url: [forward_and(url, send_raw(b"\x81\0"))], 1, 1),
    "going away after it was done": (lambda url: [forward_and(url, close_with(1001))], 1, 1),
    "idle close": (lambda url: [forward_then(url, close_with(1000))], 1, 1),
    "cut when idle": (lambda url: [forward_then(url, hang_up())], 1, 1),
    "conflict, then cut": (
        lambda url: [error("ConcurrentModificationException"), forward_and(url, hang_up())],
        2,
        1,
    ),
}


@pytest.mark.parametrize("name", HEALED)
def test_a_fault_at_any_request_of_a_load_heals(
    neptune_url: str, behind: GremlinGraph, requests: int, name: str
) -> None:
    faults, more_requests, more_connections = HEALED[name]
    for point in range(requests):
        behind.clear()
        script = [*[forward(neptune_url)] * point, *faults(neptune_url), forward(neptune_url)]
        with line(script) as disturbed:
            disturbed.graph.write(WRITTEN)
            assert everything(behind) == whole(WRITTEN), point
            # a close after the last answer is met by nobody
            idle = name in ("idle close", "cut when idle")
            unnoticed = idle and point == requests - 1
            seen = len(disturbed.server.requests) - requests
            assert seen == more_requests - idle, point
            assert disturbed.server.connections == 1 + more_connections - unnoticed, point


GIVEN_UP: Final[dict[str, tuple[Fault, type[Exception], int]]] = {
    "conflict": (
        lambda url: [error("ConcurrentModificationException")],
        GraphUnavailable,
        NEPTUNE.retry(FailureAction.CONFLICT).attempts,
    ),
    "throttling": (
        lambda url: [error("ThrottlingException")],
        GraphUnavailable,
        NEPTUNE.retry(FailureAction.BUSY).attempts,
    ),
    "read-only": (
        lambda url: [error("ReadOnlyViolationException", 400)],
        GraphUnavailable,
        NEPTUNE.retry(FailureAction.MOVED).attempts,
    ),
    "no entry": (lambda url: [error("AccessDeniedException", 403)], GraphUnavailable, 1),
    "cut": (
        lambda url: [hang_up()],
        GraphUnavailable,
        NEPTUNE.retry(FailureAction.BROKEN).attempts,
    ),
}


@pytest.mark.parametrize("name", GIVEN_UP)
def test_a_fault_that_stays_ends_the_write_and_a_later_write_completes_it(
    neptune_url: str, behind: GremlinGraph, requests: int, name: str
) -> None:
    faults, kind, attempts = GIVEN_UP[name]
    for point in range(requests):
        behind.clear()
        with line([*[forward(neptune_url)] * point, *faults(neptune_url)]) as broken:
            with pytest.raises(kind):
                broken.graph.write(WRITTEN)
            assert len(broken.server.requests) == point + attempts
        with line([forward(neptune_url)]) as mended:
            mended.graph.write(WRITTEN)
        assert everything(behind) == whole(WRITTEN), point


def test_an_answer_that_does_not_come_is_a_timeout_and_a_later_write_completes(
    neptune_url: str, behind: GremlinGraph, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for point in (0, requests // 2, requests - 1):
        behind.clear()
        done = threading.Event()
        script = [*[forward(neptune_url)] * point, forward_and(neptune_url, note(done))]
        with line(script) as silent:
            # only this request may wait no longer: the others are as slow as the machine
            waits = iter([None] * point + [0.5])
            submit = silent.connections.submit
            monkeypatch.setattr(
                silent.connections,
                "submit",
                lambda request, submit=submit, waits=waits: submit(request, seconds=next(waits)),
            )
            with pytest.raises(GraphTimeout):
                silent.graph.write(WRITTEN)
            assert done.wait(120)  # the engine may need longer than the client waits
            assert len(silent.server.requests) == point + 1
        with line([forward(neptune_url)]) as mended:
            mended.graph.write(WRITTEN)
        assert everything(behind) == whole(WRITTEN), point


@pytest.mark.parametrize("code", ["MalformedQueryException", "ConstraintViolationException"])
def test_a_bad_statement_is_repeated_once_with_its_whole_plan_and_then_given_up(
    neptune_url: str, behind: GremlinGraph, requests: int, code: str
) -> None:
    with line([forward(neptune_url), error(code, 400), forward(neptune_url)]) as once:
        once.graph.write(WRITTEN)
        assert everything(behind) == whole(WRITTEN)
        assert len(once.server.requests) == requests + 2
    with line([error(code, 400)]) as always:
        with pytest.raises(GraphRejected, match=code):
            always.graph.write(WRITTEN)
        assert len(always.server.requests) == 2
        assert always.pauses.taken == []


# --- too large requests --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "attempts"),
    [
        ("TimeLimitExceededException", 1),
        ("QueryTooLargeException", 1),
        ("QueryLimitException", 1),
        ("MemoryLimitExceededException", NEPTUNE.retry(FailureAction.STRAINED).attempts),
    ],
)
def test_a_batch_that_is_too_much_is_written_in_halves(
    neptune_url: str, behind: GremlinGraph, requests: int, code: str, attempts: int
) -> None:
    for point in range(requests):
        behind.clear()
        script = [
            *[forward(neptune_url)] * point,
            *[error(code)] * attempts,
            forward(neptune_url),
        ]
        with line(script) as strained:
            strained.graph.write(WRITTEN)
            assert everything(behind) == whole(WRITTEN), point
            halves = len(strained.server.requests) - requests - attempts
            assert halves in (0, 1), point  # a batch of one has no halves: see below


def test_an_element_that_is_too_much_alone_is_given_up() -> None:
    alone = facts(vertex("dataset", "large", uri="x"))
    with line([error("QueryTooLargeException")]) as refused, pytest.raises(GraphRejected):
        refused.graph.write(alone)
    memory = error("MemoryLimitExceededException")
    with line([memory]) as strained, pytest.raises(GraphUnavailable):
        strained.graph.write(alone)
    with line([error("TimeLimitExceededException")]) as slow, pytest.raises(GraphTimeout):
        slow.graph.write(alone)


def test_halving_ends_where_it_helps_nobody() -> None:
    many = facts(*(vertex("day", number) for number in range(8)))
    with line([error("TimeLimitExceededException")]) as slow:
        with pytest.raises(GraphTimeout):
            slow.graph.write(many)
        assert len(slow.server.requests) == 4  # 8, 4, 2, 1


def test_clearing_takes_fewer_at_a_time_when_it_is_too_much(
    neptune_url: str, behind: GremlinGraph
) -> None:
    behind.write(WRITTEN)
    script = [forward(neptune_url), error("TimeLimitExceededException"), forward(neptune_url)]
    with line(script) as slow:
        slow.graph.clear()
    assert behind.count() == (0, 0)


def test_removing_heals_like_writing(neptune_url: str, behind: GremlinGraph) -> None:
    ids = [each.id for each in WRITTEN.vertices]
    for faults in (
        [error("ConcurrentModificationException")],
        [forward_and(neptune_url, hang_up())],
        [error("TimeLimitExceededException")],
    ):
        behind.write(WRITTEN)
        with line([*faults, forward(neptune_url)]) as disturbed:
            disturbed.graph.remove(ids, [])
        assert behind.count() == (0, 0)


# --- pauses, and the way back in -----------------------------------------------------------------


def test_conflicts_are_tried_again_soon_and_a_full_server_later(neptune_url: str) -> None:
    for code, first in (
        ("ConcurrentModificationException", 0.1),
        ("ThrottlingException", 1.0),
        ("MemoryLimitExceededException", 5.0),
        ("ReadOnlyViolationException", 0.5),
    ):
        with line([error(code), error(code), reply(1)]) as disturbed:
            disturbed.graph.ping()
            # chance() is a half: three quarters of the pause, which is doubled each time
            assert disturbed.pauses.taken == pytest.approx([0.75 * first, 1.5 * first])


@pytest.mark.parametrize(("status", "attempts"), [(429, 2), (502, 2), (503, 2), (504, 2)])
def test_a_handshake_that_finds_no_room_is_tried_again_at_any_point(
    neptune_url: str, behind: GremlinGraph, requests: int, status: int, attempts: int
) -> None:
    for point in range(requests):
        behind.clear()
        script = [
            *[forward(neptune_url)] * point,
            forward_and(neptune_url, hang_up()),
            forward(neptune_url),
        ]
        with line(script, handshakes=[101, status, status, 101]) as disturbed:
            disturbed.graph.write(WRITTEN)
            assert everything(behind) == whole(WRITTEN), point
            assert len(disturbed.server.headers) == 2 + attempts
            assert len(disturbed.server.requests) == requests + 1


def test_a_refused_handshake_ends_the_write_at_once_and_the_next_one_asks_for_a_new_signature(
    neptune_url: str, behind: GremlinGraph
) -> None:
    signatures = iter(("old", "new"))
    with FakeGremlin(forward(neptune_url), handshakes=[403, 101]) as server:
        graph = GremlinGraph(
            Connections(
                server.url, SMALL, limits=FEW, headers=lambda: {"Authorization": next(signatures)}
            )
        )
        with pytest.raises(GraphUnavailable, match="HTTP 403"):
            graph.write(WRITTEN)
        graph.write(WRITTEN)
        graph.close()
        assert [each["Authorization"] for each in server.headers] == ["old", "new"]
    assert everything(behind) == whole(WRITTEN)


def test_after_a_failover_the_name_is_resolved_anew(
    neptune_url: str, behind: GremlinGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster's name leads to the old writer, a reader now, and then to the new one."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if host != "writer.cluster.test":
            return real(host, *rest, **named)
        asked.append(host)
        return real("127.0.0.1" if len(asked) < 3 else "127.0.0.2", *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with (
        FakeGremlin(forward(neptune_url), error("ReadOnlyViolationException", 400)) as old,
        FakeGremlin(forward(neptune_url), host="127.0.0.2", port=old.port) as new,
    ):
        url = f"ws://writer.cluster.test:{old.port}/gremlin"
        graph = GremlinGraph(Connections(url, SMALL, limits=FEW, sleep=Pauses()))
        graph.write(WRITTEN)
        graph.close()
        assert len(asked) == 3
        assert (old.connections, new.connections) == (2, 1)
    assert everything(behind) == whole(WRITTEN)


def test_many_writers_through_a_bad_line_write_everything_once(
    neptune_url: str, behind: GremlinGraph
) -> None:
    """Every third request fails in one way or another; four plans share their sources."""
    plans: list[Facts] = [plan(f"p{number}", executions=2) for number in range(4)]
    faults = [error("ConcurrentModificationException"), forward_and(neptune_url, hang_up())]
    script = [
        forward(neptune_url) if number % 3 else faults[number // 3 % 2] for number in range(300)
    ]
    with line([*script, forward(neptune_url)]) as bad:
        for each in plans:
            bad.graph.write(each)
    assert everything(behind) == whole(merge(plans))


def test_the_server_like_neptune_keeps_sets_and_takes_no_scripts(
    neptune_url: str, behind: GremlinGraph
) -> None:
    """Else the tests above would prove nothing."""
    from gremlin_python.driver.client import Client
    from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
    from gremlin_python.driver.protocol import GremlinServerError
    from gremlin_python.process.anonymous_traversal import traversal
    from gremlin_python.process.traversal import T

    remote = DriverRemoteConnection(neptune_url, "g")
    try:
        g = traversal().with_remote(remote)
        g.add_v("x").property(T.id, "one").property("k", "a").property("k", "b").to_list()
        assert sorted(g.V("one").values("k").to_list()) == ["a", "b"]
        with pytest.raises(GremlinServerError):
            g.add_v("x").property(T.id, 5).to_list()
    finally:
        remote.close()
    with pytest.raises(ValueError, match="unpack"):
        behind.vertices(["one"])
    client = Client(neptune_url, "g")
    try:
        with pytest.raises(GremlinServerError):
            client.submit("g.V().count()").all().result()
    finally:
        client.close()
