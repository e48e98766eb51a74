"""``python -m bench.queue_road``."""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time

from bench.queue_road.cold import cold_starts
from bench.queue_road.road import Outcome
from bench.queue_road.roads import moto_process, simulate
from tests.aws import Aws, environment_of


def main() -> int:
    parser = argparse.ArgumentParser(description="The queue road in a simulation")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--roads", type=int, default=1, help="so many beside each other")
    parser.add_argument("--minutes", type=float, default=60.0, help="end early after so many")
    parser.add_argument("--cold", type=int, default=0, help="cold starts of each function instead")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if options.cold:
        with moto_process() as (aws, _), environment_of(aws):
            return tell_cold(aws, options.cold)
    began = time.monotonic()
    result = simulate(options.roads, options.messages, options.minutes)
    return tell(result, time.monotonic() - began)


def tell(found: Outcome, seconds: float) -> int:
    print(f"{found.sent:,} messages sent, {found.poison:,} of them poison, in {seconds:,.0f} s")
    if not found.sent:
        return 1
    print(f"  {found.sent / seconds:,.0f} messages/s by all roads, the comparison included")
    enqueue, take = found.sent / found.send_seconds, found.delivered / found.take_seconds
    print(f"  on a road: enqueue {enqueue:,.0f} messages/s (requests of ten)")
    print(f"             take    {take:,.0f} messages/s (batches of ten)")
    functions, moto = (1_000 * cpu / found.sent for cpu in (found.cpu, found.moto_cpu))
    print(f"  CPU for each message: functions {functions:.1f} ms, moto {moto:.1f} ms")
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
            1_000 * statistics.median(getattr(item, part) for item in measured)
            for part in ("imports", "first", "second", "cpu")
        )
        nothing = nothing or cpu
        said = f"{name:<9} {imports:>8,.0f} {first:>13,.0f} {second:>14,.1f} {cpu:>9,.0f}"
        print(f"{said}   {cpu / nothing:.0f} times a Python that does nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
