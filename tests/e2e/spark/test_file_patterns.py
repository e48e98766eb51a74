"""Patterns of files in real Spark: the name of a read, and that its lineage runs through."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient

from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import Logic, PlanDocument, read_logic
from tests.e2e.small_client import client_of
from tests.e2e.spark.file_pattern_worker import listed_jobs, output_of
from tests.e2e.spark.test_listener import in_parts, python_of, run_worker
from tests.projections import accept_lines, small_headwater

JOBS = listed_jobs()
NOW = 4_000_000_000_000


@dataclass
class Told:
    """The documents that the jobs made the listener send, and a client of their Headwater."""

    root: str
    reports: Mapping[str, Any]
    client: FlaskClient

    def logic(self, name: str) -> Logic:
        plans = [line["body"] for line in self.reports[name] if line["kind"] == "plan"]
        return read_logic(PlanDocument(read_plan(plans[-1]), "", "hash", "1.2"))

    def relative(self, uri: str) -> str:
        return uri.removeprefix(f"file:{self.root}/")

    def upstream(self, output: str) -> set[str]:
        """Every dataset that a job's output comes from and that a job wrote."""
        query = {"node": f"dataset:file:{self.root}/{output}", "direction": "upstream", "depth": 9}
        answer = self.client.get("/graph/lineage", query_string=query).get_json()
        written = {edge["to"] for edge in answer["edges"]}
        nodes = [
            one for one in answer["nodes"] if one["kind"] == "dataset" and one["id"] in written
        ]
        return {self.relative(one["uri"]) for one in nodes} - {output}


@pytest.fixture(scope="module", params=in_parts("3.5", "4.0", "4.1"))
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    python = python_of(request.param)
    root = tmp_path_factory.mktemp("patterns")
    run_worker(python, "tests.e2e.spark.file_pattern_worker", root)
    reports = json.loads((root / "reports.json").read_text("utf-8"))
    headwater = small_headwater()
    accept_lines(headwater, (line for lines in reports.values() for line in lines))
    headwater.project()
    yield Told(str(root), reports, client_of(headwater, NOW))
    headwater.close()


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("job", JOBS, ids=[job["name"] for job in JOBS])
def test_a_pattern_has_its_own_name_and_the_lineage_of_its_files(
    told: Told, job: Mapping[str, Any]
) -> None:
    logic = told.logic(job["name"])
    assert sorted(told.relative(use.dataset.uri) for use in logic.reads) == job["reads"]
    assert told.upstream(output_of(job)) == set(job.get("upstream", ()))
    if "same_plan_as" in job:
        assert logic.fingerprint() == told.logic(job["same_plan_as"]).fingerprint()
