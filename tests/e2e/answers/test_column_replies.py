"""Replies about columns that lineage alone names, about fields, and about influences."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from graph_model.producers.openlineage.producer import event_submission
from tests.e2e.small_client import client_of
from tests.estates import Run, event, table_id
from tests.projections import SmallHeadwater

NOW = 1_900_000_000_000
SOURCE, TARGET = table_id("s3 d0"), table_id("s3 d1")
#: A model of dbt: its schema lists two of four columns, the source has none.
MODEL = Run(
    0, 0, {"s3 d0": None}, "s3 d1", ["id", "Items"],
    {
        "id": [("s3 d0", "id", "")],
        "total": [("s3 d0", "amount", "")],
        "Items.Sku": [("s3 d0", "sku", "")],
        "rank": [("s3 d0", "day", "WINDOW")],
    },
    [("s3 d0", "country", "FILTER"), ("s3 d0", "status", "FILTER")],
)  # fmt: skip


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    headwater.accept(event_submission(event(MODEL)))
    headwater.project()
    return client_of(headwater, NOW)


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, reply.get_data(as_text=True)
    return reply.get_json()


def columns(graph: Any, dataset: str) -> dict[str, Any]:
    return {
        node["name"]: node
        for node in graph["nodes"]
        if node["kind"] == "column" and node["datasetId"] == dataset
    }


def test_both_graphs_draw_all_columns_and_say_how_each_is_known(client: FlaskClient) -> None:
    beside = get(client, "/graph/lineage", node=TARGET, columns="true")
    across = get(client, "/graph/column-lineage", dataset=TARGET)
    for graph in (beside, across):
        known = {name: node["known"] for name, node in columns(graph, TARGET).items()}
        assert known == {
            "id": "schema", "Items": "schema", "items.sku": "schema",
            "rank": "lineage", "total": "lineage",
        }  # fmt: skip
        assert list(known)[:3] == ["id", "Items", "items.sku"]
    sources = {name: node["known"] for name, node in columns(beside, SOURCE).items()}
    assert sources == dict.fromkeys(("amount", "country", "day", "id", "sku", "status"), "lineage")
    told = [
        {edge["id"] for edge in g["edges"] if edge["kind"] != "feeds"} for g in (beside, across)
    ]
    assert told[0] == told[1]
    assert len(told[0]) == 3


def test_a_field_names_its_column_where_that_is_drawn(client: FlaskClient) -> None:
    drawn = columns(get(client, "/graph/lineage", node=TARGET, columns="true"), TARGET)
    assert drawn["items.sku"]["parent"] == drawn["Items"]["id"]
    assert drawn["Items"]["parent"] is None
    alone = get(client, "/graph/column-lineage", dataset=SOURCE, column="sku")
    assert columns(alone, TARGET)["items.sku"]["parent"] is None


@pytest.mark.parametrize("indirect", ["false", "true"])
def test_a_column_counts_its_influences_whether_asked_for_or_not(
    client: FlaskClient, indirect: str
) -> None:
    asked = {"dataset": TARGET, "column": "rank", "direction": "upstream", "indirect": indirect}
    across = columns(get(client, "/graph/column-lineage", **asked), TARGET)
    assert across["rank"]["indirect"] == {"FILTER": 2, "WINDOW": 1}
    beside = get(client, "/graph/lineage", node=TARGET, columns="true", indirect=indirect)
    assert columns(beside, TARGET)["rank"]["indirect"] == {"FILTER": 2, "WINDOW": 1}
    assert columns(beside, TARGET)["total"]["indirect"] == {"FILTER": 2}
    assert columns(beside, SOURCE)["day"]["indirect"] == {}
    page = get(client, f"/graph/columns/{across['rank']['id']}")
    assert page["indirect"] == {"FILTER": 2, "WINDOW": 1}
    assert page["known"] == "lineage"


def test_columns_of_hidden_tables_are_not_counted(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    hidden = client.post("/commands", json={"command": "hide", "node": SOURCE})
    assert len(hidden.get_json()["positions"]) == 1
    headwater.project()
    across = get(client, "/graph/column-lineage", dataset=TARGET, column="rank")
    assert columns(across, TARGET)["rank"]["indirect"] == {}


def test_the_page_of_a_table_lists_columns_that_lineage_alone_names_behind_its_schema(
    client: FlaskClient,
) -> None:
    page = get(client, f"/graph/datasets/{TARGET}")["schema"]
    listed = [(one["name"], one["type"], one["known"]) for one in page["columns"]]
    assert listed == [
        ("id", "int", "schema"),
        ("Items", "int", "schema"),
        ("items.sku", None, "schema"),
        ("rank", None, "lineage"),
        ("total", None, "lineage"),
    ]
    assert page["columns"][2]["parent"] == page["columns"][1]["id"]
    source = get(client, f"/graph/datasets/{SOURCE}")["schema"]
    assert source["id"] is None
    assert {one["known"] for one in source["columns"]} == {"lineage"}


def test_search_and_impact_know_columns_that_lineage_alone_names(client: FlaskClient) -> None:
    found = get(client, "/graph/search", q="amount", kind="column")["items"]
    assert [item["label"] for item in found] == ["amount"]
    below = get(client, "/graph/impact", node=SOURCE, columns="true")["items"]
    assert {item["label"] for item in below if item["kind"] == "column"} == {
        "id", "items.sku", "total",
    }  # fmt: skip
    changed = get(client, "/graph/diff", node=TARGET, columns="true",
                  **{"from": "2026-02-01T00:00:00Z", "to": "2026-04-01T00:00:00Z"})  # fmt: skip
    assert columns(changed, TARGET).keys() >= {"total", "rank"}
