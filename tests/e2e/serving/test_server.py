"""``headwater serve`` as people start and stop it: a process, its engine, its signals."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api.serving.server import check_read_port, dialect_of
from api.serving.storage import claim
from api.settings import read_settings
from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.graph import GremlinGraph
from tests import captures
from tests.conftest import needs_java
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]


class Serving:
    """A running ``headwater serve``; its output goes to a file that tests read."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.log = folder / "serve.log"
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "api.command_line", "serve"],
                cwd=ROOT,
                stdout=log,
                stderr=log,
                env={
                    **os.environ,
                    "HEADWATER_PORT": "0",
                    "HEADWATER_GREMLIN_PORT": "0",
                    **environment,
                },
            )

    @property
    def url(self) -> str:
        """Where it said that it listens."""
        said = re.search(r"(?:ready:|, at) (http://127\.0\.0\.1:\d+)", self.said())
        assert said, self.said()
        return said[1]

    def ready(self) -> Serving:
        def look() -> bool:
            assert self.process.poll() is None, self.said()
            return "Headwater is ready" in self.said()

        eventually(look)
        return self

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def get(self, path: str) -> Any:
        """The JSON answer, whatever its status."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def replay(self, name: str) -> None:
        """Send the requests of an agent."""
        for exchange in captures.load(name):
            request = urllib.request.Request(
                self.url + exchange.path,
                method=exchange.method,
                data=exchange.wire_body or None,
                headers=dict(exchange.headers),
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert answer.status in {200, 201}

    def status(self, path: str) -> int:
        try:
            self.get(path)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def projected(self) -> bool:
        summary = self.get("/journal?summary=true")
        return bool(summary["received"] == summary["projected"] > 0)

    def engines(self) -> list[int]:
        """The process ids of JVMs that this process started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text(encoding="utf-8").split()]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Serving]:
    """Headwater with an engine of its own, on free ports, killed at the end if need be."""
    needs_java()
    environment = {
        "HEADWATER_DATA": str(folder / "data"),
        "HEADWATER_GREMLIN_HEAP": "512",
        **environment,
    }
    made = Serving(folder, **environment)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie that nobody reaped yet does not)."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split(")")[1][:3]
    except OSError:
        return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")


@needs_proc
@pytest.mark.engine
def test_a_job_is_drawn_and_is_still_there_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.ready().replay("a1_curate")
        eventually(server.projected)
        before = server.get("/graph/overview")
        assert {node["kind"] for node in before["nodes"]} == {"dataset", "job"}
        (engine,) = server.engines()
        assert server.stop(signal.SIGINT) == 0
        _, stopping, after = server.said().partition("Stopping …\n")
        assert stopping
        assert after.endswith("Stopped.\n")
        eventually(lambda: not alive(engine))
    with serving(tmp_path) as server:
        server.ready()
        eventually(server.projected)
        eventually(lambda: server.get("/health/ready")["status"] == "ready")
        assert server.get("/graph/overview") == before
        assert server.stop() == 0


@needs_proc
@pytest.mark.engine
def test_documents_are_taken_while_the_engine_is_dead_and_it_comes_back(tmp_path: Path) -> None:
    with serving(tmp_path, HEADWATER_PROJECTION_WAIT="0") as server:
        server.ready().replay("a1_curate")
        eventually(server.projected)
        before = server.get("/graph/overview")
        (engine,) = server.engines()
        os.kill(engine, signal.SIGKILL)
        server.replay("a2_managers")
        eventually(server.projected)
        after = server.get("/graph/overview")
        assert {node["id"] for node in before["nodes"]} < {node["id"] for node in after["nodes"]}
        assert server.stop() == 0


@needs_proc
@pytest.mark.engine
def test_the_engine_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        (engine,) = server.ready().engines()
        server.process.kill()
        server.process.wait()
        eventually(lambda: not alive(engine))


@pytest.mark.engine
def test_a_signal_that_comes_twice_at_once_is_one(tmp_path: Path) -> None:
    """``make`` and the process group both pass on the signal of a terminal or ``timeout``."""
    with serving(tmp_path) as server:
        server.ready()
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGINT)
        assert server.stop() == 0
        assert server.said().endswith("Stopped.\n")


