"""Clients in Python against a real server: Airflow's recorded run, and dbt as it runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState

from spark_agent_config.configuration import (
    ClientTarget,
    airflow_variables,
    render_client,
)
from tests.e2e.service import RunningHeadwater
from tests.parts import environment

pytestmark = pytest.mark.timeout(300)
_ROOT: Final = Path(__file__).parents[3]
_FIXTURES: Final = _ROOT / "tests" / "fixtures"
_DBT: Final = environment("dbt") / "bin"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHeadwater]:
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")
    running = RunningHeadwater(tmp_path_factory.mktemp("clients") / "data")
    running.start()
    yield running
    running.stop()


def jobs(server: RunningHeadwater, namespace: str) -> dict[str, Any]:
    items = server.get("/graph/jobs", namespace=namespace, limit=1000)["items"]
    return {job["name"]: job for job in items}


def sources(server: RunningHeadwater, dataset: str, column: str) -> set[str]:
    """The columns that this one came from, one step back, as ``table#column``."""
    answer = server.get(
        "/graph/column-lineage", dataset=dataset, column=column, direction="upstream"
    )
    nodes = {node["id"]: f"{node['dataset'].rpartition('.')[2]}#{node['name']}"
             for node in answer["nodes"] if node["kind"] == "column"}  # fmt: skip
    return {nodes[edge["from"]] for edge in answer["edges"] if edge["kind"] == "DIRECT"}


# --- Airflow -------------------------------------------------------------------------------------


def recorded(namespace: str, mark: str) -> list[RunEvent]:
    """The events of Airflow's provider about one run, as the client's own objects, in a namespace.

    ``mark`` takes the place of the run ids' first characters, so that runs can be told apart.
    """
    text = (_FIXTURES / "openlineage" / "airflow" / "nightly_sales.json").read_text("utf-8")
    events = json.loads(text.replace("airflow-shop", namespace).replace("019ca6b1", mark))
    return [_event(event) for event in events]


def recorded_queries() -> list[RunEvent]:
    """Those of a task that reports three queries, by provider 2.20.3 in Airflow 3.3.2."""
    recording = _FIXTURES / "openlineage" / "airflow" / "queries_of_a_task.json"
    return [_event(event) for event in json.loads(recording.read_text("utf-8"))]


def _event(event: dict[str, Any]) -> RunEvent:
    run, job = event["run"], event["job"]
    return RunEvent(
        eventType=RunState[event["eventType"]],
        eventTime=event["eventTime"],
        run=Run(runId=run["runId"], facets=run["facets"]),
        job=Job(namespace=job["namespace"], name=job["name"], facets=job["facets"]),
        inputs=[InputDataset(**one) for one in event["inputs"]],
        outputs=[OutputDataset(**one) for one in event["outputs"]],
        producer=event["producer"],
    )


@pytest.mark.parametrize(("kind", "mark"), [("http", "019ca6b2"), ("async_http", "019ca6b3")])
def test_a_run_of_a_dag_is_a_tree_of_tasks_with_their_tables(
    server: RunningHeadwater, kind: str, mark: str
) -> None:
    namespace = f"airflow-{kind}"
    printed = airflow_variables(ClientTarget(server.url, namespace))
    transport = {**json.loads(printed["AIRFLOW__OPENLINEAGE__TRANSPORT"]), "type": kind}
    client = OpenLineageClient(config={"transport": transport})
    for event in recorded(namespace, mark):  # the client itself would add its tags once more
        client.transport.emit(event)
    assert client.close(timeout=60)
    server.await_projected()

    told = jobs(server, namespace)
    tasks = {f"nightly_sales.{task}" for task in ("land", "prepare", "total", "tell")}
    assert set(told) == {"nightly_sales"} | tasks
    states = {name: job["lastRun"]["state"] for name, job in told.items()}
    failed = {"nightly_sales", "nightly_sales.tell"}
    assert states == {name: "failed" if name in failed else "completed" for name in told}

    (run,) = server.get(f"/graph/jobs/{told['nightly_sales']['id']}/runs")["items"]
    tree = server.get(f"/graph/runs/{run['id']}")
    assert {child["job"]["name"] for child in tree["children"]} == tasks


def test_a_task_with_sql_has_its_columns(server: RunningHeadwater) -> None:
    client = OpenLineageClient(config={"transport": {"type": "http", "url": server.url}})
    for event in recorded("airflow", "019ca6b1"):
        client.transport.emit(event)
    server.await_projected()
    totals = "dataset:jdbc:postgresql://db.shop.example/postgres:public.totals"
    assert sources(server, totals, "amount") == {"sales#amount"}
    nodes = server.get("/graph/lineage", node=totals, direction="upstream")["nodes"]
    assert {node["label"] for node in nodes if node["kind"] == "job"} >= {"nightly_sales.total"}


