"""A Headwater as processes, and the CPU time they have used."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.processes import children, cpu_of, resident
from graph_model.stores.gremlin.graph import open_graph

_START_SECONDS: Final = 600.0
_STOP_SECONDS: Final = 600.0
_PAUSE_SECONDS: Final = 0.05
VICTIMS: Final = ("service", "engine", "both")
"""The processes that ``Service.kill`` can end."""


@dataclass
class Service:
    """``headwater serve`` on a data folder; as a context manager it runs for a while.

    The ports are chosen once, so that a service that is started again is found again.
    """

    data: Path
    environment: dict[str, str]

    def __post_init__(self) -> None:
        self.port, self._gremlin_port = free_port(), free_port()

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def gremlin_url(self) -> str:
        """Where its engine listens."""
        return f"ws://127.0.0.1:{self._gremlin_port}/gremlin"

    @property
    def pid(self) -> int:
        """The process id of the service."""
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it is ready."""
        self.launch()
        self.await_ready()

    def launch(self) -> None:
        """Start it and return at once."""
        own = {"HEADWATER_PORT": str(self.port), "HEADWATER_GREMLIN_PORT": str(self._gremlin_port)}
        with (self.data.parent / "serve.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "api.command_line", "serve", "--data", str(self.data)],
                env={**os.environ, **own, **self.environment},
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        """As Ctrl-C would."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(_STOP_SECONDS)

    def kill(self, victim: str) -> None:
        """``kill -9`` of the ``service`` (and start it again), its ``engine``, or ``both``."""
        engines = children(self.pid)
        if victim != "service":
            for engine in engines:
                os.kill(engine, signal.SIGKILL)
        if victim != "engine":
            os.kill(self.pid, signal.SIGKILL)
            self._process.wait(60)
            self.start()

    def rebuild(self) -> Any:
        """Project everything anew; the progress at its end, with the hashes."""
        url = f"http://127.0.0.1:{self.port}/journal/rebuild"
        with urllib.request.urlopen(
            urllib.request.Request(url, method="POST"), timeout=60
        ) as first:
            progress = json.load(first)
        while progress["phase"] != "done":
            time.sleep(_PAUSE_SECONDS)
            progress = self.get("/journal/rebuild")
        return progress

    def export(self) -> Iterator[bytes]:
        """The lines of ``headwater journal export``, of a service that is stopped."""
        command = [sys.executable, "-m", "api.command_line", "journal", "export", "-"]
        with subprocess.Popen(
            [*command, "--data", str(self.data)], stdout=subprocess.PIPE
        ) as export:
            assert export.stdout is not None
            yield from export.stdout
        if export.returncode:
            raise RuntimeError(f"the export ends with {export.returncode}")

    def get(self, path: str) -> Any:
        """The JSON of a GET."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as reply:
            return json.load(reply)

    def cpu_seconds(self) -> tuple[float, float]:
        """User and system time of the service, and of its children (the engine's JVM)."""
        return cpu_of(self.pid), cpu_of(*children(self.pid))

    def resident_megabytes(self) -> tuple[float, float]:
        """Resident memory of the service, and of its children."""
        return resident(self.pid), resident(*children(self.pid))

    def elements(self) -> int:
        """Vertices and edges in the engine."""
        with closing(open_graph(self.gremlin_url)) as graph:
            return sum(graph.count())

    def await_projected(self) -> None:
        """Until nothing is pending."""
        while self.get("/journal?summary=true")["pending"]:
            time.sleep(_PAUSE_SECONDS)

    def await_ready(self) -> None:
        """Until /health/ready is 200."""
        self.await_status("/health/ready", "ready", 0.2)

    def await_status(self, path: str, status: str, pause: float) -> None:
        """Until this path answers 200 with this status; asked again after ``pause`` seconds."""
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                if self.get(path)["status"] == status:
                    return
            except OSError:
                time.sleep(pause)
        raise RuntimeError(f"no Headwater: see {self.data.parent / 'serve.log'}")


def free_port() -> int:
    """A port of this computer that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
