"""A prune leaves the answers since the wished time as they were; older ones are those of the runs
that are left.

Held to brute force on random histories, also after everything was projected anew. Reports within
ten seconds may be one write, and a prune keeps as much before a write that is needed: so these
histories are long, with minutes between their times.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from graph_model.facts import ExecutionRow
from graph_model.producers.commands import Command, submit
from graph_model.retention.coverage import Retention, resolve_prune
from tests.oracle.comparison import ComparedHistory, key_of, projected, told
from tests.oracle.documents import START
from tests.oracle.generation import SECOND, new_history, some_question, times_of, with_versions
from tests.oracle.histories import Execution, History
from tests.projections import SmallHeadwater

QUESTIONS = 8
SEEDS = (*range(8), 227, 262)
"""In the last two a run that stays began before its source was written for the first time."""
SLOWER = 30
MORE_RUNS = 20
END = 1 << 62


def prune(headwater: SmallHeadwater, retention: Retention) -> None:
    catalogue = headwater.catalogue
    order = resolve_prune(retention, catalogue, drop_bodies=True)
    headwater.accept(submit(Command("retention", START, "", "", order)))
    headwater.project()


def remaining(history: History, headwater: SmallHeadwater) -> History:
    """The runs whose rows are there, and the plans that ran then or never."""
    rows = [row for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)]
    kept = {(row.plan_id, row.at - START, row.application_id, row.state) for row in rows}
    executions = tuple(
        execution for execution in history.executions if key_of(execution, history) in kept
    )
    ran = {execution.plan for execution in history.executions} - {item.plan for item in executions}
    plans = {name: plan for name, plan in history.plans.items() if name not in ran}
    return History(plans, executions)


def lived(rng: random.Random, history: History) -> History:
    """The same plans run again and again, with a second stretched to half a minute."""
    first = min(
        (execution.at for execution in history.executions if execution.application == "twice"),
        default=0,
    )

    def at(one: Execution) -> int:  # double reports stay as close together as they were
        return SLOWER * first + one.at - first if one.application == "twice" else SLOWER * one.at

    known = [replace(execution, at=at(execution)) for execution in history.executions]
    more = [
        Execution(
            rng.choice(sorted(history.plans)),
            SLOWER * SECOND * rng.randint(0, 40),
            rng.random() < 0.1,
            f"later-{number}",
        )
        for number in range(MORE_RUNS)
    ]
    ordered = sorted((*known, *more), key=lambda one: (one.at, one.plan))
    return History(history.plans, tuple(ordered))


def made(rng: random.Random, seed: int) -> History:
    """Some with names of tables, some with versions."""
    history = lived(rng, new_history(rng, names=seed % 3 == 1))
    return with_versions(rng, history) if seed % 3 == 2 else history


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_after_a_prune_are_those_of_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    history = made(rng, seed)
    headwater = projected(history)
    try:
        before = rng.choice(sorted(execution.at for execution in history.executions))
        before, wish = rng.choice(
            ((before, Retention(before=START + before)), (END, Retention(keep=rng.randint(1, 2))))
        )
        compared = ComparedHistory(history, headwater.graph, headwater.catalogue)
        later = [at for at in times_of(history) if at is None or at >= before]
        asked = [
            replace(some_question(rng, history), at=rng.choice(later)) for _ in range(QUESTIONS)
        ]
        expected = [compared.said(compared.ask(entry), entry) for entry in asked]
        prune(headwater, wish)
        assert [compared.said(compared.ask(item), item) for item in asked] == expected
        rest = remaining(history, headwater)
        if seed % 2:
            headwater.projector.request_rebuild()
            while headwater.projector.rebuild_step():
                pass
        after = ComparedHistory(rest, headwater.graph, headwater.catalogue)
        asked = [some_question(rng, rest) for _ in range(QUESTIONS)]
        differences = [difference for element in asked for difference in after.differences(element)]
        assert not differences, told(differences)
    finally:
        headwater.close()


def test_these_prunes_remove_something() -> None:
    """Else the test above would say nothing."""
    gone = 0
    for seed in range(5):
        rng = random.Random(seed)
        history = made(rng, seed)
        headwater = projected(history)
        try:
            prune(headwater, Retention(keep=1))
            gone += len(history.executions) - len(remaining(history, headwater).executions)
        finally:
            headwater.close()
    assert gone > 5
