"""A disk with only its reserve left, over HTTP: every wire, commands, questions, signals."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.application import create_app
from api.console.storage import describe_storage
from api.http.errors import ROOM_AFTER_SECONDS
from api.service import Service
from api.service import storage as storage_module
from api.service.storage import StorageUse
from api.serving.upkeep import Upkeep
from api.settings import read_settings
from graph_model.retention.policy import RetentionPolicy
from graph_model.stores.database import DiskReserve, keep_reserve
from tests.e2e.producer_service import LINEAGE_EVENT, SPLINE_1_2
from tests.e2e.producer_service import a_plan as another_plan
from tests.e2e.producer_service import an_event as another_event
from tests.e2e.small_client import running
from tests.projections import SmallHeadwater, small_headwater
from tests.unit.graph_model.producers.test_commands import DAY, START, daily

MB = 1 << 20
RESERVED = 256 * MB
NOW = START + 40 * DAY
DECLARATION = {"target": "s3://sheets/budget", "sources": ["s3://lake/people"]}
LAYER = {"match": "prefix", "pattern": "s3://", "order": 1, "colour": "#0b6a84"}


@dataclass
class Disk:
    """``free`` is what its next measurement finds; each look is a second later."""

    free: int = 1_000 * MB
    seconds: float = 0.0

    def tick(self) -> float:
        self.seconds += 1
        return self.seconds


@dataclass
class Asked:
    disk: Disk
    reserve: DiskReserve
    small: SmallHeadwater
    service: Service
    client: FlaskClient

    def received(self) -> int:
        return self.small.journal.summary().received


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A job with 20 runs, of which the newest can stay; a declaration; the disk full at last."""
    disk, small = Disk(), small_headwater()
    reserve = DiskReserve(RESERVED, lambda: disk.free, disk.tick)
    keep_reserve(small.journal._engine, reserve)
    monkeypatch.setattr(storage_module, "_free_bytes", lambda _: disk.free)
    for one in daily("load", 1, "file:/raw", "file:/staged", range(20)):
        small.accept(one)
    with running(small):
        small.project()
        storage = StorageUse(
            small.journal, small.generations, lambda: NOW, folder=tmp_path, reserve=reserve
        )
        service = Service(
            small.journal, small.projector, small.graph, small.generations, lambda: NOW,
            storage=storage,
        )  # fmt: skip
        client = create_app(read_settings({}), service).test_client()
        made = Asked(disk, reserve, small, service, client)
        assert client.post("/declarations", json={"declarations": [DECLARATION]}).status_code < 300
        disk.free = RESERVED - MB
        yield made


def spline(client: FlaskClient, path: str, body: Any, *, packed: bool = False) -> TestResponse:
    raw = json.dumps(body).encode()
    headers = {"Content-Type": SPLINE_1_2}
    if packed:
        return client.post(
            path, data=gzip.compress(raw), headers={**headers, "Content-Encoding": "gzip"}
        )
    return client.post(path, data=raw, headers=headers)


WIRES: dict[str, Callable[[FlaskClient], TestResponse]] = {
    "a plan": lambda client: spline(client, "/execution-plans", another_plan(), packed=True),
    "events": lambda client: spline(client, "/producer/execution-events", [another_event()]),
    "an event of OpenLineage": lambda client: client.post("/api/v1/lineage", json=LINEAGE_EVENT),
    "an event at the root": lambda client: client.post("/", json=LINEAGE_EVENT),
    "a batch": lambda client: client.post("/api/v1/lineage/batch", json=[LINEAGE_EVENT]),
    "a declaration": lambda client: client.post(
        "/declarations", json={"declarations": [{**DECLARATION, "target": "s3://sheets/plan"}]}
    ),
    "a layer": lambda client: client.put("/layers/gold", json=LAYER),
    "hiding": lambda client: client.post(
        "/commands", json={"command": "hide", "node": "job:default/load"}
    ),
}


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_refuses_with_one_body_and_takes_again_by_itself(
    asked: Asked, wire: str
) -> None:
    before = asked.received()
    answer = WIRES[wire](asked.client)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == str(ROOM_AFTER_SECONDS)
    body = answer.get_json()
    assert (body["code"], body["status"], body["errors"]) == (503, "Service Unavailable", {})
    assert "has 255.0 MB free, 256.0 MB are reserved for removals" in body["message"]
    assert "headwater prune --drop-bodies" in body["message"]
    assert asked.received() == before
    asked.disk.free = 1_000 * MB
    assert WIRES[wire](asked.client).status_code < 300
    assert asked.received() == before + 1


