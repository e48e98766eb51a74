"""Documents that are taken before the framework is asked are answered as it would answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from graph_model.keys import Role
from tests.e2e.producer_service import (
    NOW,
    PLAN_ID,
    SPLINE_1_2,
    Headwater,
    a_plan,
    an_event,
    headwater,
)

ORIGIN = {"Origin": "https://elsewhere.example.org"}
PLANS, EVENTS, LINEAGE = (
    "/producer/execution-plans",
    "/producer/execution-events",
    "/api/v1/lineage",
)
LINEAGE_EVENT = {
    "eventType": "COMPLETE",
    "eventTime": "2026-03-01T08:15:00.000Z",
    "producer": "https://example.org/tool",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "11111111-2222-7333-8444-555555555555"},
    "job": {"namespace": "tool", "name": "job"},
}


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


def posted(server: Headwater, path: str, body: Any, **headers: str) -> Any:
    kind = "application/json" if path == LINEAGE else SPLINE_1_2
    return server.post(path, body, kind, headers={"X-Request-Id": "one", **headers})


@pytest.mark.parametrize(
    ("path", "body"),
    [(PLANS, a_plan()), (EVENTS, [an_event()]), (LINEAGE, LINEAGE_EVENT)],
)
def test_both_roads_give_one_answer(server: Headwater, path: str, body: Any) -> None:
    """A page of another origin goes through the application."""
    short, long = posted(server, path, body), posted(server, path, body, **ORIGIN)
    assert (short.status, short.data) == (long.status, long.data)
    assert dict(short.headers) == dict(long.headers)
    assert server.journal.summary().received == 1
    assert len(server.journal.receipts(1)) == 2


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        ({"id": PLAN_ID}, {}, 400),
        (a_plan(), {"Content-Encoding": "br"}, 415),
        (a_plan(), {"X-API-Key": "hw_a", "Authorization": "Bearer hw_b"}, 401),
    ],
)
def test_both_roads_give_one_refusal(
    server: Headwater, body: Any, headers: dict[str, str], status: int
) -> None:
    short = posted(server, PLANS, body, **headers)
    long = posted(server, PLANS, body, **headers, **ORIGIN)
    assert (short.status_code, long.status_code) == (status, status)
    assert short.data == long.data
    assert dict(short.headers) == dict(long.headers)


def test_the_guard_is_asked_once_of_a_request_that_is_refused(server: Headwater) -> None:
    key = server.make_key("jobs", Role.PRODUCER, rate=2)
    refused = [server.post_plan({"id": 1}, headers=key).status_code for _ in range(3)]
    assert refused == [400, 400, 429]


def test_a_full_disk_is_told_by_the_application(server: Headwater) -> None:
    server.journal.full = True
    answer = server.post_plan(a_plan())
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert "no space left" in answer.json["message"]


def test_a_bug_is_told_with_the_id_of_the_request(
    server: Headwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of a foreign library")

    monkeypatch.setattr(server.journal, "accept", fail)
    answer = posted(server, EVENTS, [an_event()])
    assert answer.status_code == 500
    assert "one" in answer.json["message"]
    assert "secret" not in answer.text


def test_what_is_taken_is_measured_and_told(
    server: Headwater, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "headwater.access")
    posted(server, EVENTS, [an_event(), an_event(timestamp=NOW + 1)])
    metrics = server.service.metrics.text().decode()
    assert 'headwater_documents_received_total{kind="event"} 2.0' in metrics
    measured = f'{{method="POST",route="{EVENTS}",status="201"}} 1.0'
    assert f"headwater_request_duration_seconds_count{measured}" in metrics
    (line,) = caplog.records
    size = len(json.dumps([an_event(), an_event(timestamp=NOW + 1)]))
    assert line.fields["bytesReceived"] == size  # type: ignore[attr-defined]
    assert line.fields["route"] == EVENTS  # type: ignore[attr-defined]


def test_a_request_without_an_id_gets_one(server: Headwater) -> None:
    answers = [server.post_plan(a_plan()) for _ in range(2)]
    first, second = (answer.headers["X-Request-Id"] for answer in answers)
    assert first != second
    assert len(first) == 16
