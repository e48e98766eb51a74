"""What a prune leaves: today's answers as they were, older ones those of the runs that are left.

Held to brute force on random histories, also after everything was projected anew.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from graph_model.facts import ExecutionRow
from graph_model.producers.commands.documents import Command
from graph_model.producers.commands.submissions import submit
from graph_model.retention.coverage import Retention, resolve_prune
from graph_model.retention.recorded import Recorded
from tests.oracle.comparison import Witness, key_of, projected, told
from tests.oracle.documents import START
from tests.oracle.generation import long_history, new_history, some_question
from tests.oracle.histories import History
from tests.projections import SmallHeadwater

QUESTIONS = 12


def prune(headwater: SmallHeadwater, retention: Retention) -> None:
    catalogue = headwater.catalogue
    order = resolve_prune(retention, Recorded(catalogue), catalogue, drop_bodies=True)
    headwater.accept(submit(Command("retention", START, "", "", order)))
    headwater.project()


def what_is_left(history: History, headwater: SmallHeadwater) -> History:
    """The runs whose rows are there, and the plans that ran then or never."""
    rows = [row for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)]
    kept = {(row.plan_id, row.at - START, row.application_id, row.state) for row in rows}
    executions = tuple(one for one in history.executions if key_of(one, history) in kept)
    ran = {one.plan for one in history.executions} - {one.plan for one in executions}
    plans = {name: plan for name, plan in history.plans.items() if name not in ran}
    return History(plans, executions)


@pytest.mark.parametrize("seed", range(80))
def test_answers_after_a_prune_are_those_of_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    history = long_history(rng) if seed % 4 == 0 else new_history(rng, names=False)
    headwater = projected(history)
    try:
        times = sorted(one.at for one in history.executions)
        wishes = (Retention(before=START + rng.choice(times)), Retention(keep=rng.randint(1, 2)))
        before = Witness(history, headwater.graph, headwater.catalogue)
        now = [replace(some_question(rng, history), at=None) for _ in range(QUESTIONS)]
        expected = [before.said(before.ask(one), one) for one in now]
        prune(headwater, rng.choice(wishes))
        assert [before.said(before.ask(one), one) for one in now] == expected
        rest = what_is_left(history, headwater)
        if seed % 2:
            headwater.projector.request_rebuild()
            while headwater.projector.rebuild_step():
                pass
        after = Witness(rest, headwater.graph, headwater.catalogue)
        asked = [some_question(rng, rest) for _ in range(QUESTIONS)]
        differences = [found for one in asked for found in after.differences(one)]
        assert not differences, told(differences)
    finally:
        headwater.close()
