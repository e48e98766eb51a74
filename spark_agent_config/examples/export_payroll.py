"""A job that fails on purpose: lineage shows the failed run, and no data that never came to be."""

from __future__ import annotations

from typing import Any, Final

from spark_agent_config.examples.lake import Lake

NAME: Final = "export-payroll"


def run(spark: Any, lake: Lake) -> None:
    from pyspark.sql import functions as f

    account = f.udf(_account, "string")
    people = spark.read.parquet(lake.curated_employees)
    payroll = people.select("emp_id", account("emp_id").alias("account"), "total_pay")
    payroll.write.mode("overwrite").json(lake.payroll_export)


def _account(emp_id: int) -> str:
    raise LookupError(f"no bank account is known for employee {emp_id}")
