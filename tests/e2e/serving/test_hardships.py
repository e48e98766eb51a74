"""``headwater serve`` in hard times: no room to project, poison, disorder."""

from __future__ import annotations

import json
import random
import resource
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from graph_model.producers.spline.documents import PLAN_KIND
from graph_model.stores.database import open_database
from graph_model.stores.documents import Receipt, Submission
from graph_model.stores.gremlin.graph import GremlinGraph
from graph_model.stores.journal import Journal
from tests.e2e.producer_service import a_plan, an_event
from tests.e2e.serving.test_databases import limit_files, pair, post, summary, two_services
from tests.e2e.serving.test_server import Serving, serving
from tests.projections import submission
from tests.unit.graph_model.producers.openlineage import test_projection as openlineage
from tests.unit.graph_model.projection.projector import test_projector as spline
from tests.waiting import eventually

pytestmark = pytest.mark.engine


def rebuild(server: Serving) -> tuple[str, str]:
    """The hash over all elements and rows before everything is projected anew, and after it."""
    asked = urllib.request.Request(f"{server.url}/journal/rebuild", method="POST")
    urllib.request.urlopen(asked, timeout=60).close()
    done = eventually(lambda: (p := server.get("/journal/rebuild"))["phase"] == "done" and p)
    return done["before"], done["after"]


# --- no room to project --------------------------------------------------------------------------


def wordy_event(number: int) -> dict[str, Any]:
    """Small in the journal, which compresses it, and large in the catalogue, which does not."""
    labels = {f"label {place}": [f"{number} {'x' * 400}"] for place in range(200)}
    return an_event(timestamp=1_700_000_000_000 + number, labels=labels)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
