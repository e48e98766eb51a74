"""JanusGraph in memory behind a Gremlin Server: an engine that is not TinkerGraph.

    python -m tests.contract.janusgraph    resolve again, write janusgraph.lock

It makes the ids of edges itself, so that :class:`JanusGraphConnections` keeps ours as a property.
All other differences are in docs/limits.md, "Gremlin engines".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gremlin_python.process.traversal import Bytecode, Direction, P, T

from deploy import engine_archives
from graph_model.stores.gremlin.connection import Connections
from graph_model.stores.gremlin.dialect import NEPTUNE
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.engine.server import server_settings
from graph_model.stores.gremlin.graph import GremlinGraph
from tests.contract.gremlin_server import GROOVY_ENGINE, INIT_SCRIPT, PATIENT, serving
from tests.ports import reserved_port

LOCK: Final = Path(__file__).with_name("janusgraph.lock")
ROOTS: Final = (
    "org.janusgraph:janusgraph-inmemory:1.1.0",
    "org.apache.tinkerpop:gremlin-server:3.7.3",
    "org.slf4j:slf4j-simple:1.7.36",
    "org.slf4j:slf4j-api:1.7.36",
)
UNUSED: Final = (
    *(rule for rule in engine_archives.UNUSED if not rule.startswith("commons-io")),
    "com.google.code.findbugs:*",
    "com.google.errorprone:*",
    "com.google.guava:listenablefuture",
    "com.google.j2objc:*",
    "com.rabbitmq:*",
    "junit:*",
    "org.apiguardian:*",
    "org.hamcrest:*",
    "org.junit.*",
    "org.opentest4j:*",
)
EDGE_ID: Final = "edge_id"
DIALECT: Final = replace(NEPTUNE, name="janusgraph")
"""Its requests are translated, so that the checker of Neptune's has nothing to say about them."""

#: Test of test_graph.py => why JanusGraph fails it (docs/limits.md, "Gremlin engines").
DIFFERENCES: Final = {
    "test_a_value_keeps_its_type_and_every_bit": "a key has one type in the whole graph",
    "test_an_id_may_be_any_text[janusgraph-na\\xefve \\u8868 'q']": "ids are printable ASCII",
    "test_an_id_may_be_any_text[janusgraph-\\U0001f3de]": "ids are printable ASCII",
    "test_any_facts_come_back_as_they_were_in_whatever_parts_they_came": "one type for each key",
    "test_five_thousand_elements_arrive_whole": "slow: its storage in memory is for small graphs",
    "test_property_keys_may_be_words_that_engines_use_themselves": "label is its own word",
    "test_removing_some_of_any_facts_leaves_the_others": "a key has one type in the whole graph",
    "test_writers_of_overlapping_facts_end_with_all_of_them": "two writers make one edge twice",
    "test_writers_of_the_same_facts_end_with_one_of_each": "two writers make one edge twice",
}
_PROPERTIES: Final = """\
gremlin.graph=org.janusgraph.core.JanusGraphFactory
storage.backend=inmemory
graph.set-vertex-id=true
graph.allow-custom-vid-types=true
cache.db-cache=false
"""
_SERIALIZER: Final = {
    "className": "org.apache.tinkerpop.gremlin.util.ser.GraphBinaryMessageSerializerV1",
    "config": {"ioRegistries": ["org.janusgraph.graphdb.tinkerpop.JanusGraphIoRegistry"]},
}
#: By default a dash, which ids of vertices would not be allowed to hold.
_ENVIRONMENT: Final = {"JANUSGRAPH_RELATION_DELIMITER": "~"}


class JanusGraphConnections(Connections):
    """Requests in the Neptune dialect, with the ids of edges as a property."""

    def submit(self, request: Bytecode, *, seconds: float | None = None) -> list[Any]:
        return list(map(without_edge_id, super().submit(translated(request), seconds=seconds)))

    def stream(self, request: Bytecode) -> Iterator[list[Any]]:
        for part in super().stream(translated(request)):
            yield list(map(without_edge_id, part))


def without_edge_id(row: Any) -> Any:
    """A row of ``traversals._listed_edge`` without the property; any other row as it is."""
    if isinstance(row, list) and row and isinstance(row[-1], dict):
        row[-1].pop(EDGE_ID, None)
    return row


def translated(request: Bytecode) -> Bytecode:
    """The same request for an engine that makes the ids of edges itself."""
    steps = [list(step) for step in request.step_instructions]
    made = Bytecode(request)
    made.step_instructions = list(_translated(steps))
    return made


def _translated(steps: list[list[Any]]) -> Iterator[list[Any]]:
    listed = ["project", "i", "l", "o", "n", "p"] in steps
    merged = any(step[0] == "mergeE" for step in steps)
    sought: str | None = None
    for step in steps:
        match step:
            case ["mergeE", {T.id_: edge_id}]:
                sought = edge_id
            case ["option", when, created] if sought is not None:
                ends = {key: created[key] for key in (T.label, Direction.OUT, Direction.IN)}
                yield ["mergeE", {**ends, EDGE_ID: sought}]
                rest = {key: value for key, value in created.items() if key not in ends}
                yield ["option", when, rest]
                sought = None
            case ["E", _, *_] | ["E", str()]:
                yield ["E"]
                yield ["has", EDGE_ID, P.within(step[1:])]
            case ["id"] if merged:
                yield ["count"]  # its own ids have a type that the driver does not know
            case ["by", T.id_] if listed:
                yield ["by", EDGE_ID]
            case _:
                yield step


@contextmanager
def running(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The address of a server with an empty graph. Raises ConfigurationError without archives."""
    archives = jars.fetch(environment, jars=jars.locked(LOCK.read_text("utf-8")))
    port = reserved_port()
    url = f"ws://127.0.0.1:{port}/gremlin"
    settings = _settings(folder, port)
    graph = open_janusgraph(url)
    with serving(settings, archives, graph, {**environment, **_ENVIRONMENT}):
        yield url


def _settings(folder: Path, port: int) -> Path:
    properties, script, settings = (
        folder / name for name in ("janusgraph.properties", "init.groovy", "janusgraph.yaml")
    )
    properties.write_text(_PROPERTIES, "utf-8")
    script.write_text(INIT_SCRIPT, "utf-8")
    answer = json.loads(server_settings("127.0.0.1", port, properties))
    answer["scriptEngines"] = json.loads("{" + GROOVY_ENGINE % script + "}")
    answer["serializers"] = [_SERIALIZER]
    settings.write_text(json.dumps(answer), "utf-8")
    return settings


def open_janusgraph(url: str) -> GremlinGraph:
    return GremlinGraph(JanusGraphConnections(url, DIALECT, limits=PATIENT))


if __name__ == "__main__":
    archives = engine_archives.resolve(None, ROOTS, UNUSED)
    LOCK.write_text(engine_archives.lock_text(archives), "utf-8")
