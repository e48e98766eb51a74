"""Clients in processes of their own: each connection posts the requests of a job, in order."""

from __future__ import annotations

import http.client
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

from bench.ingest.workload import Workload as PlanWorkload

Requests = Sequence[tuple[str, bytes]]
_PROCESSES: Final = 2
_ATTEMPTS: Final = 3


class Workload(Protocol):
    """The documents that jobs post; it is sent to other processes."""

    @property
    def content_type(self) -> str: ...

    def requests(self, job: int, run: int) -> Requests:
        """Path and body of each request of one run of a job, in order."""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of one process: it posts one run of these jobs, on this many connections.

    ``interval`` are the seconds from request to request of a connection; 0 is as fast as it goes.
    """

    port: int
    workload: Workload
    jobs: tuple[int, ...]
    run: int
    connections: int
    interval: float


def post_all(
    port: int,
    jobs: range,
    run: int,
    concurrency: int,
    *,
    workload: Workload | None = None,
    rate: float = 0.0,
) -> list[float]:
    """Post one run of each job (of plans and events); seconds each request took, in no order.

    ``rate`` is how many requests are sent a second; 0 is as many as are answered. Raises
    RuntimeError for an answer other than 201.
    """
    posted = PlanWorkload() if workload is None else workload
    processes = min(_PROCESSES, concurrency)
    interval = concurrency / rate if rate else 0.0
    connections = concurrency // processes
    shares = [
        Share(port, posted, tuple(jobs[place::processes]), run, connections, interval)
        for place in range(processes)
    ]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return [seconds for part in pool.map(post_share, shares) for seconds in part]


def post_share(share: Share) -> list[float]:
    """Runs in a process of its own."""
    jobs = [share.workload.requests(job, share.run) for job in share.jobs]
    with ThreadPoolExecutor(share.connections) as threads:
        parts = [
            [request for job in jobs[place :: share.connections] for request in job]
            for place in range(share.connections)
        ]
        results = threads.map(lambda part: _post(share, part), parts)
        return [seconds for part in results for seconds in part]


def _post(share: Share, requests: Requests) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", share.port, timeout=60)
    took: list[float] = []
    due = time.monotonic()
    for path, body in requests:
        time.sleep(max(0.0, due - time.monotonic()))
        due += share.interval
        began = time.monotonic()
        ask(connection, path, body, share.workload.content_type)
        took.append(time.monotonic() - began)
    connection.close()
    return took


def ask(
    connection: http.client.HTTPConnection,
    path: str,
    body: bytes,
    kind: str,
    attempts: int = _ATTEMPTS,
) -> None:
    """Post and wait for 201; a 503 is tried again. Raises RuntimeError for any other answer."""
    for attempt in range(attempts):
        connection.request("POST", path, body, {"Content-Type": kind})
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            return
        if answer.status != 503 or attempt == attempts - 1:
            raise RuntimeError(f"{path} answers {answer.status}")
        time.sleep(1.0)
