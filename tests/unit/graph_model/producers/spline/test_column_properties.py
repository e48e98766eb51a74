"""Column lineage against a slow and obvious walker, and the work that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.column_values import Valuation
from graph_model.producers.spline.documents import ExecutionPlan, Reference, read_plan
from graph_model.producers.spline.expressions.definitions import Definitions
from graph_model.producers.spline.expressions.text import Renderer
from tests.builders import PlanBuilder, Step
from tests.projections import budget

# --- a walker that enumerates paths --------------------------------------------------------------

Edge = tuple[str, str]  # (id of a read attribute, how)
DIRECT_STRENGTH = {labels.IDENTITY: 0, labels.TRANSFORMATION: 1, labels.AGGREGATION: 2}


class Walker:
    """Follows references by recursion, on the JSON itself, once per path.

    ``links`` are the links of the plan where its document is silent (CTEs, Expand).
    """

    def __init__(self, document: Mapping[str, Any], links: Mapping[str, list[Reference]]) -> None:
        self.leaves = {a for read in document["operations"]["reads"] for a in read["output"]}
        self.attributes = {item["id"]: item for item in document["attributes"]}
        self.functions = {item["id"]: item for item in document["expressions"]["functions"]}
        self.links = links

    def edges(self, reference: Reference) -> set[Edge]:
        if reference.kind == "attribute":
            return self._attribute(reference.id)
        function = self.functions.get(reference.id)
        return self._function(function) if function is not None else set()

    def _attribute(self, identifier: str) -> set[Edge]:
        if identifier in self.leaves:
            return {(identifier, labels.IDENTITY)}
        declared = children_of(self.attributes[identifier])
        result: set[Edge] = set()
        for child in declared or self.links.get(identifier, []):
            result |= self.edges(child)
        return result

    def _function(self, function: Mapping[str, Any]) -> set[Edge]:
        children = children_of(function)
        match function["name"]:
            case "if":
                condition, *values = children
                return deciding(self.edges(condition), labels.CONDITIONAL) | self._all(
                    values, labels.TRANSFORMATION
                )
            case "windowexpression":
                value, specification = children
                return self._all([value], labels.TRANSFORMATION) | deciding(
                    self.edges(specification), labels.WINDOW
                )
            case "rank":
                return {edge for c in children for edge in deciding(self.edges(c), labels.WINDOW)}
            case "aggregateexpression":
                value, *conditions = children
                result = self._all([value], labels.AGGREGATION)
                for condition in conditions:
                    result |= deciding(self.edges(condition), labels.CONDITIONAL)
                return result
            case "union":
                return self._all(children, labels.IDENTITY)
            case _ if function["extra"].get("simpleClassName") == "Alias":
                return self._all(children, labels.IDENTITY)
            case _:
                return self._all(children, labels.TRANSFORMATION)

    def _all(self, children: list[Reference], how: str) -> set[Edge]:
        return {(leaf, stronger(was, how)) for c in children for leaf, was in self.edges(c)}


def children_of(part: Mapping[str, Any]) -> list[Reference]:
    return [
        Reference("attribute", child["__attrId"])
        if "__attrId" in child
        else Reference("expression", child["__exprId"])
        for child in part.get("childRefs", [])
    ]


def stronger(one: str, other: str) -> str:
    if one not in DIRECT_STRENGTH:
        return one
    return max(one, other, key=DIRECT_STRENGTH.__getitem__)


def deciding(edges: set[Edge], how: str) -> set[Edge]:
    return {(leaf, how) for leaf, _ in edges}


# --- random plans --------------------------------------------------------------------------------

_T = TypeVar("_T")


class RandomPlan:
    """Draws a plan of a few operations and knows the meaning of its silent parts."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.plan = PlanBuilder()
        self.links: dict[str, list[Reference]] = {}
        self.steps: list[Step] = [self.read()]
        self.definitions = 0

    def draw(self, options: list[_T]) -> _T:
        return self.data.draw(st.sampled_from(options))

    def build(self) -> dict[str, Any]:
        moves = [
            self.project, self.filter, self.aggregate, self.window, self.join, self.union,
            self.cte, self.expand, self.read,
        ]  # fmt: skip
        for _ in range(self.data.draw(st.integers(1, 7))):
            self.steps.append(self.draw(moves)())
        self.plan.write(self.steps[-1])
        return self.plan.document()

    def step(self) -> Step:
        return self.draw(self.steps[-3:])

    def column(self, step: Step) -> Reference:
        return self.draw(list(step.output or ()))

    def value(self, step: Step, depth: int = 2) -> Reference:
        """A random expression over a step's columns."""
        if depth == 0 or self.data.draw(st.booleans()):
            return self.column(step)
        kind = self.draw(["add", "if", "literal", "cast"])
        parts = [self.value(step, depth - 1) for _ in range(3)]
        if kind == "add":
            return self.plan.call("add", parts[0], parts[1], symbol="+")
        if kind == "if":
            return self.plan.call("if", *parts, of="If")
        if kind == "cast":
            return self.plan.call("cast", parts[0], type="double")
        return self.plan.literal(1)

    def read(self) -> Step:
        number = self.data.draw(st.integers(1, 3))
        return self.plan.read("file:/lake/t", *(f"c{i}" for i in range(number)))

    def project(self) -> Step:
        below = self.step()
        return self.plan.project(below, p=self.value(below), q=self.value(below))

    def filter(self) -> Step:
        below = self.step()
        return self.plan.filter(below, self.value(below))

    def aggregate(self) -> Step:
        below = self.step()
        where = self.value(below, 1) if self.data.draw(st.booleans()) else None
        return self.plan.aggregate(
            below, s=self.plan.aggregate_of("sum", self.value(below), where=where),
            k=self.value(below, 1),
        )  # fmt: skip

    def window(self) -> Step:
        below = self.step()
        function = self.draw(
            [
                lambda: self.plan.call("rank", self.column(below), of="Rank"),
                lambda: self.plan.aggregate_of("sum", self.value(below)),
                lambda: self.plan.call("lag", self.value(below), of="Lag"),
            ]
        )()
        over = self.plan.over(function, [self.column(below)], [self.column(below)])
        return self.plan.window(below, w=over)

    def join(self) -> Step:
        left, right = self.step(), self.step()
        return self.plan.join(left, right)

    def union(self) -> Step:
        left = self.step()
        count = len(left.output or ())
        right = self.step()
        fitted = self.plan.project(right, **{f"u{i}": self.value(right, 1) for i in range(count)})
        return self.plan.union(left, fitted)

    def cte(self) -> Step:
        self.definitions += 1
        below = self.step()
        defined = self.plan.operation("CTERelationDef", below, params={"id": self.definitions})
        output = [self.plan.column(name) for name in below.names]
        for fresh, column in zip(output, below.output or (), strict=True):
            self.links[fresh.id] = [column]
        used = self.plan.operation(
            "CTERelationRef", output=output, params={"cteId": self.definitions}
        )
        return self.plan.operation("WithCTE", defined, used, output=output)

    def expand(self) -> Step:
        below = self.step()
        passing = self.column(below)
        rows = [[passing, self.value(below, 1)], [passing, self.value(below, 1)]]
        fresh = self.plan.column("e")
        self.links[fresh.id] = [row[1] for row in rows]
        params = {"projections": rows}
        return self.plan.operation("Expand", below, output=[passing, fresh], params=params)


