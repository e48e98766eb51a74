"""The stores that graph/test_graph.py holds to the promises of the graph's protocols.

A store is a function that opens a graph; each use of one begins with an empty graph. To add a
store: write its fixture, and name it in STORES.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from graph_model.errors import GraphUnavailable
from graph_model.stores.graph import Graph
from graph_model.stores.gremlin.engine.server import server_settings
from graph_model.stores.gremlin.graph import open_graph
from tests.contract import janusgraph
from tests.contract.gremlin_server import GROOVY_ENGINE, INIT_SCRIPT, PATIENT, graph_properties
from tests.memory_graph import MemoryGraph

Open = Callable[[], Graph]
"""Opens the graph once more: two of them stand for two processes."""

DOCKER_IMAGE: Final = "tinkerpop/gremlin-server:3.7.5"
DOCKER_SETTING: Final = "HEADWATER_TEST_DOCKER"


def docker_is_wanted() -> bool:
    """Asked for by HEADWATER_TEST_DOCKER=1 (=0 forbids it), or a Docker engine answers."""
    if setting := os.environ.get(DOCKER_SETTING):
        return setting == "1"
    docker = shutil.which("docker")
    if docker is None:
        return False
    answer = subprocess.run([docker, "info"], capture_output=True, timeout=60, check=False)
    return answer.returncode == 0


STORES: Final = (
    "memory",
    pytest.param("embedded", marks=pytest.mark.engine),
    # Neptune's requests, to a server that keeps sets and takes no scripts (conftest.neptune_url)
    pytest.param("neptune", marks=pytest.mark.engine),
    pytest.param("janusgraph", marks=(pytest.mark.engine, pytest.mark.part("janusgraph"))),
    *([pytest.param("docker", marks=pytest.mark.engine)] if docker_is_wanted() else []),
)

_ADDRESSES: Final = {
    "embedded": "gremlin_url",
    "neptune": "neptune_url",
    "janusgraph": "janusgraph_url",
    "docker": "docker_url",
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Each store in turn, empty; everything opened is closed at the end."""
    opened: list[Graph] = []
    if request.param == "janusgraph":
        _skip_difference(request.node)
    make = _maker(request, str(request.param))

    def reopen() -> Graph:
        opened.append(make())
        return opened[-1]

    reopen().clear()
    yield reopen
    for graph in opened:
        graph.close()


def _skip_difference(test: pytest.Function) -> None:
    for name in (test.name, test.originalname):
        if reason := janusgraph.DIFFERENCES.get(name):
            pytest.skip(f"JanusGraph: {reason}")


def _maker(request: pytest.FixtureRequest, name: str) -> Open:
    if name == "memory":
        kept = MemoryGraph()
        return lambda: kept
    url: str = request.getfixturevalue(_ADDRESSES[name])
    if name == "janusgraph":
        return lambda: janusgraph.open_janusgraph(url)
    dialect = "neptune" if name == "neptune" else "embedded"
    return lambda: open_graph(url, dialect=dialect, limits=PATIENT)


@pytest.fixture(scope="session")
def janusgraph_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with janusgraph.running(tmp_path_factory.mktemp("janusgraph"), os.environ) as url:
        yield url


@pytest.fixture(scope="session")
def docker_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Gremlin Server as its makers pack it, with our settings."""
    from testcontainers.core.container import DockerContainer

    folder = tmp_path_factory.mktemp("docker")
    inside = Path("/opt/gremlin-server/headwater")
    (folder / "graph.properties").write_text(graph_properties(), "utf-8")
    (folder / "init.groovy").write_text(INIT_SCRIPT, "utf-8")
    (folder / "engine.yaml").write_text(
        server_settings("0.0.0.0", 8182, inside / "graph.properties").replace(
            '"gremlin-lang": {}', GROOVY_ENGINE % (inside / "init.groovy")
        ),
        "utf-8",
    )
    container = (
        DockerContainer(DOCKER_IMAGE)
        .with_volume_mapping(str(folder), str(inside), "ro")
        .with_command(str(inside / "engine.yaml"))
        .with_exposed_ports(8182)
    )
    try:
        container.start()
    except Exception as failure:  # no image, no network: an error only where Docker was asked for
        if os.environ.get(DOCKER_SETTING) == "1":
            raise
        pytest.skip(f"{DOCKER_IMAGE} cannot be started: {failure}")
    try:
        host, port = container.get_container_host_ip(), container.get_exposed_port(8182)
        url = f"ws://{host}:{port}/gremlin"
        _await_answer(url)
        yield url
    finally:
        container.stop()


def _await_answer(url: str, seconds: float = 60.0) -> None:
    graph = open_graph(url, limits=PATIENT)
    deadline = time.monotonic() + seconds
    try:
        while True:
            try:
                return graph.ping()
            except GraphUnavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
    finally:
        graph.close()
