"""The whole road on real parts: agents' traffic in, lineage out, and its survival of a crash."""

from __future__ import annotations

import copy
import http.client
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.captures import Exchange, load, names
from tests.e2e.service import RunningHeadwater
from tests.waiting import eventually

pytestmark = pytest.mark.engine

EMPLOYEES = "file:/lake/data/curated/employees"


@pytest.fixture(scope="module")
def headwater(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHeadwater]:
    service = RunningHeadwater(tmp_path_factory.mktemp("service") / "data")
    service.start()
    yield service
    service.stop()


def send(service: RunningHeadwater, exchange: Exchange) -> tuple[int, bytes]:
    """The request as its agent made it; (status, body)."""
    request = urllib.request.Request(
        service.url + exchange.path,
        data=exchange.wire_body if exchange.method == "POST" else None,
        headers=dict(exchange.headers),
        method=exchange.method,
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.status, reply.read()


@pytest.fixture(scope="module")
def filled(headwater: RunningHeadwater) -> RunningHeadwater:
    """Every captured document, sent as its agent sent it; each answer serves the agent."""
    for name in names():
        for exchange in load(name):
            status, body = send(headwater, exchange)
            if exchange.kind == "status":
                assert (status, body) == (200, b"")
            elif exchange.kind == "plan":
                assert status == 201
                assert body.decode() == f'"{exchange.document["id"]}"'
            else:
                assert (status, body) == (201, b"")
    return headwater


def test_everything_that_agents_sent_is_projected(filled: RunningHeadwater) -> None:
    summary = filled.await_projected()
    assert summary["failed"] == 0
    assert summary["waiting"] == 0
    assert summary["received"] == sum(
        summary[state] for state in ("waiting", "pending", "projected", "failed")
    )
    sent = {
        (exchange.kind, exchange.content_type[-9:-5], exchange.body)
        for name in names()
        for exchange in load(name)
        if exchange.kind != "status"
    }
    assert summary["received"] == len(sent)


def test_the_overview_shows_jobs_and_tables(filled: RunningHeadwater) -> None:
    graph = filled.get("/graph/overview", limit=2000, layout="true")
    labels = {node["label"] for node in graph["nodes"]}
    assert {"employee-agg", "employees", "dept_manager", "attendance_daily"} <= labels
    assert graph["partial"] is None
    ids = {node["id"] for node in graph["nodes"]}
    assert all(edge["from"] in ids and edge["to"] in ids for edge in graph["edges"])
    assert all({"x", "y", "width", "height"} <= node.keys() for node in graph["nodes"])
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", node["id"]) for node in graph["nodes"])


def test_column_lineage_crosses_jobs_with_its_expressions(filled: RunningHeadwater) -> None:
    graph = filled.get(
        "/graph/column-lineage", dataset="file:///lake/data/agg/dept_manager", column="AVG_COMP",
        direction="upstream", depth=10,
    )  # fmt: skip
    name = {n["id"]: (n["dataset"], n["name"]) for n in graph["nodes"] if n["kind"] == "column"}
    found = {
        (name[e["from"]], name[e["to"]]): (e["kind"], e["how"], e["expression"])
        for e in graph["edges"]
    }
    manager = "file:/lake/data/curated/emp_manager"
    assert found[((manager, "total_comp"), ("file:/lake/data/agg/dept_manager", "avg_comp"))] == (
        "DIRECT",
        "AGGREGATION",
        "avg(total_comp)",
    )
    assert found[((EMPLOYEES, "total_comp"), (manager, "total_comp"))][:2] == ("DIRECT", "IDENTITY")
    assert {source for source, _ in found} >= {
        ("file:/lake/data/raw/employees.csv", "salary"),
        ("file:/lake/data/raw/employees.csv", "bonus"),
    } or any(pair[0][1] == "salary" for pair in found)


def test_a_plan_opens_with_its_operations(filled: RunningHeadwater) -> None:
    (plan,) = [e.document for e in load("a3_agg") if e.kind == "plan"]
    page = filled.get(f"/graph/plans/{plan['id']}", layout="true")
    assert [o["kind"] for o in page["operations"]] == ["read", "transform", "write"]
    texts = {p["name"]: p["text"] for p in page["operations"][1]["properties"]}
    assert texts["groupingExpressions"] == "dept, manager"
    assert {"name": "avg_comp", "type": "double"}.items() <= page["operations"][1]["schema"][
        3
    ].items()
    assert page["executions"][0]["state"] == "completed"


def test_a_failed_run_is_a_run_and_no_lineage(filled: RunningHeadwater) -> None:
    (plan,) = [e.document for e in load("c_fail_udf") if e.kind == "plan"]
    page = filled.get(f"/graph/plans/{plan['id']}")
    assert page["executions"][0]["state"] == "failed"
    assert page["executions"][0]["error"]
    graph = filled.get("/graph/lineage", node=f"dataset:{page['target']['uri']}")
    assert [node["kind"] for node in graph["nodes"]] == ["dataset"]


def test_a_ctas_is_one_logical_plan_and_one_write(filled: RunningHeadwater) -> None:
    node = filled.get("/graph/lineage", node="dataset:file:/lake/warehouse/hr.db/attendance_daily")
    jobs = [n for n in node["nodes"] if n["kind"] == "job" and n["label"] == "attendance"]
    (table,) = [n for n in node["nodes"] if n["label"] == "attendance_daily"]
    assert table["names"] == ["spark_catalog/hr.attendance_daily"]
    assert len(jobs) == 1
    writes = [e for e in node["edges"] if e["to"] == table["id"]]
    assert [len(edge["plans"]) for edge in writes] == [1]
    history = filled.get(f"/graph/datasets/{table['id']}/history")
    assert len(history["items"]) == 1


@pytest.mark.parametrize(
    ("path", "query", "status", "names_it"),
    [
        ("/graph/lineage", {}, 400, "node"),
        ("/graph/lineage", {"node": "dataset:file:/lake/data/agg/dept_manager", "depth": "x"}, 400,
         "depth"),
        ("/graph/lineage", {"node": "nonsense"}, 400, "node"),
        ("/graph/lineage", {"node": "dataset:file:/nowhere"}, 404, None),
        ("/graph/lineage", {"node": "job:default/nobody"}, 404, None),
        ("/graph/lineage", {"node": f"dataset:{EMPLOYEES}", "at": "yesterday"}, 400, "at"),
        ("/graph/lineage", {"node": f"dataset:{EMPLOYEES}", "colour": "red"}, 400, "colour"),
        ("/graph/search", {}, 400, "q"),
        ("/graph/plans/no-such-plan", {}, 404, None),
        ("/graph/jobs/job_x", {}, 404, None),
        ("/graph/nothing", {}, 404, None),
    ],
)  # fmt: skip
def test_bad_questions_are_refused_by_name(
    filled: RunningHeadwater, path: str, query: dict[str, str], status: int, names_it: str | None
) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        filled.get(path, **query)
    assert refused.value.code == status
    import json

    body = json.load(refused.value)
    refused.value.close()
    assert body["code"] == status
    assert names_it is None or names_it in body["errors"]


@pytest.mark.parametrize("spelling", [
    EMPLOYEES, EMPLOYEES + "/", "file:///lake/data/curated/employees",
    "file%3A%2Flake%2Fdata%2Fcurated%2Femployees", "/lake/data/curated/employees",
])  # fmt: skip
def test_any_spelling_finds_the_dataset(filled: RunningHeadwater, spelling: str) -> None:
    graph = filled.get("/graph/lineage", node=f"dataset:{spelling}", depth=0)
    assert [node["uri"] for node in graph["nodes"]] == [EMPLOYEES]


def test_every_question_works_as_of_a_time(filled: RunningHeadwater) -> None:
    (event,) = [e.document[0] for e in load("a3_agg") if e.kind == "event"]
    before = filled.get(
        "/graph/lineage", node="dataset:file:/lake/data/agg/dept_manager", at=event["timestamp"] - 1
    )
    at = filled.get(
        "/graph/lineage", node="dataset:file:/lake/data/agg/dept_manager", at=event["timestamp"]
    )
    assert len(before["nodes"]) == 1
    assert {"employee-agg", "emp_manager"} <= {node["label"] for node in at["nodes"]}


def test_search_finds_datasets_jobs_and_columns(filled: RunningHeadwater) -> None:
    kinds = {item["kind"] for item in filled.get("/graph/search", q="emp", limit=100)["items"]}
    assert kinds == {"dataset", "job", "column"}
    first = filled.get("/graph/search", q="employee-agg")["items"][0]
    assert (first["kind"], first["label"]) == ("job", "employee-agg")
    assert filled.get("/graph/lineage", node=first["node"])["nodes"]


def test_replies_have_the_shape_that_the_openapi_document_says(filled: RunningHeadwater) -> None:
    from api.schemas.graph import GraphReply, ListReply, PlanReply

    (plan,) = [e.document for e in load("a3_agg") if e.kind == "plan"]
    overview = filled.get("/graph/overview")
    assert GraphReply().validate(overview) == {}
    assert ListReply().validate(filled.get("/graph/jobs")) == {}
    assert ListReply().validate(filled.get("/graph/datasets")) == {}
    assert PlanReply().validate(filled.get(f"/graph/plans/{plan['id']}")) == {}
    paths = filled.get("/openapi.json")["paths"]
    assert {"/graph/overview", "/graph/lineage", "/graph/plans/{plan_id}", "/journal"} <= set(paths)


def test_runs_list_their_executions(filled: RunningHeadwater) -> None:
    jobs = {job["name"]: job for job in filled.get("/graph/jobs", limit=1000)["items"]}
    job = jobs["employee-agg"]
    page = filled.get(f"/graph/jobs/{job['id']}")
    assert page["plans"][0]["target"]["uri"] == "file:/lake/data/agg/dept_manager"
    runs = filled.get(f"/graph/jobs/{job['id']}/runs")
    run = filled.get(f"/graph/jobs/{job['id']}/runs/{runs['items'][0]['id']}")
    assert len(run["items"]) == run["executions"] == runs["items"][0]["executions"]


# --- crashes -------------------------------------------------------------------------------------


def numbered(plan: dict[str, Any], number: int) -> dict[str, Any]:
    """The plan under another id, writing another table."""
    made = copy.deepcopy(plan)
    made["id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, f"crash/{number}"))
    made["operations"]["write"]["outputSource"] = f"file:/lake/crash/{number}"
    return made


def test_a_kill_in_the_middle_of_a_load_loses_nothing_acknowledged(tmp_path: Path) -> None:
    service = RunningHeadwater(tmp_path / "data")
    service.start()
    (template,) = [e.document for e in load("a3_agg") if e.kind == "plan"]
    acknowledged: list[tuple[str, str]] = []
    lock = threading.Lock()

    def load_some(first: int) -> None:
        for number in range(first, first + 200):
            plan = numbered(template, number)
            event = {"planId": plan["id"], "timestamp": 1_800_000_000_000 + number}
            try:
                assert service.post_plan(plan)[0] == 201
                with lock:
                    acknowledged.append(("plan", plan["id"]))
                assert service.post_events([event])[0] == 201
                with lock:
                    acknowledged.append(("event", plan["id"]))
            except (OSError, http.client.HTTPException):
                return  # killed, perhaps within an answer

    threads = [threading.Thread(target=load_some, args=(i * 1_000,)) for i in range(4)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 40:
        time.sleep(0.01)
    service.kill()
    for thread in threads:
        thread.join()
    assert len(acknowledged) < 4 * 400, "the load was over before the kill"

    service.start()
    summary = service.await_projected()
    assert summary["failed"] == 0
    entries = service.get("/journal", limit=1000)["items"]
    kept = {(entry["kind"], entry["planId"]) for entry in entries}
    assert set(acknowledged) <= kept
    with_events = [plan for kind, plan in acknowledged if kind == "event"]
    for plan_id in with_events:
        page = service.get(f"/graph/plans/{plan_id}")
        graph = service.get("/graph/lineage", node=f"dataset:{page['target']['uri']}")
        assert {"employee-agg", "emp_manager"} <= {node["label"] for node in graph["nodes"]}
    assert service.stop() == 0


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.part("recovery")
def test_no_engine_outlives_its_service(tmp_path: Path) -> None:
    service = RunningHeadwater(tmp_path / "data")
    service.start()
    assert listens(service.gremlin_port)
    service.kill()
    eventually(lambda: not listens(service.gremlin_port))  # no orphan of a kill
    service.start()
    assert service.stop() == 0
    eventually(lambda: not listens(service.gremlin_port))  # nor of Ctrl-C


def test_an_engine_that_dies_is_started_again_and_filled(tmp_path: Path) -> None:
    service = RunningHeadwater(tmp_path / "data")
    service.start()
    for exchange in load("a3_agg"):
        send(service, exchange)
    service.await_projected()
    subprocess.run(["pkill", "-9", "-f", f"{service.data}/engine"], check=True)
    eventually(lambda: came_back(service))
    assert service.stop() == 0


def came_back(service: RunningHeadwater) -> bool:
    """Whether the job has its two tables again; until then 503 or a partial answer."""
    try:
        graph = service.get("/graph/lineage", node="job:default/employee-agg")
    except urllib.error.HTTPError as refused:
        refused.close()
        if refused.code == 503:
            return False
        raise
    return len(graph["nodes"]) == 3 and graph["partial"] is None
