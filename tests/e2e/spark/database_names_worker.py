"""A process that writes and reads one PostgreSQL table under several names, with the listener on.

    python -m tests.e2e.spark.database_names_worker ROOT JDBC_URL DRIVER_JAR

writes ``ROOT/told.ndjson``, and a folder ``ROOT/out/NAME`` for each name in ``READS``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from spark_agent_config.listener import observe
from tests.e2e.spark.listener_worker import open_session

#: Name of a job => how it reads the table that was written as ``t1``.
READS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "with_schema": lambda spark, url: _table(spark, url, "public.t1"),
    "quoted": lambda spark, url: _table(spark, url, '"public"."t1"'),
    "short": lambda spark, url: _table(spark, url, "t1"),
    "query": lambda spark, url: _table(spark, url, "(SELECT id FROM t1) AS q"),
    "query_with_schema": lambda spark, url: _query(spark, url, "SELECT id FROM public.t1"),
    "said_in_the_url": lambda spark, url: _table(spark, f"{url}&currentSchema=public", "t1"),
    "catalog": lambda spark, _: spark.table("pg.public.t1"),
}


def _reader(spark: Any, url: str) -> Any:
    return spark.read.format("jdbc").option("url", url).option("driver", "org.postgresql.Driver")


def _table(spark: Any, url: str, table: str) -> Any:
    return _reader(spark, url).option("dbtable", table).load()


def _query(spark: Any, url: str, text: str) -> Any:
    return _reader(spark, url).option("query", text).load()


def _write(frame: Any, url: str, table: str) -> None:
    options = {"driver": "org.postgresql.Driver"}
    frame.write.mode("append").jdbc(url, table, properties=options)


def main(arguments: Sequence[str]) -> None:
    root, url, driver = Path(arguments[0]), arguments[1], arguments[2]
    spark = open_session(root, [driver])
    catalog = "spark.sql.catalog.pg"
    spark.conf.set(catalog, "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    spark.conf.set(f"{catalog}.url", url)
    spark.conf.set(f"{catalog}.driver", "org.postgresql.Driver")
    observation = observe(spark, f"file:{root}/told.ndjson", namespace="tests", spill="")
    spark.range(3).write.parquet(f"{root}/source")
    _write(spark.read.parquet(f"{root}/source"), url, "t1")
    _write(spark.range(3), f"{url}&currentSchema=other", "t1")
    for name, read in READS.items():
        read(spark, url).write.parquet(f"{root}/out/{name}")
    assert observation.flush(60)
    observation.close()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
