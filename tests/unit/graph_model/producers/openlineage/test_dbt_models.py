"""The mode of a model of dbt, by how dbt builds it (facet ``dbt_model`` of its client's 1.54)."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model import labels
from graph_model.facts import ExecutionRow
from graph_model.producers.openlineage.events.documents import read_event
from tests.openlineage_facts import facts_of_run


def mode_of(**facets: Any) -> str:
    event = {
        "eventTime": "2026-01-05T08:00:00Z",
        "eventType": "COMPLETE",
        "run": {"runId": "r"},
        "job": {"namespace": "shop", "name": "model.shop.orders"},
        "inputs": [{"namespace": "postgres://h:5432", "name": "shop.raw.orders"}],
        "outputs": [{"namespace": "postgres://h:5432", "name": "shop.m.orders", "facets": facets}],
    }
    rows = facts_of_run([read_event(event)]).rows
    (row,) = (row for row in rows if isinstance(row, ExecutionRow) and row.target)
    return row.mode


@pytest.mark.parametrize(
    ("config", "mode"),
    [
        ({"materialized": "table"}, labels.OVERWRITE),
        ({"materialized": "View"}, labels.OVERWRITE),
        ({"materialized": "seed"}, labels.OVERWRITE),
        ({"materialized": "snapshot"}, labels.APPEND),
        ({"materialized": "incremental"}, labels.APPEND),
        ({"materialized": "incremental", "incremental": {"full_refresh": False}}, labels.APPEND),
        ({"materialized": "incremental", "incremental": {"full_refresh": True}}, labels.OVERWRITE),
        ({"materialized": "incremental", "incremental": "merge"}, labels.APPEND),
        ({"materialized": "our_own_way"}, labels.UNKNOWN_MODE),
        ({"materialized": 7}, labels.UNKNOWN_MODE),
        ({"owner": "sales"}, labels.UNKNOWN_MODE),
        ("table", labels.UNKNOWN_MODE),
    ],
)
def test_a_model_replaces_its_table_or_adds_to_it(config: Any, mode: str) -> None:
    assert mode_of(dbt_model={"config": config}) == mode


def test_what_a_run_says_of_its_write_itself_counts_before_the_model() -> None:
    change = {"lifecycleStateChange": "OVERWRITE"}
    model = {"config": {"materialized": "incremental"}}
    assert mode_of(dbt_model=model, lifecycleStateChange=change) == labels.OVERWRITE
    assert mode_of() == labels.UNKNOWN_MODE
