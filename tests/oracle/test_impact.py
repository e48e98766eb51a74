"""The impact of generated histories: the nodes downstream, how far, and along which chain.

Depths and paths are held against every chain that the oracle lists, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.answers.impact.report import Impact, ImpactItem, ImpactReport, Scope
from tests.oracle.comparison import ComparedHistory, datasets_of, node_id, projected
from tests.oracle.documents import START, column_id, dataset_id, job_id
from tests.oracle.generation import DEPTHS, new_history, nodes_of, times_of
from tests.oracle.histories import Asked, Column
from tests.oracle.in_force import OracleInForce
from tests.oracle.truth import END_OF_TIME, Step
from tests.projections import SmallHeadwater, budget

pytestmark = pytest.mark.timeout(600)
seeds = given(st.integers(0, 2**32))

#: From the node asked about down to a node that it reached, in the words of the history.
Path = tuple[str, ...]


def true_paths(compared: ComparedHistory, asked: Asked) -> dict[str, set[Path]]:
    """Per dataset (column) and job downstream every true path to it, of at most the depth."""
    kind, _, focus = asked.node.partition(":")
    at = END_OF_TIME if asked.at is None else asked.at
    oracle = compared.oracle
    chains = oracle.column_chains(at, asked.indirect) if kind == "column" else oracle.chains(at)
    result: dict[str, set[Path]] = {}
    for chain in chains:
        for path in paths_of(chain.steps, focus, kind, asked.depth):
            result.setdefault(path[-1], set()).add(path)
    if kind == "column":
        for steps in oracle.column_readers(at, asked.indirect):
            for path in paths_to_reader(steps, focus, asked.depth):
                result.setdefault(path[-1], set()).add(path)
    return result


def paths_to_reader(steps: Sequence[Step], focus: str, depth: int) -> Iterator[Path]:
    """The ways from the focus, a column, down to a reader and to the jobs before it."""
    above = source_of(steps[-1])
    beside = len(steps) == 1 and above == focus.partition("#")[0]
    if (beside or above == focus) and len(steps) <= depth:
        whole = (focus,)
        for path in ways_down(steps[1:], whole):
            if path[-1].startswith("job "):
                yield path
            whole = path
        yield (*whole, f"job {steps[0].write.job}")


def paths_of(steps: Sequence[Step], focus: str, kind: str, depth: int) -> Iterator[Path]:
    """The ways from the focus down to the visible datasets, and to each job on them."""
    if kind == "job":
        for end, step in enumerate(steps[:depth]):
            if step.write.job == focus:
                yield from ways_down(steps[: end + 1], ())
    elif source_of(steps[-1]) == focus and len(steps) <= depth:
        yield from ways_down(steps, (focus,))


def ways_down(steps: Sequence[Step], path: Path) -> Iterator[Path]:
    for step in reversed(steps):
        path = (*path, f"job {step.write.job}")
        yield path
        path = (*path, step.flow.target.text if step.flow else step.write.target)
    if path[-1]:  # else the last step only read
        yield path


def source_of(step: Step) -> str | None:
    return step.flow.source.text if step.flow else step.source


def path_depth(path: Path) -> int:
    """Steps: one a job."""
    return sum(node.startswith("job ") for node in path)


def in_force_of(compared: ComparedHistory, at: int | None) -> OracleInForce:
    time = END_OF_TIME if at is None else at
    return OracleInForce(compared.oracle, time, compared.ids, compared.logical_plan)


def impact_of(headwater: SmallHeadwater, asked: Asked) -> ImpactReport:
    scope = Scope(
        depth=asked.depth,
        at=None if asked.at is None else START + asked.at,
        indirect=asked.indirect,
        limit=5_000,
    )
    return Impact(headwater.sources).of_node(node_id(asked.node), scope)


def in_words(item: ImpactItem, words: dict[str, str]) -> Path:
    return tuple(words[node.id] for node in item.path)


def words_of(compared: ComparedHistory) -> dict[str, str]:
    words: dict[str, str] = {}
    for name in datasets_of(compared.history):
        words[dataset_id(name)] = name
        words |= {column_id(Column(name, path)): f"{name}#{path}" for path in ("k", "v")}
    jobs = {plan.job for plan in compared.history.plans.values()}
    return words | {job_id(job): f"job {job}" for job in jobs}


@seeds
@budget(12, shrinks=False)
def test_depth_and_path_are_a_shortest_true_chain(seed: int) -> None:
    random = Random(seed)
    history = new_history(random)
    headwater = projected(history)
    try:
        compared = ComparedHistory(history, headwater.graph, headwater.catalogue)
        words = words_of(compared)
        at, depth, indirect = random.choice(times_of(history)), random.choice(DEPTHS), True
        for node in nodes_of(history):
            if not compared.stands_for_itself(node, at):
                continue
            asked = Asked(node, "downstream", depth, at, indirect)
            report = impact_of(headwater, asked)
            if report.folded:
                continue
            true = true_paths(compared, asked)
            true.pop(words[node_id(node)], None)  # the node asked about is no row of its own
            items = {words[item.id]: item for item in report.items}
            seen = {name for name, item in items.items() if item.flow != "next"}
            assert seen == true.keys(), asked
            for name in seen:
                least = min(path_depth(path) for path in true[name])
                assert items[name].depth <= least, (asked, name)
                if items[name].depth == least and items[name].flow == "past":
                    assert in_words(items[name], words) in true[name], (asked, name)
            if not node.startswith("column:"):
                expected = in_force_of(compared, at).downstream(node, depth)
                expected.pop(words[node_id(node)], None)
                current = {name for name, item in items.items() if item.flow != "past"}
                assert current == expected.keys(), asked
                for name, steps in expected.items():
                    least = min([steps, *map(path_depth, true.get(name, ()))])
                    assert items[name].depth == least, (asked, name)
    finally:
        headwater.close()


@seeds
@budget(12, shrinks=False)
def test_a_prefix_covers_everything_downstream_of_its_datasets_but_not_themselves(
    seed: int,
) -> None:
    random = Random(seed)
    history = new_history(random, names=False)
    headwater = projected(history)
    try:
        at = random.choice(times_of(history))
        scope = Scope(depth=50, at=None if at is None else START + at, limit=5_000)
        impact = Impact(headwater.sources)
        letter = random.choice(datasets_of(history))[:1]
        starts = [d for d in datasets_of(history) if d.startswith(letter)]
        together = impact.of_prefix(f"s3a://lake/{letter}", scope)
        alone = [impact.of_node(dataset_id(name), scope) for name in starts]
        if together.folded or any(report.folded for report in alone):
            return
        expected: dict[str, int] = {}
        for item in (item for report in alone for item in report.items):
            expected[item.id] = min(item.depth, expected.get(item.id, item.depth))
        for name in starts:
            expected.pop(dataset_id(name), None)
        assert {item.id: item.depth for item in together.items} == expected
    finally:
        headwater.close()


@seeds
@budget(12, shrinks=False)
def test_more_depth_adds_rows_and_changes_none(seed: int) -> None:
    """ "answer(d) contained in answer(d+1)", row by row."""
    random = Random(seed)
    history = new_history(random)
    headwater = projected(history)
    try:
        node = random.choice(nodes_of(history))
        asked = [Asked(node, "downstream", depth, None, True) for depth in (1, 2, 3)]
        reports = [impact_of(headwater, entry) for entry in asked]
        if any(report.folded for report in reports):
            return
        for shallow, deep in pairwise(reports):
            known = {item.id: item.depth for item in deep.items}
            assert all(known[item.id] == item.depth for item in shallow.items)
    finally:
        headwater.close()
