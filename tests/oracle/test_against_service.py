"""Generated histories: the service answers every question as the oracle does.

Documents go the whole road: journal, translation, graph and catalogue, ``Lineage``. The test
compares datasets, jobs, logical plans, the edges between them, ``via``, columns and their edges.
A failure tells the smallest history that still shows a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.comparison import ComparedHistory, Difference, projected, told
from tests.oracle.documents import START, receipts, submissions
from tests.oracle.generation import (
    DEPTHS,
    long_history,
    new_history,
    nodes_of,
    smallest,
    some_question,
    times_of,
    varied_history,
    with_clocks,
    with_rewritten_jobs,
    with_versions,
)
from tests.oracle.histories import Asked, History, in_short, read_known_histories
from tests.projections import budget

_QUESTIONS = 20
pytestmark = pytest.mark.timeout(600)
KNOWN = {known.name: known.history for known in read_known_histories()}

seeds = given(st.integers(0, 2**32))


@contextmanager
def compare_history(history: History, order: Sequence[int] = ()) -> Iterator[ComparedHistory]:
    headwater = projected(history, order)
    try:
        summary = headwater.journal.summary()
        assert summary.projected == summary.received
        yield ComparedHistory(history, headwater.graph, headwater.catalogue)
    finally:
        headwater.close()


def compare(history: History, asked: Sequence[Asked], order: Sequence[int] = ()) -> None:
    """Fails with the smallest history on which the first question that differs still does."""
    with compare_history(history, order) as compared:
        result = next((d for item in asked for d in compared.differences(item)), None)
    if result is None:
        return
    small = smallest(history, lambda simpler: _differs(simpler, result))
    with compare_history(small) as compared:
        differences = list(compared.differences(result.asked)) or [result]
    pytest.fail(f"{told(differences)}\n{in_short(small)}")


def _differs(history: History, found: Difference) -> bool:
    if found.asked.node not in nodes_of(history):
        return False
    with compare_history(history) as compared:
        return any(d.kind == found.kind for d in compared.differences(found.asked))


def check(history: History, random: Random, questions: int = _QUESTIONS) -> None:
    order = list(range(len(submissions(history))))
    random.shuffle(order)
    compare(history, [some_question(random, history) for _ in range(questions)], order)


@seeds
@budget(10, shrinks=False)
def test_a_generated_history_is_answered_as_the_oracle_does(seed: int) -> None:
    random = Random(seed)
    check(new_history(random), random)


@seeds
@budget(20, shrinks=False)
def test_versions_and_branches_of_tables_are_answered_as_the_oracle_does(seed: int) -> None:
    random = Random(seed)
    check(with_versions(random, new_history(random, names=False)), random)


@seeds
@budget(20, shrinks=False)
def test_expressions_that_a_later_run_replaced_are_answered_as_the_oracle_does(seed: int) -> None:
    random = Random(seed)
    history = with_rewritten_jobs(random, new_history(random, names=False))
    if random.random() < 0.3:
        history = with_versions(random, history)
    columns = [node for node in nodes_of(history) if node.startswith("column:")]
    asked = [replace(some_question(random, history), node=node) for node in columns]
    compare(history, [*asked, *(some_question(random, history) for _ in range(5))])


@seeds
@budget(20, shrinks=False)
def test_the_last_write_of_a_table_is_none_of_a_branch(seed: int) -> None:
    random = Random(seed)
    history = with_versions(random, new_history(random, names=False))
    with compare_history(history) as compared:
        for at in (None, *random.choices(times_of(history), k=3)):
            differing = {
                k: pair for k, pair in compared.last_writes(at).items() if len({*pair}) > 1
            }
            assert differing == {}, (at, in_short(history))


@seeds
@budget(10, shrinks=False)
def test_a_time_a_day_after_its_receipt_counts_from_that_receipt(seed: int) -> None:
    """In answers, as the oracle counts it; a projection anew counts alike."""
    random = Random(seed)
    history = with_clocks(random, new_history(random))
    order = list(range(len(submissions(history))))
    random.shuffle(order)
    counted = history.as_counted()
    headwater = projected(history, order, receipts(history))
    compared = ComparedHistory(counted, headwater.graph, headwater.catalogue)
    asked = [some_question(random, counted) for _ in range(_QUESTIONS)]
    assert [told(compared.differences(item)) for item in asked] == [""] * len(asked)
    newest = max(execution.at for execution in counted.executions)
    assert headwater.catalogue.newest_event(None) == START + newest
    elements = headwater.elements()
    headwater.projector.request_rebuild()
    headwater.project()
    assert headwater.elements() == elements
    headwater.close()


@seeds
@budget(4, shrinks=False)
def test_a_plan_that_often_read_versions_is_answered_with_no_less_than_the_truth(seed: int) -> None:
    random = Random(seed)
    history = with_versions(random, long_history(random))
    compare(history, [some_question(random, history) for _ in range(6)])


@seeds
@budget(10, shrinks=False)
def test_a_known_history_in_another_order_of_events_is_answered_so_too(seed: int) -> None:
    random = Random(seed)
    check(varied_history(random, KNOWN[random.choice(sorted(KNOWN))]), random)


@seeds
@budget(4, shrinks=False)
def test_a_plan_that_ran_often_is_answered_with_no_less_than_the_truth(seed: int) -> None:
    random = Random(seed)
    history = long_history(random)
    compare(history, [some_question(random, history) for _ in range(6)])


@seeds
@budget(20, shrinks=False)
def test_a_walk_that_follows_one_execution_of_a_plan_finds_no_less_than_the_truth(
    seed: int,
) -> None:
    """Nearly every history is folded then: it shows what an interval leaves out, or adds without
    saying so.
    """
    random = Random(seed)
    history = new_history(random)
    if random.random() < 0.5:
        history = with_versions(random, new_history(random, names=False))
    with pytest.MonkeyPatch.context() as patch:
        for module in ("walk", "history.writes", "history.history"):
            patch.setattr(f"graph_model.lineage.{module}.EXACT_EXECUTIONS", 1)
        patch.setattr("tests.oracle.comparison.EXECUTIONS_BEFORE_FOLDING", 1)
        check(history, random)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_known_history_is_answered_as_the_oracle_does(name: str) -> None:
    """Beside the answers worked out by hand: any node, direction, depth and time."""
    random = Random(name)
    check(KNOWN[name], random, 4)


@seeds
@budget(6, shrinks=False)
def test_downstream_is_the_mirror_of_upstream(seed: int) -> None:
    """ "x in downstream(y) exactly when y in upstream(x)", at each depth, intermediates aside."""
    random = Random(seed)
    history = new_history(random)
    if random.random() < 0.4:
        history = with_versions(random, new_history(random, names=False))
    at, depth = random.choice(times_of(history)), random.choice(DEPTHS)
    with compare_history(history) as compared:
        if not compared.must_be_exact:
            return
        here = [name for name in nodes_of(history) if compared.stands_for_itself(name, at)]
        datasets = [node for node in here if node.startswith("dataset:")]
        up, down = (
            {node: compared.answers(Asked(node, way, depth, at)) for node in datasets}
            for way in ("upstream", "downstream")
        )
    for dataset in datasets:
        for other in datasets:
            assert (dataset in down[other]) == (other in up[dataset]), (
                f"{dataset}, {other}, {at}, {depth}"
            )


@seeds
@budget(10, shrinks=False)
def test_a_job_is_downstream_of_the_tables_upstream_of_it(seed: int) -> None:
    """The mirror law with a job on one side: one that writes, or one that only reads."""
    random = Random(seed)
    history = new_history(random)
    at = random.choice(times_of(history))
    with compare_history(history) as compared:
        if not compared.must_be_exact:
            return
        here = [name for name in nodes_of(history) if compared.stands_for_itself(name, at)]
        datasets = [node for node in here if node.startswith("dataset:")]
        jobs = [node for node in here if node.startswith("job:")]
        below = {
            node: compared.said(compared.ask(asked), asked)["jobs"]
            for node in datasets
            for asked in [Asked(node, "downstream", 50, at)]
        }
        above = {node: compared.answers(Asked(node, "upstream", 50, at)) for node in jobs}
    for dataset in datasets:
        for job in jobs:
            known = job.removeprefix("job:") in below[dataset]
            assert known == (dataset in above[job]), f"{dataset}, {job}, {at}"


@seeds
@budget(10, shrinks=False)
def test_a_deeper_answer_contains_the_shallower(seed: int) -> None:
    """ "answer(d) contained in answer(d+1)": nodes, edges and columns."""
    random = Random(seed)
    history = new_history(random)
    asked = some_question(random, history)
    with compare_history(history) as compared:
        if not compared.must_be_exact:
            return
        deeper = [replace(asked, depth=depth) for depth in range(6)]
        said = [compared.said(compared.ask(item), item) for item in deeper]
    for shallow, deep in pairwise(said):
        for kind in shallow.keys() - {"via"}:
            assert shallow[kind] <= deep[kind], kind


def test_the_smallest_history_shows_the_difference_and_no_more() -> None:
    def overwritten(history: History) -> bool:
        return sum(execution.plan == "q" for execution in history.executions) > 1

    shows: Callable[[History], bool] = overwritten
    assert len(smallest(KNOWN["cycle-of-two-turns"], shows).executions) == 2
