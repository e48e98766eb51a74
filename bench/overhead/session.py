"""Does a long session stay as it is? Threads and memory after each so many observed queries.

    python -m bench.overhead.session [--queries 5000] [--every 500] [--off]

runs the 60 small writes over and over in one session with the listener on, and prints after each
part the memory that is left once both garbage collectors have run. ``--off`` runs the same without
the listener: growth that shows there too is Spark's.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from bench.overhead.measurement import Driver, driver
from bench.overhead.writes import small
from bench.processes import resident
from bench.selection import positive
from bench.truth import tpch
from spark_agent_config.listener import Observation, observe

_HEAD: Final = (
    "queries  ms each  Python threads  JVM threads  Python MB  JVM heap MB  proxies  delivered"
)
_SETTLE_SECONDS: Final = 60
_MB: Final = 1024 * 1024


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    with driver(tpch.tables(), busy=True) as running:
        observation = None
        if not options.off:
            observation = observe(running.spark, running.receiver.url, job="session", spill="")
        sys.stdout.write(_HEAD + "\n")
        for done in range(0, options.queries, options.every):
            count = min(options.every, options.queries - done)
            began = time.monotonic()
            _run(running, done, count)
            milliseconds = 1000 * (time.monotonic() - began) / count
            sys.stdout.write(_line(running.spark, observation, done + count, milliseconds) + "\n")
            sys.stdout.flush()
        if observation is not None:
            observation.close(_SETTLE_SECONDS)
    return 0


def _run(running: Driver, first: int, count: int) -> None:
    """Run some of the writes, then remove their files: Spark's lists of files should not grow."""
    writes = small()
    for number in range(first, first + count):
        writes[number % len(writes)].run(running.spark, running.root / "out")
    shutil.rmtree(running.root / "out")


def _line(spark: Any, observation: Observation | None, queries: int, each: float) -> str:
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(1000 * _SETTLE_SECONDS)
    delivered = 0
    if observation is not None:
        observation.flush(_SETTLE_SECONDS)
        delivered = observation.counts().delivered
    for _ in range(3):
        gc.collect()
        spark._jvm.System.gc()
        time.sleep(1)
    management = spark._jvm.java.lang.management.ManagementFactory
    heap = management.getMemoryMXBean().getHeapMemoryUsage().getUsed() / _MB
    threads = management.getThreadMXBean().getThreadCount()
    proxies = len(spark.sparkContext._gateway.gateway_property.pool)
    return (
        f"{queries:7,}  {each:7.0f}  {threading.active_count():14}  {threads:11}  "
        f"{resident(os.getpid()):9.1f}  {heap:11.1f}  {proxies:7}  {delivered:9,}"
    )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.overhead.session",
        description="Run thousands of small writes in one session, and tell threads and memory.",
    )
    parser.add_argument("--queries", type=positive, default=5000, help="how many (5000)")
    parser.add_argument("--every", type=positive, default=500, help="a line after so many (500)")
    parser.add_argument("--off", action="store_true", help="without the listener")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
