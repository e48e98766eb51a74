"""How long a service needs from its start until it answers, part by part.

    python -m bench.cold_start --times 5

Each time on a new data folder with the embedded engine (archives in the cache, script compiled),
then once more on the same folder, whose graph is small. ``answers``: ``/health/live`` is 200, from
when documents are taken. ``ready``: the graph is whole (``/health/ready``). ``CPU``: service and
engine together until then, and as a multiple of a Python that does nothing. Times on the clock
depend on other work of the computer; CPU hardly does.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.ingest.service import Service

_PAUSE_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the start of the process."""

    answers: float
    ready: float
    cpu: float


def start(data: Path) -> Start:
    """Start a service on the folder, wait until it is ready, and stop it."""
    service = Service(data, {})
    began = time.perf_counter()
    service.launch()
    try:
        service.await_status("/health/live", "live", _PAUSE_SECONDS)
        answers = time.perf_counter() - began
        service.await_status("/health/ready", "ready", _PAUSE_SECONDS)
        return Start(answers, time.perf_counter() - began, sum(service.cpu_seconds()))
    finally:
        service.stop()


def starts(times: int) -> Iterator[tuple[str, Start]]:
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            yield "first start", start(data)
            yield "second start", start(data)


def cpu_of_nothing(times: int) -> float:
    """Seconds of CPU of a Python that does nothing: the median."""
    program = [sys.executable, "-c", "import time; print(time.process_time())"]
    return statistics.median(float(subprocess.check_output(program)) for _ in range(times))


def summarise(measured: Iterable[tuple[str, Start]], nothing: float) -> Iterator[str]:
    """A line for each kind of start: medians."""
    kinds: dict[str, list[Start]] = {}
    for kind, first in measured:
        kinds.setdefault(kind, []).append(first)
    for kind, all_of_it in kinds.items():
        answers = statistics.median(item.answers for item in all_of_it)
        ready = statistics.median(entry.ready for entry in all_of_it)
        cpu = statistics.median(element.cpu for element in all_of_it)
        yield (
            f"{kind}: answers {answers:.1f} s, ready {ready:.1f} s, CPU {cpu:.1f} s, "
            f"{cpu / nothing:.0f} times a Python that does nothing"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cold_start", description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    for line in summarise(starts(times), cpu_of_nothing(times)):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
