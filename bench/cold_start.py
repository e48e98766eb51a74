"""How long a service needs from its start until it answers, and what of it is which part.

    python -m bench.cold_start --times 5

Each time on a new data folder with the embedded engine (archives in the cache, script compiled),
then once more on the same folder, whose graph is small. ``answers``: ``/health/live`` is 200, from
when documents are taken. ``ready``: the graph is whole (``/health/ready``). ``CPU``: service and
engine together until then, and as a multiple of a Python that does nothing. Times on the clock
depend on what else the computer does; CPU hardly.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.ingest.service import children, cpu_of

_LIMIT_SECONDS: Final = 300.0
_PAUSE_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the start of the process."""

    answers: float
    ready: float
    cpu: float


def start(data: Path) -> Start:
    """Start a service on the folder, wait until it is ready, and stop it."""
    port, gremlin_port = _free_port(), _free_port()
    own = {"HEADWATER_PORT": str(port), "HEADWATER_GREMLIN_PORT": str(gremlin_port)}
    began = time.perf_counter()
    with (data.parent / "serve.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.command_line", "serve", "--data", str(data)],
            env={**os.environ, **own},
            stdout=log,
            stderr=log,
        )
    try:
        _await(f"http://127.0.0.1:{port}/health/live", began)
        answers = time.perf_counter() - began
        _await(f"http://127.0.0.1:{port}/health/ready", began)
        ready = time.perf_counter() - began
        cpu = sum(map(cpu_of, (process.pid, *children(process.pid))))
        return Start(answers, ready, cpu)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(_LIMIT_SECONDS)


def _await(url: str, began: float) -> None:
    while time.perf_counter() - began < _LIMIT_SECONDS:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(_PAUSE_SECONDS)
    raise TimeoutError(f"{url} is not 200 after {_LIMIT_SECONDS:g} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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


def told(measured: Iterable[tuple[str, Start]], nothing: float) -> Iterator[str]:
    """A line for each kind of start: medians."""
    kinds: dict[str, list[Start]] = {}
    for kind, one in measured:
        kinds.setdefault(kind, []).append(one)
    for kind, all_of_it in kinds.items():
        answers = statistics.median(one.answers for one in all_of_it)
        ready = statistics.median(one.ready for one in all_of_it)
        cpu = statistics.median(one.cpu for one in all_of_it)
        yield (
            f"{kind}: answers {answers:.1f} s, ready {ready:.1f} s, CPU {cpu:.1f} s, "
            f"{cpu / nothing:.0f} times a Python that does nothing"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cold_start", description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    for line in told(starts(times), cpu_of_nothing(times)):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
