"""The fields that lambdas take from the arrays and maps that their functions go through.

The shapes ``lambda_*`` are whole plans of real producers; here are the edges. A variable is written
as the listener does it (a node wherever it stands, told by its name) unless a test says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.producers.spline.documents import Reference
from graph_model.producers.spline.expressions import functions as lambdas_module
from graph_model.producers.spline.expressions.functions import MERGES, MOST_NESTED
from graph_model.producers.spline.expressions.text import Renderer
from tests.builders import PlanBuilder, Step
from tests.unit.graph_model.producers.spline.test_columns import a_struct, gaps, lineage


def pick(plan: PlanBuilder, value: Reference, name: str) -> Reference:
    return plan.call("getstructfield", value, of="GetStructField", params={"name": name})


class Orders:
    """A plan over one table, and short ways to write lambdas in it."""

    def __init__(self) -> None:
        self.plan = PlanBuilder()
        self.read: Step = self.plan.read("file:/lake/orders", "id", "items", "bonuses", "rate")

    def variable(self, name: str) -> Reference:
        return self.plan.call("namedlambdavariable", params={"name": name})

    def field(self, name: str, field: str) -> Reference:
        return pick(self.plan, self.variable(name), field)

    def of(self, body: Reference, *names: str) -> Reference:
        """A lambda, its variables named."""
        return self.plan.call("lambdafunction", body, *map(self.variable, names))

    def transform(self, array: Reference, body: Reference, *names: str) -> Reference:
        return self.plan.call("transform", array, self.of(body, *names), of="ArrayTransform")

    def fold(self, *parts: Reference) -> Reference:
        return self.plan.call("aggregate", *parts, of="ArrayAggregate")

    def sources(self, **columns: Reference) -> dict[str, set[str]]:
        self.plan.write(self.plan.project(self.read, **columns))
        return lineage(self.plan.build())


def test_the_innermost_lambda_that_has_a_name_is_meant() -> None:
    orders = Orders()
    inner = orders.transform(orders.field("x", "parts"), orders.field("x", "qty"), "x")
    outer = orders.transform(orders.read["items"], inner, "x")
    assert orders.sources(c=outer) == {"c": {"items.parts.qty TRANSFORMATION"}}


def test_an_inner_lambda_sees_the_variables_around_it() -> None:
    orders = Orders()
    body = orders.plan.call("add", orders.field("b", "points"), orders.field("x", "qty"))
    inner = orders.transform(orders.read["bonuses"], body, "b")
    outer = orders.transform(orders.read["items"], inner, "x")
    both = {"items.qty TRANSFORMATION", "bonuses.points TRANSFORMATION"}
    assert orders.sources(c=outer) == {"c": both}


def test_a_variable_that_is_one_node_is_told_by_it_and_not_by_its_name() -> None:
    """As the Spline agent sends it: both are called x, and the inner body means the outer one."""
    orders = Orders()
    outer, inner = orders.variable("x"), orders.variable("x")
    body = pick(orders.plan, outer, "qty")
    within = orders.plan.call("lambdafunction", body, inner)
    nested = orders.plan.call("transform", orders.read["bonuses"], within)
    around = orders.plan.call("lambdafunction", nested, outer)
    made = orders.plan.call("transform", orders.read["items"], around)
    assert orders.sources(c=made) == {"c": {"items.qty TRANSFORMATION", "bonuses CONDITIONAL"}}


def test_one_lambda_of_two_arrays_takes_from_each_its_own() -> None:
    orders = Orders()
    x = orders.variable("x")
    shared = orders.plan.call("lambdafunction", pick(orders.plan, x, "qty"), x)
    left = orders.plan.call("transform", orders.read["items"], shared)
    right = orders.plan.call("transform", orders.read["bonuses"], shared)
    twice = orders.plan.call("transform", left, shared)
    assert orders.sources(left=left, right=right, twice=twice) == {
        "left": {"items.qty TRANSFORMATION"},
        "right": {"bonuses.qty TRANSFORMATION"},
        "twice": {"items.qty.qty TRANSFORMATION"},
    }
    assert gaps(orders.plan.build()) == set()


def test_a_lambda_without_its_element_says_how_many_there_are() -> None:
    orders = Orders()
    counted = orders.plan.call("add", orders.variable("n"), orders.plan.literal(1))
    count = orders.fold(orders.read["items"], orders.plan.literal(0), orders.of(counted, "n", "x"))
    rates = orders.transform(orders.read["items"], orders.read["rate"], "x")
    assert orders.sources(count=count, rates=rates) == {
        "count": {"items CONDITIONAL"},
        "rates": {"rate TRANSFORMATION", "items CONDITIONAL"},
    }


def test_the_zero_of_a_fold_flows_and_its_condition_decides_at_every_round() -> None:
    orders = Orders()
    large = orders.plan.call("greaterthan", orders.variable("a"), orders.plan.literal(9))
    added = orders.plan.call("add", orders.variable("a"), orders.field("x", "qty"))
    body = orders.plan.call("if", large, orders.variable("a"), added)
    folded = orders.fold(orders.read["items"], orders.read["id"], orders.of(body, "a", "x"))
    assert orders.sources(c=folded)["c"] == {
        "id TRANSFORMATION", "id CONDITIONAL", "items.qty TRANSFORMATION", "items.qty CONDITIONAL",
    }  # fmt: skip


def test_fields_of_an_accumulator_are_told_apart() -> None:
    orders = Orders()
    plan = orders.plan
    zero = a_struct(plan, total=plan.literal(0), points=orders.read["rate"])
    merged = a_struct(
        plan,
        total=plan.call("add", orders.field("a", "total"), orders.field("x", "qty")),
        points=orders.field("a", "points"),
    )
    parts = (orders.read["items"], zero, orders.of(merged, "a", "x"))
    total = orders.fold(*parts, orders.of(orders.field("a", "total"), "a"))
    points = orders.fold(*parts, orders.of(orders.field("a", "points"), "a"))
    assert orders.sources(total=total, points=points) == {
        "total": {"items.qty TRANSFORMATION"},
        "points": {"rate TRANSFORMATION"},
    }


@pytest.mark.parametrize("length", [1, MERGES - 1, MERGES, MERGES + 1, 3 * MERGES])
def test_an_accumulator_that_hands_on_from_field_to_field_loses_nothing(length: int) -> None:
    orders = Orders()
    plan = orders.plan
    names = [f"f{n}" for n in range(length + 1)]
    zero = a_struct(plan, **{name: plan.literal(0) for name in names})
    handed = {name: orders.field("a", before) for before, name in pairwise(names)}
    merged = a_struct(plan, **{names[0]: orders.field("x", "qty"), **handed})
    last = orders.of(orders.field("a", names[-1]), "a")
    folded = orders.fold(orders.read["items"], zero, orders.of(merged, "a", "x"), last)
    result = orders.sources(c=folded)["c"]
    assert result & {"items.qty TRANSFORMATION"}
    assert result <= {"items.qty TRANSFORMATION", "items TRANSFORMATION"}


@pytest.mark.parametrize("names", [(), ("x", "x"), ("x", "i", "more")])
def test_a_lambda_that_does_not_fit_takes_the_whole_array(names: tuple[str, ...]) -> None:
    orders = Orders()
    made = orders.transform(orders.read["items"], orders.field("x", "qty"), *names)
    assert orders.sources(c=made) == {"c": {"items TRANSFORMATION"}}


def test_a_function_that_spark_does_not_have_takes_the_whole_array() -> None:
    orders = Orders()
    body = orders.plan.call("add", orders.field("b", "points"), orders.field("x", "qty"))
    mine = orders.plan.call("my_fold", orders.read["bonuses"], orders.of(body, "b"))
    outer = orders.transform(orders.read["items"], mine, "x")
    both = {"items.qty TRANSFORMATION", "bonuses TRANSFORMATION"}
    assert orders.sources(c=outer) == {"c": both}


def test_a_user_function_called_transform_is_not_the_built_in_one() -> None:
    orders = Orders()
    given = orders.of(orders.field("x", "qty"), "x")
    made = orders.plan.call("transform", orders.read["items"], given, hint="expr.UDF")
    assert orders.sources(c=made) == {"c": {"items TRANSFORMATION"}}


def test_a_field_that_is_called_like_a_variable_is_no_variable() -> None:
    orders = Orders()
    made = orders.transform(orders.read["items"], orders.field("qty", "qty"), "qty")
    assert orders.sources(c=made) == {"c": {"items.qty TRANSFORMATION"}}


def test_a_field_of_a_transformed_map_is_that_of_its_values() -> None:
    orders = Orders()
    body = a_struct(orders.plan, a=orders.field("v", "amount"), k=orders.variable("k"))
    made = orders.plan.call("transform_values", orders.read["items"], orders.of(body, "k", "v"))
    first = orders.plan.call("element_at", made, orders.plan.literal("web"))
    assert orders.sources(whole=made, a=pick(orders.plan, first, "a")) == {
        "whole": {"items TRANSFORMATION", "items.amount TRANSFORMATION"},
        "a": {"items.amount TRANSFORMATION"},
    }


def nested(orders: Orders, depth: int) -> Reference:
    """``transform(items, x0 -> transform(x0, x1 -> … xn.qty + rate))``."""
    body = orders.plan.call("add", orders.field(f"x{depth - 1}", "qty"), orders.read["rate"])
    for level in reversed(range(depth)):
        array = orders.variable(f"x{level - 1}") if level else orders.read["items"]
        body = orders.transform(array, body, f"x{level}")
    return body


@pytest.mark.parametrize("depth", [2, MOST_NESTED, MOST_NESTED + 1, 3_000])
def test_lambdas_in_lambdas_are_bound_to_a_depth_and_lose_nothing_below(depth: int) -> None:
    orders = Orders()
    result = orders.sources(c=nested(orders, depth))["c"]
    array = "items.qty" if depth <= MOST_NESTED else "items"
    assert result == {f"{array} TRANSFORMATION", "rate TRANSFORMATION"}


def test_a_plan_that_binds_without_end_is_answered_from_whole_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two functions over one lambda, in a lambda of two such functions, …"""
    monkeypatch.setattr(lambdas_module, "_MOST_BOUND", 100)
    orders = Orders()
    x = orders.variable("x")
    shared = orders.plan.call("lambdafunction", pick(orders.plan, x, "qty"), x)
    for _ in range(40):
        calls = [orders.plan.call("transform", x, shared) for _ in range(2)]
        body = orders.plan.call("array", *calls)
        shared = orders.plan.call("lambdafunction", body, x)
    made = orders.plan.call("transform", orders.read["items"], shared)
    assert orders.sources(c=made) == {"c": {"items TRANSFORMATION"}}
    assert gaps(orders.plan.build()) == set()


