"""A real Headwater as a process: ``headwater serve`` with its embedded Gremlin Server."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

V12 = "application/vnd.absa.spline.producer.v1.2+json"
_SECONDS = 120.0


@dataclass
class RunningHeadwater:
    """Start, ask, post, kill. ``data`` outlives the process, as on a real machine.

    Each start has ports that the system chose for the process itself: two tests never share one.
    """

    data: Path
    port: int = 0
    gremlin_port: int = 0
    process: subprocess.Popen[bytes] | None = None
    _log_start: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What the newest start wrote, and all before it."""
        return self._log_file.read_text(errors="replace")

    @property
    def _log_file(self) -> Path:
        return self.data.parent / f"{self.data.name}.log"

    def start(
        self,
        program: Sequence[str | Path] = (sys.executable, "-m", "api.command_line"),
        variables: Mapping[str, str] = os.environ,
        folder: Path | None = None,
    ) -> None:
        """``program`` is this checkout's; ``folder`` is where it is started."""
        environment = {k: v for k, v in variables.items() if not k.startswith("HEADWATER_DATA")}
        environment |= {
            "HEADWATER_PORT": "0",
            "HEADWATER_GREMLIN_PORT": "0",
            "HEADWATER_DATA": str(self.data),
            "HEADWATER_GREMLIN_HEAP": "512",
        }
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self.process = subprocess.Popen(
                [*map(str, program), "serve"],
                env=environment, stdout=log, stderr=log, start_new_session=True, cwd=folder,
            )  # fmt: skip
        self.await_ready()

    def await_ready(self) -> None:
        """Until /health/ready is 200; the log is in the message when it does not come."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            if self.process is not None and self.process.poll() is not None:
                break
            try:
                if self._listens() and self.get("/health/ready")["status"] == "ready":
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.1)
        raise AssertionError(f"Headwater did not become ready:\n{self.log[-4000:]}")

    def _listens(self) -> bool:
        """Whether it has said where; its ports are known then."""
        said = self._log_file.read_bytes()[self._log_start :].decode(errors="replace")
        web = re.search(r"(?:ready:|, at) http://127\.0\.0\.1:(\d+)", said)
        if web:
            self.port = int(web[1])
        if graph := re.search(r"graph +ws://127\.0\.0\.1:(\d+)", said):
            self.gremlin_port = int(graph[1])
        return web is not None

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
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            summary: dict[str, int] = self.get("/journal", summary="true")
            if summary["pending"] == 0:
                return summary
            time.sleep(0.1)
        raise AssertionError(f"documents stay pending: {summary}\n{self.log[-4000:]}")
