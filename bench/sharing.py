"""What do several services on one PostgreSQL database and one Gremlin database take?

    python -m bench.sharing --services 1 2 4 --jobs 400

For each number of services a PostgreSQL of its own (fsync as by default), a Gremlin Server, and the
services on both. Clients spread their connections over the services: distinct plans with an event
each, then the same plans with new events; each connection goes on with the next service when one
does not answer. Then more distinct plans come, and the service that projects at that moment (it
holds the database's lock) is killed with -9: the seconds until another one has projected documents,
and what was acknowledged and is not in the journal.
"""

from __future__ import annotations

import argparse
import http.client
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from bench.ingest.service import Service, children, cpu_of
from bench.ingest.workload import Workload
from graph_model.stores.database import Lock
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from tests.contract.postgresql import PostgreSQL, postgresql

_CONNECTIONS: Final = 16
_PATIENCE_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 0.05
_HOLDER: Final = sa.text(
    "SELECT client_port FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE locktype = 'advisory' AND granted"
    f" AND (classid::bigint << 32) + objid::bigint = {int(Lock.PROJECTION)}"
)
"""The client's end of the connection that holds the lock of projectors."""


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
        self._database = sa.create_engine(server.url, isolation_level="AUTOCOMMIT")
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
        ports = [service.port for service in self.services]
        connection = http.client.HTTPConnection("127.0.0.1", ports[place % len(ports)], timeout=30)
        for job in jobs:
            for path, body in self._workload.requests(job, run):
                end = time.monotonic() + _PATIENCE_SECONDS
                while not _is_taken(connection, path, body):
                    if time.monotonic() > end:
                        raise RuntimeError(f"{path} is not taken")
                    place += 1
                    connection = http.client.HTTPConnection(
                        "127.0.0.1", ports[place % len(ports)], timeout=30
                    )

    def take_over(self, jobs: range) -> tuple[float, int]:
        """Kill the service that projects while these jobs come: the seconds until another one has
        projected something, and how many documents are lost.
        """
        before = self.services[0].get("/journal?summary=true")["received"]
        sender = threading.Thread(target=self.post, args=(jobs, 0))
        sender.start()
        victim = self._projecting()
        os.kill(victim.pid, signal.SIGKILL)
        killed = time.monotonic()
        other = next(one for one in self.services if one is not victim)
        projected = _projected(other)
        while _projected(other) == projected:
            time.sleep(_PAUSE_SECONDS)
        took = time.monotonic() - killed
        sender.join()
        other.await_projected()
        self.services.remove(victim)
        received = other.get("/journal?summary=true")["received"]
        return took, before + 2 * len(jobs) - received

    def _projecting(self) -> Service:
        """The service that holds the lock of projectors, with much of the work still to come."""
        while True:
            with self._database.connect() as connection:
                ports = connection.execute(_HOLDER).scalars().all()
            for service in self.services:
                if not _ports_of(service.pid).isdisjoint(ports):
                    return service
            time.sleep(_PAUSE_SECONDS)

    def _cpu(self) -> tuple[float, float, float]:
        server = self._server.process.pid if self._server.process else 0
        return (
            sum(cpu_of(service.pid) for service in self.services),
            cpu_of(server) + sum(map(cpu_of, children(server))),
            cpu_of(self._engine.pid or 0),
        )


def _is_taken(connection: http.client.HTTPConnection, path: str, body: bytes) -> bool:
    try:
        connection.request("POST", path, body, {"Content-Type": Workload.content_type})
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        connection.close()
        return False
    if answer.status not in (201, 503):
        raise RuntimeError(f"{path} answers {answer.status}")
    return answer.status == 201


def _projected(service: Service) -> int:
    return int(service.get("/journal?summary=true")["projected"])


def _ports_of(pid: int) -> set[int]:
    """The local ports of a process's TCP connections."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(entry))
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in sockets:
                found.add(int(fields[1].rpartition(":")[2], 16))
    return found


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
    each = [1000 * one / load.pairs for one in (load.services, load.postgresql, load.engine)]
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
            if count > 1:
                took, lost = made.take_over(range(asked.jobs, 2 * asked.jobs))
                print(
                    f"{count:>8}  taken over after {took:.1f} s, {lost} documents lost", flush=True
                )


if __name__ == "__main__":
    main()
