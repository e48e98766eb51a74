"""What tests of every level share: the embedded engine, started once for all of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Final

import pytest

from graph_model.gremlin.graph import GremlinGraph, open_graph
from graph_model.gremlin.server import EmbeddedServer


def needs_java() -> None:
    """Skip where there is no Java at all; a wrong one is a failure, not a reason to skip."""
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")


# Half the processor time to start, and half the speed later: right for a test.
QUICK_START: Final = ("-XX:TieredStopAtLevel=1",)


@pytest.fixture(scope="session")
def gremlin_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an embedded engine that all tests of this run share; see gremlin_graph."""
    needs_java()
    folder = tmp_path_factory.mktemp("engine")
    server = EmbeddedServer(
        folder, environment=os.environ, port=0, heap_mb=512, java_options=QUICK_START
    )
    with server:
        yield server.url


@pytest.fixture
def gremlin_graph(gremlin_url: str) -> Iterator[GremlinGraph]:
    """The shared engine, emptied; what a test leaves in it is removed by the next."""
    graph = open_graph(gremlin_url)
    try:
        graph.clear()
        yield graph
    finally:
        graph.close()
