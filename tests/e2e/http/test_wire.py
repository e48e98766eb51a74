"""The bytes on the wire, exchanged with a real server process over raw sockets."""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.e2e.producer_process import producer_port, producer_process
from tests.e2e.producer_server import LIMIT
from tests.e2e.producer_service import OTHER_PLAN_ID, PLAN_ID, SPLINE_1_2, a_plan, an_event

PLAN = json.dumps(a_plan()).encode()
MOST_HEAD = 262_144
"""Heads are taken below this many bytes."""


def resident_bytes(process: int) -> int:
    """Memory of a process."""
    pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with producer_port() as port:
        yield port


def exchange(port: int, request: bytes) -> tuple[str, list[str], bytes]:
    """Send bytes, read to the end: the status line, the header lines, the body."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        received = b""
        while part := connection.recv(65_536):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return status, lines, body


def code_of(status: str) -> int:
    return int(status.split()[1])


def request(
    method: str, path: str, body: bytes = b"", version: str = "HTTP/1.1", **headers: str
) -> bytes:
    lines = [f"{method} {path} {version}", "Host: localhost", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if method == "POST" and "Transfer_Encoding" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize("path", ["/producer/status", "//status", "/producer//status/", "/status"])
def test_the_handshake_has_one_line_per_version_and_no_body(port: int, path: str) -> None:
    status, lines, body = exchange(port, request("HEAD", path))
    assert code_of(status) == 200
    assert sorted(line.lower() for line in lines if line.lower().startswith("absa-spline")) == [
        "absa-spline-accept-request-encoding: gzip",
        "absa-spline-api-lts-version: 1.1",
        "absa-spline-api-lts-version: 1.2",
        "absa-spline-api-version: 1",
        "absa-spline-api-version: 1.1",
        "absa-spline-api-version: 1.2",
    ]
    assert body == b""
    assert not any(line.lower().startswith(("content-encoding", "server")) for line in lines)


@pytest.mark.parametrize("second", ["localhost", "elsewhere"])
@pytest.mark.parametrize("path", ["/health/live", "/graph/search?q=a"])
def test_two_host_headers_are_refused(port: int, path: str, second: str) -> None:
    status, _, _ = exchange(port, request("GET", path, Host=second))
    assert code_of(status) == 400


def test_a_plan_and_its_event_go_through_with_a_length_or_in_chunks(port: int) -> None:
    status, _, body = exchange(
        port, request("POST", "//execution-plans/", PLAN, Content_Type=SPLINE_1_2)
    )
    assert code_of(status) == 201
    assert body == f'"{PLAN_ID}"'.encode()
    events = json.dumps([an_event()]).encode()
    chunks = b"".join(
        f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (events[:10], events[10:])
    )
    status, lines, body = exchange(
        port,
        request(
            "POST",
            "/producer/execution-events",
            chunks + b"0\r\n\r\n",
            Content_Type=SPLINE_1_2,
            Transfer_Encoding="chunked",
        ),
    )
    assert code_of(status) == 201
    assert body == b""
    assert "Content-Length: 0" in lines


def test_a_compressed_plan_goes_through(port: int) -> None:
    status, _, _ = exchange(
        port,
        request(
            "POST",
            "/execution-plans",
            gzip.compress(PLAN),
            Content_Type=SPLINE_1_2,
            Content_Encoding="gzip",
        ),
    )
    assert code_of(status) == 201


@pytest.mark.parametrize("size", [LIMIT + 1, LIMIT * 3])
def test_a_body_beyond_the_limit_is_a_413_with_the_one_body(port: int, size: int) -> None:
    status, lines, body = exchange(
        port, request("POST", "/execution-plans", b" " * size, Content_Type=SPLINE_1_2)
    )
    assert code_of(status) == 413
    assert set(json.loads(body)) == {"code", "status", "message", "errors"}
    assert "Content-Type: application/json" in lines


@pytest.mark.parametrize(
    ("head", "code"),
    [
        (b"POST /execution-plans HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /execution-plans HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ((b"GET / HTTP/1.1\r\nX: " + b"x" * MOST_HEAD)[:MOST_HEAD], 431),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
    ],
)
def test_a_request_that_the_server_refuses_never_reaches_a_route(
    port: int, head: bytes, code: int
) -> None:
    """The server says so in its own words, and closes the connection."""
    status, lines, body = exchange(port, head + request("POST", "/execution-plans", PLAN))
    assert code_of(status) == code
    assert "Connection: close" in lines
    assert body.count(b"HTTP/1.1") == 0
    assert b"Traceback" not in body


def test_no_tunnel_is_opened(port: int) -> None:
    head = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nConnection: close\r\n\r\n"
    assert code_of(exchange(port, head)[0]) in (404, 405)


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_body_with_a_length_and_chunks_is_refused_and_what_follows_is_not_answered(
    port: int, version: bytes
) -> None:
    """A proxy that counts the other way would take what follows for another client's request."""
    head = b"POST /execution-plans HTTP/" + version + b"\r\nHost: x\r\nConnection: keep-alive\r\n"
    both = head + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    status, lines, rest = exchange(port, both + request("HEAD", "/status"))
    assert code_of(status) == 400
    assert "Connection: close" in lines
    assert rest.count(b"HTTP/1.1") == 0


