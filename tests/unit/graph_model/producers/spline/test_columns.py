"""Column lineage inside a plan: one rule, one test."""

from __future__ import annotations

import pytest

from graph_model import labels
from graph_model.producers.spline.column_derivation import PlanColumns, derive
from graph_model.producers.spline.documents import ExecutionPlan, Reference
from tests.builders import PlanBuilder, Step, a_plan

EMPLOYEES = ("id: int", "dept: string", "salary: int", "bonus: int")


def employees(plan: PlanBuilder) -> Step:
    return plan.read("file:/lake/employees", *EMPLOYEES)


def lineage(plan: ExecutionPlan) -> dict[str, set[str]]:
    """``{"total": {"salary TRANSFORMATION", …}}``; a picked field reads ``customer.city``."""
    columns = derive(plan)
    result: dict[str, set[str]] = {}
    for place, output in enumerate(columns.outputs):
        name = plan.attributes[output].name
        result[name] = {
            f"{_source(plan, d.source, d.source_path)} {d.how}"
            for d in columns.derivations
            if d.output == place
        }
    return result


def influences(plan: ExecutionPlan) -> set[str]:
    """``{"salary FILTER salary > 10", …}``."""
    return {
        f"{_source(plan, i.source, i.source_path)} {i.how} {i.expression}"
        for i in derive(plan).influences
    }


def gaps(plan: ExecutionPlan) -> set[str]:
    return {f"{gap.code}: {gap.detail}" for gap in derive(plan).gaps}


def _source(plan: ExecutionPlan, attribute: str, path: tuple[str, ...]) -> str:
    return ".".join((plan.attributes[attribute].name, *path))


# --- how values flow -----------------------------------------------------------------------------


def test_a_column_that_passes_through_is_identity() -> None:
    plan = PlanBuilder()
    plan.write(employees(plan))
    assert lineage(plan.build())["salary"] == {"salary IDENTITY"}


def test_a_renamed_column_is_identity() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(plan.project(read, pay=read["salary"]))
    assert lineage(plan.build()) == {"pay": {"salary IDENTITY"}}


def test_a_computed_column_comes_from_every_column_of_its_expression() -> None:
    assert lineage(a_plan())["total"] == {"salary TRANSFORMATION", "bonus TRANSFORMATION"}


def test_a_cast_to_another_type_transforms_and_a_cast_to_the_same_type_does_not() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(
        plan.project(
            read,
            text=plan.call("cast", read["salary"], type="string"),
            same=plan.call("cast", read["salary"], type="int"),
        )
    )
    assert lineage(plan.build()) == {
        "text": {"salary TRANSFORMATION"},
        "same": {"salary IDENTITY"},
    }


def test_crossing_an_aggregate_is_aggregation_whatever_follows() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    sums = plan.aggregate(read, ["dept"], s=plan.aggregate_of("sum", read["salary"]))
    half = plan.call("divide", sums["s"], plan.literal(2), symbol="/")
    plan.write(plan.project(sums, "dept", half=half))
    assert lineage(plan.build()) == {
        "dept": {"dept IDENTITY"},
        "half": {"salary AGGREGATION"},
    }


def test_a_source_that_arrives_in_two_ways_has_two_derivations() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    total = plan.over(plan.aggregate_of("sum", read["salary"]))
    share = plan.call("divide", read["salary"], total, symbol="/")
    plan.write(plan.window(read, share=share))
    assert lineage(plan.build())["share"] == {"salary TRANSFORMATION", "salary AGGREGATION"}


def test_literals_and_count_star_have_no_source() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    counted = plan.aggregate(
        read, n=plan.aggregate_of("count", plan.literal(1)), one=plan.literal(1)
    )
    plan.write(counted)
    assert lineage(plan.build()) == {"n": set(), "one": set()}


def test_count_of_a_column_is_an_aggregation_of_it() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(plan.aggregate(read, n=plan.aggregate_of("count", read["bonus"], distinct=True)))
    assert lineage(plan.build()) == {"n": {"bonus AGGREGATION"}}


def test_an_aggregate_that_no_expression_wraps_is_known_by_its_name() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(plan.aggregate(read, s=plan.call("sum", read["salary"])))
    assert lineage(plan.build()) == {"s": {"salary AGGREGATION"}}


def test_a_user_function_named_like_an_aggregate_is_none() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    mine = plan.call("sum", read["salary"], hint="expr.UDF", of="ScalaUDF")
    plan.write(plan.project(read, s=mine))
    assert lineage(plan.build()) == {"s": {"salary TRANSFORMATION"}}


# --- influences ----------------------------------------------------------------------------------


def test_conditions_of_case_decide_and_its_values_flow() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    human = plan.call("equalto", read["dept"], plan.literal("HR"), symbol="=")
    plan.write(plan.project(read, x=plan.call("casewhen", human, read["salary"], read["bonus"])))
    assert lineage(plan.build())["x"] == {
        "dept CONDITIONAL",
        "salary TRANSFORMATION",
        "bonus TRANSFORMATION",
    }


def test_a_case_without_else_ends_in_a_value() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    human = plan.call("equalto", read["dept"], plan.literal("HR"), symbol="=")
    plan.write(plan.project(read, x=plan.call("casewhen", human, read["salary"])))
    assert lineage(plan.build())["x"] == {"dept CONDITIONAL", "salary TRANSFORMATION"}


def test_a_column_in_condition_and_value_has_both_edges() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    rich = plan.call("greaterthan", read["salary"], plan.literal(10), symbol=">")
    plan.write(plan.project(read, x=plan.call("if", rich, read["salary"], plan.literal(0))))
    assert lineage(plan.build())["x"] == {"salary CONDITIONAL", "salary TRANSFORMATION"}


def test_an_influence_on_an_input_influences_the_result() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    human = plan.call("equalto", read["dept"], plan.literal("HR"), symbol="=")
    chosen = plan.project(read, x=plan.call("if", human, read["salary"], read["bonus"]))
    plan.write(plan.aggregate(chosen, s=plan.aggregate_of("sum", chosen["x"])))
    assert lineage(plan.build())["s"] == {
        "dept CONDITIONAL",
        "salary AGGREGATION",
        "bonus AGGREGATION",
    }


