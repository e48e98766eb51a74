"""A service that is stopped, killed or out of memory comes back with its graph."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from graph_model.errors import GraphUnavailable
from graph_model.producers.commands import Forget
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import SqlGenerations
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentState, Receipt
from graph_model.stores.gremlin.engine.checkpoints import MARK_KEY, EngineCheckpoints, read_mark
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.engine.supervisor import OUT_OF_MEMORY, Supervisor
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from graph_model.stores.journal import Journal
from tests.contract.facts_to_write import everything, facts, plan, vertex, whole
from tests.e2e.service import RunningHeadwater
from tests.unit.graph_model.producers.commands.test_commands import command
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event
from tests.unit.graph_model.projection.projector.test_projector import plan as plan_document
from tests.waiting import eventually

pytestmark = pytest.mark.engine
EPOCH = "e"


@pytest.fixture
def engine(gremlin_url: str, tmp_path: Path) -> Iterator[EmbeddedServer]:
    """An engine of the test's own; ``gremlin_url`` checks for Java."""
    server = EmbeddedServer(tmp_path / "engine", environment=os.environ, port=0, heap_mb=256)
    server.start()
    yield server
    server.stop()


# --- the engine alone ----------------------------------------------------------------------------


def test_a_graph_comes_back_from_its_checkpoint(engine: EmbeddedServer, tmp_path: Path) -> None:
    journal = Journal(open_database(tmp_path / "headwater.db"))
    graph = open_graph(engine.url)
    written = plan("daily", columns=20, executions=5)
    graph.write(written)
    assert EngineCheckpoints(engine.folder, graph, journal).take(EPOCH, lambda: 5)
    engine.stop()
    engine.start()
    assert graph.count() == (0, 0)
    assert EngineCheckpoints(engine.folder, graph, journal).restore(EPOCH) == 5
    assert everything(graph) == whole(written)
    graph.write(written)
    assert everything(graph) == whole(written)
    graph.close()
    journal.close()


