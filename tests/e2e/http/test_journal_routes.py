"""/journal and /health over the Flask client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graph_model.errors import GraphUnavailable
from graph_model.identity import job_id
from graph_model.stores.documents import DocumentState
from tests.contract.rows import a_dataset, a_job, an_execution
from tests.e2e.producer_service import (
    NOW,
    OTHER_PLAN_ID,
    PLAN_ID,
    Headwater,
    a_plan,
    an_event,
    errors_of,
    headwater,
)

KINDS = "plan, event, command, run-event, job-event, dataset-event or declaration"


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        made.post_plan(a_plan())
        made.post_events([an_event(), an_event(planId=OTHER_PLAN_ID)])
        made.journal.settle([1, 2], DocumentState.PROJECTED)
        made.journal.settle([3], DocumentState.WAITING, "no plan yet")
        yield made


def test_the_list_shows_documents_newest_first(server: Headwater) -> None:
    page = server.client.get("/journal").get_json()
    assert (page["total"], page["next"]) == (3, None)
    assert [item["position"] for item in page["items"]] == [3, 2, 1]
    plan = page["items"][2]
    assert len(plan.pop("contentHash")) == 64
    assert plan.pop("size") > 100
    assert plan == {
        "position": 1,
        "kind": "plan",
        "planId": PLAN_ID,
        "apiVersion": "1.2",
        "scope": "",
        "state": "projected",
        "reason": None,
        "receivedAt": "2023-11-14T22:13:20.000Z",
        "job": None,
        "table": None,
        "producer": None,
    }


def test_a_document_names_the_job_the_table_and_the_producer_of_what_it_tells(
    server: Headwater,
) -> None:
    execution = an_execution("ex-1", plan_id=PLAN_ID, producer="spline")
    table = a_dataset("ds-1", "s3://lake/orders", name="orders")
    server.service.generations.current.record([a_job("job-1", "etl", "load"), table, execution])
    waiting, event, plan = server.client.get("/journal").get_json()["items"]
    assert (waiting["job"], waiting["table"], waiting["producer"]) == (None, None, None)
    assert plan["table"] == {"id": "ds-1", "uri": "s3://lake/orders", "label": "orders"}
    assert (
        event["job"]
        == plan["job"]
        == {"id": job_id("etl", "load"), "namespace": "etl", "name": "load"}
    )
    assert plan["producer"] == "spline"


def test_a_cursor_leads_through_all_pages(server: Headwater) -> None:
    first = server.client.get("/journal?limit=2").get_json()
    second = server.client.get(f"/journal?limit=2&cursor={first['next']}").get_json()
    assert [item["position"] for item in first["items"] + second["items"]] == [3, 2, 1]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ("state=waiting", [3]),
        ("kind=plan", [1]),
        ("kind=event&state=projected", [2]),
        ("besides=event", [1]),
    ],
)
def test_filters_are_combined(server: Headwater, query: str, positions: list[int]) -> None:
    page = server.client.get(f"/journal?{query}").get_json()
    assert [item["position"] for item in page["items"]] == positions


def test_the_summary_adds_up(server: Headwater) -> None:
    assert server.client.get("/journal?summary=true").get_json() == {
        "received": 3,
        "waiting": 1,
        "pending": 0,
        "projected": 2,
        "failed": 0,
    }


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("state=lost", {"state": ["waiting, pending, projected or failed"]}),
        ("kind=job", {"kind": [KINDS]}),
        ("besides=job", {"besides": [KINDS]}),
        ("limit=0", {"limit": ["an integer from 1 to 1000"]}),
        ("limit=1e2", {"limit": ["an integer from 1 to 1000"]}),
        ("limit=5&limit=6", {"limit": ["one value, given once"]}),
        ("summary=yes", {"summary": ["true, false, 1 or 0"]}),
        ("summary=1&kind=plan", {"kind": ["no other parameter beside summary=true"]}),
        (
            "order=up",
            {"order": ["one of the parameters besides, cursor, kind, limit, state, summary"]},
        ),
    ],
)
def test_a_parameter_that_cannot_be_honoured_is_a_400_that_names_it(
    server: Headwater, query: str, errors: dict[str, list[str]]
) -> None:
    response = server.client.get(f"/journal?{query}")
    assert response.status_code == 400
    assert errors_of(response) == errors


def test_a_foreign_cursor_is_a_400_that_names_it(server: Headwater) -> None:
    response = server.client.get("/journal?cursor=foreign")
    assert response.status_code == 400
    assert set(errors_of(response)) == {"cursor"}


@pytest.mark.parametrize("state", ["failed", "waiting", "projected"])
def test_replay_reopens_documents(server: Headwater, state: str) -> None:
    response = server.client.post("/journal/replay", json={"state": state})
    assert (response.status_code, response.get_json()) == (202, {"reopened": 3})
    assert server.projector.replayed == [(DocumentState(state),)]


@pytest.mark.parametrize(
    "options",
    [
        {"json": {}},
        {"json": {"state": "pending"}},
        {"json": {"state": "failed", "limit": 3}},
        {"json": []},
        {"data": b"{", "content_type": "application/json"},
        {},
    ],
)
def test_a_replay_that_is_not_understood_is_a_400(
    server: Headwater, options: dict[str, Any]
) -> None:
    response = server.client.post("/journal/replay", **options)
    assert response.status_code == 400
    assert errors_of(response)
    assert server.projector.replayed == []


def test_a_replay_in_a_type_that_any_page_may_send_is_a_415(server: Headwater) -> None:
    body = {"data": b'{"state": "failed"}', "content_type": "text/plain"}
    assert server.client.post("/journal/replay", **body).status_code == 415
    assert server.projector.replayed == []


def test_a_rebuild_is_started_and_followed(server: Headwater) -> None:
    assert server.client.get("/journal/rebuild").status_code == 404
    started = server.client.post("/journal/rebuild")
    told = {"phase": "waiting for the projector", "plansDone": 0, "plans": 7, "removed": 0}
    assert started.status_code == 202
    assert started.get_json() == told | {"before": None, "after": None}
    assert server.client.get("/journal/rebuild").get_json() == started.get_json()


# --- health --------------------------------------------------------------------------------------


def ready(server: Headwater) -> tuple[int, dict[str, Any]]:
    response = server.client.get("/health/ready")
    return response.status_code, response.get_json()


def test_the_process_answers(server: Headwater) -> None:
    server.journal.full = True
    assert server.client.get("/health/live").status_code == 200


def test_it_is_ready_when_every_part_is(server: Headwater) -> None:
    assert ready(server) == (
        200,
        {
            "status": "ready",
            "checks": {"journal": "ok", "graph": "ok"},
            "pending": 0,
            "lag": {"documents": 0, "seconds": 0.0},
        },
    )


def test_it_is_not_ready_while_the_graph_is_rebuilt(server: Headwater) -> None:
    server.projector.state = "rebuilding"
    server.journal.settle([1, 3], DocumentState.PENDING)
    status, body = ready(server)
    assert (status, body["status"], body["pending"]) == (503, "rebuilding", 2)
    assert body["checks"] == {"journal": "ok", "graph": "rebuilding"}
    assert body["lag"]["documents"] == 2


def test_the_lag_is_as_old_as_the_oldest_document_that_waits(server: Headwater) -> None:
    server.journal.settle([1, 3], DocumentState.PENDING)
    server.now += 3_500
    assert ready(server)[1]["lag"] == {"documents": 2, "seconds": 3.5}


def test_health_never_shows_a_password(server: Headwater, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise GraphUnavailable("wss://me:hunter2@graph:8182 does not answer")

    monkeypatch.setattr(server.graph, "ping", away)
    assert "hunter2" not in str(ready(server))


def test_it_is_unavailable_when_the_graph_does_not_answer(
    server: Headwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise GraphUnavailable("connection refused")

    monkeypatch.setattr(server.graph, "ping", away)
    status, body = ready(server)
    assert (status, body["status"]) == (503, "unavailable")
    assert body["checks"]["graph"] == "connection refused"


def test_it_is_unavailable_when_the_journal_cannot_be_written(server: Headwater) -> None:
    server.journal.full = True
    status, body = ready(server)
    assert (status, body["status"], body["pending"]) == (503, "unavailable", None)
    assert body["checks"]["journal"] == "no space left for the database"


def test_the_clock_of_the_service_stamps_receipts(server: Headwater) -> None:
    assert [receipt.received_at for receipt in server.journal.receipts(1)] == [NOW]
