"""Employees of the HR database, their pay and their departments => one curated table of files."""

from __future__ import annotations

from typing import Any, Final

from spark_agent_config.examples.lake import DRIVER, Lake

NAME: Final = "curate-employees"


def run(spark: Any, lake: Lake) -> None:
    employees = spark.read.jdbc(lake.database_url, "EMPLOYEES", properties={"driver": DRIVER})
    curate(spark, lake, employees)


def curate(spark: Any, lake: Lake, employees: Any) -> None:
    """``employees`` has the columns of ``data/employees.csv``, from wherever they come."""
    from pyspark.sql import functions as f

    salaries = _read_csv(spark, lake, "salaries.csv")
    departments = _read_csv(spark, lake, "departments.csv")
    curated = (
        employees.join(salaries, "emp_id")
        .join(departments, "dept_id")
        .select(
            f.col("emp_id"),
            f.initcap("first_name").alias("first_name"),
            f.col("dept_name"),
            f.col("manager_id"),
            f.year("hired").alias("hired_year"),
            (f.col("base_salary") + f.coalesce("bonus", f.lit(0))).alias("total_pay"),
            f.col("effective_date"),
        )
    )
    writer = curated.write.mode("overwrite").partitionBy("effective_date")
    writer.parquet(lake.curated_employees)


def _read_csv(spark: Any, lake: Lake, name: str) -> Any:
    reader = spark.read.option("header", True).option("inferSchema", True)
    return reader.csv(lake.raw(name))
