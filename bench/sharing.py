"""What do several services on one PostgreSQL database and one Gremlin database take?

    python -m bench.sharing --services 1 2 4 --jobs 400

For each number of services a PostgreSQL of its own (fsync as by default), a Gremlin Server, and the
services on both. Clients spread their connections over the services: distinct plans with an event
each, then the same plans with new events. ``bench.takeover`` measures the wait after a kill.
"""

from __future__ import annotations

import argparse
import http.client
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from bench.ingest.service import Service
from bench.ingest.workload import Workload
from bench.processes import children, cpu_of
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from tests.contract.postgresql import PostgreSQL, postgresql

_CONNECTIONS: Final = 16
_TIMEOUT_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Load:
    """``taken``: seconds until all was acknowledged; ``wall``: until all was projected. CPU in
    seconds.
    """

    pairs: int
    taken: float
    wall: float
    services: float
    postgresql: float
    engine: float


class Estate:
    """Services that share a database and a graph."""

    def __init__(
        self, services: Sequence[Service], server: PostgreSQL, engine: EmbeddedServer
    ) -> None:
        self.services = list(services)
        self._server = server
        self._engine = engine
        self._workload = Workload()

    def load(self, jobs: range, run: int) -> Load:
        """Post one run of each job and wait until all is projected."""
        before, began = self._cpu(), time.monotonic()
        self.post(jobs, run)
        taken = time.monotonic() - began
        self.services[0].await_projected()
        wall, after = time.monotonic() - began, self._cpu()
        used = [now - then for now, then in zip(after, before, strict=True)]
        return Load(len(jobs), taken, wall, *used)

    def post(self, jobs: range, run: int) -> None:
        """Until everything is acknowledged."""
        with ThreadPoolExecutor(_CONNECTIONS) as threads:
            parts = [jobs[place::_CONNECTIONS] for place in range(_CONNECTIONS)]
            list(threads.map(lambda one: self._send(one[0], one[1], run), enumerate(parts)))

    def _send(self, place: int, jobs: range, run: int) -> None:
        port = self.services[place % len(self.services)].port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_SECONDS)
        for job in jobs:
            for path, body in self._workload.requests(job, run):
                connection.request("POST", path, body, {"Content-Type": Workload.content_type})
                answer = connection.getresponse()
                answer.read()
                if answer.status != HTTPStatus.CREATED:
                    raise RuntimeError(f"{path} answers {answer.status}")
        connection.close()

    def _cpu(self) -> tuple[float, float, float]:
        server = self._server.process.pid if self._server.process else 0
        return (
            cpu_of(*(service.pid for service in self.services)),
            cpu_of(server, *children(server)),
            cpu_of(self._engine.pid or 0),
        )


@contextmanager
def estate(count: int) -> Iterator[Estate]:
    """So many services, ready; all of it is gone at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(postgresql())
        engine = EmbeddedServer(folder / "engine", environment=os.environ, port=0)
        engine.start()
        stack.callback(engine.stop)
        shared = {"HEADWATER_DATABASE": server.url, "HEADWATER_GREMLIN_URL": engine.url}
        services = []
        for number in range(count):
            own = folder / str(number)
            own.mkdir()
            services.append(Service(own / "data", shared))
            services[-1].start()
        made = Estate(services, server, engine)
        yield made
        for service in made.services:
            service.stop()


def describe(count: int, name: str, load: Load) -> str:
    """One line of the table."""
    each = [1000 * item / load.pairs for item in (load.services, load.postgresql, load.engine)]
    return (
        f"{count:>8}  {name:<10}{load.pairs / load.taken:>12.0f}{load.pairs / load.wall:>12.0f}"
        f"{each[0]:>12.2f}{each[1]:>12.2f}{each[2]:>12.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.sharing", description=__doc__)
    parser.add_argument("--services", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--jobs", type=int, default=400)
    asked = parser.parse_args()
    print("services  pairs     taken, 1/s  projected/s  services ms  database ms    engine ms")
    for count in asked.services:
        with estate(count) as made:
            print(describe(count, "first", made.load(range(asked.jobs), 0)), flush=True)
            print(describe(count, "repeated", made.load(range(asked.jobs), 1)), flush=True)


if __name__ == "__main__":
    main()