def test_the_filter_of_an_aggregate_decides() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    human = plan.call("equalto", read["dept"], plan.literal("HR"), symbol="=")
    plan.write(plan.aggregate(read, s=plan.aggregate_of("sum", read["salary"], where=human)))
    assert lineage(plan.build())["s"] == {"salary AGGREGATION", "dept CONDITIONAL"}


def test_coalesce_takes_all_its_arguments_as_values() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(plan.project(read, x=plan.call("coalesce", read["salary"], read["bonus"])))
    assert lineage(plan.build())["x"] == {"salary TRANSFORMATION", "bonus TRANSFORMATION"}


def test_nullif_arrives_as_its_replacement() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    same = plan.call("equalto", read["salary"], read["bonus"], symbol="=")
    choice = plan.call("if", same, plan.literal(None, "int"), read["salary"], of="If")
    plan.write(plan.project(read, x=plan.call("nullif", choice, of="NullIf")))
    assert lineage(plan.build())["x"] == {
        "salary TRANSFORMATION",
        "salary CONDITIONAL",
        "bonus CONDITIONAL",
    }


def test_max_by_orders_by_its_second_argument() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    best = plan.call(
        "aggregateexpression",
        plan.call("max_by", read["dept"], read["salary"], of="aggregate.MaxBy"),
        of="aggregate.AggregateExpression",
    )
    plan.write(plan.aggregate(read, best=best))
    assert lineage(plan.build())["best"] == {"dept AGGREGATION", "salary CONDITIONAL"}


#: Calls over a struct of salary and dept, or an array of such structs, and the class of each.
COMPARING = [
    ("max", "aggregate.Max"),
    ("min", "aggregate.Min"),
    ("array_max", "ArrayMax"),
    ("array_min", "ArrayMin"),
    ("sort_array", "SortArray"),
    ("array_sort", ""),
    ("greatest", "Greatest"),
]


@pytest.mark.parametrize(("name", "of"), COMPARING)
@pytest.mark.parametrize(
    ("field", "deciding"), [("dept", {"salary CONDITIONAL"}), ("salary", set())]
)
def test_a_struct_is_chosen_by_the_fields_before_the_one_that_is_picked(
    name: str, of: str, field: str, deciding: set[str]
) -> None:
    plan = PlanBuilder()
    read = employees(plan)
    pairs = [item for entry in ("salary", "dept") for item in (plan.literal(entry), read[entry])]
    built = plan.call("struct", *pairs, of="CreateNamedStruct")
    listed = plan.aggregate_of("array_agg", plan.aggregate_of("collect_list", built))
    best = plan.call(name, built if name in ("max", "min", "greatest") else listed, of=of)
    picked = plan.call("getstructfield", best, of="GetStructField", params={"name": field})
    plan.write(plan.aggregate(read, best=picked))
    result = lineage(plan.build())["best"]
    assert {source for source in result if not source.startswith(f"{field} ")} == deciding
    assert result - deciding in ({f"{field} AGGREGATION"}, {f"{field} TRANSFORMATION"})


def test_a_field_of_a_read_struct_is_chosen_by_the_whole_struct() -> None:
    plan = PlanBuilder()
    pair = plan.struct_type(salary="int", dept="string")
    read = plan.read("file:/lake/employees", f"pay: {pair}", "id: int")
    best = plan.call("max", read["pay"], of="aggregate.Max")
    picked = plan.call("getstructfield", best, of="GetStructField", params={"name": "dept"})
    highest = plan.call("max", read["id"], of="aggregate.Max")
    plan.write(plan.aggregate(read, best=picked, highest=highest))
    assert lineage(plan.build()) == {
        "best": {"pay.dept AGGREGATION", "pay CONDITIONAL"},
        "highest": {"id AGGREGATION"},
    }


def test_the_most_frequent_struct_is_chosen_by_all_of_its_fields() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    most = plan.call("mode", a_struct(plan, d=read["dept"], s=read["salary"]), of="aggregate.Mode")
    plain = plan.call("mode", read["id"], of="aggregate.Mode")
    plan.write(plan.aggregate(read, d=pick(plan, most, "d", 0), plain=plain))
    assert lineage(plan.build()) == {
        "d": {"dept AGGREGATION", "dept CONDITIONAL", "salary CONDITIONAL"},
        "plain": {"id AGGREGATION"},
    }


# --- windows -------------------------------------------------------------------------------------


def test_partition_and_order_of_a_window_decide() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    over = plan.over(plan.aggregate_of("sum", read["bonus"]), [read["dept"]], [read["salary"]])
    plan.write(plan.window(read, s=over))
    assert lineage(plan.build())["s"] == {
        "bonus AGGREGATION",
        "dept WINDOW",
        "salary WINDOW",
    }


@pytest.mark.parametrize(
    ("name", "of"),
    [("rank", "Rank"), ("dense_rank", "DenseRank"), ("percent_rank", "PercentRank")],
)
def test_a_rank_takes_its_order_columns_as_window_not_as_values(name: str, of: str) -> None:
    plan = PlanBuilder()
    read = employees(plan)
    ranked = plan.over(plan.call(name, read["salary"], of=of), [read["dept"]], [read["salary"]])
    plan.write(plan.window(read, rk=ranked))
    assert lineage(plan.build())["rk"] == {"dept WINDOW", "salary WINDOW"}


def test_lag_hands_on_its_value_and_its_default() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    lag = plan.call("lag", read["salary"], plan.literal(1), read["bonus"], of="Lag")
    plan.write(plan.window(read, previous=plan.over(lag, order=[read["id"]])))
    assert lineage(plan.build())["previous"] == {
        "salary TRANSFORMATION",
        "bonus TRANSFORMATION",
        "id WINDOW",
    }


# --- operations ----------------------------------------------------------------------------------


def test_a_union_takes_from_every_branch_by_position() -> None:
    plan = PlanBuilder()
    here = plan.read("file:/lake/here", "a: int", "b: string")
    there = plan.read("file:/lake/there", "c: int", "d: string")
    plan.write(plan.union(here, there))
    assert lineage(plan.build()) == {
        "a": {"a IDENTITY", "c IDENTITY"},
        "b": {"b IDENTITY", "d IDENTITY"},
    }


