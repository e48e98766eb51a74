"""The attendance table and the managers' report => departments ranked by absence.

A CTE, a window and a subquery: the columns of this report come from tables that three other jobs
wrote.
"""

from __future__ import annotations

from typing import Any, Final

from spark_agent_config.examples.lake import Lake

NAME: Final = "rank-absences"
_QUERY: Final = """
    WITH absence AS (
        SELECT dept_name, count(*) AS days, sum(CAST(is_absent AS INT)) AS absent_days,
               sum(paid) AS paid
        FROM attendance_with_emp1
        GROUP BY dept_name
    )
    SELECT a.dept_name,
           a.absent_days,
           round(a.absent_days / a.days, 3) AS absence_rate,
           rank() OVER (ORDER BY a.absent_days / a.days DESC) AS position,
           a.paid / (SELECT sum(paid) FROM attendance_with_emp1) AS share_of_pay,
           m.manager
    FROM absence a LEFT JOIN managers m ON a.dept_name = m.dept_name
"""


def run(spark: Any, lake: Lake) -> None:
    spark.read.parquet(lake.managers_report).createOrReplaceTempView("managers")
    spark.sql(_QUERY).write.mode("overwrite").parquet(lake.absence_ranking)
