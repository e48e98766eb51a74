"""Lineage is what was seen; possible flow is counted beside it, and drawn where it is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from api.schemas.graph import GraphReply
from graph_model.lineage import Lineage
from tests.e2e.answers.test_reading_jobs import edges_of, get, run, table
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event

NOW = 1_772_400_000_000
RAW, DAILY = "dataset:s3://lake/raw", "dataset:s3://lake/daily"


def copied(source: str) -> dict[str, Any]:
    """``k`` is a copy of the source's."""
    field = {"namespace": "s3://lake", "name": source, "field": "k"}
    return {"columnLineage": {"fields": {"k": {"inputFields": [field]}}}}


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    """The reader ran an hour before the writer."""
    told = [
        run("report", "09:00:00", table("daily"),
            outputs=[{**table("report"), "facets": copied("daily")}]),
        run("load", "10:00:00", table("raw"),
            outputs=[{**table("daily"), "facets": copied("raw")}]),
    ]  # fmt: skip
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    return client_of(headwater, NOW)


def test_history_ends_where_nothing_was_seen_and_counts_what_is_possible(
    client: FlaskClient,
) -> None:
    reply = get(client, "/graph/lineage", node=RAW, depth=5)
    assert edges_of(reply) == {("raw", "load"), ("load", "daily")}
    assert reply["notSeen"] == {"tables": 1, "jobs": 1, "partial": False}
    near = get(client, "/graph/lineage", node=RAW, depth=1)
    assert near["notSeen"] == {"tables": 0, "jobs": 0, "partial": False}


@pytest.mark.parametrize("columns", ["false", "true"])
def test_possible_flow_marks_the_edges_on_which_nothing_was_seen(
    client: FlaskClient, columns: str
) -> None:
    query = {"node": RAW, "depth": 5, "reach": "possible", "columns": columns}
    reply = get(client, "/graph/lineage", **query)
    assert GraphReply().load(reply)
    feeds = [edge for edge in reply["edges"] if edge["kind"] == "feeds"]
    unseen = edges_of({**reply, "edges": [e for e in feeds if e.get("seen") is False]})
    assert unseen == {("daily", "report"), ("report", "report")}
    derived = [edge for edge in reply["edges"] if edge["kind"] != "feeds"]
    assert [edge.get("seen", True) for edge in derived].count(False) == (columns == "true")
    assert "notSeen" not in reply
    up = get(client, "/graph/lineage", node="dataset:s3://lake/report", depth=5, reach="possible")
    assert {label for label, _ in edges_of(up)} >= {"raw", "daily"}


def test_columns_have_possible_flow_too(client: FlaskClient) -> None:
    asked = {"dataset": "s3://lake/raw", "column": "k", "depth": 5}
    reply = get(client, "/graph/column-lineage", **asked)
    assert len(reply["edges"]) == 1
    assert reply["notSeen"] == {"tables": 1, "jobs": 1, "partial": False}
    more = get(client, "/graph/column-lineage", **asked, reach="possible")
    assert [edge.get("seen", True) for edge in more["edges"]].count(False) == 1
    assert len(more["edges"]) == 2


def test_the_number_beside_a_node_is_what_opens_there(headwater: SmallHeadwater) -> None:
    """The write of ``early`` was overwritten, and a next run would bring it again."""
    overwritten = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}}
    told = [
        run(job, ended, table(source), outputs=[{**table(target), "facets": overwritten}])
        for job, ended, source, target in (
            ("early", "08:00:00", "x", "t"),
            ("late", "09:00:00", "y", "t"),
            ("read", "10:00:00", "t", "u"),
        )
    ]
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    client = client_of(headwater, NOW)
    for reach, writers in (("seen", {"late"}), ("possible", {"early", "late"})):
        asked = {"reach": reach, "beyond": "true"}
        near = get(client, "/graph/lineage", node="dataset:s3://lake/u", **asked)
        more = {node["label"]: node["more"] for node in near["nodes"] if "more" in node}
        assert more == {"t": {"upstream": len(writers), "downstream": 0}}
        opened = get(client, "/graph/lineage", node="dataset:s3://lake/t", **asked)
        assert {job for job, target in edges_of(opened) if target == "t"} == writers


@pytest.mark.parametrize(("state", "times"), [("COMPLETE", 1), ("FAIL", 2)])
def test_what_lies_beyond_a_picture_is_read_again_only_where_an_attempt_widens_it(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch, state: str, times: int
) -> None:
    told = [
        run("load", "08:00:00", table("raw"), outputs=[table("daily")]),
        run("report", "09:00:00", table("daily"), outputs=[table("report")], kind=state),
    ]
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    read: list[tuple[Any, ...]] = []

    def neighbours(lineage: Lineage, *given: Any) -> Any:
        read.append(given)
        return beside(lineage, *given)

    beside = Lineage.with_neighbours
    monkeypatch.setattr(Lineage, "with_neighbours", neighbours)
    reply = get(client_of(headwater, NOW), "/graph/lineage", node=DAILY, beyond="true")
    assert edges_of(reply) >= {("load", "daily"), ("daily", "report")}
    assert len(read) == times


@pytest.mark.parametrize("state", ["FAIL", "ABORT"])
def test_a_job_that_tried_to_write_a_table_and_never_did_is_drawn_beside_it(
    headwater: SmallHeadwater, state: str
) -> None:
    """And beside no other table: what failed there is not its lineage."""
    told = [
        run("load", "08:00:00", table("raw"), outputs=[table("daily")]),
        run("broken", "09:00:00", table("raw"), outputs=[table("daily")], kind=state),
        run("export", "10:00:00", table("daily"), outputs=[table("report")]),
    ]
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    client = client_of(headwater, NOW)
    good = {("raw", "load"), ("load", "daily")}
    tried = {("raw", "broken"), ("broken", "daily")}
    asked = {"direction": "upstream", "depth": 5, "beyond": "true"}
    assert edges_of(get(client, "/graph/lineage", node=DAILY, **asked)) == good | tried
    report = get(client, "/graph/lineage", node="dataset:s3://lake/report", **asked)
    assert edges_of(report) == good | {("daily", "export"), ("export", "report")}


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/graph/lineage", {"node": RAW, "reach": "in-force"}),
        ("/graph/column-lineage", {"dataset": "s3://lake/raw", "reach": "possible", "ends": 1}),
        ("/graph/impact", {"node": RAW, "reach": "none"}),
    ],
)
def test_another_reach_is_refused(client: FlaskClient, path: str, query: dict[str, Any]) -> None:
    answer = client.get(path, query_string=query)
    assert answer.status_code == 400
    assert "reach" in answer.get_data(as_text=True)
