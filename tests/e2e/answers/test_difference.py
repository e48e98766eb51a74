"""Differences: /graph/diff, versions and causes, on a small Headwater in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.routes.difference import ChangesReply, DifferenceReply, VersionsReply
from graph_model.answers.difference.versions import job_versions
from graph_model.lineage import Partial
from tests.builders import PlanBuilder
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event
from tests.unit.graph_model.projection.projector.test_projector import an_event, event, plan

HOUR = 3_600_000
START = 1_700_000_000_000
RAW, CLEAN, REPORT = "s3://lake/raw", "s3://lake/clean", "s3://lake/report"


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START)


def plan_id(number: int) -> str:
    return f"{number:08d}-2222-5333-8444-555555555555"


def clean_plan(number: int, *, limit: int = 10, more: bool = False, **document: Any) -> Any:
    """``clean`` from ``raw``: pay above a limit; ``more``: a column added, one retyped."""
    builder = PlanBuilder()
    raw = builder.read(RAW, "id: int", f"pay: {'bigint' if more else 'int'}", "bonus: int")
    kept = builder.filter(raw, builder.call(">", raw["pay"], builder.literal(limit), symbol=">"))
    total = builder.call("add", raw["pay"], raw["bonus"], symbol="+")
    if more:
        columns = builder.project(kept, "id", "pay", total=total, half=builder.literal(1))
    else:
        columns = builder.project(kept, "id", "pay", total=total)
    builder.write(columns, CLEAN)
    return builder.document(id=plan_id(number), name="clean", **document)


def report_plan(number: int, *sources: str) -> Any:
    """``report`` from tables as ``clean_plan`` writes them at first."""
    builder = PlanBuilder()
    columns = ("id: int", "pay: int", "total")
    reads = [builder.read(source, *columns) for source in sources]
    below = reads[0] if len(reads) == 1 else builder.union(*reads)
    builder.write(builder.project(below, "id", "total"), REPORT)
    return builder.document(id=plan_id(number), name="report")


def ran(headwater: SmallHeadwater, body: dict[str, Any], at: int, **changes: Any) -> None:
    run = {"extra": {"appId": f"app-{at}", "writeMetrics": changes.pop("written", {})}}
    headwater.accept(plan(body), event(an_event(at, planId=body["id"], **run, **changes)))
    headwater.project()


def asked(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, reply.get_json()
    return reply.get_json()


def id_of(client: FlaskClient, kind: str, words: str) -> str:
    (found,) = asked(client, f"/graph/{kind}", q=words)["items"]
    return str(found["id"])


def changed(reply: Any, kind: str = "nodes") -> dict[str, str]:
    names = {node["id"]: node["label"] for node in reply["nodes"]}
    return {
        names.get(one["id"], f"{names.get(one.get('from'))} > {names.get(one.get('to'))}"): one[
            "change"
        ]
        for one in reply[kind]
        if one["change"]
    }


def test_a_new_input_is_an_added_table_and_an_added_edge(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, report_plan(1, CLEAN), START)
    ran(headwater, report_plan(2, CLEAN, RAW), START + HOUR)
    reply = asked(client, "/graph/diff", node=f"dataset:{REPORT}", **{"from": START})
    assert changed(reply) == {"raw": "added", "report": "changed"}
    assert changed(reply, "edges") == {"raw > report": "added"}
    (edge,) = [one for one in reply["edges"] if one["change"]]
    (told,) = edge["evidence"]["after"]
    assert (told["job"]["name"], told["planId"]) == ("report", plan_id(2))
    assert told["at"] == "2023-11-14T23:13:20.000Z"
    assert reply["from"]["asOf"] == "2023-11-14T22:13:20.000Z"
    assert reply["to"]["asOf"] == "2023-11-14T23:13:20.000Z"


def test_a_changed_schema_is_told_column_by_column(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, more=True), START + HOUR)
    reply = asked(client, "/graph/diff", node=f"dataset:{CLEAN}", **{"from": START})
    (table,) = [
        one for one in reply["nodes"] if one["label"] == "clean" and one["kind"] == "dataset"
    ]
    (field,) = table["changes"]
    assert field["columns"] == [
        {"change": "added", "path": "half", "before": None, "after": ""},
        {"change": "retyped", "path": "pay", "before": "int", "after": "bigint"},
    ]
    assert reply["counts"]["nodes"] == {"added": 0, "removed": 0, "changed": 3}


def test_columns_are_compared_by_how_and_expression(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, report_plan(1, CLEAN), START)
    builder = PlanBuilder()
    read = builder.read(CLEAN, "id: int", "pay: int", "total")
    doubled = builder.call("add", read["total"], read["total"], type="int", symbol="+")
    builder.write(builder.project(read, "id", total=doubled), REPORT)
    ran(headwater, builder.document(id=plan_id(2), name="report"), START + HOUR)
    reply = asked(
        client, "/graph/diff", node=f"dataset:{REPORT}", columns="true", **{"from": START}
    )
    (edge,) = [one for one in reply["edges"] if one["change"]]
    assert edge["changes"] == [
        {"field": "how", "before": "IDENTITY", "after": "TRANSFORMATION"},
        {"field": "expression", "before": "total", "after": "total + total"},
    ]


def test_before_it_was_born_there_is_nothing(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    reply = asked(client, "/graph/diff", node=f"dataset:{CLEAN}", **{"from": START - HOUR})
    assert changed(reply) == {"clean": "added", "raw": "added"}  # the job and the table are alike
    assert {one["change"] for one in reply["nodes"]} == {"added"}


def test_the_same_time_twice_is_no_change(headwater: SmallHeadwater, client: FlaskClient) -> None:
    ran(headwater, clean_plan(1), START)
    times = {"from": START, "to": START}
    reply = asked(client, "/graph/diff", node=f"dataset:{CLEAN}", columns="true", **times)
    assert (reply["nodes"], reply["edges"]) == ([], [])
    whole = asked(
        client, "/graph/diff", node=f"dataset:{CLEAN}", unchanged="true", layout="true", **times
    )
    assert {one["change"] for one in (*whole["nodes"], *whole["edges"])} == {None}
    assert all("x" in one for one in whole["nodes"])


def test_two_plans_of_a_job_are_aligned_whatever_their_ids(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20, more=True), START + HOUR)
    reply = asked(client, "/graph/diff", fromPlan=plan_id(1), toPlan=plan_id(2))
    found = reply["plan"]
    assert found["sameLogic"] is False
    assert [(one["name"], one["change"]) for one in found["operations"]] == [
        ("LogicalRelation", "changed"), ("Filter", "changed"), ("Project", "changed"),
        ("InsertIntoHadoopFsRelationCommand", "changed"),
    ]  # fmt: skip
    (condition,) = found["operations"][1]["properties"]
    assert condition == {"field": "condition", "before": "pay > 10", "after": "pay > 20"}
    assert [(one["name"], one["change"]) for one in found["operations"][2]["columns"]] == [
        ("pay", "changed"), ("half", "added"),
    ]  # fmt: skip
    assert "Filter: condition was pay > 10, is pay > 20" in found["summary"]
    assert {one["change"] for one in found["schema"]} == {"added", "retyped"}


def test_values_that_the_graph_masks_are_compared_as_they_were_sent(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    for number, day in ((1, "2026-01-01"), (2, "2026-01-02")):
        builder = PlanBuilder()
        raw = builder.read(RAW, "id: int", "day: string")
        on = builder.call("=", raw["day"], builder.literal(day), symbol="=")
        builder.write(builder.filter(raw, on), CLEAN)
        ran(headwater, builder.document(id=plan_id(number), name="clean"), START + number)
    found = asked(client, "/graph/diff", fromPlan=plan_id(1), toPlan=plan_id(2))["plan"]
    assert found["sameLogic"] is True
    assert any("2026-01-01" in line and "2026-01-02" in line for line in found["summary"])


def test_two_executions_are_compared_at_their_times_with_their_plans(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20), START + HOUR, written={"numOutputRows": 7})
    table = id_of(client, "datasets", CLEAN)
    newer, older = asked(client, f"/graph/datasets/{table}/history")["items"]
    reply = asked(client, "/graph/diff", fromExecution=older["id"], toExecution=newer["id"])
    assert (reply["kind"], reply["node"]) == ("executions", table)
    assert reply["from"]["at"] == older["at"]
    assert reply["executions"]["after"]["metrics"]["write"] == {"numOutputRows": 7}
    assert reply["plan"]["summary"] == ["Filter: condition was pay > 10, is pay > 20"]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({}, "from"),
        ({"node": "dataset:x"}, "from"),
        ({"from": "1"}, "node"),
        ({"fromPlan": "a"}, "toPlan"),
        ({"toExecution": "a"}, "fromExecution"),
        ({"fromPlan": "a", "toPlan": "b", "depth": "2"}, "depth"),
        ({"fromPlan": "a", "toPlan": "b", "from": "1"}, "from"),
        ({"fromExecution": "a", "toExecution": "b", "to": "1"}, "to"),
        ({"node": "dataset:x", "from": "yesterday"}, "from"),
        ({"node": "dataset:x", "from": "1", "since": "1"}, "since"),
    ],
)
def test_a_question_with_half_a_side_is_refused_by_name(
    client: FlaskClient, query: dict[str, str], parameter: str
) -> None:
    reply = client.get("/graph/diff", query_string=query)
    assert reply.status_code == 400
    assert list(reply.get_json()["errors"]) == [parameter]


@pytest.mark.parametrize(
    "query",
    [
        {"node": "dataset:s3://lake/no", "from": "1"},
        {"fromPlan": "no", "toPlan": "no"},
        {"fromExecution": "ex_" + "0" * 32, "toExecution": "ex_" + "0" * 32},
    ],
)
def test_an_unknown_node_is_not_found(client: FlaskClient, query: dict[str, str]) -> None:
    assert client.get("/graph/diff", query_string=query).status_code == 404


# --- versions ------------------------------------------------------------------------------------


def test_schemas_of_a_table_are_listed_with_their_changes_and_writers(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(1), START + 1)
    ran(headwater, clean_plan(2, more=True), START + HOUR)
    path = f"/graph/datasets/{id_of(client, 'datasets', CLEAN)}/versions"
    reply = asked(client, path)
    newer, older = reply["items"]
    assert (older["executions"], older["changes"], older["current"]) == (2, None, False)
    assert (newer["first"], newer["current"]) == ("2023-11-14T23:13:20.000Z", True)
    assert newer["summary"] == ["column half added", "column pay was int, is bigint"]
    assert newer["toldBy"][0]["planId"] == plan_id(2)
    then = asked(client, path, at=START + 5)
    assert [one["id"] for one in then["items"]] == [older["id"]]
    assert then["items"][0]["current"] is True


def test_versions_come_page_by_page(headwater: SmallHeadwater, client: FlaskClient) -> None:
    for number in range(1, 4):
        builder = PlanBuilder()
        raw = builder.read(RAW, "id: int", *(f"c{n}: int" for n in range(number)))
        builder.write(raw, CLEAN)
        ran(headwater, builder.document(id=plan_id(number), name="clean"), START + number)
    for path in (
        f"/graph/datasets/{id_of(client, 'datasets', CLEAN)}/versions",
        f"/graph/jobs/{id_of(client, 'jobs', 'clean')}/versions",
    ):
        whole = asked(client, path)
        found, cursor = [], None
        for _ in range(3):
            page = asked(client, path, limit=1, **({"cursor": cursor} if cursor else {}))
            found += page["items"]
            cursor = page["next"]
        assert cursor is None
        assert found == whole["items"]
        assert whole["total"] == 3


def test_a_table_that_is_only_read_has_the_schemas_that_readers_saw(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    (one,) = asked(client, f"/graph/datasets/{id_of(client, 'datasets', RAW)}/versions")["items"]
    assert (one["role"], [c["name"] for c in one["columns"]]) == ("read", ["id", "pay", "bonus"])


def test_plans_of_a_job_are_versions_by_their_output(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20), START + HOUR, error="boom")
    reply = asked(client, f"/graph/jobs/{id_of(client, 'jobs', 'clean')}/versions")
    newer, older = reply["items"]
    assert (newer["previous"], newer["previousPlanId"]) == (older["id"], plan_id(1))
    assert newer["changes"] == ["Filter: condition was pay > 10, is pay > 20"]
    assert (newer["executions"], newer["completed"]) == (1, 0)
    assert older["changes"] is None


# --- since the last good run ---------------------------------------------------------------------


def reasons(reply: Any) -> list[tuple[str, int, str]]:
    return [(one["kind"], one["distance"], one["node"]["label"]) for one in reply["items"]]


def test_a_failed_run_is_told_the_changes_upstream_nearest_first(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START, written={"numOutputRows": 1000})
    ran(headwater, report_plan(3, CLEAN), START + 1)
    ran(headwater, clean_plan(2, more=True), START + HOUR, written={"numOutputRows": 10})
    ran(headwater, clean_plan(2, more=True), START + HOUR + 1, error="no space left")
    ran(headwater, report_plan(3, CLEAN), START + 2 * HOUR, error="boom")
    job = id_of(client, "jobs", "report")
    reply = asked(client, f"/graph/jobs/{job}/changes")
    assert (reply["subject"]["state"], reply["subject"]["error"]) == ("failed", "boom")
    assert (reply["since"], reply["until"]) == (reply["reference"]["at"], reply["subject"]["at"])
    assert reasons(reply) == [
        ("schema", 1, "clean"), ("rows", 1, "clean"), ("failed-run", 2, "clean"),
        ("plan", 2, "clean"), ("schema", 3, "raw"),
    ]  # fmt: skip
    said = [one["reason"] for one in reply["items"]]
    assert said[0] == "clean has another schema: column half added; column pay was int, is bigint"
    assert said[1] == "the last write of clean wrote 10 rows; 1,000 at the reference"
    assert said[2].startswith("job clean failed once, last at 2023-11-14T23:13:20.001Z: no space")
    assert said[3].startswith("job clean runs another plan: column half added")
    assert reply["partial"] is None
    table = asked(client, f"/graph/datasets/{id_of(client, 'datasets', REPORT)}/changes")
    assert reasons(table)[0] == ("failed-run", 1, "report")
    assert reasons(table)[1:] == [(kind, far + 1, label) for kind, far, label in reasons(reply)]


def test_the_failed_run_s_own_other_plan_comes_first(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, report_plan(1, CLEAN), START)
    ran(headwater, report_plan(2, CLEAN, RAW), START + HOUR, error="boom")
    reply = asked(client, f"/graph/jobs/{id_of(client, 'jobs', 'report')}/changes")
    assert reasons(reply) == [("plan", 0, "report"), ("input-added", 1, "raw")]
    own, added = reply["items"]
    assert added["reason"] == "job report reads raw"
    assert "reads s3://lake/raw (new)" in own["reason"]
    assert len(own["plansBefore"]) == len(own["plansAfter"]) == 1


def test_a_job_upstream_that_did_not_come_is_told_with_its_usual_interval(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    for number in range(5):
        ran(headwater, clean_plan(1), START + number * HOUR)
    ran(headwater, report_plan(2, CLEAN), START + 4 * HOUR + 1)
    ran(headwater, report_plan(2, CLEAN), START + 9 * HOUR)
    reply = asked(client, f"/graph/jobs/{id_of(client, 'jobs', 'report')}/changes")
    (late,) = reply["items"]
    assert late["reason"] == (
        "job clean has not completed since 2023-11-15T02:13:20.000Z; "
        "it usually does every 1 h (median of 4)"
    )
    again = asked(
        client, f"/graph/jobs/{id_of(client, 'jobs', 'report')}/changes", at=START + 5 * HOUR
    )
    assert (again["items"], again["since"]) == ([], None)


def test_with_since_everything_from_then_to_now_is_compared(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20), START + HOUR)
    table = id_of(client, "datasets", CLEAN)
    reply = asked(client, f"/graph/datasets/{table}/changes", since=START)
    assert reasons(reply) == [("plan", 1, "clean")]
    assert (reply["since"], reply["until"]) == (reply["reference"]["at"], reply["subject"]["at"])
    limited = asked(client, f"/graph/datasets/{table}/changes", since=START - 1, limit=1)
    assert limited["partial"] == {"reason": "causes", "limit": 1}
    assert limited["total"] > 1


def test_a_first_run_has_nothing_to_be_compared_with(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START, error="boom")
    reply = asked(client, f"/graph/jobs/{id_of(client, 'jobs', 'clean')}/changes")
    assert (reply["items"], reply["reference"], reply["since"]) == ([], None, None)
    assert reply["subject"]["error"] == "boom"
    assert client.get(f"/graph/jobs/job_{'0' * 32}/changes").status_code == 404
    table = id_of(client, "datasets", RAW)
    assert asked(client, f"/graph/datasets/{table}/changes")["subject"] is None


def test_hidden_nodes_are_in_no_comparison(headwater: SmallHeadwater, client: FlaskClient) -> None:
    ran(headwater, report_plan(1, CLEAN), START)
    ran(headwater, report_plan(2, CLEAN, RAW), START + HOUR)
    body = {"command": "hide", "node": f"dataset:{RAW}"}
    hidden = client.post("/commands", json=body)
    assert hidden.status_code in (200, 201, 202), hidden.get_json()
    headwater.project()
    reply = asked(client, "/graph/diff", node=f"dataset:{REPORT}", **{"from": START})
    assert changed(reply) == {"report": "changed"}
    assert reply["hidden"] == 1
    plans = asked(client, "/graph/diff", fromPlan=plan_id(1), toPlan=plan_id(2), unchanged="true")
    assert "lake/raw" not in str(plans)


def test_the_name_of_a_hidden_job_is_not_told(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20), START + HOUR)
    assert client.post("/commands", json={"command": "hide", "node": "job:default/clean"})
    headwater.project()
    table = id_of(client, "datasets", CLEAN)
    changes = asked(client, f"/graph/datasets/{table}/changes")
    assert (changes["subject"]["job"], changes["reference"]["job"]) == (None, None)
    assert changes["items"] == []
    (version,) = asked(client, f"/graph/datasets/{table}/versions")["items"]
    assert version["toldBy"] == []
    both = {"fromPlan": plan_id(1), "toPlan": plan_id(2)}
    assert client.get("/graph/diff", query_string=both).status_code == 404


def a_table(name: str, **columns: str) -> dict[str, Any]:
    fields = [{"name": key, "type": kind} for key, kind in columns.items()]
    schema = {"_producer": "p", "_schemaURL": "s", "fields": fields}
    return {"namespace": "s3://lake", "name": name, "facets": {"schema": schema}}


def test_runs_of_openlineage_are_compared_in_the_same_words(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    for day, inputs, output in (
        (1, [a_table("raw", a="int")], a_table("out", t="int")),
        (2, [a_table("raw", a="int"), a_table("more", b="int")], a_table("out", t="long")),
    ):
        output["outputFacets"] = {"outputStatistics": {"rowCount": 100 * day, "size": day}}
        said = {
            "eventType": "COMPLETE",
            "eventTime": f"2026-01-0{day}T00:00:00Z",
            "producer": "p",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": f"11111111-1111-4111-8111-11111111111{day}"},
            "job": {"namespace": "airflow", "name": "dag.task"},
            "inputs": inputs,
            "outputs": [output],
        }
        headwater.accept(lineage_event(said))
    headwater.project()
    newer, older = asked(client, f"/graph/jobs/{id_of(client, 'jobs', 'dag')}/versions")["items"]
    assert newer["previous"] == older["id"]
    assert newer["changes"][:2] == ["reads s3://lake/more (new)", "column t was int, is long"]
    assert not any("rowCount" in change for change in newer["changes"]), "a run measured that"
    versions = asked(client, f"/graph/datasets/{id_of(client, 'datasets', 'lake/out')}/versions")
    assert [one["summary"] for one in versions["items"]] == [["column t was int, is long"], []]
    found = asked(client, "/graph/diff", fromPlan=older["id"], toPlan=newer["id"])["plan"]
    assert [one["uri"] for one in found["sourcesAdded"]] == ["s3://lake/more"]
    measured = [one["field"] for step in found["operations"] for one in step["properties"]]
    assert "rowCount" not in measured
    assert "size" not in measured


def test_of_a_plan_too_wide_for_its_page_only_the_written_schema_is_compared(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    for number, steps in ((1, 30), (2, 31)):
        builder = PlanBuilder()
        wide = builder.read(RAW, *(f"c{n}: int" for n in range(700)))
        for _ in range(steps):
            wide = builder.project(wide, *wide.names)
        builder.write(wide, CLEAN)
        ran(headwater, builder.document(id=plan_id(number), name="clean"), START + number)
    reply = asked(client, "/graph/diff", fromPlan=plan_id(1), toPlan=plan_id(2))
    assert reply["partial"]["reason"] == "nodes"
    assert (reply["plan"]["counts"]["added"], reply["plan"]["counts"]["removed"]) == (1, 0)
    assert all(one["columns"] == [] for one in reply["plan"]["operations"])


def test_versions_that_there_was_no_time_to_compare_are_told_as_such(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20), START + HOUR)
    sources = replace(headwater.sources, expired=lambda: True, time_limit_ms=7)
    job = id_of(client, "jobs", "clean")
    found = job_versions(sources, job, at=None, limit=20, cursor=None)
    assert [one.changes for one in found.page.items] == [None, None]
    assert found.partial == Partial("time", 7)


def test_replies_have_the_shape_that_is_described(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, clean_plan(1), START)
    ran(headwater, clean_plan(2, limit=20), START + HOUR)
    table, job = id_of(client, "datasets", CLEAN), id_of(client, "jobs", "clean")
    newer, older = asked(client, f"/graph/datasets/{table}/history")["items"]
    for shape, path, query in (
        (DifferenceReply, "/graph/diff", {"node": table, "from": START, "unchanged": "true"}),
        (DifferenceReply, "/graph/diff", {"fromPlan": plan_id(1), "toPlan": plan_id(2)}),
        (
            DifferenceReply,
            "/graph/diff",
            {"fromExecution": older["id"], "toExecution": newer["id"]},
        ),
        (VersionsReply, f"/graph/datasets/{table}/versions", {}),
        (VersionsReply, f"/graph/jobs/{job}/versions", {}),
        (ChangesReply, f"/graph/jobs/{job}/changes", {}),
    ):
        assert shape().load(asked(client, path, **query))
