"""Events -> enqueue -> a FIFO queue -> take -> the journal, with faults; then the comparison."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from api.serving.storage import open_storage
from api.settings import read_settings
from aws.enqueue import make_enqueue
from aws.take import make_take
from graph_model.stores.journal import Journal
from graph_model.values import batched
from tests.aws import Aws
from tests.lambda_runtime import EventSource, Request, http_api_2

_RUNS_TOGETHER: Final = 10
_EVENTS_A_RUN: Final = 20
_A_REQUEST: Final = 10
_AWAY: Final = 3
"""Requests that arrive while nothing is taken, after a crash: several events of each run wait."""
_POISON: Final = 0.001
_CRASHES: Final = 0.01
_A_REPORT: Final = 10_000


class _Killed(BaseException):
    """A function that has journalled its batch and never answers."""


@dataclass
class Outcome:
    """``seconds`` of sending and taking apart; ``delivered`` counts repeated deliveries, too;
    ``cpu`` is that of the functions and their clients, and that of moto.
    """

    sent: int = 0
    poison: int = 0
    delivered: int = 0
    crashes: int = 0
    send_seconds: float = 0.0
    take_seconds: float = 0.0
    cpu: float = 0.0
    moto_cpu: float = 0.0
    journalled: int = 0
    dead: int = 0
    problems: list[str] = field(default_factory=list)


def events(number: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Events of many runs, interleaved; those of a run in the order of ``n``."""
    for index in range(number):
        block, place = divmod(index, _RUNS_TOGETHER * _EVENTS_A_RUN)
        run, n = f"run-{block}-{place % _RUNS_TOGETHER}", place // _RUNS_TOGETHER
        event: dict[str, Any] = {
            "eventType": "COMPLETE" if n == _EVENTS_A_RUN - 1 else "RUNNING",
            "eventTime": f"2026-01-01T00:00:{n:02d}Z",
            "producer": "https://example.org/simulation",
            "run": {"runId": run},
            "job": {"namespace": "simulation", "name": f"job-{place % _RUNS_TOGETHER}"},
            "inputs": [{"namespace": "s3://lake", "name": f"raw/{place % 97}"}],
            "outputs": [{"namespace": "s3://lake", "name": f"curated/{place % 89}"}],
            "n": n,
        }
        if chance.random() < _POISON:
            event["job"] = {"namespace": "simulation"}
        yield event


class Road:
    """One deployment: its queues, its functions, its journal. It sends and takes in turns, so that
    the queue stays short: moto walks all of it several times for each message.
    """

    def __init__(self, aws: Aws, data: str, seed: int) -> None:
        self._environment = {
            "HEADWATER_DATA": data,
            "HEADWATER_GREMLIN_URL": "ws://127.0.0.1:1/gremlin",
            "HEADWATER_EVENT_QUEUE": aws.queue(fifo=True),
            "HEADWATER_DEAD_LETTER_QUEUE": aws.queue(fifo=True),
            "HEADWATER_LOG_LEVEL": "error",
        }
        self.outcome = Outcome()
        self._chance = random.Random(seed)
        self._enqueue, self._take = make_enqueue(self._environment), make_take(self._environment)
        self._source = EventSource(aws, self._environment["HEADWATER_EVENT_QUEUE"])
        self._dead = EventSource(aws, self._environment["HEADWATER_DEAD_LETTER_QUEUE"])
        self._sent: Counter[str] = Counter()
        self._waiting = 0
        self._away = 0

    def carry(self, messages: int, enough: Callable[[], bool]) -> Iterator[int]:
        """Send that many unless it is enough before, and take them all. How many were sent, now
        and then.
        """
        for batch in batched(events(messages, self._chance), _A_REQUEST):
            if enough():
                break
            self._send(batch)
            if self._away:
                self._away -= 1
            else:
                self._take_waiting()
            if self.outcome.sent % _A_REPORT == 0:
                yield self.outcome.sent
        while self._take_batch():
            pass

    def _send(self, batch: list[dict[str, Any]]) -> None:
        request = http_api_2(Request("POST", "/api/v1/lineage/batch", json.dumps(batch).encode()))
        began = time.perf_counter()
        answer = self._enqueue.answer(request)
        self.outcome.send_seconds += time.perf_counter() - began
        if answer["statusCode"] != 201:
            raise AssertionError(answer)
        self.outcome.sent += len(batch)
        self._waiting += len(batch)
        for event in batch:
            if "name" in event["job"]:
                self._sent[event["run"]["runId"]] += 1
            else:
                self.outcome.poison += 1

    def _take_waiting(self) -> None:
        while self._waiting and not self._away and self._take_batch():
            pass

    def _take_batch(self) -> bool:
        """Whether there was one."""
        before = self.outcome.delivered
        try:
            self._waiting -= self._source.poll(self._function)
        except _Killed:
            self.outcome.crashes += 1
            self._away = _AWAY
        return self.outcome.delivered > before

    def _function(self, event: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        answer = self._take.run(event, lambda: False)
        self.outcome.take_seconds += time.perf_counter() - began
        self.outcome.delivered += len(event["Records"])
        if self._chance.random() < _CRASHES:
            raise _Killed
        return answer

    def compare(self) -> None:
        """Every event once, and those of a run in their order; every poison set aside."""
        self._take.close()
        result: Counter[str] = Counter()
        last: dict[str, int] = {}
        for run, n in self._journalled():
            if n <= last.get(run, -1):
                self.outcome.problems.append(f"{run}: {n} after {last[run]}")
            result[run], last[run] = result[run] + 1, n
        self.outcome.journalled = result.total()
        self.outcome.dead = self._dead.count()
        if result != self._sent:
            lost, twice = (self._sent - result).total(), (result - self._sent).total()
            self.outcome.problems.append(f"{lost} lost, {twice} too many")
        if self.outcome.dead < self.outcome.poison:
            self.outcome.problems.append(f"{self.outcome.poison - self.outcome.dead} poison lost")

    def _journalled(self) -> Iterator[tuple[str, int]]:
        """The run and the number of each event, in the journal's order."""
        journal = Journal(open_storage(read_settings(self._environment)))
        newest = journal.newest()
        for start in range(1, newest + 1, 1_000):
            for document in journal.documents(range(start, min(start + 1_000, newest + 1))):
                event = json.loads(document.body)
                yield event["run"]["runId"], event["n"]
        journal.close()
