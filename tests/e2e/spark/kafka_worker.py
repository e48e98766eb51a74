"""A process that writes to a Kafka broker and reads from it with Spark, the listener on.

    python -m tests.e2e.spark.kafka_worker ROOT SERVERS JAR…

writes ``ROOT/reports.json``: ``{job: {"error": null, "documents": [{"kind", "body"}, …]}}``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from spark_agent_config.listener import observe
from tests.e2e.spark.table_format_worker import lines_of

_ORDER: Final = "id long, unit string, price struct<amount: double, currency: string>"


class Jobs:
    """Each public method is a job; they run in this order."""

    def __init__(self, spark: Any, root: Path, servers: str) -> None:
        self._spark = spark
        self._root = root
        self._servers = servers

    def made(self) -> None:
        amount = "named_struct('amount', id * 1.5D, 'currency', 'EUR') price"
        rows = self._spark.range(4).selectExpr("id", "concat('u', id % 2) unit", amount)
        rows.write.parquet(f"{self._root}/made")

    def sent(self) -> None:
        rows = self._spark.read.parquet(f"{self._root}/made").selectExpr(
            "cast(id AS string) AS key", "to_json(struct(id, unit, price)) AS value"
        )
        self._to_kafka(rows.write, "orders").save()

    def received(self) -> None:
        self._orders(self._spark.read).write.parquet(f"{self._root}/received")

    def received_by_a_stream(self) -> None:
        stream = self._orders(self._spark.readStream).writeStream.format("parquet")
        self._run(stream.option("path", f"{self._root}/streamed"), "streamed")

    def passed_on(self) -> None:
        rows = self._orders(self._spark.readStream).selectExpr(
            "key", "to_json(named_struct('unit', unit, 'cents', amount * 100)) AS value"
        )
        self._run(self._to_kafka(rows.writeStream, "cents"), "passed_on")

    def by_the_clock(self) -> None:
        """A rate source ends by itself never: the query is stopped after its first rows."""
        rows = self._spark.readStream.format("rate").option("rowsPerSecond", 20).load()
        stream = rows.selectExpr("value * 2 AS twice", "timestamp").writeStream.format("parquet")
        self._run(stream.option("path", f"{self._root}/ticks"), "ticks", ends=False)

    def each_row(self) -> None:
        rows = self._spark.readStream.schema(_ORDER).parquet(f"{self._root}/made")
        self._run(rows.writeStream.foreach(_nothing), "each_row")

    def of_each_batch(self) -> None:
        """The usual way into a table: an append inside ``foreachBatch``."""
        place = f"{self._root}/batches"
        rows = self._orders(self._spark.readStream).writeStream
        self._run(
            rows.foreachBatch(lambda batch, _: batch.write.mode("append").parquet(place)), "batches"
        )

    def _orders(self, reader: Any) -> Any:
        rows = self._from_kafka(reader, "orders").load()
        order = f"from_json(cast(value AS string), '{_ORDER}') AS o"
        parsed = rows.selectExpr("cast(key AS string) AS key", order, "timestamp AS sent_at")
        return parsed.selectExpr("key", "o.id", "o.unit", "o.price.amount AS amount", "sent_at")

    def _from_kafka(self, reader: Any, topic: str) -> Any:
        named = reader.format("kafka").option("kafka.bootstrap.servers", self._servers)
        return named.option("subscribe", topic).option("startingOffsets", "earliest")

    def _to_kafka(self, writer: Any, topic: str) -> Any:
        named = writer.format("kafka").option("kafka.bootstrap.servers", self._servers)
        return named.option("topic", topic)

    def _run(self, writer: Any, name: str, *, ends: bool = True) -> None:
        kept = writer.option("checkpointLocation", f"{self._root}/checkpoints/{name}")
        query = (kept.trigger(availableNow=True) if ends else kept).start()
        if ends:
            query.awaitTermination(120)
        while not ends and query.isActive and not _rows(query):
            query.awaitTermination(1)
        query.stop()


def _rows(query: Any) -> int:
    progress = query.lastProgress
    return int(progress["numInputRows"]) if progress else 0


def _nothing(_: Any) -> None:
    """A writer of single rows."""


def main(arguments: Sequence[str]) -> None:
    from pyspark.sql import SparkSession

    folder, servers, *jars = arguments
    root = Path(folder)
    told = root / "told.ndjson"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "1",
        "spark.jars": ",".join(jars),
    }
    builder = SparkSession.builder.master("local[1]").appName("topics")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    observation = observe(spark, f"file:{told}", namespace="tests", spill="")
    jobs = Jobs(spark, root, servers)
    reports: dict[str, dict[str, Any]] = {}
    for name in (name for name in vars(Jobs) if not name.startswith("_")):
        before = len(lines_of(told))
        error = _error_of(getattr(jobs, name))
        assert observation.flush(60)
        reports[name] = {"error": error, "documents": lines_of(told)[before:]}
    observation.close()
    (root / "reports.json").write_text(json.dumps(reports), "utf-8")
    spark.stop()


def _error_of(job: Callable[[], None]) -> str | None:
    try:
        job()
    except Exception as error:
        return str(error).split("\n", 1)[0]
    return None


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main(sys.argv[1:])
