"""The graph carries the runs that its window wants, whatever came in which order and broke off."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_model import labels
from graph_model.errors import GraphUnavailable
from graph_model.facts import ExecutionRow, Vertex
from graph_model.producers.commands import Cutoff, Prune
from graph_model.projection import kept_runs
from graph_model.projection.projector import Projector
from graph_model.projection.projector.rebuild_control import REBUILD_KEY
from graph_model.projection.run_window import RUNS_KEY, RunWindow, read_carried, read_run_window
from graph_model.stores.documents import DocumentState, Submission
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, budget, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan
from tests.unit.graph_model.projection.test_crashes import command, forget, run_event

DAY = 86_400_000
START = 1_700_000_000_000
JOBS = ("first", "second")
WINDOWS = ("none", "newest:1", "newest:2", "newest:3", "newest:1000")
Step = tuple[Any, ...]


def plan_id(job: int) -> str:
    return f"{job}1111111-2222-5333-8444-555555555555"


def plans() -> list[Submission]:
    return [plan(a_plan(id=plan_id(at), name=name)) for at, name in enumerate(JOBS)]


def run(job: int, application: int, at: int) -> Submission:
    """``at``: thirds of a day. An application may run both jobs."""
    extra = {"appId": f"app-{application}", "readMetrics": {}, "writeMetrics": {}}
    return event(an_event(START + at * DAY // 3, planId=plan_id(job), extra=extra))


def prune(job: int, at: int) -> Submission:
    cutoff = Cutoff("default", JOBS[job], "", "file:/data/out", START + at * DAY // 3)
    return command(Prune((cutoff,), drop_bodies=True))


class FailingGraph:
    """Fails at the ``fails_at``-th write or removal, after it or before it."""

    def __init__(self, graph: MemoryGraph, fails_at: int, *, after: bool) -> None:
        self._graph = graph
        self._left = fails_at
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def write(self, facts: Any) -> None:
        self._meet(lambda: self._graph.write(facts))

    def remove(self, vertices: Any, edges: Any) -> None:
        self._meet(lambda: self._graph.remove(vertices, edges))

    def _meet(self, work: Any) -> None:
        self._left -= 1
        if self._left or self._after:
            work()
        if not self._left:
            raise GraphUnavailable("gone")


def wanted(rows: list[ExecutionRow], window: RunWindow) -> set[str]:
    """By looking at all of them."""
    kept = set()
    for job in {row.job for row in rows}:
        latest: dict[str, int] = {}
        for row in rows:
            if row.job == job:
                latest[row.run] = max(row.at, latest.get(row.run, row.at))
        ranked = sorted(latest, key=lambda one: (latest[one], one), reverse=True)
        kept |= {r.id for r in rows if r.job == job and r.run in ranked[: window.count]}
    return kept


def take_steps(headwater: SmallHeadwater) -> None:
    headwater.project()
    while headwater.projector.rebuild_step():
        pass


def restart(headwater: SmallHeadwater, window: RunWindow, graph: Any = None) -> None:
    headwater.projector = Projector(
        headwater.journal, graph or headwater.graph, headwater.generations, runs=window
    )
    headwater.projector.prepare()


def meet(headwater: SmallHeadwater, step: Step, window: RunWindow) -> RunWindow:
    kind, *values = step
    if kind == "run":
        headwater.accept(run(*values))
    elif kind == "forget":
        headwater.accept(run(*values), forget(run(*values)))
    elif kind == "prune":
        headwater.accept(prune(*values))
    elif kind == "window":
        window = read_run_window(values[0])
        restart(headwater, window)
    elif kind == "crash":
        fails_at, after, document = values
        restart(headwater, window, FailingGraph(headwater.graph, fails_at, after=after))
        headwater.accept(document)
        with suppress(GraphUnavailable):
            take_steps(headwater)
        restart(headwater, window)
    if kind != "wait":
        return window
    take_steps(headwater)
    return window


times = st.integers(0, 12)
runs = st.tuples(st.integers(0, 1), st.integers(0, 5), times)
steps = st.one_of(
    st.tuples(st.just("run"), runs).map(lambda one: (one[0], *one[1])),
    st.tuples(st.just("run"), runs).map(lambda one: (one[0], *one[1])),
    st.tuples(st.just("forget"), runs).map(lambda one: (one[0], *one[1])),
    st.tuples(st.just("prune"), st.integers(0, 1), times),
    st.tuples(st.just("window"), st.sampled_from(WINDOWS)),
    st.tuples(st.just("crash"), st.integers(1, 8), st.booleans(), runs.map(lambda r: run(*r))),
    st.just(("wait",)),
)


def rebuilt(headwater: SmallHeadwater) -> None:
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass


@pytest.mark.parametrize("read_at_once", [1, 5_000], ids=["some are not read", "all are read"])
@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(WINDOWS), st.lists(steps, max_size=14))
def test_a_running_projection_equals_a_fresh_one_and_a_rebuild(
    read_at_once: int, monkeypatch: pytest.MonkeyPatch, setting: str, met: list[Step]
) -> None:
    monkeypatch.setattr(kept_runs, "_AT_A_VERTEX", read_at_once)
    monkeypatch.setattr(kept_runs, "_ROWS_A_PAGE", min(read_at_once + 1, 1_000))
    window = read_run_window(setting)
    headwater = small_headwater(window)
    headwater.accept(*plans())
    headwater.project()
    for step in met:
        window = meet(headwater, step, window)
    take_steps(headwater)
    lived = headwater.elements()
    executions = {e.id for e in lived[0] if isinstance(e, Vertex) and e.label == labels.EXECUTION}
    assert executions == wanted([r for r in lived[1] if isinstance(r, ExecutionRow)], window)
    rebuilt(headwater)
    progress = headwater.projector.progress
    assert progress is not None
    assert progress.before == progress.after is not None
    assert headwater.elements() == lived
    headwater.graph.clear()
    restart(headwater, window)
    take_steps(headwater)
    assert headwater.elements() == lived
    headwater.close()


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = small_headwater(RunWindow(3))
    made.accept(*plans())
    yield made
    made.close()


def count_of(headwater: SmallHeadwater, label: str) -> int:
    return sum(isinstance(e, Vertex) and e.label == label for e in headwater.graph.scan())


def test_the_graph_does_not_grow_with_runs(headwater: SmallHeadwater) -> None:
    counts = []
    for number in range(20):
        headwater.accept(run(0, number, 3 * number))
        headwater.project()
        counts.append(headwater.graph.count())
    assert len(set(counts[3:])) == 1
    assert count_of(headwater, labels.RUN) == 3


def test_a_stream_is_one_run_and_is_bounded(headwater: SmallHeadwater) -> None:
    extra = {"appId": "a stream", "readMetrics": {}, "writeMetrics": {}}
    headwater.accept(
        *(
            event(an_event(START + number * 60_000, planId=plan_id(0), extra=extra))
            for number in range(320)
        )
    )
    headwater.project()
    assert count_of(headwater, labels.EXECUTION) == 300


@pytest.mark.parametrize("setting", ["none", "newest:3"])
def test_a_prune_of_runs_that_the_graph_does_not_carry_removes_nothing_there(setting: str) -> None:
    headwater = small_headwater(read_run_window(setting))
    headwater.accept(*plans(), *(run(0, number, 3 * number) for number in range(20)))
    take_steps(headwater)
    removed: list[str] = []

    def remove(vertices: Collection[str], edges: Collection[str]) -> None:
        removed.extend((*vertices, *edges))

    headwater.graph.remove = remove  # type: ignore[method-assign]
    headwater.accept(prune(0, 45))
    headwater.project()
    assert len(headwater.catalogue.executions(limit=20).items) == 5
    assert not removed
    headwater.close()


def test_another_setting_is_taken_up_without_projecting_anything_anew(
    headwater: SmallHeadwater,
) -> None:
    headwater.accept(*(run(0, number, number) for number in range(9)))
    headwater.project()
    catalogue = headwater.catalogue
    for text, left in (("newest:9", 9), ("newest:2", 2), ("none", 0), ("newest:3", 3)):
        restart(headwater, read_run_window(text))
        take_steps(headwater)
        assert count_of(headwater, labels.EXECUTION) <= left
        assert (headwater.journal.get_meta(RUNS_KEY) or "").split()[0] == text
    assert headwater.catalogue is catalogue


def test_documents_that_another_process_has_taken_up_are_not_taken_up_again(
    headwater: SmallHeadwater,
) -> None:
    headwater.accept(*(run(0, number, number) for number in range(9)))
    headwater.project()
    window = read_run_window("newest:1")
    restart(headwater, window)
    beside = headwater.projector
    restart(headwater, window)
    take_steps(headwater)
    written: list[Any] = []
    headwater.graph.write = written.append  # type: ignore[method-assign]
    assert not beside.rebuild_step()
    assert not written


# --- two services on one graph -------------------------------------------------------------------


def beside(headwater: SmallHeadwater, window: RunWindow) -> Projector:
    """Another service on the same journal, catalogue and graph."""
    made = Projector(headwater.journal, headwater.graph, headwater.generations, runs=window)
    made.prepare()
    return made


def work(projector: Projector) -> None:
    while projector.project_pending() or projector.rebuild_step():
        pass


def executions_in(headwater: SmallHeadwater) -> set[str]:
    vertices = (e for e in headwater.graph.scan() if isinstance(e, Vertex))
    return {e.id for e in vertices if e.label == labels.EXECUTION}


def executions_of(headwater: SmallHeadwater) -> list[ExecutionRow]:
    return [row for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)]


@pytest.mark.parametrize("former", ["newest:1", "newest:1000", "none"])
@pytest.mark.parametrize("latter", ["newest:2", "newest:1000", "none"])
def test_no_document_fails_while_services_of_one_graph_have_different_settings(
    former: str, latter: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    headwater = small_headwater(read_run_window(former))
    taken = headwater.accept(run_event("START", 30, "t"), run_event("START", 31, "t", "g"))
    work(headwater.projector)
    other = beside(headwater, read_run_window(latter))
    taken += headwater.accept(run_event("RUNNING", 40, "u"))
    work(other)
    # a further event revises its run, and withdraws the facts that it has no more
    taken += headwater.accept(run_event("COMPLETE", 50, "v"), run_event("COMPLETE", 51, "v", "g"))
    work(headwater.projector)
    work(other)
    states = headwater.journal.states(taken)
    assert set(states.values()) == {DocumentState.PROJECTED}
    assert headwater.journal.get_meta(REBUILD_KEY) in {None, "none"}
    window = read_run_window(latter)
    assert read_carried(headwater.journal.get_meta(RUNS_KEY)).asked == window
    assert executions_in(headwater) == wanted(executions_of(headwater), window)
    follows = [message for message in caplog.messages if "another service" in message]
    assert len(follows) == (former != latter)
    headwater.close()


met_by_one = st.sampled_from(("nothing", "run", "forget", "rebuild"))
service = st.tuples(st.integers(0, 1), met_by_one, runs)


@budget(50)
@given(st.sampled_from(WINDOWS), st.sampled_from(WINDOWS), st.lists(service, max_size=14))
def test_services_of_different_settings_leave_the_runs_that_one_of_them_asks_for(
    former: str, latter: str, met: list[Step]
) -> None:
    headwater = small_headwater(read_run_window(former))
    headwater.accept(*plans())
    work(headwater.projector)
    services = (headwater.projector, beside(headwater, read_run_window(latter)))
    for number, kind, values in met:
        if kind in {"run", "forget"}:
            headwater.accept(run(*values))
        if kind == "forget":
            headwater.accept(forget(run(*values)))
        if kind == "rebuild" and headwater.journal.get_meta(REBUILD_KEY) in {None, "none"}:
            services[number].request_rebuild()
        services[number].project_pending()
        services[number].rebuild_step()
    for item in services * 3:  # one gives way while the other rebuilds
        work(item)
    carried = read_carried(headwater.journal.get_meta(RUNS_KEY))
    assert str(carried.asked) == latter
    assert not carried.moving
    assert executions_in(headwater) == wanted(executions_of(headwater), carried.asked)
    headwater.close()


@pytest.mark.parametrize("noted", ["weeks:3 of a newer Headwater", "days:90 1700006400000", "all"])
def test_a_note_of_another_version_fails_no_document_and_is_replaced(
    headwater: SmallHeadwater, noted: str
) -> None:
    headwater.project()
    headwater.journal.set_meta(RUNS_KEY, noted)
    taken = headwater.accept(run(0, 1, 1))
    take_steps(headwater)
    assert headwater.journal.states(taken) == {taken[0]: DocumentState.PROJECTED}
    restart(headwater, RunWindow(1))
    take_steps(headwater)
    assert headwater.journal.get_meta(RUNS_KEY) == "newest:1"


def test_a_change_that_an_interrupted_service_had_begun_another_one_completes(
    headwater: SmallHeadwater,
) -> None:
    headwater.accept(*(run(job, number, number) for number in range(9) for job in (0, 1)))
    work(headwater.projector)
    interrupted = beside(headwater, read_run_window("newest:1"))
    assert interrupted.rebuild_step()
    headwater.accept(run(0, 10, 10))
    work(headwater.projector)
    one_a_job = wanted(executions_of(headwater), RunWindow(1))
    assert executions_in(headwater) == one_a_job
