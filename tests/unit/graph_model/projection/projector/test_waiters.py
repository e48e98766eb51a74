"""Whoever waits for documents is told from memory, as soon as the last of them is concluded."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph_model.producers.spline.documents import PLAN_KIND
from graph_model.projection.projector import Projector, readiness
from graph_model.projection.projector.readiness import Waiters
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from tests.builders import a_document
from tests.memory_graph import MemoryGraph
from tests.projections import (
    JournalOfProcesses,
    ProjectorOnDemand,
    SharedLease,
    SmallHeadwater,
    submission,
)

SOON = 60.0


def begun(waits: Waiters, positions: frozenset[int]) -> None:
    """Until somebody waits for exactly these."""
    while waits.awaited() != positions:
        pass


def test_documents_concluded_before_are_not_waited_for() -> None:
    waits = Waiters()
    waits.conclude([1, 2, 3])
    assert waits.wait([1, 3], 0.0)
    assert not waits.wait([3, 4], 0.0)


def test_a_waiter_is_told_when_the_last_of_its_documents_is_concluded() -> None:
    waits = Waiters()
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(waits.wait, [1, 2], SOON)
        begun(waits, frozenset({1, 2}))
        waits.conclude([2])
        begun(waits, frozenset({1}))
        assert not answer.done()
        waits.conclude([1, 9])
        assert answer.result(SOON)
    assert waits.awaited() == frozenset()


def test_each_waiter_is_told_of_its_own_documents_alone() -> None:
    waits = Waiters()
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(waits.wait, [1], SOON)
        second = threads.submit(waits.wait, [2], SOON)
        begun(waits, frozenset({1, 2}))
        waits.conclude([1])
        assert first.result(SOON)
        assert not second.done()
        waits.conclude([2])
        assert second.result(SOON)


def test_a_waiter_that_gives_up_is_no_longer_waited_with() -> None:
    waits = Waiters()
    assert not waits.wait([1], 0.0)
    assert waits.awaited() == frozenset()


def test_of_all_that_wait_one_looks_for_the_documents_of_all() -> None:
    now = [0.0]
    waits = Waiters(lambda: now[0])
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(waits.wait, [position], SOON) for position in (1, 2)]
        begun(waits, frozenset({1, 2}))
        assert waits.due([2], 0.2) == {1, 2}
        now[0] = 0.1
        assert waits.due([1], 0.2) == frozenset()
        now[0] = 0.2
        assert waits.due([3], 0.2) == {1, 2, 3}
        waits.conclude([1, 2])
        assert all(future.result(SOON) for future in waiting)


def test_documents_that_may_be_pending_again_are_waited_for_again() -> None:
    waits = Waiters()
    waits.conclude([1])
    waits.forget()
    assert not waits.wait([1], 0.0)


def test_the_oldest_are_forgotten_where_there_are_too_many() -> None:
    waits = Waiters()
    most = readiness._MOST_REMEMBERED
    for position in range(most + 1):
        waits.conclude([position])
    assert not waits.wait([0], 0.0)
    assert waits.wait([1], 0.0)
    assert waits.wait([most], 0.0)


def test_why_nothing_is_projected_is_told_only_while_nothing_is(headwater: SmallHeadwater) -> None:
    state = headwater.projector._readiness
    state.fail("no answer")
    assert headwater.projector.failure == "no answer"
    state.end()
    assert headwater.projector.failure is None


def test_a_pause_ends_when_somebody_begins_to_wait() -> None:
    waits = Waiters()
    with ThreadPoolExecutor(2) as threads:
        paused = threads.submit(waits.pause, 10 * SOON)
        answer = threads.submit(waits.wait, [1], SOON)
        paused.result(SOON)
        waits.conclude([1])
        assert answer.result(SOON)


def test_there_is_no_pause_while_somebody_waits() -> None:
    waits = Waiters()
    with ThreadPoolExecutor(2) as threads:
        answer = threads.submit(waits.wait, [1], SOON)
        begun(waits, frozenset({1}))
        threads.submit(waits.pause, 10 * SOON).result(SOON)
        waits.conclude([1])
        assert answer.result(SOON)


def test_a_pause_ends_where_nobody_waits() -> None:
    waits = Waiters()
    waits.pause(0.001)
    assert waits.awaited() == frozenset()


def test_a_projector_that_stops_pauses_no_longer() -> None:
    waits = Waiters()
    with ThreadPoolExecutor(1) as thread:
        paused = thread.submit(waits.pause, 10 * SOON)
        waits.end_pauses()
        paused.result(SOON)
    waits.pause(10 * SOON)
    assert waits.awaited() == frozenset()


def test_a_document_concluded_at_the_last_moment_is_not_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = Waiters()

    def time_out(waiter: threading.Event, timeout: float | None = None) -> bool:
        waits.conclude([1])  # right after the time ran out
        return False

    monkeypatch.setattr(threading.Event, "wait", time_out)
    assert waits.wait([1], SOON)


class SharedJournal(JournalOfProcesses):
    """Of several processes, one of which at a time projects."""

    def lease(self) -> SharedLease:  # type: ignore[override]
        return SharedLease(self)


def test_what_another_process_projected_is_seen_while_this_one_is_busy() -> None:
    """This process's projector does nothing at all, as if it were in a long round."""
    engine = open_database("sqlite://")
    journal, graph = SharedJournal(engine), MemoryGraph()
    generations = Generations(engine, journal)
    other = ProjectorOnDemand(journal, graph, generations)
    other.prepare()
    headwater = SmallHeadwater(journal, graph, generations, other)
    positions = headwater.accept(submission(PLAN_KIND, a_document()))
    busy = Projector(journal, graph, generations)
    assert not busy.wait(positions, 0.2)
    headwater.project()
    assert busy.wait(positions, SOON)
    headwater.close()
