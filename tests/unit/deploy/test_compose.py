"""The compose files: closed by default, every image with a version, every container bounded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.settings import ROWS
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.engine.server import server_settings
from graph_model.stores.gremlin.graph import open_graph
from tests.conftest import needs_java
from tests.contract.facts_to_write import everything, plan, whole
from tests.contract.gremlin_server import graph_properties, serving
from tests.ports import reserved_port

FOLDER = Path(__file__).resolve().parents[3] / "deploy" / "compose"
INSIDE = Path("/opt/gremlin-server/headwater")


class _Loader(yaml.SafeLoader):
    """Knows ``!override``, which replaces a list instead of adding to it."""


_Loader.add_constructor("!override", lambda loader, node: loader.construct_sequence(node))


def services(name: str) -> dict[str, Any]:
    text = (FOLDER / name).read_text("utf-8")
    return dict(yaml.load(text, Loader=_Loader)["services"])


@pytest.fixture(params=["headwater", "postgres", "gremlin"])
def service(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(services("compose.yaml")[request.param])


def test_a_container_is_restricted_and_bounded(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["pids_limit"]


def test_an_image_has_a_version(service: dict[str, Any]) -> None:
    assert re.fullmatch(r"[\w/-]+:\d+\.\d+[\w.-]*", service["image"])


def test_only_this_computer_comes_in_without_a_key() -> None:
    headwater = services("compose.yaml")["headwater"]
    assert headwater["environment"]["HEADWATER_INSECURE"] == "true"
    assert all(port.startswith("127.0.0.1:") for port in headwater["ports"])
    keyed = services("compose.keys.yaml")["headwater"]
    assert keyed["environment"]["HEADWATER_INSECURE"] == "false"


def test_database_and_graph_are_not_published() -> None:
    for name in ("postgres", "gremlin"):
        service = services("compose.yaml")[name]
        assert "ports" not in service
        assert service["networks"] == ["back"]


def test_configured_names_are_settings_and_no_file_holds_a_password() -> None:
    known = {row.variable for row in ROWS} | {"PGPASSWORD"}
    for name in ("compose.yaml", "compose.keys.yaml"):
        assert set(services(name)["headwater"]["environment"]) <= known
    for service in services("compose.yaml").values():
        for name, value in service["environment"].items():
            assert "PASSWORD" not in name or value.startswith("${POSTGRES_PASSWORD:?")


def test_the_gremlin_server_is_set_up_like_the_embedded_engine() -> None:
    ours = yaml.safe_load((FOLDER / "gremlin-server" / "server.yaml").read_text("utf-8"))
    engine = json.loads(server_settings("0.0.0.0", 8182, INSIDE / "graph.properties"))
    assert {**ours, "scriptEngines": None} == {**engine, "scriptEngines": None}
    properties = (FOLDER / "gremlin-server" / "graph.properties").read_text("utf-8")
    assert set(_settings(properties)) == set(_settings(graph_properties()))


def test_the_gremlin_server_starts_without_the_entry_point_that_edits_its_configuration() -> None:
    gremlin = services("compose.yaml")["gremlin"]
    assert gremlin["volumes"] == [f"./gremlin-server:{INSIDE}:ro"]
    assert gremlin["entrypoint"] == ["/opt/gremlin-server/bin/gremlin-server.sh"]
    assert gremlin["command"] == [f"{INSIDE}/server.yaml"]


def _health_check() -> list[str]:
    kind, *command = services("compose.yaml")["gremlin"]["healthcheck"]["test"]
    assert kind == "CMD"
    return command


@pytest.mark.engine
def test_the_gremlin_server_holds_the_written_elements(tmp_path: Path) -> None:
    """TinkerPop's own main class with these files, from the engine's archives."""
    needs_java()
    folder, port = tmp_path / "headwater", reserved_port()
    shutil.copytree(FOLDER / "gremlin-server", folder)
    settings = folder / "server.yaml"
    text = settings.read_text("utf-8").replace(str(INSIDE), str(folder))
    settings.write_text(text.replace("port: 8182", f"port: {port}"), "utf-8")
    graph, written = open_graph(f"ws://127.0.0.1:{port}/gremlin"), plan("daily")
    check = [part.replace("8182", str(port)) for part in _health_check()]
    assert subprocess.run(check, capture_output=True).returncode == 1
    with serving(settings, jars.fetch(os.environ), graph, os.environ):
        assert subprocess.run(check, capture_output=True).returncode == 0
        graph.write(written)
        assert everything(graph) == whole(written)


def _settings(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line and not line.startswith("#"))
