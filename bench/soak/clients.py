"""Threads that post until they are stopped, and keep a record of the acknowledged documents."""

from __future__ import annotations

import http.client
import math
import threading
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from bench.ingest.workload import EVENTS, PLANS, Workload, event, plan_id

_TYPE: Final = "application/vnd.absa.spline.producer.v1.2+json"
_RETRY_SECONDS: Final = 0.2
_JOBS: Final = 200


@dataclass
class Acknowledged:
    """The documents answered with 201: plan ids, and (plan id, run) of events."""

    plans: set[str] = field(default_factory=set)
    events: set[tuple[str, int]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, job: int, run: int) -> None:
        """Both documents of a run were answered."""
        with self.lock:
            self.plans.add(plan_id(job))
            self.events.add((plan_id(job), run))


class Clients:
    """``number`` threads with jobs of their own, run after run; ``rate`` runs a second at most."""

    def __init__(self, number: int, port: int, rate: float = math.inf) -> None:
        self.acknowledged = Acknowledged()
        self._port = port
        self._seconds_a_run = number / rate
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(place, number), daemon=True)
            for place in range(number)
        ]

    def start(self) -> None:
        """Begin to post."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish the requests that are under way, then stop."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(120)

    def _work(self, place: int, number: int) -> None:
        workload = Workload(3)
        jobs = range(place, _JOBS, number)
        plans = {job: workload.plan(job) for job in jobs}
        for run in count():
            for job in jobs:
                begun = time.monotonic()
                if not self._post(PLANS, plans[job]) or not self._post(EVENTS, event(job, run)):
                    return
                self.acknowledged.add(job, run)
                self._stopping.wait(max(0.0, begun + self._seconds_a_run - time.monotonic()))

    def _post(self, path: str, body: bytes) -> bool:
        """Until it is answered 201; False when the end came first."""
        while not self._stopping.is_set():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
                connection.request("POST", path, body, {"Content-Type": _TYPE})
                status = connection.getresponse().status
                connection.close()
                if status == 201:
                    return True
                if status != 503:
                    raise RuntimeError(f"{path} answers {status}")
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(_RETRY_SECONDS)
        return False
