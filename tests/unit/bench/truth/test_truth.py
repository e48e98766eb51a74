"""The truth harness itself: changes, comparison, verdicts, report. No Spark."""

from __future__ import annotations

import datetime
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bench.truth import formats, staff, tpch
from bench.truth.comparison import ROWS, Outcome, compare
from bench.truth.experiment import measure, planned
from bench.truth.jobs import JOBS, Job, Unmeasurable, query
from bench.truth.perturbation import BLANK, FRESH, SHUFFLE, Change, fresh_value, perturb
from bench.truth.report import Measured, Score, as_json, passes, score, table, total
from bench.truth.schema import (
    Array,
    Leaf,
    Struct,
    Table,
    leaves,
    literal,
    select,
    values_at,
    with_values,
)
from bench.truth.verdicts import CONFIRMED, REFUTED, UNTESTED, Edge, covers

ITEMS = Array(Struct({"sku": "string", "price": "double"}))
PEOPLE = Table(
    "people",
    {"id": "int", "pay": "int", "unit": "string"},
    tuple({"id": n, "pay": n * 10, "unit": "ab"[n % 2]} for n in range(1, 7)),
)


def never_built(_: Any) -> Any:
    raise AssertionError("only Spark builds a job")


@dataclass
class Formula:
    """Stands in for Spark: a job is a function from the rows of ``people``."""

    columns: tuple[str, ...]
    rows: Callable[[list[Mapping[str, Any]]], list[tuple[Any, ...]]]

    @property
    def tables(self) -> Mapping[str, Table]:
        return {"people": PEOPLE}

    def outcome(self, _: Job, changed: Table | None = None) -> Outcome:
        return Outcome(self.columns, tuple(self.rows(list((changed or PEOPLE).rows))))


def job(*key: str) -> Job:
    return Job("probe", ("people",), never_built, key)


def direct(column: str, output: int, how: str = "IDENTITY") -> Edge:
    return Edge(Leaf("people", column), output, "DIRECT", how)


def influence(column: str, how: str = "FILTER") -> Edge:
    return Edge(Leaf("people", column), ROWS, "INDIRECT", how)


RICH = Formula(
    ("id", "pay"), lambda rows: [(r["id"], r["pay"]) for r in rows if (r["pay"] or 0) > 20]
)
RICH_EDGES = [direct("id", 0), direct("pay", 1), influence("pay")]


# --- changes -------------------------------------------------------------------------------------


def test_leaves_go_through_structs_and_arrays() -> None:
    result = list(leaves(Table("t", {"a": "int", "items": ITEMS}, ())))
    assert result == [
        (Leaf("t", "a"), "int"),
        (Leaf("t", "items", ("sku",)), "string"),
        (Leaf("t", "items", ("price",)), "double"),
    ]


def test_values_below_an_array_are_visited_and_replaced_in_the_same_order() -> None:
    value = [{"sku": "x", "price": 1.0}, {"sku": "y", "price": 2.0}]
    assert list(values_at(value, ("sku",))) == ["x", "y"]
    assert with_values(value, ("sku",), iter("pq")) == [
        {"sku": "p", "price": 1.0},
        {"sku": "q", "price": 2.0},
    ]


def test_a_shuffle_keeps_the_values_and_leaves_the_other_columns() -> None:
    made = perturb(PEOPLE, Change(Leaf("people", "pay"), "int", SHUFFLE, 0)).table
    assert sorted(row["pay"] for row in made.rows) == [10, 20, 30, 40, 50, 60]
    assert [row["pay"] for row in made.rows] != [10, 20, 30, 40, 50, 60]
    assert [row["id"] for row in made.rows] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("seed", "expected"), [(0, 3), (1, 6)])
def test_fresh_values_replace_half_and_then_all(seed: int, expected: int) -> None:
    made = perturb(PEOPLE, Change(Leaf("people", "pay"), "int", FRESH, seed))
    new = {row["pay"] for row in made.table.rows} - {row["pay"] for row in PEOPLE.rows}
    assert len(new) == expected
    assert made.fresh == new


def test_blanking_makes_a_third_null_and_nothing_fresh() -> None:
    made = perturb(PEOPLE, Change(Leaf("people", "unit"), "string", BLANK, 0))
    assert sum(row["unit"] is None for row in made.table.rows) == 2
    assert made.fresh == frozenset()


