"""The settings and arguments with which the embedded engine is started."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from graph_model import labels
from graph_model.errors import ConfigurationError, GraphUnavailable
from graph_model.stores.graph import Direction
from graph_model.stores.gremlin.connection import Limits
from graph_model.stores.gremlin.engine import server
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import open_graph
from tests.contract.facts_to_write import facts, vertex


def test_a_start_removes_the_checkpoints_of_an_older_headwater(tmp_path: Path) -> None:
    for name in ("checkpoint-1a.kryo", "checkpoint-1a.removed", "engine.log"):
        (tmp_path / name).touch()
    EmbeddedServer(tmp_path, environment={})._make_folder()
    assert [file.name for file in tmp_path.iterdir()] == ["engine.log"]


# --- the port ------------------------------------------------------------------------------------


def test_a_taken_port_is_named_with_its_setting() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} .*GREMLIN_PORT"):
            server.check_port(port)


def test_a_port_that_all_interfaces_have_taken_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("", 0))
        other.listen()
        with pytest.raises(ConfigurationError, match="GREMLIN_PORT"):
            server.check_port(other.getsockname()[1])


@pytest.mark.parametrize("port", [65536, -1, 10**9])
def test_a_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(ConfigurationError, match="GREMLIN_PORT"):
        server.check_port(port)


# --- arguments of the JVM ------------------------------------------------------------------------


def test_the_settings_are_yaml_whatever_the_folder_is_called() -> None:
    folder = Path('/data/it\'s: a "folder" # of mine')
    settings = json.loads(server.server_settings("127.0.0.1", 8182, folder / "graph.properties"))
    assert settings["graphs"] == {"graph": str(folder / "graph.properties")}
    assert (settings["host"], settings["port"]) == ("127.0.0.1", 8182)
    assert settings["scriptEngines"] == {"gremlin-lang": {}}


def test_the_command_bounds_the_heap_and_hands_over_its_arguments() -> None:
    command = server.java_command(
        "/usr/bin/java",
        [Path("/classes"), Path("/a.jar")],
        heap_mb=300,
        arguments=("one", "two"),
    )
    assert command[0] == "/usr/bin/java"
    assert "-Xmx300m" in command
    assert "-Xss2m" in command
    assert command[command.index("-cp") + 1] == "/classes:/a.jar"
    assert command[-3:] == ["engine", "one", "two"]


def test_the_address_is_the_one_that_notebooks_use(tmp_path: Path) -> None:
    assert EmbeddedServer(tmp_path, environment={}).url == "ws://127.0.0.1:8182/gremlin"


# --- opening a graph -----------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["http://localhost:8182", "localhost:8182", "ws://", "", "ws:///g"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="ws://"):
        open_graph(url)


def test_an_unknown_dialect_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match="embedded, neptune"):
        open_graph("ws://localhost:8182/gremlin", dialect="cosmos")


def test_opening_a_graph_connects_nowhere() -> None:
    graph = open_graph("ws://127.0.0.1:9/gremlin")
    graph.close()


def test_whatever_is_asked_of_a_server_that_is_not_there_is_unavailable() -> None:
    """And nothing else: the driver's own exceptions end in graph_model/stores/gremlin."""
    graph = open_graph("ws://127.0.0.1:9/gremlin", limits=Limits(connect=30.0))
    written = facts(vertex(labels.DATASET, 1))
    for call in (
        graph.ping,
        graph.count,
        graph.clear,
        lambda: list(graph.scan()),
        lambda: graph.vertices(["x"]),
        lambda: graph.write(written),
        lambda: graph.remove(["x"], ["y"]),
        lambda: graph.edges(["x"], Direction.UPSTREAM, ["has"], 1),
    ):
        with pytest.raises(GraphUnavailable) as caught:
            call()
        assert type(caught.value) is GraphUnavailable
    graph.close()
