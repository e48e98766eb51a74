"""Records the Spark jobs of the page's sample: plans and events, as the listener reports them.

    python -m bench.page.recording            writes frontend/sample/spark.json anew (PySpark)

The jobs of a small web shop run on made-up rows in a temporary folder, each as an application of
its own with our listener, which writes to a file instead of a server. In what it wrote the folders
get the names that they have in the story (``file:/tmp/…/lake`` => ``s3://shop-lake``), and each job
gets the second of the day at which it begins. The page tells the record again with ids and days of
its own (``frontend/js/start/sample.js``); the jobs of other tools, which no listener sees, stand
beside it as events of OpenLineage (``frontend/sample/estate.json``).
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spark_agent_config.examples.lake import DRIVER, Lake, open_session
from spark_agent_config.listener import observe

NAMESPACE: Final = "sample"
#: The day of the record, which the page replaces by those that it tells of.
DAY: Final = "2026-01-05"
RECORD: Final = Path(__file__).parents[2] / "frontend" / "sample" / "spark.json"
_ORDERS: Final = 4_000
_SHOP: Final = "jdbc:postgresql://shop-db.example.org:5432/shop"
_TABLES: Final = ("orders", "order_lines", "customers")


@dataclass(frozen=True, slots=True)
class Shop:
    """The folders and the database of the shop while it is recorded."""

    lake: Lake

    def path(self, name: str) -> str:
        return str(self.lake.root / "lake" / name)

    @property
    def rates(self) -> str:
        return str(self.lake.root / "landing" / "rates" / "ecb_daily")

    @property
    def database(self) -> str:
        return f"jdbc:derby:{self.lake.root / 'database' / 'shop'}"

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """What is written here, and the name that it has in the story."""
        root = self.lake.root
        return (
            (f"file:{root}/lake/", "s3://shop-lake/"),
            (f"{root}/lake/", "s3://shop-lake/"),
            (f"file:{root}/landing/", "s3://shop-landing/"),
            (f"{root}/landing/", "s3://shop-landing/"),
            (self.database, _SHOP),
            (DRIVER, "org.postgresql.Driver"),
        )


@dataclass(frozen=True, slots=True)
class Job:
    """``reads`` and ``writes``: folders of the lake. ``sql`` reads views named as the last part of
    each folder; without it the table of the database called ``table`` is copied. ``days``: those of
    the story on which this version ran (from the first day, before the last), None: all.
    """

    name: str
    began_seconds: int
    seconds: int
    writes: str
    sql: str = ""
    table: str = ""
    reads: tuple[str, ...] = ()
    partition: str = ""
    days: tuple[int, int] | None = None


_ORDER_ITEMS: Final = """
SELECT o.order_id, o.customer_id, CAST(o.ordered_at AS DATE) AS ordered_on, l.sku, l.quantity,
       CAST(l.quantity * l.unit_price AS DECIMAL(14, 2)) AS amount,
       CAST(l.quantity * l.unit_price * r.rate_eur AS DECIMAL(14, 2)) AS amount_eur, o.status
FROM orders o JOIN order_lines l ON o.order_id = l.order_id
JOIN ecb_daily r ON r.currency = o.currency
WHERE o.status <> 'draft'
"""
_CUSTOMERS: Final = """
SELECT customer_id, sha2(lower(email), 256) AS email_hash, country,
       CAST(registered_at AS DATE) AS first_seen_on
FROM customers
"""
_SESSIONS: Final = """
SELECT c.session_id, c.customer_id, min(c.clicked_at) AS started_at, max(c.clicked_at) AS ended_at,
       CAST(count(c.page) AS INT) AS pages, {bought} AS bought
FROM clicks c LEFT JOIN order_items i
  ON i.customer_id = c.customer_id AND i.ordered_on = CAST(c.clicked_at AS DATE)
