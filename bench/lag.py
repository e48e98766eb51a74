"""Does the lag grow in proportion under too much load, and drain to nothing after it?

    python -m bench.lag --times 4 --seconds 60

A real service with its embedded engine projects distinct plans with their events at some rate: the
*sustained* one, which is measured first. Then clients post at so many times that rate, whatever the
answers take, without waiting for the graph. Every second the number of documents that are accepted
and not projected is noted; in proportion means that a straight line through the notes explains
nearly all of them (R², 1 at best). After the load the time is taken until nothing is pending.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from bench.ingest.__main__ import measure
from bench.ingest.clients import ask
from bench.ingest.service import Service
from bench.ingest.workload import Workload

_CONCURRENCY: Final = 16


@dataclass
class Notes:
    """Seconds since the load began, and documents pending then."""

    times: list[float] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)

    def straightness(self) -> float:
        """R² of the straight line through them."""
        if len(set(self.pending)) < 2:
            return 1.0
        return statistics.correlation(self.times, self.pending) ** 2


class OpenLoad:
    """Posts pairs at a rate, on many connections, however long the answers take."""

    def __init__(self, port: int, rate: float, first: int) -> None:
        self.answered = 0
        self._port = port
        self._rate = rate
        self._workload = Workload()
        self._jobs: Iterator[int] = count(first)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._began = 0.0
        self._begun = 0

    def run(self, seconds: float, notes: Notes, service: Service) -> None:
        """Post for this time, noting the number of pending documents."""
        self._began = time.monotonic()
        threads = [threading.Thread(target=self._work) for _ in range(_CONCURRENCY)]
        for thread in threads:
            thread.start()
        while (passed := time.monotonic() - self._began) < seconds:
            notes.times.append(passed)
            notes.pending.append(service.get("/journal?summary=true")["pending"])
            time.sleep(1.0)
        self._stopping.set()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while not self._stopping.is_set():
            with self._lock:
                job, due = next(self._jobs), self._began + self._begun / self._rate
                self._begun += 1
            requests = self._workload.requests(job, 0)
            if self._stopping.wait(max(0.0, due - time.monotonic())):
                break
            for path, body in requests:
                ask(connection, path, body, self._workload.content_type, attempts=1)
            with self._lock:
                self.answered += 1
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.lag", description=__doc__)
    parser.add_argument("--times", type=float, default=4.0, help="the sustained rate")
    parser.add_argument("--seconds", type=float, default=60.0, help="of load")
    parser.add_argument("--plans", type=int, default=500, help="to measure the sustained rate")
    options = parser.parse_args()
    settings = {"HEADWATER_GREMLIN_HEAP": "2048", "HEADWATER_PROJECTION_WAIT": "0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        Service(Path(folder) / "data", settings) as service,
    ):
        first = measure(service, range(options.plans), 0, _CONCURRENCY)
        sustained = options.plans / first.wall
        print(f"sustained: {sustained:.0f} pairs/s over {options.plans} pairs", flush=True)
        overload(service, sustained, options.times, options.seconds, options.plans)


def overload(service: Service, sustained: float, times: float, seconds: float, first: int) -> None:
    """Post too much for a while, then wait until all of it is in the graph."""
    load, notes = OpenLoad(service.port, times * sustained, first), Notes()
    load.run(seconds, notes, service)
    began = time.monotonic()
    left = service.get("/journal?summary=true")["pending"]
    print(
        f"load: {times * sustained:.0f} pairs/s asked for {seconds:.0f} s, "
        f"{load.answered / seconds:.0f} pairs/s answered; pending at the end {left:,}"
    )
    print(f"lag against time: R² {notes.straightness():.3f}")
    print("pending, second by second:", *notes.pending)
    service.await_projected()
    print(f"drained to 0 in {time.monotonic() - began:.0f} s", service.get("/journal?summary=true"))
    own, engine = service.resident_megabytes()
    print(f"resident memory: service {own:.0f} MB, engine {engine:.0f} MB")


if __name__ == "__main__":
    main()
