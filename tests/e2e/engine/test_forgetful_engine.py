"""A service that is stopped, killed or out of memory comes back with its graph."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model import labels
from graph_model.errors import GraphUnavailable
from graph_model.facts import merge
from graph_model.producers.commands import Forget
from graph_model.projection.projector import Projector
from graph_model.projection.rebuilding import Phase
from graph_model.projection.writing import write_facts
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import Receipt
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.engine.supervisor import OUT_OF_MEMORY, Supervisor
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from graph_model.stores.journal import Journal
from tests.contract.facts_to_write import everything, facts, plan, vertex, whole
from tests.contract.gremlin_server import PATIENT
from tests.e2e.service import RunningHeadwater
from tests.projections import project
from tests.unit.graph_model.producers.test_commands import command
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event
from tests.unit.graph_model.projection.projector.test_projector import plan as plan_document
from tests.waiting import eventually

pytestmark = pytest.mark.engine


@pytest.fixture
def engine(gremlin_url: str, tmp_path: Path) -> Iterator[EmbeddedServer]:
    """An engine of the test's own; ``gremlin_url`` checks for Java."""
    server = EmbeddedServer(tmp_path / "engine", environment=os.environ, port=0, heap_mb=256)
    server.start()
    yield server
    server.stop()


# --- the engine alone ----------------------------------------------------------------------------


def test_a_graph_comes_back_after_its_engine_ended(engine: EmbeddedServer, tmp_path: Path) -> None:
    catalogue = Catalogue(open_database(tmp_path / "catalogue.db"))
    graph = ForgetfulGraph(open_graph(engine.url, limits=PATIENT), lambda: [catalogue.elements])
    odd = vertex(labels.DATASET, "odd", a=True, b=2**40, c=0.5, d="é'\n", e="", f=1)
    written = merge([plan("daily", columns=20, executions=5), facts(odd)])
    write_facts(graph, catalogue, written)
    assert graph.is_whole()
    engine.stop()
    engine.start()
    assert not graph.is_whole()
    graph.restore()
    assert everything(graph) == whole(written)
    removed = [one.id for one in written.vertices if one.label == labels.EXECUTION]
    graph.remove(removed, ())
    left = everything(graph)
    engine.stop()
    engine.start()
    graph.restore()
    assert everything(graph) == left
    graph.close()
    catalogue.close()


# --- engine, journal and projector ---------------------------------------------------------------


class Deployment:
    """The parts of ``serve``, without HTTP."""

    def __init__(self, engine: EmbeddedServer, folder: Path) -> None:
        self.engine = engine
        self.database = open_database(folder / "headwater.db")
        self.journal = Journal(self.database)
        self.generations = Generations(self.database, self.journal)
        self.graph = ForgetfulGraph(
            open_graph(engine.url, limits=PATIENT),
            lambda: [one.elements for one in self.generations.written],
        )

    def start(self) -> Projector:
        """A projector over an engine that has just been started, as after any end."""
        self.engine.stop()
        self.engine.start()
        return Projector(self.journal, self.graph, self.generations)

    def accept(self, *submissions: Any) -> tuple[int, ...]:
        return self.journal.accept(submissions, Receipt(0, "", "test", "raw"))

    def refill(self, projector: Projector) -> int:
        """How many subjects had to be projected until nothing was pending."""
        projector.prepare()
        projector._prepared = True
        done = 0
        while taken := projector.project_pending():
            done += taken
        return done

    def elements(self) -> list[str]:
        return everything(self.graph)

    def close(self) -> None:
        self.graph.close()
        self.generations.close()
        self.database.dispose()


@pytest.fixture
def deployment(engine: EmbeddedServer, tmp_path: Path) -> Iterator[Deployment]:
    made = Deployment(engine, tmp_path)
    yield made
    made.close()


def some_plans(count: int, first: int = 0) -> list[Any]:
    made = []
    for number in range(first, first + count):
        name = f"{number:08d}-0000-0000-0000-000000000000"
        made.append(plan_document(a_plan(id=name)))
        made.append(event(an_event(1_700_000_000_000 + number, planId=name)))
    return made


