"""Requests whose head is known are answered as all others are, byte for byte, on a real server."""

from __future__ import annotations

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import pytest

from api import wire
from api.brief import Brief
from api.front import Front
from api.server import listening
from api.wire import Web
from graph_model.errors import JournalUnavailable
from graph_model.keys import Role
from tests.e2e.producer_service import (
    LINEAGE_EVENT,
    NOW,
    PLAN_ID,
    SPLINE_1_1,
    SPLINE_1_2,
    Headwater,
    a_plan,
    an_event,
    headwater,
)

PLANS, EVENTS, LINEAGE = "/producer/execution-plans", "/execution-events", "/api/v1/lineage"
PLAN = json.dumps(a_plan()).encode()
LIMIT = 100_000
RUN_EVENT = json.dumps(LINEAGE_EVENT).encode()
_CHANGES = re.compile(rb"(?<=Date: )[^\r]*|(?<=X-Request-Id: )[0-9a-f]{16}")


def event(number: int) -> bytes:
    return json.dumps([an_event(timestamp=NOW + number)]).encode()


def post(path: str, body: bytes, *lines: str, kind: str = SPLINE_1_2) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Type: {kind}", *lines]
    head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def posted_event(number: int, *lines: str) -> bytes:
    return post(EVENTS, event(number), *lines)


def a_get(path: str, *lines: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *lines]).encode() + b"\r\n\r\n"


HEALTH = a_get("/health/live")
LAST = a_get("/health/live", "Connection: close")


@dataclass
class Served:
    """A server, and how many requests came without, and with, a scope after all."""

    headwater: Headwater
    web: Web
    port: int
    begun: list[bytes] = field(default_factory=list)
    handed_on: list[bytes] = field(default_factory=list)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def say(self, data: bytes, step: int = 1 << 20) -> bytes:
        """Everything that is answered to these bytes, which end the connection."""
        with self.connect() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for place in range(0, len(data), step):
                client.sendall(data[place : place + step])
            return rest_of(client)

    def learn(self, *requests: bytes) -> None:
        """Their heads, so that the next ones are brief."""
        self.say(b"".join(requests) + LAST)
        self.begun.clear()
        self.handed_on.clear()


def rest_of(client: socket.socket) -> bytes:
    received = b""
    while part := client.recv(65_536):
        received += part
    return received


def answered(client: socket.socket, part: bytes) -> bytes:
    """What is received up to this part."""
    received = b""
    while part not in received:
        more = client.recv(65_536)
        assert more, received
        received += more
    return received


def compared(answers: bytes) -> bytes:
    return _CHANGES.sub(b"*", answers)


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, *, brief: bool = True) -> Iterator[Served]:
    """Without ``brief`` every request goes through the parser."""
    with headwater(max_body_bytes=LIMIT) as made, monkeypatch.context() as patched:
        if not brief:
            patched.setattr(Front, "recognise", lambda *_: None)
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        with listener, listening(made.app, made.settings, listener) as web:
            patched.undo()
            one = Served(made, web, listener.getsockname()[1])
            _watch(one, patched)
            running = Thread(target=web.run)
            running.start()
            try:
                yield one
            finally:
                web.close()
                running.join(30)
                assert not running.is_alive()


def _watch(one: Served, patched: pytest.MonkeyPatch) -> None:
    beginning, handing = Brief.begin, Brief.hand_on

    def begin(self: Brief) -> None:
        one.begun.append(self.body)
        beginning(self)

    def hand_on(self: Brief, known: Any) -> None:
        one.handed_on.append(self.body)
        handing(self, known)

    patched.setattr(Brief, "begin", begin)
    patched.setattr(Brief, "hand_on", hand_on)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with served(monkeypatch) as one:
        yield one
    assert one.headwater.service.crowd._inside == 0


