"""The overview counts everything there is, however small a part of it the picture shows."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from api.schemas.graph import OverviewReply
from graph_model import identity
from tests.e2e.answers.test_reading_jobs import edges_of, get, job, run, table
from tests.e2e.small_client import client_of, command
from tests.projections import SmallHeadwater, lineage_event

NOW = 1_772_400_000_000  # 2026-03-01T21:20:00Z
JOBS, FAILED = 60, 24


def runs() -> list[dict[str, Any]]:
    """Each job reads ``hub`` and writes a table of its own; then the last 24 failed."""
    told = [
        run(f"job-{n:02}", f"10:{n:02}:00", table("hub"), outputs=[table(f"out-{n:02}")])
        for n in range(JOBS)
    ]
    return told + [
        run(
            f"job-{n:02}", f"11:{n:02}:00", table("hub"), table("more"), kind="FAIL",
            outputs=[table(f"out-{n:02}")],
        )
        for n in range(JOBS - FAILED, JOBS)
    ]  # fmt: skip


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    headwater.accept(*map(lineage_event, runs()))
    headwater.project()
    assert headwater.journal.summary().failed == 0
    return client_of(headwater, NOW)


@pytest.mark.parametrize("query", [{}, {"limit": 5}, {"q": "out-03"}, {"namespace": "other"}])
def test_totals_are_those_of_everything_whatever_is_drawn(
    client: FlaskClient, query: dict[str, Any]
) -> None:
    reply = get(client, "/graph/overview", **query)
    assert OverviewReply().load(reply)
    assert reply["totals"] == {"jobs": JOBS, "datasets": JOBS + 2, "failed": FAILED}


def test_the_newest_failures_are_named_newest_first(client: FlaskClient) -> None:
    failures = get(client, "/graph/overview", limit=5)["failures"]
    assert [one["job"]["name"] for one in failures] == [f"job-{n}" for n in range(59, 39, -1)]
    assert failures[0] == {
        "job": {"id": job("job-59"), "namespace": "bi", "name": "job-59"},
        "at": "2026-03-01T11:59:00.000Z",
    }


def test_totals_are_those_of_the_time_asked(client: FlaskClient) -> None:
    early = get(client, "/graph/overview", at="2026-03-01T10:04:30Z")
    assert early["totals"] == {"jobs": 5, "datasets": 6, "failed": 0}
    assert early["failures"] == []
    later = get(client, "/graph/overview", at="2026-03-01T11:37:30Z")
    assert later["totals"]["failed"] == 2


def test_hidden_nodes_are_not_counted(headwater: SmallHeadwater, client: FlaskClient) -> None:
    assert command(client, "hide job:bi/job-59")[0] == 0
    assert command(client, "hide dataset:s3://lake/more")[0] == 0
    headwater.project()
    reply = get(client, "/graph/overview")
    assert reply["totals"] == {"jobs": JOBS - 1, "datasets": JOBS + 1, "failed": FAILED - 1}
    assert reply["failures"][0]["job"]["name"] == "job-58"


def test_a_job_that_failed_keeps_its_edges_and_its_attempts_are_marked(
    client: FlaskClient,
) -> None:
    reply = get(client, "/graph/overview", limit=2_000)
    marked = {one["id"] for one in reply["edges"] if one.get("attempted")}
    tried = {("more", f"job-{n}") for n in range(JOBS - FAILED, JOBS)}
    assert tried == edges_of({**reply, "edges": [e for e in reply["edges"] if e["id"] in marked]})
    true = edges_of({**reply, "edges": [e for e in reply["edges"] if e["id"] not in marked]})
    assert {("hub", "job-59"), ("job-59", "out-59")} <= true


def test_an_attempt_of_a_job_changes_no_lineage(client: FlaskClient) -> None:
    more = identity.dataset_id("", "s3://lake/more")
    assert get(client, "/graph/lineage", node=more, depth=5)["edges"] == []
    assert get(client, "/graph/impact", node=more, depth=5)["items"] == []
    assert edges_of(get(client, "/graph/lineage", node=job("job-59"))) == {
        ("hub", "job-59"), ("job-59", "out-59"),
    }  # fmt: skip


def test_a_job_that_never_succeeded_stands_beside_its_attempts(
    headwater: SmallHeadwater,
) -> None:
    told = run("new", "10:00:00", table("in"), kind="FAIL", outputs=[table("one"), table("two")])
    headwater.accept(lineage_event(told))
    headwater.project()
    client = client_of(headwater, NOW)
    reply = get(client, "/graph/overview")
    assert edges_of(reply) == {("in", "new"), ("new", "one"), ("new", "two")}
    assert all(edge["attempted"] for edge in reply["edges"])
    assert get(client, "/graph/lineage", node=job("new"))["edges"] == []
    before = get(client, "/graph/overview", at="2026-03-01T09:00:00Z")
    assert before["edges"] == []


def test_after_a_good_run_nothing_is_marked(headwater: SmallHeadwater) -> None:
    headwater.accept(
        lineage_event(run("new", "10:00:00", table("in"), kind="FAIL")),
        lineage_event(run("new", "11:00:00", table("other"))),
    )
    headwater.project()
    reply = get(client_of(headwater, NOW), "/graph/overview")
    assert edges_of(reply) == {("other", "new")}
    assert not any("attempted" in edge for edge in reply["edges"])
    assert reply["totals"]["failed"] == 0


@pytest.mark.parametrize("query", [{}, {"q": "mart.summary"}, {"limit": 3}])
def test_a_catalog_name_is_drawn_where_it_has_no_location(
    headwater: SmallHeadwater, query: dict[str, Any]
) -> None:
    link = {"namespace": "hive://hms", "name": "sales.orders", "type": "TABLE"}
    orders = {**table("orders"), "facets": {"symlinks": {"identifiers": [link]}}}
    summary = {"namespace": "hive://hms", "name": "mart.summary"}
    headwater.accept(lineage_event(run("report", "10:00:00", orders, outputs=[summary])))
    headwater.project()
    reply = get(client_of(headwater, NOW), "/graph/overview", **query)
    assert sorted(node["label"] for node in reply["nodes"]) == ["mart.summary", "orders", "report"]
    assert reply["partial"] is None
    assert reply["totals"] == {"jobs": 1, "datasets": 3, "failed": 0}
