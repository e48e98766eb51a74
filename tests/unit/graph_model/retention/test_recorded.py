"""The catalogue's rows about jobs, plans and datasets agree with the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graph_model import labels
from graph_model.facts import Vertex
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.retention.recorded import Recorded
from graph_model.stores.protocols import Direction, Submission
from tests.captures import load, names
from tests.projections import SmallHeadwater, lineage_event, project, submission

_ASKED = {
    labels.JOB: (labels.HAS,),
    labels.LOGICAL_PLAN: (labels.FEEDS,),
    labels.DATASET: (labels.FEEDS, labels.NAMES),
}


def told(name: str, inputs: list[str], outputs: list[str]) -> Any:
    def dataset(one: str) -> dict[str, Any]:
        link = {"namespace": "s3://lake", "name": f"{one}/files", "type": "LOCATION"}
        facets = {"symlinks": {"identifiers": [link]}}
        return {"namespace": "glue://eu", "name": f"db.{one}", "facets": facets}

    return lineage_event(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-03-01T10:00:00Z",
            "run": {"runId": name},
            "job": {"namespace": "etl", "name": name},
            "inputs": [dataset(one) for one in inputs],
            "outputs": [dataset(one) for one in outputs],
        }
    )


def captured(name: str) -> Iterator[Submission]:
    for exchange in load(name):
        version = "1.1" if "1.1" in exchange.content_type else "1.2"
        if exchange.kind == "plan" and "id" in exchange.document:
            yield submission(PLAN_KIND, exchange.document, api_version=version)
        if exchange.kind == "event":
            listed = exchange.document if isinstance(exchange.document, list) else []
            yield from (submission(EVENT_KIND, one, api_version=version) for one in listed)


@pytest.fixture(scope="module")
def headwater() -> Iterator[SmallHeadwater]:
    documents = [one for name in names() for one in captured(name)]
    made = project(
        [
            *documents,
            told("one", ["a", "b"], ["c", "d"]),
            told("two", ["c"], ["c"]),
            told("reads", ["d"], []),
        ],
        stepwise=False,
    )
    yield made
    made.close()


@pytest.mark.parametrize("kind", list(_ASKED))
@pytest.mark.parametrize("direction", [Direction.UPSTREAM, Direction.DOWNSTREAM])
def test_it_has_the_edges_of_the_graph(
    headwater: SmallHeadwater, kind: str, direction: Direction
) -> None:
    ids = {v.id for v in headwater.graph.scan() if isinstance(v, Vertex) and v.label == kind}
    ends = {labels.JOB, labels.LOGICAL_PLAN, labels.DATASET}
    kind_of = {v.id: v.label for v in headwater.graph.scan() if isinstance(v, Vertex)}
    page = headwater.graph.edges(ids, direction, _ASKED[kind], 1_000_000)
    wanted = {
        (one.label, one.out_id, one.in_id)
        for one in page.edges
        if {kind_of[one.out_id], kind_of[one.in_id]} <= ends
        and not (kind_of[one.out_id] == kind_of[one.in_id] == labels.JOB)
    }
    found = Recorded(headwater.catalogue).edges(ids, direction, _ASKED[kind], 1_000_000)
    assert {(one.label, one.out_id, one.in_id) for one in found.edges} == wanted
    assert wanted or (kind, direction) == (labels.JOB, Direction.UPSTREAM)