GOOD = {
    "plan": post(PLANS, PLAN),
    "plan at the root": post("//execution-plans/", PLAN, kind=SPLINE_1_1),
    "packed plan": post(PLANS, gzip.compress(PLAN, mtime=0), "Content-Encoding: gzip"),
    "event": posted_event(1),
    "no events": post(EVENTS, b"[]"),
    "lineage": post(LINEAGE, RUN_EVENT, kind="application/json"),
    "kept alive": posted_event(1, "Connection: keep-alive"),
    "small letters": posted_event(2).replace(b"Content-Length", b"content-length"),
}
HANDED_ON = {
    "no JSON": post(PLANS, b"{"),
    "no plan": post(PLANS, b"{}"),
    "no UTF-8": post(EVENTS, b"\xff"),
    "not packed": post(PLANS, PLAN, "Content-Encoding: gzip"),
    "bomb": post(PLANS, gzip.compress(b" " * 9_000_000), "Content-Encoding: gzip"),
    "many": post(EVENTS, gzip.compress(b"[" + b"{}," * 500 + b"{}]"), "Content-Encoding: gzip"),
}
LEFT_ALONE = {
    "large": post(PLANS, PLAN.ljust(70_000)),
    "too large": post(PLANS, b" " * (LIMIT + 1)),
    "empty": post(PLANS, b""),
    "asked first": posted_event(1, "Expect: 100-continue"),
    "chunked": b"POST /execution-events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "other origin": posted_event(1, "Origin: https://elsewhere.example.org"),
    "own id": posted_event(1, "X-Request-Id: one"),
    "two keys": posted_event(1, "X-API-Key: hw_a", "Authorization: Bearer hw_b"),
    "other type": post(EVENTS, event(1), kind="text/plain"),
    "other coding": post(EVENTS, event(1), "Content-Encoding: br"),
    "other path": post("/nowhere", event(1)),
    "other method": posted_event(1).replace(b"POST", b"PUT"),
    "another protocol": posted_event(1, "Connection: Upgrade", "Upgrade: h2c"),
}


ENDING = {
    "two lengths": posted_event(1, f"content-length: {len(event(1))}"),
    "older": posted_event(1, "Connection: keep-alive").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "closed": posted_event(1, "Connection: close"),
}


@pytest.fixture(scope="module")
def roads() -> Iterator[tuple[Served, Served]]:
    """A server with the parser alone, and one with brief requests."""
    with pytest.MonkeyPatch.context() as patched, ExitStack() as stack:
        pair = [stack.enter_context(served(patched, brief=brief)) for brief in (False, True)]
        yield pair[0], pair[1]


@pytest.mark.parametrize("step", [1 << 20, 97])
@pytest.mark.parametrize("name", [*GOOD, *HANDED_ON, *LEFT_ALONE])
def test_both_roads_give_the_same_bytes(roads: tuple[Served, Served], name: str, step: int) -> None:
    request = {**GOOD, **HANDED_ON, **LEFT_ALONE}[name]
    for one in roads:
        one.learn(request)
    parsed, brief = (compared(one.say(request + LAST, step)) for one in roads)
    assert parsed == brief
    assert len({one.headwater.journal.summary().received for one in roads}) == 1
    if step > len(request):  # else the system may pass on several parts as one
        assert len(roads[1].begun) == (name not in LEFT_ALONE)
        assert len(roads[1].handed_on) == (name in HANDED_ON)


@pytest.mark.parametrize("name", ENDING)
def test_requests_that_end_the_connection_are_left_to_the_parser(
    roads: tuple[Served, Served], name: str
) -> None:
    for one in roads:
        one.say(ENDING[name])
        one.begun.clear()
    parsed, brief = (compared(one.say(ENDING[name])) for one in roads)
    assert parsed == brief
    assert roads[1].begun == []