@given(st.data())
def test_derivations_are_those_of_a_walk_over_every_path(data: st.DataObject) -> None:
    drawn = RandomPlan(data)
    document = drawn.build()
    plan = read_plan(document)
    columns = derive(plan)
    walker = Walker(document, drawn.links)
    expected = {
        (place, leaf, how)
        for place, output in enumerate(columns.outputs)
        for leaf, how in walker.edges(Reference("attribute", output))
    }
    assert {(d.output, d.source, d.how) for d in columns.derivations} == expected
    assert columns.gaps == ()
    assert len(set(columns.derivations)) == len(columns.derivations)


@budget(60)
@given(st.data())
def test_every_text_stays_within_the_limit_and_names_no_id(data: st.DataObject) -> None:
    plan = read_plan(RandomPlan(data).build())
    renderer = Renderer(plan, limit=80)
    columns = derive(plan, renderer)
    for text in [d.expression for d in columns.derivations]:
        assert len(text) <= 80
        assert "attr-" not in text
        assert "expr-" not in text


# --- the work ------------------------------------------------------------------------------------


class Counted(Mapping[str, Any]):
    """A mapping that counts how often it is asked."""

    def __init__(self, inner: Mapping[str, Any]) -> None:
        self.inner = inner
        self.asked = 0

    def __getitem__(self, key: str) -> Any:
        self.asked += 1
        return self.inner[key]

    def get(self, key: str, default: Any = None) -> Any:
        self.asked += 1
        return self.inner.get(key, default)

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return key in self.inner

    def __iter__(self) -> Iterator[str]:
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)


