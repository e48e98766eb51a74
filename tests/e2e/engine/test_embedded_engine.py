"""The embedded engine as a process: started, killed, restarted, orphaned, and kept to itself."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from gremlin_python.driver.client import Client
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.driver.serializer import GraphSONSerializersV3d0
from gremlin_python.process.graph_traversal import __
from gremlin_python.process.traversal import Bytecode, T
from gremlin_python.statics import GremlinType

from graph_model import labels
from graph_model.errors import (
    ConfigurationError,
    EngineError,
    GraphRejected,
    GraphTimeout,
    GraphUnavailable,
)
from graph_model.facts import Edge, Facts, is_marker, merge, stages
from graph_model.stores.gremlin import traversals
from graph_model.stores.gremlin.connection import Connections, Limits
from graph_model.stores.gremlin.dialect import EMBEDDED, NEPTUNE, Dialect
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from tests.contract.facts_to_write import everything, facts, plan, vertex, visible_plans, whole
from tests.contract.gremlin_server import PATIENT
from tests.waiting import eventually

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[3]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def engine(gremlin_url: str, tmp_path: Path) -> Iterator[EmbeddedServer]:
    """An engine of the test's own, to be maltreated; ``gremlin_url`` checks for Java."""
    server = EmbeddedServer(tmp_path / "engine", environment=os.environ, port=0, heap_mb=256)
    yield server
    server.stop()


# --- living and dying ----------------------------------------------------------------------------


def test_a_started_engine_answers_and_a_stopped_one_is_gone(engine: EmbeddedServer) -> None:
    engine.start()
    pid = engine.pid
    assert pid is not None
    graph = open_graph(engine.url, limits=PATIENT)
    graph.ping()
    graph.close()
    engine.start()
    assert engine.pid == pid
    engine.stop()
    assert not engine.alive()
    assert not is_running(pid)
    engine.stop()


def test_a_killed_engine_is_noticed_and_one_started_again_is_found_by_old_connections(
    engine: EmbeddedServer,
) -> None:
    engine.start()
    assert engine.pid is not None
    graph = open_graph(engine.url, limits=replace(PATIENT, connections=2))
    written = plan("daily")
    graph.write(written)
    os.kill(engine.pid, signal.SIGKILL)
    eventually(lambda: not engine.alive())
    with pytest.raises(GraphUnavailable):
        graph.count()
    engine.start()  # on the port it had
    assert graph.count() == (0, 0)
    graph.write(written)
    assert everything(graph) == whole(written)
    graph.close()


def test_the_engine_ends_with_an_owner_that_was_killed(gremlin_url: str, tmp_path: Path) -> None:
    """Also when a forked child of the owner lives on and holds a copy of the pipe."""
    script = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from graph_model.stores.gremlin.engine.server import EmbeddedServer\n"
        "server = EmbeddedServer(Path(sys.argv[1]), environment=os.environ, port=0, heap_mb=128)\n"
        "server.start()\n"
        "child = os.fork()\n"
        "if child:\n"
        "    print(server.pid, child, flush=True)\n"
        "time.sleep(120)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner.stdout:
        engine, child = map(int, owner.stdout.readline().split())
    assert is_running(engine)
    owner.kill()
    owner.wait()
    try:
        assert is_running(child)
        eventually(lambda: not is_running(engine))
    finally:
        os.kill(child, signal.SIGKILL)


def test_an_engine_outlives_the_thread_that_started_it_and_ctrl_c_is_left_to_the_owner(
    engine: EmbeddedServer,
) -> None:
    thread = threading.Thread(target=engine.start)
    thread.start()
    thread.join()
    time.sleep(0.3)
    assert engine.alive()
    assert engine.pid is not None
    assert os.getpgid(engine.pid) != os.getpgid(0)


# --- starting badly ------------------------------------------------------------------------------