def test_after_any_end_of_the_engine_nothing_is_projected_again(deployment: Deployment) -> None:
    plans = some_plans(5)
    deployment.accept(*plans)
    deployment.refill(deployment.start())
    full = deployment.elements()
    assert len(full) > 10
    assert deployment.refill(deployment.start()) == 0
    assert deployment.elements() == full
    forgotten = plans[:2]
    keys = tuple({one.subject_key for one in forgotten})
    forget = Forget(keys, tuple(one.content_hash for one in forgotten))
    deployment.accept(command(forget))
    deployment.refill(deployment.start())
    left = deployment.elements()
    assert 10 < len(left) < len(full)
    assert deployment.refill(deployment.start()) == 0
    assert deployment.elements() == left


@pytest.mark.part("recovery")
@pytest.mark.parametrize("phase", [Phase.TRANSLATING, Phase.KEEPING, Phase.SWEEPING])
def test_an_engine_killed_before_at_or_after_the_switch_of_a_rebuild_has_everything_again(
    deployment: Deployment, phase: Phase
) -> None:
    """New documents come while it is dead, one of a known plan and one of a new one."""
    documents = [plan_document(a_plan()), *some_plans(25)]
    documents += [event(an_event(1_700_000_001_000)), *some_plans(1, 90)]
    deployment.accept(*documents[:-3])
    projector = deployment.start()
    deployment.refill(projector)
    projector.request_rebuild()
    projector.rebuild_step()
    while (progress := projector.progress) is None or progress.phase is not phase:
        projector.rebuild_step()
    assert deployment.engine.pid is not None
    os.kill(deployment.engine.pid, signal.SIGKILL)
    deployment.accept(*documents[-3:])
    with pytest.raises(GraphUnavailable):
        projector.work_until(lambda: False)
    deployment.engine.start()
    assert projector.work_until(lambda: False)
    progress = projector.progress
    assert progress is not None
    assert progress.phase is Phase.DONE
    assert deployment.graph.is_whole()
    fresh = project(documents, stepwise=False)
    assert deployment.elements() == everything(fresh.graph)
    fresh.close()


# --- the service ---------------------------------------------------------------------------------


def elements_in_engine(service: RunningHeadwater) -> int:
    graph = open_graph(f"ws://127.0.0.1:{service.gremlin_port}/gremlin", limits=PATIENT)
    try:
        return sum(graph.count())
    finally:
        graph.close()


def post_some(service: RunningHeadwater, first: int, count: int) -> None:
    for number in range(first, first + count):
        name = f"{number:08d}-0000-0000-0000-000000000000"
        service.post_plan(a_plan(id=name))
        service.post_events([an_event(1_700_000_000_000 + number, planId=name)])
    service.await_projected()


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_service_starts_with_the_graph_that_it_had(tmp_path: Path, end: str) -> None:
    service = RunningHeadwater(tmp_path / "data")
    try:
        service.start()
        post_some(service, 0, 3)
        before = service.get("/graph/overview")
        if end == "stopped":
            assert service.stop() == 0
        else:
            service.kill()
        service.start()
        assert service.get("/graph/overview")["nodes"] == before["nodes"]
        assert "the engine has its" in service.log
        memory = eventually(lambda: service.get("/health/ready")["checks"].get("memory"))
        assert memory.startswith(f"{elements_in_engine(service):,} elements fill")
        post_some(service, 3, 1)
        assert len(service.get("/journal")["items"]) == 8
    finally:
        if service.process is not None and service.process.poll() is None:
            service.kill()


@pytest.mark.part("recovery")
@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_service_whose_catalogue_was_lost_or_broken_comes_back_whole(
    tmp_path: Path, end: str
) -> None:
    service = RunningHeadwater(tmp_path / "data")
    try:
        service.start()
        post_some(service, 0, 3)
        before = service.get("/graph/overview")["nodes"]
        for number, said in enumerate(("missing or empty", "its file is damaged")):
            if end == "stopped":
                service.stop()
            else:
                service.kill()
            for file in service.data.glob("catalogue-*"):
                file.unlink()
                if said != "missing or empty" and file.suffix == ".db":
                    file.write_bytes(b"no database" * 1_000)
            service.start()
            assert service.get("/graph/overview")["nodes"] == before
            assert service.get("/journal", summary="true")["projected"] == 6
            assert said in service.log
            assert "catalogue" not in service.get("/health/ready")["checks"]
            assert len(list(service.data.glob("*_set_aside.db"))) == number
    finally:
        if service.process is not None and service.process.poll() is None:
            service.kill()