GROUP BY c.session_id, c.customer_id
"""
_FEATURES: Final = """
WITH recent AS (
  SELECT customer_id, max(ordered_on) AS last_order_on, count(DISTINCT order_id) AS orders_90d,
         CAST(sum(amount_eur) AS DECIMAL(16, 2)) AS revenue_90d
  FROM order_items WHERE ordered_on > date_sub(DATE'2026-01-05', 90) GROUP BY customer_id)
SELECT c.customer_id, datediff(DATE'2026-01-05', r.last_order_on) AS days_since_order,
       coalesce(r.orders_90d, 0) AS orders_90d, r.revenue_90d,
       count(DISTINCT s.session_id) AS sessions_30d
FROM customers c LEFT JOIN recent r ON r.customer_id = c.customer_id
LEFT JOIN sessions s
  ON s.customer_id = c.customer_id AND s.started_at > TIMESTAMP'2026-01-05 00:00:00'
GROUP BY c.customer_id, r.last_order_on, r.orders_90d, r.revenue_90d
"""

JOBS: Final = (
    Job("ingest_orders", 3_900, 48, f"raw/orders/day={DAY}", table="orders"),
    Job("ingest_order_lines", 3_960, 73, "raw/order_lines", table="order_lines"),
    Job("ingest_customers", 4_020, 31, "raw/customers", table="customers"),
    Job("curate_order_items", 4_800, 126, "curated/order_items", _ORDER_ITEMS,
        reads=("raw/orders", "raw/order_lines", "ecb_daily"), partition="ordered_on"),
    Job("curate_customers", 4_920, 54, "curated/customers", _CUSTOMERS, reads=("raw/customers",)),
    Job("sessionise", 5_400, 402, "curated/sessions",
        _SESSIONS.format(bought="max(i.order_id) IS NOT NULL"),
        reads=("raw/clicks", "curated/order_items"), days=(0, 5)),
    Job("sessionise", 5_400, 431, "curated/sessions",
        _SESSIONS.format(bought="CAST(max(i.order_id) IS NOT NULL AS DECIMAL(1, 0))"),
        reads=("raw/clicks", "curated/order_items"), days=(5, 6)),
    Job("churn_features", 6_900, 201, "features/churn", _FEATURES,
        reads=("curated/order_items", "curated/sessions", "curated/customers")),
)  # fmt: skip


def record(root: Path) -> list[dict[str, Any]]:
    """The jobs, run below ``root`` (absolute), in the order of JOBS."""
    shop = Shop(Lake(root))
    _run(shop, "fill the shop", None, lambda spark: _fill(spark, shop))
    return [_recorded(shop, job, number) for number, job in enumerate(JOBS)]


def _recorded(shop: Shop, job: Job, number: int) -> dict[str, Any]:
    lines = shop.lake.root / f"{number}.ndjson"
    _run(shop, job.name, lines, lambda spark: _write(spark, shop, job))
    text = lines.read_text("utf-8")
    for here, name in shop.names:
        text = text.replace(here, name)
    said = [json.loads(line) for line in text.splitlines()]
    (plan,) = [line["body"] for line in said if line["kind"] == "plan"]
    (event,) = [line["body"] for line in said if line["kind"] == "event"]
    event["extra"].pop("user", None)
    days = {} if job.days is None else {"days": list(job.days)}
    return {
        "job": job.name, "beganSeconds": job.began_seconds, "seconds": job.seconds, **days,
        "plan": plan, "event": event,
    }  # fmt: skip


def _run(shop: Shop, name: str, lines: Path | None, act: Callable[[Any], None]) -> None:
    """An application; ``lines``: the file of its documents."""
    spark = open_session(name, shop.lake)
    try:
        if lines is None:
            act(spark)
            return
        observation = observe(spark, f"file:{lines}", namespace=NAMESPACE, job=name)
        act(spark)
        observation.flush()
    finally:
        spark.stop()


def _write(spark: Any, shop: Shop, job: Job) -> None:
    if job.table:
        rows = spark.read.jdbc(shop.database, f"shop.{job.table}", properties={"driver": DRIVER})
        rows.write.mode("overwrite").parquet(shop.path(job.writes))
        return
    for folder in job.reads:
        name = folder.rpartition("/")[2]
        path = shop.rates if name == "ecb_daily" else shop.path(folder)
        spark.read.parquet(path).createOrReplaceTempView(name)
    writer = spark.sql(job.sql).write.mode("overwrite")
    (writer.partitionBy(job.partition) if job.partition else writer).parquet(shop.path(job.writes))


def _fill(spark: Any, shop: Shop) -> None:
    """The tables and folders that the jobs begin with."""
    _create_schema(spark, shop)
    for name, rows in _beginnings(spark):
        if name in _TABLES:
            rows.write.jdbc(shop.database, f"shop.{name}", properties={"driver": DRIVER})
        else:
            rows.write.parquet(shop.rates if name == "ecb_daily" else shop.path(name))


def _create_schema(spark: Any, shop: Shop) -> None:
    spark._jvm.java.lang.Class.forName(DRIVER)
    manager = spark._jvm.java.sql.DriverManager
    connection = manager.getConnection(f"{shop.database};create=true")
    try:
        connection.createStatement().execute("CREATE SCHEMA shop")
    finally:
        connection.close()


def _beginnings(spark: Any) -> Iterator[tuple[str, Any]]:
    day = f"TIMESTAMP'{DAY} 00:00:00'"
    for name, rows, columns in (
        ("orders", _ORDERS, (
            "id AS order_id", "id % 900 AS customer_id",
            f"{day} - make_interval(0, 0, 0, int(id % 60), int(id % 24)) AS ordered_at",
            "CASE WHEN id % 40 = 0 THEN 'draft' WHEN id % 9 = 0 THEN 'cancelled'"
            " ELSE 'paid' END AS status",
            "element_at(array('EUR', 'USD', 'GBP'), int(id % 3) + 1) AS currency")),
        ("order_lines", 3 * _ORDERS, (
            "id DIV 3 AS order_id", "int(id % 3) AS line_no", "concat('SKU-', id % 400) AS sku",
            "int(id % 4) + 1 AS quantity", "CAST(5 + id % 95 AS DECIMAL(12, 2)) AS unit_price")),
        ("customers", 900, (
            "id AS customer_id", "concat('reader', id, '@example.org') AS email",
            "concat('Customer ', id) AS full_name",
            "element_at(array('DE', 'FR', 'NL', 'US'), int(id % 4) + 1) AS country",
            f"{day} - make_interval(0, 0, 0, int(id)) AS registered_at")),
        ("raw/clicks", 9_000, (
            "concat('s', id DIV 6) AS session_id", "(id DIV 6) % 900 AS customer_id",
            "concat('SKU-', id % 400) AS sku",
            f"{day} - make_interval(0, 0, 0, int(id % 30), 0, int(id % 6)) AS clicked_at",
            "concat('/p/', id % 400) AS page")),
        ("ecb_daily", 3, (
            f"DATE'{DAY}' AS day",
            "element_at(array('EUR', 'USD', 'GBP'), int(id) + 1) AS currency",
            "CAST(1 - id * 0.07 AS DECIMAL(18, 8)) AS rate_eur")),
    ):  # fmt: skip
        yield name, spark.range(rows).selectExpr(*columns)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page.recording", description=__doc__)
    parser.add_argument("--to", type=Path, default=RECORD, help="the file (default: %(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        recorded = record(Path(folder).resolve())
    text = json.dumps(recorded, ensure_ascii=False, separators=(",", ":"))
    left = re.findall(r"(?:file:/|/tmp/|jdbc:derby)[^\"]*", text)
    if left:
        raise SystemExit(f"folders of this machine are left in the record: {left[:3]}")
    options.to.write_text(text + "\n", "utf-8")
    print(f"{len(recorded)} jobs, {len(text):,} characters: {options.to}")


if __name__ == "__main__":
    main()
