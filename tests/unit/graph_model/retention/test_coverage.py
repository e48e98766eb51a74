"""What forget and prune find in the catalogue's rows about jobs, plans and datasets is what the
graph shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pytest

from graph_model import labels
from graph_model.facts import Vertex
from graph_model.lineage.history.writes import DatasetNames
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.retention.coverage import sources_of, subject_keys_of_dataset, subject_keys_of_job
from graph_model.stores.documents import Submission
from graph_model.stores.graph import Direction
from tests.captures import load, names
from tests.projections import SmallHeadwater, lineage_event, project, submission


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
            "inputs": [dataset(item) for item in inputs],
            "outputs": [dataset(output) for output in outputs],
        }
    )


def captured(name: str) -> Iterator[Submission]:
    for exchange in load(name):
        version = "1.1" if "1.1" in exchange.content_type else "1.2"
        if exchange.kind == "plan" and "id" in exchange.document:
            yield submission(PLAN_KIND, exchange.document, api_version=version)
        if exchange.kind == "event":
            listed = exchange.document if isinstance(exchange.document, list) else []
            yield from (submission(EVENT_KIND, item, api_version=version) for item in listed)


@pytest.fixture(scope="module")
def headwater() -> Iterator[SmallHeadwater]:
    documents = [item for name in names() for item in captured(name)]
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


def ids_of(headwater: SmallHeadwater, kind: str) -> set[str]:
    return {v.id for v in headwater.graph.scan() if isinstance(v, Vertex) and v.label == kind}


def before(headwater: SmallHeadwater, ids: Collection[str], label: str) -> set[str]:
    edges = headwater.graph.edges(ids, Direction.UPSTREAM, (label,), 1_000_000).edges
    return {edge.out_id for edge in edges}


def after(headwater: SmallHeadwater, ids: Collection[str], label: str) -> set[str]:
    edges = headwater.graph.edges(ids, Direction.DOWNSTREAM, (label,), 1_000_000).edges
    return {edge.in_id for edge in edges}


def around(headwater: SmallHeadwater, ids: Collection[str], label: str) -> set[str]:
    return before(headwater, ids, label) | after(headwater, ids, label)


def test_a_job_covers_its_plans_of_the_graph(headwater: SmallHeadwater) -> None:
    jobs = ids_of(headwater, labels.JOB)
    for job in jobs:
        plans = after(headwater, [job], labels.HAS) & ids_of(headwater, labels.LOGICAL_PLAN)
        assert subject_keys_of_job(job, headwater.catalogue) == headwater.catalogue.plan_ids(plans)
    assert jobs


def test_a_dataset_covers_the_plans_of_the_graph_at_its_names_and_places(
    headwater: SmallHeadwater,
) -> None:
    datasets = ids_of(headwater, labels.DATASET)
    named = {item for item in datasets if around(headwater, [item], labels.NAMES)}
    for dataset in datasets:
        same = {dataset} | around(headwater, [dataset], labels.NAMES)
        plans = around(headwater, same, labels.FEEDS) & ids_of(headwater, labels.LOGICAL_PLAN)
        result = subject_keys_of_dataset(dataset, headwater.catalogue)
        assert result == headwater.catalogue.plan_ids(plans)
    assert named
    assert named < datasets


def test_the_sources_of_a_plan_are_those_of_the_graph(headwater: SmallHeadwater) -> None:
    plans = ids_of(headwater, labels.LOGICAL_PLAN)
    sources = sources_of(plans, headwater.catalogue, DatasetNames(headwater.catalogue))
    assert any(after(headwater, source, labels.NAMES) for source in sources.values())
    for plan in plans:
        read = before(headwater, [plan], labels.FEEDS)
        assert sources.get(plan, set()) == read | after(headwater, read, labels.NAMES)