def test_requests_sent_before_the_answers_are_answered_in_turn_on_both_roads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good, bad = list(GOOD.values()), list(HANDED_ON.values())
    mixed = [*good, HEALTH, *bad, posted_event(5), LEFT_ALONE["chunked"], posted_event(6), HEALTH]
    stream = b"".join(mixed + mixed[::-1]) + LAST
    answers = []
    for brief in (False, True):
        with served(monkeypatch, brief=brief) as one:
            one.learn(*mixed)
            answers += [compared(one.say(stream, step)) for step in (1 << 20, 1009)]
            assert bool(one.begun) == brief
    assert answers[0].count(b"HTTP/1.1 ") == 2 * len(mixed) + 1
    assert set(answers) == {answers[0]}


@pytest.mark.parametrize("broken", [b"nonsense\r\n\r\n", b"POST / HTTP/1.1\r\nA : b\r\n\r\n"])
def test_what_is_broken_behind_a_brief_request_is_refused_after_its_answer(
    monkeypatch: pytest.MonkeyPatch, broken: bytes
) -> None:
    answers = []
    for brief in (False, True):
        with served(monkeypatch, brief=brief) as one:
            one.learn(posted_event(1))
            answers.append(compared(one.say(posted_event(2) + broken)))
            assert len(one.begun) == brief
    assert answers[0] == answers[1]
    assert re.findall(rb"HTTP/1.1 (\d+)", answers[0]) == [b"201", b"400"]


