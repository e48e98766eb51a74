"""The cost of an HTTP server on Headwater's documents: the CPU of the process for each request.

    python -m bench.servers                          waitress
    python -m bench.servers granian gunicorn         others, each installed beside the project
    python -m bench.servers --jobs 4000 --connections 16

The service is the real ``create_app`` over a journal in SQLite; nothing projects. Clients post a
recorded plan of Spline again and again, each with a new event (*pair*), then new events of
OpenLineage (*event*). A route that reads the body and answers 201 is the *floor* of each server.
The servers take turns, in three rounds; the last lines are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from api.application import create_app
from api.service import Service
from api.serving.connections import listening
from api.serving.server import reserve
from api.settings import read_settings
from bench.ingest.clients import Workload, post_all
from bench.ingest.service import free_port
from bench.openlineage.workload import Workload as Events
from bench.processes import children, cpu_of
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.memory_graph import MemoryGraph

if TYPE_CHECKING:
    from flask import Flask

_CAPTURE: Final = Path(__file__).parents[1] / "tests" / "fixtures" / "captures" / "a1_curate.json"
_FOLDER: Final = "BENCH_SERVERS_FOLDER"
_THREADS: Final = 8
_ROUNDS: Final = 3
_FLOOR: Final = "/floor"
_COMMANDS: Final = {
    "waitress": ("bench.servers", "--serve", "{port}"),
    "granian": (
        "granian", "--interface", "wsgi", "--no-ws", "--blocking-threads", str(_THREADS),
        "--port", "{port}", "--factory", "bench.servers:application",
    ),
    "gunicorn": (
        "gunicorn", "--worker-class", "gthread", "--threads", str(_THREADS),
        "--bind", "127.0.0.1:{port}", "bench.servers:application()",
    ),
}  # fmt: skip


class Recorded:
    """The recorded plan, and an event of its own for each job."""

    content_type: Final = "application/vnd.absa.spline.producer.v1.2+json"

    def __init__(self) -> None:
        bodies = [exchange["body"] for exchange in json.loads(_CAPTURE.read_text("utf-8"))]
        (plan,) = (body for body in bodies if isinstance(body, dict))
        (self._event,) = next(body for body in bodies if isinstance(body, list))
        self.plan = json.dumps(plan, separators=(",", ":")).encode()

    def requests(self, job: int, run: int) -> tuple[tuple[str, bytes], ...]:
        event = self._event | {"timestamp": 1_700_000_000_000 + 1_000_000 * run + job}
        body = json.dumps([event]).encode()
        return (("/producer/execution-plans", self.plan), ("/producer/execution-events", body))


class Floor(Recorded):
    """The recorded plan, to a route that only reads it."""

    def requests(self, job: int, run: int) -> tuple[tuple[str, bytes], ...]:  # noqa: ARG002
        return ((_FLOOR, self.plan),)


def application() -> Flask:
    """The service over a journal in the folder that the environment names, and the floor."""
    settings = replace(read_settings({}), threads=_THREADS)
    engine = open_database(Path(os.environ[_FOLDER]) / "headwater.db")
    journal, graph = Journal(engine), MemoryGraph()
    generations = Generations(engine, journal)
    projector = Projector(journal, graph, generations)
    clock = lambda: int(time.time() * 1000)  # noqa: E731
    app = create_app(settings, Service(journal, projector, graph, generations, clock))
    routes = app.wsgi_app

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != _FLOOR:
            return routes(environ, start_response)
        environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        start_response("201 CREATED", [("Content-Length", "0")])
        return [b""]

    app.wsgi_app = answer  # type: ignore[method-assign]
    return app


@contextmanager
def serving(server: str) -> Iterator[tuple[int, int]]:
    """The port and the process id of a server that answers."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [item.format(port=port) for item in _COMMANDS[server]]
        environment = {**os.environ, _FOLDER: folder}
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *command], env=environment, stdout=log, stderr=log
            )
        try:
            while process.poll() is None and not _answers(port):
                time.sleep(0.1)
            yield port, process.pid
        finally:
            process.terminate()
            process.wait(60)


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def milliseconds(port: int, pid: int, workload: Workload, options: argparse.Namespace) -> float:
    """CPU of the server's processes for one request; the first ones are not counted."""
    post_all(port, range(options.connections), 0, options.connections, workload=workload)
    before = _cpu(pid)
    count = len(post_all(port, range(options.jobs), 1, options.connections, workload=workload))
    return 1000 * (_cpu(pid) - before) / count


def _cpu(pid: int) -> float:
    return cpu_of(pid, *children(pid))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.servers", description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=", ".join(_COMMANDS))
    parser.add_argument("--jobs", type=int, default=4_000, help="pairs, and runs")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--serve", type=int, metavar="PORT", help="run waitress itself here")
    options = parser.parse_args()
    if options.serve:
        with reserve("127.0.0.1", options.serve) as listener:
            app = application()
            with listening(app, app.config["HEADWATER"], listener) as http:
                http.run()
        return
    workloads: dict[str, Workload] = {"floor": Floor(), "pair": Recorded(), "event": Events(4_000)}
    result: dict[tuple[str, str], list[float]] = {}
    for _ in range(_ROUNDS):
        for server in options.servers or ["waitress"]:
            with serving(server) as (port, pid):
                for name, workload in workloads.items():
                    took = milliseconds(port, pid, workload, options)
                    result.setdefault((server, name), []).append(took)
                    print(f"{server:<10}{name:<8}{took:8.2f} ms CPU a request", flush=True)
    for (server, name), values in result.items():
        print(f"{server:<10}{name:<8}{statistics.median(values):8.2f} ms, median of {_ROUNDS}")


if __name__ == "__main__":
    main()
