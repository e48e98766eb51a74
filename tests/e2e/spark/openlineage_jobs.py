"""The example pipeline, then queries of TPC-H, in Spark with OpenLineage's client and our listener.

    python -m tests.e2e.spark.openlineage_jobs ROOT URL JAR
    python -m tests.e2e.spark.openlineage_jobs ROOT URL JAR short

Spark reads the client's settings from ``ROOT/conf``, as ``headwater config openlineage-spark``
prints them; all but where the jar is. ``short`` runs some short queries in the place of all that,
with settings written without any knowledge of Headwater: a namespace of the client's own, a
task of a scheduler above, no run tags, and ``capturedProperties`` as the client has it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.truth import tpch
from spark_agent_config.configuration import coordinate, render_client
from spark_agent_config.demo import NAMESPACE, run_pipeline
from spark_agent_config.examples.lake import Lake, open_session
from spark_agent_config.listener import observe

#: The tables that the short queries write, in this order; the last one twice.
SHORT: Final = ("first", "copy", "counted", "counted")
#: The client's names for the place of the application of the short queries, and its user.
SHORT_NAMESPACE: Final = "a team's own"
SHORT_PARENT: Final = ("scheduler", "nightly.short", "0199c1f0-7d5e-7c3a-9b6e-2f1d0c4b5a69")
#: An aggregate, EXISTS, and three with subqueries, conditions and many joins.
QUERIES: Final = (1, 4, 7, 8, 9)


def configure(root: Path, url: str, jar: str) -> None:
    """Put the settings where Spark looks for them, with an archive that is already here."""
    printed = render_client("openlineage-spark", url, "spark-defaults", namespace=NAMESPACE)
    settings = printed.replace(f"spark.jars.packages  {coordinate()}", f"spark.jars  {jar}")
    assert settings != printed
    (root / "conf").mkdir(parents=True, exist_ok=True)
    (root / "conf" / "spark-defaults.conf").write_text(settings, encoding="utf-8")


def configure_otherwise(root: Path) -> None:
    """The client's default capture does not tell the application's id."""
    file = root / "conf" / "spark-defaults.conf"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    ours = ("capturedProperties  ", "run.tags  ", "openlineage.namespace  ")
    kept = [line for line in lines if not any(one in line for one in ours)]
    assert len(kept) == len(lines) - len(ours)
    above, name, run = SHORT_PARENT
    theirs = {
        "namespace": SHORT_NAMESPACE,
        "parentJobNamespace": above,
        "parentJobName": name,
        "parentRunId": run,
    }
    kept += [f"spark.openlineage.{key}  {value}\n" for key, value in theirs.items()]
    file.write_text("".join(kept), encoding="utf-8")


def run_short_queries(root: Path, url: str) -> None:
    spark = open_session("short queries", Lake(root))
    try:
        observation = observe(spark, url, spill="")
        numbers = spark.range(20).selectExpr("id", "id % 3 as third")
        numbers.write.mode("overwrite").parquet(f"{root}/out/first")
        first = spark.read.parquet(f"{root}/out/first")
        first.write.mode("overwrite").parquet(f"{root}/out/copy")
        counted = first.groupBy("third").count()
        counted.write.mode("append").parquet(f"{root}/out/counted")
        counted.write.mode("append").parquet(f"{root}/out/counted")
        assert observation.flush(60), "not delivered in time"
    finally:
        spark.stop()


def run_queries(root: Path, url: str) -> None:
    spark = open_session("tpch", Lake(root))
    try:
        _load_tables(spark, root)
        observation = observe(spark, url, namespace=NAMESPACE, spill="")
        for number, job in enumerate(tpch.queries(os.environ), start=1):
            if number in QUERIES:
                job.build(spark).write.mode("overwrite").parquet(f"{root}/out/{job.name}")
        assert observation.flush(60), "not delivered in time"
    finally:
        spark.stop()


def _load_tables(spark: Any, root: Path) -> None:
    for table in tpch.tables():
        schema = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
        rows = [tuple(row.values()) for row in table.rows]
        place = f"{root}/tpch/{table.name}"
        spark.createDataFrame(rows, schema).coalesce(1).write.mode("overwrite").parquet(place)
        spark.read.parquet(place).createOrReplaceTempView(table.name)


def main(arguments: Sequence[str]) -> None:
    root, url, jar = Path(arguments[0]), arguments[1], arguments[2]
    configure(root, url, jar)
    if arguments[3:] == ["short"]:
        configure_otherwise(root)
        run_short_queries(root, url)
        return
    run_pipeline(url, root)
    run_queries(root, url)


if __name__ == "__main__":
    main(sys.argv[1:])
