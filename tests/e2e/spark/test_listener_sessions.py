"""Observations of sessions in a real Spark: their number, the rest of a closed one, those that a
Thrift server makes, and those of a job that is started by ``headwater observe -- spark-submit``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import spark_agent_config
from tests.e2e.spark.test_listener import python_of, run_driver
from tests.plan_reader import origins
from tests.ports import reserved_port
from tests.recording_server import recording_server

pytestmark = [pytest.mark.spark, pytest.mark.part("spark-3.5"), pytest.mark.timeout(600)]

_SCRIPT = """
import gc, json, logging, sys, time
from pyspark.sql import SparkSession
from spark_agent_config.listener import _executions as applications
from spark_agent_config.listener import observe

logging.basicConfig(level=logging.WARNING)
url, folder = sys.argv[1:]

def session():
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
    return builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()

def listeners(spark):
    of_streams = spark._jsparkSession.streams().listListeners()
    return [len(applications), len(of_streams)]

def proxies(spark):
    return len(spark.sparkContext._gateway.gateway_property.pool)

def freed(spark):
    for _ in range(180):
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
second = observe(other, url, spill="", job="two")
found["a new session is another"] = second is not first
spark.range(3).write.parquet(folder + "/one")
other.range(3).write.parquet(folder + "/two")
spark.newSession().range(3).write.parquet(folder + "/of nobody")
def write_batch(rows, _number):
    rows.write.parquet(folder + "/batch")

with open(folder + "/lines.txt", "w") as lines:
    lines.write("a\\n")
stream = other.readStream.schema("value string").text(folder + "/lines*").writeStream
stream = stream.foreachBatch(write_batch).trigger(availableNow=True)
stream.option("checkpointLocation", folder + "/checkpoint").start().awaitTermination()
first.close()
found["listeners of the other"] = [listeners(spark), listeners(other)]
other.range(3).write.parquet(folder + "/three")
spark.range(3).write.parquet(folder + "/not told")
spark.stop()

spark = session()
third = observe(spark, url, spill="")
found["a new context is another"] = third is not first and third is not second
for _ in range(900):
    if not second.active:
        break
    time.sleep(0.1)
found["the stopped one is closed"] = not second.active
many = ", ".join(map(str, range(100_001)))
spark.range(3).where(f"id IN ({many})").write.parquet(folder + "/four")
print(json.dumps(found))
"""
_EXPECTED: dict[str, Any] = {
    "listeners after cycles": [0, 0],
    "proxies are freed": True,
    "again is the same": True,
    "listeners of one": [1, 1],
    "a new session is another": True,
    "listeners of the other": [[1, 0], [1, 1]],
    "a new context is another": True,
    "the stopped one is closed": True,
}


@pytest.mark.parametrize("version", ["3.5", "4.1"])
def test_a_session_is_observed_once_and_a_closed_observation_leaves_nothing(
    version: str, tmp_path: Path
) -> None:
    with recording_server() as server:
        done = run_driver(version, _SCRIPT, server.url, tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == _EXPECTED
    told = [line for line in done.stderr.splitlines() if "spark_agent_config" in line]
    assert [line.partition("observed already; ")[2] for line in told] == ["job is ignored"], told
    jobs = {
        plan["operations"]["write"]["outputSource"]: plan.get("labels", {}).get("job")
        for plan in server.plans()
    }
    written = {
        **{name: ["one"] for name in ("one", "of nobody")},
        **{name: ["two"] for name in ("two", "batch", "three")},
        "four": None,
    }
    assert jobs == {f"file:{tmp_path}/{name}": job for name, job in written.items()}
    assert len(server.plans()) == len(jobs), "each query is reported once"
    gaps = {
        plan["operations"]["write"]["outputSource"].rpartition("/")[2]
        for plan in server.plans()
        if plan["operations"]["write"]["extra"].get("gaps")
    }
    assert gaps == {"four"}, "a plan of more parts than are copied is its tables"


_UNCHANGED = """
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
spark.range(3).write.parquet(sys.argv[2] + "/out")
"""


@pytest.mark.parametrize("version", ["3.5", "4.1"])
def test_a_job_that_is_not_changed_reports_its_write_when_python_starts_with_the_listener(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bootstrap = Path(spark_agent_config.__file__).parent / "bootstrap"
    start = f"import sys; sys.path.insert(0, {str(bootstrap)!r}); import sitecustomize\n"
    with recording_server() as server:
        monkeypatch.setenv("HEADWATER_URL", server.url)
        monkeypatch.setenv("HEADWATER_JOB", "nightly")
        done = run_driver(version, start + _UNCHANGED, server.url, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "Lineage" not in done.stderr
    assert [plan["labels"]["job"] for plan in server.plans()] == [["nightly"]]


_SUBMITTED: Final = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.range(3).write.parquet(sys.argv[1] + "/one")
other = spark.newSession()
rows = other.read.parquet(sys.argv[1] + "/one").selectExpr("id * 2 AS twice")
rows.write.parquet(sys.argv[1] + "/two")
sys.exit(3)
"""
_ROOT: Final = Path(__file__).parents[3]


