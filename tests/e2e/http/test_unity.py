"""Unity Catalog's lineage routes: a table by its three-part name, one step each way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.e2e.small_client import client_of
from tests.projections import lineage_event, small_headwater

HOST = "unitycatalog://dbc.example.org"
PREFIX = "/api/2.0/lineage-tracking"
Json = dict[str, Any]


def copied(source: str, target: str, run: int, namespace: str = HOST) -> Json:
    """A run that copies the column ``a`` of a table to another."""
    field = {"namespace": HOST, "name": source, "field": "a"}
    columns = {"fields": {"a": {"inputFields": [field]}}}
    schema = {"fields": [{"name": "a", "type": "string"}]}
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-03-01T10:0{run}:00Z",
        "producer": "https://example.org/tool",
        "run": {"runId": f"11111111-2222-7333-8444-00000000000{run}"},
        "job": {"namespace": "etl", "name": f"to {target}"},
        "inputs": [{"namespace": HOST, "name": source, "facets": {"schema": schema}}],
        "outputs": [
            {
                "namespace": namespace,
                "name": target,
                "facets": {"columnLineage": columns, "schema": schema},
            }
        ],
    }


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    made = small_headwater()
    events = [
        copied("main.raw.orders", "main.hr.t", 1),
        copied("main.hr.t", "main.mart.u", 2),
        copied("main.hr.t", "out/file", 3, "s3://lake"),
        copied("main.hr.t", "main.twice.t", 4),
        copied("main.hr.t", "main.twice.t", 5, "unitycatalog://other.example.org"),
    ]
    made.accept(*map(lineage_event, events))
    made.project()
    yield client_of(made, 1_772_400_000_000)
    made.close()


def table(schema: str, name: str) -> Json:
    info = {"name": name, "catalog_name": "main", "schema_name": schema, "table_type": "TABLE"}
    return {"tableInfo": info}


def test_tables_on_each_side_are_named_and_files_have_their_path(client: FlaskClient) -> None:
    reply = client.get(f"{PREFIX}/table-lineage?table_name=Main.HR.t").get_json()
    assert reply["upstreams"] == [table("raw", "orders")]
    assert table("mart", "u") in reply["downstreams"]
    assert {"fileInfo": {"path": "s3://lake/out/file"}} in reply["downstreams"]
    assert reply["downstreams"].count(table("twice", "t")) == 2


def test_a_get_with_a_body_is_read_and_names_the_jobs(client: FlaskClient) -> None:
    body = json.dumps({"table_name": "main.mart.u", "include_entity_lineage": True})
    reply = client.get(f"{PREFIX}/table-lineage", data=body, content_type="application/json")
    (upstream,) = reply.get_json()["upstreams"]
    assert [job["job_name"] for job in upstream["jobInfos"]] == ["etl/to main.mart.u"]
    assert reply.get_json()["downstreams"] == []


def test_columns_on_each_side(client: FlaskClient) -> None:
    asked = {"table_name": "main.hr.t", "column_name": "a"}
    reply = client.get(f"{PREFIX}/column-lineage", query_string=asked).get_json()
    assert reply["upstream_cols"] == [
        {
            "name": "a",
            "catalog_name": "main",
            "schema_name": "raw",
            "table_name": "orders",
            "table_type": "TABLE",
        }
    ]
    tables = {column.get("table_name", column.get("path")) for column in reply["downstream_cols"]}
    assert tables == {"u", "t", "s3://lake/out/file"}


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"table_name": "main.hr.none"}, 404, "RESOURCE_DOES_NOT_EXIST"),
        ({"table_name": "t"}, 404, "RESOURCE_DOES_NOT_EXIST"),
        ({"table_name": "main.twice.t"}, 400, "INVALID_PARAMETER_VALUE"),
        ({"table": "main.hr.t"}, 400, "INVALID_PARAMETER_VALUE"),
    ],
)
def test_errors_have_its_words(
    client: FlaskClient, query: dict[str, str], status: int, code: str
) -> None:
    reply = client.get(f"{PREFIX}/table-lineage", query_string=query)
    assert (reply.status_code, reply.get_json()["error_code"]) == (status, code)


def test_several_tables_of_a_name_are_listed(client: FlaskClient) -> None:
    reply = client.get(f"{PREFIX}/table-lineage?table_name=main.twice.t").get_json()
    assert reply["message"].count("ds_") == 2
