"""One soak: load, kills, and the findings afterwards."""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench.ingest.service import VICTIMS, Service
from bench.ingest.workload import event
from bench.soak.clients import Acknowledged, Clients

_LEAST_SECONDS: Final = 0.5
_MOST_SECONDS: Final = 6.0
_SAMPLE_SECONDS: Final = 5.0
_SHOWN: Final = 20
_FLAT: Final = 1.2
"""The last quarter of the samples of memory may be this much above the second."""


class Soak:
    """``folder`` is empty and writable; ``chance`` decides which process is killed, and when."""

    def __init__(
        self,
        folder: Path,
        clients: int,
        chance: random.Random,
        say: Callable[[str], None],
        rate: float = math.inf,
    ) -> None:
        self._service = Service(folder / "data", {"HEADWATER_GREMLIN_HEAP": "2048"})
        self._clients = Clients(clients, self._service.port, rate)
        self._chance = chance
        self._say = say
        self._samples: list[tuple[float, float]] = []

    def run(self, kills: int, seconds: float, within: float = math.inf) -> list[str]:
        """Everything that is wrong in the end; nothing, if all is well.

        So many kills, or as many as come ``within`` so many seconds; then load for ``seconds``.
        """
        end = time.monotonic() + within
        self._service.start()
        try:
            self._clients.start()
            for number in range(1, kills + 1):
                time.sleep(self._chance.uniform(_LEAST_SECONDS, _MOST_SECONDS))
                if time.monotonic() > end:
                    self._say(f"time is over after {number - 1} kills")
                    break
                self._kill(number, self._chance.choice(VICTIMS))
            self._sample(seconds)
            self._clients.stop()
            self._service.await_ready()
            self._service.await_projected()
            problems = self._look(self._clients.acknowledged)
        finally:
            self._service.stop()
        return [*problems, *self._compare_journal(self._clients.acknowledged)]

    def _kill(self, number: int, victim: str) -> None:
        done = len(self._clients.acknowledged.events)
        self._say(f"kill {number}: {victim}, {done:,} runs acknowledged so far")
        self._service.kill(victim)

    def _sample(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(_SAMPLE_SECONDS)
            self._samples.append(self._service.resident_megabytes())

    def _look(self, acknowledged: Acknowledged) -> list[str]:
        """The problems that the running service reports."""
        problems: list[str] = []
        summary = self._service.get("/journal?summary=true")
        self._say(f"{len(acknowledged.events):,} runs acknowledged, journal {summary}")
        if summary["failed"] or summary["waiting"]:
            problems.append(f"failed or waiting documents: {summary}")
        progress = self._service.rebuild()
        self._say(f"hash {progress['before']} before a rebuild, {progress['after']} after it")
        if progress["before"] != progress["after"]:
            problems.append("a rebuild gives another graph or catalogue")
        return [*problems, *self._growth()]

    def _growth(self) -> list[str]:
        if len(self._samples) < 8:
            return []
        for name, place in (("service", 0), ("engine", 1)):
            series = [round(sample[place]) for sample in self._samples]
            shown = series[:: max(1, len(series) // _SHOWN)]
            self._say(f"memory of the {name} in MB, evenly over the load: {shown}")
        own = [sample[0] for sample in self._samples]
        quarter = len(own) // 4
        before = statistics.median(own[quarter : 2 * quarter])
        after = statistics.median(own[-quarter:])
        if after <= _FLAT * before:
            return []
        return [f"memory grew from {before:.0f} to {after:.0f} MB"]

    def _compare_journal(self, acknowledged: Acknowledged) -> list[str]:
        """The documents of the journal, read back with the service stopped."""
        exported = [json.loads(line) for line in self._service.export()]
        plans = Counter(line["planId"] for line in exported if line["kind"] == "plan")
        events = Counter(
            (line["planId"], int(line["body"]["timestamp"]))
            for line in exported
            if line["kind"] == "event"
        )
        asked = {(plan, _time(plan, run)) for plan, run in acknowledged.events}
        problems = []
        if missing := acknowledged.plans - set(plans):
            problems.append(f"{len(missing)} plans lost")
        if lost := asked - set(events):
            problems.append(f"{len(lost)} events lost, such as {sorted(lost)[0]}")
        if twice := [key for key, number in plans.items() if number > 1]:
            problems.append(f"plans that are there twice: {twice[:3]}")
        if again := [key for key, number in events.items() if number > 1]:
            problems.append(f"events that are there twice: {again[:3]}")
        return problems


def _time(plan: str, run: int) -> int:
    job = int(plan.rpartition("-")[2])
    (body,) = json.loads(event(job, run))
    return int(body["timestamp"])
