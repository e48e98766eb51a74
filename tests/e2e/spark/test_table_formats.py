"""The listener's reports of Delta and Iceberg, job by job, on each Spark."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from graph_model import labels
from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import read_plan
from tests.e2e.spark.spark_jars import iceberg_jar, paths_for
from tests.e2e.spark.table_format_worker import (
    EVERY,
    FORMATS,
    SOME,
    WITHOUT_ICEBERG,
    expected_on,
    jobs_on,
    topics,
)
from tests.e2e.spark.test_listener import python_of, run_worker
from tests.plan_reader import origins, sources

SPARKS: Final = ("3.5", "4.0", "4.1", "4.2")
LISTED: Final[list[Mapping[str, Any]]] = [
    job for listed in topics().values() for job in listed["jobs"]
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


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    spark, depth = request.param
    python = python_of(spark)
    root = tmp_path_factory.mktemp("formats")
    jars = paths_for(spark, os.environ)
    if spark not in WITHOUT_ICEBERG:
        jars.append(iceberg_jar(spark, os.environ))
    arguments = (FORMATS, spark, depth, *jars)
    run_worker(python, "tests.e2e.spark.table_format_worker", root, *arguments, seconds=1_500)
    return Reports(root, spark)


def cases() -> list[ParameterSet]:
    """The jobs that ``make test`` runs on two Sparks, then every job as a part, on each."""
    runs: list[tuple[str, str, tuple[pytest.MarkDecorator, ...]]] = [
        *((spark, SOME, ()) for spark in ("3.5", "4.1")),
        *((spark, EVERY, (pytest.mark.part(f"spark-{spark}"),)) for spark in SPARKS),
    ]
    return [
        pytest.param((spark, depth), (topic, job), id=f"{spark}-{depth}-{job['name']}", marks=marks)
        for spark, depth, marks in runs
        for topic, listed in topics().items()
        for job in jobs_on(listed["jobs"], spark, depth)
    ]


# The scope is that of the reports: by itself pytest would make them anew for each test.
@pytest.mark.spark
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("reports", "case"), cases(), indirect=["reports"], scope="module")
def test_a_job_is_told_as_it_was_written_down(
    reports: Reports, case: tuple[str, Mapping[str, Any]]
) -> None:
    topic, job = case
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
    if reports.spark in ("4.1", "4.2") and "read_versions" not in job:
        told = [version for version in told if not _is_pinned(version)]
    assert told == job.get("read_versions", [])


def _is_pinned(version: Mapping[str, Any]) -> bool:
    """Iceberg for Spark 4.1 binds each read of a main branch to the snapshot that it saw."""
    return version.keys() == {"source", "number"} and version["source"].startswith("ice/")


def test_a_job_that_some_sparks_cannot_run_says_why() -> None:
    marked = [job for job in LISTED if "spark" in job]

    assert marked
    assert [job["name"] for job in marked if not job.get("why")] == []


_LONG: Final = "further-jobs"
_KINDS: Final = re.compile(
    r"\b(INSERT INTO|INSERT OVERWRITE|REPLACE WHERE|MERGE INTO|MERGE WITH|UPDATE(?! SET)"
    r"|DELETE FROM|TRUNCATE|CREATE TABLE|CREATE OR REPLACE|IF NOT EXISTS|ALTER|RENAME TO|DROP"
    r"|RESTORE|CLONE|CONVERT TO|OPTIMIZE|VACUUM|REORG|EXECUTE|BEGIN|RECURSIVE|VERSION AS OF"
    r"|TIMESTAMP AS OF|table_changes|CALL \w+\.system\.\w+|save|saveAsTable|insertInto|append"
    r"|overwrite|overwritePartitions|create|createOrReplace|replace|toTable|foreachBatch|merge"
    r"|mergeInto|update|updateExpr|delete|parquet|orc|json|csv)\b"
)


def kinds(job: Mapping[str, Any]) -> set[tuple[str, str]]:
    """(format, the kind of a statement or an expectation) of a job."""
    named = job["name"].lower()
    table_format = next((one for one in ("iceberg", "delta") if one in named), "files")
    said = {str(gap) for gap in job.get("gaps", ())} | {str(job.get("reason", ""))}
    expected = set(job) - {"name", "run", "before", "why", "spark", "on", "make test"}
    return {(table_format, kind) for kind in {*_KINDS.findall(job["run"]), *said, *expected}}


def test_make_test_has_each_kind_of_statement_and_of_expectation_of_each_format() -> None:
    """But for those of ``further-jobs``, which go on from one another to the last."""
    listed = (job for topic, jobs in topics().items() for job in jobs["jobs"] if topic != _LONG)
    everywhere = set().union(*map(kinds, listed))
    chosen = set().union(*(kinds(job) for job in LISTED if job.get("make test")))
    assert everywhere - chosen == set()


def test_make_test_has_a_third_of_the_jobs_on_one_spark_and_a_tenth_on_the_newest() -> None:
    shares = {
        spark: len(jobs_on(LISTED, spark, SOME)) / len(jobs_on(LISTED, spark, EVERY))
        for spark in ("3.5", "4.1")
    }
    assert shares["3.5"] == pytest.approx(1 / 3, abs=0.02)
    assert shares["4.1"] == pytest.approx(1 / 10, abs=0.02)


_MADE: Final = re.compile(r"\bCREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?([\w.]+)")


def _statements(job: Mapping[str, Any]) -> str:
    return "\n".join([*job.get("before", ()), job["run"]])


@pytest.mark.parametrize("spark", ["3.5", "4.1"])
@pytest.mark.parametrize("topic", topics())
def test_the_tables_of_a_job_of_make_test_are_made_there(topic: str, spark: str) -> None:
    """A job may go on from the table of one before it, which must then be run, too."""
    left_out: set[str] = set()
    for job in jobs_on(topics()[topic]["jobs"], spark, EVERY):
        text = _statements(job)
        if job not in jobs_on([job], spark, SOME):
            left_out.update(_MADE.findall(text))
            continue
        left_out -= set(_MADE.findall(text))
        assert [name for name in left_out if re.search(rf"(?<![\w.]){name}\b", text)] == []


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