def test_a_document_without_room_in_the_graph_is_told_and_projected_later(
    tmp_path: Path, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    """The catalogue finds no room first: documents are still taken, and wait."""
    settings = {"HEADWATER_GREMLIN_URL": gremlin_url, "HEADWATER_PROJECTION_WAIT": "0"}
    with serving(tmp_path, **settings) as server:
        server.ready()
        assert post(server, "execution-plans", a_plan())[0] == 201
        assert post(server, "execution-events", [wordy_event(0)])[0] == 201
        eventually(lambda: summary(server)["projected"] == 2)
        limit_files(server, largest_file(tmp_path / "data") + 600_000)
        taken, ready = until_in_trouble(server)
        assert ready["status"] == "unavailable"
        assert "space" in ready["checks"]["projection"]
        assert ready["lag"]["documents"] > 0

        limit_files(server, resource.RLIM_INFINITY)
        eventually(lambda: server.get("/health/ready")["status"] == "ready")
        after = eventually(lambda: (now := summary(server))["pending"] == 0 and now)
        assert after["projected"] == after["received"] == 2 + taken
        before, anew = rebuild(server)
        assert before == anew
        assert server.stop() == 0


def largest_file(folder: Path) -> int:
    return max(file.stat().st_size for file in folder.glob("*.db*"))


def until_in_trouble(server: Serving) -> tuple[int, Any]:
    """Sends events until nothing is projected any more: how many, and the readiness then."""
    for number in range(1, 60):
        assert post(server, "execution-events", [wordy_event(number)])[0] == 201
        ready = eventually(lambda: settled(server))
        if "projection" in ready["checks"]:
            return number, ready
    raise AssertionError("there is room without end")


def settled(server: Serving) -> Any:
    """Readiness once sent documents are projected or cannot be: the journal must not run ahead."""
    ready = server.get("/health/ready")
    is_settled = "projection" in ready["checks"] or summary(server)["pending"] == 0
    return ready if is_settled else None


# --- two services --------------------------------------------------------------------------------


def test_when_one_of_two_services_is_killed_the_other_projects_the_documents_of_both(
    tmp_path: Path, database_url: str, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    with two_services(tmp_path, database_url, gremlin_url) as (one, two):
        with ThreadPoolExecutor(8) as clients:
            posted = [clients.submit(acknowledged, s, n) for n in range(60) for s in (one, two)]
            eventually(lambda: summary(two)["projected"] > 20)
            one.process.kill()
            one.process.wait()
        taken = {number for done in posted if (number := done.result()) is not None}
        assert taken == set(range(60))  # two took every pair, whatever became of one
        eventually(lambda: summary(two)["pending"] == 0)
        counts = summary(two)
        assert counts["received"] == counts["projected"] == 120
        before, anew = rebuild(two)
        assert before == anew
        assert two.stop() == 0


def acknowledged(server: Serving, number: int) -> int | None:
    """The number of a pair that was answered 201; None when the server is gone."""
    plan, event = pair(number)
    try:
        assert post(server, "execution-plans", plan)[0] == 201
        assert post(server, "execution-events", [event])[0] == 201
    except (OSError, HTTPException):
        return None
    return number


# --- poison --------------------------------------------------------------------------------------


@pytest.mark.part("recovery")
def test_a_poison_plan_among_a_thousand_is_listed_with_its_reason_and_blocks_none(
    tmp_path: Path, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    """It is in the journal already: the checks of today would have refused it."""
    poison = 613
    data = tmp_path / "data"
    data.mkdir()
    journal = Journal(open_database(data / "headwater.db"))
    journal.accept([a_thousandth(n, n == poison) for n in range(1000)], Receipt(0, "", "", ""))
    journal.close()
    with serving(tmp_path, HEADWATER_GREMLIN_URL=gremlin_url) as server:
        server.ready()
        eventually(lambda: summary(server)["pending"] == 0)
        counts = summary(server)
        assert (counts["projected"], counts["failed"]) == (999, 1)
        listed = server.get("/journal?state=failed")["items"]
        assert [one["planId"] for one in listed] == [str(UUID(int=poison + 1))]
        assert "operations" in listed[0]["reason"]
        before, anew = rebuild(server)
        assert before == anew
        assert server.stop() == 0


def a_thousandth(number: int, poison: bool) -> Submission:
    plan, _ = pair(number)
    return submission(PLAN_KIND, plan | {"operations": {"write": 7}} if poison else plan)


# --- disorder ------------------------------------------------------------------------------------


def everything() -> list[tuple[str, bytes, str]]:
    """Path, body and content type of every document of two protocols."""
    spoken = [
        (
            f"/producer/execution-{one.kind}s",
            one.body if one.kind == PLAN_KIND else b"[" + one.body + b"]",
            f"application/vnd.absa.spline.producer.v{one.api_version}+json",
        )
        for one in spline.TROUBLE
        if not one.scope and one.api_version == "1.2"
    ]
    told = [
        ("/api/v1/lineage", json.dumps(event).encode(), "application/json")
        for event in openlineage.TROUBLE
    ]
    return spoken + told


def send(server: Serving, document: tuple[str, bytes, str]) -> None:
    path, body, content_type = document
    asked = urllib.request.Request(
        server.url + path, data=body, headers={"Content-Type": content_type}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert answer.status in {200, 201}


def hash_of(folder: Path, gremlin_url: str, documents: Iterable[tuple[str, bytes, str]]) -> str:
    """The end state of a service that gets these from four clients at once."""
    folder.mkdir()
    with serving(folder, HEADWATER_GREMLIN_URL=gremlin_url) as server:
        server.ready()
        with ThreadPoolExecutor(4) as clients:
            for done in [clients.submit(send, server, one) for one in documents]:
                done.result()
        eventually(lambda: summary(server)["pending"] == 0)
        assert summary(server)["received"] == len(everything())
        before, anew = rebuild(server)
        assert before == anew
        assert server.stop() == 0
    return before


@pytest.mark.part("recovery")
def test_documents_shuffled_and_repeated_come_to_the_same_hash(
    tmp_path: Path, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    chance = random.Random(5)
    documents = everything()
    in_order = hash_of(tmp_path / "order", gremlin_url, documents)
    gremlin_graph.clear()
    shuffled = [*documents, *chance.choices(documents, k=len(documents))]
    chance.shuffle(shuffled)
    assert hash_of(tmp_path / "disorder", gremlin_url, shuffled) == in_order
