"""The example pipeline, then queries of TPC-H, in Spark with OpenLineage's client and our listener.

    python -m tests.e2e.openlineage_jobs ROOT URL JAR

Spark reads the client's settings from ``ROOT/conf``, as ``headwater config openlineage-spark``
prints them; all but where the jar is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.truth import tpch
from spark_agent_config.demo import NAMESPACE, run_pipeline
from spark_agent_config.examples.lake import Lake
from spark_agent_config.examples.session import open_session
from spark_agent_config.listener import observe
from spark_agent_config.openlineage import coordinate, render_client

#: An aggregate, EXISTS, and three with subqueries, conditions and many joins.
QUERIES: Final = (1, 4, 7, 8, 9)


def configure(root: Path, url: str, jar: str) -> None:
    """Put the settings where Spark looks for them, with an archive that is already here."""
    printed = render_client("openlineage-spark", url, "spark-defaults", namespace=NAMESPACE)
    settings = printed.replace(f"spark.jars.packages  {coordinate()}", f"spark.jars  {jar}")
    assert settings != printed
    (root / "conf").mkdir(parents=True, exist_ok=True)
    (root / "conf" / "spark-defaults.conf").write_text(settings, encoding="utf-8")


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
    run_pipeline(url, root)
    run_queries(root, url)


if __name__ == "__main__":
    main(sys.argv[1:])
