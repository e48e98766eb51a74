"""Runs the example pipeline against a Headwater server and prints where to look at it.

    python -m spark_agent_config.demo --url http://127.0.0.1:8080

Every job is an application of its own, in one JVM after the other's end. Running it again changes
nothing but the runs: all jobs overwrite their outputs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import quote

from spark_agent_config.examples import (
    curate_employees,
    export_payroll,
    load_attendance,
    rank_absences,
    report_managers,
)
from spark_agent_config.examples.lake import Lake, create_source_database, open_session
from spark_agent_config.listener import observe

NAMESPACE: Final = "demo"
DEFAULT_URL: Final = "http://127.0.0.1:8080"
DEFAULT_WORKDIR: Final = Path("data/demo")
_PATIENCE_SECONDS: Final = 60.0

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoJob:
    """A job of the pipeline. ``catalog``: it uses tables; ``fails``: it is meant to."""

    module: ModuleType
    catalog: bool = False
    fails: bool = False

    @property
    def name(self) -> str:
        return str(self.module.NAME)


JOBS: Final = (
    DemoJob(curate_employees),
    DemoJob(report_managers),
    DemoJob(export_payroll, fails=True),
    DemoJob(load_attendance, catalog=True),
    DemoJob(rank_absences, catalog=True),
)


@dataclass(frozen=True, slots=True)
class JobResult:
    """The end of a job. ``error`` is the first line of its exception, None when it worked."""

    name: str
    seconds: float
    error: str | None
    reported: int


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """How the pipeline ended; ``main_table`` is the URI of ``attendance_with_emp1``."""

    jobs: tuple[JobResult, ...]
    main_table: str


def run_pipeline(url: str, workdir: Path, progress: Progress = print) -> PipelineResult:
    """Run all jobs, reporting to ``url``; no Spark session may be active in this process.

    A job that is meant to fail does not stop the pipeline; another's exception does, after its
    lineage is reported.
    """
    lake = Lake(workdir.resolve())
    lake.land()
    results = []
    for number, job in enumerate(JOBS, start=1):
        progress(f"[{number}/{len(JOBS)}] {job.name} ...")
        result = _run_job(job, lake, url)
        progress(f"[{number}/{len(JOBS)}] {job.name} {_outcome(job, result)}")
        results.append(result)
    return PipelineResult(tuple(results), lake.attendance_table)


def links(url: str, jobs: Sequence[str], main_table: str) -> list[tuple[str, str]]:
    """Addresses for a browser: (title, address). No other function knows addresses."""
    base = url.rstrip("/")
    pages = [("all jobs and tables", f"{base}/?view=overview")]
    for job in jobs:
        node = quote(f"job:{NAMESPACE}/{job}", safe="")
        pages.append((f"job {job}", f"{base}/?view=job&node={node}"))
    node = quote(f"dataset:{main_table}", safe="")
    pages.append(("lineage of attendance_with_emp1", f"{base}/?view=lineage&node={node}"))
    return pages


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m spark_agent_config.demo",
        description="Runs a small PySpark pipeline that reports its lineage to Headwater.",
    )
    parser.add_argument("--url", default=DEFAULT_URL, help="the server (default: %(default)s)")
    parser.add_argument(
        "--workdir",
        type=Path,
        default=DEFAULT_WORKDIR,
        help="folder for the pipeline's data (default: %(default)s)",
    )
    given = parser.parse_args(arguments)
    if (reason := _unreachable(given.url)) is not None:
        print(
            f"No Headwater answers at {given.url} ({reason}): start it with make run, "
            "or name another with --url (make demo: PORT= or URL=)",
            file=sys.stderr,
        )
        return 1
    result = run_pipeline(given.url, given.workdir, print)
    lost = [job.name for job in result.jobs if job.reported == 0]
    if lost:
        print(f"No lineage arrived from: {', '.join(lost)}")
        return 1
    if not wait_until_projected(given.url):
        print("The server is still projecting its documents; the pages may lag behind.")
    print("\nOpen in a browser:")
    for page, address in links(given.url, [job.name for job in result.jobs], result.main_table):
        print(f"  {page:<34} {address}")
    return 0


def wait_until_projected(url: str) -> bool:
    """Wait until the server has drawn all that it received; False when it takes too long."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        summary = _get_json(f"{url.rstrip('/')}/journal?summary=true")
        if isinstance(summary, dict) and summary.get("pending") == 0:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.2)


def _run_job(job: DemoJob, lake: Lake, url: str) -> JobResult:
    started = time.monotonic()
    spark = open_session(job.name, lake, catalog=job.catalog)
    error: str | None = None
    reported = 0
    try:
        if job.module is curate_employees:
            create_source_database(spark, lake)
        observation = observe(spark, url, namespace=NAMESPACE)
        try:
            error = _attempt(job, spark, lake)
        finally:
            observation.flush()
            reported = observation.counts().delivered
    finally:
        spark.stop()
    return JobResult(job.name, time.monotonic() - started, error, reported)


def _attempt(job: DemoJob, spark: Any, lake: Lake) -> str | None:
    """Run the job; the error's first line where it failed as it should."""
    if not job.fails:
        job.module.run(spark, lake)
        return None
    spark.sparkContext.setLogLevel("OFF")  # Spark would print pages about a failure we ordered
    try:
        job.module.run(spark, lake)
    except Exception as error:  # whatever Spark makes of it
        return str(error).strip().split("\n", 1)[0]
    return None


def _outcome(job: DemoJob, result: JobResult) -> str:
    outcome = "failed, as it should" if job.fails and result.error else "done"
    return f"{outcome} in {result.seconds:.1f} s, reported writes: {result.reported}"


def _unreachable(url: str) -> str | None:
    """Why the server does not answer; None when it does."""
    try:
        with _open(f"{url.rstrip('/')}/health/live"):
            return None
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))


def _get_json(address: str) -> Any:
    try:
        with _open(address) as reply:
            return json.load(reply)
    except (OSError, ValueError):
        return None


def _open(address: str) -> Any:
    if not address.startswith(("http://", "https://")):
        raise ValueError("expected http://host:port")
    return urllib.request.urlopen(address, timeout=10)  # noqa: S310 (checked above)


if __name__ == "__main__":
    sys.exit(main())
