"""Events -> enqueue -> a FIFO queue -> take -> the journal, with faults; then the comparison."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from api.serving.storage import open_storage
from api.settings import read_settings
from aws.enqueue import make_enqueue
from aws.take import make_take
from graph_model.stores.journal import SqlJournal
from tests.aws import Aws
from tests.lambda_runtime import EventSource, Request, http_api_2

_RUNS_TOGETHER = 40
_EVENTS_A_RUN = 20
_A_REQUEST = 10
_ABOUT_QUEUED = 200
_POISON = 0.001
_CRASHES = 0.01


class _Killed(BaseException):
    """A function that has journalled its batch and never answers."""


@dataclass
class Outcome:
    """``seconds`` of sending and taking together; ``delivered`` counts repeated deliveries, too."""

    sent: int = 0
    poison: int = 0
    delivered: int = 0
    crashes: int = 0
    send_seconds: float = 0.0
    take_seconds: float = 0.0
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


def simulate(aws: Aws, data: str, messages: int, minutes: float) -> Outcome:
    """Send and take in turns, so that the queue stays short: moto walks all of it for each batch.
    Ends early after so many minutes.
    """
    environment = {
        "HEADWATER_DATA": data,
        "HEADWATER_GREMLIN_URL": "ws://127.0.0.1:1/gremlin",
        "HEADWATER_EVENT_QUEUE": aws.queue(fifo=True),
        "HEADWATER_DEAD_LETTER_QUEUE": aws.queue(fifo=True),
        "HEADWATER_LOG_LEVEL": "error",
    }
    chance, outcome = random.Random(1), Outcome()
    source = EventSource(aws, environment["HEADWATER_EVENT_QUEUE"])
    enqueue, take = make_enqueue(environment), make_take(environment)
    sent: Counter[str] = Counter()

    def function(event: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        answer = take.run(event, lambda: False)
        outcome.take_seconds += time.perf_counter() - began
        if chance.random() < _CRASHES:
            raise _Killed
        return answer

    def poll() -> bool:
        try:
            had = source.poll(function)
        except _Killed:
            outcome.crashes += 1
            had = _A_REQUEST
        outcome.delivered += had
        return had > 0

    end = time.monotonic() + minutes * 60
    batch: list[dict[str, Any]] = []
    for event in events(messages, chance):
        batch.append(event)
        if len(batch) < _A_REQUEST:
            continue
        _send(enqueue, batch, outcome, sent)
        batch = []
        if outcome.sent % _ABOUT_QUEUED == 0:
            for _ in range(_ABOUT_QUEUED // _A_REQUEST):
                poll()
        if time.monotonic() > end:
            break
    while poll():
        pass
    _compare(environment, sent, outcome, aws)
    return outcome


def _send(enqueue: Any, batch: list[dict[str, Any]], outcome: Outcome, sent: Counter[str]) -> None:
    request = http_api_2(Request("POST", "/api/v1/lineage/batch", json.dumps(batch).encode()))
    began = time.perf_counter()
    answer = enqueue.answer(request)
    outcome.send_seconds += time.perf_counter() - began
    if answer["statusCode"] != 201:
        raise AssertionError(answer)
    outcome.sent += len(batch)
    for event in batch:
        if "name" in event["job"]:
            sent[event["run"]["runId"]] += 1
        else:
            outcome.poison += 1


def _compare(environment: dict[str, str], sent: Counter[str], outcome: Outcome, aws: Aws) -> None:
    """Every event once, and those of a run in their order."""
    journal = SqlJournal(open_storage(read_settings(environment)))
    found: Counter[str] = Counter()
    last: dict[str, int] = {}
    newest = journal.newest()
    for start in range(1, newest + 1, 1_000):
        for document in journal.documents(range(start, min(start + 1_000, newest + 1))):
            event = json.loads(document.body)
            run = event["run"]["runId"]
            found[run] += 1
            if event["n"] <= last.get(run, -1):
                outcome.problems.append(f"{run}: {event['n']} after {last[run]}")
            last[run] = event["n"]
    journal.close()
    outcome.journalled = found.total()
    outcome.dead = EventSource(aws, environment["HEADWATER_DEAD_LETTER_QUEUE"]).count()
    if found != sent:
        outcome.problems.append(f"{sum((sent - found).values())} lost, {found - sent} too many")
