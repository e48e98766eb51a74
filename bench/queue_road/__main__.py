"""``python -m bench.queue_road``."""

from __future__ import annotations

import argparse
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from bench.ingest.service import free_port
from bench.queue_road.cold import cold_starts
from bench.queue_road.road import simulate
from tests.aws import Aws, environment_of


@contextmanager
def moto_process() -> Iterator[Aws]:
    """moto's server as a process: it does not take this one's time."""
    port = free_port()
    program = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            try:
                requests.get(f"http://127.0.0.1:{port}/moto-api", timeout=5)
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield Aws(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="The queue road in a simulation")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=60.0, help="end early after so many")
    parser.add_argument("--cold", type=int, default=0, help="cold starts of each function instead")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with moto_process() as aws, environment_of(aws), tempfile.TemporaryDirectory() as folder:
        if options.cold:
            return tell_cold(aws, options.cold)
        began = time.monotonic()
        found = simulate(aws, folder, options.messages, options.minutes)
        seconds = time.monotonic() - began
    print(f"{found.sent:,} messages sent, {found.poison:,} of them poison, in {seconds:,.0f} s")
    print(f"  enqueue {found.sent / found.send_seconds:,.0f} messages/s (requests of ten)")
    print(f"  take    {found.delivered / found.take_seconds:,.0f} messages/s (batches of ten)")
    print(
        f"  {found.delivered:,} deliveries; {found.crashes:,} batches delivered again after the"
        " journal had them"
    )
    print(
        f"  {found.journalled:,} documents in the journal, {found.dead:,} in the dead-letter queue"
    )
    for problem in found.problems[:20]:
        print(f"  WRONG: {problem}")
    print("  nothing lost, nothing twice, every run in order" if not found.problems else "")
    return 1 if found.problems else 0


def tell_cold(aws: Aws, times: int) -> int:
    """The median of each part, in milliseconds, and CPU as a multiple of a Python's own."""
    print("function   imports   first event   second event   CPU   (median, ms)")
    nothing = 0.0
    for name, measured in cold_starts(aws, times):
        imports, first, second, cpu = (
            1_000 * statistics.median(getattr(one, part) for one in measured)
            for part in ("imports", "first", "second", "cpu")
        )
        nothing = nothing or cpu
        said = f"{name:<9} {imports:>8,.0f} {first:>13,.0f} {second:>14,.1f} {cpu:>9,.0f}"
        print(f"{said}   {cpu / nothing:.0f} times a Python that does nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
