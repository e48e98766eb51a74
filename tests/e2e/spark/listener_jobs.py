"""Small PySpark jobs, one a lineage shape, over a lake like that of the recorded captures.

``JOBS["c_union"](spark, lake)`` runs one. Those that bear the name of a capture are the job that
the stock agent was recorded with, so the two documents can be compared.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as f
from pyspark.sql.window import Window

DERBY_DRIVER: Final = "org.apache.derby.jdbc.EmbeddedDriver"
_EMPLOYEES: Final = (
    "emp_id int, dept string, salary int, bonus int, manager_id int, hired date, "
    "full_name string, total_comp int"
)
_ROWS: Final = """
    VALUES (1, 'HR', 100, 10, 2, DATE '2020-01-01', 'Ada', 110),
           (2, 'HR', 200, NULL, NULL, DATE '2020-01-02', 'Ben', 200),
           (3, 'IT', 300, 5, 2, DATE '2020-02-01', 'Cleo', 305)
"""


class SparkLake:
    """Paths of the lake below ``root``, and its tables."""

    def __init__(self, spark: Any, root: Path) -> None:
        self.spark = spark
        self.root = root

    def path(self, name: str) -> str:
        return str(self.root / "data" / name)

    def fill(self) -> None:
        """Make the tables that jobs read."""
        columns = [part.split()[0] for part in _EMPLOYEES.split(", ")]
        rows = self.spark.sql(_ROWS).toDF(*columns).coalesce(1)
        rows.write.mode("overwrite").parquet(self.path("curated/employees"))
        attendance = self.root / "data" / "raw" / "attendance" / "att.csv"
        attendance.parent.mkdir(parents=True)
        attendance.write_text("emp_id,day,hours,status\n1,2026-03-02,8,P\n3,2026-03-02,0,A\n")
        orders = self.root / "data" / "raw" / "orders_json" / "orders.json"
        orders.parent.mkdir(parents=True)
        order = {
            "amount": 3,
            "customer": {"address": {"city": "Riga", "zip": "1"}, "name": "c"},
            "id": 1,
            "items": [{"price": 1.5, "qty": 2, "sku": "x"}],
            "month": "M1",
            "region": "EU",
            "tags": ["a"],
        }
        orders.write_text(json.dumps(order) + "\n")

    def employees(self) -> Any:
        return self.spark.read.parquet(self.path("curated/employees"))

    def attendance(self) -> Any:
        reader = self.spark.read.option("header", True).option("inferSchema", True)
        return reader.csv(self.path("raw/attendance/att.csv"))

    def orders(self) -> Any:
        return self.spark.read.json(self.path("raw/orders_json"))

    def views(self) -> None:
        self.employees().createOrReplaceTempView("e")
        self.attendance().createOrReplaceTempView("a")


def write(frame: Any, path: str, mode: str = "overwrite") -> None:
    frame.write.mode(mode).parquet(path)


# --- the jobs of the captures ------------------------------------------------------------------


def a2_managers(lake: SparkLake) -> None:
    e, m = lake.employees().alias("e"), lake.employees().alias("m")
    joined = e.join(m, f.col("e.manager_id") == f.col("m.emp_id"), "left")
    chosen = joined.select(
        "e.emp_id",
        f.col("e.full_name").alias("employee"),
        f.col("m.full_name").alias("manager"),
        "e.dept",
        "e.total_comp",
        (f.col("e.total_comp") / f.col("m.total_comp")).alias("ratio"),
    )
    write(chosen, lake.path("curated/emp_manager"))


def a3_agg(lake: SparkLake) -> None:
    people = lake.spark.read.parquet(lake.path("curated/emp_manager"))
    grouped = people.groupBy("dept", "manager").agg(
        f.count("*").alias("n"),
        f.avg("total_comp").alias("avg_comp"),
        f.max("ratio").alias("max_ratio"),
    )
    write(grouped, lake.path("agg/dept_manager"))


def b_attendance_table(lake: SparkLake) -> None:
    lake.spark.sql("CREATE DATABASE IF NOT EXISTS hr")
    daily = (
        lake.attendance()
        .join(lake.employees(), "emp_id")
        .groupBy("dept", "day")
        .agg(
            f.sum("hours").alias("hours"),
            f.sum(f.when(f.col("status") == "A", 1).otherwise(0)).alias("absent"),
        )
    )
    daily.write.mode("overwrite").saveAsTable("hr.attendance_daily")
    absent = lake.spark.table("hr.attendance_daily").where("absent > 1")
    write(absent, lake.path("agg/absent"))


def c_union(lake: SparkLake) -> None:
    left = lake.employees().select("emp_id", f.col("dept").alias("label"))
    write(left.union(lake.attendance().select("emp_id", "status")), lake.path("out/union"))


def c_window(lake: SparkLake) -> None:
    by_pay = Window.partitionBy("dept").orderBy(f.desc("salary"))
    ranked = lake.employees().select(
        "emp_id",
        "dept",
        f.rank().over(by_pay).alias("rk"),
        f.lag("salary", 1).over(by_pay).alias("prev"),
        f.sum("bonus").over(Window.partitionBy("dept")).alias("dept_bonus"),
    )
    write(ranked, lake.path("out/window"))


def c_cte_twice(lake: SparkLake) -> None:
    lake.views()
    query = """
        WITH d AS (SELECT dept, avg(salary) av FROM e GROUP BY dept)
        SELECT x.dept, x.av, y.av av2 FROM d x JOIN d y ON x.dept = y.dept
    """
    write(lake.spark.sql(query), lake.path("out/cte_twice"))


def recursive_cte(lake: SparkLake) -> None:
    lake.views()
    query = """
        WITH RECURSIVE under (emp_id, boss, paid) AS (
          SELECT emp_id, manager_id, salary FROM e WHERE manager_id IS NULL
          UNION ALL
          SELECT e.emp_id, under.emp_id, under.paid + e.bonus
          FROM e JOIN under ON e.manager_id = under.emp_id
        )
        SELECT * FROM under
    """
    write(lake.spark.sql(query), lake.path("out/recursive"))


def transposed(lake: SparkLake) -> None:
    write(lake.employees().select("dept", "salary").transpose(), lake.path("out/transposed"))


def c_append(lake: SparkLake) -> None:
    write(lake.employees().select("emp_id"), lake.path("out/append"))
    write(lake.attendance().select("emp_id"), lake.path("out/append"), "append")


def c_rollup(lake: SparkLake) -> None:
    grouped = lake.employees().rollup("dept", "manager_id").agg(f.sum("salary").alias("s"))
    write(grouped, lake.path("out/rollup"))


def c_explode(lake: SparkLake) -> None:
    each = lake.orders().select("id", f.explode("items").alias("it"))
    flat = each.select(
        "id",
        f.col("it.sku").alias("sku"),
        (f.col("it.qty") * f.col("it.price")).alias("amt"),
    )
    write(flat, lake.path("out/explode"))


def c_rdd_todf(lake: SparkLake) -> None:
    frame = lake.employees().rdd.map(lambda row: (row[0], row[1])).toDF(["a", "b"])
    write(frame, lake.path("out/rdd_toDF"))


def c_fail_plan(lake: SparkLake) -> None:
    write(lake.employees(), lake.path("curated/employees"), "errorifexists")


# --- jobs of our own ---------------------------------------------------------------------------


def partitioned(lake: SparkLake) -> None:
    writer = lake.employees().select("emp_id", "dept").write.partitionBy("dept")
    writer.mode("overwrite").option("partitionOverwriteMode", "dynamic").csv(
        lake.path("out/partitioned"), header=True
    )


def partitions_again(lake: SparkLake) -> None:
    """The first fills three partitions, each other touches some of them."""
    path = lake.path("out/partitions_again")
    rows = lake.spark.range(12).selectExpr(
        "id", "concat('d ', id % 3) AS day", "CAST(id % 2 AS INT) AS half"
    )
    lake.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        rows.write.partitionBy("day", "half").parquet(path)
        time.sleep(1.1)
        some = lake.spark.read.parquet(path).where("day = 'd 2' AND id > 5").localCheckpoint()
        some.write.mode("overwrite").partitionBy("day", "half").parquet(path)
        time.sleep(1.1)
        rows.where("id = 4").write.mode("append").partitionBy("day", "half").parquet(path)
        lake.spark.sql("DROP TABLE IF EXISTS by_day")
        lake.spark.sql(
            f"CREATE TABLE by_day (id BIGINT, day STRING, half INT) USING parquet "
            f"PARTITIONED BY (day, half) LOCATION '{path}'"
        )
        lake.spark.sql("MSCK REPAIR TABLE by_day")
        time.sleep(1.1)
        rows.createOrReplaceTempView("rows")
        lake.spark.sql(
            "INSERT OVERWRITE by_day PARTITION (day = 'd 0', half) "
            "SELECT id, half FROM rows WHERE id = 3"
        )
        time.sleep(1.1)
        rows.where("id < 0").write.mode("overwrite").partitionBy("day", "half").parquet(path)
        lake.spark.sql("DROP TABLE by_day")
    finally:
        lake.spark.conf.unset("spark.sql.sources.partitionOverwriteMode")


def inserts(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql("DROP TABLE IF EXISTS by_dept")
    lake.spark.sql("CREATE TABLE by_dept (id INT, dept STRING) USING parquet PARTITIONED BY (dept)")
    lake.spark.sql("INSERT INTO by_dept SELECT emp_id, dept FROM e")
    lake.spark.sql("INSERT OVERWRITE by_dept PARTITION (dept = 'HR') SELECT emp_id FROM e")
    lake.spark.sql("TRUNCATE TABLE by_dept")
    lake.spark.sql("DROP TABLE by_dept")


def drops(lake: SparkLake) -> None:
    """Of seven drops, two drop something; tables made at once afterwards prove nothing."""
    lake.spark.sql("DROP TABLE IF EXISTS there")
    lake.spark.sql("CREATE TABLE There (id INT) USING parquet")
    for _ in range(2):
        lake.spark.sql("DROP TABLE IF EXISTS there")
    lake.spark.sql("CREATE TABLE there_too (id INT) USING parquet")
    lake.spark.sql("DROP TABLE there_too")
    lake.spark.sql("DROP TABLE IF EXISTS there_too")
    lake.spark.sql("DROP TABLE IF EXISTS never_there")
    lake.spark.sql("DROP VIEW IF EXISTS no_view")


def append_to_table(lake: SparkLake) -> None:
    frame = lake.employees().select("emp_id")
    frame.write.mode("append").saveAsTable("appended")
    frame.write.mode("append").saveAsTable("appended")


def catalog_view(lake: SparkLake) -> None:
    lake.employees().write.mode("overwrite").saveAsTable("vt")
    lake.spark.sql("CREATE OR REPLACE VIEW v_emp AS SELECT emp_id id, upper(dept) d FROM vt")
    write(lake.spark.table("v_emp"), lake.path("out/view"))


def jdbc(lake: SparkLake) -> None:
    url = f"jdbc:derby:{lake.root}/database"
    secret = {"driver": DERBY_DRIVER, "user": "app", "password": "unsaid-word"}
    rows = lake.employees().select("emp_id", "dept")
    rows.write.mode("overwrite").jdbc(f"{url};create=true", "EMP", properties=secret)
    write(lake.spark.read.jdbc(url, "EMP", properties=secret), lake.path("out/from_jdbc"))
    query = lake.spark.read.format("jdbc").options(**secret, url=url)
    query = query.option("query", 'SELECT "emp_id" AS id FROM EMP').load()
    write(query, lake.path("out/from_jdbc_query"))


def subqueries(lake: SparkLake) -> None:
    lake.views()
    query = """
        SELECT emp_id, salary / (SELECT max(hours) FROM a WHERE status = 'P') AS share
        FROM e
        WHERE emp_id IN (SELECT emp_id FROM a WHERE hours > 1)
          AND EXISTS (SELECT 1 FROM e x WHERE x.manager_id = e.emp_id)
    """
    write(lake.spark.sql(query), lake.path("out/subqueries"))


def python_function(lake: SparkLake) -> None:
    shout = f.udf(lambda text: f"{text}!", "string")
    write(lake.employees().select(shout("dept").alias("loud")), lake.path("out/udf"))


def failing_function(lake: SparkLake) -> None:
    broken = f.udf(lambda _: 1 / 0, "double")
    write(lake.employees().select(broken("emp_id").alias("x")), lake.path("out/broken"))


def several_inserts(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql("DROP TABLE IF EXISTS high")
    lake.spark.sql("DROP TABLE IF EXISTS low")
    lake.spark.sql("CREATE TABLE high (id INT) USING parquet")
    lake.spark.sql("CREATE TABLE low (id INT) USING parquet")
    lake.spark.sql(
        "FROM e INSERT INTO high SELECT emp_id WHERE salary > 150 "
        "INSERT INTO low SELECT emp_id WHERE salary <= 150"
    )


def ignored(lake: SparkLake) -> None:
    write(lake.employees(), lake.path("curated/employees"), "ignore")


def only_read(lake: SparkLake) -> None:
    lake.employees().count()
    lake.employees().collect()
    lake.employees().write.format("noop").mode("overwrite").save()


def lateral(lake: SparkLake) -> None:
    lake.views()
    query = """
        SELECT e.emp_id, t.total FROM e,
        LATERAL (SELECT sum(hours) AS total FROM a WHERE a.emp_id = e.emp_id) t
    """
    write(lake.spark.sql(query), lake.path("out/lateral"))


def cached(lake: SparkLake) -> None:
    kept = lake.employees().where("salary > 150").select("emp_id", "dept").cache()
    kept.count()
    write(kept.groupBy("dept").agg(f.max("emp_id").alias("top")), lake.path("out/cached"))
    kept.unpersist()


def checkpointed(lake: SparkLake) -> None:
    rows = lake.employees().selectExpr("emp_id", "dept", "salary + bonus AS pay").localCheckpoint()
    rows = rows.where("pay > 0").localCheckpoint()
    units = rows.selectExpr("emp_id", "upper(dept) AS unit")
    both = rows.select("emp_id", "pay").join(units, "emp_id")
    write(both, lake.path("out/checkpointed"))


def frame_of_rdd(lake: SparkLake) -> None:
    rows = lake.employees().select("emp_id")
    write(lake.spark.createDataFrame(rows.rdd, rows.schema), lake.path("out/frame_of_rdd"))


def temporary_views(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql("CREATE OR REPLACE TEMP VIEW well_paid AS SELECT emp_id, salary s FROM e")
    write(lake.spark.sql("SELECT emp_id, s * 2 AS d FROM well_paid"), lake.path("out/temporary"))


def insert_by_name(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql("DROP TABLE IF EXISTS named")
    lake.spark.sql("CREATE TABLE named (dept STRING, id INT) USING orc")
    lake.spark.sql("INSERT INTO named BY NAME SELECT emp_id AS id, dept FROM e")
    lake.spark.sql("INSERT INTO named (id) SELECT emp_id FROM e")


def insert_directory(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql(
        f"INSERT OVERWRITE DIRECTORY '{lake.path('out/directory')}' USING json "
        "SELECT emp_id, upper(dept) AS dept FROM e"
    )


def table_over_jdbc(lake: SparkLake) -> None:
    lake.views()
    url = f"jdbc:derby:{lake.root}/database2"
    secret = {"driver": DERBY_DRIVER, "user": "app", "password": "unsaid-word"}
    rows = lake.employees().select("emp_id", "dept").limit(0)
    rows.write.mode("overwrite").jdbc(f"{url};create=true", "EMP", properties=secret)
    options = ", ".join(f"{name} '{value}'" for name, value in secret.items())
    lake.spark.sql("DROP TABLE IF EXISTS over_jdbc")
    lake.spark.sql(
        f"CREATE TABLE over_jdbc USING jdbc OPTIONS (url '{url}', dbtable 'EMP', {options})"
    )
    lake.spark.sql("INSERT INTO over_jdbc SELECT emp_id, dept FROM e")


def no_rows(lake: SparkLake) -> None:
    write(lake.employees().where("salary < 0"), lake.path("out/no_rows"))


def nested_fields(lake: SparkLake) -> None:
    picked = lake.orders().select("id", f.col("items.sku").alias("skus"), "customer.address.city")
    write(picked, lake.path("out/nested_fields"))


def structs(lake: SparkLake) -> None:
    """One job after another: a struct is built, copied, changed, collected, and read by field."""

    def path(name: str) -> str:
        return lake.path(f"out/structs/{name}")

    read = lake.spark.read.parquet
    person = f.struct("full_name", f.col("salary").alias("pay"))
    write(lake.employees().select("emp_id", "dept", person.alias("person")), path("packed"))
    write(read(path("packed")).where("emp_id > 0"), path("copied"))
    raised = f.col("person").withField("pay", f.col("emp_id") * 2)
    write(read(path("copied")).select(raised.alias("person")), path("raised"))
    people = f.collect_list("person").alias("people")
    write(read(path("copied")).groupBy("dept").agg(people), path("grouped"))
    one = read(path("grouped")).select(f.explode("people").alias("one"))
    write(one.select("one.full_name"), path("names"))
    write(one.select("one.pay"), path("pays"))
    write(read(path("raised")).select("person.full_name", "person.pay"), path("both"))
    write(read(path("copied")).select(f.to_json("person").alias("text")), path("text"))


def grouping_sets(lake: SparkLake) -> None:
    lake.views()
    query = """
        SELECT dept, manager_id, sum(salary) AS s FROM e
        GROUP BY GROUPING SETS ((dept), (manager_id), ())
    """
    write(lake.spark.sql(query), lake.path("out/grouping_sets"))


def unpivoted(lake: SparkLake) -> None:
    long = lake.employees().unpivot("emp_id", ["salary", "bonus"], "what", "amount")
    write(long, lake.path("out/unpivoted"))


# --- streams -----------------------------------------------------------------------------------


def _stream(lake: SparkLake) -> Any:
    reader = lake.spark.readStream.schema("emp_id int, day string, hours int, status string")
    return reader.option("header", True).csv(lake.path("raw/attendance"))


def _run(lake: SparkLake, name: str, writer: Any) -> None:
    query = writer.option("checkpointLocation", lake.path(f"checkpoints/{name}")).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def stream_to_files(lake: SparkLake) -> None:
    """Two batches, the second after a restart. Spark reads no file of a name that it has seen."""
    rows = _stream(lake).selectExpr("emp_id", "hours * 2 AS twice")
    for _ in range(2):
        more = lake.root / "data" / "raw" / "attendance" / f"{uuid.uuid4()}.csv"
        more.write_text("emp_id,day,hours,status\n7,2026-03-03,8,P\n")
        writer = rows.writeStream.format("parquet").option("path", lake.path("out/stream"))
        _run(lake, "files", writer)
        more.unlink()


def stream_to_function(lake: SparkLake) -> None:
    def keep(batch: Any, _: int) -> None:
        write(batch.selectExpr("emp_id", "hours AS h"), lake.path("out/stream_function"), "append")

    _run(lake, "function", _stream(lake).writeStream.foreachBatch(keep))


def stream_to_memory(lake: SparkLake) -> None:
    query = _stream(lake).writeStream.format("memory").queryName("kept_in_memory").start()
    query.processAllAvailable()
    query.stop()


def stream_that_fails(lake: SparkLake) -> None:
    broken = f.udf(lambda _: 1 / 0, "double")
    rows = _stream(lake).select(broken("emp_id").alias("x"))
    _run(lake, "fails", rows.writeStream.format("parquet").option("path", lake.path("out/fails")))


# --- Delta Lake --------------------------------------------------------------------------------


def _delta(lake: SparkLake) -> str:
    return f"delta.`{lake.path('delta/pay')}`"


def delta_write(lake: SparkLake) -> None:
    lake.views()
    rows = lake.employees().select("emp_id", "dept", "salary")
    for mode in ("overwrite", "append"):
        rows.write.format("delta").mode(mode).save(lake.path("delta/pay"))
    some = rows.where("dept = 'HR'").write.format("delta").mode("overwrite")
    some.option("replaceWhere", "dept = 'HR'").save(lake.path("delta/pay"))


def delta_merge(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql(f"""
        MERGE INTO {_delta(lake)} t
        USING (SELECT emp_id, salary AS pay, dept AS unit FROM e) s ON t.emp_id = s.emp_id
        WHEN MATCHED AND s.unit = 'HR' THEN UPDATE SET salary = t.salary + s.pay
        WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED THEN INSERT (emp_id, dept, salary) VALUES (s.emp_id, s.unit, s.pay)
    """)


def delta_update(lake: SparkLake) -> None:
    lake.spark.sql(f"UPDATE {_delta(lake)} SET salary = salary + emp_id WHERE dept = 'HR'")


def delta_delete(lake: SparkLake) -> None:
    lake.spark.sql(f"DELETE FROM {_delta(lake)} WHERE salary > 100")


def delta_table(lake: SparkLake) -> None:
    lake.views()
    lake.spark.sql("DROP TABLE IF EXISTS pay")
    lake.spark.sql("CREATE TABLE pay USING delta AS SELECT emp_id, salary FROM e")
    lake.spark.sql("INSERT INTO pay SELECT emp_id, bonus FROM e")
    lake.spark.sql("INSERT OVERWRITE pay SELECT emp_id, salary FROM e")
    lake.employees().select("emp_id", "salary").writeTo("pay").append()


def delta_generated(lake: SparkLake) -> None:
    """Three writes that leave the generated columns to Delta, and one that gives them."""
    lake.views()
    tables, session = lake.spark._jvm.io.delta.tables.DeltaTable, lake.spark._jsparkSession
    lake.spark.sql("DROP TABLE IF EXISTS generated")
    made = tables.create(session).tableName("generated")
    for name, text in (("id", ""), ("dept", ""), ("Twice", "id * 2"), ("both", "concat(id, dept)")):
        column = tables.columnBuilder(session, name)
        column = column.dataType("bigint" if name in {"id", "Twice"} else "string")
        made = made.addColumn((column.generatedAlwaysAs(text) if text else column).build())
    made.execute()
    rows = lake.employees().selectExpr("CAST(emp_id AS BIGINT) AS id", "dept")
    rows.createOrReplaceTempView("rows")
    lake.spark.sql("INSERT INTO generated (id, dept) SELECT id, dept FROM rows")
    rows.write.format("delta").mode("append").saveAsTable("generated")
    rows.write.format("delta").mode("append").save(str(lake.root / "warehouse" / "generated"))
    whole = rows.selectExpr("id", "dept", "id * 2 AS twice", "concat(id, dept) AS both")
    whole.write.format("delta").mode("append").saveAsTable("generated")
    stream = _stream(lake).selectExpr("CAST(emp_id AS BIGINT) AS id", "status AS dept")
    _run(lake, "generated", stream.writeStream.format("delta").option(
        "path", str(lake.root / "warehouse" / "generated")
    ))  # fmt: skip


def delta_stream(lake: SparkLake) -> None:
    writer = _stream(lake).select("emp_id", "hours").writeStream.format("delta")
    _run(lake, "delta", writer.option("path", lake.path("delta/stream")))


def delta_upserts(lake: SparkLake) -> None:
    """The usual upsert: a MERGE in a batch function, one batch of two reports."""
    place = f"delta.`{lake.path('delta/hours')}`"
    lake.spark.sql(f"CREATE TABLE {place} (emp_id INT, total INT) USING delta")

    def merge(batch: Any, _: int) -> None:
        batch.createOrReplaceTempView("batch")
        batch.sparkSession.sql(f"""
            MERGE INTO {place} t USING batch s ON t.emp_id = s.emp_id
            WHEN MATCHED THEN UPDATE SET total = t.total + s.total
            WHEN NOT MATCHED THEN INSERT *
        """)

    rows = _stream(lake).selectExpr("emp_id", "hours AS total")
    _run(lake, "upserts", rows.writeStream.foreachBatch(merge))


Job = Callable[[SparkLake], None]
JOBS: Final[dict[str, Job]] = {
    job.__name__: job
    for job in (
        a2_managers, a3_agg, drops, b_attendance_table, c_union, c_window, c_cte_twice, c_append,
        recursive_cte, transposed,
        c_rollup, c_explode, c_rdd_todf, c_fail_plan, partitioned, partitions_again, inserts,
        append_to_table, catalog_view, jdbc, subqueries, python_function, failing_function,
        several_inserts,
        ignored, only_read, lateral, cached, checkpointed, temporary_views, insert_by_name,
        insert_directory, table_over_jdbc, no_rows, nested_fields, structs, grouping_sets,
        unpivoted, frame_of_rdd,
        stream_to_files, stream_to_function, stream_to_memory, stream_that_fails,
    )
}  # fmt: skip
#: These need Delta's catalog.
DELTA_JOBS: Final[dict[str, Job]] = {
    job.__name__: job
    for job in (
        delta_write,
        delta_merge,
        delta_upserts,
        delta_update,
        delta_delete,
        delta_table,
        delta_stream,
        delta_generated,
    )
}
