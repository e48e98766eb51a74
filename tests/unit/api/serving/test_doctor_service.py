"""The doctor beside a service: ports held by one's own service are no fault, by another are."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from api.serving.doctor import examine
from api.serving.machine import Finding
from api.serving.storage import claim
from api.settings import read_settings

MEMORY = "940 elements fill 0% of the engine's memory (1,024 MB hold about 400,000)"
READY = {"status": "ready", "checks": {"journal": "ok", "memory": MEMORY}}


@contextmanager
def answering(body: Any) -> Iterator[int]:
    """The port of a server that answers every request with this body."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def gremlin_port() -> Iterator[int]:
    """That of an engine which runs."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def findings(data: Path, port: int, gremlin_port: int) -> dict[str, Finding]:
    environment = {
        "HEADWATER_DATA": str(data),
        "HEADWATER_PORT": str(port),
        "HEADWATER_GREMLIN_PORT": str(gremlin_port),
    }
    return {one.name: one for one in examine(read_settings(environment), environment)}


def test_folder_and_ports_of_ones_own_service_are_well(tmp_path: Path, gremlin_port: int) -> None:
    with claim(tmp_path), answering(READY) as port:
        found = findings(tmp_path, port, gremlin_port)
    for name in ("service", "port", "Gremlin port", "data folder"):
        assert found[name].right, name
        assert "this Headwater" in found[name].text
    assert found["memory"] == Finding("memory", True, MEMORY)


def test_a_graph_that_is_nearly_full_in_the_running_engine_is_a_finding(
    tmp_path: Path, gremlin_port: int
) -> None:
    full = READY | {"checks": {"memory": f"{MEMORY}: give it more with HEADWATER_GREMLIN_HEAP"}}
    with claim(tmp_path), answering(full) as port:
        assert not findings(tmp_path, port, gremlin_port)["memory"].right


def test_a_service_that_is_unavailable_is_a_finding(tmp_path: Path, gremlin_port: int) -> None:
    away = {"status": "unavailable", "checks": {}}
    with claim(tmp_path), answering(away) as port:
        found = findings(tmp_path, port, gremlin_port)
    assert not found["service"].right
    assert found["port"].right


def test_another_program_on_the_port_is_to_end(tmp_path: Path, gremlin_port: int) -> None:
    with claim(tmp_path), answering({"hello": "world"}) as port:
        found = findings(tmp_path, port, gremlin_port)
    assert "service" not in found
    assert not any(found[name].right for name in ("port", "Gremlin port", "data folder"))


def test_a_headwater_over_another_folder_is_another_program(
    tmp_path: Path, gremlin_port: int
) -> None:
    with answering(READY) as port:
        found = findings(tmp_path, port, gremlin_port)
    assert "service" not in found
    assert not found["port"].right
    assert found["data folder"].right
