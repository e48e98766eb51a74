"""A Spark session: that of spark-submit, Glue or EMR, else a local one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, and so by Glue and EMR."""


def open_session(master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """``settings`` are properties of Spark (``spark.jars.packages`` …)."""
    if _SUBMITTED not in os.environ:
        _prepare_environment()
    builder = SparkSession.builder.appName("headwater-pipeline")
    if master is not None:
        builder = builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _prepare_environment() -> None:
    """Spark's workers on this machine are processes of their own: our Python, our modules.

    Under spark-submit its own settings count: other machines have other paths.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder = str(Path(__file__).parent.parent)
    known = os.environ.get("PYTHONPATH", "")
    if folder not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, known)))
