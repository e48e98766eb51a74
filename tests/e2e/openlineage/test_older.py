"""Shapes that older and unusual clients send: taken over HTTP, and their graph."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState

from api import command_line
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater

NOW = 1_900_000_000_000
IN = {"namespace": "s3://lake", "name": "raw"}
OUT = {"namespace": "s3://lake", "name": "curated"}


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, NOW)


def event(kind: str | None, minute: int, **more: Any) -> dict[str, Any]:
    """The least that an event may be; None takes a field away."""
    document: dict[str, Any] = {
        "eventType": kind,
        "eventTime": f"2026-03-01T10:{minute:02}:00Z",
        "run": {"runId": "0195cf5b-7c01-7e51-a42d-4b0b0b1a1f00"},
        "job": {"namespace": "etl", "name": "curate"},
        **more,
    }
    return {name: value for name, value in document.items() if value is not None}


WHOLE = [event("START", 0, inputs=[IN]), event("COMPLETE", 1, outputs=[OUT])]


def with_run(run_id: Any, **more: Any) -> list[dict[str, Any]]:
    run = {"runId": run_id, **more}
    return [
        event("START", 0, run=run, inputs=[IN], outputs=[OUT]),
        event("COMPLETE", 1, run=run, inputs=[IN], outputs=[OUT]),
    ]


PUBLISHED: dict[str, list[dict[str, Any]]] = {
    "inputs with START, outputs with COMPLETE": WHOLE,
    "neither producer nor schemaURL": with_run("0195cf5b-7c01-7e51-a42d-4b0b0b1a1f01"),
    "a run id that is no UUID": with_run("8123#4711#17"),
    "a run id that is a number": with_run(4711),
    "a schema of 2021": [
        {**one, "schemaURL": "https://openlineage.io/spec/1-0-1/OpenLineage.json#/definitions/RunEvent",
         "producer": "https://github.com/OpenLineage/OpenLineage/tree/0.2.0/integration/airflow"}
        for one in WHOLE
    ],
    "the parent under its former name": with_run(
        "r1", facets={"parentRun": {"run": {"runId": "p"}, "job": {"namespace": "n", "name": "p"}}}
    ),
    "members that are null": [
        event("START", 0, inputs=[{**IN, "facets": None, "inputFacets": None}], producer=None),
        {**event("COMPLETE", 1, outputs=[OUT]), "inputs": None},
    ],
    "an eventType in lower case": [
        event("start", 0, inputs=[IN]), event("complete", 1, outputs=[OUT])
    ],
    "a first event without a type": [
        event(None, 0, inputs=[IN]), event("COMPLETE", 1, outputs=[OUT])
    ],
    "OTHER before START, and START last": [
        event("OTHER", 0, inputs=[IN]), event("COMPLETE", 2, outputs=[OUT]), event("START", 1)
    ],
    "times of another zone, with nanoseconds and without seconds": [
        event("START", 0, eventTime="2026-03-01T20:00:00.123456789+10:00", inputs=[IN]),
        event("COMPLETE", 0, eventTime="2026-03-01T10:01+00:00", outputs=[OUT]),
    ],
    "facets without _producer and _schemaURL": [
        event("COMPLETE", 1, inputs=[{**IN, "facets": {"schema": {"fields": [{"name": "a"}]}}}],
              outputs=[OUT])
    ],
    "a facet that nobody knows": [
        event("COMPLETE", 1, inputs=[{**IN, "facets": {"ourOwn": {"any": [1, {"x": None}]}}}],
              outputs=[OUT])
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_shape_is_taken_and_is_lineage(
    headwater: SmallHeadwater, client: FlaskClient, name: str
) -> None:
    for document in PUBLISHED[name]:
        assert client.post("/api/v1/lineage", json=document).status_code == 201
    headwater.project()
    assert headwater.journal.summary().failed == 0
    reply = client.get("/graph/lineage", query_string={"node": "job:etl/curate"}).get_json()
    uris = {node["uri"] for node in reply["nodes"] if node["kind"] == "dataset"}
    assert uris == {"s3://lake/raw", "s3://lake/curated"}
    (job,) = [n for n in client.get("/graph/jobs").get_json()["items"] if n["name"] == "curate"]
    assert (job["runs"], job["lastRun"]["state"]) == (1, "completed")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/v1/lineage", {"Content-Type": "application/json"}),
        ("/api/v1/lineage/", {"Content-Type": "application/json;charset=utf-8"}),
        ("/api//v1/lineage", {"Content-Type": "application/json; charset=UTF-8"}),
        ("/", {"Content-Type": "application/json", "Content-Encoding": "gzip"}),
    ],
)
def test_every_way_to_post_is_the_same_document(
    headwater: SmallHeadwater, client: FlaskClient, path: str, headers: dict[str, str]
) -> None:
    body = json.dumps(WHOLE[1], indent=4).encode()  # scripts print them prettily
    if "Content-Encoding" in headers:
        body = gzip.compress(body)
    assert client.post(path, data=body, headers=headers).status_code == 201
    assert client.post("/api/v1/lineage", json=WHOLE[1]).status_code == 201
    headwater.project()
    assert client.get("/graph/jobs").get_json()["items"][0]["runs"] == 1


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        ("postgres://db:5432", "shop.public.orders"),
        ("bigquery", "shop.sales.orders"),
        ("arn:aws:glue:eu-west-1:123456789012", "table/hr/staff"),
        ("hive://meta:9083", "hr.staff"),
        ("s3a://lake", "/sales/"),
        ("duckdb:///data/shop.duckdb", "shop.main.orders"),
        ("etl", "a word"),
    ],
)
def test_a_dataset_is_found_as_its_client_calls_it(
    headwater: SmallHeadwater, client: FlaskClient, namespace: str, name: str
) -> None:
    told = event("COMPLETE", 1, outputs=[{"namespace": namespace, "name": name}])
    assert client.post("/api/v1/lineage", json=told).status_code == 201
    headwater.project()
    query = {"node": f"dataset:{namespace}/{name}", "depth": 0}
    reply = client.get("/graph/lineage", query_string=query)
    assert reply.status_code == 200, reply.get_json()
    (node,) = reply.get_json()["nodes"]
    assert node["kind"] == "dataset"


# --- files of the other transports ---------------------------------------------------------------


def emit(client: OpenLineageClient) -> None:
    run, job = Run(runId="0195cf5b-7c01-7e51-a42d-4b0b0b1a1f09"), Job("etl", "curate")
    for minute, state in enumerate((RunState.START, RunState.COMPLETE)):
        client.emit(
            RunEvent(
                eventType=state,
                eventTime=f"2026-03-01T10:0{minute}:00Z",
                run=run,
                job=job,
                inputs=[InputDataset(IN["namespace"], IN["name"])],
                outputs=[OutputDataset(OUT["namespace"], OUT["name"])],
            )
        )
    client.close()


def imported(folder: Path, *files: str) -> str:
    """The output of ``headwater journal import``."""
    out, errors = io.StringIO(), io.StringIO()
    environment = {"HEADWATER_DATA": str(folder / "data")}
    code = command_line.run(("journal", "import", *files), environment, out, errors)
    assert code == 0, errors.getvalue()
    return out.getvalue()


@pytest.mark.parametrize("append", [True, False])
def test_files_of_the_file_transport_are_imported(tmp_path: Path, append: bool) -> None:
    config = {"type": "file", "log_file_path": str(tmp_path / "events"), "append": append}
    emit(OpenLineageClient(config={"transport": config}))
    files = sorted(str(path) for path in tmp_path.glob("events*"))
    assert len(files) == (1 if append else 2)
    assert "2 imported" in imported(tmp_path, *files)


def test_the_log_of_the_console_transport_is_imported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="openlineage.client"):
        emit(OpenLineageClient(config={"transport": {"type": "console"}}))
    lines = [f"2026-03-01 10:00:00 INFO {one.name} {one.getMessage()}" for one in caplog.records]
    (tmp_path / "client.log").write_text("\n".join(["Spark starts", *lines]), encoding="utf-8")
    assert "2 imported" in imported(tmp_path, str(tmp_path / "client.log"))
