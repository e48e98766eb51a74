"""A process that runs the jobs of ``tests/fixtures/file_patterns.json`` with the listener on.

    python -m tests.e2e.spark.file_pattern_worker ROOT

works in ROOT and writes ``ROOT/reports.json``: ``{job: [{"kind", "body"}, …]}``, of which the last
plan is that of the job itself, before it those of ``before``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from spark_agent_config.listener import observe
from tests.e2e.spark.listener_worker import open_session

FIXTURE: Final = Path(__file__).parents[2] / "fixtures" / "file_patterns.json"


def listed_jobs() -> list[Mapping[str, Any]]:
    jobs: list[Mapping[str, Any]] = json.loads(FIXTURE.read_text("utf-8"))["jobs"]
    return jobs


def output_of(job: Mapping[str, Any]) -> str:
    """A folder of its own, or that of the job whose plan it is once more."""
    names = [one["name"] for one in listed_jobs()]
    return f"out/{names.index(job.get('same_plan_as', job['name']))}"


class Jobs:
    """Runs a line of Python with the names of a session: ``read``, ``sql``, ``table`` …"""

    def __init__(self, spark: Any, root: Path) -> None:
        self._spark = spark
        self._root = root

    def evaluate(self, line: str) -> Any:
        offered = {name: getattr(self._spark, name) for name in ("read", "sql", "table")}
        offered |= {"sparkContext": self._spark.sparkContext, "f": self._spark}
        return eval(line, {**offered, "root": str(self._root), "files": self._write_files})

    def run(self, job: Mapping[str, Any]) -> None:
        for name, value in job.get("settings", {}).items():
            self._spark.conf.set(name, value)
        frame = self.evaluate(job["run"])
        frame.write.mode("overwrite").parquet(str(self._root / output_of(job)))
        for name in job.get("settings", {}):
            self._spark.conf.unset(name)

    def _write_files(self, folder: str, names: Sequence[str]) -> None:
        (self._root / folder).mkdir(exist_ok=True)
        for name in names:
            (self._root / folder / name).write_text("a,b\n1,2\n")


def main(arguments: Sequence[str]) -> None:
    root = Path(arguments[0])
    os.chdir(root)
    told = root / "told.ndjson"
    told.touch()
    spark = open_session(root)
    observation = observe(spark, f"file:{told}", namespace="tests", spill="")
    jobs = Jobs(spark, root)
    reports: dict[str, Any] = {}
    for job in listed_jobs():
        before = len(told.read_text("utf-8").splitlines())
        if "before" in job:
            jobs.evaluate(job["before"])
        jobs.run(job)
        assert observation.flush(60)
        lines = told.read_text("utf-8").splitlines()[before:]
        reports[job["name"]] = [json.loads(line) for line in lines]
    observation.close()
    (root / "reports.json").write_text(json.dumps(reports), "utf-8")
    spark.stop()


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main(sys.argv[1:])
