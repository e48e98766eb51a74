"""Short documents that say very much: bounded, with a gap that says so; never a hang."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from graph_model.naming import normalise
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan
from graph_model.stores.documents import DocumentState
from tests.e2e.producer_service import a_plan
from tests.fuzz.service import PLANS, fuzzed_headwater
from tests.work import count_calls

pytestmark = pytest.mark.fuzz


def wide_plan(columns: int) -> dict[str, Any]:
    plan = a_plan()
    plan["operations"]["reads"][0]["output"] = [f"c{n}" for n in range(columns)]
    return plan


def many_sources(columns: int) -> dict[str, Any]:
    plan = wide_plan(columns)
    plan["operations"]["reads"][0]["inputSources"] = [f"file:/s/t{n}x" for n in range(columns)]
    return plan


def everything_from_everything(columns: int) -> dict[str, Any]:
    plan = wide_plan(columns)
    outputs = [f"o{n}" for n in range(columns)]
    plan["operations"]["other"] = [
        {"id": "t", "name": "Project", "childIds": ["op-1"], "output": outputs}
    ]
    plan["operations"]["write"]["childIds"] = ["t"]
    plan["attributes"] = [
        {"id": name, "name": name, "childRefs": [{"__exprId": "e"}]} for name in outputs
    ]
    inputs = [{"__attrId": f"c{n}"} for n in range(columns)]
    plan["expressions"] = {"functions": [{"id": "e", "name": "hash", "childRefs": inputs}]}
    return plan


def types_in_types(columns: int) -> dict[str, Any]:
    plan = wide_plan(columns)
    plan["attributes"] = [
        {"id": f"c{n}", "name": f"c{n}", "dataType": "t0"} for n in range(columns)
    ]
    plan["extraInfo"] = {
        "dataTypes": [
            {"id": f"t{n}", "fields": [{"name": f, "dataTypeId": f"t{n + 1}"} for f in "abcd"]}
            for n in range(20)
        ]
    }
    return plan


@pytest.mark.parametrize(
    "plan",
    [many_sources(500), everything_from_everything(750), types_in_types(2_000)],
    ids=["many sources", "everything from everything", "types in types"],
)
def test_a_plan_that_grows_too_large_loses_the_growing_part_and_is_projected(
    plan: dict[str, Any],
) -> None:
    with fuzzed_headwater() as headwater:
        assert headwater.client.post(PLANS, json=plan).status_code == 201
        headwater.small.project()
        (document,) = headwater.documents()
        assert document.state == DocumentState.PROJECTED, document.reason
        headwater.check_next_request()


def test_a_query_on_which_the_parser_is_lost_stays_unresolved() -> None:
    """Joins without conditions: each table doubled the work of the parser."""
    query = "(select 1 from " + "a join " * 60 + "b"
    (result,) = normalise(f"jdbc:postgresql://h/d:{query}", "")
    assert result.unresolved


def test_thousands_of_columns_may_share_one_large_type() -> None:
    """The text of a type is made once: this took minutes."""
    with fuzzed_headwater() as headwater:
        assert headwater.post(PLANS, types_in_types(20)).status_code == 201


# --- the cost of a short document ----------------------------------------------------------------
# Work is counted in calls, which are the same on every machine: of a document twice as long at
# most three times as many, where the square would be four.

_SIZE = 150
_MOST = 3.0

Json = dict[str, Any]


def attribute(name: str) -> Json:
    return {"__attrId": name}


def expression(name: str) -> Json:
    return {"__exprId": name}


def function(name: str, kind: str, *children: Json) -> Json:
    return {"id": name, "name": kind, "childRefs": list(children)}


def operations(columns: int, steps: Sequence[Json], functions: Sequence[Json] = ()) -> Json:
    """A read of ``columns`` columns, and steps; the last one is written."""
    plan = wide_plan(columns)
    plan["attributes"] = []
    plan["operations"]["other"] = list(steps)
    plan["operations"]["write"]["childIds"] = [steps[-1]["id"]]
    plan["expressions"] = {"functions": list(functions)}
    return plan


def handed_on(size: int, name: str, **parts: Any) -> list[Json]:
    """A chain of steps without an output: each hands on the rows of the read."""
    return [
        {"id": f"s{n}", "name": name, "childIds": [f"s{n - 1}" if n else "op-1"], **parts}
        for n in range(size)
    ]


def filters(size: int) -> Json:
    return operations(size, handed_on(size, "Filter", params={"condition": attribute("c0")}))


def joins(size: int) -> Json:
    steps = handed_on(size, "Join", params={"condition": attribute("c0")})
    for step in steps:
        step["childIds"] *= 2
    return operations(size, steps)


def distinct(size: int) -> Json:
    return operations(size, handed_on(size, "Distinct"))


def conditions_as_text(size: int) -> Json:
    return operations(size, handed_on(size, "Filter", params={"condition": "(c0#1 > 1)"}))


def one_long_condition(size: int) -> Json:
    steps = handed_on(size, "Filter", params={"condition": expression("e")})
    inputs = [attribute(f"c{n}") for n in range(size)]
    return operations(size, steps, [function("e", "f", *inputs)])


def conjuncts_of_conjuncts(size: int) -> Json:
    """``e1 AND e1`` of ``e0 AND e0``, in every filter."""
    functions = [
        function(f"e{n}", "and", *[expression(f"e{n - 1}") if n else attribute("c0")] * 2)
        for n in range(size)
    ]
    condition = expression(f"e{size - 1}")
    return operations(1, handed_on(size, "Filter", params={"condition": condition}), functions)


def opaque_over_one_input(size: int) -> Json:
    steps: list[Json] = [
        {"id": f"m{n}", "name": "MapInPandas", "childIds": ["op-1"], "output": [f"o{n}"]}
        for n in range(size)
    ]
    whole = {"id": "u", "name": "Union", "childIds": [f"m{n}" for n in range(size)]}
    return operations(size, [*steps, {**whole, "output": ["o"]}])


def union_of_one_input(size: int) -> Json:
    outputs = [f"o{n}" for n in range(size)]
    step = {"id": "u", "name": "Union", "childIds": ["op-1"] * size, "output": outputs}
    return operations(size, [step])


def repeated_output(size: int) -> Json:
    plan = wide_plan(1)
    plan["operations"]["reads"][0]["output"] = ["c0"] * size
    return plan


def columns_only_listed(size: int) -> Json:
    return wide_plan(10 * size)


def variable(name: str) -> Json:
    return {**function(f"v{name}", "namedlambdavariable"), "params": {"name": name}}


def called(size: int, functions: Sequence[Json], last: str) -> Json:
    step = {"id": "p", "name": "Project", "childIds": ["op-1"], "output": ["o"]}
    plan = operations(size, [step], functions)
    plan["attributes"] = [{"id": "o", "name": "o", "childRefs": [expression(last)]}]
    return plan


def lambdas_in_lambdas(size: int) -> Json:
    """``transform(c0, x0 -> transform(x0, x1 -> ...))``; every body looks at the first variable."""
    functions = [variable(f"x{n}") for n in range(size)]
    body = "vx0"
    for n in reversed(range(size)):
        array = expression(f"vx{n - 1}") if n else attribute("c0")
        functions += [
            function(f"b{n}", "array", expression(body), expression("vx0")),
            function(f"l{n}", "lambdafunction", expression(f"b{n}"), expression(f"vx{n}")),
            function(f"t{n}", "transform", array, expression(f"l{n}")),
        ]
        body = f"t{n}"
    return called(1, functions, body)


def one_lambda_for_all(size: int) -> Json:
    """A lambda of ``size`` steps that as many functions call."""
    functions = [variable("x")]
    for n in range(size):
        before = expression(f"b{n - 1}" if n else "vx")
        functions.append(function(f"b{n}", "negative", before))
    functions.append(function("l", "lambdafunction", expression(f"b{size - 1}"), expression("vx")))
    for n in range(size):
        functions.append(function(f"t{n}", "transform", attribute(f"c{n}"), expression("l")))
    calls = [expression(f"t{n}") for n in range(size)]
    return called(size, [*functions, function("all", "array", *calls)], "all")


def folds_in_folds(size: int) -> Json:
    """``aggregate(c0, 0, (a0, x0) -> aggregate(x0, a0, (a1, x1) -> ...))``."""
    functions: list[Json] = []
    body = f"va{size - 1}"
    for n in reversed(range(size)):
        array = expression(f"vx{n - 1}") if n else attribute("c0")
        zero = expression(f"va{n - 1}") if n else attribute("c0")
        variables = [expression(f"va{n}"), expression(f"vx{n}")]
        functions += [
            variable(f"a{n}"),
            variable(f"x{n}"),
            function(f"l{n}", "lambdafunction", expression(body), *variables),
            function(f"f{n}", "aggregate", array, zero, expression(f"l{n}")),
        ]
        body = f"f{n}"
    return called(1, functions, body)


def doubled_lambdas(size: int) -> Json:
    """A lambda that is called twice in a lambda that is called twice, and so on."""
    functions = [
        variable("x"),
        function("l0", "lambdafunction", expression("vx"), expression("vx")),
    ]
    for n in range(size):
        functions += [
            function(f"t{n}", "transform", expression("vx"), expression(f"l{n}")),
            function(f"u{n}", "transform", expression("vx"), expression(f"l{n}")),
            function(f"b{n}", "array", expression(f"t{n}"), expression(f"u{n}")),
            function(f"l{n + 1}", "lambdafunction", expression(f"b{n}"), expression("vx")),
        ]
    last = function("t", "transform", attribute("c0"), expression(f"l{size}"))
    return called(1, [*functions, last], "t")


def calls(plan: Json) -> int:
    document = PlanDocument(read_plan(plan), "", "hash", "1.2")
    return count_calls(lambda: translate_plan(document))


@pytest.mark.parametrize(
    "build",
    [
        filters, joins, distinct, conditions_as_text, one_long_condition, conjuncts_of_conjuncts,
        opaque_over_one_input, union_of_one_input, columns_only_listed, lambdas_in_lambdas,
        one_lambda_for_all, folds_in_folds, doubled_lambdas,
    ],
)  # fmt: skip
def test_a_document_twice_as_long_is_about_twice_the_work(build: Callable[[int], Json]) -> None:
    calls(build(10))  # for the parts that are compiled and cached once
    assert calls(build(2 * _SIZE)) < _MOST * calls(build(_SIZE))


@pytest.mark.parametrize(
    "plan",
    [repeated_output(310), columns_only_listed(950), everything_from_everything(310)],
    ids=["repeated output", "columns only listed", "everything from everything"],
)
def test_a_plan_that_expands_beyond_its_document_is_capped_at_seconds(plan: Json) -> None:
    """Just within the caps: about a second of work, whatever the document leaves unsaid."""
    assert calls(plan) < 10_000_000
