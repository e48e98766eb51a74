"""Runs and facets over time mean the same on every database."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import FactConflict, InvalidReference
from graph_model.facts import CommandRow, DatasetRow, FacetBodyRow, FacetRow, row_key
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.facets import FacetRecords, RunRecords
from graph_model.stores.database import open_database
from tests.contract.databases import full_scans, instructions, recorded_plans
from tests.contract.rows import a_run, an_execution, property_test, record_in_threads


def a_facet(name: str, at: int, **values: Any) -> FacetRow:
    row = FacetRow("ds-1", "dataset", name, at, f"sub-{at}", f"d{at}", deleted=False, job="job-1")
    return row._replace(**values)


def test_a_catalogue_has_both(catalogue: Catalogue) -> None:
    runs: RunRecords = catalogue.runs
    facets: FacetRecords = catalogue.facets
    assert runs.called(["r1"]) == ()
    assert facets.newest(["ds-1"], "dataset", None) == ()


# --- runs ----------------------------------------------------------------------------------------


def test_a_run_is_found_by_its_names_at_the_client_and_in_the_graph(
    catalogue: Catalogue,
) -> None:
    east = a_run(2, run_id="r1", scope="east")
    catalogue.record([a_run(1), east, a_run(3, run="run-1")])
    assert catalogue.runs.called(["r1", "r1", "unknown"]) == (a_run(1), east)
    assert catalogue.runs.called(["r1"], "east") == (east,)
    assert catalogue.runs.of_subjects(["sub-2"]) == (east,)


def test_of_the_runs_under_one_vertex_the_first_stands_for_it(catalogue: Catalogue) -> None:
    application, command = a_run(5, started_at=1), a_run(1, started_at=2)
    other = a_run(2, run="run-2")
    catalogue.record([command, application, other])
    assert catalogue.runs.first_of_runs(["run-1", "run-2", "unknown"]) == (other, application)


def test_the_runs_below_some_are_listed_by_start_in_their_scope(catalogue: Catalogue) -> None:
    below = [a_run(n, parent_run=f"r{n % 2}", started_at=100 - n) for n in range(2, 8)]
    elsewhere = a_run(9, parent_run="r1", scope="east")
    catalogue.record([*below, elsewhere])
    assert catalogue.runs.below(["r0", "r1"], "", 10).rows == tuple(below[::-1])
    first = catalogue.runs.below(["r0", "r1"], "", 2)
    assert (first.rows, first.cut) == (tuple(below[:3:-1]), True)
    assert catalogue.runs.below(["r1"], "east", 10).rows == (elsewhere,)


def test_the_runs_of_a_job_are_listed_as_they_had_started_by_then(catalogue: Catalogue) -> None:
    rows = [a_run(n, started_at=n) for n in range(5)]
    catalogue.record([*rows, a_run(9, job="job-2")])
    assert catalogue.runs.of_job("job-1", None, 10).rows == tuple(rows[::-1])
    assert catalogue.runs.of_job("job-1", 2, 10).rows == (rows[2], rows[1], rows[0])
    assert catalogue.runs.of_job("job-1", 3, 2).cut


# --- facets --------------------------------------------------------------------------------------

FACETS = st.lists(
    st.builds(
        a_facet,
        st.sampled_from(["ownership", "dataQualityAssertions"]),
        st.integers(0, 5),
        entity=st.sampled_from(["ds-1", "ds-2"]),
        kind=st.sampled_from(["dataset", "input"]),
        subject=st.sampled_from(["sub-1", "sub-2"]),
        digest=st.sampled_from(["d1", "d2"]),
        job=st.sampled_from(["", "job-1", "job-2"]),
    ),
    max_size=12,
    unique_by=lambda row: (row.entity, row.kind, row.name, row.at, row.subject, row.digest),
)
TIME = st.none() | st.integers(0, 5)


@property_test
@given(rows=FACETS, at=TIME)
def test_the_newest_of_a_name_at_a_time_is_in_force(
    catalogue: Catalogue, rows: list[FacetRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    expected: dict[tuple[str, str], FacetRow] = {}
    for row in rows:
        if row.kind == "dataset" and (at is None or row.at <= at):
            key = (row.entity, row.name)
            known = expected.setdefault(key, row)
            if (row.at, row.subject, row.digest) > (known.at, known.subject, known.digest):
                expected[key] = row
    found = catalogue.facets.newest(["ds-1", "ds-2", "unknown"], "dataset", at)
    assert found == tuple(expected[key] for key in sorted(expected))


CHECKS = st.lists(
    st.builds(
        a_facet,
        st.sampled_from(["", "not null id", "rows"]),
        st.integers(0, 5),
        entity=st.sampled_from(["ds-1", "ds-2"]),
        kind=st.sampled_from(["check", "dataset"]),
        subject=st.sampled_from(["sub-1", "sub-2"]),
        digest=st.sampled_from(["d1", "d2"]),
        job=st.sampled_from(["", "job-1", "job-2"]),
    ).map(lambda row: row._replace(deleted=row.name == "" and row.kind == "check")),
    max_size=12,
    unique_by=lambda row: (row.entity, row.kind, row.name, row.at, row.subject, row.digest),
)


@property_test
@given(rows=CHECKS, at=TIME)
def test_the_newest_of_a_check_stands_whatever_job_made_it(
    catalogue: Catalogue, rows: list[FacetRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    told = [row for row in rows if row.kind == "check" and (at is None or row.at <= at)]
    latest: dict[tuple[str, str], int] = {}
    for row in told:
        key = (row.entity, row.name)
        latest[key] = max(row.at, latest.get(key, row.at))
    expected = sorted(
        row
        for row in told
        if row.name
        and row.at == latest[row.entity, row.name]
        and row.at > latest.get((row.entity, ""), -1)
    )
    assert list(catalogue.facets.checks(["ds-1", "ds-2", "unknown"], at)) == expected


@property_test
@given(rows=FACETS, at=TIME, limit=st.integers(1, 4), name=st.none() | st.just("ownership"))
def test_a_history_comes_in_pages_newest_first(
    catalogue: Catalogue, rows: list[FacetRow], at: int | None, limit: int, name: str | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    expected = [
        row
        for row in rows
        if row.entity == "ds-1" and (at is None or row.at <= at) and name in (None, row.name)
    ]
    found: list[FacetRow] = []
    cursor = None
    while True:
        page = catalogue.facets.history("ds-1", name=name, at=at, limit=limit, cursor=cursor)
        assert page.total == len(expected)
        found += page.items
        cursor = page.next
        if cursor is None:
            break
    assert sorted(found) == sorted(expected)
    assert [row.at for row in found] == sorted((row.at for row in expected), reverse=True)


def test_the_newest_few_of_one_name_are_given_without_the_rest(catalogue: Catalogue) -> None:
    rows = [a_facet("version", at) for at in range(6)]
    catalogue.record([*rows, a_facet("version", 9, kind="input"), a_facet("ownership", 9)])
    recent = catalogue.facets.recent
    assert recent("ds-1", "dataset", "version", None, 2) == (rows[5], rows[4])
    assert recent("ds-1", "dataset", "version", 3, 2) == (rows[3], rows[2])


def test_what_a_hidden_job_sent_is_not_in_force_and_an_earlier_one_of_another_job_is(
    catalogue: Catalogue,
) -> None:
    own, hidden, declared = (
        a_facet("version", 1),
        a_facet("version", 2, job="job-2"),
        a_facet("ownership", 3, job=""),
    )
    checks = a_facet("c1", 1, kind="check"), a_facet("c1", 2, kind="check", job="job-2")
    catalogue.record([own, hidden, declared, *checks])
    shown = catalogue.facets.without(["job-2", "ds-1"])
    assert shown.newest(["ds-1"], "dataset", None) == (declared, own)
    assert catalogue.facets.newest(["ds-1"], "dataset", None) == (declared, hidden)
    assert shown.recent("ds-1", "dataset", "version", None, 5) == (own,)
    assert shown.history("ds-1").items == (declared, own)
    assert shown.history("ds-1").total == 2
    assert shown.checks(["ds-1"], None) == checks[:1]


def test_a_cursor_of_another_list_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(InvalidReference):
        catalogue.facets.history("ds-1", cursor="WyJydW5zIl0")


def test_bodies_come_by_digest(catalogue: Catalogue) -> None:
    catalogue.record([FacetBodyRow("d1", '{"a":1}'), FacetBodyRow("d2", "{}")])
    assert catalogue.facets.bodies(["d1", "unknown"]) == {"d1": '{"a":1}'}


FACT = st.tuples(st.booleans(), st.lists(st.builds(
    a_facet,
    st.sampled_from(["ownership", "schema"]),
    st.integers(0, 3),
    subject=st.sampled_from(["sub-1", "sub-2"]),
    digest=st.sampled_from(["d1", "d2", "d3", ""]),
    deleted=st.booleans(),
), min_size=1, max_size=6))  # fmt: skip


@property_test
@given(steps=st.lists(FACT, max_size=8))
def test_a_digest_is_in_use_while_a_facet_has_it(
    catalogue: Catalogue, steps: list[tuple[bool, list[FacetRow]]]
) -> None:
    catalogue.clear()
    kept: dict[tuple[object, ...], FacetRow] = {}
    for number, (added, rows) in enumerate(steps):
        if not added:
            catalogue.withdraw(rows)
            kept = {key: row for key, row in kept.items() if row not in rows}
            continue
        after = {**{row_key(row): row for row in rows}, **kept}
        if all(after[row_key(row)] == row for row in rows):
            catalogue.record([an_execution(f"ex-{number}"), *rows])  # some of it new, some not
            kept = after
        else:
            with pytest.raises(FactConflict):
                catalogue.record(rows)
    asked = ["d1", "d2", "d3", "unknown", ""]
    assert catalogue.facets_in_use(asked) == {row.digest for row in kept.values()}


def test_a_copied_body_is_in_use_until_the_last_facet_is_withdrawn(catalogue: Catalogue) -> None:
    first, second = a_facet("schema", 1, digest="d"), a_facet("schema", 2, digest="d")
    catalogue.copy([first, second])
    catalogue.withdraw([first, first, first._replace(deleted=True)])
    assert catalogue.facets_in_use(["d"]) == {"d"}
    catalogue.withdraw([first])
    assert catalogue.facets_in_use(["d"]) == {"d"}
    catalogue.withdraw([second])
    assert catalogue.facets_in_use(["d"]) == frozenset()
    catalogue.record([second])
    catalogue.clear()
    assert catalogue.facets_in_use(["d"]) == frozenset()


def test_threads_that_tell_the_same_facets_count_each_once(catalogue: Catalogue) -> None:
    rows = [a_facet("schema", at, digest=f"d{at % 3}") for at in range(30)]
    record_in_threads(catalogue, rows)
    catalogue.withdraw([row for row in rows if row.digest != "d1"])
    assert catalogue.facets_in_use(["d0", "d1", "d2"]) == {"d1"}
    catalogue.withdraw(rows)
    assert catalogue.facets_in_use(["d1"]) == frozenset()


def test_the_newest_checks_cost_the_same_after_a_long_history(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    catalogue, steps = Catalogue(engine), []
    for at in (20, 2_000):
        rows = [a_facet("not null id", n, kind="check") for n in range(at)]
        catalogue.record([*rows, *(a_facet("schema", n) for n in range(at))])
        ask = partial(catalogue.facets.checks, ["ds-1"], at)
        steps.append(instructions(engine, ask))
    assert steps[1] < 2 * steps[0], steps
    engine.dispose()


def test_the_newest_facet_costs_seeks_however_long_the_history_is(catalogue: Catalogue) -> None:
    if catalogue._engine.dialect.name != "sqlite":
        pytest.skip("plans of statements are read on SQLite")
    catalogue.record([a_facet("dataQualityAssertions", at) for at in range(50)])
    with recorded_plans(catalogue._engine) as lines:
        catalogue.facets.newest(["ds-1"], "dataset", 40)
        catalogue.facets.checks(["ds-1"], 40)
        catalogue.facets.recent("ds-1", "dataset", "dataQualityAssertions", 40, 5)
        catalogue.runs.below(["r1"], "", 10)
        catalogue.runs.of_job("job-1", 5, 10)
        catalogue.runs.first_of_runs(["run-1"])
    assert lines
    assert not full_scans(lines, ["catalogue_facets", "catalogue_runs", "listed", "seen"])


def test_clearing_waits_for_a_reader_that_counts(catalogue: Catalogue) -> None:
    """Else a facet could be removed, and its digest counted a moment later."""
    catalogue.record([a_facet("schema", 1, digest="d")])
    clearing, recorded = Event(), Event()

    def pause(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("DELETE") and statement.endswith("catalogue_facets"):
            clearing.set()
            recorded.wait(0.5)

    sa.event.listen(catalogue._engine, "before_cursor_execute", pause)
    with ThreadPoolExecutor(2) as pool:
        cleared = pool.submit(catalogue.clear)
        assert clearing.wait(60)
        recording = pool.submit(catalogue.record, [a_facet("schema", 2, digest="e")])
        recording.add_done_callback(lambda _: recorded.set())
        cleared.result(60)
        recording.result(60)
    sa.event.remove(catalogue._engine, "before_cursor_execute", pause)
    assert catalogue.facets_in_use(["d", "e"]) == {"e"}
    catalogue.withdraw([a_facet("schema", 2, digest="e")])
    assert catalogue.facets_in_use(["d", "e"]) == frozenset()


# --- commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_commands_come_in_their_order_some_at_a_time(catalogue: Catalogue, at_once: int) -> None:
    told = [CommandRow(f"c{(7 * n) % 10}", "prune", n // 4, "", "", "{}") for n in range(10)]
    catalogue.record([*told, CommandRow("other", "forget", 1, "", "", "{}")])
    found: list[CommandRow] = []
    while some := catalogue.commands_after("prune", found[-1] if found else None, at_once):
        assert len(some) <= at_once
        found += some
    assert tuple(found) == catalogue.commands("prune")
    assert sorted(found) == sorted(told)


def test_facets_in_force_are_found_by_a_word_and_former_or_hidden_ones_are_not(
    catalogue: Catalogue,
) -> None:
    bodies = {
        "old": {"owners": [{"name": "Team Sales"}]},
        "new": {"owners": [{"name": "Team Café"}]},
        "lone": {"fields": [{"name": "a", "description": "sales and more"}]},
        "silent": {"fields": [{"name": "sales", "type": "bigint"}]},
    }
    lone = FacetBodyRow("lone", json.dumps(bodies["lone"]))
    made = [
        DatasetRow("ds-1", "s3://lake/a", "", "a", "file"),
        DatasetRow("ds-2", "s3://lake/b", "", "b", "file"),
        *(FacetBodyRow(digest, json.dumps(body)) for digest, body in bodies.items()),
        a_facet("ownership", 1, digest="old"),
        a_facet("ownership", 2, digest="new"),
        a_facet("schema", 1, digest="lone", entity="ds-2"),
        a_facet("schema", 1, digest="silent"),
        a_facet("outputStatistics", 1, digest="lone"),
    ]
    catalogue.record(made)

    def held(*words: str, hidden: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        found = catalogue.facets_holding(words, hidden, limit=5)
        return [(row.entity, row.name) for row in found.rows]

    assert held("sales") == [("ds-2", "schema")]
    assert held("sales", "team") == [("ds-1", "ownership"), ("ds-2", "schema")]
    assert held("caf\u00e9") == [("ds-1", "ownership")]
    assert held("sales", hidden=("ds-2",)) == []
    assert held("sales", hidden=("job-1",)) == []
    assert catalogue.facets_holding(["a"], limit=1).cut
    catalogue.withdraw([lone])
    assert held("sales") == []
