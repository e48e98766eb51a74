"""The jobs whose lineage is put to the test: one shape of SQL or DataFrame code each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final


class Unmeasurable(Exception):
    """Nothing can be said about a job; the message says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """``build`` gets the session, in which each table is a view, and gives the DataFrame.

    ``key`` names output columns that tell rows apart; () when there are none. Only the source
    columns ``columns`` are changed; None: all columns of the tables.
    """

    name: str
    tables: tuple[str, ...]
    build: Callable[[Any], Any]
    key: tuple[str, ...] = ()
    columns: frozenset[str] | None = None

    @property
    def views(self) -> tuple[str, ...]:
        return self.tables


def query(name: str, tables: str, text: str, key: str = "") -> Job:
    """A job in SQL. Of the columns only those are changed whose name stands in the text: no
    other can matter, unless there is a star."""
    code = re.sub(r"--.*", "", text)
    words = None if re.search(r"(?i)select\s+\*", code) else frozenset(re.findall(r"\w+", code))
    result = Job(name, tuple(tables.split()), lambda spark: spark.sql(text), tuple(key.split()))
    return replace(result, columns=words)


def _udf(spark: Any) -> Any:
    from pyspark.sql import functions as f

    grade = f.udf(lambda salary, bonus: f"{salary}/{bonus}", "string")
    return spark.table("emp").select("id", grade("salary", "bonus").alias("grade"), "dept")


def _deduplicated(spark: Any) -> Any:
    frame = spark.table("emp").orderBy("hired").select("name", "dept", "salary")
    return frame.dropDuplicates(["name"])


def _pivot(spark: Any) -> Any:
    sales = spark.table("sale").groupBy("emp_id")
    return sales.pivot("product", ["pen", "ink"]).sum("quantity")


def _chain(spark: Any) -> Any:
    from pyspark.sql import functions as f

    frame = spark.table("emp").withColumn("pay", f.col("salary") + f.coalesce("bonus", f.lit(0)))
    frame = frame.withColumn("rate", f.col("pay") / 12).withColumnRenamed("dept", "unit")
    return frame.drop("salary", "bonus", "boss", "hired", "active").filter("rate > 20")