def test_variables_that_the_jvm_numbers_have_the_same_names_in_every_run() -> None:
    def text(first: int) -> str:
        orders = Orders()
        x, y = f"x_{first}", f"y_{first + 1}"
        inner = orders.transform(orders.field(x, "parts"), orders.field(y, "qty"), y)
        made = orders.transform(orders.read["items"], inner, x)
        orders.plan.write(orders.plan.project(orders.read, c=made))
        return Renderer(orders.plan.build()).text(made, inline=True)

    assert text(0) == "transform(items, x_0 -> transform(x_0.parts, y_1 -> y_1.qty))"
    assert text(9) == text(0)


# --- against the same expression without lambdas -------------------------------------------------

Pair = tuple[Reference, Reference]  # an expression, and the same with its variables replaced


class RandomExpression:
    """Draws expressions over lambdas, and beside each the one in which every variable is replaced
    by the array that it goes through: a field of an array's elements is a field of the array."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.orders = Orders()
        self.plan = self.orders.plan

    def draw(self, *options: str) -> str:
        return self.data.draw(st.sampled_from(options))

    def value(self, scope: Mapping[str, Reference], depth: int) -> Pair:
        kinds = ["column", *["field"] * bool(scope), *["if", "add", "call", "call"] * (depth > 0)]
        match self.draw(*kinds):
            case "column":
                column = self.orders.read[self.draw("id", "rate")]
                return column, column
            case "field":
                return self.field(scope, "qty", "price")
            case "add":
                return self.both("add", self.value(scope, depth - 1), self.value(scope, depth - 1))
            case "if":
                parts = [self.value(scope, depth - 1) for _ in range(3)]
                return self.both("if", *parts)
            case _:
                return self.call(scope, depth - 1)

    def field(self, scope: Mapping[str, Reference], *fields: str) -> Pair:
        name, field = self.draw(*scope), self.draw(*fields)
        return self.orders.field(name, field), pick(self.plan, scope[name], field)

    def both(self, name: str, *parts: Pair) -> Pair:
        given, replaced = zip(*parts, strict=True)
        return self.plan.call(name, *given), self.plan.call(name, *replaced)

    def call(self, scope: Mapping[str, Reference], depth: int) -> Pair:
        array = self.array(scope)
        name = self.draw("x", "y")
        inner = {**scope, name: array[1]}
        own = self.orders.field(name, "sku"), pick(self.plan, array[1], "sku")
        body = self.both("add", own, self.value(inner, depth))
        given = self.orders.of(body[0], name)
        function = self.draw("transform", "exists", "forall", "filter")
        called = self.plan.call(function, array[0], given)
        if function == "transform":
            return called, self.plan.call("f", body[1])
        kept = array[1] if function == "filter" else self.plan.literal(1)
        return called, self.plan.call("if", body[1], kept, kept)

    def array(self, scope: Mapping[str, Reference]) -> Pair:
        if scope and self.draw("of a variable", "of the table") == "of a variable":
            return self.field(scope, "parts", "boxes")
        column = self.orders.read[self.draw("items", "bonuses")]
        return column, column


@given(data=st.data())
def test_a_lambda_means_the_effect_of_its_body_on_the_array(data: st.DataObject) -> None:
    drawn = RandomExpression(data)
    result, expected = drawn.call({}, 4)
    sources = drawn.orders.sources(found=result, expected=expected)
    assert sources["found"] == sources["expected"]
