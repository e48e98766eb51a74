"""Forget and prune while the graph is away: they make a graph smaller that outgrew its engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.console.storage import give_command
from graph_model.errors import GraphUnavailable
from graph_model.facts import Facts
from graph_model.producers.commands import COMMAND_KIND
from graph_model.retention import coverage as retention
from graph_model.stores.catalogue.rows import CATALOGUE_KEY, FILLING, WHOLE
from tests.e2e.small_client import client_of
from tests.memory_graph import MemoryGraph
from tests.projections import ProjectorOnDemand, SmallHeadwater, lineage_event, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import (
    PLAN_ID,
    a_plan,
    a_run,
    event,
    plan,
)

START = 1_700_000_000_000
DAY = 86_400_000
HUGE = "huge"


class SmallEngine(MemoryGraph):
    """Dies of a write that names HUGE, and loses everything with it; away while ``away``."""

    away = False
    deaths = 0

    def write(self, facts: Facts) -> None:
        self._answer()
        if any(HUGE in str(v.value("name")) for v in facts.vertices):
            self.deaths += 1
            self.clear()
            raise GraphUnavailable("the engine died")
        super().write(facts)

    def ping(self) -> None:
        self._answer()

    def count(self) -> tuple[int, int]:
        self._answer()
        return super().count()

    def _answer(self) -> None:
        if self.away:
            raise GraphUnavailable("the graph database does not answer")


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = small_headwater()
    made.graph = SmallEngine()
    made.projector = ProjectorOnDemand(
        made.journal, made.graph, made.generations, sleep=lambda _: None
    )
    made.projector.prepare()
    made.accept(plan(a_plan()), *(event(a_run(START + day * DAY)) for day in range(5)))
    made.project()
    made.journal.set_meta(CATALOGUE_KEY, WHOLE)  # as its thread does once it has caught up
    yield made
    made.close()


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START + 9 * DAY)


def engine_of(headwater: SmallHeadwater) -> SmallEngine:
    assert isinstance(headwater.graph, SmallEngine)
    return headwater.graph


def goes_away(headwater: SmallHeadwater) -> None:
    engine_of(headwater).away = True
    headwater.projector._readiness.state = "unavailable"


def comes_back_empty(headwater: SmallHeadwater) -> None:
    """As the supervisor starts a new engine after the death of one."""
    engine = engine_of(headwater)
    engine.away = False
    engine.clear()
    headwater.projector.prepare()


def lives(headwater: SmallHeadwater, rounds: int = 5) -> bool:
    """Whether everything is projected within so many lives of the engine."""
    for _ in range(rounds):
        try:
            headwater.project()
        except GraphUnavailable:
            comes_back_empty(headwater)
        else:
            headwater.projector._readiness.state = "ready"
            return True
    return False


def huge_event() -> Any:
    return lineage_event(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-03-01T10:00:00Z",
            "run": {"runId": "huge"},
            "job": {"namespace": "etl", "name": HUGE},
            "inputs": [],
            "outputs": [{"namespace": "s3://lake", "name": "big"}],
        }
    )


def post(client: FlaskClient, **body: Any) -> Any:
    return client.post("/commands", json=body)


@pytest.mark.parametrize("state", ["unavailable", "rebuilding"])
@pytest.mark.parametrize(
    "wish",
    [
        {"command": "forget", "node": "document:1"},
        {"command": "forget", "node": "job:default/demo"},
        {"command": "forget", "node": "dataset:file:/data/in.csv"},
        {"command": "prune", "keep": 1},
    ],
    ids=["document", "job", "dataset", "prune"],
)
def test_a_command_is_taken_and_names_the_remaining_work(
    headwater: SmallHeadwater, client: FlaskClient, wish: dict[str, Any], state: str
) -> None:
    at_home = post(client, **wish, dryRun=True).get_json()
    goes_away(headwater)
    headwater.projector._readiness.state = state
    dry = post(client, **wish, dryRun=True)
    assert dry.status_code == 202
    assert {**dry.get_json(), "pending": ""} == {**at_home, "pending": ""}
    given = post(client, **wish)
    assert given.status_code == 202
    assert given.get_json()["positions"] == [7]
    assert "when it answers again" in given.get_json()["pending"]
    said: list[str] = []
    give_command(
        lambda *asked: client.open(asked[1], method=asked[0], json=asked[2]).get_json(),
        said.append,
        wish,
        agreed=True,
    )
    assert any(line.startswith("given: ") for line in said)


@pytest.mark.parametrize("node", ["job:default/demo", "dataset:file:/data/in.csv"])
def test_documents_forgotten_while_the_graph_was_away_are_gone_when_it_is_back(
    headwater: SmallHeadwater, client: FlaskClient, node: str
) -> None:
    goes_away(headwater)
    post(client, command="forget", node=node)
    comes_back_empty(headwater)
    assert lives(headwater)
    assert client.get(f"/graph/plans/{PLAN_ID}").status_code == 404
    assert engine_of(headwater).count()[0] == 0


def test_executions_pruned_while_the_graph_was_away_are_gone_when_it_is_back(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    goes_away(headwater)
    given = post(client, command="prune", keep=1, dropBodies=True).get_json()
    comes_back_empty(headwater)
    assert lives(headwater)
    assert given["executions"] > 0
    assert headwater.journal.summary().received == 7 - given["executions"]


@pytest.mark.parametrize("node", ["document:7", f"job:etl/{HUGE}", "dataset:s3://lake/big"])
def test_an_engine_that_dies_of_a_document_lives_once_that_is_forgotten(
    headwater: SmallHeadwater, client: FlaskClient, node: str
) -> None:
    (position,) = headwater.accept(huge_event())
    assert position == 7
    assert not lives(headwater)
    headwater.projector._readiness.state = "unavailable"
    given = post(client, command="forget", node=node)
    assert (given.status_code, given.get_json()["documents"]) == (202, 1)
    deaths = engine_of(headwater).deaths
    assert lives(headwater)
    assert engine_of(headwater).deaths == deaths, "it is not tried once more"
    assert headwater.journal.document(7) is None
    names = {str(v.value("name")) for v in headwater.graph.scan() if hasattr(v, "value")}
    assert HUGE not in names
    headwater.accept(huge_event())
    assert lives(headwater)


def test_a_graph_that_kept_half_of_a_forgotten_job_loses_it(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """A round breaks off behind the graph's part; the graph is away, not lost."""
    before = headwater.elements()[0]
    headwater.accept(huge_event())
    (key,) = headwater.journal.pending(10, COMMAND_KIND)
    projector = headwater.projector
    with pytest.raises(GraphUnavailable):
        headwater.project()  # notes the attempt
    MemoryGraph.write(headwater.graph, projector._rules.translation.project_all(
        headwater.journal.documents_of(key)).facts)  # fmt: skip
    assert headwater.journal.documents_of(key)
    projector._readiness.state = "unavailable"
    comes_back = set(headwater.graph.scan())
    assert comes_back
    post(client, command="forget", node="document:7")
    headwater.project()
    left = headwater.elements()[0]
    assert not [one for one in left if HUGE in json.dumps(one)]
    assert len(left) <= len(before)


def test_prune_waits_for_a_catalogue_that_is_being_filled(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    goes_away(headwater)
    headwater.journal.set_meta(CATALOGUE_KEY, FILLING)
    answer = post(client, command="prune", keep=1)
    assert answer.status_code == 503
    assert "not known yet" in answer.get_json()["message"]
    assert post(client, command="forget", node="document:1").status_code == 202


def test_more_than_can_be_looked_at_is_said_and_not_guessed(
    headwater: SmallHeadwater, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MOST_LOOKED_AT", 0)
    headwater.accept(huge_event())
    goes_away(headwater)
    answer = post(client, command="forget", node="job:default/demo")
    assert answer.status_code == 503
    assert "by its position" in answer.get_json()["message"]


def test_a_node_that_no_document_names_cannot_be_forgotten(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    headwater.accept(huge_event())
    goes_away(headwater)
    for node in ("job:etl/other", "dataset:s3://lake/other", "document:99"):
        assert post(client, command="forget", node=node).status_code == 404
