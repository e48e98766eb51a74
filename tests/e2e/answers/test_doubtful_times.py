"""One document of the year 9999, over HTTP: what it reports counts from its receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from graph_model.facts import LogicalPlanRow
from tests.e2e.answers.test_answers import job, labels_of
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater
from tests.unit.graph_model.projection.projector.test_projector import an_event

HOUR = 3_600_000
NOW = 1_772_352_000_000  # 2026-03-01T08:00Z
YEAR_9999 = 253_402_300_799_000
TABLE = "s3://lake/t"

Post = Callable[[FlaskClient, str, str, int, int], None]


def by_spline(client: FlaskClient, name: str, source: str, number: int, at: int) -> None:
    body = job(name, TABLE, number, source=source)
    for path, document in (
        ("execution-plans", body),
        ("execution-events", [an_event(at, planId=body["id"])]),
    ):
        assert client.post(f"/producer/{path}", json=document).status_code == 201


def by_openlineage(client: FlaskClient, name: str, source: str, number: int, at: int) -> None:
    told = "9999-12-31T23:59:59Z" if at == YEAR_9999 else f"2026-03-01T{8 + (at - NOW) // HOUR}:00Z"
    event = {
        "eventType": "COMPLETE",
        "eventTime": told.replace("T8:", "T08:").replace("T9:", "T09:"),
        "run": {"runId": f"run-{number}"},
        "job": {"namespace": "default", "name": name},
        "inputs": [{"namespace": "s3://lake", "name": source.removeprefix("s3://lake/")}],
        "outputs": [
            {
                "namespace": "s3://lake",
                "name": "t",
                "facets": {
                    "lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"},
                    "schema": {"fields": [{"name": name, "type": "int"}]},
                },
            }
        ],
    }
    assert client.post("/api/v1/lineage", json=event).status_code == 201


@pytest.fixture(params=[by_spline, by_openlineage])
def post(request: pytest.FixtureRequest) -> Any:
    return request.param


def told_at(headwater: SmallHeadwater, post: Post, hours: int, *document: Any) -> FlaskClient:
    """The document arrives so many hours after NOW."""
    client = client_of(headwater, NOW + hours * HOUR)
    post(client, *document)
    headwater.project()
    return client


def answers(client: FlaskClient, **query: str) -> dict[str, Any]:
    """The upstream of the table, its last writer, and as of which time."""
    reply = client.get("/graph/lineage", query_string={"node": f"dataset:{TABLE}", **query})
    (table,) = client.get(f"/graph/datasets?q={TABLE}").get_json()["items"]
    last = client.get(f"/graph/datasets/{table['id']}/last-writer", query_string=query).get_json()
    return {
        "upstream": labels_of(reply) - {"t"},
        "asOf": reply.get_json()["asOf"],
        "last": (last["execution"]["job"]["name"], last["execution"]["countedAt"]),
    }


def test_a_table_is_answered_as_without_the_document_once_it_is_written_again(
    headwater: SmallHeadwater, post: Post
) -> None:
    told_at(headwater, post, 0, "load", "s3://lake/raw", 1, NOW)
    client = told_at(headwater, post, 1, "wrong", "s3://lake/evil", 2, YEAR_9999)
    meanwhile = answers(client)
    assert meanwhile["upstream"] == {"wrong", "evil"}, "it is the last that anybody reported"
    assert meanwhile["last"] == ("wrong", "2026-03-01T09:00:00.000Z")
    assert meanwhile["asOf"] == "2026-03-01T09:00:00.000Z"
    client = told_at(headwater, post, 2, "load", "s3://lake/raw", 3, NOW + 2 * HOUR)
    now = answers(client)
    assert now["upstream"] == {"load", "raw"}
    assert now["last"] == ("load", None)
    assert now["asOf"] == "2026-03-01T10:00:00.000Z"
    assert answers(client, at="2026-03-01T08:30:00Z")["upstream"] == {"load", "raw"}
    assert answers(client, at="2026-03-01T09:30:00Z")["upstream"] == {"wrong", "evil"}


def test_the_execution_keeps_its_own_time_and_is_listed_as_doubtful(
    headwater: SmallHeadwater, post: Post
) -> None:
    told_at(headwater, post, 0, "load", "s3://lake/raw", 1, NOW)
    client = told_at(headwater, post, 1, "wrong", "s3://lake/evil", 2, YEAR_9999)
    told_at(headwater, post, 2, "load", "s3://lake/raw", 3, NOW + 2 * HOUR)
    own = ("9999-12-31T23:59:59.000Z", "2026-03-01T09:00:00.000Z")
    (doubtful,) = client.get("/graph/runs?doubtful=true").get_json()["items"]
    assert (doubtful["at"], doubtful["countedAt"]) == own
    runs = client.get("/graph/runs").get_json()["items"]
    assert [one["job"]["name"] for one in runs] == ["load", "wrong", "load"]
    (table,) = client.get(f"/graph/datasets?q={TABLE}").get_json()["items"]
    written = client.get(f"/graph/datasets/{table['id']}/history").get_json()["items"]
    assert [one["countedAt"] for one in written] == [None, own[1], None]
    claimed = [one.value("at") for one in headwater.graph.scan() if one.id == doubtful["id"]]
    assert claimed == [YEAR_9999]


def test_a_repeat_of_the_document_changes_nothing(headwater: SmallHeadwater, post: Post) -> None:
    document = ("wrong", "s3://lake/evil", 2, YEAR_9999)
    told_at(headwater, post, 1, *document)
    before = headwater.elements()
    told_at(headwater, post, 30, *document)
    assert headwater.elements() == before


def test_the_plan_of_a_doubtful_run_has_its_page_where_two_jobs_have_one_run_id(
    headwater: SmallHeadwater,
) -> None:
    told_at(headwater, by_openlineage, 0, "load", "s3://lake/raw", 1, NOW)
    client = told_at(headwater, by_openlineage, 1, "wrong", "s3://lake/evil", 1, YEAR_9999)
    plans = [row for row in headwater.catalogue.scan() if isinstance(row, LogicalPlanRow)]
    pages = [client.get(f"/graph/plans/{row.id}").get_json() for row in plans]
    assert sorted(page["name"] for page in pages) == ["load", "wrong"]
