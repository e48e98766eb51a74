"""The listener's reports of Delta and Iceberg, job by job, on each Spark."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graph_model import labels
from graph_model.producers.spline.columns import derive
from graph_model.producers.spline.documents import read_plan
from tests.e2e.spark.spark_jars import iceberg_jar, paths_for
from tests.e2e.spark.table_format_worker import expected_on, runs_on, runs_topic, topics
from tests.e2e.spark.test_listener import python_of, run_worker
from tests.plan_reader import origins, sources

LISTED: list[tuple[str, Mapping[str, Any]]] = [
    (topic, job) for topic, listed in topics().items() for job in listed["jobs"]
]


class Reports:
    """The documents that each job made the listener send, with places relative to the lake."""

    def __init__(self, root: Path, spark: str) -> None:
        self.spark = spark
        text = (root / "reports.json").read_text("utf-8")
        self._reports = json.loads(text.replace(f"file:{root}/", "").replace(str(root), "ROOT"))

    def of(self, topic: str, name: str, *, failed: bool) -> list[tuple[Any, Any]]:
        """(plan, event) of each write of a job, in the order they were sent."""
        report = self._reports[topic][name]
        assert (report["error"] is not None) is failed, report["error"]
        told = report["documents"]
        assert [line["kind"] for line in told] == ["plan", "event"] * (len(told) // 2)
        events = [body if isinstance(body, list) else [body] for body in _bodies(told[1::2])]
        assert {len(event) for event in events} <= {1}
        return list(zip(_bodies(told[::2]), (event for (event,) in events), strict=True))


@pytest.fixture(scope="module", params=["3.5", "4.0", "4.1"])
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    python = python_of(request.param)
    root = tmp_path_factory.mktemp("formats")
    jars = [*paths_for(request.param, os.environ), iceberg_jar(request.param, os.environ)]
    arguments = (request.param, *jars)
    run_worker(python, "tests.e2e.spark.table_format_worker", root, *arguments, seconds=1_500)
    return Reports(root, request.param)


@pytest.mark.spark
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("topic", "job"), LISTED, ids=[job["name"] for _, job in LISTED])
def test_a_job_is_told_as_it_was_written_down(
    reports: Reports, topic: str, job: Mapping[str, Any]
) -> None:
    if not runs_on(job, reports.spark):
        pytest.skip(f"no job for Spark {reports.spark}")
    if not runs_topic(topic, reports.spark, os.environ):
        pytest.skip(f"on Spark {reports.spark} with TABLE_FORMATS=all alone")
    check(reports, topic, expected_on(job, reports.spark))


def check(reports: Reports, topic: str, job: Mapping[str, Any]) -> None:
    """Fails where a job was told otherwise than it was written down."""
    failed = job.get("fails", False)
    documents = reports.of(topic, job["name"], failed=failed)
    if job.get("silent"):
        assert documents == []
        return
    (plan, event), *others = documents
    assert [_emptied(plan) for plan, _ in others] == [
        job[key] for key in ("empties",) if key in job
    ]
    write, extra = plan["operations"]["write"], event["extra"]

    assert write["outputSource"] == job["writes"]
    assert sorted(set(sources(plan))) == job["reads"]
    assert ("error" in event) is failed
    assert [gap["code"] for gap in write["extra"].get("gaps", ())] == job.get("gaps", [])
    if "renamed" in job:
        assert [end["table"] for end in write["extra"]["renamed"].values()] == job["renamed"]
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
    if reports.spark == "4.1" and "read_versions" not in job:
        told = [version for version in told if not _is_pinned(version)]
    assert told == job.get("read_versions", [])


def _is_pinned(version: Mapping[str, Any]) -> bool:
    """Iceberg for Spark 4.1 binds each read of a main branch to the snapshot that it saw."""
    return version.keys() == {"source", "number"} and version["source"].startswith("ice/")


def test_a_job_that_some_sparks_cannot_run_says_why() -> None:
    marked = [job for _, job in LISTED if "spark" in job]

    assert marked
    assert [job["name"] for job in marked if not job.get("why")] == []


def _bodies(lines: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [line["body"] for line in lines]


def _emptied(plan: Mapping[str, Any]) -> str:
    """The place that a plan overwrites with nothing: the former one of a table that moved."""
    assert sources(plan) == set()
    assert plan["operations"]["write"]["append"] is False
    return str(plan["operations"]["write"]["outputSource"])


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
