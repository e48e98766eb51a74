"""Spark Connect: what OpenLineage's client on the server reports of the writes of clients, and what
our listener in the Python driver of a server does.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from spark_agent_config.configuration import ClientTarget, spark_properties
from tests.e2e.service import RunningHeadwater
from tests.e2e.spark.spark_jars import openlineage_jar
from tests.e2e.spark.test_listener import python_of, run_driver
from tests.plan_reader import origins
from tests.ports import reserved_port
from tests.recording_server import recording_server

pytestmark = [pytest.mark.spark, pytest.mark.part("connect"), pytest.mark.timeout(600)]
_ROOT: Final = Path(__file__).parents[3]


def _run_client(folder: Path, url: str) -> dict[str, Any]:
    target = ClientTarget(url, "connect")
    done = subprocess.run(
        [str(python_of("4.1")), "-m", "tests.e2e.spark.connect_client",
         openlineage_jar(os.environ, "2.13"), str(folder)],
        input=json.dumps(spark_properties(target)),
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        timeout=500,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return said


def test_a_client_of_spark_connect_reports_by_way_of_its_server(tmp_path: Path) -> None:
    server = RunningHeadwater(tmp_path / "data")
    server.start()
    try:
        said = _run_client(tmp_path, server.url)
        server.await_projected()
        answer = server.get(
            "/graph/lineage",
            node=f"dataset:file:{tmp_path}/loud",
            direction="upstream",
            columns="true",
        )
    finally:
        server.stop()
    assert said["active"] is False
    assert said["said"].count("Spark Connect") == 1
    names = {
        node.get("uri", node["label"]) for node in answer["nodes"] if node["kind"] == "dataset"
    }
    assert f"file:{tmp_path}/orders" in names
    columns = {node["id"]: node["name"] for node in answer["nodes"] if node["kind"] == "column"}
    flows = {
        (columns[edge["from"]], columns[edge["to"]], edge["how"])
        for edge in answer["edges"]
        if edge["from"] in columns and edge["to"] in columns and edge.get("how")
    }
    assert {("id", "id", "IDENTITY"), ("name", "loud", "TRANSFORMATION")} <= flows


_CLIENT: Final = """
import sys
from pyspark.sql import SparkSession

address, folder = sys.argv[1:]
first = SparkSession.builder.remote(address).create()
second = SparkSession.builder.remote(address).create()
assert first.session_id != second.session_id
rows = first.createDataFrame([(1, 'a')], 'id int, name string')
rows.write.parquet(folder + '/orders')
first.read.parquet(folder + '/orders').selectExpr('id * 2 AS twice').write.parquet(folder + '/one')
read = second.read.parquet(folder + '/orders')
read.selectExpr('upper(name) AS loud').write.parquet(folder + '/two')
first.stop()
second.stop()
"""
_SERVER: Final = """
import os, subprocess, sys
from pyspark.sql import SparkSession
from spark_agent_config.listener import observe

url, folder = sys.argv[1:]
address, client = os.environ["CONNECT_ADDRESS"], os.environ["CONNECT_CLIENT"]
builder = SparkSession.builder.master("local[1]").appName("connect server")
settings = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": address.rpartition(":")[2],
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
observe(spark, url, spill="", job="served")
subprocess.run([sys.executable, "-c", client, address, folder], check=True, timeout=300)
spark.range(2).write.parquet(folder + "/own")
spark.stop()
"""


def test_the_listener_of_a_server_reports_the_sessions_of_its_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write once, with its columns, under the job of the server."""
    monkeypatch.setenv("CONNECT_ADDRESS", f"sc://127.0.0.1:{reserved_port()}")
    monkeypatch.setenv("CONNECT_CLIENT", _CLIENT)
    with recording_server() as server:
        done = run_driver("4.1", _SERVER, server.url, tmp_path, seconds=500)

    assert done.returncode == 0, done.stderr
    written = {plan["operations"]["write"]["outputSource"]: plan for plan in server.plans()}
    places = {f"file:{tmp_path}/{name}" for name in ("orders", "one", "two", "own")}
    assert written.keys() == places
    assert len(server.plans()) == len(server.events()) == len(places)
    orders = f"file:{tmp_path}/orders"
    assert origins(written[f"file:{tmp_path}/one"]) == {"twice": {f"{orders}#id"}}
    assert origins(written[f"file:{tmp_path}/two"]) == {"loud": {f"{orders}#name"}}
    assert {plan["labels"]["job"][0] for plan in server.plans()} == {"served"}
