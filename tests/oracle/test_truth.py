"""The promised laws hold of the oracle itself, for every kind of node."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.oracle.generation import DEPTHS, new_history, nodes_of, some_question, times_of
from tests.oracle.histories import Asked, History
from tests.oracle.truth import Oracle

seeds = given(st.integers(0, 2**32))
quick = settings(phases=(Phase.reuse, Phase.generate))


def answers(oracle: Oracle, asked: Asked) -> set[str]:
    """The nodes of an answer as questions spell them, intermediates aside."""
    truth = oracle.answer(asked)
    if asked.node.startswith("column:"):
        return {f"column:{column.text}" for column in truth.columns - truth.column_via}
    return {f"dataset:{name}" for name in truth.datasets - truth.via} | {
        f"job:{name}" for name in truth.jobs
    }


def canonical_nodes(history: History, oracle: Oracle, at: int | None) -> list[str]:
    """Nodes that stand for themselves: a catalog name is asked for its location."""
    moment = 10**15 if at is None else at
    return [
        node
        for node in nodes_of(history)
        if oracle.location_of(name := node.partition(":")[2].partition("#")[0], moment) == name
    ]


@seeds
@quick
def test_downstream_is_the_mirror_of_upstream(seed: int) -> None:
    """ "x in downstream(y) exactly when y in upstream(x)": datasets, jobs and columns."""
    random = Random(seed)
    history = new_history(random)
    at = random.choice(times_of(history))
    oracle = Oracle(history)
    nodes = canonical_nodes(history, oracle, at)
    up = {node: answers(oracle, Asked(node, "upstream", 50, at)) for node in nodes}
    down = {node: answers(oracle, Asked(node, "downstream", 50, at)) for node in nodes}
    for item in nodes:
        for other in nodes:
            if item.startswith("column:") == other.startswith("column:"):
                assert (item in down[other]) == (other in up[item]), f"{item}, {other}"


@seeds
@quick
def test_a_deeper_answer_contains_the_shallower(seed: int) -> None:
    random = Random(seed)
    history = new_history(random)
    asked = some_question(random, history)
    oracle = Oracle(history)
    result = [oracle.answer(replace(asked, depth=depth)) for depth in DEPTHS]
    for shallow, deep in pairwise(result):
        for kind in ("datasets", "jobs", "feeds", "columns", "column_edges"):
            assert getattr(shallow, kind) <= getattr(deep, kind)


@seeds
@quick
def test_later_events_change_no_earlier_answer(seed: int) -> None:
    """Time travel is the ordinary question asked at another time (names apart: a name that was
    not observed yet stands for the first location that it will have).
    """
    random = Random(seed)
    history = new_history(random, names=False)
    if "once" in history.plans:
        return  # a merged write may gain its second half later
    asked = replace(some_question(random, history), at=random.randint(0, 12_000))
    earlier = tuple(execution for execution in history.executions if execution.at <= asked.at)
    now, then = Oracle(history), Oracle(replace(history, executions=earlier))
    assert now.answer(asked) == then.answer(asked)
