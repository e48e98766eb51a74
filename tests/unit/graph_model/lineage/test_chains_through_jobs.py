"""Chains through jobs in a ``lineage`` facet lead on from table to table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph_model import identity
from graph_model.lineage import Answer, Lineage, Question
from graph_model.producers.openlineage import job_logic
from graph_model.stores.graph import Direction
from tests.projections import SmallHeadwater, lineage_event, project

SCENARIOS = Path(__file__).parents[3] / "fixtures" / "openlineage" / "scenarios"


def dataset(name: str) -> str:
    return identity.dataset_id("", f"s3://lake/{name}")


def job(name: str) -> str:
    return identity.job_id("etl", name)


def events(name: str = "orchestrate") -> list[dict[str, object]]:
    """A run of this job."""
    text = (SCENARIOS / "explicit_lineage_through_jobs.json").read_text("utf-8")
    return list(json.loads(text.replace("orchestrate", name))["events"])


@pytest.fixture
def orchestrated() -> Iterator[SmallHeadwater]:
    headwater = project(map(lineage_event, events()), stepwise=False)
    yield headwater
    headwater.close()


def ask(headwater: SmallHeadwater, node: str, way: Direction) -> Answer:
    return Lineage(headwater.graph, headwater.catalogue).ask(Question(node, way, 20))


def test_what_jobs_before_the_writer_read_is_upstream(orchestrated: SmallHeadwater) -> None:
    result = ask(orchestrated, dataset("summary"), Direction.UPSTREAM)
    assert set(result.datasets) == {dataset("summary"), dataset("stg"), dataset("raw")}
    assert set(result.jobs) == {job("orchestrate"), job("load"), job("extract")}


@pytest.mark.parametrize("node", [dataset("raw"), dataset("stg"), job("extract"), job("load")])
def test_what_the_last_job_feeds_is_downstream_of_the_first(
    orchestrated: SmallHeadwater, node: str
) -> None:
    result = ask(orchestrated, node, Direction.DOWNSTREAM)
    assert set(result.datasets) - {node} == {dataset("summary")}


@pytest.mark.parametrize(("bound", "most"), [("MOST_READS", 4), ("MOST_CHAINED", 1)])
def test_jobs_with_too_many_inputs_before_them_are_left_out(
    monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    monkeypatch.setattr(job_logic, bound, most)
    headwater = project(map(lineage_event, events(bound)), stepwise=False)
    try:
        plans = headwater.catalogue.logical_plans_of({job(bound)})
        assert [job_logic.INPUTS_TOO_MANY in plan.gaps for plan in plans] == [True]
    finally:
        headwater.close()