def test_another_program_on_the_port_is_not_taken_for_the_engine(gremlin_url: str) -> None:
    """The shared engine plays the other program: it would even answer."""
    port = int(gremlin_url.split(":")[2].partition("/")[0])
    server = EmbeddedServer(Path("/nowhere"), environment=os.environ, port=port)
    with pytest.raises(ConfigurationError, match=f"port {port}.*GREMLIN_PORT"):
        server.start()
    assert not server.alive()


def test_a_port_taken_while_the_engine_starts_is_said_plainly(
    engine: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.stores.gremlin.engine.server.check_port", lambda port: None)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        engine.port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {engine.port}.*GREMLIN_PORT"):
            engine.start()
    assert not engine.alive()


def test_an_engine_that_dies_at_start_shows_the_end_of_its_log(
    engine: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "graph_model.stores.gremlin.engine.server.server_settings",
        lambda *_: "x.Y: [",
    )
    with pytest.raises(EngineError, match=r"x\.Y"):
        engine.start()
    assert not engine.alive()


def test_an_engine_that_is_too_slow_is_given_up(engine: EmbeddedServer, tmp_path: Path) -> None:
    slow = EmbeddedServer(tmp_path / "slow", environment=os.environ, port=0, start_seconds=0.1)
    with pytest.raises(EngineError, match=r"0\.1 s"):
        slow.start()
    assert not slow.alive()
    assert slow.pid is None


def test_a_folder_that_cannot_be_written_is_named(gremlin_url: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    server = EmbeddedServer(tmp_path / "file" / "engine", environment=os.environ, port=0)
    with pytest.raises(ConfigurationError, match="file"):
        server.start()


# --- the permissions of others -------------------------------------------------------------------


def answers(url: str, question: str, **options: Any) -> list[Any]:
    client = Client(url, "g", **options)
    try:
        found: list[Any] = client.submit(question).all().result()
        return found
    finally:
        client.close()


def test_text_questions_of_notebooks_are_answered(
    gremlin_graph: GremlinGraph, gremlin_url: str
) -> None:
    gremlin_graph.write(plan("daily"))
    question = (
        "g.V().hasLabel('job').out('has').hasLabel('logical_plan').out('feeds').values('uri')"
    )
    assert answers(gremlin_url, question) == ["file:/daily"]
    assert answers(gremlin_url, question, message_serializer=GraphSONSerializersV3d0()) == [
        "file:/daily"
    ]
    assert answers(gremlin_url, "g.V().hasLabel('job').elementMap()") != []
    assert answers(
        gremlin_url,
        "g.V().hasLabel('dataset').repeat(__.out('feeds')).emit().times(3).path().limit(5)",
    )


@pytest.mark.parametrize("language", ["gremlin-groovy", "gremlin-lang", "groovy", "plain"])
def test_no_language_but_gremlin_is_spoken(gremlin_url: str, language: str) -> None:
    client = Client(gremlin_url, "g")
    try:
        with pytest.raises(GremlinServerError):
            client.submit(
                "new File('/etc/hostname').text", request_options={"language": language}
            ).all().result()
    finally:
        client.close()


def test_a_session_brings_no_engine_of_its_own(gremlin_url: str) -> None:
    client = Client(gremlin_url, "g", session="mine")
    try:
        with pytest.raises(GremlinServerError, match="session"):
            client.submit("new File('/etc/hostname').text").all().result()
    finally:
        client.close()


def test_lambdas_are_not_run(gremlin_url: str) -> None:
    connections = Connections(gremlin_url, EMBEDDED, limits=PATIENT)
    request = Bytecode()
    request.add_step("inject", 1)
    request.add_step("map", lambda: ("x -> new File('/etc/hostname').text", "gremlin-groovy"))
    with pytest.raises(GraphRejected):
        connections.submit(request)
    connections.close()


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://pages.example", False),
        ("http://127.0.0.1.pages.example:8182", False),
        ("null", False),
        ("file://", False),
        ("not an origin", False),
        ("http://localhost:8888", True),
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        (None, True),
    ],
)
def test_only_pages_of_this_machine_may_connect(
    gremlin_url: str, origin: str | None, allowed: bool
) -> None:
    """A browser opens WebSockets for any page; the Origin tells whose it is."""
    connections = Connections(
        gremlin_url, EMBEDDED, limits=PATIENT, headers=lambda: {"Origin": origin} if origin else {}
    )
    try:
        if allowed:
            assert connections.submit(traversals.ping()) == [1]
        else:
            with pytest.raises(GraphUnavailable, match="HTTP 403"):
                connections.submit(traversals.ping())
    finally:
        connections.close()


