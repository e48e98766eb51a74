"""The functions from their environment alone: PostgreSQL with a secret of Secrets Manager, large
bodies in S3, queues in SQS (moto), and a real Gremlin Server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa

from aws.accept import Accept, make_accept
from aws.enqueue import make_enqueue
from aws.invocations import deadline
from aws.project import Project, make_project
from aws.take import make_take
from graph_model.errors import JournalUnavailable
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.run_window import DEFAULT
from graph_model.stores.database import Lock, alone, open_database
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from tests.aws import Aws, environment_of, moto_server
from tests.e2e.producer_service import SPLINE_1_2, a_plan, an_event
from tests.killing import in_another_process, lines_of, make_visible
from tests.lambda_runtime import EventSource, Request, TimeLeft, http_api_1, http_api_2, json_of
from tests.projections import small_headwater, submission

pytestmark = pytest.mark.engine

ROOT: Final = Path(__file__).resolve().parents[3]
LEFT = TimeLeft(300_000)
HEADERS = (("Content-Type", SPLINE_1_2),)


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with moto_server() as server, environment_of(server):
        yield server


@dataclass(frozen=True, slots=True)
class Deployed:
    aws: Aws
    environment: dict[str, str]
    accept: Accept
    project: Project

    def post(self, path: str, value: Any) -> int:
        request = Request("POST", path, json.dumps(value).encode(), HEADERS)
        return int(self.accept.answer(http_api_1(request), LEFT)["statusCode"])

    def get(self, path: str, **query: str) -> Any:
        request = Request("GET", path, query=tuple(query.items()))
        answer = self.accept.answer(http_api_1(request), LEFT)
        assert answer["statusCode"] == 200, answer["body"]
        return json_of(answer)

    def queue(self, name: str) -> EventSource:
        return EventSource(self.aws, self.environment[f"HEADWATER_{name}_QUEUE"])

    def run(self, event: dict[str, Any]) -> dict[str, Any]:
        return self.project.run(event, deadline(LEFT))


@pytest.fixture
def deployed(
    aws: Aws, database_url: str, gremlin_graph: GremlinGraph, gremlin_url: str
) -> Iterator[Deployed]:
    gremlin_graph.clear()
    user = sa.make_url(database_url).username or "postgres"
    secret = aws.client("secretsmanager").create_secret(
        Name=f"database-{aws.bucket()}",
        SecretString=json.dumps({"username": user, "password": "unchecked on this socket"}),
    )
    bucket = aws.bucket()
    environment = {
        "HEADWATER_DATABASE": database_url,
        "HEADWATER_DATABASE_SECRET": secret["ARN"],
        "HEADWATER_GREMLIN_URL": gremlin_url,
        "HEADWATER_INSECURE": "true",
        "HEADWATER_BODIES": f"s3://{bucket}/bodies",
        "HEADWATER_BODIES_ABOVE": "1",
        "HEADWATER_UPLOADS": f"s3://{bucket}/in",
        "HEADWATER_PROJECTION_QUEUE": aws.queue(),
        "HEADWATER_EVENT_QUEUE": aws.queue(fifo=True),
        "HEADWATER_DEAD_LETTER_QUEUE": aws.queue(fifo=True),
    }
    made = Deployed(aws, environment, make_accept(environment), make_project(environment))
    yield made
    made.accept.close()
    made.project.close()


def test_a_plan_and_an_event_of_a_queue_become_one_graph(deployed: Deployed) -> None:
    text = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(3_000))
    assert deployed.post("/producer/execution-plans", {**a_plan(), "extraInfo": {"x": text}}) == 201
    assert deployed.post("/producer/execution-events", [an_event()]) == 201
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.org",
        "run": {"runId": "01900000-0000-7000-8000-000000000001"},
        "job": {"namespace": "hr", "name": "export"},
        "inputs": [{"namespace": "file", "name": "/data/out"}],
        "outputs": [{"namespace": "s3://lake", "name": "export"}],
    }
    enqueued = make_enqueue(deployed.environment).answer(
        http_api_2(Request("POST", "/", json.dumps(event).encode()))
    )
    assert enqueued["statusCode"] == 201
    take = make_take(deployed.environment)
    deployed.queue("EVENT").drain(lambda one: take.run(one, deadline(LEFT)))
    take.close()
    deployed.queue("PROJECTION").drain(deployed.run)
    reply = deployed.get(
        "/graph/lineage", node="dataset:s3://lake/export", direction="upstream", depth="5"
    )
    names = {node.get("name") for node in reply["nodes"]}
    assert {"export", "demo-app"} <= names
    assert deployed.get("/journal", summary="true")["projected"] == 3
    place, prefix = deployed.environment["HEADWATER_BODIES"].removeprefix("s3://").split("/")
    kept = deployed.aws.client("s3").list_objects_v2(Bucket=place, Prefix=prefix)["Contents"]
    assert len(kept) == 2  # the plan, and the sign of the journal


def test_while_another_projector_holds_the_lease_wake_ups_come_again(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed.queue("PROJECTION").drain(deployed.run)
    assert deployed.post("/producer/execution-plans", a_plan()) == 201
    monkeypatch.setattr("graph_model.stores.database.transactions._LOCK_SECONDS", 0.3)
    other = open_database(deployed.environment["HEADWATER_DATABASE"])
    with alone(other, Lock.PROJECTION, JournalUnavailable):
        assert deployed.queue("PROJECTION").poll(deployed.run) == 1
        assert deployed.queue("PROJECTION").count() == 1
        assert deployed.get("/journal", summary="true")["pending"] == 1
    other.dispose()
    deployed.queue("PROJECTION").drain(deployed.run)
    assert deployed.get("/journal", summary="true")["pending"] == 0


# --- killed while it projects --------------------------------------------------------------------

KILLED_AT: Final = (
    str(ROOT / "aws" / "project.py"),
    str(ROOT / "aws" / "waking.py"),
    str(ROOT / "graph_model" / "projection" / "projector" / "subject_projector.py"),
    str(ROOT / "graph_model" / "projection" / "projector" / "commits.py"),
    str(ROOT / "graph_model" / "projection" / "projector" / "rounds.py"),
)
ALL: Final = os.environ.get("HEADWATER_TEST_CRASHES") == "all"
SOME: Final = 12


def test_the_projector_can_be_killed_at_any_line(deployed: Deployed) -> None:
    """Each process is killed at another line, while a new event waits; the last one ends the work.
    The graph is then the one of a projection that nobody disturbed. ``HEADWATER_TEST_CRASHES=all``
    tries every line, else some.
    """

    def work() -> None:
        made = make_project(deployed.environment)
        deployed.queue("PROJECTION").drain(lambda one: made.run(one, deadline(LEFT)))
        made.close()

    assert deployed.post("/producer/execution-plans", a_plan()) == 201
    lines = lines_of(work, KILLED_AT)
    assert len(lines) > 60
    chosen = lines if ALL else lines[:: len(lines) // SOME]
    killed = 0
    for number, line in enumerate(chosen):
        event = an_event(timestamp=1_700_000_000_000 + number)
        assert deployed.post("/producer/execution-events", [event]) == 201
        killed += in_another_process(work, line)
        make_visible(deployed.environment["HEADWATER_PROJECTION_QUEUE"])
    deployed.run({"source": "aws.invocations"})
    assert killed > len(chosen) // 2
    summary = deployed.get("/journal", summary="true")
    assert (summary["pending"], summary["projected"]) == (0, 1 + len(chosen))
    assert elements_of(deployed) == undisturbed(len(chosen))


def elements_of(deployed: Deployed) -> list[str]:
    graph = open_graph(deployed.environment["HEADWATER_GREMLIN_URL"])
    found = sorted(repr(one) for one in graph.scan())
    graph.close()
    return found


def undisturbed(events: int) -> list[str]:
    """The elements that the same documents give in one go, in memory."""
    headwater = small_headwater(DEFAULT)
    headwater.accept(submission(PLAN_KIND, a_plan()))
    for number in range(events):
        one = an_event(timestamp=1_700_000_000_000 + number)
        headwater.accept(submission(EVENT_KIND, one))
    headwater.project()
    found = sorted(repr(one) for one in headwater.graph.scan())
    headwater.close()
    return found
