"""The Java archives that tests add to Spark: Delta, Iceberg, Hudi and Avro, OpenLineage's client.

    python -m tests.e2e.spark.spark_jars        download those that ``make test`` needs

``spark_jars.lock`` names each one with its SHA-256 and size, as the embedded engine's lock does.
The tests of the parts of ``make test-all`` download their own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from graph_model.stores.gremlin.engine.jars import Jar, fetch, locked
from spark_agent_config.configuration import coordinate

LOCK: Final = Path(__file__).with_name("spark_jars.lock")
#: The version of Spark => the words in the coordinates of Delta's archives for it.
_DELTA: Final = {
    "3.5": ("delta-spark_2.12:3.", "delta-storage:3."),
    "4.0": ("delta-spark_2.13:4.0", "delta-storage:4.0"),
    "4.1": ("delta-spark_4.1_2.13:4.1", "delta-storage:4.1"),
    "4.2": ("delta-spark_4.2_2.13:4.4", "delta-storage:4.4"),
}

_HUDI: Final = "hudi-spark3.5-bundle"


def jars_for(spark: str) -> tuple[Jar, ...]:
    """Delta's archives for Spark ``3.5``, ``4.0``, ``4.1`` or ``4.2``; none for a newer one."""
    listed, words = locked(LOCK.read_text("utf-8")), _DELTA.get(spark, ())
    return tuple(jar for jar in listed if any(word in jar.coordinate for word in words))


def paths_for(spark: str, environment: Mapping[str, str]) -> list[str]:
    """Where they are, once each is in the cache and checked. Raises ConfigurationError.

    HEADWATER_TEST_DELTA has the paths of others, which are not checked (``bench.newest``).
    """
    if others := environment.get("HEADWATER_TEST_DELTA"):
        return others.split(os.pathsep)
    return [str(path) for path in fetch(environment, jars=jars_for(spark))]


def iceberg_jar(spark: str, environment: Mapping[str, str]) -> str:
    """Iceberg for Spark ``3.5``, ``4.0`` or ``4.1``, as :func:`paths_for` does it."""
    listed = locked(LOCK.read_text("utf-8"))
    (jar,) = [jar for jar in listed if f"iceberg-spark-runtime-{spark}_" in jar.coordinate]
    (path,) = fetch(environment, jars=[jar])
    return str(path)


def avro_jars(spark: str, environment: Mapping[str, str]) -> list[str]:
    """Avro for Spark ``3.5``, ``4.0``, ``4.1`` or ``4.2``, none for a newer one; as
    :func:`paths_for` does it.
    """
    of_it = [jar for jar in locked(LOCK.read_text("utf-8")) if f":{spark}." in jar.coordinate]
    jars = [jar for jar in of_it if "spark-avro" in jar.coordinate]
    return [str(path) for path in fetch(environment, jars=jars)]


def hudi_jar(environment: Mapping[str, str]) -> str:
    """Hudi for Spark 3.5, as :func:`paths_for` does it."""
    listed = locked(LOCK.read_text("utf-8"))
    (path,) = fetch(environment, jars=[jar for jar in listed if _HUDI in jar.coordinate])
    return str(path)


def openlineage_jar(environment: Mapping[str, str], scala: str = "2.12") -> str:
    """OpenLineage's client, as :func:`paths_for` does it: Spark 4 is built with Scala 2.13."""
    listed = locked(LOCK.read_text("utf-8"))
    jars = [jar for jar in listed if jar.coordinate == coordinate(scala)]
    (path,) = fetch(environment, jars=jars)
    return str(path)


if __name__ == "__main__":
    for version in ("3.5", "4.1"):
        for path in (*paths_for(version, os.environ), iceberg_jar(version, os.environ)):
            sys.stderr.write(f"{path}\n")
