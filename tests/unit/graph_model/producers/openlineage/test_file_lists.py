"""Many files among the inputs of an OpenLineage run are one dataset of their folder and pattern."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.facts import DatasetRow, ExecutionRow, Facts, PatternRow
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.e2e.small_client import client_of
from tests.openlineage_facts import facts_of_run
from tests.projections import SmallHeadwater, lineage_event

PATTERN, FOLDER, OUTPUT = "s3://lake/in/*.csv", "s3://lake/in", "s3://lake/out"


def a_run(names: list[str], outputs: list[str] | None = None) -> dict[str, Any]:
    """A run over files of one folder, its only column made from the column ``a`` of each."""
    inputs = [
        {
            "namespace": "s3://lake",
            "name": name,
            "facets": {"schema": facet(fields=[{"name": "a", "type": "int"}])},
            "inputFacets": {"inputStatistics": facet(rowCount=2)},
        }
        for name in names
    ]
    sources = [{"namespace": "s3://lake", "name": name, "field": "a"} for name in names]
    lineage = facet(fields={"b": {"inputFields": sources}})
    return {
        "eventType": "COMPLETE",
        "eventTime": "2024-01-01T00:00:00.000Z",
        "run": {"runId": "0b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e"},
        "job": {"namespace": "etl", "name": "load"},
        "inputs": inputs,
        "outputs": [
            {"namespace": "s3://lake", "name": name, "facets": {"columnLineage": lineage}}
            for name in outputs or ["out"]
        ],
        "producer": "https://example.org/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def facet(**content: Any) -> dict[str, Any]:
    return {"_producer": "https://example.org/p", "_schemaURL": "https://example.org/s", **content}


def files(count: int) -> list[str]:
    return [f"in/{number}.csv" for number in range(count)]


def facts_of(body: dict[str, Any]) -> Facts:
    event = read_event(body)
    assert isinstance(event, RunEvent)
    return facts_of_run([event])


def uris(facts: Facts) -> set[str]:
    return {row.uri for row in facts.rows if isinstance(row, DatasetRow)}


def plan_of(facts: Facts) -> str:
    (row,) = (row for row in facts.rows if isinstance(row, ExecutionRow))
    return row.logical_plan


def test_many_files_are_one_dataset_of_their_own() -> None:
    facts = facts_of(a_run(files(3_000)))
    assert uris(facts) == {PATTERN, OUTPUT}
    pattern = identity.dataset_id("", PATTERN)
    (row,) = (row for row in facts.rows if isinstance(row, PatternRow))
    assert row == PatternRow(pattern, identity.dataset_id("", FOLDER))
    column = identity.column_id(pattern, "a")
    derived = [edge.out_id for edge in facts.edges if edge.label == labels.DERIVES]
    assert derived == [column]
    (row,) = (row for row in facts.rows if isinstance(row, ExecutionRow))
    assert json.loads(row.metrics)["read"] == {"numOutputRows": 6_000}


def test_another_file_makes_no_other_plan() -> None:
    assert plan_of(facts_of(a_run(files(30)))) == plan_of(facts_of(a_run(files(31))))


@given(st.permutations(files(25)))
def test_the_order_of_the_files_changes_nothing(names: list[str]) -> None:
    assert plan_of(facts_of(a_run(names))) == plan_of(facts_of(a_run(files(25))))


def test_few_files_and_written_files_stay_as_they_are() -> None:
    assert uris(facts_of(a_run(files(20)))) == {OUTPUT} | {f"s3://lake/{f}" for f in files(20)}
    among = facts_of(a_run(files(22), outputs=["in/3.csv"]))
    assert uris(among) == {PATTERN, "s3://lake/in/3.csv"}


def test_the_writer_of_the_folder_is_upstream(headwater: SmallHeadwater) -> None:
    writer = a_run(["raw/x.csv"], outputs=["in"]) | {"eventTime": "2023-12-31T00:00:00.000Z"}
    writer["run"] = {"runId": "1b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e"}
    writer["job"] = {"namespace": "etl", "name": "land"}
    headwater.accept(lineage_event(writer), lineage_event(a_run(files(30))))
    headwater.project()
    client = client_of(headwater, 4_000_000_000_000)
    query = {"node": f"dataset:{OUTPUT}", "direction": "upstream", "depth": 5}
    nodes = client.get("/graph/lineage", query_string=query).get_json()["nodes"]
    assert {"land", "load"} <= {node["label"] for node in nodes}
    (listed,) = client.get("/graph/datasets?q=raw/x").get_json()["items"]
    assert listed["uri"] == "s3://lake/raw/x.csv"


def test_a_file_is_upstream_of_the_readers_of_its_pattern_alone(headwater: SmallHeadwater) -> None:
    runs = [
        ("land", ["raw/o"], ["in/o_1.csv"]),
        ("other", ["raw/c"], ["in/c_1.csv"]),
        ("orders", ["in/o_*.csv"], ["orders"]),
        ("customers", ["in/c_*.csv"], ["customers"]),
    ]
    for number, (job, inputs, outputs) in enumerate(runs):
        body = a_run(inputs, outputs) | {"eventTime": f"2024-01-01T00:00:0{number}.000Z"}
        body["run"] = {"runId": f"{number}b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e"}
        headwater.accept(lineage_event(body | {"job": {"namespace": "etl", "name": job}}))
    headwater.project()
    client = client_of(headwater, 4_000_000_000_000)

    def impact(node: str) -> set[str]:
        reply = client.get("/graph/impact", query_string={"node": node}).get_json()
        return {item.get("uri") or item["label"] for item in reply["items"]}

    assert impact("dataset:s3://lake/in/o_1.csv") == {"s3://lake/orders", "orders"}
    assert impact("dataset:s3://lake/in/c_*.csv") == {"s3://lake/customers", "customers"}
    assert impact("job:etl/land") >= {"s3://lake/in/o_*.csv", "s3://lake/orders", "orders"}
    pattern = identity.dataset_id("", "s3://lake/in/o_*.csv")
    last = client.get(f"/graph/datasets/{pattern}/last-writer").get_json()["execution"]
    assert last["job"]["name"] == "land"