def test_the_same_change_gives_the_same_rows() -> None:
    change = Change(Leaf("people", "pay"), "int", SHUFFLE, 1)
    assert perturb(PEOPLE, change) == perturb(PEOPLE, change)


@pytest.mark.parametrize(
    ("value", "data_type", "expected"),
    [
        (1, "int", 700_004),
        ("HR", "string", "HR~4"),
        (None, "string", "~4"),
        (True, "boolean", False),
        (datetime.date(2020, 1, 1), "date", datetime.date(1901, 1, 5)),
        (Decimal(1), "decimal(12,2)", Decimal("700004.25")),
        (1.0, "double", 700_004.5),
    ],
)
def test_a_fresh_value_is_of_the_type(value: Any, data_type: str, expected: Any) -> None:
    assert fresh_value(value, data_type, 4) == expected


def test_a_job_names_the_columns_that_are_changed() -> None:
    narrow = Job("narrow", ("people",), never_built, columns=frozenset({"pay"}))
    made = list(planned(narrow, {"people": PEOPLE}, 2))
    assert {change.leaf.column for change in made} == {"pay"}
    assert [(change.strategy, change.seed) for change in made] == [
        (FRESH, 0), (FRESH, 1), (SHUFFLE, 0), (SHUFFLE, 1), (BLANK, 0),
    ]  # fmt: skip


def test_rows_become_sql_that_keeps_types_and_quotes() -> None:
    assert literal("it's \\") == "'it\\'s \\\\'"
    assert literal([{"a": 1.5, "b": None}]) == "array(named_struct('a', 1.5D, 'b', NULL))"
    first = Table(
        "t", {"d": "date", "items": ITEMS}, ({"d": datetime.date(2024, 1, 2), "items": []},)
    )
    assert select(first) == (
        "SELECT CAST(`d` AS date) AS `d`, CAST(`items` AS array<struct<sku: string, price: "
        "double>>) AS `items` FROM VALUES (DATE '2024-01-02', array()) AS v(`d`, `items`)"
    )


# --- comparison ----------------------------------------------------------------------------------


def outcome(*rows: tuple[Any, ...]) -> Outcome:
    return Outcome(("k", "v"), rows)


def test_a_key_aligns_rows_and_ignores_those_that_went() -> None:
    moved = compare(outcome((1, "a"), (2, "b")), outcome((2, "b")), key=[0])
    assert moved.columns == {ROWS, 0}


def test_values_that_swap_rows_move_only_under_a_key() -> None:
    before, after = outcome((1, "a"), (2, "b")), outcome((1, "b"), (2, "a"))
    assert compare(before, after, key=[0]).columns == {1}
    assert compare(before, after).columns == frozenset()
    assert compare(before, after).ordered


def test_without_a_key_another_number_of_rows_moves_the_rows_alone() -> None:
    assert compare(outcome((1, "a")), outcome((1, "a"), (1, "z"))).columns == {ROWS}


def test_a_key_that_repeats_is_no_key() -> None:
    moved = compare(outcome((1, "a"), (1, "b")), outcome((1, "a"), (1, "c")), key=[0])
    assert moved.columns == {1}


def test_a_fresh_value_arrives_inside_structs_too() -> None:
    after = outcome((1, ("x", ("new",))))
    assert compare(outcome((1, ("x", ("old",)))), after, fresh={"new"}).arrived == {1}


def test_nothing_moves_when_nothing_changed() -> None:
    assert compare(outcome((1, "a")), outcome((1, "a")), key=[0]).still


# --- verdicts ------------------------------------------------------------------------------------


def words(found: Measured) -> dict[tuple[str, int, str], str]:
    return {
        (v.edge.source.column, v.edge.output, v.edge.how): v.word for v in found.judgement.verdicts
    }


def test_true_edges_are_confirmed_and_explain_every_movement() -> None:
    result = measure(RICH, job("id"), RICH_EDGES, seeds=2)
    assert set(words(result).values()) == {CONFIRMED}
    assert result.judgement.missing == ()
    assert result.judgement.explained


def test_a_lost_direct_edge_is_missing_though_an_influence_is_there() -> None:
    result = measure(RICH, job("id"), [direct("id", 0), influence("pay")], seeds=2)
    assert [(p.source.column, p.output, p.arrived) for p in result.judgement.missing] == [
        ("pay", 1, True)
    ]