def test_a_union_that_the_document_does_not_link_is_linked_by_position() -> None:
    plan = PlanBuilder()
    here = plan.read("file:/lake/here", "a: int")
    there = plan.read("file:/lake/there", "c: int")
    plan.write(plan.operation("Union", here, there, output=[plan.column("u")]))
    assert lineage(plan.build()) == {"u": {"a IDENTITY", "c IDENTITY"}}


def test_a_self_join_keeps_its_sides_apart() -> None:
    plan = PlanBuilder()
    left = plan.read("file:/lake/employees", "id", "boss")
    right = plan.read("file:/lake/employees", "id", "name")
    joined = plan.join(left, right, plan.call("equalto", left["boss"], right["id"], symbol="="))
    plan.write(plan.project(joined, x=left["id"], y=right["id"]))
    built = plan.build()
    by_output = {d.output: d.source for d in derive(built).derivations}
    assert by_output == {0: left["id"].id, 1: right["id"].id}


def test_a_full_outer_join_using_a_column_takes_it_from_both_sides() -> None:
    plan = PlanBuilder()
    left = plan.read("file:/lake/a", "l: int")
    right = plan.read("file:/lake/b", "r: int")
    joined = plan.join(left, right, kind="FULL OUTER")
    plan.write(plan.project(joined, k=plan.call("coalesce", left["l"], right["r"])))
    assert lineage(plan.build()) == {"k": {"l TRANSFORMATION", "r TRANSFORMATION"}}


def test_a_view_that_renames_is_linked_by_position() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/a", "a", "b")
    renamed = [plan.column("x"), plan.column("y")]
    plan.write(plan.operation("View (`v`, [x#1,y#2])", read, output=renamed))
    assert lineage(plan.build()) == {"x": {"a IDENTITY"}, "y": {"b IDENTITY"}}


def test_a_view_with_references_of_its_own_uses_them() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/a", "a", "b")
    renamed = [plan.column("x", read["b"]), plan.column("y", read["a"])]
    plan.write(plan.operation("View", read, output=renamed))
    assert lineage(plan.build()) == {"x": {"b IDENTITY"}, "y": {"a IDENTITY"}}


def test_except_and_intersect_hand_on_their_left_side() -> None:
    plan = PlanBuilder()
    left = plan.read("file:/lake/a", "a")
    right = plan.read("file:/lake/b", "b")
    plan.write(plan.operation("Except All", left, right))
    built = plan.build()
    assert lineage(built) == {"a": {"a IDENTITY"}}
    assert influences(built) == {"a FILTER EXCEPT a", "b FILTER EXCEPT a"}


# --- common table expressions --------------------------------------------------------------------


def a_cte(plan: PlanBuilder, below: Step, number: int) -> Step:
    return plan.operation("CTERelationDef", below, params={"id": number})


def a_reference(plan: PlanBuilder, number: int, *names: str) -> Step:
    output = [plan.column(name) for name in names]
    return plan.operation("CTERelationRef", output=output, params={"cteId": number})


def test_a_cte_referred_to_twice_is_linked_by_position_each_time() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    defined = a_cte(
        plan, plan.aggregate(read, ["dept"], s=plan.aggregate_of("sum", read["salary"])), 7
    )
    first, two = a_reference(plan, 7, "d1", "s1"), a_reference(plan, 7, "d2", "s2")
    joined = plan.join(first, two)
    plan.write(plan.operation("WithCTE", defined, joined, output=joined.output))
    assert lineage(plan.build()) == {
        "d1": {"dept IDENTITY"},
        "s1": {"salary AGGREGATION"},
        "d2": {"dept IDENTITY"},
        "s2": {"salary AGGREGATION"},
    }


def test_a_cte_defined_over_another_is_followed_through_both() -> None:
    plan = PlanBuilder()
    inner = a_cte(plan, employees(plan), 1)
    outer = a_cte(plan, a_reference(plan, 1, "i", "d", "s", "b"), 2)
    used = a_reference(plan, 2, "i2", "d2", "s2", "b2")
    plan.write(plan.operation("WithCTE", inner, outer, used, output=used.output))
    assert lineage(plan.build())["s2"] == {"salary IDENTITY"}


def test_a_cte_defined_twice_under_one_id_is_taken_from_the_nearest() -> None:
    plan = PlanBuilder()
    first = plan.read("file:/lake/a", "a")
    second = plan.read("file:/lake/b", "b")
    sides = []
    for read, name in ((first, "x"), (second, "y")):
        used = a_reference(plan, 3, name)
        sides.append(plan.operation("WithCTE", a_cte(plan, read, 3), used, output=used.output))
    plan.write(plan.join(sides[0], sides[1]))
    assert lineage(plan.build()) == {"x": {"a IDENTITY"}, "y": {"b IDENTITY"}}


def test_a_reference_to_an_unknown_cte_is_a_gap() -> None:
    plan = PlanBuilder()
    plan.write(a_reference(plan, 9, "x"))
    built = plan.build()
    assert lineage(built) == {"x": set()}
    assert gaps(built) == {"cte-not-found: CTERelationRef (operation 0)"}


def test_a_cte_that_nothing_refers_to_influences_nothing() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    unused = plan.filter(read, plan.call("isnull", read["bonus"]))
    used = plan.read("file:/lake/other", "a")
    plan.write(plan.operation("WithCTE", a_cte(plan, unused, 1), used, output=used.output))
    assert influences(plan.build()) == set()


def test_the_filters_of_a_cte_influence_where_it_is_referred_to() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    defined = a_cte(plan, plan.filter(read, plan.call("isnull", read["bonus"])), 1)
    used = a_reference(plan, 1, "i", "d", "s", "b")
    plan.write(plan.operation("WithCTE", defined, used, output=used.output))
    assert influences(plan.build()) == {"bonus FILTER bonus IS NULL"}


# --- expand, pivot, unpivot ----------------------------------------------------------------------