def test_a_brief_request_beyond_a_small_limit_is_refused_as_every_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tests.e2e.test_brief.LIMIT", 4_000)
    answers: list[list[bytes]] = []
    for brief in (False, True):
        with served(monkeypatch, brief=brief) as one:
            one.learn(post(EVENTS, b"[]"))
            said = [post(EVENTS, b"[]".ljust(size)) + LAST for size in (5_000, 30_000)]
            answers.append([compared(one.say(request)) for request in said])
            assert bool(one.begun) == brief
    assert answers[0] == answers[1]
    assert all(answer.startswith(b"HTTP/1.1 413") for answer in answers[0])
    assert [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []


def test_a_known_head_in_the_middle_of_another_begins_nothing(server: Served) -> None:
    server.learn(posted_event(1))
    with server.connect() as client:
        client.sendall(HEALTH + b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nA: ")
        assert answered(client, b"\r\n\r\n").startswith(b"HTTP/1.1 200")
        client.sendall(posted_event(2))
        assert b"HTTP/1.1 404" in rest_of(client)
    assert server.begun == []


def test_two_thousand_requests_at_once_are_answered_one_by_one(server: Served) -> None:
    """Each is answered in the turn of the loop in which it is begun; one whose head comes in two
    parts sends the rest through the parser.
    """
    server.learn(post(EVENTS, b"[]"))
    answers = server.say(post(EVENTS, b"[]") * 2_000 + LAST)
    assert answers.count(b"HTTP/1.1 201") == 2_000
    assert len(server.begun) > 500


def test_a_key_is_asked_for_with_every_request(server: Served) -> None:
    key = server.headwater.make_key("jobs", Role.PRODUCER, scope="here")
    (line,) = (f"{name}: {text}" for name, text in key.items())
    asked = posted_event(1, line)
    server.learn(asked)
    assert server.say(asked + LAST).startswith(b"HTTP/1.1 201")
    assert server.begun
    server.headwater.keys.revoke("jobs", NOW)
    assert server.say(asked + LAST).startswith(b"HTTP/1.1 401")
    assert server.handed_on


def test_the_guard_is_asked_once_of_one_that_is_handed_on(server: Served) -> None:
    key = server.headwater.make_key("jobs", Role.PRODUCER, rate=5)
    (line,) = (f"{name}: {text}" for name, text in key.items())
    many = b"[" + b",".join(event(number)[1:-1] for number in range(500)) + b"]"
    asked = [
        post(EVENTS, gzip.compress(body), "Content-Encoding: gzip", line) for body in (b"[", many)
    ]
    server.learn(asked[0])
    answers = [server.say(asked[place] + LAST) for place in (1, 0, 1, 0, 0)]
    assert [answer[9:12] for answer in answers] == [b"201", b"400", b"201", b"400", b"429"]
    assert len(server.handed_on) == 5


def test_heads_are_remembered_up_to_a_number(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_MOST_HEADS", 3)
    requests = [posted_event(number, f"User-Agent: agent/{number}") for number in range(10)]
    for request in requests * 2:
        assert server.say(request + LAST).count(b"HTTP/1.1 201") == 1
    assert server.say(requests[-1] + LAST).count(b"HTTP/1.1 201") == 1
    assert len(server.begun) == 1


def test_who_leaves_in_the_middle_of_a_body_has_sent_nothing(server: Served) -> None:
    server.learn(posted_event(1))
    with server.connect() as client:
        client.sendall(posted_event(2)[:-1])
    assert server.say(posted_event(3) + LAST).startswith(b"HTTP/1.1 201")
    assert [body for body in server.begun if body == event(2)] == []
    assert server.headwater.journal.summary().received == 2


def test_what_is_taken_of_one_who_has_left_stays_taken(server: Served) -> None:
    server.learn(posted_event(1))
    with held(server) as (asked, let_go), server.connect() as client:
        client.sendall(posted_event(2))
        assert asked.wait(30)
        client.close()
        let_go.set()
    assert server.say(posted_event(3) + LAST).startswith(b"HTTP/1.1 201")
    assert server.headwater.journal.summary().received == 3


def test_what_goes_wrong_for_one_who_has_left_is_told_to_nobody(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []
    hear_again = wire.Connection.hear_again

    def hear(self: wire.Connection, request: bytes, *known: Any, **kept: Any) -> None:
        heard.append(request)
        hear_again(self, request, *known, **kept)

    monkeypatch.setattr(wire.Connection, "hear_again", hear)
    server.learn(posted_event(1))
    with held(server, JournalUnavailable("planted")) as (asked, let_go):
        with server.connect() as client:
            client.sendall(posted_event(2))
            assert asked.wait(30)
        assert server.say(HEALTH + LAST).count(b"HTTP/1.1 200") == 2  # the loop has seen it leave
        let_go.set()
        assert server.say(HEALTH + LAST).count(b"HTTP/1.1 200") == 2
    assert server.say(posted_event(3) + LAST).startswith(b"HTTP/1.1 201")
    assert server.handed_on == [event(2)]
    assert heard == []


def test_who_goes_on_sending_before_the_answer_is_not_read(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_back: list[int] = []
    receive = wire.Connection.data_received

    def received(self: wire.Connection, data: bytes) -> None:
        receive(self, data)
        held_back.append(len(self._held))

    monkeypatch.setattr(wire.Connection, "data_received", received)
    server.learn(posted_event(1))
    with held(server) as (asked, _), server.connect() as client:
        client.sendall(posted_event(2))
        assert asked.wait(30)
        client.setblocking(False)
        for _ in range(30):
            with suppress(BlockingIOError):
                client.send(b"x" * 200_000)
            assert server.say(HEALTH + LAST).count(b"HTTP/1.1 200") == 2  # the loop goes round
    assert 0 < max(held_back) < 1_000_000


def test_the_next_request_is_not_begun_before_the_answer(server: Served) -> None:
    server.learn(posted_event(1))
    with held(server) as (asked, let_go), server.connect() as client:
        client.sendall(posted_event(2))
        assert asked.wait(30)
        client.sendall(posted_event(3) + HEALTH + LAST)
        assert server.say(HEALTH + LAST).count(b"HTTP/1.1 200") == 2
        assert server.begun == [event(2)]
        let_go.set()
        codes = re.findall(rb"HTTP/1.1 (\d+)", rest_of(client))
    assert codes == [b"201", b"201", b"200", b"200"]
    assert server.begun == [event(2), event(3)]


@pytest.mark.parametrize(("full", "code"), [(False, b"201"), (True, b"503")])
def test_a_request_under_way_is_answered_while_the_server_stops(
    server: Served, full: bool, code: bytes
) -> None:
    """By the application, where the disk is full."""
    server.learn(posted_event(1))
    with held(server) as (asked, let_go), server.connect() as client:
        client.sendall(posted_event(2))
        assert asked.wait(30)
        closing = Thread(target=server.web.close)
        closing.start()
        while not_refused(server.port):
            pass
        server.headwater.journal.full = full
        let_go.set()
        answer = rest_of(client)
        closing.join(30)
    assert answer[9:12] == code
    assert b"\r\nConnection: close\r\n\r\n" in answer
    assert server.headwater.journal.summary().received == 2 - full


def not_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
    except OSError:
        return False
    return True


def test_who_cannot_be_waited_for_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_END_SECONDS", 0)
    answers = []
    for brief in (False, True):
        with served(monkeypatch, brief=brief) as one:
            one.learn(posted_event(1))
            with held(one) as (asked, let_go), one.connect() as client:
                client.sendall(posted_event(2))
                assert asked.wait(30)
                one.web.close()
                answers.append(compared(rest_of(client)))
                let_go.set()
    assert answers[0] == answers[1]
    assert answers[0].startswith(b"HTTP/1.1 503")


@contextmanager
def held(server: Served, failure: Exception | None = None) -> Iterator[tuple[Event, Event]]:
    """What is written is held up until it is let go: (that there is something, that it goes on).

    Then it is written, or fails so.
    """
    asked, let_go = Event(), Event()
    journal = server.headwater.journal
    taking: Callable[[Sequence[Any]], list[Any]] = journal.take

    def take(requests: Sequence[Any]) -> list[Any]:
        asked.set()
        assert let_go.wait(30)
        if failure is not None:
            raise failure
        return taking(requests)

    journal.take = take  # type: ignore[method-assign]
    try:
        yield asked, let_go
    finally:
        let_go.set()
        journal.take = taking  # type: ignore[method-assign]


def test_who_is_silent_after_its_answer_is_hung_up_on(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.learn(posted_event(1))
    with server.connect() as client:
        client.sendall(posted_event(2))
        assert b"201" in answered(client, b"\r\n\r\n")
        monkeypatch.setattr(wire, "_LOOK_TICKS", 1)
        monkeypatch.setattr(wire, "_SILENT_SECONDS", 0.05)
        assert client.recv(1) == b""
    assert server.begun


def test_one_that_is_alone_waits_for_the_graph(server: Served) -> None:
    server.learn(posted_event(1))
    server.headwater.projector.waited.clear()
    assert server.say(posted_event(2) + LAST).startswith(b"HTTP/1.1 201")
    assert [positions for positions, _ in server.headwater.projector.waited] == [(2,)]


@pytest.mark.parametrize("place", ["journal", "projector"])
def test_what_goes_wrong_on_the_way_is_told_by_the_application(
    server: Served, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise JournalUnavailable("planted")

    server.learn(posted_event(1))
    wrong = {"journal": "take", "projector": "wait"}[place]
    monkeypatch.setattr(getattr(server.headwater, place), wrong, fail)
    answer = server.say(posted_event(2) + LAST)
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"planted" in answer
    assert server.handed_on == [event(2)]


def test_what_is_taken_is_measured_and_told(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    server.learn(post(PLANS, PLAN))
    caplog.set_level("INFO", "headwater.access")
    with server.connect() as client:
        client.sendall(post(PLANS, PLAN))
        answer = answered(client, PLAN_ID.encode())
    assert server.begun
    metrics = server.headwater.service.metrics.text().decode()
    assert 'headwater_documents_received_total{kind="plan"} 2.0' in metrics
    (line,) = caplog.records
    told = line.fields  # type: ignore[attr-defined]
    assert (told["bytesReceived"], told["bytes"]) == (len(PLAN), len(answer.split(b"\r\n\r\n")[1]))
    assert (told["route"], told["status"], told["principal"]) == (PLANS, 201, "anonymous")
