"""When the projector takes a checkpoint: in a calm moment, or when it cannot wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_model.producers.commands import Cutoff, Prune
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector import Projector, loop
from graph_model.stores.graph import NoCheckpoints
from graph_model.stores.gremlin.engine.checkpoints import EngineCheckpoints
from tests.e2e.producer_service import a_plan, an_event
from tests.projections import project, small_headwater, submission
from tests.unit.graph_model.producers.commands.test_commands import DAY, START, command, daily
from tests.unit.graph_model.projection.test_crashes import SavedMemoryGraph


class Counted(NoCheckpoints):
    """Is due; ``taken`` tells that it was asked to save, and then it is due no more."""

    def __init__(self, *, overdue: bool) -> None:
        self.due, self.overdue = True, overdue
        self.taken = threading.Event()

    def take(self, epoch: str, position: Callable[[], int]) -> bool:
        self.due = self.overdue = False
        self.taken.set()
        return True


def taken_by(checkpoints: Counted, seconds: float) -> bool:
    """Whether a projector that has projected a document and goes on saves within some seconds."""
    made = small_headwater()
    made.accept(submission(PLAN_KIND, a_plan()), submission(EVENT_KIND, an_event()))
    projector = Projector(made.journal, made.graph, made.generations, checkpoints=checkpoints)
    projector.start()
    try:
        assert projector.wait((1, 2), 30)
        return checkpoints.taken.wait(seconds)
    finally:
        projector.stop()
        made.close()


def test_a_due_checkpoint_is_taken_when_nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_CALM_SECONDS", 0.01)
    assert taken_by(Counted(overdue=False), 30)


def test_a_due_checkpoint_waits_for_a_calm_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_CALM_SECONDS", 3600.0)
    assert not taken_by(Counted(overdue=False), 0.3)


def test_an_overdue_checkpoint_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_CALM_SECONDS", 3600.0)
    assert taken_by(Counted(overdue=True), 30)


def test_a_kill_after_a_night_of_commands_starts_from_the_checkpoint_before_it(
    tmp_path: Path,
) -> None:
    made = project(daily("load", 1, "file:/raw", "file:/staged", range(20)), stepwise=False)

    def start() -> Projector:
        checkpoints = EngineCheckpoints(
            tmp_path, SavedMemoryGraph(made.graph), made.journal, every=10_000
        )
        return Projector(made.journal, made.graph, made.generations, checkpoints=checkpoints)

    projector = start()
    projector.work_until(lambda: False)
    projector._take_checkpoint()
    night = [
        command(Prune((Cutoff("default", "load", "", "file:/staged", START + day * DAY),), True))
        for day in range(1, 19)
    ]
    made.accept(*night)
    start().work_until(lambda: False)
    before = made.elements()
    assert made.catalogue.executions(limit=1).total == 2

    made.graph.clear()  # the engine and the service are killed
    killed = start()
    killed.prepare()
    assert made.journal.backlog().documents == len(night), "the documents after the checkpoint"
    killed.work_until(lambda: False)
    assert made.elements() == before
    made.close()
