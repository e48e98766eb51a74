"""The measurements, and the file that keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Answered:
    """Milliseconds of one question, its mean CPU in the service and its engine, and how many nodes
    or items an answer had on average.
    """

    p50: float
    p95: float
    cpu: float
    size: float


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many ``runs``. CPU in milliseconds a run since the sample before, of the service and
    of its engine: None where the range was sent in two calls. Memory and heap in MB, disk in bytes
    by part, times in seconds.
    """

    runs: int
    documents: int
    runs_a_second: float | None
    service_cpu: float | None
    engine_cpu: float | None
    questions: Mapping[str, Answered]
    elements: int
    heap: float | None
    service_memory: float
    engine_memory: float
    disk: Mapping[str, int]
    stop: float
    start: float
    kills: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """``asked`` are the settings on which the runs depend; all runs up to ``sent`` are
    acknowledged.
    """

    asked: Mapping[str, str | int]
    samples: tuple[Sample, ...] = ()
    sent: int = 0

    def with_sample(self, sample: Sample) -> State:
        return replace(self, samples=(*self.samples, sample), sent=sample.runs)


def read_state(file: Path) -> State | None:
    """None where there is none yet."""
    if not file.exists():
        return None
    kept = json.loads(file.read_text("utf-8"))
    return State(kept["asked"], tuple(map(_sample, kept["samples"])), kept["sent"])


def write_state(state: State, file: Path) -> None:
    """Whole, or as it was before."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
    new.replace(file)


def _sample(kept: dict[str, Any]) -> Sample:
    asked = {name: Answered(**item) for name, item in kept["questions"].items()}
    return Sample(**{**kept, "questions": asked})
