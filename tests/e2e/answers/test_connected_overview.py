"""An overview that counts lone jobs instead of drawing them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.schemas.graph import OverviewReply
from tests.e2e.answers.test_reading_jobs import get, run, table
from tests.e2e.small_client import client_of
from tests.projections import lineage_event, small_headwater

NOW = 1_772_400_000_000  # 2026-03-01T21:20:00Z
LONE = 30


def runs() -> Iterator[dict[str, Any]]:
    """A chain of three jobs and a dashboard, one job that failed alone, and 30 lone jobs."""
    for n in range(3):
        target = table(f"step-{n + 1}")
        yield run(f"chain-{n}", f"10:{n:02}:00", table(f"step-{n}"), outputs=[target])
    yield run("dashboard", "10:05:00", table("step-3"), outputs=[])
    yield run("broken", "10:06:00", table("x"), outputs=[table("y")])
    yield run("broken", "11:06:00", table("x"), kind="FAIL", outputs=[table("y")])
    for n in range(LONE):
        yield run(f"lone-{n:02}", f"12:{n:02}:00", outputs=[table(f"out-{n:02}")])


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    headwater = small_headwater()
    headwater.accept(*map(lineage_event, runs()))
    headwater.project()
    yield client_of(headwater, NOW)
    headwater.close()


def drawn(reply: Any, kind: str = "job") -> list[str]:
    return sorted(one["label"] for one in reply["nodes"] if one["kind"] == kind)


def test_many_lone_jobs_are_counted_and_named_and_only_connected_and_failing_ones_drawn(
    client: FlaskClient,
) -> None:
    reply = get(client, "/graph/overview", lone="counted")
    assert OverviewReply().load(reply)
    assert drawn(reply) == ["broken", "chain-0", "chain-1", "chain-2", "dashboard"]
    assert reply["lone"]["jobs"] == LONE
    assert [one["name"] for one in reply["lone"]["items"]] == [f"lone-{n:02}" for n in range(LONE)]
    assert reply["partial"] is None


def test_beyond_the_limit_failing_jobs_come_first_and_nodes_say_how_many_neighbours_are_left_out(
    client: FlaskClient,
) -> None:
    reply = get(client, "/graph/overview", lone="counted", limit=6)
    broken, chained = drawn(reply)
    assert (broken, chained[:5]) == ("broken", "chain")
    assert reply["partial"] == {"reason": "nodes", "limit": 6}
    more = [one["more"] for one in reply["nodes"] if one.get("more")]
    assert more
    assert all(one["upstream"] + one["downstream"] == 1 for one in more)


def test_without_the_parameter_or_with_a_filter_every_job_is_drawn(client: FlaskClient) -> None:
    for query in ({}, {"lone": "counted", "q": "out-"}):
        reply = get(client, "/graph/overview", **query)
        assert len([one for one in drawn(reply) if one.startswith("lone")]) == LONE
        assert reply["lone"] is None


def test_at_a_time_failed_and_connected_work_of_that_time_comes_first(client: FlaskClient) -> None:
    def at(time: str, **query: int) -> Any:
        return get(client, "/graph/overview", lone="counted", at=f"2026-03-01T{time}Z", **query)

    before = at("12:22:30")
    assert drawn(before) == ["broken", "chain-0", "chain-1", "chain-2", "dashboard"]
    assert before["lone"]["jobs"] == 23
    assert "broken" not in drawn(at("11:05:00", limit=6))
    assert "dashboard" not in drawn(at("10:04:00"))


def test_an_estate_with_more_than_is_looked_at_says_so_beside_its_lone_jobs(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get(client, "/graph/overview", lone="counted")["lone"]["partial"] is None
    monkeypatch.setattr("graph_model.answers.overview._MOST_READ", LONE)
    reply = get(client, "/graph/overview", lone="counted")
    assert reply["lone"]["partial"] == {"reason": "nodes", "limit": LONE}


def test_words_that_no_name_holds_are_set_aside_and_said(client: FlaskClient) -> None:
    def found(words: str, **query: Any) -> tuple[list[str], list[str]]:
        reply = get(client, "/graph/search", q=words, **query)
        return [one["label"] for one in reply["items"]], reply["setAside"]

    assert found("nowhere dashboard") == (["dashboard"], ["nowhere"])
    assert found("dashboard") == (["dashboard"], [])
    assert found("nowhere unheard") == ([], ["nowhere", "unheard"])
    assert found("dashboard step", kind="dataset") == ([], [])  # each is a name of some kind
