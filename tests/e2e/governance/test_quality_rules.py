"""Rules over custom run facets: passed or failed on the datasets that a run wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from graph_model.governance.quality_rules import judge_facet, read_quality_rule
from tests.e2e.small_client import client_of, running, told
from tests.projections import SmallHeadwater, lineage_event, small_headwater

TABLE = "s3://lake/t"
RULE = {"facet": "acme_checks", "path": "result.status", "passes": ["ok", "warn"]}


def run(
    number: int, status: Any, *, name: str = "load", kind: str = "COMPLETE", **facets: Any
) -> dict[str, Any]:
    told = {} if status is None else {"acme_checks": {"result": {"status": status}}}
    return {
        "eventType": kind,
        "eventTime": f"2026-01-{number:02d}T00:00:00Z",
        "run": {"runId": f"{name} {number}", "facets": told | facets},
        "job": {"namespace": "etl", "name": name},
        "inputs": [{"namespace": "s3://lake", "name": "raw"}],
        "outputs": [{"namespace": "s3://lake", "name": "t"}],
    }


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = small_headwater()
    made.accept(
        lineage_event(run(1, "ok")),
        lineage_event(run(2, "broken")),
        lineage_event(run(3, "warn", name="patch")),
    )
    made.project()
    with running(made):
        yield made


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, 1_800_000_000_000)


def put(client: FlaskClient, query: str = "", **changes: Any) -> Any:
    return client.put(f"/quality-rules/acme{query}", json={**RULE, **changes})


def quality(client: FlaskClient, **query: Any) -> Any:
    """The mark of the table in a graph reply; None where there is none."""
    reply = client.get("/graph/lineage", query_string={"node": f"dataset:{TABLE}", **query})
    node = next(n for n in reply.get_json()["nodes"] if n.get("uri") == TABLE)
    return node.get("quality")


def test_the_newest_run_of_each_plan_is_judged_by_the_rule(client: FlaskClient) -> None:
    assert quality(client) is None
    assert put(client).status_code == 200
    mark = quality(client)
    assert (mark["state"], mark["checks"], mark["failures"]) == ("failed", 2, 1)
    (failed,) = mark["failed"]
    assert (failed["name"], failed["assertion"]) == ("acme", "acme_checks")
    assert (failed["actual"], failed["expected"]) == ("broken", "ok or warn")
    assert failed["job"]["name"] == "load"


def test_a_mark_is_that_of_the_time_asked_for(client: FlaskClient) -> None:
    put(client)
    assert quality(client, at="2026-01-01T12:00:00Z")["state"] == "passed"
    assert quality(client, at="2026-01-02T12:00:00Z")["state"] == "failed"


def test_a_later_run_that_passes_mends_the_mark(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    put(client)
    told = headwater.accept(lineage_event(run(4, "ok")))
    headwater.projector.notify()
    assert headwater.projector.wait(told, 5)
    assert quality(client)["state"] == "passed"


def validation(
    number: int, status: Any, *names: str, job: str = "contract", kind: str = "COMPLETE"
) -> dict[str, Any]:
    """A run that only reads, and tells how it went in a facet of its own."""
    inputs = [{"namespace": "s3://lake", "name": name} for name in names or ("t",)]
    return {**run(number, status, name=job, kind=kind), "inputs": inputs, "outputs": []}


def take(headwater: SmallHeadwater, *events: dict[str, Any]) -> None:
    told = headwater.accept(*map(lineage_event, events))
    headwater.projector.notify()
    assert headwater.projector.wait(told, 5)


def test_a_run_that_only_reads_marks_its_inputs(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    put(client, passes=["ok", "warn", "broken"])
    take(headwater, validation(4, "violated", "t", "raw", kind="FAIL"))
    mark = quality(client)
    assert (mark["state"], [one["job"]["name"] for one in mark["failed"]]) == (
        "failed", ["contract"],
    )  # fmt: skip
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/raw"})
    marks = {
        node["uri"]: node.get("quality") for node in reply.get_json()["nodes"] if "uri" in node
    }
    assert marks["s3://lake/raw"]["state"] == "failed"
    assert quality(client, at="2026-01-03T12:00:00Z")["state"] == "passed"
    take(headwater, validation(5, "ok", job="contract of another team"))
    assert quality(client)["state"] == "passed"


def test_a_validator_of_spark_marks_its_inputs_without_an_output(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    put(client, passes=["ok", "warn", "broken"])
    told = validation(4, "violated", job="checks.collect_limit")
    told["job"]["facets"] = {"jobType": {"integration": "SPARK", "jobType": "SQL_JOB"}}
    parent = {"run": {"runId": "app"}, "job": {"namespace": "etl", "name": "checks"}}
    told["run"]["facets"] |= {"parent": parent}
    take(headwater, told)
    assert quality(client)["state"] == "failed"


def test_a_rule_reads_the_facets_of_readers_when_it_is_tried(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, validation(4, "violated", "raw"))
    changes = put(client, "?preview=true").get_json()["items"]
    assert {one["uri"]: one["after"] for one in changes} == {
        TABLE: "failed", "s3://lake/raw": "failed",
    }  # fmt: skip


def test_a_run_that_failed_is_judged_as_well(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    put(client)
    told = headwater.accept(
        lineage_event(run(5, "ok")), lineage_event(run(6, "broken", kind="FAIL"))
    )
    headwater.projector.notify()
    assert headwater.projector.wait(told, 5)
    assert quality(client)["state"] == "failed"


def test_a_preview_tells_the_changes_and_makes_none(client: FlaskClient) -> None:
    seen = put(client, "?preview=true").get_json()
    assert (seen["preview"], seen["total"]) == (True, 1)
    (change,) = seen["items"]
    assert (change["uri"], change["before"], change["after"]) == (TABLE, None, "failed")
    assert client.get("/quality-rules").get_json()["items"] == []
    put(client)
    milder = put(client, "?preview=true", passes=["ok", "warn", "broken"]).get_json()
    assert [(one["before"], one["after"]) for one in milder["items"]] == [("failed", "passed")]
    gone = client.delete("/quality-rules/acme?preview=true").get_json()
    assert [(one["before"], one["after"]) for one in gone["items"]] == [("failed", None)]


def test_a_rule_is_journalled_and_taken_away(client: FlaskClient) -> None:
    put(client, note="our own gate")
    put(client, note="our own gate")
    (command,) = client.get("/commands?kind=quality").get_json()["items"]
    assert (command["target"], command["note"]) == ("acme", "our own gate")
    assert client.delete("/quality-rules/acme").status_code == 200
    assert client.delete("/quality-rules/acme").status_code == 404
    assert quality(client) is None


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("facet", {"facet": ""}),
        ("path", {"path": 7}),
        ("passes", {"passes": []}),
        ("passes", {"passes": "ok"}),
        ("passes", {"passes": [{}]}),
        ("passes", {"passes": [None]}),
        ("passes", {"passes": ["x" * 201]}),
        ("more", {"more": 1}),
        ("note", {"note": "x" * 501}),
    ],
)
def test_a_rule_that_cannot_be_is_refused_by_its_field(
    client: FlaskClient, field: str, changes: dict[str, Any]
) -> None:
    refused = put(client, **changes)
    assert refused.status_code == 400
    assert any(re.match(field, name) for name in refused.get_json()["errors"])


@pytest.mark.parametrize(
    ("path", "body", "passed"),
    [
        ("ok", {"ok": True}, True),
        ("ok", {"ok": "true"}, False),
        ("rows", {"rows": 1.0}, True),
        ("list.1.state", {"list": [{}, {"state": "good"}]}, True),
        ("list.7.state", {"list": []}, None),
        ("a.b", {"a": "text"}, None),
        ("a", {"a": {"b": 1}}, None),
        ("a", {"a": None}, None),
        ("a", [], None),
    ],
)
def test_the_value_at_the_path_decides(path: str, body: Any, passed: bool | None) -> None:
    rule = read_quality_rule("r", {"facet": "f", "path": path, "passes": [True, 1, "good"]})
    verdict = judge_facet(rule, body)
    assert (verdict.passed if verdict else None) is passed


def test_rules_on_the_command_line(client: FlaskClient) -> None:
    line = "quality set gate --facet acme_checks --path result.status --pass ok --pass 1"
    assert told(client, f"{line} --preview") == [
        f"  {TABLE}: - -> failed",
        "1 of 2 datasets would change their mark",
    ]
    assert told(client, line) == ["gate is in place"]
    assert told(client, "quality")[0].endswith('acme_checks.result.status passes with "ok", 1')
    assert told(client, "quality remove gate") == ["gate is gone"]
    assert told(client, "quality") == ["0 rules"]
