"""Declarative Pipelines: what tells a pipeline, and the names of its flows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spark_agent_config.capture.captured import (
    CapturedQuery,
    Table,
    Target,
    of_flow,
    pipeline_of,
    with_view,
)
from tests.captured_queries import APPLICATION

PROGRAM = "/env/lib/python3.11/site-packages/pyspark/pipelines/cli.py"
VIEW = CapturedQuery("x", "", Target("file:/lake/managers", table=Table("managers", "default")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "payroll").mkdir()
    (tmp_path / "payroll" / "spark-pipeline.yml").write_text("name: wages\nstorage: file:///x\n")
    (tmp_path / "payroll" / "broken.yaml").write_text("name: [\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "folder", "name"),
    [
        ([PROGRAM, "run"], "payroll", "wages"),
        ([PROGRAM, "dry-run"], "payroll/transformations", "wages"),
        ([PROGRAM, "run", "--spec", "payroll/spark-pipeline.yml"], "", "wages"),
        ([PROGRAM, "run", "--spec=payroll/spark-pipeline.yml"], "", "wages"),
        ([PROGRAM, "run", "--spec", "payroll/broken.yaml"], "", "payroll"),
        ([PROGRAM, "run", "--spec", "payroll/missing.yaml"], "", "payroll"),
        ([PROGRAM, "init", "--name", "x"], "payroll", None),
        (["/jobs/cli.py", "run"], "payroll", None),
        ([], "payroll", None),
    ],
)
def test_a_pipeline_is_known_by_the_command_and_named_by_its_specification(
    arguments: list[str], folder: str, name: str | None, project: Path
) -> None:
    assert pipeline_of(arguments, project / folder) == name


@pytest.mark.parametrize(
    ("query", "flow"),
    [
        (VIEW, "default.managers"),
        (replace(VIEW, stream="spark_catalog.default.hours"), "default.hours"),
        (replace(VIEW, stream="lake.hr.hours"), "lake.hr.hours"),
        (replace(VIEW, target=Target("file:/lake/t", table=Table("t"))), "t"),
        (replace(VIEW, target=Target("file:/lake/t/")), "t"),
    ],
)
def test_each_flow_is_a_job_in_the_namespace_of_its_pipeline(
    query: CapturedQuery, flow: str
) -> None:
    pipeline = replace(APPLICATION, labels={"team": ("hr",)}, pipeline="wages")
    named = {"team": ("hr",), "namespace": ("wages",), "job": (flow,)}
    assert of_flow(pipeline, query).labels == named
    assert of_flow(replace(pipeline, pipeline=None), query).labels == {"team": ("hr",)}


def test_what_is_set_names_the_pipeline_and_keeps_its_namespace() -> None:
    given = replace(APPLICATION, labels={"job": ("nightly",)}, pipeline="wages")
    placed = replace(given, labels={"namespace": ("prod",)})

    assert of_flow(given, VIEW).labels == {"namespace": ("nightly",), "job": ("default.managers",)}
    assert of_flow(placed, VIEW).labels == {
        "namespace": ("prod",),
        "job": ("wages.default.managers",),
    }


@pytest.mark.parametrize(
    ("command", "stream", "pipeline", "append"),
    [
        ("CreateDataSourceTableAsSelectCommand", None, "wages", False),
        ("AppendData", None, "wages", False),
        ("AppendData", None, None, True),
        ("AppendData", "spark_catalog.default.hours", "wages", True),
        ("MergeIntoTable", None, "wages", True),
    ],
)
def test_a_run_of_a_view_replaces_its_rows(
    command: str, stream: str | None, pipeline: str | None, append: bool
) -> None:
    target = Target("file:/lake/managers", mode="Append", table=Table("managers", "default"))
    query = CapturedQuery(command, "", target, stream=stream)
    assert with_view(replace(APPLICATION, pipeline=pipeline), query).target.append is append