def test_a_connection_is_kept_for_the_next_request(port: int) -> None:
    """An agent posts the plan and the event over one connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for _ in range(2):
            head = request("POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2)
            connection.sendall(head.replace(b"Connection: close", b"Connection: keep-alive"))
            received = b""
            while not received.endswith(f'"{PLAN_ID}"'.encode()):
                part = connection.recv(65_536)
                assert part, received
                received += part


def test_a_client_that_offers_another_protocol_goes_on_in_this_one(port: int) -> None:
    """Java's own client offers HTTP/2 with the first request of a connection, body and all."""
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM"
    asked = request("POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2)
    kept = asked.replace(b"Connection: close", offer)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for _ in range(3):
            connection.sendall(kept)
            received = b""
            while not received.endswith(f'"{PLAN_ID}"'.encode()):
                part = connection.recv(65_536)
                assert part, received
                received += part
            assert received.startswith(b"HTTP/1.1 201")


def test_a_client_that_asks_first_is_told_to_go_on(port: int) -> None:
    head, _, body = request(
        "POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2, Expect="100-continue"
    ).partition(b"\r\n\r\n")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 201")


def test_a_client_that_speaks_an_older_http_is_answered_and_hung_up_on(port: int) -> None:
    asked = request("POST", "/execution-plans", PLAN, "HTTP/1.0", Content_Type=SPLINE_1_2)
    status, _, body = exchange(port, asked.replace(b"Connection: close\r\n", b""))
    assert (code_of(status), body) == (201, f'"{PLAN_ID}"'.encode())


def test_a_request_before_one_that_is_broken_is_answered(port: int) -> None:
    plan = request("POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2)
    kept = plan.replace(b"Connection: close", b"Connection: keep-alive")
    status, _, rest = exchange(port, kept + b"nonsense\r\n\r\n")
    assert code_of(status) == 201
    assert rest.startswith(f'"{PLAN_ID}"'.encode())


def test_a_body_that_breaks_off_in_the_middle_is_refused(port: int) -> None:
    head = request("POST", "/execution-plans", Content_Type=SPLINE_1_2, Transfer_Encoding="chunked")
    status, _, _ = exchange(port, head + b"5\r\nabcde\r\nno length\r\n")
    assert code_of(status) == 400


def send_often(connection: socket.socket, data: bytes, times: int) -> None:
    for _ in range(times):
        connection.sendall(data)


CHUNKED = request("POST", "/execution-plans", Transfer_Encoding="chunked")


def test_a_trailer_behind_a_body_is_no_header(port: int) -> None:
    body = f"{len(PLAN):x}\r\n".encode() + PLAN + b"\r\n0\r\n"
    trailer = (
        f"Content-Type: {SPLINE_1_2}\r\nOrigin: https://elsewhere.example.org\r\n\r\n".encode()
    )
    status, lines, _ = exchange(port, CHUNKED + body + trailer)
    assert code_of(status) == 415
    assert not any(line.startswith("Access-Control") for line in lines)


@pytest.mark.parametrize("kind", [SPLINE_1_2, "text/plain"])
def test_trailers_without_end_are_not_read(port: int, kind: str) -> None:
    """Those of a request that was refused before they came neither."""
    head = request("POST", "/execution-plans", Content_Type=kind, Transfer_Encoding="chunked")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(head + b"0\r\n")
        with pytest.raises(OSError, match=r"reset|pipe|aborted"):
            send_often(connection, b"A: b\r\n" * 1000, 10_000)


def test_a_body_in_chunks_without_end_is_a_413(port: int) -> None:
    head = request("POST", "/execution-plans", Content_Type=SPLINE_1_2, Transfer_Encoding="chunked")
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection, suppress(OSError):
        connection.sendall(head)
        send_often(connection, chunk, 4 * LIMIT // 0x8000 + 1)
        while part := connection.recv(65_536):
            received += part
    assert b" 413 " in received.split(b"\r\n")[0]


def test_a_request_whose_chunks_break_is_refused_after_those_before_it(port: int) -> None:
    first = request("GET", "/health/live").replace(b"Connection: close", b"Connection: keep-alive")
    broken = CHUNKED.replace(b"Connection: close", b"Connection: keep-alive") + b"zz\r\n"
    status, _, rest = exchange(port, first + first + broken)
    assert code_of(status) == 200
    assert rest.count(b"HTTP/1.1 200") == 1
    assert rest.count(b"HTTP/1.1 400") == 1


def test_an_offer_in_an_older_http_stays_in_it(port: int) -> None:
    asked = request("POST", "/execution-plans", PLAN, "HTTP/1.0", Content_Type=SPLINE_1_2)
    offer = b"Connection: Upgrade\r\nUpgrade: h2c"
    status, lines, _ = exchange(port, asked.replace(b"Connection: close", offer))
    assert code_of(status) == 201
    assert "Connection: close" in lines


def test_an_answer_has_one_date(port: int) -> None:
    for path in ("/health/live", "/openapi.json", "/"):
        _, lines, _ = exchange(port, request("GET", path))
        assert sum(line.startswith("Date:") for line in lines) == 1


def test_a_client_that_leaves_in_the_middle_of_a_body_leaves_nothing_behind(port: int) -> None:
    unfinished = request("POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2)[:-1]
    for path in (b"/execution-plans", b"/journal/replay"):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(unfinished.replace(b"/execution-plans", path))
    status, _, _ = exchange(port, request("HEAD", "/status"))
    assert code_of(status) == 200


def test_answers_of_any_length_are_read_at_any_pace(port: int) -> None:
    """Forty clients that read nothing yet keep forty connections, and no thread."""
    page = request("GET", "/openapi.json")
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            for _ in range(40)
        ]
        for connection in slow:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.sendall(page * 3)
        status, _, whole = exchange(port, page)
        assert code_of(status) == 200
        assert json.loads(whole)["info"]["title"] == "Headwater"


def test_clients_that_pipeline_and_never_read_take_bounded_memory() -> None:
    """The unsent bytes of a connection are bounded; unread requests stay with their client."""
    with producer_process() as (port, process), ExitStack() as stack:
        before = resident_bytes(process)
        for _ in range(50):
            greedy = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            greedy.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    greedy.send(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n" * 1_000)
        status, _, _ = exchange(port, request("HEAD", "/status"))
        assert code_of(status) == 200
        assert resident_bytes(process) - before < 200_000_000


def test_two_hundred_silent_clients_shut_nobody_out(port: int) -> None:
    """Some say nothing, some never end their body."""
    unfinished = request("POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2)[:-1]
    with ExitStack() as stack:
        for number in range(200):
            silent = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            if number % 2:
                silent.sendall(unfinished)
        status, _, _ = exchange(port, request("HEAD", "/status"))
        assert code_of(status) == 200


def test_requests_sent_before_the_answers_are_answered_in_turn(port: int) -> None:
    plan = request("POST", "/execution-plans", PLAN, Content_Type=SPLINE_1_2)
    kept = plan.replace(b"Connection: close", b"Connection: keep-alive")
    _, _, rest = exchange(port, kept * 9 + plan)
    assert rest.count(f'"{PLAN_ID}"'.encode()) == 10


def test_the_same_plan_from_many_at_once_is_one_document(port: int) -> None:
    plan = json.dumps(a_plan(id=OTHER_PLAN_ID)).encode()
    asked = request("POST", "/execution-plans", plan, Content_Type=SPLINE_1_2)

    def received() -> int:
        _, _, body = exchange(port, request("GET", "/journal?summary=true"))
        count: int = json.loads(body)["received"]
        return count

    before = received()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: exchange(port, asked), range(24)))
    assert {(code_of(status), body) for status, _, body in answers} == {
        (201, f'"{OTHER_PLAN_ID}"'.encode())
    }
    assert received() == before + 1