def test_a_file_that_only_looks_like_a_checkpoint_is_a_rebuild(
    engine: EmbeddedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its digest is right, so the engine itself has to refuse it."""
    import hashlib

    journal = Journal(open_database(tmp_path / "headwater.db"))
    graph = open_graph(engine.url)
    graph.write(plan("daily"))
    checkpoints = EngineCheckpoints(engine.folder, graph, journal)
    assert checkpoints.take(EPOCH, lambda: 5)
    mark = read_mark(journal.get_meta(MARK_KEY))
    assert mark is not None
    file = engine.folder / mark.file
    half = file.read_bytes()[: mark.size // 2]
    file.write_bytes(half)
    changed = json.loads(str(journal.get_meta(MARK_KEY)))
    changed |= {"size": len(half), "digest": hashlib.sha256(half).hexdigest()}
    journal.set_meta(MARK_KEY, json.dumps(changed))
    assert checkpoints.restore(EPOCH) is None
    assert graph.count() == (0, 0)
    assert "everything is rebuilt" in caplog.text
    graph.close()
    journal.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
def test_a_full_disk_leaves_the_former_checkpoint_and_the_next_one_finds_room(
    engine: EmbeddedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(open_database(tmp_path / "headwater.db"))
    graph = open_graph(engine.url)
    graph.write(plan("daily"))
    checkpoints = EngineCheckpoints(engine.folder, graph, journal)
    assert checkpoints.take(EPOCH, lambda: 5)
    former = journal.get_meta(MARK_KEY)
    graph.write(facts(*(vertex("day", number, date="x" * 500) for number in range(2_000))))
    assert engine.pid is not None
    resource.prlimit(engine.pid, resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    assert not checkpoints.take(EPOCH, lambda: 9)
    assert "the former one stays" in caplog.text
    assert journal.get_meta(MARK_KEY) == former
    mark = read_mark(former)
    assert mark is not None
    assert [file.name for file in engine.folder.glob("checkpoint-*")] == [mark.file]

    infinite = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(engine.pid, resource.RLIMIT_FSIZE, infinite)
    assert checkpoints.take(EPOCH, lambda: 9)
    assert graph.count()[0] > 2_000
    graph.close()
    journal.close()


@pytest.mark.part("recovery")
def test_a_kill_in_the_middle_of_a_checkpoint_is_harmless(
    engine: EmbeddedServer, tmp_path: Path
) -> None:
    journal = Journal(open_database(tmp_path / "headwater.db"))
    graph = open_graph(engine.url)
    first = plan("daily")
    graph.write(first)
    checkpoints = EngineCheckpoints(engine.folder, graph, journal)
    assert checkpoints.take(EPOCH, lambda: 5)
    graph.write(facts(*(vertex("day", number, date="x" * 500) for number in range(20_000))))

    class Killing:
        """The graph, whose engine is killed as soon as the file of a checkpoint appears."""

        def save(self, path: Path) -> None:
            import threading

            def kill() -> None:
                eventually(path.exists)
                assert engine.pid is not None
                os.kill(engine.pid, 9)

            threading.Thread(target=kill).start()
            graph.save(path)

        def __getattr__(self, name: str) -> Any:
            return getattr(graph, name)

    killed = EngineCheckpoints(engine.folder, Killing(), journal)
    assert not killed.take(EPOCH, lambda: 9)
    engine.start()
    assert EngineCheckpoints(engine.folder, graph, journal).restore(EPOCH) == 5
    assert everything(graph) == whole(first)
    graph.close()
    journal.close()


# --- engine, journal and projector ---------------------------------------------------------------


class Deployment:
    """The parts of ``serve``, without HTTP; ``start`` and ``kill`` as often as one likes."""

    def __init__(self, engine: EmbeddedServer, folder: Path) -> None:
        self.engine = engine
        self.database = open_database(folder / "headwater.db")
        self.journal = Journal(self.database)
        self.generations = SqlGenerations(self.database, self.journal)
        self.graph = open_graph(engine.url)

    def start(self, *, every: int = 1) -> Projector:
        """A projector over an engine that has just been started, as after any end."""
        self.engine.stop()
        self.engine.start()
        checkpoints = EngineCheckpoints(self.engine.folder, self.graph, self.journal, every=every)
        return Projector(self.journal, self.graph, self.generations, checkpoints=checkpoints)

    def accept(self, *submissions: Any) -> tuple[int, ...]:
        return self.journal.accept(submissions, Receipt(0, "", "test", "raw"))

    def run(self, projector: Projector) -> None:
        """Prepare, project everything, and take the last checkpoint, on this thread."""
        self.refill(projector)
        projector.stop()

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


def test_after_a_clean_stop_nothing_is_projected_again(deployment: Deployment) -> None:
    deployment.accept(*some_plans(5))
    deployment.run(deployment.start())
    before = deployment.elements()
    assert len(before) > 10
    assert deployment.refill(deployment.start()) == 0
    assert deployment.elements() == before


def test_after_a_kill_only_documents_after_the_checkpoint_are_projected_again(
    deployment: Deployment,
) -> None:
    deployment.accept(*some_plans(5))
    deployment.run(deployment.start())
    deployment.accept(*some_plans(3, first=5))
    deployment.refill(deployment.start())
    before = deployment.elements()
    assert deployment.refill(deployment.start()) == 3  # killed: no stop, no checkpoint
    assert deployment.elements() == before


@pytest.mark.part("recovery")
def test_facts_that_a_command_removed_after_the_checkpoint_stay_away_after_a_kill(
    deployment: Deployment,
) -> None:
    plans = some_plans(5)
    deployment.accept(*plans)
    deployment.run(deployment.start())
    forgotten = plans[:2]
    keys = tuple({one.subject_key for one in forgotten})
    forget = Forget(keys, tuple(one.content_hash for one in forgotten))
    deployment.accept(command(forget))
    full = deployment.elements()
    deployment.refill(deployment.start())
    before = deployment.elements()
    assert 10 < len(before) < len(full)
    assert deployment.refill(deployment.start()) == 1  # killed: the command alone comes again
    assert deployment.elements() == before


@pytest.mark.part("recovery")
def test_an_event_that_waited_before_the_checkpoint_is_there_after_it(
    deployment: Deployment,
) -> None:
    plan_submission, event_submission = some_plans(1)
    deployment.accept(*some_plans(2, first=5), event_submission)
    deployment.run(deployment.start())
    deployment.accept(plan_submission)
    deployment.refill(deployment.start())
    before = deployment.elements()
    assert deployment.refill(deployment.start()) == 1
    assert deployment.elements() == before


@pytest.mark.part("recovery")
def test_a_document_replayed_after_the_checkpoint_is_there_after_a_kill(
    deployment: Deployment,
) -> None:
    """Its position lies before the checkpoint, which does not hold it."""
    submissions = some_plans(3)
    positions = deployment.accept(*submissions)
    deployment.journal.settle(positions[:2], DocumentState.FAILED, "a fault of ours")
    deployment.run(deployment.start())
    again = deployment.start()
    deployment.refill(again)
    partial = deployment.elements()
    again.replay([DocumentState.FAILED])
    while again.project_pending():
        pass
    before = deployment.elements()
    assert len(before) > len(partial)
    deployment.refill(deployment.start())
    assert deployment.elements() == before


@pytest.mark.part("recovery")
def test_a_plan_that_changed_after_the_checkpoint_is_the_new_one_after_a_kill(
    deployment: Deployment,
) -> None:
    """The checkpoint holds facts that were withdrawn since: they are withdrawn again."""
    name = "00000000-0000-0000-0000-000000000000"
    older = plan_document(a_plan(id=name), api_version="1.1")
    deployment.accept(older, event(an_event(planId=name)), *some_plans(2, first=5))
    deployment.run(deployment.start())
    with_older = deployment.elements()
    deployment.accept(plan_document(a_plan(id=name, name="another"), api_version="1.2"))
    deployment.refill(deployment.start())
    before = deployment.elements()
    assert before != with_older
    deployment.refill(deployment.start())
    assert deployment.elements() == before


@pytest.mark.part("recovery")
def test_a_bad_checkpoint_is_a_full_rebuild_and_says_so(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    deployment.accept(*some_plans(4))
    deployment.run(deployment.start())
    before = deployment.elements()
    (file,) = deployment.engine.folder.glob("checkpoint-*.kryo")
    file.write_bytes(file.read_bytes()[:-10])
    assert deployment.refill(deployment.start()) == 4
    assert deployment.elements() == before
    assert "everything is rebuilt" in caplog.text


@pytest.mark.part("recovery")
def test_without_checkpoints_everything_is_projected_again(deployment: Deployment) -> None:
    deployment.accept(*some_plans(4))
    deployment.run(deployment.start(every=0))
    assert list(deployment.engine.folder.glob("checkpoint-*")) == []
    assert deployment.refill(deployment.start(every=0)) == 4


# --- the service ---------------------------------------------------------------------------------


def elements_in_engine(service: RunningHeadwater) -> int:
    graph = open_graph(f"ws://127.0.0.1:{service.gremlin_port}/gremlin")
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


def mark_of(data: Path) -> dict[str, Any]:
    with sqlite3.connect(f"file:{data}/headwater.db?mode=ro", uri=True) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        meta = next(name for name in tables if "meta" in name)
        rows = list(database.execute(f"SELECT * FROM {meta}"))
    database.close()
    return dict(json.loads(next(row[1] for row in rows if row[0] == MARK_KEY) or "{}"))


def test_a_stopped_service_starts_from_its_checkpoint(tmp_path: Path) -> None:
    service = RunningHeadwater(tmp_path / "data")
    try:
        service.start()
        post_some(service, 0, 3)
        before = service.get("/graph/overview")
        assert service.stop() == 0
        assert mark_of(service.data)["position"] == 7
        service.start()
        assert service.get("/graph/overview")["nodes"] == before["nodes"]
        assert "the graph is back from its checkpoint" in service.log
        memory = eventually(lambda: service.get("/health/ready")["checks"].get("memory"))
        assert memory.startswith(f"{elements_in_engine(service):,} elements fill")
        post_some(service, 3, 1)
        service.kill()
        service.start()
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


# --- out of memory -------------------------------------------------------------------------------


@pytest.mark.part("recovery")
def test_an_engine_out_of_memory_ends_with_its_own_code_and_is_explained(
    gremlin_url: str, tmp_path: Path
) -> None:
    engine = EmbeddedServer(tmp_path, environment=os.environ, port=0, heap_mb=48)
    with engine:
        supervisor = Supervisor(engine)
        graph = open_graph(engine.url, explain=lambda: supervisor.failure)
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
        each_day = (vertex("day", number, each, x="x" * 5_000) for each in range(99))
        try:
            graph.write(facts(*each_day))
        except GraphUnavailable:
            with suppress(AssertionError):  # not at an end yet: there is room for more
                eventually(lambda: not engine.alive(), 1.0)
                return
    pytest.fail("200 MB went into a heap of 48")
