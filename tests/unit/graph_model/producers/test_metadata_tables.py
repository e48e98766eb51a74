"""A read of Iceberg's ``db.t.snapshots``, as every producer reports it."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model import identity, labels
from graph_model.facts import ColumnRow, DatasetRow, Edge, Facts, LogicalPlanRow, NameRow
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from graph_model.producers.spline.documents import read_event as read_execution
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from tests.builders import PlanBuilder
from tests.openlineage_facts import facts_of_run
from tests.spline_facts import facts_of_plan

TABLE, METADATA, REPORT = "s3://wh/db/t", "s3://wh/db/t.snapshots", "s3://wh/report"
NAME = "spark_catalog/db.t.snapshots"


def by_spline() -> Facts:
    identifier = {"table": {"identifier": {"table": "snapshots", "database": "db.t"}}}
    builder = PlanBuilder()
    identifier = {"table": {"identifier": {"table": "snapshots", "database": "db.t"}}}
    builder.write(builder.read([TABLE], "operation: string"), REPORT)
    document = builder.document()
    document["operations"]["reads"][0]["params"] = identifier
    event = read_execution({"planId": document["id"], "timestamp": 5, "extra": {}})
    return facts_of_plan(PlanDocument(read_plan(document), "", "hash", "1.2"), [event])


def by_openlineage() -> Facts:
    link = {"namespace": "s3://wh", "name": "db.t.snapshots", "type": "TABLE"}
    read: dict[str, Any] = {"namespace": "s3://wh", "name": "db/t"}
    source = {"inputFields": [{**read, "field": "operation"}]}
    event = {
        "eventType": "COMPLETE", "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": "r"}, "job": {"namespace": "etl", "name": "j"},
        "inputs": [{**read, "facets": {"symlinks": {"identifiers": [link]}}}],
        "outputs": [{"namespace": "s3://wh", "name": "report", "facets": {
            "columnLineage": {"fields": {"operation": source}},
        }}],
    }  # fmt: skip
    run = read_event(event)
    assert isinstance(run, RunEvent)
    return facts_of_run([run])


PRODUCERS = {"spline": by_spline, "openlineage": by_openlineage}


@pytest.mark.parametrize("producer", PRODUCERS)
def test_a_metadata_table_is_read_with_its_columns_and_its_table_without(producer: str) -> None:
    facts = PRODUCERS[producer]()
    uris = {row.id: row.uri for row in facts.rows if isinstance(row, DatasetRow)}
    assert set(uris.values()) == {TABLE, METADATA, REPORT, NAME}
    columns = {(uris[row.dataset], row.path) for row in facts.rows if isinstance(row, ColumnRow)}
    assert columns == {(METADATA, "operation"), (REPORT, "operation")}
    (plan,) = {row.id for row in facts.rows if isinstance(row, LogicalPlanRow)}
    reads = {uris[edge.out_id]: edge for edge in feeding(facts, plan)}
    assert reads.keys() == {TABLE, METADATA}
    assert reads[TABLE].value("origin") == labels.METADATA
    assert reads[METADATA].value("origin") != labels.METADATA


@pytest.mark.parametrize("producer", PRODUCERS)
def test_the_name_of_a_metadata_table_is_no_name_of_its_table(producer: str) -> None:
    names = [row for row in PRODUCERS[producer]().rows if isinstance(row, NameRow)]
    assert [(row.name, row.location) for row in names] == [
        (identity.dataset_id("", NAME), identity.dataset_id("", METADATA))
    ]


def feeding(facts: Facts, plan: str) -> list[Edge]:
    return [edge for edge in facts.edges if edge.label == labels.FEEDS and edge.in_id == plan]
