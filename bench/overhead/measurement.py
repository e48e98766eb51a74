"""Runs the queries pass by pass in one Spark session, and reads clocks around each."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from bench.overhead.receiver import Receiver, receiver
from bench.overhead.writes import Write
from bench.processes import cpu_of, tree
from bench.truth.schema import Table, select
from spark_agent_config.listener import Observation, observe

OFF, ON, AGAIN = "off", "on", "again"
MODES: Final = (OFF, ON, AGAIN)
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
}
_BUS_THREAD: Final = "spark-listener-group-shared"
_SETTLE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Clocks:
    """Seconds and bytes: so far, or between two readings. See the package's docstring."""

    wall: float
    cpu: float
    python: float
    bus: float
    sent: int

    def __sub__(self, other: Clocks) -> Clocks:
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Clocks(*(mine - others for mine, others in pairs))


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a query, in a round (from 0) and a mode."""

    query: str
    round: int
    mode: str
    taken: Clocks


@dataclass(frozen=True, slots=True)
class Driver:
    """The session that runs the queries, and the clocks of its processes."""

    spark: Any
    root: Path
    receiver: Receiver
    busy: bool

    def rounds(self, writes: Sequence[Write], count: int) -> Iterator[Sample]:
        """Every query in each mode, ``count`` times over, after a round that is not counted."""
        for number in range(-1, count):
            for place in range(len(MODES)):
                mode = MODES[(place + number) % len(MODES)]
                for sample in self._pass(writes, number, mode):
                    if number >= 0:
                        yield sample

    def _pass(self, writes: Sequence[Write], number: int, mode: str) -> Iterator[Sample]:
        observation = None
        if mode == ON:
            observation = observe(self.spark, self.receiver.url, job="overhead", spill="")
        bus = self._bus_thread()
        try:
            for write in writes:
                yield Sample(write.name, number, mode, self._run(write, observation, bus))
        finally:
            if observation is not None:
                observation.close(_SETTLE_SECONDS)

    def _run(self, write: Write, observation: Observation | None, bus: int) -> Clocks:
        before = self._read(bus)
        started = time.perf_counter()
        write.run(self.spark, self.root / "out")
        wall = time.perf_counter() - started
        if not self.busy:
            self._settle(observation)
        cpu = self._cpu_seconds()  # first here and last before: the other clocks cost some, too
        taken = self._read(bus) - before
        return Clocks(wall, cpu - before.cpu, taken.python, taken.bus, taken.sent)

    def _settle(self, observation: Observation | None) -> None:
        """Wait for the listeners in every mode, so that the waiting costs each the same."""
        self.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(1000 * _SETTLE_SECONDS)
        if observation is not None:
            observation.flush(_SETTLE_SECONDS)

    def _read(self, bus: int) -> Clocks:
        seconds = self._threads().getThreadCpuTime(bus) / 1e9 if bus else 0.0
        _, sent = self.receiver.received()
        python = time.process_time()
        return Clocks(0.0, self._cpu_seconds(), python, seconds, sent)

    def _cpu_seconds(self) -> float:
        return cpu_of(*tree(os.getpid(), without=(self.receiver.process.pid,)))

    def _bus_thread(self) -> int:
        """The id of the JVM's thread that calls query listeners; 0 before there has been one."""
        threads = self._threads()
        for identifier in threads.getAllThreadIds():
            described = threads.getThreadInfo(identifier)
            if described is not None and described.getThreadName() == _BUS_THREAD:
                return int(identifier)
        return 0

    def _threads(self) -> Any:
        return self.spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean()


@contextmanager
def driver(tables: Sequence[Table], *, busy: bool) -> Iterator[Driver]:
    """A session with the tables as views of files, in a folder that goes away."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("overhead")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder, receiver() as server:
        builder = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        try:
            for table in tables:
                place = f"{folder}/in/{table.name}"
                spark.sql(select(table)).coalesce(1).write.parquet(place)
                spark.read.parquet(place).createOrReplaceTempView(table.name)
            yield Driver(spark, Path(folder), server, busy)
        finally:
            spark.stop()
