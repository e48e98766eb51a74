"""Columns of JDBC queries: ``fixtures/jdbc_queries.json``, written by hand from the meaning of SQL.

Per query the lines ``table.column how`` that each column of its result comes from, the influences
about its rows, and the problems: names that no reader could give to one table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model import naming
from graph_model.naming.rules import DEFAULT_RULES
from graph_model.producers.spline import column_derivation, documents
from graph_model.producers.spline.plan_logic import Logic, PlanDocument, read_logic
from graph_model.sql import QueryLineage
from tests.unit.graph_model.producers.spline.test_column_shapes import SHAPES

QUERIES: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[3] / "fixtures" / "jdbc_queries.json").read_text(encoding="utf-8")
)


def lineage_of(query: str, *names: str, url: str = "jdbc:postgresql://h/d") -> QueryLineage:
    result = naming.query_lineage(f"{url}:{query}", names, DEFAULT_RULES)
    assert result is not None
    return result[0]


def lines(lineage: QueryLineage, names: list[str]) -> dict[str, list[str] | None]:
    return {
        name: None
        if column is None
        else sorted(f"{'.'.join(table)}.{of} {how}" for (table, of), how in column.flows)
        for name, column in zip(names, lineage.columns, strict=True)
    }


@pytest.mark.parametrize("case", QUERIES, ids=[case["meaning"] for case in QUERIES])
def test_columns_of_a_query_come_from_the_columns_of_its_tables(case: dict[str, Any]) -> None:
    result = lineage_of(
        case["query"], *case["columns"], url=case.get("url", "jdbc:postgresql://h/d")
    )
    assert lines(result, list(case["columns"])) == {
        name: expected if expected is None else sorted(expected)
        for name, expected in case["columns"].items()
    }
    influences = {
        f"{'.'.join(table)}.{of} {item.how}"
        for item in result.influences
        for table, of in item.sources
    }
    assert influences == set(case.get("influences", []))
    assert list(result.problems) == case.get("problems", [])
    opens = {f"{item.name}: one of {_named(item.among)} {item.how}" for item in result.opens}
    assert opens == set(case.get("open", []))
    if "datasets" in case:
        datasets = naming.normalise(f"{case['url']}:{case['query']}", "", DEFAULT_RULES)
        assert [dataset.uri for dataset in datasets] == case["datasets"]
    for name, text in case.get("expressions", {}).items():
        column = result.columns[list(case["columns"]).index(name)]
        assert column is not None
        assert column.expression == text


def _named(tables: Sequence[tuple[str, ...]]) -> str:
    return ", ".join(".".join(table) for table in tables)


def test_a_table_is_no_query() -> None:
    assert naming.query_lineage("jdbc:mysql://h/d:hr.emp", ("a",), DEFAULT_RULES) is None
    assert naming.query_lineage("s3://lake/(select 1)", ("a",), DEFAULT_RULES) is None


@pytest.mark.parametrize(
    "query",
    [
        "(select " + "(" * 3_000 + "a" + ")" * 3_000 + " from t) q",
        "(select a from t) q where ((",
        "(select 1 from " + "a join " * 60 + "b) q",
        "(select " + " + ".join(["a"] * 6_000) + " as a from t) q",
        "(" * 500 + "select a from t" + ")" * 500,
        "(select a from t" + " union select a from t" * 800 + ") q",
        "(with recursive r as (select a from t union all select a from r) select a from r) q",
        "(with " + ", ".join(f"c{n} as (select * from c{n - 1})" for n in range(1, 300))
        + " select a from c299) q",
        "(select a from t where b = '" + "x" * 30_000 + "') q",
        "(delete from t) q",
        "(values (1, 2)) q(a, b)",
        "(select \x00 from \ud800) q",
        "select " + "( union " * 40 + "a",
        "select " + "struct ( " * 100 + "a",
    ],
    ids=range(14),
)  # fmt: skip
def test_hostile_queries_end_without_an_error(query: str) -> None:
    result = naming.query_lineage(f"jdbc:postgresql://h/d:{query}", ("a",), DEFAULT_RULES)
    assert result is None or len(result[0].columns) == 1


def test_secrets_and_dates_in_a_query_are_not_in_its_text() -> None:
    query = "(select a as x from t where d = '2026-03-01') q"
    result = lineage_of(query, "x", url="jdbc:postgresql://u:hush@h/d?password=hush")
    assert "hush" not in repr(result)
    assert [item.expression for item in result.influences] == ["d = '<date>'"]


# --- inside a plan -------------------------------------------------------------------------------


def logic_of(source: str, *names: str) -> Logic:
    """The logic of a plan that copies the result of a query, all columns as they are."""
    document = json.loads((SHAPES / "jdbc_query" / "plan.json").read_text(encoding="utf-8"))
    (read,) = document["operations"]["reads"]
    read["inputSources"] = [source]
    document["attributes"][0]["name"], document["attributes"][1]["name"] = names
    plan = documents.read_plan(document)
    return read_logic(PlanDocument(plan, "", "hash", "1.2"))


def test_a_plan_that_reads_a_query_has_the_columns_of_its_tables() -> None:
    logic = logic_of(
        "jdbc:mysql://h/hr:(select dept, pay*2 as dbl from emp where x=1) t", "dept", "dbl"
    )
    (read,) = logic.reads
    assert {(flow.source, flow.target[1], flow.how, flow.expression) for flow in logic.flows} == {
        ((read.dataset_id, "dept"), "dept", "IDENTITY", "dept"),
        ((read.dataset_id, "pay"), "dbl", "TRANSFORMATION", "pay * 2"),
    }
    assert [(i.source[1], i.how, i.expression) for i in logic.influences] == [
        ("x", "FILTER", "x = 1")
    ]
    assert logic.gaps == ()
    assert read.columns is None


def test_an_open_part_of_a_query_waits_for_schemas_and_its_tables_stay() -> None:
    logic = logic_of("jdbc:mysql://h/hr:(select e.a, b from emp e, dept d) t", "a", "b")
    assert {use.dataset.name for use in logic.reads} == {"emp", "dept"}
    assert [(flow.source[1], flow.target[1]) for flow in logic.flows] == [("a", "a")]
    assert logic.gaps == (("open-columns", "b: one of dept, emp"),)
    tables = {use.dataset.name: use.dataset_id for use in logic.reads}
    assert {(o.source, o.path, o.target, o.how, o.expression) for o in logic.opens} == {
        (tables[name], "b", "b", "IDENTITY", "b") for name in ("emp", "dept")
    }
    assert {o.among for o in logic.opens} == {tuple(sorted(tables.values()))}


def test_an_open_part_with_a_table_that_the_plan_does_not_read_is_a_gap() -> None:
    query = "(select e.a, b from emp e, information_schema.tables d where c > 1) t"
    logic = logic_of(f"jdbc:mysql://h/hr:{query}", "a", "b")
    assert logic.opens == ()
    assert logic.gaps == tuple(
        ("jdbc-query", f"emp: {name}: one of emp, information_schema.tables") for name in "bc"
    )


def test_a_column_that_one_star_leaves_out_is_of_the_other() -> None:
    logic = logic_of(
        "jdbc:snowflake://h/?db=d&schema=s:"
        "(select s.* exclude (amount), r.* from s join r on s.id = r.id) t",
        "amount",
        "id",
    )
    assert [(flow.source[1], flow.target[1]) for flow in logic.flows] == [("amount", "amount")]
    assert {flow.source[0] for flow in logic.flows} == {
        use.dataset_id for use in logic.reads if use.dataset.name == "S.R"
    }
    assert [code for code, _ in logic.gaps] == ["open-columns"]


def test_a_column_computed_in_query_and_plan_is_written_as_one_expression() -> None:
    plan = documents.read_plan(
        json.loads((SHAPES / "jdbc_query" / "plan.json").read_text(encoding="utf-8"))
    )
    assert column_derivation.derive(plan).gaps == ()
    assert (
        logic_of("jdbc:mysql://h/hr:(select a, sum(b) as c from t group by a) q", "a", "c")
        .flows[1]
        .how
        == "AGGREGATION"
    )
