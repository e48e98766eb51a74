"""The measured work: the TPC-H queries, or 60 small writes as a job does them all day long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from bench.truth.jobs import Job


@dataclass(frozen=True, slots=True)
class Write:
    """``run`` gets the session and a folder, and writes one result below it."""

    name: str
    run: Callable[[Any, Path], None]


def of_jobs(jobs: Iterable[Job]) -> list[Write]:
    """Each query writes its result as files, anew each time."""
    return [Write(job.name, _overwrite(job.name, job.build)) for job in jobs]


def small() -> list[Write]:
    """Six queries, each twice, in five ways; they read the tables of TPC-H as views."""
    return [
        Write(f"{name}_{number}_{way}", run(f"{name}_{number}_{way}", _query(text, number)))
        for (name, text), number, (way, run) in product(_QUERIES.items(), (1, 2), _WAYS.items())
    ]


def _query(text: str, number: int) -> Callable[[Any], Any]:
    return lambda spark: spark.sql(text.format(n=number))


def _overwrite(name: str, build: Callable[[Any], Any]) -> Callable[[Any, Path], None]:
    def run(spark: Any, folder: Path) -> None:
        build(spark).write.mode("overwrite").parquet(str(folder / name))

    return run


def _append(name: str, build: Callable[[Any], Any]) -> Callable[[Any, Path], None]:
    def run(spark: Any, folder: Path) -> None:
        build(spark).write.mode("append").parquet(str(folder / name))

    return run


def _in_partitions(mode: str) -> Callable[[str, Callable[[Any], Any]], Callable[[Any, Path], None]]:
    """Writes for which the listener searches the table's folders for the written partitions."""

    def way(name: str, build: Callable[[Any], Any]) -> Callable[[Any, Path], None]:
        def run(spark: Any, folder: Path) -> None:
            rows = build(spark).selectExpr("*", "pmod(hash(*), 5) AS part")
            writer = rows.write.mode(mode).option("partitionOverwriteMode", "dynamic")
            writer.partitionBy("part").parquet(str(folder / name))

        return run

    return way


def _table(name: str, build: Callable[[Any], Any]) -> Callable[[Any, Path], None]:
    def run(spark: Any, _: Path) -> None:
        build(spark).write.mode("overwrite").saveAsTable(name)

    return run


_QUERIES: Final = {
    "project": "SELECT o_orderkey, o_totalprice * {n} AS price FROM orders",
    "filter": "SELECT * FROM customer WHERE c_custkey > {n}",
    "join": "SELECT c_name, o_totalprice FROM customer JOIN orders ON c_custkey = o_custkey"
    " WHERE o_orderkey > {n}",
    "group": "SELECT o_custkey, sum(o_totalprice) AS total, {n} AS n FROM orders"
    " GROUP BY o_custkey",
    "subquery": "SELECT c_name FROM customer"
    " WHERE c_custkey IN (SELECT o_custkey FROM orders WHERE o_orderkey > {n})",
    "union": "SELECT n_name AS name FROM nation UNION ALL"
    " SELECT r_name FROM region WHERE r_regionkey > {n}",
}
_WAYS: Final = {
    "overwrite": _overwrite,
    "append": _append,
    "partitions": _in_partitions("append"),
    "dynamic": _in_partitions("overwrite"),
    "table": _table,
}
