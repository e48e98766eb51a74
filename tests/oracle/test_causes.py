"""The changes upstream since the last good run, on histories that nobody would think of."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.answers.difference.causes import FAILED_RUN, rank
from graph_model.answers.difference.upstream import Upstream, UpstreamChanges
from graph_model.values import iso
from tests.oracle.comparison import datasets_of, node_id, projected
from tests.oracle.documents import START
from tests.oracle.generation import JOBS, new_history
from tests.oracle.histories import History
from tests.projections import SmallHeadwater, budget

seeds = given(st.integers(0, 2**32))


def asked(headwater: SmallHeadwater, history: History, since: int | None) -> list[UpstreamChanges]:
    """The changes of every job that has run and of every dataset that a run has told of.

    A failed run tells of no name in a catalog: ``d`` named ``hr.n`` => ``d`` alone is known.
    """
    completed = {execution.plan for execution in history.executions if not execution.failed}
    plans = [history.plans[item] for item in {execution.plan for execution in history.executions}]
    ran = {plan.id: plan if plan.id in completed else replace(plan, names=()) for plan in plans}
    nodes = [f"job:{job}" for job in sorted({plan.job for plan in ran.values()} & set(JOBS))]
    nodes += [f"dataset:{name}" for name in datasets_of(History(ran))]
    return [
        Upstream(headwater.sources).changes(
            node_id(node), node.partition(":")[0], since=since, at=since, depth=10, limit=500
        )
        for node in nodes
    ]


@seeds
@budget(20, shrinks=False)
def test_a_run_is_compared_with_a_good_one_before_it(seed: int) -> None:
    history = new_history(Random(seed))
    headwater = projected(history)
    for item in asked(headwater, history, None):
        if item.reference is None or item.subject is None:
            assert item.causes == ()
            continue
        assert item.reference.state == labels.COMPLETED
        assert item.reference.at < item.subject.at
        assert (item.since, item.until) == (item.reference.at, item.subject.at)
        assert list(item.causes) == rank(item.causes)
        for cause in item.causes:
            assert cause.reason
            assert cause.distance >= 0
            if cause.kind == FAILED_RUN:
                assert item.since < (iso(cause.at) or "") <= item.until
    headwater.close()


@seeds
@budget(20, shrinks=False)
def test_between_a_time_and_itself_nothing_upstream_of_a_good_run_has_changed(seed: int) -> None:
    random = Random(seed)
    history = new_history(random)
    headwater = projected(history)
    moment = START + random.randint(0, 12_000)
    for item in asked(headwater, history, moment):
        same = item.subject and item.reference and item.subject.run == item.reference.run
        if same and item.subject == item.reference:
            assert [cause.kind for cause in item.causes if cause.kind != "late"] == []
    headwater.close()
