"""What do the doors cost: documents sent on, and PostLineageEvent beside OpenLineage's road?

    python -m bench.doors --events 3000

Forwarding: a journal of OpenLineage's events (a START of 1 kB and a COMPLETE of 7 kB a run) in a
SQLite file is sent to an HTTP server in another process, over one connection and over four; CPU is
that of the forwarding process. Posts: the same events through the application, to each of the two
routes, without projecting; rounds of both take turns, and each has events of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Final

from api.application import create_app
from api.service import Service
from api.settings import read_settings
from bench.disk import sqlite_file
from bench.openlineage.workload import Workload
from collectors.forwarding.backends import ForwardTarget, checked
from collectors.forwarding.events import OpenLineageEvents
from collectors.forwarding.rounds import Forwarding
from graph_model import naming
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.forwarding import ForwardStates
from graph_model.stores.journal import Journal
from tests.memory_graph import MemoryGraph

_NOW: Final = 1_767_225_600_000
_ROUNDS: Final = 8
_ROADS: Final = {"OpenLineage": "/api/v1/lineage", "DataZone": "/v2/domains/dzd_a/lineage/events"}


class _Sink(BaseHTTPRequestHandler):
    """Takes every event."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def _serve(ports: Queue[int]) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sink)
    ports.put(server.server_port)
    server.serve_forever()


def _bodies(number: int, first_run: int) -> list[bytes]:
    """The events of runs of different jobs."""
    workload = Workload(number)
    runs = (workload.requests(job, first_run) for job in range(number // 2))
    return [body for requests in runs for _, body in requests]


class _Application:
    def __init__(self, file: Path) -> None:
        self.journal = Journal(open_database(file))
        generations = Generations(open_database(file), self.journal)
        graph = MemoryGraph()
        projector = Projector(self.journal, graph, generations)
        projector.prepare()
        service = Service(self.journal, projector, graph, generations, lambda: _NOW)
        environment = {"HEADWATER_PROJECTION_WAIT": "0"}
        self._client = create_app(read_settings(environment), service).test_client()

    def post(self, road: str, bodies: list[bytes]) -> float:
        """CPU milliseconds an event."""
        began = time.process_time()
        for body in bodies:
            answer = self._client.post(_ROADS[road], data=body, content_type="application/json")
            assert answer.status_code < 300, answer.text
        return 1000 * (time.process_time() - began) / len(bodies)


def _post(events: int) -> None:
    with sqlite_file() as file:
        application = _Application(file)
        result: dict[str, list[float]] = {road: [] for road in _ROADS}
        for number in range(_ROUNDS):
            for place, road in enumerate(_ROADS):
                bodies = _bodies(events // _ROUNDS, 2 * number + place)
                result[road].append(application.post(road, bodies))
    for road, costs in result.items():
        print(f"post {road:<12} {statistics.median(costs):.2f} ms CPU an event", flush=True)


def _forward(events: int, connections: int, port: int) -> None:
    with sqlite_file() as file:
        application = _Application(file)
        application.post("OpenLineage", _bodies(events, 0))
        states = ForwardStates(open_database(file))
        target = ForwardTarget("openlineage", f"http://127.0.0.1:{port}", connections=connections)
        states.add("there", checked(target).text, 0)
        source = OpenLineageEvents(application.journal, naming.DEFAULT_RULES)
        forwarding = Forwarding("there", application.journal, states, source, lambda: _NOW)
        began, used = time.monotonic(), time.process_time()
        forwarding.run(lambda _: False, once=True)
        seconds, used = time.monotonic() - began, time.process_time() - used
        (state,) = states.list()
        print(
            f"forward over {connections}: {state.sent:,} events, {state.sent / used:,.0f}/s of CPU,"
            f" {state.sent / seconds:,.0f}/s of the clock",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.doors", description=__doc__)
    parser.add_argument("--events", type=int, default=3_000)
    options = parser.parse_args()
    _post(options.events)
    context = multiprocessing.get_context("spawn")
    ports: Queue[int] = context.Queue()
    server = context.Process(target=_serve, args=(ports,), daemon=True)
    server.start()
    port = ports.get()
    for connections in (1, 4):
        _forward(options.events, connections, port)
    server.terminate()


if __name__ == "__main__":
    main()
