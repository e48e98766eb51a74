"""A process that runs the jobs of a folder of ``tests/fixtures`` with the listener on: those of
``table_formats``, ``hudi_tables``, ``hive_tables`` or ``spark_jobs``.

    python -m tests.e2e.spark.table_format_worker ROOT FOLDER SPARK DEPTH [JAR…]

runs the topics in the order of their names in one session and writes ``ROOT/reports.json``:
``{topic: {job: {"error": null, "documents": [{"kind", "body"}, …]}}}``. A topic stands alone: it
makes its own tables, beside ``src``, which ``_source_tables.json`` makes for all. A job that some
Sparks cannot run names the others (``spark``) and says ``why``; different reports of a Spark stand
under ``on``. DEPTH is ``every`` for every job, or ``some`` for those that name the Spark under
``make test``: they are chosen so that each kind of statement stays, of each format, and with a job
stand the earlier ones of its topic that it goes on from.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from spark_agent_config.listener import observe

_FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
FORMATS: Final = "table_formats"
HUDI: Final = "hudi_tables"
HIVE: Final = "hive_tables"
PLAIN: Final = "spark_jobs"
SOURCES: Final = "_source_tables"
_DELTA_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
_ICEBERG_EXTENSION: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_HUDI_SETTINGS: Final = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
}
#: There is no Iceberg for these Sparks yet: statements and jobs that name it are left out.
WITHOUT_ICEBERG: Final = ("4.2",)
_ICEBERG: Final = re.compile(r"\bice\b|\bmemory\.|(?i:iceberg)")
#: A Spark => the one whose jobs and expectations are its own, where a job does not name it.
_LIKE: Final = {"4.2": "4.1"}
_PYTHON: Final = "python:"
EVERY: Final = "every"
SOME: Final = "some"


def topics(folder: str = FORMATS) -> dict[str, Any]:
    """``{topic: {"setup": [statement, …], "jobs": [job, …]}}``, in the order they run."""
    paths = sorted((_FIXTURES / folder).iterdir())
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def jobs_on(jobs: Sequence[Mapping[str, Any]], spark: str, depth: str) -> list[Mapping[str, Any]]:
    """Those for that version of Spark; a job that names none is for all."""
    able = [
        job
        for job in jobs
        if not {spark, _LIKE.get(spark, spark)}.isdisjoint(job.get("spark", [spark]))
        and runs_on(spark, json.dumps(job))
    ]
    return able if depth == EVERY else [job for job in able if spark in job.get("make test", ())]


def expected_on(job: Mapping[str, Any], spark: str) -> Mapping[str, Any]:
    """The job as that version of Spark is expected to tell it."""
    on = job.get("on", {})
    return {**job, **on.get(spark, on.get(_LIKE.get(spark, spark), {}))}


def runs_on(spark: str, statement: str) -> bool:
    """Whether there are archives on that version of Spark for all that a text names."""
    return spark not in WITHOUT_ICEBERG or _ICEBERG.search(statement) is None


def open_session(root: Path, folder: str, jars: Sequence[str]) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        # Tables have a few rows: a second task is mostly its start. VACUUM lists with 10,000.
        "spark.default.parallelism": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
        "spark.sql.warehouse.dir": str(root / "warehouse"),
        # Each statement runs once or twice: compiling it well takes longer than running it.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        f"-Dderby.stream.error.file={root}/derby.log",
        "spark.jars": ",".join(jars),
    } | _settings_of(folder, jars, root)
    builder = SparkSession.builder.master("local[1]").appName("table-formats")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _settings_of(folder: str, jars: Sequence[str], root: Path) -> dict[str, str]:
    """Hudi's catalog takes the place of Delta's, so its jobs have a session of their own."""
    if folder == HUDI:
        return _HUDI_SETTINGS
    if folder == HIVE:
        metastore = f"jdbc:derby:;databaseName={root}/metastore;create=true"
        return {
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        }
    if not jars:
        return {}
    return {
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.extensions": _DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    } | (_iceberg_settings(root) if any("iceberg" in Path(jar).name for jar in jars) else {})


def _iceberg_settings(root: Path) -> dict[str, str]:
    return {
        "spark.sql.extensions": f"{_DELTA_EXTENSION},{_ICEBERG_EXTENSION}",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(root / "ice"),
    }


class Jobs:
    """Runs statements: SQL, or ``python: …`` with ``spark``, ``f``, ``root``, ``snapshots``."""

    def __init__(self, spark: Any, root: Path) -> None:
        from pyspark.sql import functions

        self._spark = spark
        self._names = {
            "spark": spark,
            "f": functions,
            "root": str(root),
            "snapshots": self._snapshots,
        }

    def run(self, statement: str) -> None:
        if statement.startswith(_PYTHON):
            exec(statement.removeprefix(_PYTHON).strip(), dict(self._names))
        else:
            self._spark.sql(statement)

    def _snapshots(self, table: str) -> list[int]:
        rows = self._spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at")
        return [row[0] for row in rows.collect()]


def main(arguments: Sequence[str]) -> None:
    place, folder, version, depth, *jars = arguments
    root = Path(place)
    told = root / "told.ndjson"
    spark = open_session(root, folder, jars)
    observation = observe(spark, f"file:{told}", namespace="tests", spill="")
    jobs = Jobs(spark, root)
    reports: dict[str, dict[str, Any]] = {}
    for topic, listed in topics(folder).items():
        chosen = jobs_on(listed["jobs"], version, depth)
        setup = [statement for statement in listed["setup"] if runs_on(version, statement)]
        broken = _error_of(jobs, setup) if chosen or topic == SOURCES else None
        reports[topic] = {}
        for job in chosen:
            unprepared = broken or _error_of(jobs, job.get("before", ()))
            assert observation.flush(60)
            before = len(lines_of(told))
            error = unprepared or _error_of(jobs, [job["run"]])
            assert observation.flush(60)
            reports[topic][job["name"]] = {"error": error, "documents": lines_of(told)[before:]}
    observation.close()
    (root / "reports.json").write_text(json.dumps(reports), "utf-8")
    spark.stop()


def _error_of(jobs: Jobs, statements: Sequence[str]) -> str | None:
    """The message of the first statement that fails, in one line."""
    try:
        for statement in statements:
            jobs.run(statement)
    except Exception as error:
        return str(error).split("\n", 1)[0]
    return None


def lines_of(told: Path) -> list[Any]:
    if not told.exists():
        return []
    return [json.loads(line) for line in told.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main(sys.argv[1:])
