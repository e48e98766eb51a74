"""Samples => medians, ratios and how far they spread. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bench.overhead.measurement import AGAIN, OFF, ON, Clocks, Sample

TOTAL: Final = "all queries"
_Clock = Callable[[Clocks], float]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median over the rounds of (this / without the listener), the least and the largest."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:5.3f} ({self.least:.2f}-{self.most:.2f})"


@dataclass(frozen=True, slots=True)
class Line:
    """One query, or all of them. Times are medians over the rounds, in ms.

    ``wall_more`` is the median of the differences, each within its round.
    """

    query: str
    wall_off: float
    wall_on: float
    wall_more: float
    wall_ratio: Ratio
    wall_noise: Ratio
    cpu_off: float
    cpu_on: float
    cpu_ratio: Ratio
    cpu_noise: Ratio
    own_python: float
    own_jvm: float
    sent: float


def lines(samples: Sequence[Sample]) -> list[Line]:
    """A line for each query in the order of the samples, then one for the sums of the rounds."""
    names = list(dict.fromkeys(sample.query for sample in samples))
    result = [_line(name, [s for s in samples if s.query == name]) for name in names]
    return [*result, _line(TOTAL, samples)] if len(names) > 1 else result


def _line(name: str, samples: Sequence[Sample]) -> Line:
    wall, cpu = _by_round(samples, lambda c: c.wall), _by_round(samples, lambda c: c.cpu)
    python, bus = _by_round(samples, lambda c: c.python), _by_round(samples, lambda c: c.bus)
    sent = _by_round(samples, lambda c: c.sent)
    return Line(
        query=name,
        wall_off=1000 * median(wall[OFF]),
        wall_on=1000 * median(wall[ON]),
        wall_more=1000 * _difference(wall),
        wall_ratio=ratio(wall[ON], wall[OFF]),
        wall_noise=ratio(wall[AGAIN], wall[OFF]),
        cpu_off=1000 * median(cpu[OFF]),
        cpu_on=1000 * median(cpu[ON]),
        cpu_ratio=ratio(cpu[ON], cpu[OFF]),
        cpu_noise=ratio(cpu[AGAIN], cpu[OFF]),
        own_python=1000 * _difference(python),
        own_jvm=1000 * _difference(bus),
        sent=median(sent[ON]),
    )


def _by_round(samples: Iterable[Sample], clock: _Clock) -> dict[str, list[float]]:
    """mode => a sum for each round, in the order of the rounds."""
    sums: dict[str, dict[int, float]] = {}
    for sample in samples:
        rounds = sums.setdefault(sample.mode, {})
        rounds[sample.round] = rounds.get(sample.round, 0.0) + clock(sample.taken)
    return {mode: [rounds[number] for number in sorted(rounds)] for mode, rounds in sums.items()}


def ratio(these: Sequence[float], those: Sequence[float]) -> Ratio:
    """Round by round; a round whose divisor is 0 (a clock too coarse for it) says nothing: 1."""
    result = [a / b if b else 1.0 for a, b in zip(these, those, strict=True)]
    return Ratio(median(result), min(result), max(result))


def _difference(clock: dict[str, list[float]]) -> float:
    return median(on - off for on, off in zip(clock[ON], clock[OFF], strict=True))


_HEAD: Final = (
    "query                wall off   wall on  ratio (least-most)   CPU off    CPU on"
    "  ratio (least-most)  own Python  own JVM     sent"
)
_UNITS: Final = (
    "                           ms        ms                            ms        ms"
    "                              ms       ms    bytes"
)


def table(found: Sequence[Line]) -> str:
    """A line for each query, then the meaning of the last one."""
    last = found[-1]
    count = max(1, len(found) - 1)
    return "\n".join(
        [
            _HEAD,
            _UNITS,
            *map(_row, found),
            "",
            _typical(found[:-1] or found),
            f"without the listener twice: wall {last.wall_noise}, CPU {last.cpu_noise}",
            f"the listener's own CPU: {(last.own_python + last.own_jvm) / count:.0f} ms a query, "
            f"sent: {last.sent / count:,.0f} bytes a query",
            "",
        ]
    )


def _typical(found: Sequence[Line]) -> str:
    """The difference of a median query, which the longest ones do not distort."""
    more = median(line.wall_more for line in found)
    share = median(line.wall_ratio.median for line in found)
    noise = median(line.wall_noise.median for line in found)
    return (
        f"median of {len(found)} queries: wall {more:+.1f} ms, {_percent(share)}"
        f" (without the listener twice: {_percent(noise)})"
    )


def _percent(share: float) -> str:
    """``1.034`` => ``+3.4 %``."""
    return f"{100 * (share - 1):+.1f} %"


def _row(line: Line) -> str:
    return (
        f"{line.query:<20} {line.wall_off:8.0f}  {line.wall_on:8.0f}  {line.wall_ratio!s:<19} "
        f"{line.cpu_off:8.0f}  {line.cpu_on:8.0f}  {line.cpu_ratio!s:<19} "
        f"{line.own_python:10.0f} {line.own_jvm:8.0f} {line.sent:8,.0f}"
    )


def as_json(found: Sequence[Line]) -> list[dict[str, Any]]:
    """One object a line; ratios as [median, least, most]."""
    return [
        {
            name: [value.median, value.least, value.most] if isinstance(value, Ratio) else value
            for name in Line.__slots__
            for value in (getattr(line, name),)
        }
        for line in found
    ]
