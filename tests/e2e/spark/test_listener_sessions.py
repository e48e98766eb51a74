"""Observations of sessions in a real Spark: their number, and the rest of a closed one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.spark.test_listener import run_driver
from tests.recording_server import recording_server

pytestmark = [pytest.mark.spark, pytest.mark.part("spark-3.5"), pytest.mark.timeout(400)]

_SCRIPT = """
import gc, json, logging, sys, time
from pyspark.sql import SparkSession
from spark_agent_config.listener import observe

logging.basicConfig(level=logging.WARNING)
url, folder = sys.argv[1:]

def session():
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
    return builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()

def listeners(spark):
    of_queries = spark._jsparkSession.listenerManager().listListeners()
    of_streams = spark._jsparkSession.streams().listListeners()
    return [len(of_queries), len(of_streams)]

def proxies(spark):
    return len(spark.sparkContext._gateway.gateway_property.pool)

def freed(spark):
    for _ in range(60):
        gc.collect()
        spark._jvm.System.gc()
        if proxies(spark) == 0:
            return True
        time.sleep(0.5)
    return False

spark = session()
found = {}
for _ in range(12):
    observation = observe(spark, url, spill="", job="cycle")
    observation.close()
found["listeners after cycles"] = listeners(spark)
found["proxies are freed"] = freed(spark)

first = observe(spark, url, spill="", job="one")
again = [
    observe(spark),
    observe(session()),
    observe(SparkSession(spark.sparkContext, spark._jsparkSession)),
    observe(spark, url, job="one"),
    observe(spark, job="two"),
    observe(spark, job="two"),
]
found["again is the same"] = all(observation is first for observation in again)
found["listeners of one"] = listeners(spark)
other = spark.newSession()
second = observe(other, url, spill="")
found["a new session is another"] = second is not first
spark.range(3).write.parquet(folder + "/one")
other.range(3).write.parquet(folder + "/two")
first.close()
found["listeners of the other"] = [listeners(spark), listeners(other)]
other.range(3).write.parquet(folder + "/three")
spark.range(3).write.parquet(folder + "/not told")
spark.stop()

spark = session()
third = observe(spark, url, spill="")
found["a new context is another"] = third is not first and third is not second
for _ in range(100):
    if not second.active:
        break
    time.sleep(0.1)
found["the stopped one is closed"] = not second.active
spark.range(3).write.parquet(folder + "/four")
print(json.dumps(found))
"""
_EXPECTED: dict[str, Any] = {
    "listeners after cycles": [0, 0],
    "proxies are freed": True,
    "again is the same": True,
    "listeners of one": [1, 1],
    "a new session is another": True,
    "listeners of the other": [[0, 0], [1, 1]],
    "a new context is another": True,
    "the stopped one is closed": True,
}


@pytest.mark.parametrize("version", ["3.5", "4.1"])
def test_a_session_is_observed_once_and_a_closed_observation_leaves_nothing(
    version: str, tmp_path: Path
) -> None:
    with recording_server() as server:
        done = run_driver(version, _SCRIPT, server.url, tmp_path, seconds=350)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == _EXPECTED
    told = [line for line in done.stderr.splitlines() if "spark_agent_config" in line]
    assert [line.partition("observed already; ")[2] for line in told] == ["job is ignored"], told
    places = [plan["operations"]["write"]["outputSource"] for plan in server.plans()]
    assert sorted(places) == sorted(f"file:{tmp_path}/{n}" for n in ("one", "two", "three", "four"))
