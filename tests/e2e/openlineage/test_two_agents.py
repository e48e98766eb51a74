"""One write that two agents report is one write, on every page and in Spline's lists."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.builders import PlanBuilder
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event
from tests.unit.graph_model.projection.projector.test_projector import an_event, event, plan

START = 1_772_359_200_000  # 2026-03-01T10:00:00Z
APPLICATION = "local-1"
SPLINE = {"name": "spline", "version": "2.2.0"}
LISTENER = {"name": "headwater-listener", "version": "0.2.0"}
Json = dict[str, Any]


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START)


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, reply.get_data(as_text=True))
    return reply.get_json()


def a_load(agent: Json, number: int, data_type: str = "bigint") -> Json:
    builder = PlanBuilder()
    builder.write(builder.read("s3://lake/in", f"n: {data_type}"), "s3://lake/out")
    return builder.document(
        id=f"{number:08d}-2222-5333-8444-555555555555", name="load", agentInfo=agent
    )


def ran(headwater: SmallHeadwater, body: Json, at: int, **extra: Any) -> None:
    told = an_event(at, planId=body["id"], extra={"appId": APPLICATION} | extra)
    headwater.accept(plan(body), event(told))
    headwater.project()


def of_openlineage(headwater: SmallHeadwater, *, rows: int) -> None:
    """The event of Spark's client about the same write: ``long`` where Spark says ``bigint``."""
    schema = {"schema": {"fields": [{"name": "n", "type": "long"}]}}
    properties = {"spark.app.name": "load", "spark.app.id": APPLICATION}
    body = {
        "eventTime": "2026-03-01T10:00:00.400Z",
        "eventType": "COMPLETE",
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        "run": {
            "runId": "01890000-0000-7000-8000-00000000000a",
            "facets": {
                "spark_properties": {"properties": properties},
                "spark_applicationDetails": {"applicationId": APPLICATION},
            },
        },
        "job": {
            "namespace": "default",
            "name": "load.execute_insert_into_hadoop_fs_relation_command.out",
            "facets": {},
        },
        "inputs": [{"namespace": "s3://lake", "name": "in", "facets": schema}],
        "outputs": [
            {
                "namespace": "s3://lake", "name": "out", "facets": schema,
                "outputFacets": {"outputStatistics": {"rowCount": rows, "size": 9}},
            }
        ],
    }  # fmt: skip
    headwater.accept(lineage_event(body))
    headwater.project()


def shown(client: FlaskClient) -> Json:
    """How often each list shows the write."""
    (job,) = get(client, "/graph/jobs", q="load")["items"]
    (table,) = get(client, "/graph/datasets", q="out")["items"]
    (brief,) = get(client, f"/graph/jobs/{job['id']}/runs")["items"]
    run = get(client, f"/graph/jobs/{job['id']}/runs/{brief['id']}")
    events = get(client, "/consumer/execution-events")
    versions = get(client, f"/graph/datasets/{table['id']}/versions")["items"]
    return {
        "history": len(get(client, f"/graph/datasets/{table['id']}/history")["items"]),
        "run": (brief["executions"], run["executions"], len(run["items"])),
        "spline": (events["totalCount"], len(events["items"])),
        "versions": [(one["executions"], one["changes"]) for one in versions],
    }


ONCE = {"history": 1, "run": (1, 1, 1), "spline": (1, 1), "versions": [(1, None)]}


def test_a_write_of_the_agent_and_of_the_listener_is_shown_once(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, a_load(SPLINE, 1), START)
    ran(headwater, a_load(LISTENER, 2, "long"), START + 90)
    assert shown(client) == ONCE
    ran(headwater, a_load(LISTENER, 2, "long"), START + 60_000)
    assert shown(client) == {
        "history": 2, "run": (2, 2, 2), "spline": (2, 2), "versions": [(2, None)],
    }, "of the second the agent sent nothing"  # fmt: skip


