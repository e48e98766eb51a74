"""Several roads beside each other, as several deployments have them: for each a process with the
functions and its journal, and a process of moto with its queues.
"""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import fields
from multiprocessing.synchronize import Event

import requests

from bench.ingest.service import free_port
from bench.processes import cpu_of
from bench.queue_road.road import Outcome, Road
from tests.aws import Aws, environment_of


@contextmanager
def moto_process() -> Iterator[tuple[Aws, int]]:
    """moto's server as a process, and its id: it does not take this one's time. It has a group of
    its own, so that an interrupt in a terminal leaves it to its road.
    """
    port = free_port()
    program = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        for _ in range(600):
            try:
                requests.get(f"http://127.0.0.1:{port}/moto-api", timeout=5)
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield Aws(f"http://127.0.0.1:{port}"), process.pid
    finally:
        process.terminate()
        process.wait()


def simulate(roads: int, messages: int, minutes: float) -> Outcome:
    """All roads together. They end early after so many minutes, and on an interrupt; then they
    take the messages in their queues and compare.
    """
    stop = multiprocessing.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    end = time.monotonic() + minutes * 60
    share = -(-messages // roads)
    with ProcessPoolExecutor(roads, initializer=_inherit, initargs=(stop,)) as pool:
        outcomes = list(pool.map(_travel, range(roads), [share] * roads, [end] * roads))
    return _sum(outcomes)


_stop: Event


def _inherit(stop: Event) -> None:
    """In the process of a road: an interrupt is the first process's to answer."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _travel(number: int, messages: int, end: float) -> Outcome:
    with (
        moto_process() as (aws, pid),
        environment_of(aws),
        tempfile.TemporaryDirectory() as folder,
    ):
        road = Road(aws, folder, number)
        began = time.process_time()
        for sent in road.carry(messages, lambda: _stop.is_set() or time.monotonic() > end):
            print(f"road {number + 1}: {sent:,} messages sent", flush=True)
        road.outcome.cpu, road.outcome.moto_cpu = time.process_time() - began, cpu_of(pid)
        road.compare()
    return road.outcome


def _sum(outcomes: Sequence[Outcome]) -> Outcome:
    total = Outcome()
    for outcome in outcomes:
        for part in fields(Outcome):
            value = getattr(total, part.name) + getattr(outcome, part.name)
            setattr(total, part.name, value)
    return total
