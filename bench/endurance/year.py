"""The runs of an estate, by number, in the order of the hours: pure, and in constant memory.

    Year(seed=1, jobs=5_000, rhythms=…).run(0) => job 17 in hour 0

The events of a job (a column more, another name of its table, a failure) are a function of the
seed, the job and the hour, so any run can be made without those before it.
"""

from __future__ import annotations

import math
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, count
from typing import Final

from bench.endurance.rhythms import Rhythm, deal
from bench.openlineage.workload import sources

BEGIN: Final = 1_735_689_600_000
"""2025-01-01T00:00:00Z."""
HOUR_MS: Final = 3_600_000
_MONTH: Final = 30 * 24
_FAILURES: Final = 50
"""One run of so many fails."""


@dataclass(frozen=True, slots=True)
class Change:
    """One job of ``of`` changes every ``hours``, each at a time of its own."""

    name: str
    of: int
    hours: int


COLUMN_ADDED: Final = Change("column", 10, 6 * _MONTH)
RENAMED: Final = Change("rename", 50, 12 * _MONTH)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: ``hour`` since the beginning, ``period`` hours after the one before it."""

    job: int
    hour: int
    period: int

    @property
    def at(self) -> int:
        """Its end, epoch ms: in its hour, at the job's own minute."""
        return BEGIN + self.hour * HOUR_MS + 400_000 + 997 * self.job % 3_000_000


class Year:
    """``jobs`` jobs that run in these rhythms, as long as one likes."""

    def __init__(self, seed: int, jobs: int, rhythms: tuple[Rhythm, ...]) -> None:
        self.seed = seed
        self.jobs = jobs
        self.rhythms = rhythms
        self._slots = self._dealt()
        self._cycle = math.lcm(*(rhythm.hours for rhythm in rhythms))
        self._ends = tuple(accumulate(self._due(hour) for hour in range(self._cycle)))

    def __reduce__(self) -> tuple[type[Year], tuple[int, int, tuple[Rhythm, ...]]]:
        return Year, (self.seed, self.jobs, self.rhythms)

    def __iter__(self) -> Iterator[Run]:
        """All runs, for ever."""
        return map(self.run, count())

    def run(self, number: int) -> Run:
        """The run with this number, from 0 on."""
        cycles, rest = divmod(number, self._ends[-1])
        hour = bisect_right(self._ends, rest)
        place = rest - (self._ends[hour - 1] if hour else 0)
        for rhythm, slots in zip(self.rhythms, self._slots, strict=True):
            jobs = slots[hour % rhythm.hours]
            if place < len(jobs):
                return Run(jobs[place], cycles * self._cycle + hour, rhythm.hours)
            place -= len(jobs)
        raise AssertionError(number)

    def times(self, change: Change, job: int, hour: int) -> int:
        """How often this has happened to a job by that hour."""
        if self.chance(change.name, job) % change.of:
            return 0
        offset = self.chance(f"{change.name} at", job) % change.hours
        return (hour + offset) // change.hours

    def happens(self, change: Change, run: Run) -> bool:
        """Whether it happened to the job since its last run; never before its first."""
        before = run.hour - run.period
        return before >= 0 and self.times(change, run.job, before) < self.times(
            change, run.job, run.hour
        )

    def fails(self, run: Run) -> bool:
        return self.chance("failure", run.job, run.hour) % _FAILURES == 0

    def sources(self, job: int) -> tuple[int, int]:
        """See ``bench.openlineage.workload.sources``."""
        return sources(job, self.jobs)

    def chance(self, event: str, *of: int) -> int:
        """A number below 2^32 that looks like any."""
        return zlib.crc32(f"{event} {of} {self.seed}".encode())

    def _dealt(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """By rhythm and hour of its period the jobs that run then, spread over the layers."""
        mixed = sorted(range(self.jobs), key=lambda job: (self.chance("rhythm", job), job))
        result, begin = [], 0
        for rhythm, size in zip(self.rhythms, deal(self.jobs, self.rhythms), strict=True):
            slots: list[list[int]] = [[] for _ in range(rhythm.hours)]
            for job in mixed[begin : begin + size]:
                slots[self.chance("hour", job) % rhythm.hours].append(job)
            result.append(tuple(map(tuple, slots)))
            begin += size
        return tuple(result)

    def _due(self, hour: int) -> int:
        return sum(
            len(slots[hour % rhythm.hours])
            for rhythm, slots in zip(self.rhythms, self._slots, strict=True)
        )
