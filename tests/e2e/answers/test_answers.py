"""Answers of the read routes, on a small Headwater in memory: rules that a reader relies on."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.schemas.graph import reply_of
from graph_model.answers.dataset_writes import LastWriter
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

DAY = 86_400_000
START = 1_700_000_000_000


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START)


def job(
    name: str, target: str, number: int, *, source: str = "file:/data/in.csv", **write: Any
) -> dict[str, Any]:
    """A plan of a job of its own; ``write`` changes the write operation."""
    body = copy.deepcopy(a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=name))
    body["operations"]["write"] |= {"outputSource": target, **write}
    body["operations"]["reads"][0]["inputSources"] = [source]
    return body


def ran(headwater: SmallHeadwater, body: dict[str, Any], at: int, **changes: Any) -> None:
    headwater.accept(plan(body), event(an_event(at, planId=body["id"], **changes)))
    headwater.project()


def labels_of(reply: Any) -> set[str]:
    return {node["label"] for node in reply.get_json()["nodes"]}


def test_partitions_written_by_two_jobs_both_count(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", "s3://lake/t/dt=2026-01-01", 1), START)
    ran(headwater, job("second", "s3://lake/t/dt=2026-01-02", 2), START + DAY)
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/t"})
    assert labels_of(reply) == {"t", "in.csv", "first", "second"}
    ran(headwater, job("third", "s3://lake/t", 3), START + 2 * DAY)
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/t"})
    assert labels_of(reply) == {"t", "in.csv", "third"}


@pytest.mark.parametrize(
    ("partition", "job_name"),
    [("dt=2026-01-01", "first"), ("DT=2026-01-01", "first"), ("dt=2026-01-02", "second")],
)
def test_the_last_writer_of_a_partition_is_found_in_any_spelling(
    headwater: SmallHeadwater, client: FlaskClient, partition: str, job_name: str
) -> None:
    ran(headwater, job("first", "s3://lake/t/dt=2026-01-01", 1), START)
    ran(headwater, job("second", "s3://lake/t/dt=2026-01-02", 2), START + DAY)
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    reply = client.get(
        f"/graph/datasets/{table['id']}/last-writer", query_string={"partition": partition}
    )
    assert reply.get_json()["execution"]["job"]["name"] == job_name
    assert reply.get_json()["execution"]["mode"] == "overwrite-partitions"


DYNAMIC = {"dynamicPartitionOverwrite": True, "partitionColumns": ["dt"]}


def wrote(*partitions: str) -> dict[str, Any]:
    return {"appId": "app", "writtenPartitions": list(partitions)}


def last_writer(client: FlaskClient, partition: str) -> str:
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    query = {"partition": partition}
    reply = client.get(f"/graph/datasets/{table['id']}/last-writer", query_string=query)
    name = reply.get_json()["execution"]["job"]["name"]
    assert isinstance(name, str)
    return name


def test_a_dynamic_overwrite_that_names_its_partitions_leaves_the_others_to_their_writers(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    first, second = (
        job(name, "s3://lake/t", n, extra=DYNAMIC) for n, name in enumerate(("first", "second"))
    )
    ran(headwater, first, START, extra=wrote("dt=d1", "dt=d%3A2"))
    ran(headwater, second, START + DAY, extra=wrote("dt=d%3A2"))
    assert last_writer(client, "dt=d1") == "first"
    assert last_writer(client, "dt=d:2") == "second"
    ran(headwater, first, START + 2 * DAY, extra=wrote("dt=d%3A2"))
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/t"})
    assert labels_of(reply) == {"t", "in.csv", "first"}, "each partition of second was replaced"


def test_an_append_that_names_its_partitions_is_no_writer_of_the_others(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    columns = {"partitionColumns": ["dt"]}
    ran(headwater, job("first", "s3://lake/t", 1, append=True, extra=columns), START)
    second = job("second", "s3://lake/t", 2, append=True, extra=columns)
    ran(headwater, second, START + DAY, extra=wrote("dt=d2"))
    assert last_writer(client, "dt=d1") == "first"
    assert last_writer(client, "dt=d2") == "second"


def test_a_full_overwrite_replaces_partitions_that_it_did_not_write(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", "s3://lake/t/dt=d1", 1), START)
    columns = {"partitionColumns": ["dt"]}
    second = job("second", "s3://lake/t", 2, extra=columns)
    ran(headwater, second, START + DAY, extra=wrote("dt=d2"))
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/t"})
    assert labels_of(reply) == {"t", "in.csv", "second"}


@pytest.mark.parametrize("told", ["dt=d2", [7], ["d2"], [f"dt={n}" for n in range(2_000)]])
def test_a_list_of_written_partitions_that_cannot_be_read_claims_none(
    headwater: SmallHeadwater, client: FlaskClient, told: Any
) -> None:
    ran(headwater, job("first", "s3://lake/t", 1, extra=DYNAMIC), START, extra=wrote("dt=d1"))
    extra = {"writtenPartitions": told}
    ran(headwater, job("second", "s3://lake/t", 2, extra=DYNAMIC), START + DAY, extra=extra)
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/t"})
    assert labels_of(reply) == {"t", "in.csv", "first", "second"}


@pytest.mark.parametrize("partition", ["dt", "=", "/", "x=1", "dt=1/dt=2", "dt=1/"])
def test_a_partition_that_cannot_be_is_refused_by_name(
    headwater: SmallHeadwater, client: FlaskClient, partition: str
) -> None:
    ran(headwater, job("first", "s3://lake/t/dt=2026-01-01", 1), START)
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    reply = client.get(
        f"/graph/datasets/{table['id']}/last-writer", query_string={"partition": partition}
    )
    assert reply.status_code == 400
    assert list(reply.get_json()["errors"]) == ["partition"]


def test_failed_attempts_since_the_last_good_one_are_told(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    body = job("first", "s3://lake/t", 1)
    ran(headwater, body, START)
    ran(headwater, body, START + 1, error="boom")
    ran(headwater, body, START + 2, error="boom again")
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    reply = client.get(f"/graph/datasets/{table['id']}/last-writer").get_json()
    assert reply["execution"]["at"] == "2023-11-14T22:13:20.000Z"
    assert [failed["error"] for failed in reply["failedSince"]] == ["boom again", "boom"]


def test_a_long_run_is_counted_whole_and_says_that_its_list_is_cut(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    body = job("long", "s3://lake/t", 1)
    failed = event(an_event(START, planId=body["id"], error="the first one failed"))
    others = [event(an_event(START + i, planId=body["id"])) for i in range(1, 1_050)]
    headwater.accept(plan(body), failed, *others)
    headwater.project()
    (found,) = client.get("/graph/jobs").get_json()["items"]
    (listed,) = client.get(f"/graph/jobs/{found['id']}/runs").get_json()["items"]
    run = client.get(f"/graph/jobs/{found['id']}/runs/{listed['id']}").get_json()
    for key in ("state", "executions", "startedAt", "endedAt", "error"):
        assert run[key] == listed[key], key
    assert (run["state"], run["executions"]) == ("failed", 1_050)
    assert len(run["items"]) == 1_000
    assert run["partial"] == {"reason": "executions", "limit": 1_000}


def test_an_ambiguous_reference_names_the_parameter_and_the_ids(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    for number, scope in ((1, "ska"), (2, "skb")):
        body = job("scoped", "file:/amb/out", number)
        headwater.accept(plan(body, scope=scope), event(an_event(planId=body["id"])))
    headwater.project()
    reply = client.get("/graph/lineage", query_string={"node": "dataset:file:/amb/out"})
    assert reply.status_code == 400
    (ids,) = reply.get_json()["errors"].values()
    assert list(reply.get_json()["errors"]) == ["node"]
    assert len(ids) == 2
    exact = client.get("/graph/lineage", query_string={"node": "dataset:ska@file:/amb/out"})
    assert exact.get_json()["focus"] in ids


def test_while_rebuilding_a_missing_node_may_still_come(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    headwater.graph.clear()
    headwater.projector._readiness.state = "rebuilding"
    column = client.get("/graph/lineage", query_string={"node": "column:s3://lake/t#other"})
    assert column.status_code == 503
    assert column.headers["Retry-After"]
    for known in ("dataset:s3://lake/t", "column:s3://lake/t#total"):
        answer = client.get("/graph/lineage", query_string={"node": known}).get_json()
        assert answer["partial"]["reason"] == "rebuilding"


def test_answers_of_a_full_graph_are_marked(headwater: SmallHeadwater, client: FlaskClient) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    headwater.projector._fullness.hold()
    for path in ("/graph/lineage?node=dataset:s3://lake/t", "/graph/overview"):
        assert client.get(path).get_json()["partial"] == {"reason": "full", "limit": 0}


@pytest.mark.parametrize(
    "path",
    [
        "/graph/lineage?node=dataset:s3://lake/new",
        f"/graph/datasets/ds_{'0' * 32}",
        f"/graph/jobs/job_{'0' * 32}",
    ],
)
def test_a_node_that_may_wait_for_room_in_a_full_graph_is_said_to(
    headwater: SmallHeadwater, client: FlaskClient, path: str
) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    assert "wait" not in client.get(path).get_json()["message"]
    headwater.projector._fullness.hold()
    answer = client.get(path)
    assert answer.status_code == 404
    for part in ("is known", "wait in the journal", "HEADWATER_GREMLIN_HEAP", "prune"):
        assert part in answer.get_json()["message"]


def test_a_document_that_is_not_in_the_journal_waits_for_nothing(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    headwater.projector._fullness.hold()
    order = {"command": "forget", "node": "document:9", "dryRun": True}
    answer = client.post("/commands", json=order)
    assert (answer.status_code, "wait" in answer.get_data(as_text=True)) == (404, False)


def test_another_body_under_one_plan_id_is_counted(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", "s3://lake/one", 1), START)
    ran(headwater, job("first", "s3://lake/two", 1), START)
    page = client.get("/graph/plans/00000001-2222-5333-8444-555555555555").get_json()
    assert page["otherPlans"] == 1


def test_columns_and_their_tables_count_against_the_limit(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    reply = client.get(
        "/graph/column-lineage", query_string={"dataset": "s3://lake/t", "limit": 2}
    ).get_json()
    assert len(reply["nodes"]) == 2
    assert reply["partial"] == {"reason": "nodes", "limit": 2}


@pytest.mark.parametrize("words", ["s3a://lake/t", " lake/t ", "LAKE/T"])
def test_search_forgives_spelling(
    headwater: SmallHeadwater, client: FlaskClient, words: str
) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    items = client.get("/graph/search", query_string={"q": words}).get_json()["items"]
    assert "s3://lake/t" in {item["detail"] for item in items}


def test_an_empty_filter_is_no_filter(headwater: SmallHeadwater, client: FlaskClient) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    for path in ("/graph/jobs", "/graph/datasets", "/graph/overview"):
        assert client.get(f"{path}?q=").status_code == 200


def test_a_write_told_twice_is_one_in_lists_and_totals(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    insert = job("first", "s3://lake/t", 1)
    create = job("first", "s3://lake/t", 2)
    create["operations"]["write"]["name"] = "CreateDataSourceTableAsSelectCommand"
    for day in range(3):
        at = START + day * DAY
        extra = {"appId": f"app-{day}"}
        ran(headwater, insert, at, extra=extra)
        ran(headwater, create, at + 200, extra=extra)
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    assert table["lastWrite"] == "2023-11-16T22:13:20.000Z"
    path, times = f"/graph/datasets/{table['id']}/history", []
    page = client.get(path, query_string={"limit": 2}).get_json()
    times += [item["at"] for item in page["items"]]
    assert (page["total"], len(page["items"])) == (3, 2)
    page = client.get(path, query_string={"limit": 2, "cursor": page["next"]}).get_json()
    times += [item["at"] for item in page["items"]]
    assert (page["total"], page["next"], len(times)) == (3, None, 3)
    assert all(time.endswith("20.000Z") for time in times)
    last = client.get(f"/graph/datasets/{table['id']}/last-writer").get_json()["execution"]
    assert last["at"] == "2023-11-16T22:13:20.000Z"


def test_an_intermediate_that_was_overwritten_since_is_marked_via(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("load", "s3://lake/staged", 1), START)
    ran(headwater, job("report", "s3://lake/report", 2, source="s3://lake/staged"), START + 1)
    ran(headwater, job("other", "s3://lake/staged", 3, source="s3://lake/else"), START + 2)
    asked = {"node": "dataset:file:/data/in.csv", "depth": 9, "direction": "downstream"}
    reply = client.get("/graph/lineage", query_string=asked).get_json()
    via = {node["label"]: node["via"] for node in reply["nodes"] if node["kind"] == "dataset"}
    assert via == {"in.csv": False, "staged": True, "report": False}
    assert reply["folded"] is False
    asked = {"node": "dataset:s3://lake/staged", "direction": "upstream"}
    assert labels_of(client.get("/graph/lineage", query_string=asked)) == {
        "staged",
        "else",
        "other",
    }


def test_a_node_that_did_not_exist_yet_is_not_in_the_overview(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("early", "s3://lake/early", 1), START)
    ran(headwater, job("late", "s3://lake/late", 2, source="s3://lake/early"), START + DAY)
    now = client.get("/graph/overview")
    assert labels_of(now) == {"in.csv", "early", "late"}
    then = client.get("/graph/overview", query_string={"at": START})
    assert labels_of(then) == {"in.csv", "early"}
    assert {n["kind"] for n in then.get_json()["nodes"]} == {"dataset", "job"}
    assert client.get("/graph/overview", query_string={"at": START - 1}).get_json()["nodes"] == []


def test_lists_at_a_time_hold_the_nodes_that_were_there_by_then(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("early", "s3://lake/early", 1), START)
    ran(headwater, job("late", "s3://lake/late", 2, source="s3://lake/early"), START + DAY)
    headwater.accept(plan(job("never ran", "s3://lake/planned", 3)))
    headwater.project()

    def listed(kind: str, **asked: Any) -> tuple[set[str], int]:
        page = client.get(f"/graph/{kind}", query_string=asked).get_json()
        return {item.get("label") or item["name"] for item in page["items"]}, page["total"]

    assert listed("datasets") == ({"in.csv", "early", "late", "planned"}, 4)
    assert listed("datasets", at=START) == ({"in.csv", "early", "planned"}, 3)
    assert listed("datasets", at=START - 1) == ({"planned"}, 1)
    assert listed("jobs", at=START + DAY) == ({"early", "late", "never ran"}, 3)
    assert listed("jobs", at=START) == ({"early", "never ran"}, 2)


def test_a_column_is_told_as_a_sentence(headwater: SmallHeadwater, client: FlaskClient) -> None:
    ran(headwater, job("load", "s3://lake/t", 1), START)
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    page = client.get(f"/graph/datasets/{table['id']}").get_json()
    column = client.get(f"/graph/columns/{page['schema']['columns'][0]['id']}").get_json()
    assert column["dataset"]["uri"] == "s3://lake/t"
    assert column["sentence"] == column["definitions"][0]["sentence"]
    assert column["sentence"].startswith(f"{column['name']} is ")
    assert column["definitions"][0]["job"]["name"] == "load"
    assert client.get("/graph/columns/col_unknown").status_code == 404
    assert client.get(f"/graph/columns/{table['id']}").status_code == 404


def test_nodes_that_a_limit_leaves_out_are_counted_at_their_neighbours(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    for number in range(6):
        source = "s3://lake/calendar"
        ran(headwater, job(f"reader {number}", f"s3://out/{number}", number, source=source), START)
    asked = {"node": "dataset:s3://lake/calendar", "direction": "downstream", "limit": 3}
    reply = client.get("/graph/lineage", query_string=asked).get_json()
    hub = next(node for node in reply["nodes"] if node.get("uri") == "s3://lake/calendar")
    assert reply["partial"] == {"reason": "nodes", "limit": 3}
    assert hub["more"] == {"upstream": 0, "downstream": 4}
    jobs = [node for node in reply["nodes"] if node["kind"] == "job"]
    assert [node["more"] for node in jobs] == [{"upstream": 0, "downstream": 1}] * 2
    whole = client.get("/graph/lineage", query_string=asked | {"limit": 50}).get_json()
    assert not any("more" in node for node in whole["nodes"])


# --- overwrites with unknown replaced partitions -------------------------------------------------

COLUMNS_OPTION = {"__partition_columns": '["dt"]'}
COUNTED = {"writeMetrics": {"numOutputRows": 4, "numParts": 2}}
OURS = {"name": "headwater-listener", "version": "0.2.0"}


def last_writers(client: FlaskClient, **query: Any) -> dict[str, Any]:
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    reply = client.get(f"/graph/datasets/{table['id']}/last-writer", query_string=query)
    body = reply.get_json()
    assert not reply_of(LastWriter)().validate(body)
    names = [one["job"]["name"] for one in body["candidates"]]
    return {"last": body["execution"]["job"]["name"], "certain": body["certain"], "of": names}


def sources_of_table(client: FlaskClient) -> set[str]:
    return labels_of(client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/t"}))


def test_where_nobody_tells_the_partitions_of_a_dynamic_overwrite_candidates_are_named(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """Job A writes d1 and d2, job B only d2: nobody knows that of d1 the last writer is A."""
    ran(headwater, job("whole", "s3://lake/t", 1), START)
    for number, name in enumerate(("A", "B"), 2):
        ran(headwater, job(name, "s3://lake/t", number, extra=DYNAMIC), START + number * DAY)
    named = {"last": "B", "certain": False, "of": ["B", "A", "whole"]}
    assert last_writers(client, partition="dt=d1") == named
    assert last_writers(client) == {"last": "B", "certain": True, "of": []}
    ran(headwater, job("A", "s3://lake/t", 2, extra=DYNAMIC), START + 9 * DAY, extra=wrote("dt=d1"))
    assert last_writers(client, partition="dt=d1") == {"last": "A", "certain": True, "of": []}
    assert last_writers(client, partition="dt=d2") == named


def test_an_append_of_unknown_partitions_is_a_candidate_as_well(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", "s3://lake/t/dt=d1", 1), START)
    ran(headwater, job("second", "s3://lake/t", 2, append=True), START + DAY)
    named = {"last": "second", "certain": False, "of": ["second", "first"]}
    assert last_writers(client, partition="dt=d1") == named
    assert last_writers(client, partition="dt=d2") == named | {"of": ["second"]}


def test_the_reports_of_two_agents_about_one_write_complete_each_other(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """The stock agent reports first and counts partitions; the listener names them."""
    ran(headwater, job("before", "s3://lake/t", 1), START)
    of_agent, of_listener = job("load", "s3://lake/t", 2), job("load", "s3://lake/t", 3)
    of_listener |= {"agentInfo": OURS}
    of_listener["operations"]["write"]["extra"] = DYNAMIC
    ran(headwater, of_agent, START + DAY, extra={"appId": "app"} | COUNTED)
    ran(headwater, of_listener, START + DAY + 50, extra=wrote("dt=d2"))
    assert last_writers(client, partition="dt=d2") == {"last": "load", "certain": True, "of": []}
    assert last_writers(client, partition="dt=d1") == {"last": "before", "certain": True, "of": []}


@pytest.mark.parametrize(
    ("write", "extra", "gap"),
    [
        ({"params": COLUMNS_OPTION}, {}, True),
        ({"params": {"__partition_columns": ["dt"]}}, {}, True),
        ({"params": COLUMNS_OPTION | {"partitionOverwriteMode": "DYNAMIC"}}, {}, False),
        ({"params": {"replaceWhere": "dt = '1'"}}, {}, False),
        ({"name": "OverwriteByExpression", "params": {"deleteExpr": "(dt = 1)"}}, {}, False),
        ({}, COUNTED, False),
        ({"name": "InsertIntoHiveTable"}, COUNTED, False),
    ],
)
def test_an_overwrite_that_may_be_partial_hides_nothing_and_says_so(
    headwater: SmallHeadwater,
    client: FlaskClient,
    write: dict[str, Any],
    extra: dict[str, Any],
    gap: bool,
) -> None:
    """The stock agent's plan of a partition overwrite, static or dynamic."""
    ran(headwater, job("first", "s3://lake/t", 1), START)
    body = job("second", "s3://lake/t", 2)
    body["operations"]["write"] |= write
    ran(headwater, body, START + DAY, extra={"appId": "a"} | extra)
    assert sources_of_table(client) == {"t", "in.csv", "first", "second"}
    (table,) = client.get("/graph/datasets?q=lake/t").get_json()["items"]
    newest, *_ = client.get(f"/graph/datasets/{table['id']}/history").get_json()["items"]
    assert (newest["mode"], newest["gaps"][0]["code"]) == (
        "overwrite-partitions", "partitions-unknown",
    )  # fmt: skip
    codes = [one["code"] for one in client.get(f"/graph/plans/{body['id']}").get_json()["gaps"]]
    assert ("partitions-unknown" in codes) is gap, "the document alone shows the gap"