def test_a_rollup_is_linked_through_the_projections_of_expand() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    copied = plan.project(read, "salary", dept_copy=read["dept"])
    null, numbers = plan.literal(None, "string"), [plan.literal(n, "bigint") for n in (0, 1)]
    output = [copied["salary"], plan.column("dept"), plan.column("spark_grouping_id")]
    rows = [
        [copied["salary"], copied["dept_copy"], numbers[0]],
        [copied["salary"], null, numbers[1]],
    ]
    expanded = plan.operation("Expand", copied, output=output, params={"projections": rows})
    sums = plan.aggregate_of("sum", expanded["salary"])
    plan.write(plan.aggregate(expanded, ["dept", "spark_grouping_id"], s=sums))
    assert lineage(plan.build()) == {
        "dept": {"dept IDENTITY"},
        "spark_grouping_id": set(),
        "s": {"salary AGGREGATION"},
    }


def test_an_expand_without_projections_takes_the_copies_that_its_input_ends_with() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    copied = plan.operation(
        "Project",
        read,
        output=[
            read["salary"],
            plan.column("dept", plan.alias(read["dept"], "dept")),
            plan.column("id", plan.alias(read["id"], "id")),
        ],
    )
    fresh = [plan.column(name) for name in ("dept", "id", "spark_grouping_id")]
    plan.write(plan.operation("Expand", copied, output=[read["salary"], *fresh]))
    built = plan.build()
    assert lineage(built) == {
        "salary": {"salary IDENTITY"},
        "dept": {"dept IDENTITY"},
        "id": {"id IDENTITY"},
        "spark_grouping_id": set(),
    }
    assert gaps(built) == set()


def test_an_expand_without_projections_and_with_other_names_is_a_gap() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a", "b")
    plan.write(plan.operation("Expand", read, output=[read["a"], plan.column("value")]))
    assert gaps(plan.build()) == {"positions-disagree: Expand (operation 1)"}


def test_an_unpivot_gathers_its_columns_by_position() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    output = [read["id"], plan.column("metric"), plan.column("value")]
    rows = [
        [read["id"], plan.literal("salary"), read["salary"]],
        [read["id"], plan.literal("bonus"), read["bonus"]],
    ]
    plan.write(plan.operation("Expand", read, output=output, params={"projections": rows}))
    assert lineage(plan.build()) == {
        "id": {"id IDENTITY"},
        "metric": set(),
        "value": {"salary IDENTITY", "bonus IDENTITY"},
    }


def test_projections_of_another_length_are_a_gap_not_a_guess() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    params = {"projections": [[read["id"]]]}
    plan.write(
        plan.operation("Expand", read, output=[plan.column("a"), plan.column("b")], params=params)
    )
    built = plan.build()
    assert lineage(built) == {"a": set(), "b": set()}
    assert gaps(built) == {"positions-disagree: Expand (operation 1)"}


def test_columns_that_a_pivot_compares_are_influences() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    sums = plan.aggregate(read, ["id", "dept"], s=plan.aggregate_of("sum", read["salary"]))
    first = plan.call("pivotfirst", sums["dept"], sums["s"], of="aggregate.PivotFirst")
    wrapped = plan.call("aggregateexpression", first, of="aggregate.AggregateExpression")
    pivoted = plan.aggregate(sums, ["id"], p=wrapped)
    plan.write(
        plan.project(pivoted, "id", HR=plan.call("getarrayitem", pivoted["p"], plan.literal(0)))
    )
    assert lineage(plan.build()) == {
        "id": {"id IDENTITY"},
        "HR": {"salary AGGREGATION", "dept CONDITIONAL"},
    }


def with_field(plan: PlanBuilder, name: str, value: Reference) -> Reference:
    return plan.call("withfield", value, of="WithField", params={"name": name})


def test_a_changed_struct_keeps_the_sources_of_each_field_apart() -> None:
    plan = PlanBuilder()
    pay = plan.struct_type(base="double", bonus="double")
    read = plan.read("file:/lake/staff", f"pay: {pay}", "extra: double", "rate: double")
    changed = plan.call(
        "updatefields",
        read["pay"],
        with_field(plan, "more", plan.call("add", read["extra"], read["rate"], symbol="+")),
        with_field(plan, "BASE", read["rate"]),
        plan.call("dropfield", of="DropField", params={"name": "bonus"}),
        of="UpdateFields",
    )
    fields = {
        name: plan.call("getstructfield", changed, params={"name": name, "ordinal": place})
        for place, name in enumerate(("base", "more"))
    }
    plan.write(plan.project(read, **fields))
    assert lineage(plan.build()) == {
        "base": {"rate IDENTITY"},
        "more": {"extra TRANSFORMATION", "rate TRANSFORMATION"},
    }


def test_a_struct_that_was_changed_twice_has_the_fields_that_both_changes_leave() -> None:
    """Spark gives a changed struct no type: ``s.withField('more', x).dropFields('bonus')``."""
    plan = PlanBuilder()
    pay = plan.struct_type(base="double", bonus="double")
    read = plan.read("file:/lake/staff", f"pay: {pay}", "rate: double")
    once = plan.call(
        "updatefields", read["pay"], with_field(plan, "more", read["rate"]), of="UpdateFields"
    )
    dropped = plan.call("dropfield", of="DropField", params={"name": "bonus"})
    twice = plan.call("updatefields", once, dropped, of="UpdateFields")
    plan.write(plan.project(read, pay=twice))
    assert lineage(plan.build()) == {"pay": {"pay.base TRANSFORMATION", "rate TRANSFORMATION"}}


def test_a_field_of_a_changed_struct_of_unknown_type_comes_from_all_of_it() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/staff", "pay", "rate")
    changed = plan.call("updatefields", read["pay"], with_field(plan, "rate", read["rate"]))
    field = plan.call("getstructfield", changed, params={"name": "rate", "ordinal": 1})
    plan.write(plan.project(read, rate=field))
    assert lineage(plan.build()) == {"rate": {"pay TRANSFORMATION", "rate TRANSFORMATION"}}


# --- generators ----------------------------------------------------------------------------------


