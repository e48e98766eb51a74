"""TinkerPop's own server as a process, and its needs beside our settings to serve a graph."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from graph_model.errors import GraphUnavailable
from graph_model.stores.gremlin.connection import Limits
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.graph import GremlinGraph

# TinkerPop's own main class learns of ``g`` from a Groovy script.
INIT_SCRIPT: Final = "def globals = [:]\nglobals << [g: traversal().withEmbedded(graph)]\n"
GROOVY_ENGINE: Final = (
    '"gremlin-groovy": {"plugins": {'
    '"org.apache.tinkerpop.gremlin.server.jsr223.GremlinServerGremlinPlugin": {}, '
    '"org.apache.tinkerpop.gremlin.jsr223.ImportGremlinPlugin": '
    '{"classImports": ["java.lang.Math"]}, '
    '"org.apache.tinkerpop.gremlin.jsr223.ScriptFileGremlinPlugin": {"files": ["%s"]}}}'
)
_MAIN: Final = "org.apache.tinkerpop.gremlin.server.GremlinServer"
_START_SECONDS: Final = 180.0
#: For whoever asks a real engine: a machine that others keep busy passes none of these.
PATIENT: Final = Limits(connect=60.0, wait=60.0, answer=120.0)


@contextmanager
def serving(
    settings: Path, archives: Sequence[Path], graph: GremlinGraph, environment: Mapping[str, str]
) -> Iterator[None]:
    """A server by its settings, from when ``graph`` has an answer of it; closes ``graph``."""
    command = [
        jars.find_java(environment).program,
        "-Xmx512m",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
        *("-cp", os.pathsep.join(map(str, archives)), _MAIN, str(settings)),
    ]
    with settings.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(command, env=dict(environment), stdout=log, stderr=log)
    try:
        _await_answer(graph, process)
        yield
    finally:
        graph.close()
        process.kill()
        process.wait()


def _await_answer(graph: GremlinGraph, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            return graph.ping()
        except GraphUnavailable:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def graph_properties() -> str:
    """The settings of TinkerTransactionGraph: with Headwater's own ids, and without any index.

    A vertex index without an edge index makes every rollback fail in TinkerPop 3.7, and ids are
    found without one.
    """
    manager = "gremlin.tinkergraph.{}IdManager=ANY\n"
    return (
        "gremlin.graph="
        "org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerTransactionGraph\n"
        + "".join(manager.format(kind) for kind in ("vertex", "edge", "vertexProperty"))
    )