def test_a_repeat_of_a_large_plan_is_refused_too(asked: Asked) -> None:
    large = another_plan(extraInfo={"text": "x" * 100_000})
    asked.disk.free = 1_000 * MB
    assert spline(asked.client, "/execution-plans", large).status_code == 201
    asked.disk.free = 0
    assert spline(asked.client, "/execution-plans", large).status_code == 503


@pytest.mark.parametrize(
    "command",
    [
        {"command": "forget", "node": "job:default/load"},
        {"command": "prune", "keep": 3, "dropBodies": True},
    ],
)
def test_commands_that_remove_are_carried_out(asked: Asked, command: dict[str, Any]) -> None:
    before = asked.received()
    answer = asked.client.post("/commands", json=command)
    assert answer.status_code == 202
    assert "pending" not in answer.get_json()
    assert asked.received() < before - 10


def test_a_declaration_can_be_taken_back(asked: Asked) -> None:
    (declared,) = asked.client.get("/declarations").get_json()["items"]
    assert asked.client.delete(f"/declarations/{declared['id']}").status_code < 300
    assert asked.client.get("/declarations").get_json()["items"] == []


def test_a_night_of_retention_removes(asked: Asked) -> None:
    now = [NOW]
    clocked = Service(
        asked.small.journal, asked.small.projector, asked.small.graph, asked.small.generations,
        lambda: now[0], storage=asked.service.storage,
    )  # fmt: skip
    nightly = Upkeep(clocked, RetentionPolicy(runs=5), sleep=lambda _: True)
    nightly.look()
    now[0] += DAY
    assert nightly.look() > 10


def test_what_was_taken_before_is_projected(asked: Asked) -> None:
    asked.disk.free = 1_000 * MB
    asked.client.post("/api/v1/lineage", json=LINEAGE_EVENT)
    asked.disk.free = 0
    asked.small.project()
    assert asked.small.journal.summary().pending == 0
    assert asked.client.get("/graph/jobs").get_json()["total"] >= 2


@pytest.mark.parametrize(
    "path",
    [
        "/status", "/graph/overview", "/graph/jobs", "/journal?summary=true", "/health/live",
        "/graph/lineage?node=job:default/load", "/consumer/execution-events",
    ],
)  # fmt: skip
def test_questions_and_the_handshake_are_answered(asked: Asked, path: str) -> None:
    """An agent that got a 503 to its handshake would report nothing for its whole session."""
    assert asked.client.get(path).status_code == 200


def test_readiness_stays_ready_and_warns(asked: Asked) -> None:
    WIRES["a plan"](asked.client)
    answer = asked.client.get("/health/ready")
    assert answer.status_code == 200
    checks = answer.get_json()["checks"]
    assert checks["journal"] == "ok"
    assert "has 255.0 MB free" in checks["storage"]
    asked.disk.free = 1_000 * MB
    assert "storage" not in asked.client.get("/health/ready").get_json()["checks"]


def test_the_warning_is_the_refusal_where_documents_that_wait_need_the_free_space(
    asked: Asked,
) -> None:
    asked.disk.free, asked.reserve.promised = RESERVED + 10 * MB, lambda: 20 * MB
    answer = WIRES["a plan"](asked.client)
    assert answer.status_code == 503
    checks = asked.client.get("/health/ready").get_json()["checks"]
    assert "has 266.0 MB free (20.0 MB of it for documents that wait)" in checks["storage"]
    assert asked.client.get("/storage").get_json()["full"]["disk"]["days"] == 0


def test_storage_and_metrics_tell_it(asked: Asked) -> None:
    WIRES["an event of OpenLineage"](asked.client)
    found = asked.client.get("/storage").get_json()
    assert found["full"]["disk"]["days"] == 0
    assert "new documents are refused" in found["warning"]
    assert any("new documents are refused" in line for line in describe_storage(found))
    told = dict(line.rsplit(" ", 1) for line in asked.client.get("/metrics").text.splitlines())
    assert float(told["headwater_storage_reserve_bytes"]) == RESERVED
    assert float(told["headwater_storage_free_bytes"]) == RESERVED - MB
    assert float(told['headwater_refusals_total{kind="lineage",reason="no-room"}']) == 1


def test_a_rebuild_that_does_not_fit_is_refused(asked: Asked) -> None:
    used = asked.small.catalogue.used_bytes()
    asked.disk.free = RESERVED + used - 1
    answer = asked.client.post("/journal/rebuild")
    assert answer.status_code == 503
    asked.disk.free = RESERVED + used
    assert asked.client.post("/journal/rebuild").status_code < 300
