"""Possible flow of generated histories: the laws of lineage, and what "seen" leaves out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.lineage import Answer, Question, Reach
from graph_model.stores.graph import Direction
from tests.oracle.comparison import datasets_of, projected
from tests.oracle.documents import START, dataset_id
from tests.oracle.generation import new_history, times_of
from tests.projections import SmallHeadwater, budget

pytestmark = pytest.mark.timeout(600)


def asked(headwater: SmallHeadwater, question: Question) -> Answer:
    return headwater.sources.lineage.ask(question)


def reached(answer: Answer) -> set[str]:
    """What is an answer of its own, not only on the way."""
    return set(answer.datasets) - set(answer.via)


@given(st.integers(0, 2**32))
@budget(8, shrinks=False)
def test_up_and_down_mirror_each_other_and_more_depth_and_reach_add(seed: int) -> None:
    random = Random(seed)
    history = new_history(random, names=False)
    headwater = projected(history)
    try:
        at = random.choice(times_of(history))
        time = None if at is None else START + at
        nodes = [dataset_id(name) for name in datasets_of(history)]
        down, up = {}, {}
        for node in nodes:
            question = Question(node, Direction.DOWNSTREAM, 50, time, reach=Reach.POSSIBLE)
            down[node] = asked(headwater, question)
            up[node] = asked(headwater, replace(question, direction=Direction.UPSTREAM))
            seen = asked(headwater, replace(question, reach=Reach.SEEN, not_seen=True))
            assert set(seen.datasets) <= set(down[node].datasets)
            assert seen.not_seen is not None
            assert seen.not_seen.tables == len(set(down[node].datasets) - set(seen.datasets))
            assert seen.not_seen.jobs == len(set(down[node].jobs) - set(seen.jobs))
            levels = [asked(headwater, replace(question, depth=depth)) for depth in (1, 2, 3)]
            for shallow, deep in pairwise([*levels, down[node]]):
                assert set(shallow.datasets) <= set(deep.datasets)
        if not any(answer.folded for answer in (*down.values(), *up.values())):
            for item in nodes:
                assert {x for x in nodes if x in reached(down[item])} == {
                    x for x in nodes if item in reached(up[x])
                }
    finally:
        headwater.close()
