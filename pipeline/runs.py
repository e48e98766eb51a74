"""Which executions the graph is to carry, with Spark's means: as ``graph_model.projection.runs``.

newest:3    ranked by job, and the executions of these runs
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from graph_model.facts import ExecutionRow
from graph_model.producers.elements.executions import run_elements
from graph_model.projection.runs.window import RunWindow
from pipeline.output.records import Record, element_record

_FIELDS: Final = ("id", "job", "run", "at")


def executions_of(rows: DataFrame) -> DataFrame:
    """Records of executions -> ``id``, ``job``, ``run``, ``at`` (epoch ms), ``content``."""
    columns = {
        name: f.get_json_object("content", f"$[{ExecutionRow._fields.index(name)}]")
        for name in _FIELDS
    }
    columns["at"] = columns["at"].cast("long")
    named = [column.alias(name) for name, column in columns.items()]
    return rows.select(*named, "content")


def wanted_executions(executions: DataFrame, window: RunWindow) -> DataFrame:
    """The executions that the window selects."""
    if not window.count:
        return executions.limit(0)
    seen = _first(executions, window.executions, "at", "id")
    runs = seen.groupBy("job", "run").agg(f.max("at").alias("at"))
    newest = _first(runs, window.count, "at", "run").select("job", "run")
    return _first(executions.join(newest, ["job", "run"]), window.executions, "at", "id")


def _first(rows: DataFrame, count: int, *order: str) -> DataFrame:
    """The greatest of each job by these columns."""
    by_job = Window.partitionBy("job").orderBy(*(f.desc(name) for name in order))
    ranked = rows.withColumn("place", f.row_number().over(by_job))
    return ranked.where(f.col("place") <= count).drop("place")


def run_records(rows: Iterable[Any]) -> Iterator[Record]:
    """The elements of each execution, days and runs as often as they are named. Plain Python."""
    for row in rows:
        for element in run_elements(ExecutionRow(*json.loads(row["content"]))):
            yield element_record(element)
