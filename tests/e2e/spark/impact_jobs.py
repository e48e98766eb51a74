"""Two jobs on empty tables, and the first of them changed, for the capture of a check.

    python -m tests.e2e.spark.impact_jobs ROOT

leaves ``production.ndjson`` (both jobs as they run) and ``change.ndjson`` (the first as it would
run after the change) in ROOT. Not a row is read or written: a plan needs schemas alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from spark_agent_config.listener import observe
from tests.e2e.spark.listener_worker import open_session

ORDERS = "id INT, customer STRING, amount INT, status STRING"


def load(spark: Any, root: Path) -> None:
    landing = spark.read.parquet(f"{root}/landing/orders")
    landing.write.mode("overwrite").parquet(f"{root}/lake/orders")


def daily(spark: Any, root: Path) -> None:
    orders = spark.read.parquet(f"{root}/lake/orders")
    paid = orders.where("status = 'paid'").groupBy("customer").sum("amount")
    paid.withColumnRenamed("sum(amount)", "total").write.mode("overwrite").parquet(
        f"{root}/lake/daily"
    )


def changed_load(spark: Any, root: Path) -> None:
    """``status`` is called ``state`` now, and ids are long."""
    landing = spark.read.parquet(f"{root}/landing/orders")
    renamed = landing.withColumnRenamed("status", "state").selectExpr(
        "CAST(id AS BIGINT) AS id", "customer", "amount", "state"
    )
    renamed.write.mode("overwrite").parquet(f"{root}/lake/orders")


def main(root: Path) -> None:
    spark = open_session(root)
    spark.createDataFrame([], ORDERS).write.parquet(f"{root}/landing/orders")
    runs = [
        ("load", load, "production"), ("daily", daily, "production"),
        ("load", changed_load, "change"),
    ]  # fmt: skip
    for job, run, file in runs:
        observation = observe(spark, f"file:{root}/{file}.ndjson", job=job)
        run(spark, root)
        observation.close(60)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
