"""Documents that are taken before the framework is asked are answered as it would answer."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from api import intake
from api.front import Front
from api.service import attach
from graph_model.errors import JournalUnavailable
from graph_model.keys import Role
from graph_model.store import Arrival, Repeat
from tests.asgi import Answered, Asked, answer, ask, post
from tests.e2e.producer_service import (
    LINEAGE_EVENT,
    NOW,
    PLAN_ID,
    SPLINE_1_2,
    Headwater,
    a_plan,
    an_event,
    headwater,
)

ORIGIN = {"Origin": "http://localhost", "Host": "localhost"}
PLANS, EVENTS, LINEAGE = (
    "/producer/execution-plans",
    "/producer/execution-events",
    "/api/v1/lineage",
)


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


@pytest.fixture
def front(server: Headwater) -> Iterator[Front]:
    front = Front(server.app, server.settings)
    yield front
    front.close()


def a_post(path: str, body: Any, **headers: str) -> Asked:
    kind = "application/json" if path == LINEAGE else SPLINE_1_2
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return post(path, data, kind, **{"X-Request-Id": "one", **headers})


def posted(front: Front, path: str, body: Any, **headers: str) -> Answered:
    (answer,) = ask(front, a_post(path, body, **headers))
    return answer


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("path", "body"),
    [(PLANS, a_plan()), (EVENTS, [an_event()]), (LINEAGE, LINEAGE_EVENT)],
)
def test_both_roads_give_one_answer(
    server: Headwater, front: Front, path: str, body: Any, beside: bool
) -> None:
    """What a page sends goes through the application."""
    attach(server.app, replace(server.service, beside=beside))
    short, long = posted(front, path, body), posted(front, path, body, **ORIGIN)
    assert short.status == 201
    assert short == long
    assert server.journal.summary().received == 1
    assert len(server.journal.receipts(1)) == 2


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        ({"id": PLAN_ID}, {}, 400),
        (a_plan(), {"Content-Encoding": "br"}, 415),
        (a_plan(), {"X-API-Key": "hw_a", "Authorization": "Bearer hw_b"}, 401),
        (b" " * 2_000_000, {}, 413),
        (gzip.compress(b" " * 2_000_000), {"Content-Encoding": "gzip"}, 413),
    ],
)
def test_both_roads_give_one_refusal(body: Any, headers: dict[str, str], status: int) -> None:
    with headwater(max_body_bytes=1_000_000) as server:
        front = Front(server.app, server.settings)
        short = posted(front, PLANS, body, **headers)
        long = posted(front, PLANS, body, **headers, **ORIGIN)
        front.close()
    assert short.status == status
    assert short == long


@pytest.mark.parametrize("name", ["a", "a" * 100_000])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_small_and_large_plans_are_taken_packed_or_not(
    server: Headwater, front: Front, name: str, encoding: str
) -> None:
    body = json.dumps(a_plan(name=name)).encode()
    packed = gzip.compress(body) if encoding == "gzip" else body
    parts = tuple(packed[place : place + 1000] for place in range(0, len(packed), 1000))
    asked = a_post(PLANS, packed, **{"Content-Encoding": encoding})
    (answer,) = ask(front, replace(asked, parts=parts))
    assert (answer.status, answer.data) == (201, f'"{PLAN_ID}"'.encode())
    assert server.bodies()[0]["name"] == name


def test_a_small_body_that_becomes_a_large_one_is_taken_by_a_thread(
    server: Headwater, front: Front
) -> None:
    packed = gzip.compress(json.dumps(a_plan(name="a" * 1_000_000)).encode())
    assert len(packed) < 64 * 1024
    assert posted(front, PLANS, packed, **{"Content-Encoding": "gzip"}).status == 201
    assert len(server.bodies()[0]["name"]) == 1_000_000


@pytest.mark.parametrize(("number", "thread"), [(1, "MainThread"), (2_000, "request")])
def test_many_documents_in_few_bytes_are_read_by_a_thread(
    front: Front, monkeypatch: pytest.MonkeyPatch, number: int, thread: str
) -> None:
    """Ten thousand times {} are 71 bytes, and a second of work for whoever reads them."""
    readers: set[str] = set()
    reading = intake.parse_json

    def parse(body: bytes) -> Any:
        readers.add(threading.current_thread().name.partition("_")[0])
        return reading(body)

    monkeypatch.setattr(intake, "parse_json", parse)
    packed = gzip.compress(json.dumps([an_event(timestamp=n) for n in range(number)]).encode())
    assert posted(front, EVENTS, packed, **{"Content-Encoding": "gzip"}).status == 201
    assert readers == {thread}


def test_a_group_that_no_thread_can_write_is_told_and_the_next_one_is_written(
    server: Headwater, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = front._writer
    monkeypatch.setattr(writer, "submit", _no_thread)
    assert posted(front, EVENTS, [an_event()]).status == 500
    monkeypatch.undo()
    assert posted(front, EVENTS, [an_event()]).status == 201
    assert server.journal.summary().received == 1


def _no_thread(*_: object) -> None:
    raise RuntimeError("can't start new thread")


def test_who_is_cut_off_by_the_end_of_the_service_is_told_to_come_back(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stopped() -> Answered:
        asking = asyncio.create_task(answer(front, a_post(EVENTS, [an_event()])))
        await asyncio.sleep(0)
        asking.cancel()
        return await asking

    hold = threading.Event()
    monkeypatch.setattr(front._express.together, "_write", lambda _: hold.wait(30) and [])
    told = asyncio.run(stopped())
    hold.set()
    assert (told.status, json.loads(told.data)["code"]) == (503, 503)


def test_who_leaves_before_the_end_has_sent_nothing(server: Headwater, front: Front) -> None:
    whole = a_post(PLANS, a_plan())
    elsewhere = Asked("POST", "/journal/replay", (b"{",), whole.headers)
    for asked in (whole, elsewhere):
        (answer,) = ask(front, replace(asked, leaves=True))
        assert answer.status == 0
    assert server.journal.summary().received == 0


def test_what_arrives_at_once_is_written_together(
    server: Headwater, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    taking = server.journal.take

    def take(requests: Sequence[Arrival | Repeat]) -> list[tuple[int, ...] | Exception]:
        groups.append(len(requests))
        return taking(requests)

    monkeypatch.setattr(server.journal, "take", take)
    events = [a_post(EVENTS, [an_event(timestamp=NOW + number)]) for number in range(50)]
    assert {answer.status for answer in ask(front, *events)} == {201}
    assert sum(groups) == 50
    assert len(groups) <= 3
    assert server.journal.summary().received == 50


def test_of_many_at_once_the_bad_ones_spoil_none(server: Headwater, front: Front) -> None:
    events = [a_post(EVENTS, [an_event(timestamp=NOW + number)]) for number in range(8)]
    bad = [a_post(EVENTS, [{"planId": 1}]), a_post(PLANS, b"[")]
    answers = ask(front, *events[:4], *bad, *events[4:])
    assert [answer.status for answer in answers] == [201] * 4 + [400] * 2 + [201] * 4
    assert server.journal.summary().received == 8


def test_what_befalls_one_request_of_a_group_is_told_to_it_alone(
    server: Headwater, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = server.journal.take

    def take(requests: Sequence[Arrival | Repeat]) -> list[tuple[int, ...] | Exception]:
        return [*taking(requests[:-1]), JournalUnavailable("planted")]

    monkeypatch.setattr(server.journal, "take", take)
    answers = ask(front, *(a_post(EVENTS, [an_event(timestamp=NOW + n)]) for n in range(5)))
    assert sorted(answer.status for answer in answers) == [201] * 4 + [503]


def test_one_that_is_alone_waits_for_the_graph_and_a_crowd_does_not(
    server: Headwater, front: Front
) -> None:
    assert posted(front, EVENTS, [an_event()]).status == 201
    assert [positions for positions, _ in server.projector.waited] == [(1,)]
    ask(front, *(a_post(EVENTS, [an_event(timestamp=NOW + n)]) for n in range(1, 9)))
    assert len(server.projector.waited) == 1


@pytest.mark.parametrize(("length", "waits"), [(1_000_000, 1), (5_000_000, 0)])
def test_nobody_waits_for_what_is_too_large_to_come_soon(
    server: Headwater, front: Front, length: int, waits: int
) -> None:
    plan = a_plan(name="a" * length)
    assert posted(front, PLANS, plan).status == 201
    assert posted(front, PLANS, plan).status == 201
    assert len(server.projector.waited) == 2 * waits


def test_who_waits_for_the_graph_keeps_nobody_else_waiting(
    server: Headwater, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = threading.Event()

    def wait(_positions: Collection[int], _timeout: float) -> bool:
        return written.wait(30)

    def notify(_subject: str) -> None:
        if server.journal.summary().received == 2:
            written.set()

    monkeypatch.setattr(server.projector, "wait", wait)
    monkeypatch.setattr(server.projector, "notify", notify)
    first, second = ask(
        front, *(a_post(EVENTS, [an_event(timestamp=NOW + number)]) for number in range(2))
    )
    assert (first.status, second.status) == (201, 201)


def test_a_key_that_stands_twice_is_taken_on_the_event_loop_too(
    server: Headwater, front: Front
) -> None:
    text = json.dumps(LINEAGE_EVENT, separators=(",", ":")).encode()
    facets = b'"runId":"one","facets":{"processing_engine":{"version":"4.0.0"}'
    again = facets + b',"processing_engine":{"version":"4.0.0"}}'
    run = json.dumps(LINEAGE_EVENT["run"], separators=(",", ":")).encode()
    twice = text.replace(run, b"{" + again + b"}")
    for _ in range(3):  # facets that came before are not read again
        assert posted(front, LINEAGE, twice).status == 201
    assert server.bodies() == [json.loads(twice)]


def test_what_is_refused_on_the_event_loop_is_told_with_its_reason(
    server: Headwater, front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "headwater.refusals"):
        assert posted(front, LINEAGE, b"{").status == 400
        assert posted(front, PLANS, {"id": 1}).status == 400
    assert [line.split(":")[0] for line in caplog.messages] == [
        "lineage of anonymous refused, unreadable", "plan of anonymous refused, invalid",
    ]  # fmt: skip
    assert 'headwater_refusals_total{kind="plan",reason="invalid"} 1.0' in (
        server.client.get("/metrics").text
    )


def test_the_guard_is_asked_once_of_a_request_that_is_refused(
    server: Headwater, front: Front
) -> None:
    key = server.make_key("jobs", Role.PRODUCER, rate=2)
    refused = [posted(front, PLANS, {"id": 1}, **key).status for _ in range(3)]
    assert refused == [400, 400, 429]


def test_a_full_disk_is_told_by_the_application(server: Headwater, front: Front) -> None:
    server.journal.full = True
    answer = posted(front, PLANS, a_plan())
    assert answer.status == 503
    assert answer.headers["Retry-After"] == "5"
    assert "no space left" in json.loads(answer.data)["message"]


def test_a_bug_is_told_with_the_id_of_the_request(
    server: Headwater, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of a foreign library")

    monkeypatch.setattr(server.journal, "take", fail)
    answer = posted(front, EVENTS, [an_event()])
    assert answer.status == 500
    assert "one" in json.loads(answer.data)["message"]
    assert b"secret" not in answer.data


def test_what_is_taken_is_measured_and_told(
    server: Headwater, front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "headwater.access")
    events = [an_event(), an_event(timestamp=NOW + 1)]
    posted(front, EVENTS, events)
    metrics = server.service.metrics.text().decode()
    assert 'headwater_documents_received_total{kind="event"} 2.0' in metrics
    measured = f'{{method="POST",route="{EVENTS}",status="201"}} 1.0'
    assert f"headwater_request_duration_seconds_count{measured}" in metrics
    (line,) = caplog.records
    assert line.fields["bytesReceived"] == len(json.dumps(events))  # type: ignore[attr-defined]
    assert line.fields["route"] == EVENTS  # type: ignore[attr-defined]


def test_a_request_without_an_id_gets_one(front: Front) -> None:
    plan = json.dumps(a_plan()).encode()
    answers = ask(front, *(post(PLANS, plan, SPLINE_1_2) for _ in range(2)))
    first, second = (answer.headers["X-Request-Id"] for answer in answers)
    assert first != second
    assert len(first) == 16


def test_threads_and_the_loop_write_beside_each_other(server: Headwater, front: Front) -> None:
    """A page through the application, agents through the loop."""
    events = [an_event(timestamp=NOW + number) for number in range(40)]
    asked = [a_post(EVENTS, [one], **(ORIGIN if n % 2 else {})) for n, one in enumerate(events)]
    with ThreadPoolExecutor(2) as pool:
        halves = list(pool.map(lambda half: server.post_events([half]).status_code, events[:5]))
    answers = ask(front, *asked)
    assert set(halves) == {201}
    assert {answer.status for answer in answers} == {201}
    assert server.journal.summary().received == 40
