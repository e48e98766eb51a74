"""Commands over HTTP and on the command line: a dry run first, then the deed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.console.storage import give_command
from tests.e2e.small_client import client_of, running
from tests.projections import SmallHeadwater, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import (
    PLAN_ID,
    a_plan,
    a_run,
    event,
    plan,
)

START = 1_700_000_000_000
DAY = 86_400_000


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = small_headwater()
    made.accept(plan(a_plan()), *(event(a_run(START + day * DAY)) for day in range(5)))
    made.project()
    with running(made):
        yield made


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START + 9 * DAY)


def post(client: FlaskClient, **body: Any) -> Any:
    return client.post("/commands", json=body)


def test_a_dry_run_names_the_covered_documents_and_does_nothing(client: FlaskClient) -> None:
    answer = post(client, command="forget", node="job:default/demo", dryRun=True)
    assert answer.status_code == 202
    assert answer.get_json() == {
        "command": "forget", "dryRun": True, "positions": [], "planIds": 1, "documents": 6,
        "executions": 0, "cutoffs": [],
    }  # fmt: skip
    assert client.get("/graph/jobs").get_json()["total"] == 1


def test_a_forgotten_job_is_gone_from_every_answer(
    client: FlaskClient, headwater: SmallHeadwater
) -> None:
    given = post(client, command="forget", node="job:default/demo", note="request 4711")
    assert given.get_json()["positions"] == [7]
    assert client.get("/graph/jobs").get_json()["total"] == 0
    assert client.get("/graph/search?q=out").get_json()["total"] == 0
    assert client.get(f"/graph/plans/{PLAN_ID}").status_code == 404
    assert client.get("/journal?summary=true").get_json()["received"] == 1
    (listed,) = client.get("/commands").get_json()["items"]
    assert (listed["kind"], listed["author"], listed["note"]) == (
        "forget", "anonymous", "request 4711",
    )  # fmt: skip
    headwater.accept(plan(a_plan()), event(a_run(START)))
    headwater.projector.notify()
    assert headwater.projector.wait([8, 9], 30.0)
    assert client.get("/graph/jobs").get_json()["total"] == 0


def test_a_prune_keeps_the_executions_in_force(client: FlaskClient) -> None:
    before = client.get("/graph/lineage?node=dataset:file:/data/out").get_json()
    given = post(client, command="prune", keep=2, dropBodies=True).get_json()
    assert given["executions"] == 3
    assert given["cutoffs"][0]["job"] == "default/demo"
    job = before["nodes"][0]["id"] if before["nodes"][0]["kind"] == "job" else None
    after = client.get("/graph/lineage?node=dataset:file:/data/out").get_json()
    assert after["nodes"] == before["nodes"]
    assert job is None or client.get(f"/graph/jobs/{job}/runs").status_code == 200
    assert client.get("/journal?summary=true").get_json()["received"] == 4


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "command"),
        ({"command": "destroy"}, "command"),
        ({"command": "forget"}, "node"),
        ({"command": "forget", "node": "job:default/demo", "keep": 3}, "keep"),
        ({"command": "prune"}, "before"),
        ({"command": "prune", "keep": 0}, "keep"),
        ({"command": "prune", "keep": True}, "keep"),
        ({"command": "prune", "keep": 3, "node": "x"}, "node"),
        ({"command": "prune", "keep": 3, "dryRun": "yes"}, "dryRun"),
        ({"command": "prune", "before": "yesterday"}, "before"),
    ],
)
def test_a_wish_that_cannot_be_honoured_names_the_field(
    client: FlaskClient, body: dict[str, Any], field: str
) -> None:
    answer = client.post("/commands", json=body)
    assert answer.status_code == 400
    assert field in answer.get_json()["errors"]


@pytest.mark.parametrize("node", ["job:default/nobody", "dataset:file:/nowhere", "document:99"])
def test_an_unknown_node_cannot_be_forgotten(client: FlaskClient, node: str) -> None:
    assert post(client, command="forget", node=node).status_code == 404


@pytest.mark.parametrize("node", ["document:-1", "document:x", "column:file:/data/out#total"])
def test_a_node_that_cannot_be_forgotten_is_refused_with_those_that_can(
    client: FlaskClient, node: str
) -> None:
    answer = post(client, command="forget", node=node)
    assert answer.status_code == 400
    assert "document:<position>" in str(answer.get_json())


def test_the_command_line_shows_first_and_does_it_when_agreed(client: FlaskClient) -> None:
    said: list[str] = []

    def ask(method: str, path: str, body: Any) -> Any:
        return client.open(path, method=method, json=dict(body)).get_json()

    wish = {"command": "prune", "keep": 2}
    assert give_command(ask, said.append, wish, agreed=False) == 0
    assert "3 executions before" in said[0]
    assert "nothing was done" in said[-1]
    assert client.get("/commands").get_json()["total"] == 0
    assert give_command(ask, said.append, wish, agreed=True) == 0
    assert said[-1] == "done: document 7 of the journal"
    assert client.get("/commands").get_json()["total"] == 1
