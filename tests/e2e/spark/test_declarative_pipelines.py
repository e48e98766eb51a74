"""``spark-pipelines run``, observed: each flow is a job, its tables are datasets with columns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.spark.test_listener import flows_of, logic_of, mode_and_reads, python_of

pytestmark = [pytest.mark.spark, pytest.mark.part("spark-4.3"), pytest.mark.timeout(1_200)]

_ROOT: Final = Path(__file__).parents[3]
_SPECIFICATION: Final = """
name: payroll
storage: file://{folder}/storage
libraries: [{{glob: {{include: "flows/**"}}}}]
"""
_INPUT: Final = """
import sys
import pyarrow
from pyarrow import parquet

integers = lambda *values: pyarrow.array(values, pyarrow.int32())
employees = {"emp_id": integers(1, 2), "dept": ["a", "b"], "is_manager": [True, False]}
attendance = {"emp_id": integers(1, 2), "hours": integers(3, 4)}
parquet.write_table(pyarrow.table(employees), sys.argv[1] + "/employees/a.parquet")
parquet.write_table(pyarrow.table(attendance), sys.argv[1] + "/attendance/a.parquet")
"""
_FLOWS: Final = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as f

spark = SparkSession.active()
folder = {folder!r}

@dp.materialized_view
def managers():
    rows = spark.read.parquet(folder + "/employees").where("is_manager")
    return rows.select("emp_id", f.upper("dept").alias("unit"))

@dp.table
def worked():
    rows = spark.readStream.schema("emp_id int, hours int").parquet(folder + "/attendance")
    return rows.select("emp_id", (f.col("hours") * 60).alias("minutes"))

dp.create_streaming_table("copies")

@dp.append_flow(target="copies")
def copy_of_worked():
    return spark.readStream.table("worked").select("emp_id", f.col("minutes").alias("m"))

@dp.materialized_view
def by_unit():
    rows = spark.read.table("managers").join(spark.read.table("worked"), "emp_id")
    return rows.groupBy("unit").agg(f.sum("minutes").alias("minutes"))

@dp.materialized_view
def broken():
    return spark.read.table("managers").select(f.expr("raise_error(unit)").alias("x"))
"""


def _run_pipeline(folder: Path) -> str:
    """A run of the pipeline, and what it printed; its documents are in ``lineage.ndjson``."""
    python = python_of("4.3")
    for name in ("employees", "attendance", "flows"):
        (folder / name).mkdir()
    (folder / "spark-pipeline.yaml").write_text(_SPECIFICATION.format(folder=folder))
    (folder / "flows" / "flows.py").write_text(_FLOWS.format(folder=str(folder)))
    subprocess.run([python, "-c", _INPUT, str(folder)], check=True, timeout=300)
    programs = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "api.command_line", "observe",
         "--url", f"file:{folder}/lineage.ndjson", "--",
         "spark-pipelines", "run", "--remote", "local[1]"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": programs, "PYTHONPATH": str(_ROOT),
             "PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python)},
        timeout=1_000,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr  # one flow fails
    return done.stdout + done.stderr


def _lines(folder: Path) -> tuple[list[Any], list[Any]]:
    lines = [json.loads(line) for line in (folder / "lineage.ndjson").read_text().splitlines()]
    plans = {line["body"]["id"]: line["body"] for line in lines if line["kind"] == "plan"}
    events = [line["body"] for line in lines if line["kind"] == "event"]
    return list(plans.values()), events


def _job_of(plan: Any) -> tuple[str, str]:
    return plan["labels"]["namespace"][0], plan["labels"]["job"][0]


def test_each_flow_of_a_pipeline_is_a_job_with_its_columns(tmp_path: Path) -> None:
    said = _run_pipeline(tmp_path)
    plans, events = _lines(tmp_path)
    by_job: dict[tuple[str, str], list[Any]] = {}
    for plan in plans:
        by_job.setdefault(_job_of(plan), []).append(plan)

    flows = ("managers", "worked", "copy_of_worked", "by_unit", "broken")
    assert set(by_job) == {("payroll", f"default.{name}") for name in flows}, said
    found = {job[1].partition(".")[2]: plans for job, plans in by_job.items()}
    written = {
        name: {plan["operations"]["write"]["outputSource"].rpartition("/")[2] for plan in plans}
        for name, plans in found.items()
    }
    assert written == {name: {name} for name in flows} | {"copy_of_worked": {"copies"}}
    for name, reads, columns in (
        ("managers", {"employees"}, {("emp_id", "emp_id"), ("unit", "dept")}),
        ("worked", {"attendance"}, {("emp_id", "emp_id"), ("minutes", "hours")}),
        ("copy_of_worked", {"worked"}, {("emp_id", "emp_id"), ("m", "minutes")}),
        ("by_unit", {"managers", "worked"}, {("unit", "unit"), ("minutes", "minutes")}),
    ):
        for plan in found[name]:
            assert mode_and_reads(plan)[1] == reads, name
            is_stream = name in ("worked", "copy_of_worked")
            assert plan["operations"]["write"]["append"] is is_stream, name
            assert logic_of(plan).gaps == (), name
            flowing = {(to, source.partition(" of ")[0]) for to, source, _ in flows_of(plan)}
            assert flowing == columns, name
    jobs = {plan["id"]: _job_of(plan)[1] for plan in plans}
    failed = {jobs[event["planId"]] for event in events if "error" in event}
    assert failed == {"default.broken"}
    assert {jobs[event["planId"]] for event in events if "error" not in event} == {
        f"default.{name}" for name in flows if name != "broken"
    }