JOBS: Final = (
    query("project_and_filter", "emp",
          "SELECT id, upper(name) AS caps, salary * 2 AS twice FROM emp WHERE salary > 300", "id"),
    query("case_when", "emp",
          """SELECT id, CASE WHEN active THEN salary WHEN boss = 1 THEN bonus ELSE 0 END AS pay,
             if(dept = 'HR', name, 'other') AS who FROM emp""", "id"),
    query("coalesce_and_casts", "emp",
          """SELECT id, coalesce(bonus, salary) AS any_pay, CAST(hired AS string) AS since,
             year(hired) AS y, nvl2(boss, 'staff', 'head') AS rank FROM emp""", "id"),
    query("inner_join", "emp dept",
          """SELECT e.id, e.name, d.city, d.budget - e.salary AS rest
             FROM emp e JOIN dept d ON e.dept = d.dept""", "id"),
    query("left_join", "emp dept",
          "SELECT e.id, d.city, d.floor_no FROM emp e LEFT JOIN dept d USING (dept)", "id"),
    query("full_outer_join", "emp dept",
          """SELECT coalesce(e.dept, d.dept) AS unit, e.name, d.city
             FROM emp e FULL OUTER JOIN dept d ON e.dept = d.dept"""),
    query("self_join", "emp",
          """SELECT e.id, e.name, b.name AS boss_name, b.salary AS boss_pay
             FROM emp e LEFT JOIN emp b ON e.boss = b.id""", "id"),
    query("semi_and_anti", "emp dept sale",
          """SELECT id, name FROM emp LEFT SEMI JOIN dept ON emp.dept = dept.dept
             LEFT ANTI JOIN sale ON emp.id = sale.emp_id AND sale.quantity > 6""", "id"),
    query("aggregate", "emp",
          """SELECT dept, count(*) AS n, count(bonus) AS with_bonus, avg(salary) AS mean,
             max(hired) AS last, count(DISTINCT boss) AS bosses FROM emp GROUP BY dept""", "dept"),
    query("aggregate_having", "sale",
          """SELECT product, sum(quantity * price) AS revenue FROM sale GROUP BY product
             HAVING sum(quantity) > 50 ORDER BY revenue DESC""", "product"),
    query("filtered_aggregate", "emp",
          """SELECT dept, sum(salary) FILTER (WHERE active) AS active_pay,
             max_by(name, salary) AS richest FROM emp GROUP BY dept""", "dept"),
    query("window_rank", "emp",
          """SELECT id, row_number() OVER (PARTITION BY dept ORDER BY salary, id) AS place,
             salary / sum(salary) OVER (PARTITION BY dept) AS share FROM emp""", "id"),
    query("window_lag", "sale",
          """SELECT emp_id, day, product, quantity, price,
             lag(price, 1) OVER (PARTITION BY emp_id ORDER BY day, product, quantity) AS earlier,
             avg(quantity) OVER (ORDER BY day ROWS 2 PRECEDING) AS running FROM sale"""),
    query("latest_per_key", "emp",
          """SELECT dept, name, salary FROM (SELECT *, row_number() OVER
             (PARTITION BY dept ORDER BY hired DESC) AS rn FROM emp) WHERE rn = 1""", "dept"),
    query("union_all", "emp old_emp",
          "SELECT id, name, salary FROM emp UNION ALL SELECT id, dept, bonus FROM old_emp"),
    query("union_distinct", "emp dept",
          "SELECT dept AS word FROM emp UNION SELECT city FROM dept"),
    query("except_and_intersect", "emp old_emp",
          """(SELECT name, salary FROM emp EXCEPT SELECT name, salary FROM old_emp)
             UNION ALL
             (SELECT name, salary FROM emp INTERSECT SELECT name, salary FROM old_emp)"""),
    query("cte_twice", "emp",
          """WITH t AS (SELECT dept, sum(salary) AS total FROM emp GROUP BY dept)
             SELECT a.dept, a.total, b.total AS other FROM t a JOIN t b
             ON a.total > b.total AND a.dept <> b.dept"""),
    query("scalar_subquery", "emp dept",
          """SELECT id, salary - (SELECT avg(salary) FROM emp) AS gap,
             (SELECT max(city) FROM dept d WHERE d.dept = e.dept) AS town FROM emp e""", "id"),
    query("in_and_exists", "emp dept sale",
          """SELECT id, name FROM emp e WHERE dept IN (SELECT dept FROM dept WHERE budget < 3000)
             AND EXISTS (SELECT 1 FROM sale s WHERE s.emp_id = e.id AND s.price > 2)""", "id"),
    query("rollup", "emp",
          """SELECT dept, active, grouping_id() AS level, sum(salary) AS total FROM emp
             GROUP BY ROLLUP (dept, active)"""),
    query("grouping_sets", "sale",
          """SELECT product, emp_id, max(price) AS top FROM sale
             GROUP BY GROUPING SETS ((product), (emp_id))"""),
    Job("pivot", ("sale",), _pivot, ("emp_id",)),
    query("unpivot", "dept",
          """SELECT dept, what, amount FROM dept
             UNPIVOT (amount FOR what IN (budget, floor_no))""", "dept what"),
    query("explode_structs", "purchase",
          """SELECT oid, item.sku, item.units * item.price AS cost
             FROM purchase LATERAL VIEW explode(items) t AS item"""),
    query("explode_tags", "purchase",
          """SELECT oid, place, tag FROM purchase
             LATERAL VIEW OUTER posexplode(tags) t AS place, tag"""),
    query("struct_picks", "purchase",
          """SELECT oid, customer.name AS who, customer.address.city AS city,
             items[0].price AS first_price, size(items) AS n,
             named_struct('a', oid, 'b', customer.name).b AS b FROM purchase""", "oid"),
    query("higher_order", "purchase",
          """SELECT oid, transform(items, i -> i.units * 2) AS doubled,
             aggregate(items, 0D, (acc, i) -> acc + i.price) AS total,
             exists(tags, t -> t = 't1') AS has_t1 FROM purchase""", "oid"),
    Job("python_udf", ("emp",), _udf, ("id",)),
    Job("drop_duplicates", ("emp",), _deduplicated, ("name",)),
    Job("with_columns", ("emp",), _chain, ("id",)),
    query("sort_and_limit", "emp",
          "SELECT name, salary FROM emp ORDER BY salary DESC, hired LIMIT 5"),
)  # fmt: skip
