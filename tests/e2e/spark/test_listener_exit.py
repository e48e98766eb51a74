"""However a real driver ends, the write before it is reported, and its exit code is its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.e2e.spark.test_listener import PATIENT_END, in_parts, run_driver
from tests.recording_server import recording_server

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

_JOB = """
import signal, sys
from pyspark.sql import SparkSession
from spark_agent_config.listener import observe

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
if "Slow" in globals():
    ensure_callback_server_started(spark.sparkContext._gateway)
    spark._jsparkSession.listenerManager().register(Slow())
observation = observe(spark, sys.argv[1], spill=sys.argv[2] + "/spill")
"""
_WRITE = """
spark.range(3).write.parquet(sys.argv[2] + "/out")
"""
#: A listener in front of ours, which holds up Spark's bus until the gate opens. ``reached``: the
#: bus has begun with the query, and will tell all listeners that it had at that moment.
_SLOW = """
import atexit, threading
from pyspark.java_gateway import ensure_callback_server_started

gate, reached = threading.Event(), threading.Event()

class Slow:
    def onSuccess(self, *_):
        reached.set()
        gate.wait(200)

    def onFailure(self, *_):
        gate.wait(200)

    class Java:
        implements = ["org.apache.spark.sql.util.QueryExecutionListener"]
"""
_LATE = """
import time

assert reached.wait(200)
answers = [observation.flush(0.2), observation.close(0.2)]
gate.set()
for _ in range(600):
    if observation.counts().kept:
        break
    time.sleep(0.1)
print(*answers, observation.counts().kept)
"""
_ENDINGS = {
    "returns": ("", 0),
    "stops Spark": ("spark.stop()", 0),
    "raises": ("raise ValueError('the job')", 1),
    "sys.exit": ("sys.exit(3)", 3),
    "Ctrl-C": ("signal.raise_signal(signal.SIGINT)", -2),
    "loses its JVM": ("spark._jvm.System.exit(0)", 1),
}


def _further(*endings: str) -> list[ParameterSet]:
    """Endings that only ``make test-all`` tries."""
    return [pytest.param(how, marks=pytest.mark.part("spark-3.5")) for how in endings]


@pytest.mark.parametrize("how", ["loses its JVM", *_further(*list(_ENDINGS)[:-1])])
def test_a_driver_that_ends_has_reported_its_write(tmp_path: Path, how: str) -> None:
    ending, code = _ENDINGS[how]
    with recording_server() as server:
        done = run_driver("3.5", PATIENT_END + _JOB + _WRITE + ending, server.url, tmp_path)

    assert done.returncode == code, done.stderr
    assert (len(server.plans()), len(server.events())) == (1, 1), done.stderr
    assert "Lineage" not in done.stderr, "nothing is left to tell"


@pytest.mark.parametrize("how", ["sys.exit", *_further("returns", "stops Spark", "raises")])
def test_a_driver_that_ends_waits_for_a_slow_listener_of_another(tmp_path: Path, how: str) -> None:
    """Spark's bus is held up until the exit has begun."""
    ending, code = _ENDINGS[how]
    opening = "threading.Timer(1, gate.set).start()" if how == "stops Spark" else ""
    with recording_server() as server:
        job = (
            PATIENT_END
            + _SLOW
            + _JOB
            + "atexit.register(gate.set)\n"
            + _WRITE
            + opening
            + "\n"
            + ending
        )
        done = run_driver("3.5", job, server.url, tmp_path)

    assert done.returncode == code, done.stderr
    assert (len(server.plans()), len(server.events())) == (1, 1), done.stderr
    assert "Lineage" not in done.stderr


@pytest.mark.part("spark-3.5")
def test_a_job_that_fails_is_reported_as_failed_also_over_a_slow_bus(tmp_path: Path) -> None:
    failing = "spark.sql(\"select raise_error('no')\").write.parquet(sys.argv[2] + '/out')\n"
    with recording_server() as server:
        job = PATIENT_END + _SLOW + _JOB + "atexit.register(gate.set)\n" + failing
        done = run_driver("3.5", job, server.url, tmp_path)

    assert done.returncode == 1
    (event,) = server.events()
    assert event["error"], done.stderr


@pytest.mark.parametrize("version", ["3.5", *in_parts("4.0", "4.1")])
def test_a_bus_that_is_not_empty_in_time_is_warned_about_and_the_exit_code_is_the_jobs(
    version: str, tmp_path: Path
) -> None:
    with recording_server() as server:
        done = run_driver(version, _SLOW + _JOB + _WRITE + "sys.exit(3)", server.url, tmp_path)

    assert done.returncode == 3, done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if line.startswith("Lineage")]
    assert warning.startswith("Lineage of the last queries may be lost: Spark had not reported")
    assert server.plans() == []


@pytest.mark.parametrize("version", in_parts("3.5", "4.0", "4.1"))
def test_a_query_that_spark_reports_after_closing_is_in_the_spill_folder(
    version: str, tmp_path: Path
) -> None:
    with recording_server() as server:
        done = run_driver(version, _SLOW + _JOB + _WRITE + _LATE, server.url, tmp_path)

    assert (done.returncode, done.stdout) == (0, "False False 1\n"), done.stderr
    assert "Spark reported a query after the observation was closed" in done.stderr
    assert server.plans() == []
    (path,) = (tmp_path / "spill").iterdir()
    assert path.suffix == ".ndjson"
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["plan", "event"]