@pytest.mark.parametrize("openlineage_first", [True, False])
def test_a_write_of_openlineage_and_of_the_listener_is_shown_once(
    headwater: SmallHeadwater, client: FlaskClient, openlineage_first: bool
) -> None:
    """The client counted rows and says no mode; the listener says the mode and counted nothing."""
    at = START + (900 if openlineage_first else 100)
    of_openlineage(headwater, rows=7)
    ran(headwater, a_load(LISTENER, 1), at, writeMetrics={})
    assert shown(client) == ONCE
    (table,) = get(client, "/graph/datasets", q="out")["items"]
    of = f"/graph/datasets/{table['id']}"
    (told,) = get(client, f"{of}/history")["items"]
    assert told["metrics"]["write"]["numOutputRows"] == 7
    assert (told["mode"], told["durationMs"] is None) == ("overwrite", False)
    assert get(client, f"{of}/last-writer")["execution"] == told
    (item,) = get(client, "/consumer/execution-events")["items"]
    assert item["executionPlanId"].startswith("00000001-"), "the plan that Spline can open"


def test_a_list_of_spline_that_shows_one_report_alone_shows_that_one(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, a_load(SPLINE, 1), START)
    ran(headwater, a_load(LISTENER, 2), START + 90)
    for since, until in ((START, START), (START + 90, START + 90), (START, START + 90)):
        window = {"timestampStart": since, "timestampEnd": until}
        assert get(client, "/consumer/execution-events", **window)["totalCount"] == 1


def test_a_column_that_becomes_another_type_is_another_version(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, a_load(SPLINE, 1, "int"), START)
    ran(headwater, a_load(LISTENER, 2, "integer"), START + 90)
    ran(headwater, a_load(SPLINE, 3, "bigint"), START + 60_000)
    ran(headwater, a_load(LISTENER, 4, "long"), START + 60_090)
    versions = shown(client)["versions"]
    assert [executions for executions, _ in versions] == [1, 1]
    assert versions[0][1]
    assert versions[1][1] is None


# --- streams -------------------------------------------------------------------------------------


def a_batch(body: Json, *files: str, began: str = "start") -> Json:
    """The plan of a ``foreachBatch`` function as the stock agent sends it."""
    made = copy.deepcopy(body)
    operations = made["operations"]
    (read,) = operations["reads"]
    scan = {"id": "op-91", "name": "FileScanRDD", "inputSources": list(files)}
    rdd = f"SQLExecutionRDD[129] at {began} at NativeMethodAccessorImpl.java:0"
    operations["reads"] = [scan]
    operations["other"] = [
        *operations.get("other", []),
        {"id": "op-90", "name": "SQLExecutionRDD", "childIds": ["op-91"]},
        {**read, "name": "LogicalRDD", "childIds": ["op-90"], "params": {"rdd": rdd}},
    ]
    del operations["other"][-1]["inputSources"]
    return made


def sources_of(client: FlaskClient) -> set[str]:
    reply = get(client, "/graph/lineage", node="dataset:s3://lake/out", direction="upstream")
    return {node["uri"] for node in reply["nodes"] if node["kind"] == "dataset"}


def test_the_files_of_a_batch_belong_to_the_folder_of_the_stream(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    batch = a_batch(a_load(SPLINE, 1), "s3://lake/raw/stream/a.json", "s3://lake/raw/stream/b.json")
    ran(headwater, batch, START)
    stream = a_load(LISTENER, 2)
    stream["operations"]["reads"][0]["inputSources"] = ["s3://lake/raw/stream"]
    ran(headwater, stream, START + 90)
    assert sources_of(client) == {"s3://lake/out", "s3://lake/raw/stream"}
    assert shown(client)["history"] == 1
    page = get(client, f"/graph/plans/{batch['id']}")
    assert [one["uri"] for one in page["sources"]] == ["s3://lake/raw/stream"]


def test_a_file_that_is_no_batch_of_a_stream_is_a_dataset(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    body = a_batch(a_load(SPLINE, 1), "s3://lake/raw/a.json", began="javaToPython")
    ran(headwater, body, START)
    assert sources_of(client) == {"s3://lake/out", "s3://lake/raw/a.json"}