def test_the_queries_that_a_task_reports_are_plans_of_its_job(server: RunningHeadwater) -> None:
    client = OpenLineageClient(config={"transport": {"type": "http", "url": server.url}})
    for event in recorded_queries():
        client.transport.emit(event)
    server.await_projected()
    told = jobs(server, "airflow-warehouse")
    assert set(told) == {"warehouse", "warehouse.load", "warehouse.report", "my.named.query"}
    totals = "dataset:jdbc:postgresql://db.shop.example/shop:public.totals"
    assert sources(server, totals, "amount") == {"sales#amount"}
    nodes = server.get("/graph/lineage", node=totals, direction="upstream")["nodes"]
    assert {node["label"] for node in nodes if node["kind"] == "job"} == {"warehouse.load"}


# --- dbt -----------------------------------------------------------------------------------------


def build(server: RunningHeadwater, folder: Path, namespace: str, *arguments: str) -> None:
    """``dbt-ol build`` of the small shop, of which one test fails."""
    if not (_DBT / "dbt-ol").exists():
        pytest.skip("no dbt here: make test-parts installs it")
    project = folder / "shop"
    shutil.copytree(_FIXTURES / "dbt", project)
    printed = render_client("dbt", server.url, namespace=namespace)
    (project / "openlineage.yml").write_text(printed, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{_DBT}{os.pathsep}{os.environ['PATH']}",
        "OPENLINEAGE_NAMESPACE": namespace,
        "SHOP_DATABASE": str(folder / "shop.duckdb"),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DO_NOT_TRACK": "1",
    }
    done = subprocess.run(
        [_DBT / "dbt-ol", "build", *arguments, "--project-dir", ".", "--profiles-dir", "."],
        cwd=project, env=environment, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert "ERROR=1" in done.stdout + done.stderr, done.stdout + done.stderr
    server.await_projected()


def table(folder: Path, name: str) -> str:
    return f"dataset:jdbc:duckdb:{folder}/shop.duckdb:shop.main.{name}"


@pytest.mark.part("dbt")
def test_models_of_dbt_are_jobs_with_columns_and_tests(
    server: RunningHeadwater, tmp_path: Path
) -> None:
    build(server, tmp_path, "shop-artifacts")
    told = jobs(server, "shop-artifacts")
    models = {f"shop.main.shop.{name}.build.run" for name in ("orders", "revenue")}
    assert models <= set(told)
    assert {told[name]["lastRun"]["state"] for name in models} == {"completed"}
    assert sources(server, table(tmp_path, "orders"), "customer") == {"raw_orders#customer"}
    assert sources(server, table(tmp_path, "revenue"), "revenue") >= {"orders#amount"}
    facets = server.get(f"/graph/datasets/{dataset_id(server, tmp_path, 'revenue')}/facets")
    assert "dataQualityAssertions" in {one["name"] for one in facets["items"]}
    assert read_by_the_board(server, tmp_path) == ["orders", "revenue"]


def read_by_the_board(server: RunningHeadwater, folder: Path) -> list[str]:
    """The tables that the exposure of the project reads, as the tables' readers."""
    board = "exposure.shop.board"
    read = []
    for name in ("orders", "revenue"):
        node = table(folder, name)
        nodes = server.get("/graph/lineage", node=node, direction="downstream")["nodes"]
        if board in {one["label"] for one in nodes if one["kind"] == "job"}:
            read.append(name)
    return read


def dataset_id(server: RunningHeadwater, folder: Path, name: str) -> str:
    node = table(folder, name)
    (found,) = server.get("/graph/lineage", node=node, depth=0, jobs="false")["nodes"]
    return str(found["id"])


@pytest.mark.part("dbt")
def test_the_statements_of_a_model_are_folded_under_it(
    server: RunningHeadwater, tmp_path: Path
) -> None:
    build(server, tmp_path, "shop-live", "--consume-structured-logs")
    told = jobs(server, "shop-live")
    assert {"model.shop.orders", "model.shop.revenue", "seed.shop.raw_orders"} <= set(told)
    assert [name for name in told if ".sql." in name] == []
    found = server.get("/graph/datasets", q="audit")["items"]
    assert found == []
    nodes = server.get("/graph/lineage", node=table(tmp_path, "revenue"), direction="upstream")
    assert "model.shop.revenue" in {node["label"] for node in nodes["nodes"]}
    assert read_by_the_board(server, tmp_path) == ["orders", "revenue"]
