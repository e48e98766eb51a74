"""The driver's defects, shown on the driver itself, beside the behaviour of our connections.

A test that fails here because the driver was mended is good news: see connection.py for code that
can then be removed.
"""

from __future__ import annotations

import os
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from gremlin_python.driver.aiohttp.transport import AiohttpTransport
from gremlin_python.driver.client import Client
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.driver.serializer import GraphBinarySerializersV1
from gremlin_python.process.traversal import Bytecode
from gremlin_python.statics import long

from graph_model import labels
from graph_model.errors import GraphRejected, GraphTimeout, GraphUnavailable
from graph_model.facts import Vertex
from graph_model.stores.gremlin import traversals
from graph_model.stores.gremlin.connection import Connections, Limits
from graph_model.stores.gremlin.dialect import EMBEDDED
from tests.unit.graph_model.stores.gremlin.fake_gremlin import (
    FakeGremlin,
    close_with,
    fail,
    hang_up,
    reply,
    reply_late,
)

ASK = traversals.ping()
ONE = Limits(connections=1, connect=30.0, wait=30.0, answer=30.0, grace=0.0)

# Objects that the driver leaves when it fails complain when they are collected, in whatever test
# runs then: so they are kept for good.
LEFT_BEHIND: list[object] = []

pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def keep_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    made = AiohttpTransport.__init__

    def remembered(self: AiohttpTransport, *arguments: Any, **options: Any) -> None:
        LEFT_BEHIND.append(self)
        made(self, *arguments, **options)

    monkeypatch.setattr(AiohttpTransport, "__init__", remembered)


@contextmanager
def driver(server: FakeGremlin, **options: Any) -> Iterator[Client]:
    client = Client(
        server.url,
        "g",
        pool_size=1,
        message_serializer=GraphBinarySerializersV1(),
        **options,
    )
    LEFT_BEHIND.append(client)
    yield client  # it is not closed: a broken one may hang in that


@contextmanager
def ours(server: FakeGremlin, limits: Limits = ONE) -> Iterator[Connections]:
    connections = Connections(server.url, EMBEDDED, limits=limits, sleep=lambda seconds: None)
    try:
        yield connections
    finally:
        connections.close()


def ask(client: Client, request: Bytecode = ASK) -> Any:
    return client.submit(request).all().result()


def failure_of(work: Callable[[], Any]) -> BaseException | None:
    try:
        work()
    except Exception as failure:
        return failure
    return None


def test_a_dead_socket_is_never_replaced_by_the_driver() -> None:
    script = (reply("first"), hang_up(), reply("mine"))
    with FakeGremlin(*script) as server, driver(server) as client:
        ask(client)
        failures = [failure_of(lambda: ask(client)) for _ in range(4)]
        assert all(failures), "each question fails for ever"
        assert not any(isinstance(each, GremlinServerError) for each in failures)
        assert server.connections == 1
    with FakeGremlin(*script) as server, ours(server) as connections:
        assert [connections.submit(ASK), connections.submit(ASK)] == [["first"], ["mine"]]
        assert server.connections == 2


def test_a_failed_first_connect_costs_the_driver_its_place() -> None:
    with FakeGremlin(reply(1), handshakes=[500, 101]) as server, driver(server) as client:
        assert failure_of(lambda: ask(client)) is not None
        assert client.available_pool_size == 0, "the next question waits for ever"
    with FakeGremlin(reply(1), handshakes=[500, 101]) as server, ours(server) as connections:
        with pytest.raises(GraphUnavailable):
            connections.submit(ASK)
        assert connections.submit(ASK) == [1]


def test_the_driver_loses_the_answer_that_follows_a_timeout() -> None:
    """The worst: the next question is answered with nothing, as if there were nothing."""
    script = (reply_late(0.6, "late"), reply("mine"))
    with FakeGremlin(*script) as server, driver(server, read_timeout=0.3) as client:
        assert isinstance(failure_of(lambda: ask(client)), TimeoutError)
        time.sleep(0.6)  # the late answer is in the socket now
        assert [ask(client), ask(client)] == [[], []]
        await_requests(server, 3)  # the driver has its wrong answer before the third is read
    with FakeGremlin(*script) as server, ours(server) as connections:
        with pytest.raises(GraphTimeout):
            connections.submit(ASK, seconds=0.3)
        assert connections.submit(ASK) == ["mine"]


def await_requests(server: FakeGremlin, number: int) -> None:
    """Until so many have come; one too few after ten seconds fails."""
    end = time.monotonic() + 60
    while len(server.requests) < number and time.monotonic() < end:
        time.sleep(0.01)
    assert len(server.requests) == number


def test_a_child_of_a_fork_shares_the_drivers_socket() -> None:
    with FakeGremlin(reply(1)) as server, driver(server) as client:
        ask(client)
        assert answer_in_a_child(lambda: ask(client), seconds=2.0) is None, "it hangs or fails"
    with FakeGremlin(reply(1)) as server, ours(server) as connections:
        connections.submit(ASK)
        assert answer_in_a_child(lambda: connections.submit(ASK), seconds=60.0) == "[1]"
        assert connections.submit(ASK) == [1]


def answer_in_a_child(work: Callable[[], Any], seconds: float) -> str | None:
    """The result of the work in a forked child; None when it fails, or is not done in time."""
    mine, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            os.write(theirs, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    timer = threading.Timer(seconds, os.kill, (child, 9))
    timer.start()
    with os.fdopen(mine, "rb") as pipe:
        told = pipe.read().decode()
    timer.cancel()
    os.waitpid(child, 0)
    return told or None


def test_the_drivers_failures_have_nothing_in_common_and_ours_have_one_root() -> None:
    kinds = set()
    for server in (
        FakeGremlin(fail(500, "wrong")),
        FakeGremlin(close_with(1001)),
        FakeGremlin(reply(1), handshakes=[403]),
    ):
        with server, driver(server, read_timeout=5) as client:
            kinds.add(type(failure_of(lambda client=client: ask(client))))  # type: ignore[misc]
    assert len(kinds) == 3
    for server in (
        FakeGremlin(fail(500, "wrong")),
        FakeGremlin(close_with(1001)),
        FakeGremlin(reply(1), handshakes=[403]),
    ):
        with server, ours(server) as connections, pytest.raises((GraphUnavailable, GraphRejected)):
            connections.submit(ASK)


def test_a_large_number_breaks_the_driver_and_ours_are_always_long() -> None:
    request = Bytecode()
    request.add_step("inject", 2**31)
    with FakeGremlin(reply(1)) as server, driver(server) as client:
        assert isinstance(failure_of(lambda: ask(client, request)), struct.error)
    vertex = Vertex("ex_1", labels.EXECUTION, (("at", 2**31),))
    chain = traversals.upsert_vertex_chain([vertex])
    value = chain.step_instructions[1][2]["at"].source_instructions[0][2]
    assert type(value) is long
    with FakeGremlin(reply(1)) as server, ours(server) as connections:
        assert connections.submit(chain) == [1]
