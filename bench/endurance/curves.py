"""Samples -> the drawn curves, and the rows of the table that compares them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.endurance.samples import Sample

Point = tuple[int, float]
"""After so many runs, so much."""
_WALKS: Final = ("overview", "map", "lineage", "columns", "impact", "diff")
_Value = Callable[[Sample], float | None]


@dataclass(frozen=True, slots=True)
class Curve:
    """``points`` from left to right; none where nothing was measured."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves of one unit."""

    title: str
    curves: tuple[Curve, ...]


def panels(samples: Sequence[Sample]) -> tuple[Panel, ...]:
    """All of them; questions in two, those that walk and those that list."""
    asked = [name for sample in samples[:1] for name in sample.questions]
    walks = [name for name in asked if name.partition(" ")[0] in _WALKS]
    lists = [name for name in asked if name not in walks]
    result: Mapping[str, Mapping[str, _Value]] = {
        "CPU, ms a run": {
            "service": lambda one: one.service_cpu,
            "engine": lambda one: one.engine_cpu,
        },
        "pictures and walks, p95 ms": {name: _p95(name) for name in walks},
        "pictures and walks, CPU ms": {name: _cpu(name) for name in walks},
        "lists and pages, p95 ms": {name: _p95(name) for name in lists},
        "memory, MB": {
            "heap in use": lambda one: one.heap,
            "engine, resident": lambda one: one.engine_memory,
            "service, resident": lambda one: one.service_memory,
        },
        "disk, MB": {part: _disk(part) for sample in samples[:1] for part in sample.disk},
        "seconds": {"start": lambda one: one.start, "stop": lambda one: one.stop},
    }
    return tuple(Panel(title, _curves(samples, values)) for title, values in result.items())


def _curves(samples: Sequence[Sample], values: Mapping[str, _Value]) -> tuple[Curve, ...]:
    return tuple(Curve(name, tuple(_points(samples, value))) for name, value in values.items())


def _points(samples: Sequence[Sample], value: _Value) -> list[Point]:
    values = [(sample.runs, value(sample)) for sample in samples]
    return [(runs, item) for runs, item in values if item is not None]


def _p95(name: str) -> _Value:
    return lambda one: one.questions[name].p95


def _cpu(name: str) -> _Value:
    return lambda one: one.questions[name].cpu


def _disk(part: str) -> _Value:
    return lambda one: one.disk[part] / 1e6
