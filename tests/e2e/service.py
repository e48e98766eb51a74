"""A real Headwater as a process: ``headwater serve`` with its embedded Gremlin Server."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

V12 = "application/vnd.absa.spline.producer.v1.2+json"
_START_SECONDS = 120.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class RunningHeadwater:
    """Start, ask, post, kill. ``data`` outlives the process, as on a real machine."""

    data: Path
    port: int = field(default_factory=free_port)
    gremlin_port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.data.parent / f"{self.data.name}.log").read_text(errors="replace")

    def start(
        self,
        program: Sequence[str | Path] = (sys.executable, "-m", "api.command_line"),
        variables: Mapping[str, str] = os.environ,
        folder: Path | None = None,
    ) -> None:
        """``program`` is this checkout's; ``folder`` is where it is started."""
        environment = {k: v for k, v in variables.items() if not k.startswith("HEADWATER_DATA")}
        environment |= {
            "HEADWATER_PORT": str(self.port),
            "HEADWATER_GREMLIN_PORT": str(self.gremlin_port),
            "HEADWATER_DATA": str(self.data),
            "HEADWATER_GREMLIN_HEAP": "512",
        }
        with (self.data.parent / f"{self.data.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*map(str, program), "serve"],
                env=environment, stdout=log, stderr=log, start_new_session=True, cwd=folder,
            )  # fmt: skip
        self.await_ready()

    def await_ready(self) -> None:
        """Until /health/ready is 200; the log is in the message when it does not come."""
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if self.process is not None and self.process.poll() is not None:
                break
            try:
                if self.get("/health/ready")["status"] == "ready":
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.1)
        raise AssertionError(f"Headwater did not become ready:\n{self.log[-4000:]}")

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """As Ctrl-C would; the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of a GET; raises urllib.error.HTTPError for other than 2xx."""
        tail = f"?{urllib.parse.urlencode(query)}" if query else ""
        with urllib.request.urlopen(f"{self.url}{path}{tail}", timeout=60) as reply:
            return json.load(reply)

    def post(
        self, path: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        request = urllib.request.Request(
            f"{self.url}{path}", data=body, headers={"Content-Type": V12} | dict(headers or {})
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.read()

    def post_plan(self, plan: Mapping[str, Any]) -> tuple[int, bytes]:
        body = gzip.compress(json.dumps(plan).encode())
        return self.post("/producer/execution-plans", body, {"Content-Encoding": "gzip"})

    def post_events(self, events: Sequence[Mapping[str, Any]]) -> tuple[int, bytes]:
        return self.post("/producer/execution-events", json.dumps(events).encode())

    def await_projected(self) -> dict[str, int]:
        """Until nothing is pending; the journal's summary then."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            summary: dict[str, int] = self.get("/journal", summary="true")
            if summary["pending"] == 0:
                return summary
            time.sleep(0.1)
        raise AssertionError(f"documents stay pending: {summary}\n{self.log[-4000:]}")
