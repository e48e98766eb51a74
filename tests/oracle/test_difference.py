"""Laws of the difference of two answers, on histories that nobody would think of."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph_model.answers.difference.graphs import (
    ADDED,
    CHANGED,
    REMOVED,
    SCHEMA,
    Edge,
    ElementChange,
    GraphDifference,
    GraphSide,
    compare_graphs,
    edge_contents,
    focus_on_changes,
    node_contents,
)
from graph_model.answers.difference.plans import compare_plans
from graph_model.answers.difference.times import TimeDifference, compare_times
from graph_model.answers.plans import plan
from graph_model.lineage import ColumnEdge, Question
from graph_model.stores.graph import Direction
from tests.oracle.comparison import is_empty, node_id, projected
from tests.oracle.documents import START, plan_uuid
from tests.oracle.generation import new_history, some_question, times_of
from tests.oracle.histories import Asked, History
from tests.projections import budget

seeds = given(st.integers(0, 2**32))
_MIRRORED = {ADDED: REMOVED, REMOVED: ADDED, CHANGED: CHANGED}


class Compared:
    """One question at two times on one generated history, compared both ways."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.history: History = new_history(random, names=False)
        headwater = projected(self.history)
        sources = headwater.sources
        self._sources = sources
        asked = some_question(random, self.history)
        times = [random.choice(times_of(self.history)) for _ in range(2)]
        self.forth = self._compare(asked, times[0], times[1])
        self.back = self._compare(asked, times[1], times[0])
        documented = sorted(plan.id for plan in self.history.plans.values() if plan.writes)
        self.plans = [plan(sources, plan_uuid(item), at=None, document=False, layout=False)
                      for item in random.sample(documented, 2)]  # fmt: skip
        headwater.close()

    def _compare(self, asked: Asked, before: int | None, after: int | None) -> TimeDifference:
        times = [None if item is None else START + item for item in (before, after)]
        question = Question(
            node="",
            direction=Direction(asked.direction),
            depth=asked.depth,
            columns=True,
            indirect=asked.indirect,
            limit=1_000,
        )
        node = node_id(asked.node)
        return compare_times(self._sources, node, (times[0], times[1]), question)


def ends(edge: Edge) -> tuple[str, ...]:
    kind = (edge.kind, edge.how) if isinstance(edge, ColumnEdge) else ()
    return (edge.source, edge.target, *kind)


def contents(view: Any) -> dict[Any, Mapping[str, Any]]:
    """The compared content of every element; schemas have a law of their own."""
    nodes = {node.id: dict(node_contents(node, {})) for node in view.nodes}
    for item in nodes.values():
        item.pop(SCHEMA, None)
    return {**nodes, **{ends(edge): dict(edge_contents(edge)) for edge in view.edges}}


def applied(view: Any, difference: GraphDifference) -> dict[Any, Mapping[str, Any]]:
    """The contents of the first answer with the difference applied to them."""
    result = contents(view)
    nodes = {node.id: node for node in difference.merged.nodes}
    edges = {edge.id: edge for edge in difference.merged.edges}
    for change in difference.nodes:
        _apply(result, change.id, change, node_contents(nodes[change.id], {}), change.id)
    for change in difference.edges:
        edge = edges[change.id]
        _apply(result, _former(edge, change), change, edge_contents(edge), ends(edge))
    return result


def _former(edge: Edge, change: ElementChange) -> tuple[str, ...]:
    how = [field.before for field in change.fields if field.field == "how"]
    return (*ends(edge)[:-1], *how) if how else ends(edge)


def _apply(found: Any, old: Any, change: ElementChange, whole: Mapping[str, Any], new: Any) -> None:
    if change.change == ADDED:
        found[new] = {key: value for key, value in whole.items() if key != SCHEMA}
        return
    former = found.pop(old)
    if change.change == CHANGED:
        fields = {field.field: field.after for field in change.fields if field.field != SCHEMA}
        found[new] = former | fields


@seeds
@budget(20, shrinks=False)
def test_an_answer_does_not_differ_from_itself(seed: int) -> None:
    result = Compared(seed).forth
    for view in (result.before, result.after):
        same = compare_graphs(GraphSide(view), GraphSide(view))
        assert (same.nodes, same.edges) == ((), ())
        assert focus_on_changes(same).nodes == ()


@seeds
@budget(20, shrinks=False)
def test_the_other_way_round_is_the_mirror_image(seed: int) -> None:
    compared = Compared(seed)

    def told(found: TimeDifference, *, mirrored: bool) -> set[Any]:
        edges = {edge.id: edge for edge in found.difference.merged.edges}
        said = set()
        for one in (*found.difference.nodes, *found.difference.edges):
            fields = frozenset(
                (f.field, str((f.after, f.before) if mirrored else (f.before, f.after)))
                for f in one.fields
            )
            key = ends(edges[one.id])[:3] if one.id in edges else one.id
            said.add((key, _MIRRORED[one.change] if mirrored else one.change, fields))
        return said

    assert told(compared.forth, mirrored=False) == told(compared.back, mirrored=True)


@seeds
@budget(20, shrinks=False)
def test_the_first_answer_with_the_difference_applied_is_the_second(seed: int) -> None:
    result = Compared(seed).forth
    assert applied(result.before, result.difference) == contents(result.after)


@seeds
@budget(20, shrinks=False)
def test_every_added_or_removed_element_names_its_reporter(seed: int) -> None:
    result = Compared(seed).forth
    for change in result.difference.edges:
        sides = result.evidence[change.id]
        answer = sides.before if change.change == REMOVED else sides.after
        assert answer, change
        assert all(item.execution and item.job for item in answer)


@seeds
@budget(20, shrinks=False)
def test_a_plan_does_not_differ_from_itself_and_two_plans_mirror_each_other(seed: int) -> None:
    left, other = Compared(seed).plans
    assert is_empty(compare_plans(left, left))
    forth, back = compare_plans(left, other), compare_plans(other, left)
    assert is_empty(forth) == is_empty(back)

    def told(found: Any, first: str, second: str) -> set[Any]:
        return {
            (getattr(o, first), getattr(o, second), len(o.properties), len(o.columns))
            for o in found.operations
        }

    assert told(forth, "before", "after") == told(back, "after", "before")
    assert {s.id for s in forth.sources_added} == {s.id for s in back.sources_removed}
    assert len(forth.columns) == len(back.columns)
