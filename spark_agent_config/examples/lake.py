"""The place where the example's jobs run: its data, its Spark, and the database that it reads from.

All files are below one folder, those of Spark and Derby too. Jobs import nothing else of the
example; ``pyspark`` is imported where a session begins.
"""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SAMPLES: Final = Path(__file__).parent / "data"
RAW_FILES: Final = ("salaries.csv", "departments.csv", "attendance.csv")
DRIVER: Final = "org.apache.derby.jdbc.EmbeddedDriver"
_CREATE_TABLE: Final = (
    "CREATE TABLE EMPLOYEES (EMP_ID INT PRIMARY KEY, FIRST_NAME VARCHAR(40), DEPT_ID INT, "
    "MANAGER_ID INT, HIRED DATE)"
)
_INSERT_ROW: Final = "INSERT INTO EMPLOYEES VALUES (?, ?, ?, ?, ?)"
_CONFIGURED_IN: Final = "SPARK_CONF_DIR"
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


@dataclass(frozen=True, slots=True)
class Lake:
    """The folders of one working folder. ``root`` is absolute: jobs name data by full paths."""

    root: Path

    def raw(self, name: str) -> str:
        return str(self.root / "raw" / name)

    @property
    def curated_employees(self) -> str:
        return str(self.root / "curated" / "employees")

    @property
    def managers_report(self) -> str:
        return str(self.root / "reports" / "managers")

    @property
    def absence_ranking(self) -> str:
        return str(self.root / "reports" / "absence_ranking")

    @property
    def payroll_export(self) -> str:
        return str(self.root / "export" / "payroll")

    @property
    def warehouse(self) -> str:
        return str(self.root / "warehouse")

    @property
    def attendance_table(self) -> str:
        """URI of the catalog table ``attendance_with_emp1``, as lineage spells it."""
        return f"file:{self.warehouse}/attendance_with_emp1"

    @property
    def database_url(self) -> str:
        """The source system: a Derby database in a folder of its own."""
        return f"jdbc:derby:{self.root / 'database' / 'hr'}"

    @property
    def metastore_url(self) -> str:
        return f"jdbc:derby:;databaseName={self.root / 'metastore'};create=true"

    def land(self) -> None:
        """Put the raw files where jobs expect them, as a delivery would."""
        (self.root / "raw").mkdir(parents=True, exist_ok=True)
        for name in RAW_FILES:
            shutil.copyfile(SAMPLES / name, self.raw(name))


def create_source_database(spark: Any, lake: Lake) -> None:
    """Make and fill the table ``EMPLOYEES``; one that exists is filled anew.

    An HR database that Headwater knows nothing about: it is made with plain JDBC, not with Spark,
    so that the pipeline's lineage begins at its table.
    """
    jvm = spark._jvm
    jvm.java.lang.Class.forName(DRIVER)
    connection = jvm.java.sql.DriverManager.getConnection(f"{lake.database_url};create=true")
    try:
        _empty_table(connection)
        _fill_table(jvm, connection)
    finally:
        connection.close()


def _empty_table(connection: Any) -> None:
    tables = connection.getMetaData().getTables(None, "APP", "EMPLOYEES", None)
    exists = tables.next()
    tables.close()
    statement = connection.createStatement()
    statement.execute("DELETE FROM EMPLOYEES" if exists else _CREATE_TABLE)
    statement.close()


def _fill_table(jvm: Any, connection: Any) -> None:
    insert = connection.prepareStatement(_INSERT_ROW)
    with (SAMPLES / "employees.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            insert.setInt(1, int(row["emp_id"]))
            insert.setString(2, row["first_name"])
            insert.setInt(3, int(row["dept_id"]))
            if row["manager_id"]:
                insert.setInt(4, int(row["manager_id"]))
            else:
                insert.setNull(4, jvm.java.sql.Types.INTEGER)
            insert.setDate(5, jvm.java.sql.Date.valueOf(row["hired"]))
            insert.execute()
    insert.close()


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
    before = os.environ.get(_CONFIGURED_IN)
    os.environ[_CONFIGURED_IN] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CONFIGURED_IN]
        else:
            os.environ[_CONFIGURED_IN] = before


def _configuration_folder(lake: Lake) -> Path:
    """Spark reads its logging settings from here when its JVM starts."""
    folder = lake.root / "conf"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log4j2.properties").write_text(_QUIET_LOGGING, encoding="utf-8")
    return folder