@pytest.mark.parametrize("version", ["3.5", "4.1"])
def test_each_session_of_a_job_under_spark_submit_is_observed_and_its_status_is_kept(
    version: str, tmp_path: Path
) -> None:
    python = python_of(version)
    (tmp_path / "job.py").write_text(_SUBMITTED)
    settings = ("spark.ui.enabled=false", "spark.driver.host=127.0.0.1",
                "spark.driver.bindAddress=127.0.0.1")  # fmt: skip
    with recording_server() as server:
        done = subprocess.run(
            [sys.executable, "-m", "api.command_line", "observe", "--url", server.url,
             "--job", "nightly", "--",
             "spark-submit", "--master", "local[1]", *(w for s in settings for w in ("--conf", s)),
             "job.py", str(tmp_path)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
                 "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": str(python),
                 "PYSPARK_DRIVER_PYTHON": str(python)},
            timeout=240,
            check=False,
        )  # fmt: skip

    assert done.returncode == 3, done.stderr
    plans = {plan["operations"]["write"]["outputSource"]: plan for plan in server.plans()}
    one, two = f"file:{tmp_path}/one", f"file:{tmp_path}/two"
    assert set(plans) == {one, two}, done.stderr
    assert len(server.plans()) == len(server.events()) == 2
    assert {plan["labels"]["job"][0] for plan in plans.values()} == {"nightly"}
    assert origins(plans[two]) == {"twice": {f"{one}#id"}}


_THRIFT_SERVER: Final = """
import os, subprocess, sys
from pyspark.sql import SparkSession
from spark_agent_config.listener import observe

url, folder = sys.argv[1:]
port = os.environ["THRIFT_PORT"]
settings = {
    "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    "spark.hadoop.hive.server2.thrift.port": port,
    "spark.hadoop.hive.server2.enable.doAs": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}
builder = SparkSession.builder.master("local[1]").appName("thrift server")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
observe(spark, url, spill="", job="served")
spark.range(3).write.parquet(folder + "/orders")
thrift = spark._jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
server = thrift.startWithContext(spark._jsparkSession.sqlContext())
insert = f"INSERT OVERWRITE DIRECTORY '{folder}/one' USING parquet"
subprocess.run(
    ["beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}/", "-n", "anybody",
     "-e", f"{insert} SELECT id * 2 AS twice FROM parquet.`{folder}/orders`"],
    check=True, timeout=200, stdout=sys.stderr,
)
server.stop()
spark.stop()
"""


@pytest.mark.parametrize("version", ["3.5", "4.1"])
def test_a_session_that_a_thrift_server_makes_for_a_client_is_observed(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRIFT_PORT", str(reserved_port()))
    monkeypatch.setenv("PATH", str(python_of(version).parent), prepend=os.pathsep)
    with recording_server() as server:
        done = run_driver(version, _THRIFT_SERVER, server.url, tmp_path)

    assert done.returncode == 0, done.stderr
    plans = {plan["operations"]["write"]["outputSource"]: plan for plan in server.plans()}
    orders, one = f"file:{tmp_path}/orders", f"file:{tmp_path}/one"
    assert set(plans) == {orders, one}, done.stderr
    assert len(server.plans()) == len(server.events()) == 2
    assert {plan["labels"]["job"][0] for plan in plans.values()} == {"served"}
    assert origins(plans[one]) == {"twice": {f"{orders}#id"}}
