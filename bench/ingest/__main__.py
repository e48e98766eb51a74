"""See the package."""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.ingest.clients import Workload, post_all
from bench.ingest.floor import Floor, measure_floor
from bench.ingest.service import Service


@dataclass(frozen=True, slots=True)
class Load:
    """Seconds of wall time, of CPU of the service and of the engine; latencies in order."""

    documents: int
    wall: float
    service: float
    engine: float
    latencies: tuple[float, ...]

    @property
    def cpu(self) -> float:
        return self.service + self.engine

    def percentile(self, share: float) -> float:
        """Milliseconds that this share of the requests took at most."""
        return 1000 * self.latencies[int(share * (len(self.latencies) - 1))]


def measure(
    service: Service,
    jobs: range,
    run: int,
    concurrency: int,
    *,
    workload: Workload | None = None,
    rate: float = 0.0,
) -> Load:
    """Post one run of each job (two documents) and wait until all of it is in the graph."""
    before, began = service.cpu_seconds(), time.monotonic()
    latencies = post_all(service.port, jobs, run, concurrency, workload=workload, rate=rate)
    service.await_projected()
    wall, after = time.monotonic() - began, service.cpu_seconds()
    return Load(
        2 * len(jobs), wall, after[0] - before[0], after[1] - before[1], tuple(sorted(latencies))
    )


def head(unit: str) -> str:
    """The first line of the table; ``unit`` is ``pair`` or ``event``."""
    return (
        f"{'':<22}{f'{unit}s':>8}{'wall s':>9}{f'{unit}s/s':>9}{'service':>10}{'engine':>10}"
        f"{'CPU ms':>10}{'p50 ms':>9}{'p99 ms':>9}   (CPU in ms a{'n' * (unit[0] == 'e')} {unit})"
    )


def describe(name: str, load: Load, documents_each: int = 2) -> str:
    """One line of the table; a pair is two documents."""
    number = load.documents // documents_each
    cpu = "".join(
        f"{1000 * item / number:>10.2f}" for item in (load.service, load.engine, load.cpu)
    )
    waited = "".join(f"{load.percentile(share):>9.1f}" for share in (0.5, 0.99))
    return f"{name:<22}{number:>8}{load.wall:>9.1f}{number / load.wall:>9.0f}{cpu}{waited}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ingest", description=__doc__)
    parser.add_argument("--plans", type=int, default=2000, help="distinct plans of the first load")
    parser.add_argument("--runs", type=int, default=2, help="repeated runs of every plan")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--no-floor", action="store_true")
    options = parser.parse_args()
    jobs = range(options.plans)
    with tempfile.TemporaryDirectory() as folder:
        with Service(Path(folder) / "data", {"HEADWATER_GREMLIN_HEAP": "1024"}) as service:
            print(head("pair"))
            first = measure(service, jobs, 0, options.concurrency)
            print(describe("first load", first), flush=True)
            for run in range(1, options.runs + 1):
                load = measure(service, jobs, run, options.concurrency)
                print(describe(f"repeated run {run}", load), flush=True)
            own, engine = service.resident_megabytes()
            print(f"resident memory: service {own:.0f} MB, engine {engine:.0f} MB")
        if not options.no_floor:
            _compare(first, measure_floor(jobs, Path(folder) / "floor"))


def _compare(first: Load, floor: Floor) -> None:
    pairs = first.documents // 2
    print(
        f"floor of the first load, CPU ms a pair: parsing {1000 * floor.parsing / pairs:.2f}, "
        f"appending {1000 * floor.appending / pairs:.2f}, graph {1000 * floor.writing / pairs:.2f} "
        f"+ engine {1000 * floor.engine / pairs:.2f} = {1000 * floor.cpu / pairs:.2f}; "
        f"the first load is {first.cpu / floor.cpu:.2f} times that"
    )


if __name__ == "__main__":
    main()
