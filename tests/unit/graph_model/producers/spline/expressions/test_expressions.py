"""Expressions as text and as trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import ExecutionPlan, Reference
from graph_model.producers.spline.expressions.forms import literal_text
from graph_model.producers.spline.expressions.text import Renderer, operation_properties
from tests.builders import PlanBuilder, Step

COLUMNS = ("a: int", "b: int", "c: int", "dept: string", "items", "x.y")

Make = Callable[[PlanBuilder, Step], Reference]


def call(name: str, *names: str, of: str = "", symbol: str = "", **params: Any) -> Make:
    """A function over columns of the read: ``call("year", "a")``."""
    return lambda plan, read: plan.call(
        name, *(read[column] for column in names), of=of, symbol=symbol, params=params
    )


def said(make: Make, *, inline: bool = True) -> str:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", *COLUMNS)
    value = make(plan, read)
    plan.write(plan.project(read, out=value))
    return Renderer(plan.build()).text(value, inline=inline)


def binary(plan: PlanBuilder, symbol: str, left: Reference, right: Reference) -> Reference:
    name = {"+": "add", "-": "subtract", "*": "multiply", "=": "equalto", ">": "greaterthan"}
    return plan.call(name[symbol], left, right, symbol=symbol)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda p, t: t["a"], "a"),
        (lambda p, t: t["x.y"], "`x.y`"),
        (lambda p, t: binary(p, "+", t["a"], t["b"]), "a + b"),
        (lambda p, t: binary(p, "*", binary(p, "+", t["a"], t["b"]), t["c"]), "(a + b) * c"),
        (lambda p, t: binary(p, "+", binary(p, "*", t["a"], t["b"]), t["c"]), "a * b + c"),
        (lambda p, t: binary(p, "-", t["a"], binary(p, "-", t["b"], t["c"])), "a - (b - c)"),
        (lambda p, t: binary(p, "-", binary(p, "-", t["a"], t["b"]), t["c"]), "a - b - c"),
        (lambda p, t: binary(p, "-", t["a"], p.literal(-1)), "a - -1"),
        (lambda p, t: p.call("unaryminus", binary(p, "+", t["a"], t["b"])), "-(a + b)"),
        (lambda p, t: p.call("isnull", t["a"]), "a IS NULL"),
        (lambda p, t: p.call("isnotnull", binary(p, "+", t["a"], t["b"])), "a + b IS NOT NULL"),
        (lambda p, t: p.call("in", t["a"], p.literal(1), p.literal(2)), "a IN (1, 2)"),
        (lambda p, t: p.call("like", t["dept"], p.literal("%s'x")), "dept LIKE '%s''x'"),
        (lambda p, t: p.call("not", p.call("isnull", t["a"])), "a IS NOT NULL"),
        (lambda p, t: p.call("not", binary(p, "=", t["a"], t["b"])), "a <> b"),
        (lambda p, t: p.call("not", p.call("in", t["a"], p.literal(1))), "a NOT IN (1)"),
        (lambda p, t: p.call("not", p.call("startswith", t["a"])), "NOT startswith(a)"),
        (lambda p, t: p.call("cast", t["a"], type="double"), "CAST(a AS double)"),
        (lambda p, t: p.call("cast", t["a"], type="int"), "a"),
        (lambda p, t: p.call("cast", p.literal(1), type="decimal(3,0)"), "1"),
        (lambda p, t: p.call("cast", p.literal(None, "void"), type="string"), "NULL"),
        (lambda p, t: p.call("coalesce", t["a"], p.literal(0)), "coalesce(a, 0)"),
        (lambda p, t: p.call("getarrayitem", t["items"], p.literal(0)), "items[0]"),
        (lambda p, t: p.call("getmapvalue", t["items"], p.literal("k")), "items['k']"),
        (lambda p, t: p.call("pythonudf", t["a"], params={"name": "slug"}), "slug(a)"),
        (lambda p, t: p.call("Job$$Lambda$12/0x0f", t["a"], hint="expr.UDF"), "udf(a)"),
        (lambda p, t: p.call("normalise", t["a"], hint="expr.UDF"), "normalise(a)"),
        (lambda p, t: p.call("rand", p.literal(-6363259185922051633)), "rand()"),
        (lambda p, t: p.aggregate_of("count", p.literal(1)), "count(*)"),
        (lambda p, t: p.aggregate_of("count", t["a"], distinct=True), "count(DISTINCT a)"),
        (
            lambda p, t: p.aggregate_of("sum", t["a"], where=p.call("isnull", t["b"])),
            "sum(a) FILTER (WHERE b IS NULL)",
        ),
        (
            lambda p, t: p.call(
                "casewhen", binary(p, "=", t["dept"], p.literal("HR")), t["a"], p.literal(0)
            ),
            "CASE WHEN dept = 'HR' THEN a ELSE 0 END",
        ),
        (
            lambda p, t: p.call("casewhen", binary(p, ">", t["a"], t["b"]), t["a"]),
            "CASE WHEN a > b THEN a END",
        ),
        (lambda p, t: p.call("%", t["a"], t["b"], symbol="%"), "a % b"),
        (lambda p, t: p.call("&&", t["a"], t["b"], hint="expr.Binary"), "a AND b"),
    ],
)
def test_an_expression_reads_like_sql(make: Make, text: str) -> None:
    assert said(make) == text


def test_and_and_or_take_the_fewest_parentheses() -> None:
    def condition(plan: PlanBuilder, read: Step) -> Reference:
        a, b, c = (plan.call("isnull", read[name]) for name in "abc")
        either = plan.call("or", a, b, symbol="||")
        return plan.call("and", either, plan.call("and", b, c, symbol="&&"), symbol="&&")

    assert said(condition) == "(a IS NULL OR b IS NULL) AND b IS NULL AND c IS NULL"


@pytest.mark.parametrize(
    ("value", "data_type", "text"),
    [
        (None, "int", "NULL"),
        (True, "boolean", "TRUE"),
        (10, "int", "10"),
        (0.5, "double", "0.5"),
        ("0.06", "decimal(2,2)", "0.06"),
        ("NaN", "double", "NaN"),
        ("it's", "string", "'it''s'"),
        (8582, "date", "DATE '1993-07-01'"),
        ("1993-07-01", "date", "DATE '1993-07-01'"),
        ("<date>", "date", "DATE '<date>'"),
        (10**12, "date", "DATE '1000000000000'"),
        (0, "timestamp", "TIMESTAMP '1970-01-01 00:00:00'"),
        (1_500_000, "timestamp", "TIMESTAMP '1970-01-01 00:00:01.500000'"),
        (10**30, "timestamp", f"TIMESTAMP '{10**30}'"),
        (3, "interval month", "INTERVAL '3' MONTH"),
        (12, "interval year", "INTERVAL '1' YEAR"),
        (-14, "interval year to month", "INTERVAL '-1-2' YEAR TO MONTH"),
        (7_776_000_000_000, "interval day", "INTERVAL '90' DAY"),
        (1_500_000, "interval day to second", "INTERVAL '1.5' SECOND"),
        ([1, 2], "array<int>", "[1, 2]"),
        ("x", None, "'x'"),
    ],
)
def test_a_constant_reads_like_a_sql_literal(value: Any, data_type: str | None, text: str) -> None:
    assert literal_text(value, data_type) == text


# --- windows -------------------------------------------------------------------------------------


def frame(plan: PlanBuilder, kind: str, lower: Reference, upper: Reference) -> Reference:
    return plan.call("specifiedwindowframe", lower, upper, params={"frameType": kind})


def bound(plan: PlanBuilder, name: str) -> Reference:
    return plan.call(f"{name}$", of=f"{name}$")


def test_a_ranking_has_its_order_and_no_frame() -> None:
    def ranked(plan: PlanBuilder, read: Step) -> Reference:
        rows = frame(plan, "RowFrame", bound(plan, "UnboundedPreceding"), bound(plan, "CurrentRow"))
        rank = plan.call("rank", read["a"], of="Rank")
        order = [plan.sorted(read["a"], "Descending")]
        return plan.over(rank, [read["dept"]], order, rows)

    assert said(ranked) == "rank() OVER (PARTITION BY dept ORDER BY a DESC)"


def test_ntile_keeps_its_number() -> None:
    def tiles(plan: PlanBuilder, read: Step) -> Reference:
        return plan.over(plan.call("ntile", plan.literal(4), of="NTile"), order=[read["a"]])

    assert said(tiles) == "ntile(4) OVER (ORDER BY a)"


def test_a_frame_that_sql_assumes_is_left_out() -> None:
    def running(plan: PlanBuilder, read: Step) -> Reference:
        usual = frame(
            plan, "RangeFrame", bound(plan, "UnboundedPreceding"), bound(plan, "CurrentRow")
        )
        return plan.over(plan.aggregate_of("sum", read["b"]), order=[read["a"]], frame=usual)

    assert said(running) == "sum(b) OVER (ORDER BY a)"


def test_any_other_frame_is_said() -> None:
    def moving(plan: PlanBuilder, read: Step) -> Reference:
        rows = frame(plan, "RowFrame", plan.literal(-2), bound(plan, "CurrentRow"))
        return plan.over(plan.aggregate_of("sum", read["b"]), order=[read["a"]], frame=rows)

    assert said(moving) == "sum(b) OVER (ORDER BY a ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"


@pytest.mark.parametrize(
    ("direction", "nulls", "text"),
    [
        ("Ascending", "NullsFirst", "a"),
        ("Ascending", "NullsLast", "a NULLS LAST"),
        ("Descending", "NullsLast", "a DESC"),
        ("Descending", "NullsFirst", "a DESC NULLS FIRST"),
    ],
)
def test_an_order_names_its_unusual_parts(direction: str, nulls: str, text: str) -> None:
    assert said(lambda plan, read: plan.sorted(read["a"], direction, nulls)) == text


# --- structs and lambdas -------------------------------------------------------------------------


def test_a_struct_names_members_that_are_called_otherwise() -> None:
    def made(plan: PlanBuilder, read: Step) -> Reference:
        names = [plan.literal("dept"), plan.literal("n")]
        members = (names[0], read["dept"], names[1], read["a"])
        return plan.call("struct", *members, of="CreateNamedStruct")

    assert said(made) == "struct(dept, a AS n)"


def test_picking_from_a_struct_reads_as_the_member() -> None:
    def picked(plan: PlanBuilder, read: Step) -> Reference:
        made = plan.call("struct", plan.literal("n"), read["a"], of="CreateNamedStruct")
        return plan.call("getstructfield", made, params={"name": "n", "ordinal": 0})

    assert said(picked) == "a"


def test_picking_from_a_column_reads_as_a_path() -> None:
    def picked(plan: PlanBuilder, read: Step) -> Reference:
        one = plan.call("getarrayitem", read["items"], plan.literal(0))
        return plan.call("getstructfield", one, params={"name": "zip code", "ordinal": 0})

    assert said(picked) == "items[0].`zip code`"


def test_a_lambda_reads_as_an_arrow() -> None:
    def folded(plan: PlanBuilder, read: Step) -> Reference:
        acc, x = (plan.call("namedlambdavariable", params={"name": n}) for n in ("acc", "x"))
        step = plan.call("lambdafunction", binary(plan, "+", acc, x), acc, x)
        last = plan.call("lambdafunction", binary(plan, "*", acc, read["b"]), acc)
        return plan.call("aggregate", read["items"], plan.literal(0), step, last)

    assert said(folded) == "aggregate(items, 0, (acc, x) -> acc + x, acc -> acc * b)"


def test_a_subquery_in_text_shows_the_top_of_its_plan() -> None:
    text = "Aggregate [max(salary#1904) AS max(salary)#1897L]\n+- Relation [salary#1904] parquet\n"

    def top(plan: PlanBuilder, read: Step) -> Reference:
        return plan.call("scalarsubquery", of="ScalarSubquery", params={"plan": text})

    assert said(top) == "scalar_subquery(Aggregate [max(salary) AS max(salary)])"


# --- inlining ------------------------------------------------------------------------------------


def chained(count: int, *, double: bool = False) -> tuple[ExecutionPlan, Reference]:
    """``v0 = a + 1; v1 = v0 + 1; …``, or ``v1 = v0 + v0; …``."""
    plan = PlanBuilder()
    step = plan.read("file:/lake/t", *COLUMNS)
    value = step["a"]
    for number in range(count):
        other = value if double else plan.literal(1)
        step = plan.project(step, **{f"v{number}": binary(plan, "+", value, other)})
        value = step[f"v{number}"]
    plan.write(step)
    return plan.build(), value


def test_definitions_are_inlined_down_to_the_columns_that_are_read() -> None:
    plan, last = chained(3)
    assert Renderer(plan).text(last, inline=True) == "a + 1 + 1 + 1"
    assert Renderer(plan).text(last, inline=False) == "v2"


def test_inlining_ends_where_the_text_grows_too_long() -> None:
    plan, last = chained(40, double=True)
    text = Renderer(plan).text(last, inline=True)
    assert len(text) <= 2_000
    assert "v" in text


def test_a_text_beyond_the_limit_is_cut_and_told_apart_by_a_digest() -> None:
    def listed(last: int) -> str:
        def make(plan: PlanBuilder, read: Step) -> Reference:
            items = [plan.literal(number) for number in range(1_000)]
            return plan.call("in", read["a"], *items, plan.literal(last))

        return said(make)

    first, other = listed(1), listed(2)
    assert len(first) == len(other) == 2_000
    assert first[:1_900] == other[:1_900]
    assert first != other


def test_a_grouping_by_a_thousand_columns_is_cut_like_any_text() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", *(f"column_{number}" for number in range(1_000)))
    plan.write(plan.operation("Distinct", plan.aggregate(read, read.names)))
    texts = {influence.expression for influence in derive(plan.build()).influences}
    assert len(texts) == 2
    assert max(map(len, texts)) <= 2_000


def test_a_branch_too_long_to_inline_leaves_the_union_by_its_name() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a", "b")
    long = plan.call("concat", *(plan.literal("x" * 100) for _ in range(30)), read["a"])
    both = plan.union(plan.project(read, u=long), plan.project(read, u=read["b"]))
    upper = plan.call("upper", both["u"])
    plan.write(plan.project(both, out=upper))
    assert Renderer(plan.build()).text(upper, inline=True) == "upper(u)"


def test_branches_of_a_union_are_alternatives_and_equal_ones_are_one() -> None:
    plan = PlanBuilder()
    here = plan.read("file:/lake/here", "id", "dept")
    there = plan.read("file:/lake/there", "id", "status")
    plan.write(plan.union(here, there))
    built = plan.build()
    columns = derive(built)
    assert [d.expression for d in columns.derivations] == [
        "id", "id", "union(dept, status)", "union(dept, status)",
    ]  # fmt: skip


def test_an_opaque_operation_reads_as_a_function_of_its_inputs() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a", "b")
    z = plan.column("z")
    plan.write(plan.operation("MapInPandas", read, output=[z]))
    assert Renderer(plan.build()).text(z, inline=True) == "mapinpandas(a, b).z"


def test_a_merge_reads_as_the_alternatives_of_its_clauses() -> None:
    plan, built = a_merge()
    texts = {d.output: d.expression for d in derive(built).derivations}
    assert texts[0] == "id"
    assert texts[1] == "union(pay, CAST(raw AS int), bonus + pay)"
    assert plan


def test_equal_logic_has_equal_text_whatever_the_ids() -> None:
    def texts(first: int) -> list[str]:
        plan = PlanBuilder(first)
        read = plan.read("file:/lake/t", *COLUMNS)
        ranked = plan.over(plan.call("rank", read["a"], of="Rank"), order=[read["a"]])
        plan.write(plan.window(plan.filter(read, plan.call("isnull", read["b"])), r=ranked))
        columns = derive(plan.build())
        derived = [derivation.expression for derivation in columns.derivations]
        return derived + [influence.expression for influence in columns.influences]

    assert texts(0) == texts(1_000)


# --- commands that arrive as text ----------------------------------------------------------------


def a_merge(matched: str = "") -> tuple[PlanBuilder, ExecutionPlan]:
    """MERGE INTO t USING s, as the agent sends it: target columns, and expressions as text."""
    plan = PlanBuilder()
    read = plan.read("file:/lake/source", "id", "raw")
    source = plan.project(read, "id", bonus=plan.call("cast", read["raw"], type="int"))
    target = plan.read("file:/lake/t", "id", "pay: int")
    output = [
        plan.column("id", target["id"], source["id"]),
        plan.column("pay", target["pay"], Reference("expression", "expr-77"), source["bonus"]),
    ]
    update = matched or "Update [actions: [`id` = id#58, `pay` = (bonus#53 + pay#60)]]"
    params = {
        "condition": "(id#58 = id#36)",
        "matchedClauses": [update],
        "notMatchedClauses": ["Insert [actions: [`id` = id#36, `pay` = bonus#53]]"],
    }
    merged = plan.operation("MergeIntoCommand", source, target, output=output, params=params)
    plan.write(merged, "file:/lake/t", name="MergeIntoCommand")
    return plan, plan.build()


def sources(plan: ExecutionPlan, output: int) -> set[str]:
    return {
        f"{plan.attributes[d.source].name} {d.how}"
        for d in derive(plan).derivations
        if d.output == output
    }


def test_a_merge_finds_the_sources_that_its_text_names() -> None:
    _, plan = a_merge()
    assert sources(plan, 0) == {"id IDENTITY"}
    assert sources(plan, 1) == {"pay IDENTITY", "pay TRANSFORMATION", "raw TRANSFORMATION"}
    columns = derive(plan)
    assert columns.gaps == ()
    assert {(i.how, i.expression) for i in columns.influences} == {("JOIN", "id = id")}
    assert len(columns.influences) == 2


def test_the_condition_of_a_clause_decides_about_the_columns_that_it_sets() -> None:
    clause = "Update [condition: (s.bonus > 0), actions: [`pay` = bonus#53]]"
    _, plan = a_merge(clause)
    assert sources(plan, 1) == {"pay IDENTITY", "raw TRANSFORMATION", "raw CONDITIONAL"}
    assert sources(plan, 0) == {"id IDENTITY"}


def test_a_name_that_both_sides_have_is_told_apart_by_its_number() -> None:
    _, plan = a_merge("Update [actions: [`pay` = (pay#60 + id#36)]]")
    ids = {plan.attributes[a].name: a for a in plan.reads[0].output or ()}
    result = {d.source for d in derive(plan).derivations if d.output == 1}
    assert ids["id"] in result  # 36 was inserted: the source's id, not the target's


def test_a_name_that_cannot_be_told_apart_is_a_gap_and_no_guess() -> None:
    plan = PlanBuilder()
    source = plan.read("file:/lake/source", "pay")
    target = plan.read("file:/lake/t", "pay")
    output = [plan.column("pay", target["pay"], Reference("expression", "expr-9"))]
    params = {"matchedClauses": ["Update [actions: [`pay` = (pay#1 + pay#2)]]"]}
    merged = plan.operation("MergeIntoCommand", source, target, output=output, params=params)
    plan.write(merged, "file:/lake/t", name="MergeIntoCommand")
    columns = derive(plan.build())
    assert [d.source for d in columns.derivations] == [target["pay"].id]
    assert [gap.code for gap in columns.gaps] == ["merge-expressions"]


def an_update(**params: Any) -> ExecutionPlan:
    plan = PlanBuilder()
    target = plan.read("file:/lake/t", "id", "dept", "pay")
    plan.write(target, "file:/lake/t", name="UpdateCommand", params=params)
    return plan.build()


def test_an_update_keeps_or_sets_and_its_condition_decides() -> None:
    plan = an_update(
        condition="(dept#30 = HR)",
        updateExpressions=["id#29", "dept#30", "(pay#31 + id#29)"],
    )
    assert sources(plan, 0) == {"id IDENTITY"}
    assert sources(plan, 1) == {"dept IDENTITY"}
    assert sources(plan, 2) == {
        "pay IDENTITY",
        "pay TRANSFORMATION",
        "id TRANSFORMATION",
        "dept CONDITIONAL",
    }
    columns = derive(plan)
    assert columns.influences == ()
    assert columns.derivations[-1].expression == "CASE WHEN dept = HR THEN pay + id ELSE pay END"


def test_an_update_with_another_number_of_expressions_is_a_gap() -> None:
    plan = an_update(updateExpressions=["id#29"])
    assert [gap.code for gap in derive(plan).gaps] == ["merge-expressions"]
    assert sources(plan, 2) == {"pay IDENTITY"}


def test_a_delete_filters() -> None:
    plan = PlanBuilder()
    target = plan.read("file:/lake/t", "id", "dept")
    params = {"condition": "(dept#30 = HR)"}
    plan.write(target, "file:/lake/t", name="DeleteCommand", params=params)
    columns = derive(plan.build())
    assert [(i.source, i.how, i.expression) for i in columns.influences] == [
        (target["dept"].id, "FILTER", "dept = HR")
    ]


# --- properties of operations --------------------------------------------------------------------


def properties_of(plan: PlanBuilder, name: str) -> dict[str, str]:
    built = plan.build()
    operation = next(item for item in built.operations if item.name == name)
    return dict(operation_properties(built, operation, Renderer(built)))


def test_a_projection_shows_aliases_where_the_name_is_new() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a", "b")
    plan.write(plan.project(read, "a", c=binary(plan, "+", read["a"], read["b"]), b=read["b"]))
    assert properties_of(plan, "Project") == {"projectList": "a, a + b AS c, b"}


def test_an_order_is_spelled_out() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a")
    order = [{"expression": read["a"], "direction": "DESC", "nullOrdering": "NULLS LAST"}]
    plan.write(plan.operation("Sort", read, params={"order": order, "global": True}))
    assert properties_of(plan, "Sort") == {"global": "true", "order": "a DESC NULLS LAST"}


def test_conditions_use_the_names_of_the_operation_not_of_the_source() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a")
    renamed = plan.project(read, pay=read["a"])
    rich = binary(plan, ">", renamed["pay"], plan.literal(10))
    plan.write(plan.filter(renamed, rich))
    assert properties_of(plan, "Filter") == {"condition": "pay > 10"}


def test_empty_parameters_are_left_out_and_nested_ones_are_spelled() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a", "b")
    params = {
        "hint": "",
        "condition": None,
        "joinType": "INNER",
        "rows": [[read["a"], None], [read["b"], 1]],
        "table": {"identifier": {"table": "t", "database": "d"}},
        "flag": False,
    }
    plan.write(plan.operation("Odd", read, params=params))
    assert properties_of(plan, "Odd") == {
        "flag": "false",
        "joinType": "INNER",
        "rows": "(a, NULL), (b, 1)",
        "table": "identifier: database: d, table: t",
    }


def test_text_that_changes_from_run_to_run_is_cleaned() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a")
    params = {
        "rdd": "MapPartitionsRDD[370] at toDF",
        "attribute": "salary#302L",
        "desc": "Table: v\nCreated Time: Sat Nov 21\nLast Access: UNKNOWN\nType: VIEW",
    }
    plan.write(plan.operation("Odd", read, params=params))
    assert properties_of(plan, "Odd") == {
        "rdd": "MapPartitionsRDD at toDF",
        "attribute": "salary",
        "desc": "Table: v\nType: VIEW",
    }


def test_subplans_that_are_only_text_are_shown_whole() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a")
    text = "Project [id#7]\n+- Relation [id#7] csv\n"
    query = plan.call("listquery", of="ListQuery", params={"plan": text})
    plan.write(plan.filter(read, plan.call("insubquery", read["a"], query)))
    assert properties_of(plan, "Filter") == {
        "condition": "a IN (subquery(Project [id]))",
        "subqueries": "Project [id]\n+- Relation [id] csv",
    }
