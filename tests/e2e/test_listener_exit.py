"""However a real driver ends, the write before it is reported, and its exit code is its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recording_server import recording_server

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
_JOB = """
import signal, sys
from pyspark.sql import SparkSession
from spark_agent_config.listener import observe

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
observe(spark, sys.argv[1], spill=sys.argv[2] + "/spill")
spark.range(3).write.parquet(sys.argv[2] + "/out")
"""
_ENDINGS = {
    "returns": ("", 0),
    "stops Spark": ("spark.stop()", 0),
    "raises": ("raise ValueError('the job')", 1),
    "sys.exit": ("sys.exit(3)", 3),
    "Ctrl-C": ("signal.raise_signal(signal.SIGINT)", -2),
    "loses its JVM": ("spark._jvm.System.exit(0)", 1),
}


@pytest.mark.parametrize("how", _ENDINGS)
def test_a_driver_that_ends_has_reported_its_write(tmp_path: Path, how: str) -> None:
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")
    pytest.importorskip("pyspark")
    ending, code = _ENDINGS[how]
    with recording_server() as server:
        done = subprocess.run(
            [sys.executable, "-c", _JOB + ending, server.url, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=240,
            cwd=ROOT,
            check=False,
        )

    assert done.returncode == code, done.stderr
    assert (len(server.plans()), len(server.events())) == (1, 1), done.stderr
    assert "Lineage" not in done.stderr, "nothing is left to tell"
