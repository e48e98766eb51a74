"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.selection import positive, select
from bench.truth import formats, staff, tpch
from bench.truth.experiment import measure
from bench.truth.formats import TableJob
from bench.truth.jobs import JOBS, Job, Unmeasurable
from bench.truth.lake import lake
from bench.truth.report import Measured, as_json, findings, passes, table, total
from graph_model.errors import ConfigurationError
from tests.e2e.spark.spark_jars import iceberg_jar, paths_for


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """0 when precision and recall reach the floor; 1 when not, or when nothing was tested; 2 when
    ``--only`` has an unknown name.
    """
    options = _options(arguments)
    try:
        jobs, archives, skipped = _jobs(environment, options.only)
    except ConfigurationError as failure:
        sys.stderr.write(f"{failure}\n")
        return 2
    started = time.monotonic()
    measured: list[Measured] = []
    with lake([*staff.tables(), *tpch.tables()], archives) as runner:
        for job in jobs:
            if time.monotonic() - started > 60 * options.minutes:
                skipped.append(f"{job.name}: the time was over")
                continue
            sys.stderr.write(f"{job.name}\n")
            try:
                measured.append(measure(runner, job, runner.edges(job), seeds=options.seeds))
                sys.stderr.writelines(f"  {finding}\n" for finding in findings(measured[-1]))
                _write(options.json, measured, skipped)
            except Unmeasurable as failure:
                skipped.append(str(failure))
    sys.stdout.write(table(measured) if measured else "no job was measured\n")
    for reason in skipped:
        sys.stdout.write(f"skipped: {reason}\n")
    sys.stdout.write(f"{time.monotonic() - started:.0f} s\n")
    _write(options.json, measured, skipped)
    return 0 if passes(total(measured), options.floor) else 1


def _version_of_spark() -> str:
    """``3.5``: of the PySpark that Python finds first."""
    import pyspark

    return ".".join(pyspark.__version__.split(".")[:2])


def _write(file: Path | None, measured: Sequence[Measured], skipped: Sequence[str]) -> None:
    """Report after each job, so that a run that is broken off keeps its results."""
    if file is not None:
        text = json.dumps(as_json(measured, skipped), indent=2)
        file.write_text(text + "\n", encoding="utf-8")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.truth",
        description="Change one source column at a time and compare the changes with the lineage.",
    )
    parser.add_argument("--floor", type=float, default=0.9, help="of precision and of recall")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these jobs alone")
    parser.add_argument(
        "--seeds", type=positive, default=2, help="runs of each way to change a column"
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no job after these")
    return parser.parse_args(arguments)


def _jobs(
    environment: Mapping[str, str], only: Sequence[str]
) -> tuple[list[Job | TableJob], list[str], list[str]]:
    """(jobs, archives that they need, skipped jobs)."""
    jobs: list[Job | TableJob] = list(JOBS)
    archives: list[str] = []
    skipped: list[str] = []
    try:
        spark = _version_of_spark()
        archives = [*paths_for(spark, environment), iceberg_jar(spark, environment)]
        jobs.extend(formats.JOBS)
    except ConfigurationError as failure:
        skipped.append(f"the tables of Delta and Iceberg: {failure}")
    try:
        jobs.extend(tpch.queries(environment))
    except ConfigurationError as failure:
        skipped.append(f"the TPC-H queries: {failure}")
    return select(jobs, only, lambda job: job.name), archives, skipped


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
