"""A folder that one job writes and another reads by a pattern of files, on every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from graph_model import identity
from graph_model.facts import Facts, merge
from graph_model.lineage import Lineage, Question
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from graph_model.stores.graph import Direction, Graph
from tests.spline_facts import facts_of_plan
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event

Open = Callable[[], Graph]
FILES = tuple(f"s3://lake/in/{number}.csv" for number in range(3_000))


@pytest.fixture
def catalogue() -> Iterator[Catalogue]:
    made = Catalogue(open_database("sqlite://"))
    yield made
    made.close()


def ran(number: int, sources: tuple[str, ...], target: str, **params: str) -> Facts:
    body: dict[str, Any] = {**a_plan(), "id": f"{number:08d}-2222-5333-8444-555555555555"}
    write = {**body["operations"]["write"], "outputSource": target}
    read = {**body["operations"]["reads"][0], "inputSources": list(sources), "params": params}
    body["operations"] = {**body["operations"], "write": write, "reads": [read]}
    event = read_event(an_event(number, planId=body["id"]))
    plan = read_plan({**body, "name": f"job {number}"})
    return facts_of_plan(PlanDocument(plan, "", f"hash {number}", "1.2"), (event,))


@pytest.mark.parametrize(
    ("files", "params", "name"),
    [
        (FILES, {}, "s3://lake/in/*.csv"),
        (FILES[:2], {"path": "s3://lake/in/[01].csv"}, "s3://lake/in/[01].csv"),
        (("s3://lake/in/part-0.csv",), {"path": "s3://lake/in/*.csv"}, "s3://lake/in"),
    ],
    ids=["many files", "a pattern", "part files"],
)
def test_the_writer_of_the_folder_is_upstream_of_the_readers_of_its_files(
    store: Open,
    catalogue: Catalogue,
    files: tuple[str, ...],
    params: Mapping[str, str],
    name: str,
) -> None:
    facts = merge(
        [ran(1, ("s3://raw/x",), "s3://lake/in"), ran(2, files, "s3://lake/out", **params)]
    )
    graph = store()
    graph.write(facts)
    catalogue.record(facts.rows)
    uris = {row.uri for row in catalogue.list_datasets().items}
    assert uris == {"s3://raw/x", "s3://lake/in", "s3://lake/out", name}
    node = identity.dataset_id("", "s3://lake/out")
    answer = Lineage(graph, catalogue).ask(Question(node, Direction.UPSTREAM, 5, None))
    assert identity.dataset_id("", "s3://raw/x") in answer.datasets
