"""Silent connections keep nobody out. No thread serves: each step of the server is called."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest
from flask import Flask

from api.serving.connections import Connection, HttpServer, RequestThreads, listening
from api.settings import read_settings

HEAD = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
HALF = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"
TWO_LENGTHS = "Content-Length: expected none beside Transfer-Encoding"
NOT_READ = "Transfer-Encoding: expected chunked, and HTTP/1.1"


@dataclass
class Clients:
    server: HttpServer
    stack: ExitStack
    connections: list[Connection] = field(default_factory=list)

    def connect(
        self, said: bytes = b"", *, answered: bool = True, seconds_ago: int = 5
    ) -> Connection:
        client = self.stack.enter_context(
            socket.create_connection(self.server.socket.getsockname())
        )
        known = set(self.server.active_channels)
        self.server.handle_accept()
        (number,) = set(self.server.active_channels) - known
        connection: Connection = self.server.active_channels[number]
        connection.creation_time -= seconds_ago
        self.connections.append(connection)
        if said:
            client.sendall(said)
            connection.handle_read()
        if answered:
            connection.requests = []
        return connection

    def closing(self) -> list[int]:
        return [place for place, one in enumerate(self.connections) if one.will_close]


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    monkeypatch.setattr(HttpServer, "add_task", lambda *_: None)
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        settings = read_settings({})
        server = stack.enter_context(listening(Flask("none"), settings, listener))
        server.most = 4
        yield Clients(server, stack)
        for one in list(server.active_channels.values()):
            one.handle_close()


def test_at_the_bound_a_connection_without_a_head_gives_way_to_a_new_one(clients: Clients) -> None:
    for said in (HALF, HEAD, b"", HEAD):
        clients.connect(said)
    clients.connect()
    assert clients.closing() == [2]


def test_a_body_that_is_being_sent_stays_while_others_are_idle(clients: Clients) -> None:
    for said in (HALF, HEAD, HALF, HEAD):
        clients.connect(said)
    clients.connect(seconds_ago=0)
    clients.connect(seconds_ago=0)
    assert clients.closing() == [1, 3]


def test_a_connection_whose_request_is_being_answered_is_not_closed(clients: Clients) -> None:
    for _ in range(4):
        clients.connect(HEAD, answered=False)
    clients.connect()
    assert clients.closing() == []


def test_a_connection_has_ten_seconds_for_its_first_head(clients: Clients) -> None:
    idle, started, spoke = clients.connect(), clients.connect(HEAD[:9]), clients.connect(HEAD)
    clients.server.maintenance(idle.creation_time + 9)
    assert clients.closing() == []
    clients.server.maintenance(max(idle.creation_time, started.creation_time) + 11)
    assert clients.closing() == [0, 1]
    assert spoke.spoke


def test_a_peer_at_its_bound_closes_an_idle_connection_of_its_own(clients: Clients) -> None:
    clients.server.most, clients.server.most_of_peer = 9, 3
    for said in (HALF, HEAD, HALF):
        clients.connect(said)
    clients.connections[0].addr = ("192.0.2.1", 1)
    clients.connect()
    assert clients.closing() == []
    clients.connect(HALF)
    assert clients.closing() == [3]
    clients.connect(seconds_ago=0)
    assert clients.closing() == [1, 3]


def test_a_peer_whose_connections_are_all_at_work_gets_no_further_one(clients: Clients) -> None:
    clients.server.most_of_peer = 2
    for _ in range(3):
        clients.connect(HEAD, answered=False)
    assert clients.closing() == [2]


def test_behind_a_proxy_one_address_has_all_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = read_settings({"HEADWATER_TRUSTED_PROXY": "127.0.0.1"})
        with listening(Flask("none"), settings, listener) as server:
            assert server.most_of_peer > server.most == 990


@dataclass
class Asked:
    """A connection with one request, which is answered once ``may_end``."""

    path: str
    may_end: Event = field(default_factory=Event)
    answered: Event = field(default_factory=Event)
    error: str | None = None

    @property
    def requests(self) -> list[Asked]:
        return [self]

    def service(self) -> None:
        assert self.may_end.wait(60)
        self.answered.set()


def test_a_probe_is_answered_while_all_threads_are_at_work() -> None:
    threads = RequestThreads()
    threads.set_thread_count(1)
    slow, waiting = Asked("/graph/overview"), Asked("/graph/home")
    ready, live = Asked("/health/ready"), Asked("/health/live")
    try:
        for one in (slow, waiting, ready):
            threads.add_task(one)
        live.may_end.set()
        threads.add_task(live)
        assert live.answered.wait(60)
        ready.may_end.set()
        assert ready.answered.wait(60)
        assert not waiting.answered.is_set()
    finally:
        for one in (slow, waiting, ready):
            one.may_end.set()
        threads.shutdown(cancel_pending=False)


def test_a_request_that_cannot_be_read_is_no_probe() -> None:
    threads = RequestThreads()
    refused = Asked("", error="400")
    threads.add_task(refused)
    assert list(threads.queue) == [refused]
    threads.shutdown(cancel_pending=False)


def test_bodies_that_are_never_sent_keep_no_newcomer_of_their_address_out(
    clients: Clients,
) -> None:
    """500 of them kept a health check from the same address out for good."""
    clients.server.most_of_peer = 2
    clients.connect(HALF)
    clients.connect(HALF)
    for place, connection in enumerate(clients.connections):
        connection.last_activity = place
    clients.connect(seconds_ago=0)
    assert clients.closing() == [0]


@pytest.mark.parametrize(
    ("version", "lengths", "reason"),
    [
        ("1.1", ("Content-Length: 4", "Transfer-Encoding: chunked"), TWO_LENGTHS),
        ("1.0", ("Content-Length: 4", "Transfer-Encoding: chunked"), TWO_LENGTHS),
        ("1.0", ("transfer-encoding: chunked", "content-length: 4"), TWO_LENGTHS),
        ("1.1", ("Content-Length: 4", "Transfer-Encoding:"), TWO_LENGTHS),
        ("1.0", ("Transfer-Encoding: chunked",), NOT_READ),
    ],
)
def test_a_body_of_unclear_length_is_refused_and_what_follows_is_not_read(
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    lengths: tuple[str, ...],
    reason: str,
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(HttpServer, "add_task", lambda _, channel: given.extend(channel.requests))
    head = "\r\n".join((f"POST / HTTP/{version}", "Host: h", "Connection: keep-alive", *lengths))
    clients.connect(head.encode() + b"\r\n\r\n0\r\n\r\n" + HEAD, answered=False)
    assert [str(request.error.body) for request in given] == [reason]


@pytest.mark.parametrize(
    ("version", "hosts", "refused"),
    [
        ("1.1", ("Host: h",), False),
        ("1.1", ("Host:",), False),
        ("1.0", (), False),
        ("1.1", (), True),
        ("1.1", ("Host: h", "host: i"), True),
        ("1.0", ("Host: h", "Host: h"), True),
    ],
)
def test_a_request_names_one_host(
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    hosts: tuple[str, ...],
    *,
    refused: bool,
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(HttpServer, "add_task", lambda _, channel: given.extend(channel.requests))
    clients.connect("\r\n".join((f"GET / HTTP/{version}", *hosts, "", "")).encode(), answered=False)
    assert [request.error is not None for request in given] == [refused]
    assert all(str(request.error.body) == "Host: expected one" for request in given if refused)
