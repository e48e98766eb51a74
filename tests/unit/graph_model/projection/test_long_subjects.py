"""A command about a subject with very many events: bounded steps, and the same in the end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from graph_model.producers.commands import Cutoff, Forget, Prune
from graph_model.retention.coverage import resolve_forget
from graph_model.stores.documents import StoredDocument, Submission
from graph_model.stores.journal import Journal
from tests.projections import SmallHeadwater, project
from tests.unit.graph_model.producers.test_commands import command, shown, shown_of
from tests.unit.graph_model.projection.projector.test_projector import (
    PLAN_ID,
    a_plan,
    an_event,
    event,
    plan,
)

STEP = 10
START = 1_700_000_000_000
MINE = [plan(a_plan()), *(event(an_event(START + n)) for n in range(95))]


class CountingJournal:
    """Remembers the most bodies of one subject that were asked for at once."""

    def __init__(self, inner: Journal) -> None:
        self._inner = inner
        self.most = 0

    def documents_of(self, subject_key: str) -> tuple[StoredDocument, ...]:
        return self._counted(self._inner.documents_of(subject_key))

    def documents(self, positions: Sequence[int]) -> tuple[StoredDocument, ...]:
        return self._counted(self._inner.documents(positions))

    def bodies(self, positions: Sequence[int]) -> dict[int, bytes]:
        self.most = max(self.most, len(positions))
        return self._inner.bodies(positions)

    def _counted(self, found: tuple[StoredDocument, ...]) -> tuple[StoredDocument, ...]:
        self.most = max(self.most, len(found) if found[0:1] and found[0].body else 0)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_model.projection.projector.commands.EVENTS_A_STEP", STEP)
    monkeypatch.setattr("graph_model.projection.attempts.EVENTS_A_STEP", STEP)


def obey(headwater: SmallHeadwater, *instructions: Forget | Prune) -> int:
    """Give commands; the most bodies that were in memory at once."""
    headwater.accept(*map(command, instructions))
    counting = CountingJournal(headwater.journal)
    headwater.project_through(journal=counting)
    headwater.project()
    return counting.most


def prune(before: int, *, drop: bool) -> Prune:
    return Prune((Cutoff("default", "demo", "", "file:/data/out", before),), drop)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("left", [0, 1, 40, 95])
def test_a_prune_takes_bounded_steps_and_leaves_the_result_of_a_fresh_projection(
    left: int, drop: bool
) -> None:
    headwater = project(MINE, stepwise=False)
    before = START + 95 - left
    assert obey(headwater, prune(before, drop=drop)) <= STEP
    remaining = [MINE[0], *MINE[1 + 95 - left :]] if left else []
    assert shown(headwater) == shown_of(remaining)
    received = headwater.journal.summary().received - 1
    assert received == (len(remaining) if drop else len(MINE))
    headwater.close()


@pytest.mark.parametrize("left", [0, 1, 40])
def test_a_forget_takes_bounded_steps_and_leaves_other_documents(left: int) -> None:
    headwater = project(MINE, stepwise=False)
    chosen = random.Random(3).sample(MINE[1:], left)
    gone = [item for item in MINE if item not in chosen]
    instruction = Forget((PLAN_ID,), tuple(sorted(item.content_hash for item in gone)))
    assert obey(headwater, instruction) <= STEP
    assert shown(headwater) == shown_of([MINE[0], *chosen] if left else [])
    headwater.close()


def test_everything_of_a_subject_key_is_named_without_a_look_at_bodies() -> None:
    headwater = project(MINE, stepwise=False)
    counting = CountingJournal(headwater.journal)
    instructions = resolve_forget({PLAN_ID}, counting)  # type: ignore[arg-type]
    assert counting.most == 0
    assert obey(headwater, *instructions) <= STEP
    assert shown(headwater) == shown_of([])
    headwater.close()


def test_forgotten_and_pruned_events_together_hide_their_plan() -> None:
    headwater = project(MINE, stepwise=False)
    forgotten = Forget((PLAN_ID,), tuple(item.content_hash for item in MINE[1:51]))
    obey(headwater, forgotten, prune(START + 95, drop=False))
    assert shown(headwater) == shown_of([])
    headwater.close()


def late(number: int) -> Submission:
    return event(an_event(START + 1_000 + number))


def test_an_event_that_comes_with_the_command_keeps_its_plan() -> None:
    headwater = project(MINE, stepwise=False)
    headwater.accept(late(1))
    instruction = Forget((PLAN_ID,), tuple(sorted(item.content_hash for item in MINE)))
    obey(headwater, instruction)
    assert shown(headwater) == shown_of([MINE[0], late(1)])
    headwater.close()
