"""A client of Spark Connect: its session has no JVM; the server that it starts has OpenLineage's.

    python connect_client.py JAR FOLDER    properties of the server as JSON on standard input

Prints, as JSON, whether ``observe`` was active in the client, and its messages.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys

from pyspark.sql import SparkSession

from spark_agent_config.listener import observe


def main(jar: str, folder: str) -> None:
    """Two writes; the second reads the table of the first."""
    builder = SparkSession.builder.remote("local[1]").appName("orders over connect")
    server = {"spark.jars": jar, "spark.ui.enabled": "false", **json.load(sys.stdin)}
    for name, value in server.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    said = io.StringIO()
    logging.basicConfig(stream=said)
    with contextlib.redirect_stderr(said):
        observation = observe(spark, "http://127.0.0.1:9/producer")
    orders = spark.createDataFrame([(1, "a"), (2, "b")], "id int, name string")
    orders.write.mode("overwrite").parquet(f"{folder}/orders")
    loud = spark.read.parquet(f"{folder}/orders").selectExpr("id", "upper(name) AS loud")
    loud.write.mode("overwrite").parquet(f"{folder}/loud")
    spark.stop()
    print(json.dumps({"active": observation.active, "said": said.getvalue()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
