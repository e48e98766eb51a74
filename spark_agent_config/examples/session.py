"""Starts Spark for one job of the example: local, quiet, and with all its files in the lake."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from spark_agent_config.examples.lake import Lake

_FOLDER: Final = "SPARK_CONF_DIR"
_QUIET_LOGGING: Final = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
appender.console.type = Console
appender.console.name = stderr
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""


def open_session(name: str, lake: Lake, *, catalog: bool = False) -> Any:
    """A new application called ``name``; stop it before the next.

    ``catalog``: with a Hive metastore, so that tables outlive the application. It is made in the
    lake on first use, which takes some seconds.
    """
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", lake.warehouse)
        .config("spark.hadoop.javax.jdo.option.ConnectionURL", lake.metastore_url)
    )
    if catalog:
        builder = builder.enableHiveSupport()
    else:
        builder = builder.config("spark.sql.catalogImplementation", "in-memory")
    with _configured_by(_configuration_folder(lake)):
        spark = builder.getOrCreate()
    # Derby would write its log into the current folder.
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{lake.root}/derby.log")
    return spark


@contextmanager
def _configured_by(folder: Path) -> Iterator[None]:
    """Name the configuration of the JVM that starts now, and put things back."""
    before = os.environ.get(_FOLDER)
    os.environ[_FOLDER] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before


def _configuration_folder(lake: Lake) -> Path:
    """Spark reads its logging settings from here when its JVM starts."""
    folder = lake.root / "conf"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log4j2.properties").write_text(_QUIET_LOGGING, encoding="utf-8")
    return folder
