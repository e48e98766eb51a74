"""The questions of versions and comparisons to every catalogue, whatever database is under it."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given

from graph_model.facts import ExecutionRow, SchemaRow, SchemaUseRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import PlanSpan
from graph_model.stores.database import open_database
from tests.contract.databases import full_scans, recorded_plans
from tests.contract.rows import EXECUTIONS, TIMES, an_execution, property_test


def spans_of(rows: list[ExecutionRow], at: int | None) -> list[PlanSpan]:
    """By hand: every (plan, state) with its number, first and last time."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if at is None or row.at <= at:
            found.setdefault((row.logical_plan, row.state), []).append(row.at)
    return sorted(
        PlanSpan(plan, state, len(times), min(times), max(times))
        for (plan, state), times in found.items()
    )


@given(rows=EXECUTIONS, at=TIMES)
@property_test
def test_spans_count_every_execution_by_plan_and_state(
    catalogue: Catalogue, rows: list[ExecutionRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    plans = {row.logical_plan for row in rows}
    assert sorted(catalogue.plan_spans(plans, at)) == spans_of(rows, at)
    assert catalogue.plan_spans((), at) == ()


@given(rows=EXECUTIONS, at=TIMES)
@property_test
def test_the_last_of_a_plan_is_its_newest_completed_execution(
    catalogue: Catalogue, rows: list[ExecutionRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    newest: dict[str, ExecutionRow] = {}
    for row in sorted(rows, key=lambda row: (row.at, row.id)):
        if row.state == "completed" and (at is None or row.at <= at):
            newest[row.logical_plan] = row
    assert catalogue.last_of_plans({row.logical_plan for row in rows}, at) == newest


def test_executions_are_found_by_their_ids_and_unknown_ones_are_left_out(
    catalogue: Catalogue,
) -> None:
    rows = [an_execution("ex-2"), an_execution("ex-1", at=5)]
    catalogue.record(rows)
    assert catalogue.executions_of(("ex-1", "ex-2", "ex-3")) == tuple(reversed(rows))
    assert catalogue.executions_of(()) == ()


def test_the_uses_of_a_dataset_s_schemas_come_with_its_writes_first(
    catalogue: Catalogue,
) -> None:
    uses = [
        SchemaUseRow("lp-1", "ds-1", "sch-1", "read"),
        SchemaUseRow("lp-2", "ds-1", "sch-2", "write"),
        SchemaUseRow("lp-3", "ds-1", "sch-1", "write"),
        SchemaUseRow("lp-3", "ds-2", "sch-3", "write"),
    ]
    schemas = [SchemaRow(f"sch-{n}", "ds-1", json.dumps([])) for n in (1, 2)]
    catalogue.record([*uses, *schemas])
    assert catalogue.schema_uses("ds-1") == (uses[1], uses[2], uses[0])
    assert catalogue.schema_uses("ds-1", limit=1) == (uses[1],)
    assert catalogue.schemas({"sch-1", "sch-2", "sch-9"}) == tuple(schemas)


def test_versions_are_asked_by_seeks_in_indexes(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'catalogue.db'}")
    catalogue = Catalogue(engine)
    catalogue.record([an_execution(f"ex-{n}", at=n) for n in range(50)])
    with recorded_plans(engine) as lines:
        catalogue.plan_spans({"lp-1"}, 20)
        catalogue.last_of_plans({"lp-1"}, 20)
        catalogue.schema_uses("ds-1")
        catalogue.executions_of({"ex-1"})
    assert lines
    assert full_scans(lines, ("catalogue_", "seen", "executions")) == []
    engine.dispose()