@pytest.mark.parametrize("path", ["/", "/status", "/gremlin", "/gremlin?gremlin=g.V().drop()"])
def test_plain_http_is_answered_with_a_refusal_and_changes_nothing(
    gremlin_graph: GremlinGraph, gremlin_url: str, path: str
) -> None:
    """Notebooks ask for /status and /gremlin/profile, which are Neptune's."""
    gremlin_graph.write(plan("daily"))
    before = gremlin_graph.count()
    host = gremlin_url.removeprefix("ws://").removesuffix("/gremlin")
    for method in ("GET", "POST"):
        reply = requests.request(method, f"http://{host}{path}", timeout=60)
        assert reply.status_code == 426
        assert "WebSocket" in reply.text
    assert gremlin_graph.count() == before


def test_a_handshake_on_another_path_is_answered(gremlin_url: str) -> None:
    connections = Connections(
        gremlin_url.removesuffix("gremlin") + "other", EMBEDDED, limits=PATIENT
    )
    with pytest.raises(GraphUnavailable, match="HTTP 426"):
        connections.submit(traversals.ping())
    connections.close()


def test_a_handshake_without_end_is_cut_off(gremlin_url: str) -> None:
    port = int(gremlin_url.split(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
        raw.sendall(b"GET /gremlin HTTP/1.1\r\n" + b"X: y\r\n" * 5000)
        with contextlib.suppress(ConnectionResetError):
            assert raw.recv(1000) == b""


# --- the read port -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def doors(gremlin_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """An engine with a port for readers; ``gremlin_url`` checks for Java."""
    server = EmbeddedServer(
        tmp_path_factory.mktemp("doors"), environment=os.environ, port=0, read_port=0, heap_mb=256
    )
    with server:
        yield server


@pytest.fixture
def read_url(doors: EmbeddedServer) -> Iterator[str]:
    """The read port; both ports show one plan before and after each test."""
    assert doors.read_url is not None
    written = plan("daily", executions=2)
    writer, reader = (
        open_graph(doors.url, limits=PATIENT),
        open_graph(doors.read_url, limits=PATIENT),
    )
    writer.clear()
    writer.write(written)
    assert everything(reader) == whole(written)
    yield doors.read_url
    assert everything(writer) == everything(reader) == whole(written)
    writer.close()
    reader.close()


WRITES = [
    "g.addV('job')",
    "g.V().drop()",
    "g.E().drop()",
    "g.V().properties().drop()",
    "g.V().property('name', 'other')",
    "g.mergeV([(T.id): 'new', (T.label): 'job'])",
    "g.mergeE([(T.label): 'has', (Direction.OUT): 'x', (Direction.IN): 'y'])",
    "g.V().as('a').addE('has').to('a')",
    "g.V().sideEffect(__.drop())",
    "g.inject(1).union(__.addV('job'), __.identity())",
    "g.inject(1).coalesce(__.V('nobody'), __.addV('job'))",
    "g.V().where(__.property('name', 'other'))",
    "g.V().has('name', __.addV('job'))",
    "g.io('stolen.json').write()",
    "g.io('stolen.json').read()",
]


@pytest.mark.parametrize("question", WRITES)
def test_the_read_port_refuses_each_write_as_text(read_url: str, question: str) -> None:
    with pytest.raises(GremlinServerError, match="only reads"):
        answers(read_url, question)


BYTECODE_WRITES: list[tuple[tuple[Any, ...], ...]] = [
    (("addV", "job"),),
    (("V",), ("drop",)),
    (("V",), ("property", "name", "other")),
    (("mergeV", {T.id: "new", T.label: "job"}),),
    (("V",), ("map", __.add_v("job"))),
    (("io", "stolen.json"), ("write",)),
    (("io", "stolen.json"), ("read",)),
]


@pytest.mark.parametrize("steps", BYTECODE_WRITES, ids=str)
def test_the_read_port_refuses_each_write_as_bytecode(
    read_url: str, steps: tuple[tuple[Any, ...], ...]
) -> None:
    connections = Connections(read_url, EMBEDDED, limits=PATIENT)
    asked = [Bytecode(), without("UpsertsLookUpIds"), without(READ_ONLY_STRATEGY)]
    for request in asked:
        for name, *arguments in steps:
            request.add_step(name, *arguments)
        with pytest.raises(GraphRejected, match="only reads"):
            connections.submit(request)
    connections.close()


@pytest.mark.parametrize(
    "question",
    [
        "g.V().repeat(both()).times(20).elementMap().fold()",
        "g.V().repeat(both()).times(20).group().by(label)",
        "g.V().repeat(both()).times(12).path().by(elementMap()).fold()",
    ],
)
def test_a_traversal_that_fills_the_heap_fails_and_the_engine_lives(
    read_url: str, doors: EmbeddedServer, question: str
) -> None:
    """It ended the engine for everybody. On a slow machine its time is over first."""
    pid = doors.pid
    bounds = r"fills the memory|after 30 seconds|evaluationTimeout|folds at most 1000000"
    with pytest.raises(GremlinServerError, match=bounds):
        answers(read_url, question)
    assert doors.pid == pid
    assert doors.alive()


def test_a_loop_of_a_million_rounds_ends_and_the_read_port_answers_on(read_url: str) -> None:
    """It was written out step by step, which no bound ended: the port answered nobody any more.
    On busy cores it may meet the bound of an evaluation.
    """
    with contextlib.suppress(GremlinServerError):
        answers(read_url, "g.inject(1).fold().repeat(unfold().fold()).times(1000000).count()")
    assert answers(read_url, "g.inject(1).count()") == [1]


def test_no_request_takes_the_bounds_of_the_read_port_away(read_url: str) -> None:
    connections = Connections(read_url, EMBEDDED, limits=PATIENT)
    request = without("ReadBounds")
    request.add_step("V")
    with pytest.raises(GraphRejected, match="withoutStrategies"):
        connections.submit(request)
    connections.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("g.V().hasLabel('job').out('has').hasLabel('day')", "g.V().hasLabel('day')"),
        ("g.V().as('a').out().as('b').select('a', 'b').count()", "g.E().count()"),
        ("g.V().hasLabel('job').repeat(out()).until(__.not(out())).path().count().is(gt(0)).count()",
         "g.inject(1)"),
        ("g.V().where(__.out('feeds')).count()", "g.E().hasLabel('feeds').outV().dedup().count()"),
    ],
)  # fmt: skip
def test_questions_within_the_bounds_have_their_answers(
    read_url: str, question: str, expected: str
) -> None:
    assert answers(read_url, question) == answers(read_url, expected)