def generate(plan: PlanBuilder, below: Step, generator: Reference, *names: str) -> Step:
    output = [plan.column(name, generator) for name in names]
    params = {"generator": generator, "generatorOutput": output, "outer": False}
    return plan.operation("Generate", below, output=[*(below.output or ()), *output], params=params)


def test_exploded_columns_come_from_all_that_is_exploded() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    made = plan.call("map", plan.literal("a"), read["salary"], plan.literal("b"), read["bonus"])
    exploded = generate(plan, read, plan.call("posexplode", made), "position", "key", "value")
    plan.write(exploded)
    both = {"salary TRANSFORMATION", "bonus TRANSFORMATION"}
    result = lineage(plan.build())
    assert result["position"] == result["key"] == result["value"] == both
    assert result["id"] == {"id IDENTITY"}


def test_a_field_of_an_exploded_read_column_extends_the_path() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/orders", "items")
    exploded = generate(plan, read, plan.call("explode", read["items"], of="Explode"), "item")
    sku = plan.call("getstructfield", exploded["item"], params={"name": "sku", "ordinal": 2})
    plan.write(plan.project(exploded, sku=sku))
    assert lineage(plan.build()) == {"sku": {"items.sku TRANSFORMATION"}}


def test_inline_hands_out_the_fields_by_position_whatever_their_aliases() -> None:
    plan = PlanBuilder()
    items = plan.array_type(plan.struct_type(price="double", sku="string"))
    read = plan.read("file:/lake/orders", f"items: {items}")
    inlined = generate(plan, read, plan.call("inline", read["items"], of="Inline"), "p", "s")
    plan.write(plan.project(inlined, "p", "s"))
    assert lineage(plan.build()) == {
        "p": {"items.price TRANSFORMATION"},
        "s": {"items.sku TRANSFORMATION"},
    }


def test_stack_lays_its_arguments_out_row_by_row() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    stack = plan.call(
        "stack",
        plan.literal(2),
        plan.literal("salary"),
        read["salary"],
        plan.literal("bonus"),
        read["bonus"],
        of="Stack",
    )
    plan.write(plan.project(generate(plan, read, stack, "k", "v"), "k", "v"))
    assert lineage(plan.build()) == {
        "k": set(),
        "v": {"salary TRANSFORMATION", "bonus TRANSFORMATION"},
    }


def test_undeclared_names_of_generated_columns_stand_for_them() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/orders", "items")
    generator = plan.call("explode", read["items"], of="Explode")
    item = plan.column("item", generator)
    dangling = Reference("attribute", "attr-undeclared")
    generated = plan.operation(
        "Generate",
        read,
        output=[*(read.output or ()), item],
        params={"generator": generator, "generatorOutput": [dangling]},
    )
    plan.write(plan.project(generated, x=dangling))
    built = plan.build()
    assert lineage(built) == {"x": {"items TRANSFORMATION"}}
    assert gaps(built) == set()


# --- structs -------------------------------------------------------------------------------------


def a_struct(plan: PlanBuilder, **members: Reference) -> Reference:
    arguments = [part for n, value in members.items() for part in (plan.literal(n), value)]
    return plan.call("struct", *arguments, of="CreateNamedStruct")


def pick(plan: PlanBuilder, value: Reference, name: str, place: int) -> Reference:
    params = {"name": name, "ordinal": place}
    return plan.call("getstructfield", value, of="GetStructField", params=params)


def test_a_field_of_a_read_struct_is_an_exact_path() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/orders", "customer")
    city = pick(plan, pick(plan, read["customer"], "address", 0), "city", 1)
    plan.write(plan.project(read, city=city))
    assert lineage(plan.build()) == {"city": {"customer.address.city IDENTITY"}}


def test_picking_from_a_struct_built_before_takes_that_member_alone() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    built = plan.project(read, "id", st=a_struct(plan, d=read["dept"], s=read["salary"]))
    plan.write(plan.project(built, "st", s=pick(plan, built["st"], "s", 1)))
    assert lineage(plan.build()) == {
        "st": {"dept TRANSFORMATION", "salary TRANSFORMATION"},
        "s": {"salary IDENTITY"},
    }


def test_a_member_is_found_by_name_where_the_ordinal_is_missing() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    made = a_struct(plan, d=read["dept"], s=read["salary"])
    picked = plan.call("getstructfield", made, of="GetStructField", params={"name": "S"})
    plan.write(plan.project(read, s=picked))
    assert lineage(plan.build()) == {"s": {"salary IDENTITY"}}


def test_members_survive_union_collection_and_explosion() -> None:
    plan = PlanBuilder()
    here = employees(plan)
    there = plan.read("file:/lake/there", "x", "y")
    both = plan.union(
        plan.project(here, st=a_struct(plan, d=here["dept"], s=here["salary"])),
        plan.project(there, st=a_struct(plan, d=there["x"], s=there["y"])),
    )
    collected = plan.aggregate(both, all=plan.aggregate_of("collect_list", both["st"]))
    collected_class = plan.call("explode", collected["all"], of="Explode")
    exploded = generate(plan, collected, collected_class, "one")
    plan.write(plan.project(exploded, s=pick(plan, exploded["one"], "s", 1)))
    assert lineage(plan.build()) == {"s": {"salary AGGREGATION", "y AGGREGATION"}}


def test_the_condition_that_chose_between_structs_decides_about_each_field() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    rich = plan.call("greaterthan", read["id"], plan.literal(1), symbol=">")
    chosen = plan.call(
        "if", rich, a_struct(plan, v=read["salary"], w=read["dept"]), plan.literal(None), of="If"
    )
    plan.write(plan.project(read, v=pick(plan, chosen, "v", 0)))
    assert lineage(plan.build()) == {"v": {"salary TRANSFORMATION", "id CONDITIONAL"}}


def test_a_function_that_may_do_anything_closes_the_struct() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    mine = plan.call("mine", a_struct(plan, d=read["dept"], s=read["salary"]), hint="expr.UDF")
    plan.write(plan.project(read, s=pick(plan, mine, "s", 1)))
    assert lineage(plan.build()) == {"s": {"dept TRANSFORMATION", "salary TRANSFORMATION"}}


