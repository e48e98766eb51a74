"""Fixtures of tests of every level: the embedded engine, started once for all of them, and more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import hypothesis
import pytest
import sqlalchemy as sa
from gremlin_python.process.traversal import Bytecode
from werkzeug.routing import Rule

from graph_model.stores.gremlin.connection import Connections
from graph_model.stores.gremlin.dialect import NEPTUNE
from graph_model.stores.gremlin.engine import jars as engine_script
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from tests import neptune
from tests.contract.databases import create_all, create_engine, server_url
from tests.contract.gremlin_server import PATIENT, graph_properties
from tests.parts import NAMES, RANDOM
from tests.projections import SmallHeadwater, small_headwater

__all__ = ["server_url"]


# Each Java of a test, Spark's and the engine's, lives for some minutes: without the second compiler
# it takes half the processor time. By itself it would then have a fifth of the room for compiled
# code: a Spark with Delta and Iceberg fills that, and Java stops to compile and throws most away.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m")

# The same examples in every run, so that no change fails by the chance of another; no deadline, for
# that is an assertion on the clock. make test-all and make fuzz ask for "random" and print the seed
# (--hypothesis-profile, --hypothesis-seed). No examples of former runs: the seed alone decides.
hypothesis.settings.register_profile(
    "derandomised",
    derandomize=True,
    max_examples=30,
    database=None,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "random", hypothesis.settings.get_profile("derandomised"),
    derandomize=False, max_examples=100, print_blob=True,
)  # fmt: skip
hypothesis.settings.load_profile("derandomised")


def pytest_addoption(parser: pytest.Parser) -> None:
    listed = ", ".join(NAMES)
    parser.addoption(
        "--parts",
        default="",
        metavar="'NAME NAME'",
        help=f"run these parts of make test-all alone, or all of them: {listed}",
    )


def pytest_report_header(config: pytest.Config) -> list[str]:
    seed = config.getoption("hypothesis_seed")
    parts = config.option.parts or "those of make test (--parts= for those of make test-parts)"
    return [
        f"tests: {parts}",
        f"examples: {f'random, SEED={seed}' if seed else 'the same each time'}",
    ]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests of the parts that were asked for; files with the slowest processes come first.

    Two workers take file after file: a long one at the end would leave one of them idle.
    """
    asked = config.option.parts.split()
    wanted = _of_parts(items, asked) if asked else [item for item in items if not _part_of(item)]
    kept = set(wanted)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    ranks: dict[Path, int] = {}
    for item in wanted:
        ranks[item.path] = min(ranks.get(item.path, len(_SLOWEST)), _rank(item))
    items[:] = sorted(wanted, key=lambda item: ranks[item.path])


_SLOWEST: Final = ("spark", "engine", "browser")


def _rank(item: pytest.Item) -> int:
    return next((n for n, mark in enumerate(_SLOWEST) if item.get_closest_marker(mark)), 3)


def _of_parts(items: Sequence[pytest.Item], asked: Sequence[str]) -> list[pytest.Item]:
    """Raises UsageError for a part without a test, so that none seems to have passed."""
    tests: dict[str, list[pytest.Item]] = {name: [] for name in NAMES}
    for item in items:
        if part := _part_of(item):
            tests[part].append(item)
        elif hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
            tests[RANDOM].append(item)
    if asked == ["all"]:
        return [item for name in NAMES for item in tests[name]]
    if empty := [name for name in asked if not tests.get(name)]:
        raise pytest.UsageError(f"no test is of the part {empty[0]}")
    return [item for name in asked for item in tests[name]]


def _part_of(item: pytest.Item) -> str:
    marker = item.get_closest_marker("part")
    return str(marker.args[0]) if marker else ""


def needs_java() -> None:
    """Skip where there is no Java at all; a wrong one is a failure, not a reason to skip."""
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")


@pytest.fixture(scope="session", autouse=True)
def compiled_statements() -> Iterator[None]:
    """Statements are compiled once, not for each database of each test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sa.MetaData, "create_all", create_all)
        patch.setattr(sa, "create_engine", create_engine)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_rules() -> Iterator[None]:
    """What builds the address of a route is compiled once, not for each application.

    Werkzeug spends two thirds of making an application on that; nothing but the text of the rule
    decides about it here.
    """
    compiled: dict[tuple[str, bool], Callable[..., tuple[str, str]]] = {}
    compile_builder = Rule._compile_builder

    def once(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        if rule.defaults or rule.subdomain:
            return compile_builder(rule, append_unknown)
        key = rule.rule, append_unknown
        if key not in compiled:
            compiled[key] = compile_builder(rule, append_unknown)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", once)
        yield


@pytest.fixture(scope="session")
def gremlin_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an embedded engine that all tests of this run share; see gremlin_graph."""
    needs_java()
    folder = tmp_path_factory.mktemp("engine")
    server = EmbeddedServer(folder, environment=os.environ, port=0, heap_mb=512)
    with server:
        yield server.url


@pytest.fixture
def gremlin_graph(gremlin_url: str) -> Iterator[GremlinGraph]:
    """The shared engine, emptied; the next test removes the elements that a test leaves in it."""
    graph = open_graph(gremlin_url, limits=PATIENT)
    try:
        graph.clear()
        yield graph
    finally:
        graph.close()


# --- Neptune -------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def neptune_objections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Nothing leaves through the Neptune dialect, in any test, that Neptune would refuse."""
    result: list[str] = []
    encode = Connections._encode

    def checked(self: Connections, request: Bytecode, seconds: float) -> tuple[str, bytes]:
        request_id, payload = encode(self, request, seconds)
        if self.dialect.name == NEPTUNE.name:
            try:
                neptune.check(request, len(payload), self.dialect)
            except neptune.RefusedByNeptune as refusal:
                result.append(str(refusal))  # also where the code under test swallows it
                raise
        return request_id, payload

    monkeypatch.setattr(Connections, "_encode", checked)
    yield result
    assert result == []


@pytest.fixture(scope="session")
def neptune_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Gremlin Server set up like Neptune: sets unless single is said, string ids, no scripts."""
    needs_java()
    folder = tmp_path_factory.mktemp("neptune")
    properties = folder / "graph.properties"
    properties.write_text(
        graph_properties().replace("IdManager=ANY", "IdManager=STRING")
        + "gremlin.tinkergraph.defaultVertexPropertyCardinality=set\n",
        "utf-8",
    )
    launcher = folder / "neptune.groovy"
    text = engine_script.SCRIPT.read_text("utf-8")
    for own, other in (
        ("request.processor != 'session'", "request.processor == 'traversal'"),
        (
            "new HeapGraph()",
            f"org.apache.tinkerpop.gremlin.structure.util.GraphFactory.open('{properties}')",
        ),
    ):
        assert own in text
        text = text.replace(own, other)
    launcher.write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_script, "SCRIPT", launcher)
        patch.setattr(engine_script, "SOURCES", (launcher, *engine_script.SOURCES[1:]))
        server = EmbeddedServer(folder / "engine", environment=os.environ, port=0, heap_mb=512)
        server.start()
    try:
        yield server.url
    finally:
        server.stop()


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    """An empty Headwater in memory, whose projector works when it is told to."""
    made = small_headwater()
    yield made
    made.close()
