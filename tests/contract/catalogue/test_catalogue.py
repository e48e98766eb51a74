"""The content of every catalogue, whatever database is under it."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import shake_256
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from graph_model.errors import FactConflict, InvalidInput, InvalidReference, Unavailable
from graph_model.facts import (
    ArrivalRow,
    ColumnRow,
    DatasetRow,
    ExecutionRow,
    FacetRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    PatternRow,
    RenameRow,
    Row,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
    row_key,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import Surroundings, Writer
from graph_model.stores.database import open_database, write
from graph_model.stores.pages import Page, walk_rows
from tests.contract.databases import full_scans, recorded_plans
from tests.contract.rows import (
    ANY_ROW,
    EXECUTIONS,
    TARGETS,
    TIMES,
    a_dataset,
    a_job,
    an_execution,
    an_execution_plan,
    record_in_threads,
)
from tests.projections import budget

# One database serves all examples of a property: each begins with clear().
property_test = settings(
    budget(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def in_pages(ask: Callable[[str | None], Page[Any]]) -> list[Any]:
    """All items of a list, page by page; every page must tell the same total."""
    page = ask(None)
    items, totals = list(page.items), {page.total}
    while page.next is not None:
        assert len(items) < page.total, "the pages do not end"
        page = ask(page.next)
        items += page.items
        totals.add(page.total)
    assert totals == {len(items)}
    return items


def until(rows: list[ExecutionRow], at: int | None) -> list[ExecutionRow]:
    return [row for row in rows if at is None or row.at <= at]


def writes(rows: list[ExecutionRow], at: int | None) -> list[ExecutionRow]:
    return [row for row in until(rows, at) if (row.kind, row.state) == ("write", "completed")]


def newest_first(rows: list[ExecutionRow]) -> list[ExecutionRow]:
    return sorted(rows, key=lambda row: (row.at, row.id), reverse=True)


# --- writing -------------------------------------------------------------------------------------


def test_it_is_a_catalogue(catalogue: Catalogue) -> None:
    kept: Catalogue = catalogue
    assert list(kept.scan()) == []


@property_test
@given(rows=st.lists(ANY_ROW, max_size=25), data=st.data())
def test_any_order_and_repetition_gives_the_same_content(
    catalogue: Catalogue, rows: list[Row], data: st.DataObject
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    at_once = catalogue.digest()
    catalogue.clear()
    for row in data.draw(st.permutations(rows + rows[:5])):
        catalogue.record([row])
    catalogue.record(rows)
    assert catalogue.digest() == at_once


@settings(property_test, max_examples=60)  # so that each kind of row is once the first
@given(rows=st.lists(ANY_ROW, min_size=1, max_size=25, unique_by=row_key))
def test_every_row_comes_back_and_each_of_them_counts_in_the_digest(
    catalogue: Catalogue, rows: list[Row]
) -> None:
    """But for when documents came, which is nothing that they say."""
    catalogue.clear()
    catalogue.record(rows[1:])
    without_first = catalogue.digest()
    catalogue.record(rows)
    assert (catalogue.digest() == without_first) is isinstance(rows[0], ArrivalRow)
    found = list(catalogue.scan())
    assert len(found) == len(rows)
    assert {row_key(row) for row in found if type(row).__name__ != "JobRow"} == {
        row_key(row) for row in rows if type(row).__name__ != "JobRow"
    }
    assert all(row in rows for row in found if type(row).__name__ != "JobRow")
    catalogue.withdraw([rows[0]])
    assert catalogue.digest() == without_first


def test_scan_and_digest_go_on_over_many_pages(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Row] = [an_execution(f"ex-{n:03}", at=n) for n in range(40)]
    rows += [PartitionRow(f"ex-{n % 4}", "ds", "write", f"p={n}") for n in range(41)]
    catalogue.record(rows)
    whole = catalogue.digest()
    monkeypatch.setattr("graph_model.stores.catalogue.rows._PAGE", 4)
    assert sorted(map(repr, catalogue.scan())) == sorted(map(repr, rows))
    assert catalogue.digest() == whole


def test_a_known_key_with_other_content_is_a_conflict_and_changes_nothing(
    catalogue: Catalogue,
) -> None:
    catalogue.record([an_execution("ex-1", at=1)])
    before = catalogue.digest()
    with pytest.raises(FactConflict, match="ex-1"):
        catalogue.record([an_execution("ex-2"), an_execution("ex-1", at=2)])
    assert catalogue.digest() == before


def test_a_conflict_behind_a_new_row_changes_nothing_either(catalogue: Catalogue) -> None:
    told = FacetRow("ds-1", "dataset", "schema", 1, "sub-1", "d", deleted=False, job="job-1")
    catalogue.record([told])
    before = catalogue.digest()
    with pytest.raises(FactConflict, match="ds-1"):
        catalogue.record([an_execution("ex-1"), told._replace(deleted=True)])
    assert catalogue.digest() == before
    later = told._replace(at=2)
    catalogue.record([an_execution("ex-1"), told, later])
    assert list(catalogue.scan()) == [an_execution("ex-1"), told, later]


def test_of_rows_with_other_receipts_the_one_that_counts_first_holds(
    catalogue: Catalogue,
) -> None:
    """Whatever comes first; the hash knows nothing of receipts, and each withdraws the other."""
    early: list[Row] = [an_execution("ex-1", at=5, ahead=95), NameRow("n", "l", "ex-1", 5, 95)]
    late: list[Row] = [an_execution("ex-1", at=8, ahead=92), NameRow("n", "l", "ex-1", 8, 92)]
    for rows in ([late, early], [early, late], [late + early]):
        catalogue.clear()
        for some in rows:
            catalogue.record(some)
        assert list(catalogue.scan()) == early
    digest = catalogue.digest()
    catalogue.withdraw(late)
    assert list(catalogue.scan()) == []
    catalogue.record([an_execution("ex-1", at=100), NameRow("n", "l", "ex-1", 100)])
    assert catalogue.digest() == digest
    with pytest.raises(FactConflict, match="ex-1"):
        catalogue.record([an_execution("ex-1", at=5, ahead=96)])


def test_two_rows_of_one_call_with_one_key_must_agree(catalogue: Catalogue) -> None:
    catalogue.record([an_execution("ex-1"), an_execution("ex-1")])
    with pytest.raises(FactConflict):
        catalogue.record([NameRow("n", "l", "ex", 1), NameRow("n", "l", "ex", 2)])
    assert len(list(catalogue.scan())) == 1


def test_only_exactly_equal_rows_are_withdrawn(catalogue: Catalogue) -> None:
    kept = an_execution("ex-1", error=None, duration_ns=5)
    catalogue.record([kept, an_execution("ex-2", error=None), SupportRow("s", "lp")])
    catalogue.withdraw([kept._replace(error="x"), kept._replace(duration_ns=None)])
    catalogue.withdraw([an_execution("unknown"), SupportRow("s", "other")])
    assert len(list(catalogue.scan())) == 3
    catalogue.withdraw([an_execution("ex-2", error=None), SupportRow("s", "lp")])
    assert list(catalogue.scan()) == [kept]
    catalogue.withdraw([])


def test_names_that_are_withdrawn_are_not_found_any_more(catalogue: Catalogue) -> None:
    dataset = a_dataset("ds-1", "s3://b/orders")
    catalogue.record([dataset])
    catalogue.withdraw([dataset])
    assert catalogue.search("orders", kinds=("dataset",), limit=10).total == 0
    catalogue.record([dataset])
    catalogue.clear()
    assert catalogue.search("orders", kinds=("dataset",), limit=10).total == 0


def test_a_path_that_two_columns_share_is_found_until_both_are_withdrawn(
    catalogue: Catalogue,
) -> None:
    first, second = (ColumnRow(f"col-{number}", f"ds-{number}", "Amount") for number in (1, 2))

    def found() -> list[str]:
        return [match.id for match in catalogue.search("amo", kinds=("column",), limit=5).items]

    catalogue.copy([first])
    catalogue.record([second])
    assert found() == ["col-1", "col-2"]
    catalogue.withdraw([first])
    assert found() == ["col-2"]
    catalogue.withdraw([second])
    assert found() == []


def test_names_are_found_although_they_are_longer_than_a_key_of_an_index_may_be(
    catalogue: Catalogue,
) -> None:
    path, job, folder = (_letters_that_do_not_compress(seed) for seed in (b"1", b"2", b"3"))
    uri = f"s3://lake/{folder}/end"
    rows: list[Row] = [ColumnRow("col-1", "ds-1", path), ColumnRow("col-2", "ds-2", path)]
    rows += [a_job("job-1", "ns", job), a_dataset("ds-1", uri)]

    def found(text: str) -> list[str]:
        return [match.id for match in catalogue.search(text, kinds=EVERY_KIND, limit=5).items]

    catalogue.copy(rows[1:])
    catalogue.record(rows[:1])
    assert found(path[:1_999]) == ["col-1", "col-2"]
    assert found(job[:1_999]) == ["job-1"]
    assert found(uri[:1_999]) == ["ds-1"]
    catalogue.withdraw(rows[1:])
    assert found(path[:1_999]) == ["col-1"]
    catalogue.withdraw(rows[:1])
    assert found(path[:1_999]) + found(job[:1_999]) + found(uri[:1_999]) == []


def _letters_that_do_not_compress(seed: bytes) -> str:
    """2,600 of them: PostgreSQL takes rows of an index of 2,704 bytes, compressed, and no more."""
    return b64encode(shake_256(seed).digest(1_950), altchars=b"ab").decode()


def test_words_of_many_lengths_share_the_statement_of_a_search(
    on_file: tuple[Catalogue, sa.Engine],
) -> None:
    catalogue, engine = on_file
    statements: set[str] = set()

    def note(*given: Any) -> None:
        if "catalogue_searched_names" in given[2]:
            statements.add(given[2])

    event.listen(engine, "before_cursor_execute", note)

    def new(*texts: str) -> int:
        before = len(statements)
        for text in texts:
            assert catalogue.search(text, kinds=EVERY_KIND, limit=3).total == 0
        return len(statements) - before

    assert new("orders") == 2  # as it is, and with an error allowed
    assert new("sales", "aaaaa", "amounts") == 0
    assert new("customer or", "at amount", "of salse") == 2


def test_more_rows_than_one_statement_takes_are_recorded(catalogue: Catalogue) -> None:
    rows = [an_execution(f"ex-{n}", at=n, target=f"ds-{n}") for n in range(1_300)]
    catalogue.record(rows)
    catalogue.record(rows)
    assert catalogue.executions(limit=1).total == 1_300
    ids = [row.target for row in rows]
    assert len(catalogue.writers(ids, None)) == 1_300


@pytest.mark.parametrize("others", [an_execution("ex-1", at=1), an_execution("ex-1", at=2)])
def test_a_writer_that_comes_in_between_must_have_said_the_same(
    catalogue: Catalogue,
    engine: sa.Engine,
    monkeypatch: pytest.MonkeyPatch,
    others: ExecutionRow,
) -> None:
    mine = [an_execution("ex-0"), an_execution("ex-1", at=1)]

    def come_in_between(*arguments: Any) -> Any:
        monkeypatch.setattr("graph_model.stores.catalogue.rows.write", write)
        Catalogue(engine).record([others])
        return write(*arguments)

    monkeypatch.setattr("graph_model.stores.catalogue.rows.write", come_in_between)
    if others == mine[1]:
        catalogue.record(mine)
        assert list(catalogue.scan()) == mine
    else:
        with pytest.raises(FactConflict):
            catalogue.record(mine)
        assert list(catalogue.scan()) == [others]


def test_threads_record_the_same_rows_at_the_same_time(catalogue: Catalogue) -> None:
    rows = [an_execution(f"ex-{n}", at=n) for n in range(60)]
    record_in_threads(catalogue, rows)
    assert sorted(catalogue.scan()) == sorted(rows)


# --- by id and by name ---------------------------------------------------------------------------


def test_rows_are_found_by_id(catalogue: Catalogue) -> None:
    datasets = [a_dataset(f"ds-{n}", f"s3://b/{n}") for n in range(3)]
    jobs = [a_job("job-1", "ns", "one"), a_job("job-2", "ns", "two")]
    plan = LogicalPlanRow("lp-1", "job-1", "f", "ds-1", "append", '["day"]', "[]")
    catalogue.record([*datasets, *jobs, plan])
    assert catalogue.datasets(["ds-2", "ds-0", "ds-2", "?"]) == (datasets[0], datasets[2])
    assert catalogue.jobs({"job-2"}) == (jobs[1],)
    assert catalogue.logical_plans(["lp-1"]) == (plan,)
    assert catalogue.datasets([]) == ()
    columns = [ColumnRow("col-1", "ds-1", "a"), ColumnRow("col-2", "ds-1", "b")]
    catalogue.record(columns)
    assert catalogue.columns(["col-2", "?"]) == (columns[1],)


@property_test
@given(
    made=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "ds-1"])), max_size=12),
    jobs=st.sets(st.sampled_from(["job-a", "job-b", "job-?"])),
    limit=st.integers(1, 3),
)
def test_the_plans_of_jobs_that_write_nothing_come_by_id_up_to_a_limit(
    catalogue: Catalogue, made: list[tuple[str, str]], jobs: set[str], limit: int
) -> None:
    catalogue.clear()
    plans = [
        LogicalPlanRow(f"lp-{number:02}", f"job-{job}", "f", target, "", "[]", "[]")
        for number, (job, target) in enumerate(made)
    ]
    catalogue.record(plans)
    expected = {
        job: tuple(plan.id for plan in plans if plan.job == job and not plan.target)[:limit]
        for job in jobs
    }
    found = catalogue.reading_plans(jobs, limit)
    assert found == {job: ids for job, ids in expected.items() if ids}


def test_the_tables_that_plans_with_open_columns_write(catalogue: Catalogue) -> None:
    gaps = {"lp-1": ("ds-2", "open-columns"), "lp-2": ("ds-1", "open-columns"),
            "lp-3": ("ds-2", "open-columns"), "lp-4": ("ds-3", "open_columns"),
            "lp-5": ("", "open-columns"), "lp-6": ("ds-4", "more-open-columns")}  # fmt: skip
    catalogue.record(
        LogicalPlanRow(plan, "job-1", "f", target, "", "[]", json.dumps([[code, "x"]]))
        for plan, (target, code) in gaps.items()
    )
    assert catalogue.tables_with_open_columns(9) == ("ds-1", "ds-2")
    assert catalogue.tables_with_open_columns(1) == ("ds-1",)


def test_one_uri_is_found_in_every_scope(catalogue: Catalogue) -> None:
    rows = [a_dataset(f"ds-{scope}", "file:/x", scope=scope) for scope in ("b", "", "a")]
    catalogue.record([*rows, a_dataset("ds-y", "file:/y")])
    assert [row.scope for row in catalogue.datasets_by_uri("file:/x")] == ["", "a", "b"]
    assert catalogue.datasets_by_uri("file:/X") == ()


def test_a_job_is_found_by_its_exact_name(catalogue: Catalogue) -> None:
    job = a_job("job-1", "ns", "Nightly")
    catalogue.record([job])
    assert catalogue.job_by_name("ns", "Nightly") == job
    assert catalogue.job_by_name("ns", "nightly") is None
    assert catalogue.job_by_name("", "Nightly") is None


def test_execution_plans_come_by_their_newest_execution(catalogue: Catalogue) -> None:
    plans = [an_execution_plan(f"xp-{n}", plan_id=f"plan-{n}") for n in range(4)]
    catalogue.record(plans)
    catalogue.record(
        [
            an_execution("ex-1", plan_id="plan-1", execution_plan="xp-1", at=10),
            an_execution("ex-2", plan_id="plan-3", execution_plan="xp-3", at=30),
            an_execution("ex-3", plan_id="plan-3", execution_plan="xp-3", at=5),
        ]
    )
    found = catalogue.execution_plans(logical_plan="lp-1")
    assert [plan.id for plan in found] == ["xp-3", "xp-1", "xp-0", "xp-2"]
    assert catalogue.execution_plans(logical_plan="lp-1", limit=1) == found[:1]
    assert catalogue.execution_plans(plan_id="plan-2") == (plans[2],)
    assert catalogue.execution_plans(id="xp-2") == (plans[2],)
    assert catalogue.execution_plans(id="unknown") == ()


@pytest.mark.parametrize("criteria", [{}, {"id": "a", "plan_id": "b"}])
def test_execution_plans_take_exactly_one_criterion(
    catalogue: Catalogue, criteria: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        catalogue.execution_plans(**criteria)  # type: ignore[arg-type]


def test_supporters_are_the_subjects_of_a_logical_plan(catalogue: Catalogue) -> None:
    catalogue.record([SupportRow(f"sub-{n}", "lp-1") for n in range(4)])
    catalogue.record([SupportRow("sub-9", "lp-2")])
    assert catalogue.supporters("lp-1") == ("sub-0", "sub-1")
    assert len(catalogue.supporters("lp-1", limit=9)) == 4
    assert catalogue.supporters("lp-3") == ()


# --- history -------------------------------------------------------------------------------------


@property_test
@given(rows=EXECUTIONS, targets=st.sets(TARGETS), at=st.none() | TIMES)
def test_writers_are_the_plans_that_wrote_with_their_newest_write(
    catalogue: Catalogue, rows: list[ExecutionRow], targets: set[str], at: int | None
) -> None:
    """Every third execution wrote a branch."""
    rows = [row._replace(branch="" if n % 3 else "audit") for n, row in enumerate(rows)]
    catalogue.clear()
    catalogue.record(rows)
    written = [row for row in writes(rows, at) if row.target in targets]
    assert catalogue.writers(targets, at) == newest_writers(written)
    of_main = [row for row in written if not row.branch]
    assert catalogue.writers(targets, at, main=True) == newest_writers(of_main)


def newest_writers(rows: list[ExecutionRow]) -> tuple[Writer, ...]:
    latest: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row.target, row.logical_plan, row.mode)
        latest[key] = max(latest.get(key, row.at), row.at)
    return tuple(sorted(Writer(*key, newest) for key, newest in latest.items()))


@property_test
@given(
    rows=EXECUTIONS,
    at=st.none() | TIMES,
    criteria=st.fixed_dictionaries(
        {},
        optional={
            "target": TARGETS,
            "logical_plan": st.sampled_from(["lp-0", "lp-1"]),
            "job": st.sampled_from(["job-0", "job-1"]),
            "run": st.sampled_from(["run-0", "run-1"]),
            "plan_id": st.sampled_from(["plan-0", "plan-1"]),
            "state": st.sampled_from(["completed", "failed"]),
        },
    ),
    limit=st.integers(1, 6),
)
def test_executions_come_newest_first_page_by_page(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    at: int | None,
    criteria: dict[str, str],
    limit: int,
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    expected = [
        row
        for row in newest_first(until(rows, at))
        if all(getattr(row, name) == value for name, value in criteria.items())
    ]
    found = in_pages(
        lambda cursor: catalogue.executions(**criteria, at=at, limit=limit, cursor=cursor)
    )
    assert found == expected
    assert catalogue.newest_event(at) == max((row.at for row in until(rows, at)), default=None)


@property_test
@given(rows=EXECUTIONS, at=st.none() | TIMES)
def test_the_last_execution_of_a_job_and_the_last_write_of_a_dataset(
    catalogue: Catalogue, rows: list[ExecutionRow], at: int | None
) -> None:
    """Every third execution wrote a branch: that is no write of the table."""
    rows = [row._replace(branch="" if n % 3 else "audit") for n, row in enumerate(rows)]
    catalogue.clear()
    catalogue.record(rows)
    oldest_first = sorted(until(rows, at), key=lambda row: (row.at, row.id))
    asked = {"job-0", "job-1", "unknown"}
    newest = {row.job: row for row in oldest_first}
    assert catalogue.last_executions(asked, at) == newest
    states = {job: (row.at, row.state, row.producer) for job, row in newest.items()}
    assert catalogue.last_states(asked, at, 0) == states
    main = [row for row in writes(rows, at) if not row.branch]
    newest = {row.target: row for row in oldest_first if row in main}
    targets = {"ds-0", "ds-1", "ds-2"}
    assert catalogue.last_writers(targets, at) == newest
    shown = {row.target: row for row in oldest_first if row in main and row.job != "job-0"}
    assert catalogue.last_writers(targets, at, ["job-0", "unknown"]) == shown
    page = catalogue.executions(at=at, hidden=["job-0", "ds-1"], limit=1)
    left = [row for row in oldest_first if row.job != "job-0" and row.target != "ds-1"]
    assert (page.items, page.total) == (tuple(left[-1:]), len(left))
    assert catalogue.last_writes(targets, at) == {key: row.at for key, row in newest.items()}
    assert catalogue.last_writes([], at) == {}
    seen = main
    for apart in (0, 5, 1_000):
        lone = {
            key: row.at
            for key, row in newest.items()
            if [one for one in seen if one.target == key and one.at >= row.at - apart] == [row]
        }
        none = dict.fromkeys(set(targets) - newest.keys())
        assert catalogue.lone_last_writes(targets, at, apart=apart) == lone | none


def test_the_first_execution_of_a_plan_id_names_its_job_producer_and_target(
    catalogue: Catalogue,
) -> None:
    catalogue.record(
        [
            a_job("job-1", "etl", "load"),
            a_job("job-2", "bi", "report"),
            an_execution("ex-1", at=5, producer="openlineage"),
            an_execution("ex-2", at=3, job="job-2", target="ds-2"),
            an_execution("ex-3", at=4, plan_id="plan'2"),
            an_execution_plan("xp-9", plan_id="never-ran"),
        ]
    )
    asked = ["plan-1", "plan'2", "plan-1", "never-ran", "unknown"]
    assert catalogue.plan_origins(asked) == {
        "plan-1": ("bi", "report", "spline", "ds-2"),
        "plan'2": ("etl", "load", "spline", "ds-1"),
    }
    assert catalogue.plan_origins([]) == {}


def test_runs_of_a_job_are_counted_up_to_a_bound_and_not_their_executions(
    catalogue: Catalogue,
) -> None:
    of_one = (an_execution(f"ex-{at}", at=at, run=f"run-{at // 2}") for at in range(10))
    catalogue.record([*of_one, an_execution("ex-10", at=1, job="job-2", run="run-of-2")])
    asked = ["job-1", "job-2", "nosuch"]
    assert catalogue.run_counts(asked, 100) == {"job-1": 5, "job-2": 1, "nosuch": 0}
    assert catalogue.run_counts(asked, 3) == {"job-1": 3, "job-2": 1, "nosuch": 0}
    assert catalogue.run_counts([], 3) == {}


def test_the_datasets_around_are_the_folder_its_patterns_and_those_whose_uri_begins_so(
    catalogue: Catalogue,
) -> None:
    uris = {
        "ds-in": "s3://b/in", "ds-o": "s3://b/in/o_*", "ds-1": "s3://b/in/o_1",
        "ds-2": "s3://b/in/o_2", "ds-other": "s3://b/inner", "ds-deep": "s3://b/in/a/*",
    }  # fmt: skip
    catalogue.record([a_dataset(key, uri) for key, uri in uris.items()])
    catalogue.record([a_dataset("ds-scoped", "s3://b/in/o_3", scope="team")])
    catalogue.record([PatternRow("ds-o", "ds-in"), PatternRow("ds-deep", "ds-a")])
    folder, text = Surroundings("ds-in"), Surroundings("", "", "s3://b/in/o_")
    of_team, unknown = Surroundings("", "team", "s3://b/in/"), Surroundings("ds-none")
    around = catalogue.datasets_around([folder, text, of_team, unknown], 5)
    assert {place: [row.id for row in rows] for place, rows in around.items()} == {
        folder: ["ds-in", "ds-o"], text: ["ds-1", "ds-2", "ds-o"], of_team: ["ds-scoped"],
        unknown: [],
    }  # fmt: skip
    assert [row.id for row in catalogue.datasets_around([text], 1)[text]] == ["ds-1", "ds-o"]
    assert catalogue.datasets_around([], 5) == {}


def test_partitions_are_those_of_the_executions(catalogue: Catalogue) -> None:
    rows = [
        PartitionRow("ex-1", "ds", "read", "day=1"),
        PartitionRow("ex-1", "ds", "write", "day=1"),
        PartitionRow("ex-2", "ds", "write", "day=2/hour=%"),
    ]
    catalogue.record([*rows, PartitionRow("ex-3", "ds", "write", "day=3")])
    assert catalogue.partitions(["ex-2", "ex-1"]) == tuple(rows)
    assert catalogue.partitions([]) == ()


# --- names ---------------------------------------------------------------------------------------


NAMES = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2"]), st.sampled_from(["l1", "l2", "l3"]), st.integers(0, 8)
    ),
    unique=True,
    max_size=15,
).map(lambda keys: [NameRow(n, place, f"ex-{at}{n}{place}", at // 2) for n, place, at in keys])


@property_test
@given(rows=NAMES, at=st.none() | st.integers(0, 5))
def test_names_and_locations_are_those_last_observed(
    catalogue: Catalogue, rows: list[NameRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    seen = [row for row in rows if at is None or row.at <= at]
    newest: dict[tuple[str, str], NameRow] = {}
    for row in sorted(seen, key=lambda row: (row.at, row.execution)):
        newest[row.name, row.location] = row
    asked = ["l1", "l3", "unknown"]
    assert catalogue.names_of(asked, at) == tuple(
        sorted(row for row in newest.values() if row.location in asked)
    )

    for name in ("n1", "n2"):
        order = sorted(
            (row for row in rows if row.name == name),
            key=lambda row: (row.at, row.execution, row.location),
        )
        observed = [row for row in order if row in seen]
        expected = observed[-1] if observed else (order[0] if order else None)
        assert catalogue.location_of(name, at) == (expected and expected.location)


def test_a_name_stands_for_its_first_location_before_it_was_ever_observed(
    catalogue: Catalogue,
) -> None:
    catalogue.record([NameRow("n", "old", "ex-1", 10), NameRow("n", "new", "ex-2", 20)])
    assert [catalogue.location_of("n", at) for at in (5, 10, 19, 20, None)] == [
        "old",
        "old",
        "old",
        "new",
        "new",
    ]
    assert catalogue.location_of("unknown", None) is None


RENAMES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 8)),
    unique=True,
    max_size=15,
).map(lambda keys: [RenameRow(a, b, f"ex-{at}", at // 2) for a, b, at in keys])


@property_test
@given(rows=RENAMES, at=st.none() | st.integers(0, 5))
def test_renames_of_a_dataset_are_its_newest_from_and_to_it(
    catalogue: Catalogue, rows: list[RenameRow], at: int | None
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    seen = [row for row in rows if at is None or row.at <= at]
    expected: set[RenameRow] = set()
    for own in (lambda row: row.former, lambda row: row.current):
        for name in ("a", "c"):
            newest = max((row.at for row in seen if own(row) == name), default=None)
            expected |= {row for row in seen if own(row) == name and row.at == newest}
    assert catalogue.renames_of(["a", "c", "unknown"], at) == tuple(sorted(expected))
    by = {"ex-1", "ex-4"}
    assert catalogue.renames_by(by) == tuple(sorted(row for row in rows if row.execution in by))


# --- schemas -------------------------------------------------------------------------------------


def test_the_schema_is_that_of_the_newest_successful_execution(catalogue: Catalogue) -> None:
    schemas = [SchemaRow(f"sch-{n}", "ds-1", f"[{n}]") for n in range(3)]
    catalogue.record(
        [
            *schemas,
            SchemaUseRow("lp-1", "ds-1", "sch-1", "write"),
            SchemaUseRow("lp-2", "ds-1", "sch-2", "read"),
            an_execution("ex-1", logical_plan="lp-1", at=10),
            an_execution("ex-2", logical_plan="lp-2", at=20, target="other"),
            an_execution("ex-3", logical_plan="lp-1", at=30, state="failed"),
        ]
    )
    asked = ["ds-1", "ds-2"]
    assert catalogue.newest_schemas(asked, None) == {"ds-1": schemas[2]}
    assert catalogue.newest_schemas(asked, 19) == {"ds-1": schemas[1]}
    # Before its first execution nobody had used the dataset: no schema is made up for that time.
    assert catalogue.newest_schemas(asked, 9) == {}
    assert catalogue.newest_schemas([], None) == {}


def test_a_write_beats_a_read_at_the_same_time(catalogue: Catalogue) -> None:
    catalogue.record(
        [
            SchemaRow("sch-1", "ds-1", "[1]"),
            SchemaRow("sch-2", "ds-1", "[2]"),
            SchemaUseRow("lp-1", "ds-1", "sch-1", "write"),
            SchemaUseRow("lp-9", "ds-1", "sch-2", "read"),
            an_execution("ex-1", logical_plan="lp-1", at=10),
            an_execution("ex-2", logical_plan="lp-9", at=10),
        ]
    )
    assert catalogue.newest_schemas(["ds-1"], None)["ds-1"].id == "sch-1"


def test_without_any_successful_execution_the_plan_with_the_greatest_id_decides(
    catalogue: Catalogue,
) -> None:
    catalogue.record(
        [
            SchemaRow("sch-1", "ds-1", "[1]"),
            SchemaRow("sch-2", "ds-1", "[2]"),
            SchemaUseRow("lp-2", "ds-1", "sch-1", "read"),
            SchemaUseRow("lp-1", "ds-1", "sch-2", "write"),
            SchemaUseRow("lp-3", "ds-1", "not recorded", "write"),
            an_execution("ex-1", logical_plan="lp-1", state="failed"),
        ]
    )
    assert catalogue.newest_schemas(["ds-1"], None)["ds-1"].id == "sch-1"
    assert catalogue.newest_schemas(["ds-1"], 0)["ds-1"].id == "sch-1"


# --- lists ---------------------------------------------------------------------------------------


def test_datasets_are_listed_by_name_then_uri_with_their_newest_write(
    catalogue: Catalogue,
) -> None:
    rows = [
        a_dataset("ds-1", "s3://b/orders"),
        a_dataset("ds-2", "s3://a/orders"),
        a_dataset("ds-3", "s3://a/clients"),
    ]
    catalogue.record(
        [
            *rows,
            an_execution("ex-1", target="ds-1", job="job-1", at=10),
            an_execution("ex-2", target="ds-1", job="job-2", at=20),
            an_execution("ex-3", target="ds-1", job="job-3", at=20),
            an_execution("ex-4", target="ds-1", at=30, state="failed"),
            an_execution("ex-5", target="ds-1", at=40, kind="lifecycle"),
        ]
    )
    listed = in_pages(lambda cursor: catalogue.list_datasets(limit=1, cursor=cursor))
    assert listed == [rows[2], rows[1], rows[0]]
    ids = [row.id for row in rows]
    assert catalogue.last_writes(ids, None) == {"ds-1": 20}
    assert catalogue.last_writers(ids, None)["ds-1"].job == "job-3"
    (earlier,) = catalogue.list_datasets(query="B/ORD", at=19).items
    assert catalogue.last_writes([earlier.id], 19) == {"ds-1": 10}
    assert catalogue.last_writers([earlier.id], 19)["ds-1"].job == "job-1"
    assert catalogue.list_datasets(query="a/", limit=1).total == 2


def test_all_datasets_are_walked_in_the_order_of_their_list(catalogue: Catalogue) -> None:
    rows = [a_dataset(f"ds-{n}", f"s3://b/{n % 2}", name=f"t{n % 3}") for n in range(7)]
    catalogue.record(rows)
    listed = list(catalogue.list_datasets().items)
    walked: list[DatasetRow] = []
    while page := catalogue.walk_datasets(after=walked[-1] if walked else None, limit=2):
        walked += page
    assert walked == listed
    assert catalogue.walk_datasets(query="B/1") == tuple(r for r in listed if r.uri == "s3://b/1")


def test_all_jobs_are_walked_in_the_order_of_their_list(catalogue: Catalogue) -> None:
    rows = [a_job(f"job-{n}", "ab"[n % 2], f"load {n % 3}") for n in range(7)]
    catalogue.record([*rows, an_execution("run-1", job="job-4", at=20)])
    listed = [one.job for one in catalogue.list_jobs(now=0).items]
    assert list(walk_rows(lambda after: catalogue.walk_jobs(after=after, limit=2))) == listed
    assert catalogue.walk_jobs(namespace="b", query="LOAD 1") == tuple(
        job for job in listed if (job.namespace, job.name) == ("b", "load 1")
    )
    assert catalogue.walk_jobs(at=19) == tuple(job for job in listed if job.id != "job-4")


def test_the_fields_of_a_column_are_those_nested_in_it(catalogue: Catalogue) -> None:
    paths = ["a", "a.b", "a.b.c", "a.`x.y`", "a_b", "a-b.c", "ab.c", "b.a.b"]
    rows = [ColumnRow(f"col-{place}", "ds-1", path) for place, path in enumerate(paths)]
    catalogue.record([*rows, ColumnRow("col-other", "ds-2", "a.b")])
    assert catalogue.fields([("ds-1", "a")]) == tuple(rows[1:4])
    assert catalogue.fields([("ds-1", "a.b"), ("ds-1", "a"), ("ds-3", "a")]) == tuple(rows[1:4])
    assert catalogue.fields([("ds-1", "a.b"), ("ds-1", "b")]) == (rows[2], rows[7])
    assert catalogue.fields([]) == ()


def test_the_columns_of_datasets_come_by_path_up_to_a_limit(catalogue: Catalogue) -> None:
    rows = [ColumnRow(f"col-{d}-{p}", f"ds-{d}", p) for d in (1, 2, 3) for p in ("a", "a.b", "c")]
    catalogue.record(rows[::-1])
    assert catalogue.columns_of(["ds-2", "ds-1"], 100) == tuple(rows[:6])
    assert catalogue.columns_of(["ds-2", "ds-1"], 4) == tuple(rows[:4])
    assert catalogue.columns_of(["ds-4"], 100) == catalogue.columns_of([], 100) == ()


def test_the_query_of_datasets_looks_at_the_uri_alone(catalogue: Catalogue) -> None:
    catalogue.record([a_dataset("ds-1", "s3://b/x", name="friendly")])
    assert catalogue.list_datasets(query="friendly").total == 0
    assert catalogue.list_datasets(query="B/X").total == 1


def test_jobs_are_listed_by_namespace_and_name_with_their_runs(catalogue: Catalogue) -> None:
    rows = [a_job("job-1", "b", "x"), a_job("job-2", "a", "z"), a_job("job-3", "a", "y Été")]
    catalogue.record(
        [
            *rows,
            an_execution("ex-1", job="job-1", run="r1", at=10),
            an_execution("ex-2", job="job-1", run="r1", at=20, state="failed"),
            an_execution("ex-3", job="job-1", run="r2", at=20),
            an_execution("ex-4", job="job-2", run="r3", at=5, kind="lifecycle"),
        ]
    )
    listed = in_pages(lambda cursor: catalogue.list_jobs(now=0, limit=2, cursor=cursor))
    assert [item.job.id for item in listed] == ["job-3", "job-2", "job-1"]
    assert [(item.runs, item.last_at, item.last_state) for item in listed] == [
        (0, None, None),
        (1, 5, "completed"),
        (2, 20, "completed"),
    ]
    (then,) = catalogue.list_jobs(now=0, namespace="b", at=19).items
    assert (then.runs, then.last_at, then.last_state) == (1, 10, "completed")
    assert [item.job.id for item in catalogue.list_jobs(now=0, query="éTÉ").items] == ["job-3"]
    assert catalogue.list_jobs(now=0, query="a/", namespace="a").total == 0
    assert catalogue.list_jobs(now=0, namespace="c").items == ()


@property_test
@given(rows=EXECUTIONS, at=st.none() | TIMES, limit=st.integers(1, 3))
def test_runs_fold_their_executions(
    catalogue: Catalogue, rows: list[ExecutionRow], at: int | None, limit: int
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    runs: dict[str, list[ExecutionRow]] = {}
    for row in newest_first(until(rows, at)):
        if row.job == "job-0":
            runs.setdefault(row.run, []).append(row)
    found = in_pages(lambda cursor: catalogue.list_runs("job-0", at=at, limit=limit, cursor=cursor))
    assert [item.run for item in found] == sorted(
        runs, key=lambda run: (runs[run][0].at, run), reverse=True
    )
    for item in found:
        folded = runs[item.run]
        assert item.executions == len(folded)
        assert item.ended_at == folded[0].at
        starts = [r.at - r.duration_ns // 1_000_000 for r in folded if r.duration_ns is not None]
        told = starts and min(starts) <= min(row.at for row in folded)
        assert item.started_at == (min(starts) if told else None)
        state = next(
            s for s in ("failed", "aborted", "completed") if s in {r.state for r in folded}
        )
        told = [(row.state != "failed", row.error) for row in folded if row.error]  # newest first
        assert item.state == state
        assert item.error == (min(told)[1].partition("\n")[0] if told else None)


def test_runs_that_end_together_are_all_listed(catalogue: Catalogue) -> None:
    catalogue.record([an_execution(f"ex-{n}", run=f"run-{n}", at=7) for n in range(4)])
    runs = in_pages(lambda cursor: catalogue.list_runs("job-1", limit=1, cursor=cursor))
    assert [run.run for run in runs] == ["run-3", "run-2", "run-1", "run-0"]


def test_the_error_of_a_run_is_the_first_line_of_the_newest_one(catalogue: Catalogue) -> None:
    catalogue.record(
        [
            an_execution("ex-1", at=1, state="failed", error="old"),
            an_execution("ex-2", at=2, state="failed", error="\n " + "é" * 400 + "\n at x"),
            an_execution("ex-3", at=3),
        ]
    )
    (run,) = catalogue.list_runs("job-1").items
    assert (run.state, run.error, run.application_id) == ("failed", "é" * 300, "app-1")


@pytest.mark.parametrize("limit", [0, 1_001])
def test_a_limit_out_of_range_is_refused(catalogue: Catalogue, limit: int) -> None:
    asks: list[Callable[[], object]] = [
        lambda: catalogue.executions(limit=limit),
        lambda: catalogue.list_datasets(limit=limit),
        lambda: catalogue.list_jobs(now=0, limit=limit),
        lambda: catalogue.list_runs("job", limit=limit),
        lambda: catalogue.search("x", kinds=("job",), limit=limit),
        lambda: catalogue.execution_plans(id="x", limit=limit),
    ]
    for ask in asks:
        with pytest.raises(ValueError, match="limit"):
            ask()


def test_a_cursor_of_another_list_is_refused(catalogue: Catalogue) -> None:
    catalogue.record([a_dataset("ds-1", "s3://b/1"), a_dataset("ds-2", "s3://b/2")])
    cursor = catalogue.list_datasets(limit=1).next
    assert cursor is not None
    asks: list[Callable[[str], object]] = [
        lambda cursor: catalogue.executions(cursor=cursor),
        lambda cursor: catalogue.list_jobs(now=0, cursor=cursor),
        lambda cursor: catalogue.list_runs("job", cursor=cursor),
    ]
    for ask in asks:
        with pytest.raises(InvalidReference):
            ask(cursor)
    with pytest.raises(InvalidReference):
        catalogue.list_datasets(cursor=cursor[:-3])


# --- search --------------------------------------------------------------------------------------

EVERY_KIND = ("dataset", "job", "column")


def found(catalogue: Catalogue, text: str, *kinds: str) -> list[str]:
    page = catalogue.search(text, kinds=kinds or EVERY_KIND, limit=50)
    assert page.total == len(page.items)
    return [match.id for match in page.items]


def test_equal_names_come_first_then_prefixes_then_the_rest_shorter_first(
    catalogue: Catalogue,
) -> None:
    catalogue.record(
        [
            a_dataset("ds-equal", "s3://bucket/sales/orders"),
            a_dataset("ds-prefix", "s3://bucket/sales/orders_24"),
            a_dataset("ds-part", "s3://bucket/orders/x"),
            a_dataset("ds-inside", "s3://bucket/preorders"),
            a_dataset("ds-inside-too", "s3://bucket/all_preorders"),
            a_job("job-equal", "ns", "Orders"),
            a_job("job-none", "ns", "payments"),
            ColumnRow("col-part", "ds-equal", "billing.address.orders_total"),
        ]
    )
    assert found(catalogue, "ORDERS") == [
        "job-equal",
        "ds-equal",
        "ds-part",
        "ds-prefix",
        "col-part",
        "ds-inside",
        "ds-inside-too",
    ]
    assert found(catalogue, "orders", "job") == ["job-equal"]
    assert found(catalogue, "ns/orders", "job", "dataset") == ["job-equal"]


def test_a_match_says_its_kind(catalogue: Catalogue) -> None:
    catalogue.record(
        [
            a_dataset("ds-1", "s3://b/X"),
            a_job("job-1", "Ns", "X"),
            ColumnRow("col-1", "ds-1", "a.x"),
        ]
    )
    page = catalogue.search("x", kinds=EVERY_KIND, limit=3)
    assert (page.total, page.next) == (3, None)
    assert [(match.kind, match.text, match.dataset) for match in page.items] == [
        ("job", "Ns/X", None),
        ("dataset", "s3://b/X", None),
        ("column", "a.x", "ds-1"),
    ]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_search_neither_finds_nor_counts_hidden_nodes(catalogue: Catalogue, limit: int) -> None:
    catalogue.record([a_dataset(f"ds-{number}", f"s3://b/x{number}") for number in range(3)])
    catalogue.record([a_job("job-0", "ns", "x"), a_job("job-1", "ns", "x1")])
    catalogue.record([ColumnRow(f"col-{number}", f"ds-{number}", "x") for number in range(3)])
    hidden = {"ds-0", "job-0"}
    page = catalogue.search("x", kinds=EVERY_KIND, limit=limit, hidden=hidden)
    assert page.total == 5
    shown = {"job-1", "ds-1", "ds-2", "col-1", "col-2"}
    assert {match.id for match in page.items} <= shown
    assert len(page.items) == limit


def test_an_error_is_forgiven_where_only_a_hidden_name_holds_the_text(
    catalogue: Catalogue,
) -> None:
    catalogue.record([a_job("job-0", "ns", "salse"), a_job("job-1", "ns", "sales")])
    page = catalogue.search("salse", kinds=("job",), limit=5, hidden={"job-0"})
    assert [match.id for match in page.items] == ["job-1"]


def test_a_table_is_not_buried_under_the_columns_that_are_called_like_it(
    catalogue: Catalogue,
) -> None:
    catalogue.record([a_dataset("ds-1", "s3://lake/customer"), a_job("job-1", "ns", "customer_x")])
    catalogue.record(
        [ColumnRow(f"col-{number:02d}", f"ds-{number}", "customer") for number in range(30)]
    )
    page = catalogue.search("customer", kinds=EVERY_KIND, limit=2)
    assert (page.total, [match.id for match in page.items]) == (32, ["ds-1", "col-00"])


def test_a_dataset_is_found_by_its_friendly_name_too(catalogue: Catalogue) -> None:
    catalogue.record([a_dataset("ds-1", "s3://b/x", name="sales.orders")])
    assert found(catalogue, "sales.o") == ["ds-1"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("STRASSE", "straße"),
        ("Straße", "STRASSE"),
        ("ÉTÉ", "été"),
        ("e\u0301te\u0301", "Été"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ΣΊΣΥΦΟΣ", "ίσυφοσ"),
        ("Заказы", "ЗАКАЗ"),
        ("注文", "文"),
    ],
)
def test_case_does_not_matter_in_any_script(catalogue: Catalogue, stored: str, asked: str) -> None:
    catalogue.record([a_job("job-1", "ns", stored), a_job("job-2", "ns", "other")])
    assert found(catalogue, asked) == ["job-1"]
    assert [item.job.id for item in catalogue.list_jobs(now=0, query=asked).items] == ["job-1"]


@pytest.mark.parametrize("text", ["%", "_", "\\", "a%b", "a_b", "a\\b", "\\%", "'", '"', "?", ":x"])
def test_characters_that_mean_something_to_sql_are_taken_literally(
    catalogue: Catalogue, text: str
) -> None:
    catalogue.record([a_dataset("ds-1", f"s3://b/{text}"), a_dataset("ds-2", "s3://b/axb")])
    assert found(catalogue, text) == ["ds-1"]
    assert [row.id for row in catalogue.list_datasets(query=text).items] == ["ds-1"]


@pytest.mark.parametrize(
    "text",
    [
        "daily revenue", "revenue daily", "revenu", "revenuee", "reveneu", "rebenue dail",
        "xevenue", "revxnue", "reevnue",
    ],
)  # fmt: skip
def test_words_are_found_in_any_order_and_with_an_error_in_each(
    catalogue: Catalogue, text: str
) -> None:
    catalogue.clear()
    wanted, other = a_dataset("ds-1", "s3://mart/daily_revenue"), a_dataset("ds-2", "s3://mart/x")
    catalogue.record([wanted, other])
    page = catalogue.search(text, kinds=EVERY_KIND, limit=5)
    assert [match.id for match in page.items] == ["ds-1"]


def test_an_error_is_forgiven_only_where_nothing_is_spelled_so(catalogue: Catalogue) -> None:
    catalogue.clear()
    catalogue.record([a_dataset("ds-1", "s3://b/sales"), a_dataset("ds-2", "s3://b/scales")])
    assert [m.id for m in catalogue.search("sales", kinds=EVERY_KIND, limit=5).items] == ["ds-1"]
    assert catalogue.search("abc", kinds=EVERY_KIND, limit=5).items == ()


def test_an_empty_search_finds_everything_of_its_kinds(catalogue: Catalogue) -> None:
    catalogue.record([a_dataset("ds-1", "s3://b/x"), a_job("job-1", "n", "x")])
    assert found(catalogue, "", "dataset") == ["ds-1"]
    assert catalogue.search("x", kinds=(), limit=5) == Page((), 0, None)


def test_a_search_that_cannot_be_honoured_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(InvalidInput, match="2000 characters"):
        catalogue.search("x" * 2_001, kinds=("job",), limit=1)
    with pytest.raises(ValueError, match="run"):
        catalogue.search("x", kinds=("run",), limit=1)


# --- cost ----------------------------------------------------------------------------------------

# The tables, and the names that statements give them.
TABLES = ("catalogue_", "listed", "seen")


@pytest.fixture
def on_file(tmp_path: Path) -> Iterator[tuple[Catalogue, sa.Engine]]:
    engine = open_database(tmp_path / "headwater.db")
    catalogue = Catalogue(engine)
    catalogue.record([an_execution("ex-1"), SchemaUseRow("lp-1", "ds-1", "sch-1", "read")])
    yield catalogue, engine
    engine.dispose()


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda c: c.writers(["ds-1", "ds-2"], 5), "catalogue_executions_by_writer"),
        (lambda c: c.writers(["ds-1"], None), "catalogue_executions_by_writer"),
        (lambda c: c.executions(target="ds-1", at=5), "catalogue_executions_by_target"),
        (lambda c: c.executions(target="ds-1", state="failed"), "catalogue_executions_by_target"),
        (lambda c: c.executions(job="job-1"), "catalogue_executions_by_job"),
        (lambda c: c.executions(logical_plan="lp-1"), "catalogue_executions_by_logical_plan"),
        (lambda c: c.executions(run="run-1"), "catalogue_executions_by_run"),
        (lambda c: c.executions(plan_id="plan-1"), "catalogue_executions_by_plan"),
        (lambda c: c.plan_origins(["plan-1", "plan-2"]), "catalogue_executions_by_plan"),
        (lambda c: c.run_counts(["job-1", "job-2"], 10), "catalogue_executions_by_job_and_run"),
        (lambda c: c.last_executions(["job-1"], 5), "catalogue_executions_by_job"),
        (lambda c: c.last_writes(["ds-1"], 5), "catalogue_executions_by_target"),
        (lambda c: c.newest_event(5), "catalogue_executions_by_time"),
        (lambda c: c.list_runs("job-1", at=5), "catalogue_executions_by_job_and_run"),
        (lambda c: c.execution_plans(plan_id="p"), "catalogue_execution_plans_by_plan"),
        (
            lambda c: c.execution_plans(logical_plan="lp-1"),
            "catalogue_execution_plans_by_logical_plan",
        ),
        (lambda c: c.execution_plans(id="xp-1"), "sqlite_autoindex_catalogue_execution_plans_1"),
        (lambda c: c.supporters("lp-1"), "PRIMARY KEY"),
        (lambda c: c.datasets(["ds-1"]), "sqlite_autoindex_catalogue_datasets_1"),
        (lambda c: c.datasets_by_uri("s3://x"), "catalogue_datasets_by_uri"),
        (lambda c: c.job_by_name("ns", "x"), "catalogue_jobs_by_name"),
        (
            lambda c: c.datasets_around([Surroundings("", "", "s3://x/")], 5),
            "catalogue_datasets_by_uri",
        ),
        (lambda c: c.datasets_around([Surroundings("ds-1")], 5), "catalogue_patterns_by_folder"),
        (lambda c: c.partitions(["ex-1"]), "PRIMARY KEY"),
        (lambda c: c.names_of(["l"], 5), "catalogue_names_by_location"),
        (lambda c: c.renames_of(["l"], 5), "catalogue_renames_by_former"),
        (lambda c: c.renames_of(["l"], 5), "catalogue_renames_by_current"),
        (lambda c: c.renames_by(["ex"]), "catalogue_renames_by_execution"),
        (lambda c: c.names_around(["l"]), "catalogue_names_by_location"),
        (lambda c: c.names_around(["l"]), "PRIMARY KEY"),
        (lambda c: c.names_around(["l"]), "catalogue_hostless_names_by_location"),
        (lambda c: c.location_of("n", 5), "catalogue_hostless_names_by_name"),
        (lambda c: c.last_states(["job-1"], 5, 0), "catalogue_executions_by_job"),
        (lambda c: c.fields([("ds-1", "a")]), "catalogue_columns_by_dataset"),
        (lambda c: c.columns_of(["ds-1"], 5), "catalogue_columns_by_dataset"),
        (lambda c: c.reading_plans(["job-1"], 5), "catalogue_logical_plans_that_read"),
        (lambda c: c.tables_with_open_columns(5), "catalogue_logical_plans_that_are_open"),
        (lambda c: c.location_of("n", 5), "catalogue_names_by_name"),
        (lambda c: c.newest_schemas(["ds-1"], 5), "catalogue_schema_uses_by_dataset"),
        (
            lambda c: c.record([an_execution("ex-1")]),
            "sqlite_autoindex_catalogue_executions_1",
        ),
        (lambda c: c.record([NameRow("n", "l", "ex", 1)]), "catalogue_names_by_execution"),
        (lambda c: c.record([SupportRow("s", "l")]), "PRIMARY KEY"),
        (lambda c: c.facets_in_use(["d"]), "PRIMARY KEY"),
    ],
)
def test_a_question_seeks_in_its_index(
    on_file: tuple[Catalogue, sa.Engine], ask: Callable[[Catalogue], object], index: str
) -> None:
    catalogue, engine = on_file
    with recorded_plans(engine) as lines:
        ask(catalogue)
    assert lines
    assert full_scans(lines, TABLES) == []
    searches = [line for line in lines if line.startswith("SEARCH")]
    assert any(f"{index} (" in line for line in searches), lines


def test_a_search_walks_through_no_table_of_rows(
    on_file: tuple[Catalogue, sa.Engine],
) -> None:
    catalogue, engine = on_file
    catalogue.record(
        [a_dataset("ds-1", "s3://b/x"), a_job("job-1", "ns", "x"), ColumnRow("col-1", "ds-1", "x")]
    )
    with recorded_plans(engine) as lines:
        assert catalogue.search("x", kinds=EVERY_KIND, limit=3, hidden=["ds-0"]).total == 3
        assert catalogue.facets_holding(["x"], limit=3).rows == ()
    walked = {line.split()[1] for line in full_scans(lines, ("catalogue_",))}
    assert walked <= {"catalogue_searched_names", "catalogue_facet_texts"}


def test_pages_of_executions_are_not_sorted_anew(
    on_file: tuple[Catalogue, sa.Engine],
) -> None:
    catalogue, engine = on_file
    catalogue.record([an_execution(f"ex-{n}", at=n) for n in range(2, 5)])
    cursor = catalogue.executions(target="ds-1", limit=1).next
    with recorded_plans(engine) as lines:
        catalogue.executions(target="ds-1", limit=1, cursor=cursor)
        catalogue.executions(job="job-1", limit=1, cursor=cursor)
    # Within one time the ids are put in order; the times come in the order of the index.
    assert {line for line in lines if "TEMP B-TREE" in line} <= {
        "USE TEMP B-TREE FOR LAST TERM OF ORDER BY",
        "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY",
    }
    assert any("AND at<?" in line for line in lines if line.startswith("SEARCH"))


def test_a_full_disk_is_unavailable_and_no_fault_of_the_rows(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    catalogue = Catalogue(engine)
    rows = [an_execution(f"ex-{n}", at=n) for n in range(500)]
    room = {"pages": 0}

    def limit_pages(connection: sqlite3.Connection, *_: object) -> None:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        # A number below the size of the file stands for that size.
        connection.execute(f"PRAGMA max_page_count = {room['pages'] or used}")

    event.listen(engine, "checkout", limit_pages)
    with pytest.raises(Unavailable, match="no space left"):
        catalogue.record(rows)
    assert list(catalogue.scan()) == []
    room["pages"] = 1_000_000
    catalogue.record(rows)
    assert len(list(catalogue.scan())) == 500
    catalogue.close()


def test_a_database_that_cannot_be_read_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    catalogue = Catalogue(open_database(path))
    catalogue.record([an_execution(f"ex-{n}", at=n) for n in range(300)])
    catalogue.close()
    catalogue.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(Unavailable, match="damaged"):
        catalogue.executions()
    catalogue.close()