def test_a_lost_influence_is_missing() -> None:
    result = measure(RICH, job("id"), RICH_EDGES[:2], seeds=2)
    assert ("pay", ROWS) in {(p.source.column, p.output) for p in result.judgement.missing}


def test_an_edge_that_moves_nothing_is_untested() -> None:
    result = measure(RICH, job("id"), [*RICH_EDGES, direct("unit", 1, "TRANSFORMATION")], seeds=2)
    assert words(result)["unit", 1, "TRANSFORMATION"] == UNTESTED


def test_an_identity_is_refuted_by_a_value_that_its_source_never_held() -> None:
    doubled = Formula(("id", "twice"), lambda rows: [(r["id"], (r["pay"] or 0) * 2) for r in rows])
    result = measure(doubled, job("id"), [direct("id", 0), direct("pay", 1)], seeds=2)
    assert words(result)["pay", 1, "IDENTITY"] == REFUTED


def test_an_indirect_edge_is_refuted_when_the_value_itself_arrives() -> None:
    edge = Edge(Leaf("people", "pay"), 1, "INDIRECT", "CONDITIONAL")
    result = measure(RICH, job("id"), [direct("id", 0), edge, influence("pay")], seeds=2)
    assert words(result)["pay", 1, "CONDITIONAL"] == REFUTED


def test_ids_dealt_out_anew_do_not_make_other_columns_move() -> None:
    everyone = Formula(("id", "pay"), lambda rows: [(r["id"], r["pay"]) for r in rows])
    result = measure(everyone, job("id"), [direct("id", 0), direct("pay", 1)], seeds=2)
    assert result.judgement.missing == ()


def test_an_order_confirms_an_influence() -> None:
    ordered = Formula(
        ("id",), lambda rows: [(r["id"],) for r in sorted(rows, key=lambda r: r["pay"] or 0)]
    )
    result = measure(ordered, job("id"), [direct("id", 0), influence("pay", "SORT")], seeds=2)
    assert words(result)["pay", ROWS, "SORT"] == CONFIRMED


def test_an_edge_of_a_field_covers_the_whole_and_not_its_neighbour() -> None:
    whole, price = Leaf("t", "items"), Leaf("t", "items", ("price",))
    assert covers(whole, price)
    assert covers(price, whole)
    assert not covers(Leaf("t", "items", ("sku",)), price)
    assert not covers(Leaf("u", "items"), whole)


@pytest.mark.parametrize("rows", [[], None])
def test_a_job_that_says_nothing_is_refused(rows: list[Any] | None) -> None:
    runs = iter(range(10))
    silent = Formula(("id",), lambda _: [(next(runs),)] if rows is None else rows)
    with pytest.raises(Unmeasurable):
        measure(silent, job(), [], seeds=1)


# --- report --------------------------------------------------------------------------------------


def test_the_report_counts_and_names_the_faults() -> None:
    result = measure(
        RICH, job("id"), [direct("id", 0), influence("pay"), direct("unit", 1)], seeds=2
    )
    text = table([result])
    assert "probe: missing: people.pay arrived in pay" in text
    assert "probe: refuted: people.unit -> pay IDENTITY" in text
    written = json.loads(json.dumps(as_json([result], ["x: none"])))
    assert written["total"]["missing"] == written["jobs"][0]["missing"] == 1
    assert written["total"]["precision"] == round(2 / 3, 4)
    assert written["skipped"] == ["x: none"]


def test_totals_add_up_and_the_floor_is_of_both_numbers() -> None:
    result = measure(RICH, job("id"), RICH_EDGES, seeds=2)
    assert total([result, result]) == score(result.judgement) + score(result.judgement)
    assert passes(Score(confirmed=9, refuted=1, explained=9, missing=1), 0.9)
    assert not passes(Score(confirmed=9, refuted=1, explained=8, missing=2), 0.9)
    assert not passes(Score(confirmed=8, refuted=2, explained=10), 0.9)


def test_untested_edges_show_in_the_coverage_alone() -> None:
    half = Score(confirmed=1, untested=1)
    assert half.precision == 1.0
    assert half.coverage == 0.5


# --- jobs and tables -----------------------------------------------------------------------------