def test_fields_of_an_array_of_structs_are_paths_too() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/orders", "items")
    params = {"field": "StructField(sku,StringType,true)", "ordinal": 2}
    skus = plan.call("getarraystructfields", read["items"], params=params)
    plan.write(plan.project(read, skus=skus))
    assert lineage(plan.build()) == {"skus": {"items.sku IDENTITY"}}


def test_structs_nested_without_end_are_remembered_as_a_whole() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    value = read["salary"]
    for _ in range(3_000):
        value = a_struct(plan, a=value, b=value)
    plan.write(plan.project(read, v=pick(plan, value, "a", 0)))
    assert lineage(plan.build()) == {"v": {"salary TRANSFORMATION"}}


# --- functions of functions, user code -----------------------------------------------------------


def test_a_lambda_takes_from_the_array_and_from_the_columns_it_uses() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/orders", "items", "rate", "limit")
    x = plan.call("namedlambdavariable", params={"name": "x"})
    body = plan.call("multiply", x, read["rate"], symbol="*")
    mapped = plan.call("transform", read["items"], plan.call("lambdafunction", body, x))
    test = plan.call("greaterthan", x, read["limit"], symbol=">")
    kept = plan.call(
        "filter", read["items"], plan.call("lambdafunction", test, x), of="ArrayFilter"
    )
    plan.write(plan.project(read, mapped=mapped, kept=kept))
    assert lineage(plan.build()) == {
        "mapped": {"items TRANSFORMATION", "rate TRANSFORMATION"},
        "kept": {"items TRANSFORMATION", "items CONDITIONAL", "limit CONDITIONAL"},
    }


def test_a_python_function_transforms_its_arguments() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    mine = plan.call("pythonudf", read["dept"], read["id"], params={"name": "<lambda>"})
    plan.write(plan.project(read, x=mine))
    assert lineage(plan.build())["x"] == {"dept TRANSFORMATION", "id TRANSFORMATION"}


def test_an_opaque_operation_gives_everything_that_went_in_and_a_gap() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    narrowed = plan.project(read, "id", "salary")
    made = [plan.column("z"), plan.column("w")]
    plan.write(plan.operation("MapInPandas", narrowed, output=made))
    built = plan.build()
    both = {"id TRANSFORMATION", "salary TRANSFORMATION"}
    assert lineage(built) == {"z": both, "w": both}
    assert gaps(built) == {"opaque-operation: MapInPandas (operation 2)"}


# --- subqueries ----------------------------------------------------------------------------------


def test_a_subquery_that_is_only_text_is_a_gap_and_its_outer_columns_decide() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    text = "Aggregate [max(salary#1904) AS max(salary)#1897]\n+- Relation [salary#1904] parquet\n"
    top = plan.call(
        "scalarsubquery",
        read["dept"],
        of="ScalarSubquery",
        params={"plan": text, "outerAttrs": ["dept#302"]},
    )
    plan.write(plan.project(read, top=top))
    built = plan.build()
    assert lineage(built) == {"top": {"dept CONDITIONAL"}}
    assert gaps(built) == {"subquery: scalarsubquery: Aggregate [max(salary) AS max(salary)]"}


def test_a_subquery_whose_plan_is_an_operation_is_followed() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    other = plan.read("file:/lake/other", "amount", "region")
    below = plan.aggregate(other, m=plan.aggregate_of("max", other["amount"]))
    top = plan.call(
        "scalarsubquery",
        below["m"],
        read["dept"],
        of="ScalarSubquery",
        params={"outerAttrs": [{"__attrId": read["dept"].id}]},
    )
    aliased = plan.alias(top, "top")
    output = [plan.column("top", aliased)]
    plan.write(plan.operation("Project", read, below, output=output, params={}))
    built = plan.build()
    assert lineage(built) == {"top": {"amount AGGREGATION", "dept CONDITIONAL"}}
    assert gaps(built) == set()


def test_a_scalar_subquery_hands_its_value_on_unchanged() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    other = plan.read("file:/lake/other", "amount")
    top = plan.call("scalarsubquery", other["amount"], of="ScalarSubquery")
    output = [plan.column("top", plan.alias(top, "top"))]
    plan.write(plan.operation("Project", read, other, output=output))
    assert lineage(plan.build()) == {"top": {"amount IDENTITY"}}


def test_an_in_subquery_that_is_an_operation_influences_with_both_sides() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    other = plan.read("file:/lake/other", "member", "active")
    below = plan.project(plan.filter(other, other["active"]), "member")
    query = plan.call("listquery", below["member"], of="ListQuery")
    test = plan.call("insubquery", read["id"], query, of="InSubquery")
    plan.write(
        plan.operation("Filter", read, below, output=read.output, params={"condition": test})
    )
    assert influences(plan.build()) == {
        "id FILTER id IN (subquery(member))",
        "member FILTER id IN (subquery(member))",
        "active FILTER active",
    }


def test_exists_has_no_value_of_its_own() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    other = plan.read("file:/lake/other", "member")
    result = plan.call("exists", other["member"], of="Exists")
    plan.write(
        plan.operation("Project", read, other, output=[plan.column("f", plan.alias(result, "f"))])
    )
    assert lineage(plan.build()) == {"f": {"member CONDITIONAL"}}


# --- influences ----------------------------------------------------------------------------------


def test_conditions_are_split_at_and_so_that_a_column_carries_its_own_part() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    rich = plan.call("greaterthan", read["salary"], plan.literal(10), symbol=">")
    human = plan.call("equalto", read["dept"], plan.literal("HR"), symbol="=")
    plan.write(plan.filter(read, plan.call("and", rich, human, symbol="&&")))
    assert influences(plan.build()) == {
        "salary FILTER salary > 10",
        "dept FILTER dept = 'HR'",
    }


