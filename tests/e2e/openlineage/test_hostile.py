"""Events that nobody should send: every page opens, and their lineage stays true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final

import pytest
from flask.testing import FlaskClient
from hypothesis import given

from graph_model.facts import RunRow
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.e2e.small_client import client_of
from tests.openlineage_facts import facts_of_run
from tests.projections import SmallHeadwater, budget, lineage_event, project
from tests.unit.graph_model.producers.openlineage.test_streams import SEEDS, Stream

NOW: Final = 1_772_400_000_000  # 2026-03-01T21:20:00Z
LAKE: Final = "s3://lake"
Json = dict[str, Any]


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, query, reply.get_data(as_text=True))
    return reply.get_json()


def every_page(client: FlaskClient) -> Iterator[tuple[str, Any]]:
    """Every page that a person may open, with its content."""
    yield "overview", get(client, "/graph/overview")
    for job in get(client, "/graph/jobs", limit=100)["items"]:
        yield "job", get(client, f"/graph/jobs/{job['id']}")
        yield "facets", get(client, f"/graph/jobs/{job['id']}/facets")
        for run in get(client, f"/graph/jobs/{job['id']}/runs", limit=100)["items"]:
            yield "run", get(client, f"/graph/runs/{run['id']}")
    for dataset in get(client, "/graph/datasets", limit=100)["items"]:
        for part in ("", "/history", "/last-writer", "/facets"):
            yield "dataset", get(client, f"/graph/datasets/{dataset['id']}{part}")


def neighbours(client: FlaskClient, node: str, direction: str, at: int) -> set[str]:
    query = {"node": node, "direction": direction, "depth": 4, "at": at}
    return {one["id"] for one in get(client, "/graph/lineage", **query)["nodes"]}


def mirror_holds(client: FlaskClient, at: int) -> None:
    listed = get(client, "/graph/datasets", limit=100, at=at)["items"]
    ids = [one["id"] for one in listed]
    up = {one: neighbours(client, one, "upstream", at) for one in ids}
    down = {one: neighbours(client, one, "downstream", at) for one in ids}
    for one, other in product(ids, ids):
        assert (other in up[one]) == (one in down[other])


@budget(5)
@given(SEEDS)
def test_every_page_opens_and_upstream_mirrors_downstream(seed: int) -> None:
    made = project(map(lineage_event, Stream(seed).events(6)), stepwise=False)
    assert made.journal.summary().failed == 0
    client = client_of(made, NOW)
    assert sum(1 for _ in every_page(client)) >= 1
    for at in (1_772_359_204_000, NOW):  # while they come, and after
        mirror_holds(client, at)
    made.close()


# --- one by one ----------------------------------------------------------------------------------


def event(run: str, kind: str, clock: str, job: str = "load", **more: Any) -> Json:
    """No producer, no schemaURL; ``clock`` with whatever zone it names."""
    return {
        "eventType": kind,
        "eventTime": f"2026-03-01T{clock}",
        "run": {"runId": run, "facets": more.pop("run_facets", {})},
        "job": {"namespace": more.pop("namespace", "etl"), "name": job},
        "inputs": [{"namespace": LAKE, "name": one} for one in more.pop("reads", ())],
        "outputs": [{"namespace": LAKE, "name": one} for one in more.pop("writes", ())],
        **more,
    }


def below(run: str) -> Json:
    return {"parent": {"run": {"runId": run}, "job": {"namespace": "etl", "name": "dag"}}}


def client_after(headwater: SmallHeadwater, events: Iterable[Json]) -> FlaskClient:
    headwater.accept(*map(lineage_event, events))
    headwater.project()
    assert headwater.journal.summary().failed == 0
    return client_of(headwater, NOW)


def upstream_of(client: FlaskClient, name: str) -> set[str]:
    answer = get(client, "/graph/lineage", node=f"dataset:{LAKE}/{name}", direction="upstream")
    return {node["label"] for node in answer["nodes"] if node["kind"] == "dataset"} - {name}


def test_complete_before_start_is_the_run_that_both_tell(headwater: SmallHeadwater) -> None:
    client = client_after(
        headwater,
        [
            event("r", "COMPLETE", "10:05:00Z", writes=["out"]),
            event("r", "START", "10:00:00Z", reads=["in"]),
        ],
    )
    assert upstream_of(client, "out") == {"in"}
    run = get(client, "/graph/runs/r")
    assert (run["state"], run["items"][0]["durationMs"]) == ("completed", 300_000)


def test_of_two_ends_the_later_by_event_time_counts(headwater: SmallHeadwater) -> None:
    """A FAIL that arrives after COMPLETE, and happened before it: the run was tried again."""
    client = client_after(
        headwater,
        [
            event("r", "COMPLETE", "10:05:00Z", writes=["out"]),
            event("r", "FAIL", "10:04:00Z"),
            event("r", "RUNNING", "10:06:00Z"),
            event("r", "OTHER", "10:07:00Z"),
        ],
    )
    run = get(client, "/graph/runs/r")
    assert (run["state"], run["endedAt"]) == ("completed", "2026-03-01T10:05:00.000Z")


def test_a_time_without_a_zone_is_utc(headwater: SmallHeadwater) -> None:
    client = client_after(headwater, [event("r", "COMPLETE", "10:05:00", writes=["out"])])
    assert get(client, "/graph/runs/r")["endedAt"] == "2026-03-01T10:05:00.000Z"


def test_an_aborted_run_wrote_nothing(headwater: SmallHeadwater) -> None:
    client = client_after(
        headwater, [event("r", "ABORT", "10:05:00Z", reads=["in"], writes=["out"])]
    )
    assert upstream_of(client, "out") == set()
    assert get(client, "/graph/runs/r")["state"] == "aborted"


@pytest.mark.parametrize("above", ["r0", "r1", "r2"])
def test_circles_of_parents_end_every_page(headwater: SmallHeadwater, above: str) -> None:
    """A run that is its own parent, two that are each other's, three in a ring."""
    ring = [f"r{number}" for number in range(int(above[1:]) + 1)]
    client = client_after(
        headwater,
        [
            event(run, "COMPLETE", "10:05:00Z", run, run_facets=below(ring[place - 1]))
            for place, run in enumerate(ring)
        ],
    )
    pages = [shown for kind, shown in every_page(client) if kind == "run"]
    assert {page["runId"] for page in pages} == set(ring)
    assert all(len(page["ancestors"]) < len(ring) for page in pages)


