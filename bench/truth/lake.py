"""Runs jobs in one local Spark session: once over files with the listener on, then many times
over the same rows as values in the query, which takes no files and no tasks to read."""

from __future__ import annotations

import datetime
import posixpath
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.truth import formats
from bench.truth.comparison import ROWS, Outcome
from bench.truth.formats import TableJob
from bench.truth.jobs import Job, Unmeasurable
from bench.truth.schema import Leaf, Table, select
from bench.truth.verdicts import INDIRECT, Edge
from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import ExecutionPlan, read_plan
from spark_agent_config.listener import Observation, observe
from tests.recording_server import RecordingServer, recording_server

_MOST_SECONDS: Final = 600
# Interpreted and in one partition: the results are measured, and come in the same order
# each time. Compiling each query anew would take ten times as long.
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
}


@dataclass(slots=True)
class Lake:
    """The views of a session. ``tables`` are their rows when nothing is changed."""

    spark: Any
    root: Path
    tables: Mapping[str, Table]
    recorder: RecordingServer
    observation: Observation
    shown: dict[str, Table] = field(default_factory=dict)
    runs: int = 0

    def edges(self, job: Job | TableJob) -> list[Edge]:
        """The claims of the job's lineage when it reads and writes files."""
        if isinstance(job, Job):
            return claimed(self.plan_of(job))
        edges = [edge for plan in self._plans(job) for edge in claimed(plan)]
        if not edges:
            raise Unmeasurable(f"the listener reported no lineage of {job.name}")
        return edges

    def _plans(self, job: TableJob) -> list[ExecutionPlan]:
        """The listener's report of a statement, without those that made its tables before."""
        self._show_files(job.views)
        names = self._prepare(job)
        self._await_reports(job.name)
        before = len(self.recorder.plans())
        job.run(self.spark, names)
        self._await_reports(job.name)
        return list(map(read_plan, self.recorder.plans()[before:]))

    def _await_reports(self, name: str) -> None:
        """Of the runs of the job before, too: Spark tells of them in their order."""
        if not self.observation.flush(_MOST_SECONDS):
            raise Unmeasurable(f"the listener did not report {name} within {_MOST_SECONDS} s")

    def _prepare(self, job: TableJob) -> dict[str, str]:
        self.runs += 1
        return job.prepare(self.spark, str(self.root), self.runs)

    def _show_files(self, names: Sequence[str]) -> None:
        for name in names:
            self._file(name).createOrReplaceTempView(name)
            self.shown.pop(name, None)

    def plan_of(self, job: Job) -> ExecutionPlan:
        """The listener's report of a query whose result is written to files."""
        self._show_files(job.tables)
        target = str(self.root / "out" / job.name)
        job.build(self.spark).write.mode("overwrite").parquet(target)
        self._await_reports(job.name)
        for document in reversed(self.recorder.plans()):
            plan = read_plan(document)
            if plan.write.target.rstrip("/").endswith(f"/out/{job.name}"):
                return plan
        raise Unmeasurable(f"the listener reported no plan of {job.name}")

    def outcome(self, job: Job | TableJob, changed: Table | None = None) -> Outcome:
        """The result of the job, with one table replaced."""
        for name in job.views:
            table = self.tables[name] if changed is None or changed.name != name else changed
            self.show(table)
        if isinstance(job, Job):
            return _collected(job.build(self.spark))
        names = self._prepare(job)
        written = names[job.written]
        there = Counter(_collected(self.spark.table(written)).rows) if job.adds else Counter()
        job.run(self.spark, names)
        result = _collected(self.spark.table(written))
        rows = (Counter(result.rows) - there).elements()
        return Outcome(result.columns, tuple(sorted(rows, key=repr)))

    def show(self, table: Table) -> None:
        """Make the view of a table anew, unless it holds these rows already."""
        if self.shown.get(table.name) is not table:
            self.spark.sql(select(table)).createOrReplaceTempView(table.name)
            self.shown[table.name] = table

    def _file(self, name: str) -> Any:
        place = self.root / "in" / name
        if not place.exists():
            frame = self.spark.sql(select(self.tables[name]))
            frame.coalesce(1).write.parquet(str(place))
        return self.spark.read.parquet(str(place))


def _collected(frame: Any) -> Outcome:
    rows = tuple(tuple(hashable(v) for v in row) for row in frame.collect())
    return Outcome(tuple(frame.columns), rows)


@contextmanager
def lake(tables: Sequence[Table], archives: Sequence[str] = ()) -> Iterator[Lake]:
    """A session on one core, its files in a folder that is removed, and its reports.

    ``archives`` are those of Delta and Iceberg; without them there are no tables of formats.
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("truth")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    with tempfile.TemporaryDirectory(prefix="truth-") as folder, recording_server() as recorder:
        builder = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        if archives:
            builder = builder.config("spark.jars", ",".join(archives))
            builder = builder.config("spark.sql.catalog.ice.warehouse", f"{folder}/ice")
            for name, value in formats.SETTINGS.items():
                builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        observation = observe(spark, recorder.url)
        try:
            by_name = {table.name: table for table in tables}
            yield Lake(spark, Path(folder), by_name, recorder, observation)
        finally:
            observation.close()
            spark.stop()


def hashable(value: Any) -> Any:
    """Structs and arrays as tuples; fractions without the noise of the order of a sum."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return tuple((hashable(k), hashable(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(hashable(item) for item in value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return value


def claimed(plan: ExecutionPlan) -> list[Edge]:
    """The claims of the plan's lineage, in terms of the tables that the job reads."""
    tables = {
        identifier: posixpath.basename(read.sources[0].rstrip("/"))
        for read in plan.reads
        if read.sources
        for identifier in read.output or ()
    }
    result = derive(plan)

    def leaf(source: str, path: tuple[str, ...]) -> Leaf:
        return Leaf(tables.get(source, "?"), plan.attributes[source].name, path)

    columns = [
        Edge(leaf(each.source, each.source_path), each.output, each.kind, each.how)
        for each in result.derivations
    ]
    whole = [
        Edge(leaf(each.source, each.source_path), ROWS, INDIRECT, each.how)
        for each in result.influences
    ]
    return [*columns, *whole]
