"""The writes of many spans at once (store.Catalogue), against brute force, on every database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from graph_model.catalogue import SqlCatalogue
from graph_model.database import open_database
from graph_model.facts import ExecutionRow, NameRow, PartitionRow
from graph_model.history import CTAS_COMMANDS
from graph_model.store import Span
from tests.contract.databases import full_scans, recorded_plans
from tests.contract.rows import EXECUTIONS, TARGETS, TIMES, an_execution, property_test

spans = st.sets(st.builds(Span, TARGETS, TIMES, TIMES), max_size=5)


def inside(rows: list[ExecutionRow], span: Span) -> list[ExecutionRow]:
    return [
        row
        for row in rows
        if (row.kind, row.state, row.target) == ("write", "completed", span.target)
        and span.since <= row.at < span.before
    ]


@property_test
@given(rows=EXECUTIONS, asked=spans, most=st.integers(0, 8), per_plan=st.integers(1, 3))
def test_the_writes_of_a_span_are_all_of_them_or_the_newest_of_each_plan(
    catalogue: SqlCatalogue, rows: list[ExecutionRow], asked: set[Span], most: int, per_plan: int
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    found = catalogue.writes(asked, most=most, per_plan=per_plan)
    assert found.keys() == asked
    for span, answer in found.items():
        true = inside(rows, span)
        said = {write.id for write in answer.writes}
        if len(true) <= most:
            assert (said, answer.older) == ({row.id for row in true}, ())
            continue
        older = {one.logical_plan: one for one in answer.older}
        for plan in {row.logical_plan for row in true}:
            own = sorted((r for r in true if r.logical_plan == plan), key=lambda r: -r.at)
            cut = own[per_plan].at if len(own) > per_plan else None
            kept = {row.id for row in own if cut is None or row.at > cut}
            assert kept == said & {row.id for row in own}
            if cut is None:
                assert plan not in older
            else:
                assert (older[plan].first, older[plan].last) == (own[-1].at, cut)


@property_test
@given(rows=EXECUTIONS, asked=spans)
def test_the_last_overwrite_of_a_span_is_its_newest_full_one(
    catalogue: SqlCatalogue, rows: list[ExecutionRow], asked: set[Span]
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    times = {s: [r.at for r in inside(rows, s) if r.mode == "overwrite"] for s in asked}
    assert catalogue.last_overwrites(asked) == {s: max(some) for s, some in times.items() if some}


def test_a_write_that_cannot_touch_the_partition_is_left_out(catalogue: SqlCatalogue) -> None:
    catalogue.record([an_execution(f"ex-{n}", at=n) for n in range(5)])
    texts = {"ex-0": "dt=1", "ex-1": "dt=2", "ex-2": "dt=1/h=2", "ex-3": "h=2"}
    catalogue.record([PartitionRow(e, "ds-1", "write", text) for e, text in texts.items()])
    span = Span("ds-1", 0, 9, partition="dt=1/h=3")
    found = catalogue.writes([span], most=9, per_plan=1)[span].writes
    assert {write.id for write in found} == {"ex-0", "ex-2", "ex-3", "ex-4"}


def test_writes_to_a_name_count_where_it_stood(catalogue: SqlCatalogue) -> None:
    catalogue.record([an_execution(f"ex-{n}", at=n, target="name") for n in range(1, 6)])
    catalogue.record([NameRow("name", "here", "ex-2", 2), NameRow("name", "there", "ex-4", 4)])
    here, there = Span("name", 0, 9, "here"), Span("name", 0, 9, "there")
    found = catalogue.writes([here, there], most=9, per_plan=1)
    assert {write.id for write in found[here].writes} == {"ex-1", "ex-2", "ex-3"}
    assert {write.id for write in found[there].writes} == {"ex-4", "ex-5"}
    assert catalogue.last_overwrites([here, there]) == {here: 3, there: 5}
    moments = [("name", at) for at in range(1, 6)]
    assert catalogue.locations_of([*moments, ("none", 1)]) == {
        moment: catalogue.location_of(*moment) for moment in moments
    }
    assert catalogue.locations_ever(["name", "none"]) == {("name", "here"), ("name", "there")}


def test_companions_are_told_only_where_something_may_be_told_twice(
    catalogue: SqlCatalogue,
) -> None:
    catalogue.record([an_execution(f"plain-{n}", at=n, application_id="plain") for n in range(3)])
    catalogue.record(
        [
            an_execution("insert", application_id="ctas"),
            an_execution("create", application_id="ctas", command=CTAS_COMMANDS[0]),
            an_execution("agent", application_id="both"),
            an_execution("listener", application_id="both", producer="listener"),
            an_execution("failed", application_id="both", state="failed"),
        ]
    )
    asked = [("ds-1", application) for application in ("plain", "ctas", "both", "none")]
    expected = {"insert", "create", "agent", "listener"}
    assert {row.id for row in catalogue.companions(asked)} == expected
    assert {row.id for row in catalogue.told_twice("ds-1")} == expected
    assert catalogue.companions([]) == ()


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda c: c.last_overwrites([Span("ds-1", 0, 9)]), "catalogue_executions_by_overwrite"),
        (lambda c: c.writes([Span("ds-1", 0, 9)], most=9, per_plan=1), "by_target"),
        (lambda c: c.writes([Span("ds-1", 0, 9)], most=0, per_plan=1), "by_writer"),
        (lambda c: c.companions([("ds-1", "app-1")]), "catalogue_executions_by_application"),
        (lambda c: c.told_twice("ds-1"), "catalogue_executions_by_application"),
        (lambda c: c.seen(["ds-1"], 5), "catalogue_schema_uses_by_dataset"),
    ],
)
def test_a_question_about_writes_seeks_in_its_index(
    tmp_path: Path, ask: Callable[[SqlCatalogue], object], index: str
) -> None:
    engine: sa.Engine = open_database(tmp_path / "headwater.db")
    catalogue = SqlCatalogue(engine)
    catalogue.record([an_execution("ex-1", at=1)])
    with recorded_plans(engine) as lines:
        ask(catalogue)
    assert full_scans(lines, ("catalogue_", "listed", "seen")) == []
    assert any(f"{index} (" in line for line in lines if line.startswith("SEARCH")), lines
    engine.dispose()
