"""Spark Connect: OpenLineage's client on the server reports the writes of clients."""

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
from tests.e2e.spark.test_listener import python_of

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