READ_ONLY_STRATEGY = (
    "org.apache.tinkerpop.gremlin.process.traversal.strategy.verification.ReadOnlyStrategy"
)


def test_no_request_takes_away_that_the_read_port_only_reads(read_url: str) -> None:
    connections = Connections(read_url, EMBEDDED, limits=PATIENT)
    request = without("OnlyReads")
    request.add_step("addV", "job")
    with pytest.raises(GraphRejected, match="withoutStrategies"):
        connections.submit(request)
    connections.close()


def test_no_port_runs_a_graph_computer(read_url: str, doors: EmbeddedServer) -> None:
    """One that began left a graph that answered nothing any more."""
    for url in (doors.url, read_url):
        connections = Connections(url, EMBEDDED, limits=PATIENT)
        request = Bytecode()
        request.add_source("withComputer")
        for name in ("V", "pageRank"):
            request.add_step(name)
        with pytest.raises(GraphRejected, match="withComputer"):
            connections.submit(request)
        connections.close()


def test_the_read_port_runs_no_graph_computer_where_nothing_verifies_it(read_url: str) -> None:
    package = "org.apache.tinkerpop.gremlin.process.traversal.strategy.verification."
    connections = Connections(read_url, EMBEDDED, limits=PATIENT)
    request = without(f"{package}ComputerVerificationStrategy")
    request.add_source("withoutStrategies", GremlinType(f"{package}StandardVerificationStrategy"))
    for name in ("V", "pageRank"):
        request.add_step(name)
    with pytest.raises(GraphRejected, match="only reads"):
        connections.submit(request)
    connections.close()


