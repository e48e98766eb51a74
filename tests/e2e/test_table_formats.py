"""What the listener tells of Delta and Iceberg, job by job, on each Spark."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph_model import labels
from graph_model.columns import derive
from graph_model.documents import read_plan
from tests.e2e.spark_jars import iceberg_jar, paths_for
from tests.e2e.table_format_worker import runs_on, topics
from tests.e2e.test_listener import python_of
from tests.plan_reader import origins, sources

ROOT = Path(__file__).parent.parent.parent
LISTED: list[tuple[str, Mapping[str, Any]]] = [
    (topic, job) for topic, listed in topics().items() for job in listed["jobs"]
]


class Reports:
    """What each job made the listener send, with places relative to the lake."""

    def __init__(self, root: Path, spark: str) -> None:
        self.spark = spark
        text = (root / "reports.json").read_text("utf-8")
        self._reports = json.loads(text.replace(f"file:{root}/", "").replace(str(root), "ROOT"))

    def of(self, topic: str, name: str) -> tuple[Any, Any]:
        """(plan, event) of a job that wrote once."""
        report = self._reports[topic][name]
        assert report["error"] is None
        bodies = {line["kind"]: line["body"] for line in report["documents"]}
        assert len(report["documents"]) == 2, [line["kind"] for line in report["documents"]]
        (event,) = bodies["event"] if isinstance(bodies["event"], list) else [bodies["event"]]
        return bodies["plan"], event


@pytest.fixture(scope="module", params=["3.5", "4.0"])
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    python = python_of(request.param)
    root = tmp_path_factory.mktemp("formats")
    jars = [*paths_for(request.param, os.environ), iceberg_jar(request.param, os.environ)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": str(python)}
    command = [python, "-m", "tests.e2e.table_format_worker", str(root), request.param, *jars]
    with (root / "said").open("w") as said:
        subprocess.run(command, check=True, cwd=root, env=environment, stdout=said, stderr=said)
    return Reports(root, request.param)


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("topic", "job"), LISTED, ids=[job["name"] for _, job in LISTED])
def test_a_job_is_told_as_it_was_written_down(
    reports: Reports, topic: str, job: Mapping[str, Any]
) -> None:
    if not runs_on(job, reports.spark):
        pytest.skip(f"no job for Spark {reports.spark}")
    plan, event = reports.of(topic, job["name"])
    write, extra = plan["operations"]["write"], event["extra"]

    assert write["outputSource"] == job["writes"]
    assert sorted(set(sources(plan))) == job["reads"]
    assert "error" not in event
    assert "gaps" not in write["extra"]
    if "append" in job:
        assert write["append"] is job["append"]
    assert write["extra"].get("reason") == job.get("reason")
    if "rows" in job:
        assert extra["writeMetrics"]["numOutputRows"] == job["rows"]
    if "columns" in job:
        assert {name: sorted(found) for name, found in origins(plan).items()} == job["columns"]
    if "how" in job:
        found = _direct(plan)
        assert {column: found.get(column, {}) for column in job["how"]} == job["how"]
    if "partitions" in job:
        assert extra.get("writtenPartitions") == job["partitions"]
    if "version" in job:
        assert {**extra["writtenVersion"], **job["version"]} == extra["writtenVersion"]
    told = [
        {name: value for name, value in version.items() if name != "id"}
        for version in extra.get("readVersions", ())
    ]
    assert told == job.get("read_versions", [])


def _direct(document: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Written column => the ``uri#column`` whose values it takes => how, as the server says it."""
    plan = read_plan(document)
    places = {column: read.sources[0] for read in plan.reads for column in read.output or ()}
    columns = derive(plan)
    found: dict[str, dict[str, str]] = {}
    for each in columns.derivations:
        if each.kind == labels.DIRECT:
            path = ".".join((plan.attributes[each.source].name, *each.source_path))
            written = plan.attributes[columns.outputs[each.output]].name
            found.setdefault(written, {})[f"{places[each.source]}#{path}"] = each.how
    return found
