"""Connections beyond their bounds, on a real server with an application of a few lines."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest

from api import wire
from api.arriving import Application, Receive, Scope, Send
from api.wire import Web, spell

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Slow:
    """Answers when it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = Event(), Event()

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        self.asked.set()
        while not self.let_go.is_set():
            await asyncio.sleep(0.01)
        headers = [(b"content-length", b"2"), (b"x-two", b"a"), (b"x-two", b"b")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def served(application: Application) -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        web = Web(application, [listener], 1000)
        running = Thread(target=web.run)
        running.start()
        try:
            yield listener.getsockname()[1]
        finally:
            if isinstance(application, Slow):
                application.let_go.set()
            web.close()
            running.join(30)
            assert not running.is_alive()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def received_by(client: socket.socket) -> int:
    """Bytes until the other side has closed or broken off the connection."""
    total = 0
    with suppress(ConnectionError):
        while part := client.recv(1 << 20):
            total += len(part)
    return total


@pytest.fixture
def slow() -> Slow:
    return Slow()


def test_who_is_silent_for_too_long_is_hung_up_on_and_who_is_answered_is_not(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_LOOK_TICKS", 1)
    monkeypatch.setattr(wire, "_SILENT_SECONDS", 0.05)
    with served(slow) as port, connect(port) as asking, connect(port) as silent:
        asking.sendall(GET)
        assert slow.asked.wait(30)
        with connect(port) as halfway:
            halfway.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
            assert silent.recv(1) == b""
            slow.let_go.set()
            assert asking.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_connection_too_many_is_hung_up_on(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_MOST_CONNECTIONS", 1)
    with served(slow) as port, connect(port) as first:
        first.sendall(GET)
        assert slow.asked.wait(30)
        with connect(port) as second:
            assert second.recv(1) == b""
        slow.let_go.set()
        assert b"X-Two: a\r\nX-Two: b\r\n" in first.recv(65_536)


def test_a_request_under_way_is_answered_while_the_server_stops(slow: Slow) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        web = Web(slow, [listener], 1000)
        running = Thread(target=web.run)
        running.start()
        with connect(listener.getsockname()[1]) as asking:
            asking.sendall(GET)
            assert slow.asked.wait(30)
            closing = Thread(target=web.close)
            closing.start()
            slow.let_go.set()
            assert asking.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
            assert asking.recv(1) == b""
        closing.join(30)
        running.join(30)
        assert not running.is_alive()


def test_one_that_connects_before_the_server_runs_waits_for_it(slow: Slow) -> None:
    slow.let_go.set()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        web = Web(slow, [listener], 1000)
        with connect(listener.getsockname()[1]) as early:
            early.sendall(GET)
            running = Thread(target=web.run)
            running.start()
            assert early.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
        web.close()
        running.join(30)


def test_who_does_not_take_its_answer_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_LOOK_TICKS", 1)
    monkeypatch.setattr(wire, "_SILENT_SECONDS", 0.05)
    gone = Event()

    async def large(_scope: Scope, receive: Receive, send: Send) -> None:
        length = 50_000_000
        headers = [(b"content-length", str(length).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for _ in range(length // 1_000_000):
            await send({"type": "http.response.body", "body": b" " * 1_000_000, "more_body": True})
        gone.set()

    with served(large) as port, connect(port) as silent:
        silent.sendall(GET)
        assert gone.wait(30)  # what is sent to nobody waits for nobody
        assert received_by(silent) < 50_000_000


def test_as_many_files_may_be_open_as_the_system_allows() -> None:
    code = (
        "import resource; from api.server import allow_files;"
        "_, hard = resource.getrlimit(resource.RLIMIT_NOFILE);"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)); allow_files();"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(8192, hard))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"


@pytest.mark.parametrize(
    ("head", "spelled"),
    [
        (
            b"HTTP/1.1 200 OK\r\nabsa-spline-api-lts-version: 1.2\r\netag: content-type: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nABSA-Spline-API-LTS-Version: 1.2\r\nETag: content-type: x\r\n\r\n",
        ),
        (b"HTTP/1.1 204 \r\ncontent-type: a\r\n\r\n", b"HTTP/1.1 204 \r\nContent-Type: a\r\n\r\n"),
    ],
)
def test_names_of_headers_are_spelled_and_values_left_alone(head: bytes, spelled: bytes) -> None:
    assert spell(head) == spelled
