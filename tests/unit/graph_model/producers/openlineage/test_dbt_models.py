"""The mode of a model of dbt, by how dbt builds it (facet ``dbt_model`` of its client's 1.54)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from graph_model import labels
from graph_model.facts import ExecutionRow
from graph_model.producers.openlineage.events.documents import read_event
from tests.openlineage_facts import facts_of_run


def mode_of(run: Any = None, **facets: Any) -> str:
    """``run`` is the facet ``dbt_run``, the others are of the written dataset."""
    event = {
        "eventTime": "2026-01-05T08:00:00Z",
        "eventType": "COMPLETE",
        "run": {"runId": "r", "facets": {} if run is None else {"dbt_run": run}},
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


_KEPT: Final = {"materialized": "incremental", "incremental": {"full_refresh": False}}


@pytest.mark.parametrize(
    ("run", "config", "mode"),
    [
        ({"full_refresh": True}, {"materialized": "incremental"}, labels.OVERWRITE),
        ({"full_refresh": False}, {"materialized": "incremental"}, labels.APPEND),
        ({"full_refresh": "true"}, {"materialized": "incremental"}, labels.APPEND),
        ({"full_refresh": True}, _KEPT, labels.APPEND),
        ({"full_refresh": True}, {"materialized": "snapshot"}, labels.APPEND),
        ({"full_refresh": True}, {"materialized": "our_own_way"}, labels.UNKNOWN_MODE),
        ("full_refresh", {"materialized": "incremental"}, labels.APPEND),
    ],
)
def test_a_run_with_full_refresh_replaces_what_grows_unless_the_model_forbids_it(
    run: Any, config: Any, mode: str
) -> None:
    assert mode_of(run, dbt_model={"config": config}) == mode
