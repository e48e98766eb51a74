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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_START_SECONDS: Final = 600.0
_STOP_SECONDS: Final = 600.0
_PAUSE_SECONDS: Final = 0.05
VICTIMS: Final = ("service", "engine", "both")
"""What ``Service.kill`` takes."""


@dataclass
class Service:
    """``headwater serve`` on a data folder; as a context manager it runs for a while.

    The ports are chosen once, so that a service that is started again is found again.
    """

    data: Path
    environment: dict[str, str]

    def __post_init__(self) -> None:
        self.port, self._gremlin_port = _free_port(), _free_port()

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
        own = {"HEADWATER_PORT": str(self.port), "HEADWATER_GREMLIN_PORT": str(self._gremlin_port)}
        with (self.data.parent / "serve.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "api.command_line", "serve", "--data", str(self.data)],
                env={**os.environ, **own, **self.environment},
                stdout=log,
                stderr=log,
            )
        self.await_ready()

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
        with urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=60) as one:
            progress = json.load(one)
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
        own = cpu_of(self._process.pid)
        return own, sum(cpu_of(child) for child in children(self._process.pid))

    def resident_megabytes(self) -> tuple[float, float]:
        """Resident memory of the service, and of its children."""
        pid = self._process.pid
        return resident(pid), sum(resident(child) for child in children(pid))

    def await_projected(self) -> None:
        """Until nothing is pending."""
        while self.get("/journal?summary=true")["pending"]:
            time.sleep(_PAUSE_SECONDS)

    def await_ready(self) -> None:
        """Until /health/ready is 200."""
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                if self.get("/health/ready")["status"] == "ready":
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"no Headwater: see {self.data.parent / 'serve.log'}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_of(pid: int) -> float:
    """Seconds of user and system time of a process; 0 when it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    """The processes that this one has started and that run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields and int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def resident(pid: int) -> float:
    """Megabytes of memory that a process holds; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