@pytest.mark.parametrize("kind", ["INNER", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI"])
def test_join_conditions_are_join_whatever_the_kind(kind: str) -> None:
    plan = PlanBuilder()
    left = plan.read("file:/lake/a", "l")
    right = plan.read("file:/lake/b", "r")
    same = plan.call("equalto", left["l"], right["r"], symbol="=")
    plan.write(plan.project(plan.join(left, right, same, kind), "l"))
    assert influences(plan.build()) == {"l JOIN l = r", "r JOIN l = r"}


def test_grouping_sorting_and_distinct_influence_everything() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    sums = plan.aggregate(read, ["dept"], s=plan.aggregate_of("sum", read["salary"]))
    order = [{"expression": sums["s"], "direction": "DESC", "nullOrdering": "NULLS LAST"}]
    ordered = plan.operation("Sort", sums, params={"order": order, "global": True})
    plan.write(plan.operation("Distinct", ordered))
    assert influences(plan.build()) == {
        "dept GROUP_BY dept",
        "salary SORT sum(salary) DESC NULLS LAST",
        "dept GROUP_BY DISTINCT dept, s",
        "salary GROUP_BY DISTINCT dept, s",
    }


def test_dropped_duplicates_group_by_their_keys() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(plan.operation("Deduplicate", read, params={"keys": [read["id"]]}))
    assert influences(plan.build()) == {"id GROUP_BY id"}


def test_limits_and_samples_influence_nothing() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    limited = plan.operation("GlobalLimit", read, params={"limitExpr": plan.literal(10)})
    plan.write(plan.operation("Sample", limited, params={"upperBound": 0.1}))
    assert influences(plan.build()) == set()


# --- gaps of a document --------------------------------------------------------------------------


def test_rows_made_in_the_plan_have_no_source_and_are_no_gap() -> None:
    plan = PlanBuilder()
    plan.write(plan.operation("LocalRelation", output=[plan.column("a")]))
    built = plan.build()
    assert lineage(built) == {"a": set()}
    assert gaps(built) == set()


def test_columns_end_at_an_rdd_with_a_gap() -> None:
    plan = PlanBuilder()
    scan = plan.schemaless("MapPartitionsRDD", plan.schemaless("ParallelCollectionRDD"))
    plan.write(plan.operation("LogicalRDD", scan, output=[plan.column("a")]))
    built = plan.build()
    assert lineage(built) == {"a": set()}
    assert gaps(built) == {"opaque-rdd: LogicalRDD (operation 2)"}


def test_a_gap_counts_only_where_a_column_needs_it() -> None:
    plan = PlanBuilder()
    rdd = plan.operation("LogicalRDD", plan.schemaless("PythonRDD"), output=[plan.column("k")])
    read = employees(plan)
    plan.write(plan.project(plan.join(rdd, read), "id"))
    assert gaps(plan.build()) == set()


def test_an_undeclared_attribute_is_a_gap_without_a_source() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    plan.write(plan.project(read, x=Reference("attribute", "attr-77")))
    built = plan.build()
    assert lineage(built) == {"x": set()}
    assert gaps(built) == {"dangling-reference: ?, which no operation emits"}


def test_an_undeclared_expression_is_a_gap_and_the_rest_is_kept() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    broken = plan.call("add", read["salary"], Reference("expression", "expr-99"), symbol="+")
    plan.write(plan.project(read, x=broken))
    built = plan.build()
    assert lineage(built) == {"x": {"salary TRANSFORMATION"}}
    assert len(gaps(built)) == 1


def test_an_output_that_two_inputs_disagree_about_is_unknown() -> None:
    plan = PlanBuilder()
    left, right = plan.read("file:/lake/a", "a"), plan.read("file:/lake/b", "b")
    plan.write(plan.schemaless("Custom", left, right))
    columns = derive(plan.build())
    assert columns.outputs == ()
    assert [gap.code for gap in columns.gaps] == ["ambiguous-output"]


def test_an_rdd_that_is_written_has_no_columns_that_we_know() -> None:
    plan = PlanBuilder()
    plan.write(plan.schemaless("MapPartitionsRDD", plan.read("file:/lake/a/part-0.parquet")))
    columns = derive(plan.build())
    assert columns.outputs == ()
    assert [gap.code for gap in columns.gaps] == ["opaque-rdd"]


def test_a_write_without_inputs_has_no_columns_and_no_gap() -> None:
    plan = PlanBuilder()
    plan.write(None, name="DropTableCommand")
    assert derive(plan.build()) == PlanColumns((), (), (), ())


def test_a_reference_that_returns_to_itself_is_a_gap_and_ends() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    looped = plan.call("add", read["salary"], Reference("expression", "expr-1"), symbol="+")
    plan.call("negative", looped)  # expr-1
    plan.write(plan.project(read, x=looped))
    built = plan.build()
    assert lineage(built) == {"x": {"salary TRANSFORMATION"}}
    assert [gap.code for gap in derive(built).gaps] == ["cyclic-reference"]


def test_a_read_column_with_references_of_its_own_follows_them() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/a", "a")
    derived = plan.column("b", read["a"])
    plan._reads[0]["output"].append(derived.id)
    plan.write(Step(read.id, (derived,), ("b",)))
    built = plan.build()
    assert {d.source for d in derive(built).derivations} == {read["a"].id}


def test_gaps_of_equal_logic_are_equal_whatever_the_ids() -> None:
    def logic(first: int) -> ExecutionPlan:
        plan = PlanBuilder(first)
        read = employees(plan)
        made = plan.operation("FlatMapGroupsInPandas", read, output=[plan.column("z")])
        plan.write(made)
        return plan.build()

    assert derive(logic(0)).gaps == derive(logic(500)).gaps


def test_the_kind_of_a_derivation_goes_with_its_how() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    human = plan.call("equalto", read["dept"], plan.literal("HR"), symbol="=")
    ranked = plan.over(plan.call("if", human, read["salary"], read["bonus"]), [read["id"]])
    plan.write(plan.window(read, x=ranked))
    kinds = {d.how: d.kind for d in derive(plan.build()).derivations}
    assert kinds == {
        labels.IDENTITY: labels.DIRECT,
        labels.TRANSFORMATION: labels.DIRECT,
        labels.CONDITIONAL: labels.INDIRECT,
        labels.WINDOW: labels.INDIRECT,
    }


def test_columns_without_references_are_found_in_the_lists_of_their_operation() -> None:
    """As older documents have them: attributes alone, expressions in params."""
    plan = PlanBuilder()
    read = employees(plan)
    total = plan.call("add", read["salary"], read["bonus"], symbol="+")
    projected = plan.operation(
        "Project",
        read,
        output=[read["dept"], plan.column("total")],
        params={"projectList": [read["dept"], plan.alias(total, "total")]},
    )
    over = plan.over(plan.aggregate_of("sum", projected["total"]), [projected["dept"]])
    windowed = plan.operation(
        "Window",
        projected,
        output=[*(projected.output or ()), plan.column("w")],
        params={"windowExpressions": [plan.alias(over, "w")]},
    )
    summed = plan.operation(
        "Aggregate",
        windowed,
        output=[plan.column("s")],
        params={"aggregateExpressions": [plan.aggregate_of("sum", windowed["w"])]},
    )
    plan.write(summed)
    assert lineage(plan.build()) == {
        "s": {"salary AGGREGATION", "bonus AGGREGATION", "dept WINDOW"}
    }


def test_the_padding_of_char_columns_is_no_transformation() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    padded = plan.call(
        "staticinvoke",
        read["dept"],
        plan.literal(16),
        of="objects.StaticInvoke",
        params={"functionName": "readSidePadding"},
    )
    plan.write(plan.project(read, dept=padded))
    built = plan.build()
    assert lineage(built) == {"dept": {"dept IDENTITY"}}
    assert [d.expression for d in derive(built).derivations] == ["dept"]


@pytest.mark.parametrize(
    "name", ["FlatMapGroupsInArrow", "MapInPandas", "TransformWithStateInPySpark"]
)
def test_an_opaque_operation_with_references_of_its_own_is_still_a_gap(name: str) -> None:
    plan = PlanBuilder()
    read = employees(plan)
    mine = plan.call("pythonudf", read["id"], read["dept"], params={"name": "f"})
    plan.write(plan.operation(name, read, output=[plan.column("z", mine)]))
    built = plan.build()
    assert lineage(built) == {"z": {"id TRANSFORMATION", "dept TRANSFORMATION"}}
    assert gaps(built) == {f"opaque-operation: {name} (operation 1)"}


def test_an_element_picked_by_a_column_takes_from_both_and_keeps_the_path() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/orders", "items", "which")
    first = plan.call("getarrayitem", read["items"], read["which"], of="GetArrayItem")
    plan.write(plan.project(read, sku=pick(plan, first, "sku", 0)))
    assert lineage(plan.build()) == {"sku": {"items.sku TRANSFORMATION", "which TRANSFORMATION"}}


def test_a_view_with_another_number_of_columns_is_a_gap_not_a_guess() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/a", "a", "b")
    plan.write(plan.operation("View", read, output=[plan.column("x")]))
    built = plan.build()
    assert lineage(built) == {"x": set()}
    assert gaps(built) == {"positions-disagree: View (operation 1)"}


def test_a_with_of_new_columns_takes_them_from_its_query_not_from_a_definition() -> None:
    plan = PlanBuilder()
    defined = a_cte(plan, plan.read("file:/lake/a", "a"), 1)
    query = plan.read("file:/lake/b", "b")
    plan.write(plan.operation("WithCTE", defined, query, output=[plan.column("x")]))
    assert lineage(plan.build()) == {"x": {"b IDENTITY"}}


def test_nullif_gives_null_the_type_of_its_argument_and_nothing_else() -> None:
    plan = PlanBuilder()
    read = employees(plan)
    null = plan.call("typednullliteral", read["bonus"], of="TypedNullLiteral")
    plan.write(plan.project(read, x=plan.call("coalesce", null, read["salary"])))
    built = plan.build()
    assert lineage(built) == {"x": {"salary TRANSFORMATION"}}
    assert [d.expression for d in derive(built).derivations] == ["coalesce(NULL, salary)"]


def test_a_cast_names_the_fields_of_a_struct_by_their_places() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a: int", "b: int")
    built = a_struct(plan, a=read["a"], b=read["b"])
    wider = plan.call("cast", built, of="Cast", type=plan.struct_type(x="bigint", y="bigint"))
    newest = plan.call("max", wider, of="aggregate.Max")
    picked = {"plain": pick(plan, wider, "y", 1), "newest": pick(plan, newest, "y", 1)}
    plan.write(plan.project(read, **picked))
    assert lineage(plan.build()) == {
        "plain": {"b TRANSFORMATION"},
        "newest": {"a CONDITIONAL", "b AGGREGATION"},
    }


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("A", "b"), {"s.b AGGREGATION", "s CONDITIONAL"}),
        (("x", "y"), {"s.b AGGREGATION", "s.a CONDITIONAL"}),  # by their places
        (("b", "a"), {"s.b AGGREGATION", "s.a CONDITIONAL"}),
        (("b",), {"s AGGREGATION"}),
        ((), {"s AGGREGATION"}),
    ],
)
def test_a_cast_of_a_struct_that_was_read_keeps_its_fields_by_their_places(
    names: tuple[str, ...], expected: set[str]
) -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", f"s: {plan.struct_type(a='int', b='int')}")
    target = plan.struct_type(**dict.fromkeys(names, "bigint")) if names else "string"
    newest = plan.call("max", plan.call("cast", read["s"], of="Cast", type=target))
    second = names[1] if len(names) > 1 else "b"
    plan.write(plan.project(read, o=pick(plan, newest, second, 1)))
    assert lineage(plan.build())["o"] == expected


@pytest.mark.parametrize("typed", [True, False])
def test_the_structs_of_arrays_zip_have_a_field_of_each_array(typed: bool) -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "a: array<int>", "b: array<int>")
    element = plan.array_type(plan.struct_type(a="int", b="int")) if typed else None
    zipped = plan.call("arrays_zip", read["a"], read["b"], of="ArraysZip", type=element)
    first = plan.call("element_at", zipped, plan.literal(1), of="ElementAt")
    most = plan.call("array_max", zipped, of="ArrayMax")
    picked = {"first": pick(plan, first, "b", 1), "most": pick(plan, most, "b", 1)}
    plan.write(plan.project(read, **picked))
    assert lineage(plan.build()) == {
        "first": {"b TRANSFORMATION"},
        "most": {"a CONDITIONAL", "b TRANSFORMATION"},
    }