@pytest.mark.parametrize(
    ("write", "extra"),
    [
        ({"params": COLUMNS_OPTION | {"partitionOverwriteMode": "static"}}, COUNTED),
        ({"params": COLUMNS_OPTION, "extra": {"dynamicPartitionOverwrite": False}}, COUNTED),
        ({"name": "OverwriteByExpression", "params": {"deleteExpr": "true"}}, {}),
        ({"name": "CreateDataSourceTableAsSelectCommand"}, COUNTED),
        ({"params": {}}, {"writeMetrics": {"numParts": 0}}),
        ({"params": {"__partition_columns": "[]"}}, {"writeMetrics": {"numParts": "2"}}),
    ],
)
def test_an_overwrite_that_replaces_everything_still_hides_earlier_writes(
    headwater: SmallHeadwater, client: FlaskClient, write: dict[str, Any], extra: dict[str, Any]
) -> None:
    ran(headwater, job("first", "s3://lake/t", 1), START)
    body = job("second", "s3://lake/t", 2)
    body["operations"]["write"] |= write
    ran(headwater, body, START + DAY, extra={"appId": "a"} | extra)
    assert sources_of_table(client) == {"t", "in.csv", "second"}


def test_a_plan_page_and_the_consumer_name_the_pattern_of_many_files(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    body = job("load", "s3://lake/t", 1)
    listed = [f"s3://raw/in/{number}.csv" for number in range(40)]
    body["operations"]["reads"][0]["inputSources"] = listed
    ran(headwater, body, START)
    page = client.get(f"/graph/plans/{body['id']}").get_json()
    read = next(one for one in page["operations"] if one["kind"] == "read")
    assert [one["uri"] for one in read["datasets"]] == ["s3://raw/in/*.csv"]
    assert client.get(f"/graph/datasets/{read['datasets'][0]['id']}").status_code == 200
    path = f"/consumer/execution-plans/{body['id']}/data-sources"
    assert client.get(path, query_string={"access": "read"}).get_json() == ["s3://raw/in/*.csv"]
