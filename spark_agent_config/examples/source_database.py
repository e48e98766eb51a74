"""The source system of the example: an HR database that Headwater knows nothing about.

It is made with plain JDBC, not with Spark, so that the pipeline's lineage begins at its table.
"""

from __future__ import annotations

import csv
from typing import Any, Final

from spark_agent_config.examples.lake import SAMPLES, Lake

DRIVER: Final = "org.apache.derby.jdbc.EmbeddedDriver"
_CREATE: Final = (
    "CREATE TABLE EMPLOYEES (EMP_ID INT PRIMARY KEY, FIRST_NAME VARCHAR(40), DEPT_ID INT, "
    "MANAGER_ID INT, HIRED DATE)"
)
_INSERT: Final = "INSERT INTO EMPLOYEES VALUES (?, ?, ?, ?, ?)"


def create(spark: Any, lake: Lake) -> None:
    """Make and fill the table ``EMPLOYEES``; one that exists is filled anew."""
    jvm = spark._jvm
    jvm.java.lang.Class.forName(DRIVER)
    connection = jvm.java.sql.DriverManager.getConnection(f"{lake.database_url};create=true")
    try:
        _empty_table(connection)
        _fill(jvm, connection)
    finally:
        connection.close()


def _empty_table(connection: Any) -> None:
    tables = connection.getMetaData().getTables(None, "APP", "EMPLOYEES", None)
    exists = tables.next()
    tables.close()
    statement = connection.createStatement()
    statement.execute("DELETE FROM EMPLOYEES" if exists else _CREATE)
    statement.close()


def _fill(jvm: Any, connection: Any) -> None:
    insert = connection.prepareStatement(_INSERT)
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
