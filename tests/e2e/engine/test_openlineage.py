"""OpenLineage's reads on a real Gremlin Server: it gives the answers of the memory graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from graph_model import identity
from graph_model.projection.projector import Projector
from graph_model.stores.documents import Submission
from graph_model.stores.gremlin.graph import GremlinGraph
from tests.e2e.openlineage.test_applications import both_agents
from tests.e2e.openlineage.test_hostile import every_page, get
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event, small_headwater

pytestmark = pytest.mark.engine
_FIXTURES: Final = Path(__file__).parents[2] / "fixtures" / "openlineage"
NOW: Final = 2**41


def recorded(*names: str) -> Iterator[Submission]:
    """Events of Airflow, of Spark's client, of checks of quality, of explicit lineage."""
    for name in names:
        said = json.loads((_FIXTURES / f"{name}.json").read_text("utf-8"))
        yield from map(lineage_event, said if isinstance(said, list) else said["events"])


DOCUMENTS: Final = (
    *recorded(
        "airflow/nightly_sales",
        "scenarios/quality_and_statistics",
        "scenarios/dag_task_and_spark_application",
        "scenarios/explicit_lineage_with_jobs",
        "scenarios/unended_runs",
        "captured/a3_agg",
    ),
    *both_agents(),
)


def filled(headwater: SmallHeadwater, documents: Iterable[Submission]) -> FlaskClient:
    """In two halves, so that something is withdrawn on the way."""
    listed = list(documents)
    for half in (listed[1::2], listed[::2]):
        headwater.accept(*half)
        headwater.project()
    return client_of(headwater, NOW)


@pytest.fixture
def clients(gremlin_graph: GremlinGraph) -> Iterator[tuple[FlaskClient, FlaskClient]]:
    """The same documents over a graph in memory and over the engine."""
    here, other = small_headwater(), small_headwater()
    there = replace(
        other,
        graph=gremlin_graph,  # type: ignore[arg-type]
        projector=Projector(other.journal, gremlin_graph, other.generations),
    )
    there.projector.prepare()
    yield filled(here, DOCUMENTS), filled(there, DOCUMENTS)
    assert sorted(gremlin_graph.scan(), key=lambda one: one.id) == list(here.elements()[0])
    here.close()
    there.close()


def pages(client: FlaskClient) -> list[tuple[str, Any]]:
    found = list(every_page(client))
    for dataset in get(client, "/graph/datasets", limit=200)["items"]:
        for direction in ("upstream", "downstream"):
            query = {"node": dataset["id"], "direction": direction, "depth": 5}
            found.append(("lineage", get(client, "/graph/lineage", **query)))
            found.append(("columns", get(client, "/graph/lineage", columns="true", **query)))
        found.append(("impact", get(client, "/graph/impact", node=dataset["id"])))
    for job in get(client, "/graph/jobs", limit=200)["items"]:
        for plan in get(client, f"/graph/jobs/{job['id']}")["plans"]:
            found.append(("plan", get(client, f"/graph/plans/{plan['id']}")))
    return found


def test_pages_trees_marks_and_lineage_are_the_same(
    clients: tuple[FlaskClient, FlaskClient],
) -> None:
    here, there = map(pages, clients)
    assert [kind for kind, _ in here] == [kind for kind, _ in there]
    different = [kind for (kind, one), (_, other) in zip(here, there, strict=True) if one != other]
    assert different == []
    said = json.dumps([shown for _, shown in there])
    for word in ('"failed"', '"children"', '"quality"', '"owners"', '"assertion"'):
        assert word in said, f"the documents have no {word}"


def test_a_write_that_lost_its_start_is_one_on_the_engine(
    clients: tuple[FlaskClient, FlaskClient],
) -> None:
    target = identity.dataset_id("", "file:/lake/out")
    page = get(clients[1], f"/graph/datasets/{target}/history")
    assert [write["applicationId"] for write in page["items"]] == ["local-1"]
