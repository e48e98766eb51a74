"""Does a document cost more when the graph has grown?

    python -m bench.growth --elements 10000 100000 1000000 --heap 4096

A real service with its embedded engine gets distinct plans with their events until the graph holds
so many elements. There a window of further plans is measured (*first load*), then one of new runs
of plans that it knows (*repeated*): CPU of the service and of the engine a pair, from the operating
system, until nothing is pending. In the end the service is stopped and started again.
The last lines hold the largest size against the others.

At the first size the engine's JVM has just begun to compile its code, so that size costs more
than it would be in a service that has run for a while: hold the largest against the middle as well.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.ingest.__main__ import Load, measure
from bench.ingest.clients import post_all
from bench.ingest.service import Service

_CONCURRENCY: Final = 16
_STEP: Final = 100


@dataclass(frozen=True, slots=True)
class Point:
    """The cost of a pair in a graph of this many elements."""

    elements: int
    first: Load
    repeated: Load


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--elements", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--window", type=int, default=200, help="pairs that are measured at a size")
    parser.add_argument("--heap", type=int, default=4096, help="heap of the engine, MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"HEADWATER_GREMLIN_HEAP": str(options.heap)}
        with Service(Path(folder) / "data", settings) as service:
            points = climb(service, options.elements, options.window)
            own, engine = service.resident_megabytes()
            print(f"resident memory: service {own:.0f} MB, engine {engine:.0f} MB", flush=True)
            start_again(service)
    for point in points[:-1]:
        print(compare(point, points[-1]))


def climb(service: Service, sizes: list[int], window: int) -> list[Point]:
    """Measure at each size, from the smallest on."""
    print(f"{'elements':>12}{'first load':>14}{'repeated':>12}   (CPU ms a pair)")
    points: list[Point] = []
    jobs = 0
    for size in sorted(sizes):
        while (elements := service.elements()) < size:
            post_all(service.port, range(jobs, jobs + _STEP), 0, _CONCURRENCY)
            service.await_projected()
            jobs += _STEP
        first = measure(service, range(jobs, jobs + window), 0, _CONCURRENCY)
        repeated = measure(service, range(jobs, jobs + window), 1, _CONCURRENCY)
        jobs += window
        points.append(Point(elements, first, repeated))
        print(
            f"{elements:>12,}{milliseconds(first):>14.1f}{milliseconds(repeated):>12.1f}",
            flush=True,
        )
    return points


def start_again(service: Service) -> None:
    """A clean stop and a start."""
    began = time.monotonic()
    service.stop()
    stopped = time.monotonic()
    service.start()
    took, cpu = time.monotonic() - stopped, service.cpu_seconds()
    own, engine = service.resident_megabytes()
    print(
        f"stop {stopped - began:.0f} s; start {took:.0f} s"
        f" (CPU: service {cpu[0]:.0f} s, engine {cpu[1]:.0f} s), {service.elements():,} elements;"
        f" resident memory then: service {own:.0f} MB, engine {engine:.0f} MB",
        flush=True,
    )


def milliseconds(load: Load) -> float:
    """CPU of service and engine a pair of documents."""
    return 2_000 * load.cpu / load.documents


def compare(small: Point, large: Point) -> str:
    """The cost of a pair in the large graph as a multiple of its cost in the small one."""
    first = milliseconds(large.first) / milliseconds(small.first)
    repeated = milliseconds(large.repeated) / milliseconds(small.repeated)
    return (
        f"{large.elements:,} against {small.elements:,} elements: "
        f"first load {first:.2f} times, repeated {repeated:.2f} times"
    )


if __name__ == "__main__":
    main()