@pytest.mark.parametrize("alias", ["graph", "w", "writable"])
def test_the_read_port_knows_no_other_name_for_the_graph(read_url: str, alias: str) -> None:
    connections = Connections(read_url, EMBEDDED, limits=PATIENT, source=alias)
    with pytest.raises(GraphRejected, match="not configured"):
        connections.submit(traversals.ping())
    connections.close()
    client = Client(read_url, alias)
    try:
        with pytest.raises(GremlinServerError):
            client.submit("g.addV('job')").all().result()
    finally:
        client.close()


@pytest.mark.parametrize("language", ["gremlin-groovy", "gremlin-lang", "groovy"])
@pytest.mark.parametrize(
    "script", ["new File('/etc/hostname').text", "graph.addVertex()", "g.getGraph().close()"]
)
def test_the_read_port_runs_no_scripts(read_url: str, language: str, script: str) -> None:
    client = Client(read_url, "g")
    try:
        with pytest.raises(GremlinServerError):
            client.submit(script, request_options={"language": language}).all().result()
    finally:
        client.close()
    session = Client(read_url, "g", session="mine")
    try:
        with pytest.raises(GremlinServerError, match="session"):
            session.submit("g.addV('job')").all().result()
    finally:
        session.close()


def test_the_read_port_answers_questions_and_sees_each_write_at_once(
    read_url: str, doors: EmbeddedServer
) -> None:
    later = plan("later")
    writer = open_graph(doors.url, limits=PATIENT)
    question = "g.V().hasLabel('job').count()"
    assert answers(read_url, question) == [1]
    for _ in range(3):
        writer.write(later)
        assert answers(read_url, question) == [2]
        writer.remove([each.id for each in later.vertices if each.label == labels.JOB], [])
        assert answers(read_url, question) == [1]
    writer.clear()
    writer.write(plan("daily", executions=2))
    writer.close()
    assert answers(read_url, "g.V().hasLabel('job').profile()") != []


def test_the_read_port_stays_where_it_was_when_the_engine_is_started_again(
    engine: EmbeddedServer,
) -> None:
    engine.read_port = 0
    engine.start()
    at = engine.read_url
    assert at is not None
    assert engine.port != engine.read_port
    engine.stop()
    engine.start()
    assert engine.read_url == at
    with pytest.raises(GremlinServerError, match="only reads"):
        answers(at, "g.addV('job')")


def test_an_engine_without_a_read_port_has_no_address_for_readers(engine: EmbeddedServer) -> None:
    assert engine.read_url is None


def test_a_read_port_that_is_taken_is_named_with_its_setting(
    gremlin_url: str, engine: EmbeddedServer
) -> None:
    engine.read_port = int(gremlin_url.split(":")[2].partition("/")[0])
    with pytest.raises(ConfigurationError, match="HEADWATER_GREMLIN_READ_PORT"):
        engine.start()


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["read", "write"])
def test_no_request_reads_or_writes_a_file(gremlin_url: str, tmp_path: Path, step: str) -> None:
    outside = tmp_path / "outside.json"
    connections = Connections(gremlin_url, EMBEDDED, limits=PATIENT)
    for request, words in (
        (Bytecode(), "io"),
        (without("NoFiles"), "withoutStrategies"),
        (without("UpsertsLookUpIds"), "withoutStrategies"),
    ):
        request.add_step("io", str(outside))
        request.add_step(step)
        with pytest.raises(GraphRejected, match=words):
            connections.submit(request)
    connections.close()
    assert not outside.exists()


