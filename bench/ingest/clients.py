"""Clients in processes of their own: each thread posts a plan, then its event, and so on."""

from __future__ import annotations

import http.client
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from bench.ingest.workload import EVENTS, PLANS, Workload

_TYPE: Final = "application/vnd.absa.spline.producer.v1.2+json"
_PROCESSES: Final = 2
_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Share:
    """What one process posts: one run of these jobs, on this many connections."""

    port: int
    jobs: tuple[int, ...]
    run: int
    connections: int


def post_all(port: int, jobs: range, run: int, concurrency: int) -> list[float]:
    """Post one run of each job; seconds each request took, in no order.

    Raises RuntimeError for an answer other than 201.
    """
    processes = min(_PROCESSES, concurrency)
    shares = [
        Share(port, tuple(jobs[place::processes]), run, concurrency // processes)
        for place in range(processes)
    ]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return [seconds for part in pool.map(post_share, shares) for seconds in part]


def post_share(share: Share) -> list[float]:
    """Runs in a process of its own."""
    workload = Workload()
    bodies = [(workload.plan(job), next(workload.pairs(range(job, job + 1), share.run)).event)
              for job in share.jobs]  # fmt: skip
    with ThreadPoolExecutor(share.connections) as threads:
        parts = [bodies[place :: share.connections] for place in range(share.connections)]
        results = threads.map(lambda part: _post(share.port, part), parts)
        return [seconds for part in results for seconds in part]


def _post(port: int, bodies: Sequence[tuple[bytes, bytes]]) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    took: list[float] = []
    for plan, event in bodies:
        for path, body in ((PLANS, plan), (EVENTS, event)):
            began = time.monotonic()
            _ask(connection, path, body)
            took.append(time.monotonic() - began)
    connection.close()
    return took


def _ask(connection: http.client.HTTPConnection, path: str, body: bytes) -> None:
    for attempt in range(_ATTEMPTS):
        connection.request("POST", path, body, {"Content-Type": _TYPE})
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            return
        if answer.status != 503 or attempt == _ATTEMPTS - 1:
            raise RuntimeError(f"{path} answers {answer.status}")
        time.sleep(1.0)