def test_a_run_with_ten_thousand_children_shows_some_and_says_so(
    headwater: SmallHeadwater,
) -> None:
    top = event("top", "START", "10:00:00Z", "dag")
    headwater.accept(lineage_event(top), lineage_event(event("c", "START", "10:00:01Z")))
    headwater.project()
    told = read_event(event("c", "START", "10:00:02Z", run_facets=below("top")))
    assert isinstance(told, RunEvent)
    (row,) = (one for one in facts_of_run([told]).rows if isinstance(one, RunRow))
    rows = []
    for number in range(10_000):
        values = row._asdict()
        values |= {"id": f"olr_{number}", "subject": f"sub_{number}", "run_id": f"c{number}"}
        rows.append(RunRow(**values))
    headwater.catalogue.record(rows)
    page = get(client_of(headwater, NOW), "/graph/runs/top")
    assert len(page["children"]) == page["partial"]["limit"] == 500


ABSURD: Final = (
    "a\tb\nc", "..", "/", "%2e%2e%2f", "#", "?a=b&c", "Ünï\u202ecod\u0000e", "x" * 5_000, "null",
    "<script>alert(1)</script>", "'; drop table jobs; --", "\U0001f600", "a/b/c#d", " padded ",
)  # fmt: skip


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_names_are_kept_and_open(headwater: SmallHeadwater, name: str) -> None:
    client = client_after(
        headwater,
        [
            event("r" + name[:99], "START", "10:00:00Z", name, namespace=name, reads=[name]),
            event("r" + name[:99], "COMPLETE", "10:05:00Z", name, namespace=name, writes=["out"]),
        ],
    )
    assert sum(1 for _ in every_page(client)) > 3
    assert len(upstream_of(client, "out")) == 1
    (job,) = get(client, "/graph/jobs")["items"]
    assert job["name"].strip() != ""


def test_two_pipelines_that_count_their_runs_alike_are_not_mixed(
    headwater: SmallHeadwater,
) -> None:
    """A run id that is no UUID is unique in its job's namespace at best."""
    client = client_after(
        headwater,
        [
            event("1", "START", "10:00:00Z", "pay", namespace="hr", reads=["salaries"]),
            event("1", "START", "10:00:00Z", "tickets", namespace="it", reads=["calls"]),
            event("1", "COMPLETE", "10:05:00Z", "pay", namespace="hr", writes=["paid"]),
            event("1", "COMPLETE", "10:06:00Z", "tickets", namespace="it", writes=["solved"]),
        ],
    )
    assert upstream_of(client, "paid") == {"salaries"}
    assert upstream_of(client, "solved") == {"calls"}
    jobs = {job["name"]: job["id"] for job in get(client, "/graph/jobs")["items"]}
    assert len(jobs) == 2
    for name, read in (("pay", "salaries"), ("tickets", "calls")):
        (listed,) = get(client, f"/graph/jobs/{jobs[name]}")["plans"]
        page = get(client, f"/graph/plans/{listed['id']}")
        assert [one["label"] for one in page["sources"]] == [read]
        assert {one["name"] for one in page["openlineage"]["datasets"]} >= {read}
    assert len(get(client, "/graph/runs/1")["history"]) == 2
