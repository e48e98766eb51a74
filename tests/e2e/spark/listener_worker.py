"""A process that runs listener jobs in a Spark of its own, so that one test run can have several.

    python -m tests.e2e.spark.listener_worker ROOT URL JAR…

reads one JSON line a command from stdin and answers with one: ``{"run": "c_union"}`` =>
``{"error": null}``, once all that the job made the listener send is delivered.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from spark_agent_config.listener import Observation, observe
from tests.e2e.spark.listener_jobs import DELTA_JOBS, JOBS, SparkLake

_DELTA: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.databricks.delta.snapshotPartitions": "1",
}
_DELTA_CATALOG: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


def open_session(root: Path, jars: Sequence[str] = ()) -> Any:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .appName("listener-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
        .config("spark.driver.extraJavaOptions", f"-Dderby.stream.error.file={root}/derby.log")
    )
    if jars:
        builder = builder.config("spark.jars", ",".join(jars))
        for name, value in _DELTA.items():
            builder = builder.config(name, value)
    return builder.getOrCreate()


class Worker:
    """The lake in a plain session, and in one whose catalog is Delta's, both observed."""

    def __init__(self, root: Path, url: str, jars: Sequence[str]) -> None:
        self._url = url
        self._jars = jars
        self._lake = SparkLake(open_session(root, jars), root)
        self._lake.fill()
        self._observation = self._observe(self._lake)
        self._delta: tuple[SparkLake, Observation] | None = None

    def _observe(self, lake: SparkLake) -> Observation:
        return observe(lake.spark, self._url, namespace="tests", labels={"team": "hr"}, spill="")

    def hello(self) -> dict[str, Any]:
        context = self._lake.spark.sparkContext
        return {"application": context.applicationId, "version": context.version}

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        if "run" in command:
            return {"error": self._run(command["run"])}
        return {"same": observe(self._lake.spark, "http://127.0.0.1:9") is self._observation}

    def _run(self, name: str) -> str | None:
        lake, observation = (
            self._with_delta() if name in DELTA_JOBS else (self._lake, self._observation)
        )
        _activate(lake.spark)
        error = None
        try:
            (DELTA_JOBS if name in DELTA_JOBS else JOBS)[name](lake)
        except Exception as raised:
            error = str(raised).split("\n", 1)[0]
        assert observation.flush(60), "not delivered in time"
        return error

    def _with_delta(self) -> tuple[SparkLake, Observation]:
        if self._delta is None:
            session = self._lake.spark.newSession()
            session.conf.set("spark.sql.catalog.spark_catalog", _DELTA_CATALOG)
            lake = SparkLake(session, self._lake.root)
            self._delta = (lake, self._observe(lake))
        return self._delta

    def close(self) -> None:
        self._observation.close()
        self._lake.spark.stop()


def _activate(session: Any) -> None:
    """Code that runs in threads of the JVM, as a stream's sink, takes its session from there."""
    find = getattr(type(session), "_get_j_spark_session_class", lambda jvm: jvm.SparkSession)
    find(session._jvm).setActiveSession(session._jsparkSession)


def main(arguments: Sequence[str]) -> None:
    root, url, *jars = arguments
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # Spark's own output is no reply
    logging.basicConfig(level=logging.WARNING)
    worker = Worker(Path(root), url, jars)

    def say(reply: dict[str, Any]) -> None:
        replies.write(json.dumps(reply) + "\n")
        replies.flush()

    say(worker.hello())
    for line in sys.stdin:
        say(worker.answer(json.loads(line)))
    worker.close()


if __name__ == "__main__":
    main(sys.argv[1:])