def without(strategy: str) -> Bytecode:
    """``g.withoutStrategies(strategy)``."""
    request = Bytecode()
    request.add_source("withoutStrategies", GremlinType(strategy))
    return request


# --- limits --------------------------------------------------------------------------------------


def test_a_question_without_end_is_a_timeout_and_the_next_is_answered(gremlin_url: str) -> None:
    connections = Connections(gremlin_url, EMBEDDED, limits=Limits(connections=1))
    endless = Bytecode()
    endless.add_step("inject", 1)
    endless.add_step("repeat", __.identity())
    endless.add_step("until", __.is_(2))
    with pytest.raises(GraphTimeout):
        connections.submit(endless, seconds=0.3)
    assert connections.submit(traversals.ping()) == [1]
    connections.close()


def test_an_element_larger_than_the_engine_takes_is_rejected(
    gremlin_graph: GremlinGraph,
) -> None:
    with pytest.raises(GraphRejected):
        gremlin_graph.write(facts(vertex(labels.DATASET, "large", text="x" * (65 << 20))))
    gremlin_graph.ping()


def test_elements_of_a_megabyte_each_are_split_into_requests(gremlin_graph: GremlinGraph) -> None:
    written = facts(*(vertex(labels.DATASET, each, text="é" * (1 << 19)) for each in range(20)))
    gremlin_graph.write(written)
    assert everything(gremlin_graph) == whole(written)


# --- interrupted writes --------------------------------------------------------------------------


class Failing(Connections):
    """Works for a number of requests, then the line is dead."""

    def __init__(self, url: str, dialect: Dialect, works: int) -> None:
        super().__init__(url, dialect)
        self.works = works

    def submit(self, request: Bytecode, *, seconds: float | None = None) -> list[Any]:
        self.works -= 1
        if self.works < 0:
            raise GraphUnavailable("the line is dead")
        return super().submit(request, seconds=seconds)


@pytest.mark.parametrize("dialect", [EMBEDDED, NEPTUNE], ids=lambda each: each.name)
def test_a_write_that_fails_anywhere_leaves_no_marker_without_its_plan(
    gremlin_graph: GremlinGraph, gremlin_url: str, dialect: Dialect
) -> None:
    written = merge([plan("one", executions=2), plan("other")])
    small = replace(dialect, batch_elements=4)
    works = complete = 0
    while not complete:
        gremlin_graph.clear()
        graph = GremlinGraph(Failing(gremlin_url, small, works))
        try:
            graph.write(written)
            complete = works
        except GraphUnavailable:
            check_markers_promise_no_more_than_there_is(gremlin_graph, written)
        finally:
            graph.close()
        works += 1
    assert complete > 10
    assert everything(gremlin_graph) == whole(written)


def check_markers_promise_no_more_than_there_is(graph: GremlinGraph, written: Facts) -> None:
    markers = visible_plans(graph)
    found = set(everything(graph))
    staged = stages(written)
    if markers:
        assert {repr(each) for each in (*staged.vertices, *staged.edges)} <= found
    else:
        assert not any(is_marker(each) for each in graph.scan() if isinstance(each, Edge))
    if any(repr(each) in found for each in staged.execution_vertices):
        assert {repr(each) for each in staged.markers} <= found


def test_a_write_is_completed_by_writing_again(
    gremlin_graph: GremlinGraph, gremlin_url: str
) -> None:
    written = plan("daily", columns=20, executions=3)
    graph = GremlinGraph(Failing(gremlin_url, replace(EMBEDDED, batch_elements=7), 5))
    with pytest.raises(GraphUnavailable):
        graph.write(written)
    graph.close()
    assert gremlin_graph.count() != (len(written.vertices), len(written.edges))
    gremlin_graph.write(written)
    assert everything(gremlin_graph) == whole(written)
