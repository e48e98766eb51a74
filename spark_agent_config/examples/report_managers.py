"""Curated employees, joined with themselves to find their managers => one row a manager."""

from __future__ import annotations

from typing import Any, Final

from spark_agent_config.examples.lake import Lake

NAME: Final = "report-managers"


def run(spark: Any, lake: Lake) -> None:
    from pyspark.sql import functions as f

    people = spark.read.parquet(lake.curated_employees)
    report = (
        people.alias("e")
        .join(people.alias("m"), f.col("e.manager_id") == f.col("m.emp_id"))
        .groupBy(f.col("m.dept_name"), f.col("m.first_name").alias("manager"))
        .agg(
            f.count("*").alias("team_size"),
            f.round(f.avg("e.total_pay"), 2).alias("average_pay"),
            f.max(f.col("e.total_pay") / f.col("m.total_pay")).alias("highest_ratio"),
        )
    )
    report.write.mode("overwrite").parquet(lake.managers_report)
