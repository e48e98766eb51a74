"""``make demo``: the example pipeline in real Spark, twice in one folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spark_agent_config.demo import links
from tests.plan_reader import origins, sources
from tests.recording_server import RecordingServer, recording_server

pytestmark = [pytest.mark.spark, pytest.mark.part("spark-3.5"), pytest.mark.timeout(600)]
_ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Demo:
    folder: Path
    output: str
    server: RecordingServer
    first_plans: list[Any]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")
    pytest.importorskip("pyspark")
    folder = tmp_path_factory.mktemp("demo")
    with recording_server() as server:
        server.pages["/journal?summary=true"] = {"pending": 0}
        _run(server.url, folder)
        first = server.plans()
        output = _run(server.url, folder)
        yield Demo(folder, output, server, first)


def _run(url: str, folder: Path) -> str:
    # Java reports the options that tests set for it, and a person's demo has none. Spark hands them
    # on unreported.
    inherited = dict(os.environ)
    inherited["SPARK_SUBMIT_OPTS"] = inherited.pop("JDK_JAVA_OPTIONS")
    done = subprocess.run(
        [sys.executable, "-m", "spark_agent_config.demo", "--url", url, "--workdir", "work"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(_ROOT)},
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", "Spark's own noise"
    return done.stdout


def plan_of(demo: Demo, job: str) -> Any:
    return next(plan for plan in demo.first_plans if plan["name"] == job)


def test_every_job_is_told_and_the_failing_one_does_not_stop_the_others(demo: Demo) -> None:
    jobs = [plan["name"] for plan in demo.first_plans]

    assert jobs == [
        "curate-employees",
        "report-managers",
        "export-payroll",
        "load-attendance",
        "load-attendance",
        "rank-absences",
    ]
    failed = {event["planId"] for event in demo.server.events() if "error" in event}
    assert failed == {plan_of(demo, "export-payroll")["id"]}
    assert {frozenset(p["labels"]) for p in demo.first_plans} == {frozenset({"namespace"})}


def test_running_it_again_gives_the_same_plans(demo: Demo) -> None:
    again = demo.server.plans()[len(demo.first_plans) :]

    assert [plan["id"] for plan in again] == [plan["id"] for plan in demo.first_plans]


def test_each_job_reads_the_table_of_the_job_before(demo: Demo) -> None:
    work = f"{demo.folder}/work"
    curated = f"file:{work}/curated/employees"
    table = f"file:{work}/warehouse/attendance_with_emp1"

    assert sources(plan_of(demo, "curate-employees")) == {
        f"jdbc:derby:{work}/database/hr:EMPLOYEES",
        f"file:{work}/raw/salaries.csv",
        f"file:{work}/raw/departments.csv",
    }
    assert sources(plan_of(demo, "report-managers")) == {curated}
    assert sources(plan_of(demo, "load-attendance")) == {curated, f"file:{work}/raw/attendance.csv"}
    assert sources(plan_of(demo, "rank-absences")) == {table, f"file:{work}/reports/managers"}


def test_columns_cross_the_jobs(demo: Demo) -> None:
    work = f"file:{demo.folder}/work"

    ranking = origins(plan_of(demo, "rank-absences"))
    attendance = origins(plan_of(demo, "load-attendance"))
    curated = origins(plan_of(demo, "curate-employees"))

    assert ranking["share_of_pay"] == {f"{work}/warehouse/attendance_with_emp1#paid"}
    assert attendance["paid"] == {
        f"{work}/curated/employees#total_pay",
        f"{work}/raw/attendance.csv#hours",
    }
    assert curated["total_pay"] == {
        f"{work}/raw/salaries.csv#base_salary",
        f"{work}/raw/salaries.csv#bonus",
    }


def test_nothing_is_left_outside_the_working_folder(demo: Demo) -> None:
    assert [path.name for path in demo.folder.iterdir()] == ["work"]


def test_it_ends_with_links(demo: Demo) -> None:
    place = f"file:{demo.folder}/work/warehouse/attendance_with_emp1"
    jobs = [
        "curate-employees", "report-managers", "export-payroll", "load-attendance",
        "rank-absences",
    ]  # fmt: skip

    for _, address in links(demo.server.url, jobs, place):
        assert address in demo.output


def test_all_jobs_and_tables_are_in_the_overview_and_not_on_the_home() -> None:
    pages = dict(links("http://h:9000/", [], "t"))
    assert pages["all jobs and tables"] == "http://h:9000/?view=overview"


def test_without_a_server_it_names_the_command_to_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spark_agent_config.demo", "--url", "http://127.0.0.1:9"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        timeout=240,
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "make run" in done.stderr
    assert list(tmp_path.iterdir()) == []
