"""Attendance with the employees => the catalog table ``attendance_with_emp1``."""

from __future__ import annotations

from typing import Any, Final

from spark_agent_config.examples.lake import Lake

NAME: Final = "load-attendance"


def run(spark: Any, lake: Lake) -> None:
    from pyspark.sql import functions as f

    attendance = (
        spark.read.option("header", True)
        .schema("emp_id int, day date, hours int, status string")
        .csv(lake.raw("attendance.csv"))
    )
    people = spark.read.parquet(lake.curated_employees)
    joined = attendance.join(people, "emp_id").select(
        "emp_id",
        "first_name",
        "dept_name",
        "day",
        "hours",
        (f.col("status") == "absent").alias("is_absent"),
        (f.col("total_pay") / 160 * f.col("hours")).alias("paid"),
    )
    joined.write.mode("overwrite").saveAsTable("attendance_with_emp1")