def test_jobs_have_names_of_their_own_and_read_tables_that_are_there() -> None:
    known = {item.name for item in staff.tables()}
    assert len({item.name for item in JOBS}) == len(JOBS) >= 25
    assert all(set(item.tables) <= known for item in JOBS)


def test_the_two_lakes_share_no_table_and_are_the_same_each_time() -> None:
    names = [item.name for item in (*staff.tables(), *tpch.tables())]
    assert len(set(names)) == len(names)
    assert tpch.tables() == tpch.tables()
    assert staff.tables() == staff.tables()


def test_the_rare_orders_have_the_rows_that_queries_20_and_21_look_for() -> None:
    rows = {table.name: table.rows for table in tpch.tables()}
    nation = {row["n_nationkey"]: row["n_name"] for row in rows["nation"]}
    home = {row["s_suppkey"]: nation[row["s_nationkey"]] for row in rows["supplier"]}
    part = {row["p_partkey"]: row["p_name"] for row in rows["part"]}
    offers = {(row["ps_partkey"], row["ps_suppkey"]) for row in rows["partsupp"]}
    rare = [row for row in rows["lineitem"] if row["l_orderkey"] in {49, 50, 51}]
    assert all((row["l_partkey"], row["l_suppkey"]) in offers for row in rare)
    late = {home[row["l_suppkey"]] for row in rare if row["l_receiptdate"] > row["l_commitdate"]}
    assert late == {"SAUDI ARABIA"}
    assert any(
        home[row["l_suppkey"]] == "CANADA" and part[row["l_partkey"]].startswith("forest")
        for row in rare
    )


def test_queries_are_read_from_the_archive_by_number(tmp_path: Path) -> None:
    archive = tmp_path / "tests.jar"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("tpch/q10.sql", "select 10")
        made.writestr("tpch/q2.sql", "select 2")
        made.writestr("tpcds/q1.sql", "select 1")
    assert tpch.read_queries(archive) == [(2, "select 2"), (10, "select 10")]


def test_a_query_reads_the_tables_that_its_text_names() -> None:
    result = tpch.job(4, "-- from customer\nselect o_orderpriority from orders, lineitem")
    assert result.name == "tpch_q04"
    assert result.tables == ("orders", "lineitem")
    assert result.columns is not None
    assert "o_orderpriority" in result.columns
    assert "o_custkey" not in result.columns


def test_a_query_with_a_star_may_read_every_column() -> None:
    assert query("all", "emp", "SELECT * FROM emp").columns is None
    named = query("one", "emp", "SELECT count(*), max(salary) FROM emp").columns
    assert named is not None
    assert "salary" in named
    assert "bonus" not in named


# --- tables of formats ---------------------------------------------------------------------------


class Recorded:
    """Stands in for a session that is told statements."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def sql(self, text: str) -> None:
        self.told.append(text)


def test_jobs_of_formats_read_tables_that_there_are_and_have_names_of_their_own() -> None:
    known = {item.name: set(item.columns) for item in staff.tables()}
    for entry in formats.JOBS:
        assert set(entry.views) <= known.keys()
        columns = set().union(*(known[name] for name in entry.tables))
        assert entry.columns is None or columns & entry.columns, entry.name
    names = [item.name for item in (*JOBS, *formats.JOBS)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "table"),
    [("delta_delete", "delta.`/lake/delta/7/account`"), ("iceberg_delete", "ice.run7.account")],
)
def test_a_table_of_a_format_is_made_anew_for_each_run(name: str, table: str) -> None:
    (first,) = (job for job in formats.JOBS if job.name == name)
    session = Recorded()
    names = first.prepare(session, "/lake", 7)
    first.run(session, names)
    created, changed = session.told
    assert created.startswith(f"CREATE TABLE {table} USING {first.format} ")
    assert changed.startswith(f"DELETE FROM {table} ")
    assert names[first.written] == table


def test_statements_before_the_measured_one_are_run_first() -> None:
    (first,) = (job for job in formats.JOBS if job.name == "iceberg_former_version")
    session = Recorded()
    names = first.prepare(session, "/lake", 1)
    assert [text.split()[0] for text in session.told] == ["CREATE", "ALTER", "UPDATE"]
    assert names[first.written] == "ice.run1.out"