def with_columns(count: int) -> ExecutionPlan:
    """``for i in range(count): df = df.withColumn(f"c{i}", df[f"c{i-1}"] + i)``."""
    plan = PlanBuilder()
    step = plan.read("file:/lake/t", "salary")
    last = step["salary"]
    for number in range(count):
        value = plan.call("add", last, plan.literal(number), symbol="+")
        step = plan.project(step, *step.names, **{f"c{number}": value})
        last = step[f"c{number}"]
    plan.write(step)
    return plan.build()


def diamonds(count: int) -> ExecutionPlan:
    """``x = x + x`` again and again: 2 ** count paths."""
    plan = PlanBuilder()
    step = plan.read("file:/lake/t", "x")
    for _ in range(count):
        step = plan.project(step, x=plan.call("add", step["x"], step["x"], symbol="+"))
    plan.write(step)
    return plan.build()


def unions(count: int) -> ExecutionPlan:
    """A frame united with itself again and again."""
    plan = PlanBuilder()
    step = plan.read("file:/lake/t", "x", "y")
    for _ in range(count):
        step = plan.union(step, step)
    plan.write(step)
    return plan.build()


def parts_of(plan: ExecutionPlan) -> int:
    """The attributes, expressions and references that one pass has to look at."""
    references = sum(len(item.children) for item in plan.attributes.values())
    references += sum(len(item.children) for item in plan.functions.values())
    return len(plan.attributes) + len(plan.functions) + len(plan.constants) + references


@pytest.mark.parametrize(("make", "count"), [(with_columns, 300), (diamonds, 2_000), (unions, 500)])
def test_each_part_of_a_plan_is_visited_once(
    make: Callable[[int], ExecutionPlan], count: int
) -> None:
    plan = make(count)
    valuation = Valuation(plan, Definitions(plan))
    for output in derive(plan).outputs:
        valuation.value(Reference("attribute", output))
    assert valuation.visited <= parts_of(plan)


@pytest.mark.parametrize(("make", "count"), [(with_columns, 100), (diamonds, 500), (unions, 200)])
def test_twice_the_plan_is_twice_the_work(make: Callable[[int], ExecutionPlan], count: int) -> None:
    def asked(size: int) -> int:
        plan = make(size)
        functions = Counted(plan.functions)
        derive(replace(plan, functions=functions))
        return functions.asked

    assert asked(2 * count) <= 2.2 * asked(count)


def test_a_long_chain_keeps_its_one_source() -> None:
    columns = derive(diamonds(2_000))
    assert [(d.how, len(d.expression) <= 2_000) for d in columns.derivations] == [
        (labels.TRANSFORMATION, True)
    ]


def test_an_expression_deeper_than_any_stack_is_walked() -> None:
    plan = PlanBuilder()
    read = plan.read("file:/lake/t", "x")
    value = read["x"]
    for _ in range(50_000):
        value = plan.call("upper", value)
    plan.write(plan.filter(plan.project(read, y=value), plan.call("isnull", read["x"])))
    columns = derive(plan.build())
    assert [d.how for d in columns.derivations] == [labels.TRANSFORMATION]