@pytest.mark.engine
def test_a_stop_in_the_middle_of_the_start_leaves_nothing_running(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        eventually(lambda: "starting the embedded" in server.said())
        eventually(server.engines)
        (engine,) = server.engines()
        assert server.stop() == 0
        eventually(lambda: not alive(engine))
        assert "Headwater is ready" not in server.said()


@pytest.mark.engine
def test_a_service_whose_journal_is_missing_does_not_say_that_it_is_ready(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.ready().replay("a1_curate")
        eventually(server.projected)
        assert server.stop() == 0
    for file in tmp_path.rglob("headwater.db*"):
        file.unlink()
    with serving(tmp_path) as server:
        eventually(lambda: "takes no document" in server.said())
        assert "--new-journal" in server.said()
        assert "Headwater is ready" not in server.said()


def test_a_gremlin_server_of_ones_own_is_used_instead(
    tmp_path: Path, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    with serving(tmp_path, HEADWATER_GREMLIN_URL=gremlin_url) as server:
        server.ready().replay("a1_curate")
        eventually(server.projected)
        assert server.engines() == []
        eventually(lambda: server.status("/health/ready") == 200)
        assert server.stop() == 0


def test_a_service_whose_graph_does_not_answer_does_not_say_that_it_is_ready(
    tmp_path: Path,
) -> None:
    address = "ws://127.0.0.1:1/gremlin"  # where nothing may listen
    with serving(tmp_path, HEADWATER_GREMLIN_URL=address) as server:
        eventually(lambda: "takes documents" in server.said())
        assert "the graph does not answer: " in server.said()
        assert "Headwater is ready" not in server.said()
        assert server.stop() == 0


STUCK = """
import time
from api.serving.server import interruptible
with interruptible():
    try:
        print("running", flush=True)
        time.sleep(120)
    except KeyboardInterrupt:
        print("stopping", flush=True)
        time.sleep(120)
"""


def test_a_later_signal_ends_a_stop_that_hangs() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as said:
        assert said.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        assert said.readline() == "stopping\n"

        def ended() -> bool:
            process.send_signal(signal.SIGINT)
            return process.poll() is not None

        eventually(ended)
    assert process.returncode == 128 + signal.SIGINT


# --- failing starts ------------------------------------------------------------------------------


def refused(folder: Path, **environment: str) -> str:
    """The one line that a start ends with."""
    made = Serving(folder, **environment)
    try:
        assert made.process.wait(60) == 2
    finally:
        made.process.kill()
        made.process.wait()
    lines = made.said().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_a_taken_port_is_one_line_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(tmp_path, HEADWATER_PORT=str(port), HEADWATER_DATA=str(tmp_path / "data"))
    assert f"port {port} on 127.0.0.1 is taken" in said
    assert "PORT=" in said
    assert not (tmp_path / "data").exists()


def test_a_taken_gremlin_port_is_one_line_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = refused(
            tmp_path,
            HEADWATER_GREMLIN_PORT=str(taken.getsockname()[1]),
            HEADWATER_DATA=str(tmp_path / "data"),
        )
    assert "GREMLIN_PORT=" in said
    assert not (tmp_path / "data").exists()


def test_a_taken_read_port_is_one_line_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = refused(
            tmp_path,
            HEADWATER_GREMLIN_READ_PORT=str(taken.getsockname()[1]),
            HEADWATER_DATA=str(tmp_path / "data"),
        )
    assert "HEADWATER_GREMLIN_READ_PORT=" in said
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"HEADWATER_GREMLIN_URL": "ws://127.0.0.1:1/gremlin"}, "HEADWATER_GREMLIN_URL replaces"),
        ({"HEADWATER_GREMLIN_PORT": "8183"}, "the port of writers"),
    ],
)
def test_a_read_port_that_cannot_be_had_is_refused(
    environment: dict[str, str], reason: str
) -> None:
    settings = read_settings({"HEADWATER_GREMLIN_READ_PORT": "8183"} | environment)
    with pytest.raises(ConfigurationError, match=reason):
        check_read_port(settings)


def test_a_data_folder_in_use_is_one_line(tmp_path: Path) -> None:
    with claim(tmp_path / "data"):
        said = refused(
            tmp_path,
            HEADWATER_DATA=str(tmp_path / "data"),
        )
    assert f"in use by another Headwater (process {os.getpid()})" in said


def test_a_data_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = refused(
        tmp_path,
        HEADWATER_DATA=str(tmp_path / "file" / "data"),
    )
    assert "cannot be written" in said
    assert "DATA=" in said


@pytest.mark.parametrize(
    ("environment", "dialect"),
    [
        ({"HEADWATER_GREMLIN_URL": "ws://graph.example.org:8182/gremlin"}, "tinkerpop"),
        (
            {"HEADWATER_GREMLIN_URL": "wss://c1.cluster-x.eu-west-1.neptune.amazonaws.com:8182/g"},
            "neptune",
        ),
        (
            {
                "HEADWATER_GREMLIN_URL": "wss://tunnel.example.org:8182/gremlin",
                "HEADWATER_GREMLIN_DIALECT": "neptune",
            },
            "neptune",
        ),
    ],
)
def test_the_dialect_is_told_by_the_address_unless_it_is_set(
    environment: dict[str, str], dialect: str
) -> None:
    assert dialect_of(read_settings(environment)) == dialect
