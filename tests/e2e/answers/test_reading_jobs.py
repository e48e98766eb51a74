"""Jobs that only read (a dashboard, a query, a validator), in everything that is asked of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from graph_model import identity
from tests.e2e.small_client import client_of, command
from tests.projections import SmallHeadwater, lineage_event

NOW = 1_772_400_000_000  # 2026-03-01T21:20:00Z
LAKE = "s3://lake"
SCENARIOS = Path(__file__).parents[2] / "fixtures" / "openlineage" / "scenarios"
Json = dict[str, Any]


def table(name: str, *columns: str) -> Json:
    fields = [{"name": one, "type": "string"} for one in columns]
    facets = {"schema": {"fields": fields}} if columns else {}
    return {"namespace": LAKE, "name": name, "facets": facets}


def run(job: str, clock: str, *inputs: Json, kind: str = "COMPLETE", **more: Any) -> Json:
    return {
        "eventType": kind,
        "eventTime": f"2026-03-01T{clock}Z",
        "producer": "any client",
        "run": {"runId": f"{job}-{clock}"},
        "job": {"namespace": "bi", "name": job, "facets": more.pop("job_facets", {})},
        "inputs": list(inputs),
        **more,
    }


def dataset(name: str) -> str:
    return identity.dataset_id("", f"{LAKE}/{name}")


def job(name: str) -> str:
    return identity.job_id("bi", name)


HISTORY = [
    run("load", "10:00:00", table("raw", "id"), outputs=[table("clean", "id", "amount")]),
    run("dashboard", "11:00:00", table("clean", "id", "amount")),
    run("validator", "12:00:00", table("clean"), kind="FAIL"),
    run("idle", "13:00:00"),
    {
        "eventTime": "2026-03-01T14:00:00Z",
        "producer": "any client",
        "job": {"namespace": "bi", "name": "planned", "facets": {}},
        "inputs": [table("clean")],
    },
]


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    headwater.accept(*map(lineage_event, HISTORY))
    headwater.project()
    assert headwater.journal.summary().failed == 0
    return client_of(headwater, NOW)


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, reply.get_data(as_text=True))
    return reply.get_json()


def jobs_of(answer: Json) -> set[str]:
    return {node["label"] for node in answer["nodes"] if node["kind"] == "job"}


def edges_of(answer: Json) -> set[tuple[str, str]]:
    labels = {node["id"]: node["label"] for node in answer["nodes"]}
    return {(labels[edge["from"]], labels[edge["to"]]) for edge in answer["edges"]}


def test_a_job_that_only_reads_is_downstream_of_its_inputs(client: FlaskClient) -> None:
    below = get(client, "/graph/lineage", node=dataset("raw"), direction="downstream", depth=2)
    assert jobs_of(below) == {"load", "dashboard", "planned"}
    assert {("clean", "dashboard"), ("clean", "planned")} <= edges_of(below)
    above = get(client, "/graph/lineage", node=job("dashboard"), direction="upstream", depth=2)
    assert edges_of(above) == {("clean", "dashboard"), ("load", "clean"), ("raw", "load")}
    assert below["depth"]["reached"] == above["depth"]["reached"] == 2


def test_it_is_there_from_the_time_of_its_run_on(client: FlaskClient) -> None:
    for at, jobs in (
        ("10:59:59.999", {"load"}),
        ("11:00:00.000", {"load", "dashboard"}),
        ("14:00:00.000", {"load", "dashboard", "planned"}),
    ):
        time = f"2026-03-01T{at}Z"
        answer = get(client, "/graph/lineage", node=dataset("clean"), at=time)
        assert jobs_of(answer) == jobs
        page = get(client, f"/graph/datasets/{dataset('clean')}", at=time)
        assert {one["job"]["name"] for one in page["readers"]} == jobs - {"load"}


def test_the_overview_draws_it(client: FlaskClient) -> None:
    drawn = {("clean", "dashboard"), ("clean", "planned"), ("load", "clean"), ("raw", "load")}
    assert drawn <= edges_of(get(client, "/graph/overview"))
    alone = get(client, "/graph/overview", job=job("dashboard"))
    assert edges_of(alone) == {("clean", "dashboard")}
    declared = [one for one in get(client, "/graph/overview")["edges"] if "origin" in one]
    assert [one["to"] for one in declared] == [job("planned")]


def test_a_dataset_names_its_readers_and_a_job_its_inputs(client: FlaskClient) -> None:
    readers = get(client, f"/graph/datasets/{dataset('clean')}")["readers"]
    assert [(one["job"]["name"], one["mode"], one["at"]) for one in readers] == [
        ("planned", "none", "2026-03-01T14:00:00.000Z"),
        ("dashboard", "none", "2026-03-01T11:00:00.000Z"),
    ]
    (plan,) = get(client, f"/graph/jobs/{job('dashboard')}")["plans"]
    assert plan["target"] is None
    assert [source["label"] for source in plan["sources"]] == ["clean"]


def test_the_impact_of_a_table_lists_it(client: FlaskClient) -> None:
    query = {"node": dataset("raw"), "depth": 5}
    items = {one["label"]: one for one in get(client, "/graph/impact", **query)["items"]}
    assert items["dashboard"]["depth"] == 2
    assert [node["label"] for node in items["dashboard"]["path"]] == [
        "raw", "load", "clean", "dashboard",
    ]  # fmt: skip
    assert {one["name"] for one in items["clean"]["readers"]} == {"dashboard", "planned"}
    assert items["planned"]["declared"]
    told = client.get("/graph/impact", query_string={**query, "format": "csv"})
    rows = csv.DictReader(io.StringIO(told.get_data(as_text=True)))
    assert "dashboard" in {row["label"] for row in rows}
    told = client.get("/graph/impact", query_string={**query, "format": "markdown"})
    assert "dashboard" in told.get_data(as_text=True)
    code, said = command(client, f"impact --dataset {LAKE}/raw --depth 5")
    assert code == 0
    assert "dashboard" in said


def test_a_difference_tells_that_a_reader_came(client: FlaskClient) -> None:
    found = get(
        client,
        "/graph/diff",
        node=dataset("clean"),
        **{"from": "2026-03-01T10:30:00Z", "to": "2026-03-01T11:30:00Z"},
    )
    marks = {one["label"]: one.get("change") for one in found["nodes"]}
    assert marks["dashboard"] == "added"


def test_a_viewer_of_spline_sees_it_behind_the_write_that_it_read(client: FlaskClient) -> None:
    (event,) = get(client, "/consumer/execution-events")["items"]
    graph = get(client, "/consumer/impact-overview", eventId=event["executionEventId"])["graph"]
    names = {node["name"]: node["_id"] for node in graph["nodes"]}
    assert "dashboard" in names
    assert any(edge["target"] == names["dashboard"] for edge in graph["edges"])


def test_an_application_of_spark_that_only_counts_is_downstream_of_the_counted_table(
    headwater: SmallHeadwater,
) -> None:
    told = json.loads((SCENARIOS / "spark_queries.json").read_text(encoding="utf-8"))["events"]
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    client = client_of(headwater, NOW)
    answer = get(client, "/graph/lineage", node=identity.dataset_id("", f"{LAKE}/a"))
    assert edges_of(answer) == {("a", "checker")}
    drawn = get(client, "/graph/overview")["edges"]
    assert [one["from"] for one in drawn if "attempted" in one] == [
        identity.dataset_id("", f"{LAKE}/b")
    ]
