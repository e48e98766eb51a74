"""Sends the runs, kills processes now and then if that is asked for, measures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from bench.endurance.clients import Clients
from bench.endurance.questions import ask_all
from bench.endurance.samples import Answered, Sample, State, write_state
from bench.endurance.year import Year
from bench.engine_memory import heap_in_use
from bench.ingest.service import VICTIMS, Service
from bench.processes import children

_CONNECTIONS: Final = 16
_CHUNKS: Final = 10
"""Ranges of runs between two samples: after each it is noted how far it came."""
_KILL_SECONDS: Final = (15.0, 60.0)
_PARTS: Final = {
    "journal": ("headwater.db",),
    "catalogue": ("catalogue-*.db",),
}


@dataclass(frozen=True, slots=True)
class Course:
    """The length of a measurement, and its kills. ``every``: runs between two samples."""

    runs: int
    every: int
    rounds: int
    kill: bool
    seed: int


class CpuMeter:
    """CPU seconds of the service and of its engine while it runs, over several lives of both."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._used = [0.0, 0.0]
        self._base = (0.0, 0.0)

    def begin(self) -> None:
        self._base = self._service.cpu_seconds()

    def pause(self) -> tuple[float, float]:
        """The CPU seconds of service and engine so far."""
        now = self._service.cpu_seconds()
        for place in range(2):
            self._used[place] += max(0.0, now[place] - self._base[place])
        return self._used[0], self._used[1]


class Killer:
    """Kills the service, its engine or both now and then, as a context manager."""

    def __init__(
        self, service: Service, meter: CpuMeter, chance: Random, say: Callable[[str], None]
    ) -> None:
        self._service = service
        self._meter = meter
        self._chance = chance
        self._say = say
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._failure: Exception | None = None
        self.kills = 0

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while not self._ending.wait(self._chance.uniform(*_KILL_SECONDS)):
            victim = self._chance.choice(VICTIMS)
            self.kills += 1
            self._say(f"kill {self.kills}: {victim}")
            try:
                self._meter.pause()
                self._service.kill(victim)
                self._meter.begin()
            except Exception as error:
                self._failure = error
                return


class Endurance:
    """``state`` tells where to go on; it is written to ``folder`` after every step."""

    def __init__(
        self,
        year: Year,
        course: Course,
        service: Service,
        state: State,
        file: Path,
        say: Callable[[str], None],
    ) -> None:
        self._year = year
        self._course = course
        self._service = service
        self._state = state
        self._file = file
        self._say = say
        self._began = time.monotonic()

    def run(self) -> State:
        """Until all runs are sent and measured."""
        with self._service, Clients(self._year, self._service.port, _CONNECTIONS) as clients:
            while (done := self._measured()) < self._course.runs:
                end = min(done + self._course.every, self._course.runs)
                self._note(self._state.with_sample(self._range(clients, end)))
            self._service.await_projected()
        return self._state

    def _measured(self) -> int:
        return self._state.samples[-1].runs if self._state.samples else 0

    def _range(self, clients: Clients, end: int) -> Sample:
        """Send the runs up to ``end`` and measure."""
        begin, whole = self._state.sent, self._state.sent == self._measured()
        meter, began = CpuMeter(self._service), time.monotonic()
        meter.begin()
        documents, kills = self._send(clients, begin, end, meter)
        self._service.await_ready()
        self._service.await_projected()
        used, wall, count = meter.pause(), time.monotonic() - began, max(1, end - begin)
        sample = self._look(end, documents)
        if whole:
            sample = replace(
                sample,
                runs_a_second=round(count / wall, 1),
                service_cpu=round(1000 * used[0] / count, 3),
                engine_cpu=round(1000 * used[1] / count, 3),
            )
        return replace(sample, kills=kills)

    def _send(self, clients: Clients, begin: int, end: int, meter: CpuMeter) -> tuple[int, int]:
        """How many documents that were, and how often something was killed."""
        step = max(1, self._course.every // _CHUNKS)
        documents = 0
        killer = Killer(self._service, meter, Random(f"{self._course.seed} {begin}"), self._say)
        with killer if self._course.kill else nullcontext():
            for at in range(begin, end, step):
                documents += self._step(clients, at, min(at + step, end))
        return documents, killer.kills

    def _step(self, clients: Clients, begin: int, end: int) -> int:
        documents = clients.send(begin, end)
        self._note(replace(self._state, sent=end))
        passed = time.monotonic() - self._began
        self._say(f"{end:>12,} of {self._course.runs:,} runs sent, {passed:,.0f} s")
        return documents

    def _note(self, state: State) -> None:
        self._state = state
        write_state(state, self._file)

    # looking

    def _look(self, runs: int, documents: int) -> Sample:
        """Questions, then memory, then a stop and a start."""
        service = self._service
        asked = ask_all(self._year, service, self._year.run(runs - 1).hour, self._course.rounds)
        own, engine = service.resident_megabytes()
        heap = heap_in_use(next(iter(children(service.pid)), None))
        elements = service.elements()
        began = time.monotonic()
        service.stop()
        stopped = time.monotonic()
        disk = {part: _bytes(service.data, patterns) for part, patterns in _PARTS.items()}
        service.start()
        started = time.monotonic()
        self._say(f"{runs:>12,} runs measured: {_in_words(asked)}")
        return Sample(
            runs=runs,
            documents=documents,
            runs_a_second=None,
            service_cpu=None,
            engine_cpu=None,
            questions=asked,
            elements=elements,
            heap=heap,
            service_memory=round(own, 1),
            engine_memory=round(engine, 1),
            disk=disk,
            stop=round(stopped - began, 1),
            start=round(started - stopped, 1),
        )


def _in_words(asked: dict[str, Answered]) -> str:
    slowest = max(asked, key=lambda name: asked[name].p95)
    return f"slowest {slowest}, p95 {asked[slowest].p95:,.0f} ms"


def _bytes(folder: Path, patterns: tuple[str, ...]) -> int:
    return sum(file.stat().st_size for pattern in patterns for file in folder.glob(pattern))