def acknowledged(service: RunningHeadwater, number: int) -> str | None:
    """The id of a plan that was answered 201 with its event; None when the service is gone."""
    name = f"{number:08d}-0000-0000-0000-000000000000"
    with suppress(OSError, HTTPException):
        service.post_plan(a_plan(id=name))
        service.post_events([an_event(1_700_000_000_000 + number, planId=name)])
        return name
    return None


def engine_of(service: RunningHeadwater) -> int:
    """The process id of the JVM of a running service."""
    assert service.process is not None
    owner = service.process.pid
    threads = Path(f"/proc/{owner}/task").iterdir()
    children = " ".join((each / "children").read_text() for each in threads).split()
    named = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in children}
    return int(next(pid for pid, name in named.items() if name == "java"))


def rebuilt(service: RunningHeadwater) -> tuple[str, str]:
    """The hash over all elements and rows before everything is projected anew, and after it."""
    service.post("/journal/rebuild", b"")
    done = eventually(lambda: (p := service.get("/journal/rebuild"))["phase"] == "done" and p)
    return done["before"], done["after"]


_PLANS: Final = 60


@pytest.mark.part("recovery")
@pytest.mark.parametrize("projected", [1, 30])
@pytest.mark.parametrize("end", ["stopped", "killed", "engine killed"])
def test_an_end_under_load_loses_no_document_and_projects_none_twice(
    tmp_path: Path, end: str, projected: int
) -> None:
    service = RunningHeadwater(tmp_path / "data")
    try:
        service.start()
        with ThreadPoolExecutor(4) as clients:
            posted = [clients.submit(acknowledged, service, number) for number in range(_PLANS)]
            eventually(lambda: service.get("/journal", summary="true")["projected"] >= projected)
            if end == "stopped":
                assert service.process is not None
                service.process.terminate()
                assert service.process.wait(60) == 0
            elif end == "killed":
                service.kill()
            else:
                os.kill(engine_of(service), signal.SIGKILL)
        taken = [name for done in posted if (name := done.result()) is not None]
        if end == "engine killed":
            assert len(taken) == _PLANS
            service.await_ready()
        else:
            service.start()
        assert service.await_projected()["received"] >= 2 * len(taken)
        for name in taken:
            assert service.get(f"/graph/plans/{name}")
        post_some(service, 0, _PLANS)  # clients repeat what was not acknowledged
        counts = service.get("/journal", summary="true")
        assert counts["received"] == counts["projected"] == 2 * _PLANS
        before, after = rebuilt(service)
        assert before == after
    finally:
        if service.process is not None and service.process.poll() is None:
            service.kill()


# --- out of memory -------------------------------------------------------------------------------


@pytest.mark.part("recovery")
def test_an_engine_out_of_memory_ends_with_its_own_code_and_is_explained(
    gremlin_url: str, tmp_path: Path
) -> None:
    engine = EmbeddedServer(tmp_path, environment=os.environ, port=0, heap_mb=48)
    with engine:
        supervisor = Supervisor(engine)
        graph = open_graph(engine.url, limits=PATIENT, explain=lambda: supervisor.failure)
        fill(graph, engine)
        assert engine.exit_code == OUT_OF_MEMORY
        with pytest.raises(GraphUnavailable, match="HEADWATER_GREMLIN_HEAP") as caught:
            graph.ping()
        assert "Neptune" in str(caught.value)
        assert supervisor.restart()
        assert engine.alive()
        fill(graph, engine)
        assert not supervisor.restart(), "it waits before it tries again"
        graph.close()


def fill(graph: GremlinGraph, engine: EmbeddedServer) -> None:
    """Write more than fits until the engine ends; a write that failed is repeated, as ever."""
    for number in range(400):
        texts = (f"{number} {each}" + "x" * 5_000 for each in range(99))
        each_day = (vertex("day", number, each, x=text) for each, text in enumerate(texts))
        try:
            graph.write(facts(*each_day))
        except GraphUnavailable:
            with suppress(AssertionError):  # not at an end yet: there is room for more
                eventually(lambda: not engine.alive(), 1.0)
                return
    pytest.fail("200 MB went into a heap of 48")
