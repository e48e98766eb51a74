"""Stores that some clients name without their servers: a topic of one cluster, and of two."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model import identity
from graph_model.lineage import Lineage, Question
from graph_model.stores.graph import Direction
from tests.projections import lineage_event, project

SCOPE = "lake"
SOURCE, TARGET = ("s3://b", "source"), ("s3://b", "target")
#: Of each store: a table without its servers, and as two clusters have it.
STORES = {
    "kafka": (("kafka", "t"), ("kafka://a:9092", "t"), ("kafka://b:9092", "t")),
    "cassandra": (("cassandra", "k.t"), ("cassandra://a", "k.t"), ("cassandra://b:9042", "k.t")),
}


def run(number: int, read: tuple[str, str], written: tuple[str, str]) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE", "eventTime": f"2026-01-01T0{number}:00:00Z",
        "run": {"runId": f"r{number}"}, "job": {"namespace": "etl", "name": f"j{number}"},
        "inputs": [dict(zip(("namespace", "name"), read, strict=True))],
        "outputs": [dict(zip(("namespace", "name"), written, strict=True))],
    }  # fmt: skip


def jobs_below_the_source(*events: dict[str, Any]) -> set[str]:
    headwater = project((lineage_event(event, SCOPE) for event in events), stepwise=False)
    source = identity.dataset_id("", "s3://b/source")
    result = Lineage(headwater.graph, headwater.catalogue).ask(
        Question(source, Direction.DOWNSTREAM, 5, None)
    )
    named = {identity.job_id("etl", f"j{number}"): f"j{number}" for number in range(1, 6)}
    headwater.close()
    return {named[job] for job in result.jobs}


@pytest.mark.parametrize("store", STORES)
def test_a_name_without_servers_is_the_table_of_the_only_cluster(store: str) -> None:
    bare, first, second = STORES[store]
    written, read = run(1, SOURCE, bare), run(2, first, TARGET)
    assert jobs_below_the_source(written, read) == {"j1", "j2"}
    assert jobs_below_the_source(run(1, SOURCE, first), run(2, bare, TARGET)) == {"j1", "j2"}
    assert jobs_below_the_source(written, read, run(3, second, TARGET)) == {"j1"}
    assert jobs_below_the_source(written, run(2, bare, TARGET)) == {"j1", "j2"}


@pytest.mark.parametrize("store", STORES)
def test_tables_of_one_name_in_two_clusters_are_two(store: str) -> None:
    _, first, second = STORES[store]
    assert jobs_below_the_source(run(1, SOURCE, first), run(2, second, TARGET)) == {"j1"}
    mirror = (run(1, SOURCE, first), run(2, first, second), run(3, second, TARGET))
    assert jobs_below_the_source(*mirror) == {"j1", "j2", "j3"}
