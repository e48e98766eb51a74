"""Statements that change tables of Delta and Iceberg, or make them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bench.truth.jobs import Unmeasurable

DELTA: Final = "delta"
ICEBERG: Final = "iceberg"
SETTINGS: Final = {
    "spark.sql.extensions": (
        "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    ),
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}
_OUT: Final = "out"
_MADE_WITH: Final = {
    DELTA: {"delta.enableChangeDataFeed": "true"},
    ICEBERG: {"format-version": "2"},
}


@dataclass(frozen=True, slots=True)
class TableJob:
    """``statement`` changes or makes a table of a format.

    ``{emp}`` in it is a table of the format with the rows of ``emp``, made anew for each run;
    ``{out}`` is one that does not exist; other words are views. ``stored`` are the tables of the
    format, of which the first is changed unless there is an ``{out}``; ``before`` are statements
    that are not held against the lineage. ``tables`` are those that are changed from run to run.
    ``adds``: it appends, and says nothing of the rows that were there.
    """

    name: str
    format: str
    tables: tuple[str, ...]
    statement: str
    stored: tuple[str, ...]
    key: tuple[str, ...] = ("id",)
    columns: frozenset[str] | None = None
    before: tuple[str, ...] = ()
    partitioned_by: str = ""
    properties: Mapping[str, str] | None = None
    adds: bool = False

    @property
    def written(self) -> str:
        return _OUT if "{out}" in self.statement else self.stored[0]

    @property
    def views(self) -> tuple[str, ...]:
        """The tables that the session must show as views, to be read or to fill a table."""
        return tuple(dict.fromkeys((*self.tables, *self.stored)))

    def prepare(self, spark: Any, place: str, number: int) -> dict[str, str]:
        """Make the tables. Returns name => its spelling in a statement. No two runs share a
        ``number``.
        """
        names = {name: self._spelled(name, place, number) for name in (*self.stored, _OUT)}
        names["changes"] = f"table_changes_by_path('{place}/delta/{number}/{self.stored[0]}', 0)"
        for name in self.stored:
            spark.sql(self._create(name, names[name]))
        for statement in self.before:
            spark.sql(statement.format(**names))
        return names

    def run(self, spark: Any, names: Mapping[str, str]) -> None:
        """Raises Unmeasurable, with the first line of Spark's message."""
        try:
            spark.sql(self.statement.format(**names))
        except Exception as error:
            said = str(error).split("\n", 1)[0]
            raise Unmeasurable(f"{self.name} failed: {said}") from error

    def _create(self, name: str, spelled: str) -> str:
        values = {**_MADE_WITH[self.format], **(self.properties or {})}
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in values.items())
        parts = f" PARTITIONED BY ({self.partitioned_by})" if self.partitioned_by else ""
        return (
            f"CREATE TABLE {spelled} USING {self.format}{parts} TBLPROPERTIES ({properties})"
            f" AS SELECT * FROM {name}"
        )

    def _spelled(self, name: str, place: str, number: int) -> str:
        if self.format == DELTA and name == _OUT:  # which replaces no table by its path
            return f"{_OUT}_{number}"
        if self.format == DELTA:
            return f"delta.`{place}/delta/{number}/{name}`"
        return f"ice.run{number}.{name}"


def statement(
    name: str,
    formats: str,
    tables: str,
    text: str,
    *,
    stored: str,
    everything: bool = False,
    before: str = "",
    **settings: Any,
) -> tuple[TableJob, ...]:
    """A job for each format. Of the columns those are changed whose names stand in the text."""
    words: Collection[str] = re.findall(r"\w+", text)
    columns = None if everything else frozenset(words)
    return tuple(
        TableJob(
            f"{word}_{name}",
            word,
            tuple(tables.split()),
            text.replace("USING format", f"USING {word}"),
            tuple(stored.split()),
            columns=columns,
            before=tuple(filter(None, before.split(";"))),
            **settings,
        )
        for word in formats.split()
    )


_BOTH: Final = f"{DELTA} {ICEBERG}"
_ON_READ: Final = {
    f"write.{command}.mode": "merge-on-read" for command in ("merge", "update", "delete")
}
_MERGE_MATCHED: Final = """MERGE INTO {account} t USING correction s ON t.id = s.id
    WHEN MATCHED AND s.amount > 400 THEN UPDATE SET t.amount = s.fee * 2, t.owner = upper(s.dept)"""
_MERGE_NOT_MATCHED: Final = """MERGE INTO {account} t USING correction s ON t.id = s.id
    WHEN NOT MATCHED AND s.fee > 0 THEN INSERT (id, owner, dept, amount)
    VALUES (s.id, upper(s.owner), s.dept, s.amount + 1)"""
_UPDATE: Final = """UPDATE {account} SET amount = amount + coalesce(fee, 0), owner = upper(owner)
    WHERE dept = 'IT'"""

JOBS: Final = (
    *statement("merge_matched_update", _BOTH, "account correction", _MERGE_MATCHED,
               stored="account"),
    *statement("merge_on_read", ICEBERG, "account correction", _MERGE_MATCHED, stored="account",
               properties=_ON_READ),
    *statement("merge_not_matched_insert", DELTA, "account correction", _MERGE_NOT_MATCHED,
               stored="account"),
    # Spark makes an append of it.
    *statement("merge_not_matched_insert", ICEBERG, "account correction", _MERGE_NOT_MATCHED,
               stored="account", adds=True),
    *statement("merge_delete", _BOTH, "account correction",
               """MERGE INTO {account} t USING correction s ON t.id = s.id
                  WHEN MATCHED AND s.amount < 500 THEN DELETE""", stored="account"),
    *statement("merge_star", _BOTH, "account correction",
               """MERGE INTO {account} t USING correction s ON t.id = s.id
                  WHEN MATCHED AND t.amount > 400 THEN UPDATE SET *
                  WHEN NOT MATCHED THEN INSERT *""", stored="account", everything=True),
    *statement("merge_not_matched_by_source", _BOTH, "account correction",
               """MERGE INTO {account} t USING correction s ON t.id = s.id
                  WHEN MATCHED THEN UPDATE SET t.amount = s.amount
                  WHEN NOT MATCHED BY SOURCE AND t.amount > 200 THEN UPDATE SET t.fee = t.amount
                  WHEN NOT MATCHED BY SOURCE AND t.dept = 'IT' THEN DELETE""", stored="account"),
    *statement("merge_subquery", _BOTH, "account dept",
               """MERGE INTO {account} t USING
                  (SELECT dept, max(budget) AS top, min(city) AS town FROM dept
                   WHERE budget > 1500 GROUP BY dept) s
                  ON t.dept = s.dept
                  WHEN MATCHED THEN UPDATE SET t.amount = s.top, t.owner = s.town""",
               stored="account"),
    *statement("update", _BOTH, "account", _UPDATE, stored="account"),
    *statement("update_on_read", ICEBERG, "account", _UPDATE, stored="account",
               properties=_ON_READ),
    *statement("update_subquery", ICEBERG, "account dept",
               """UPDATE {account} SET fee = amount
                  WHERE dept IN (SELECT dept FROM dept WHERE budget > 1500)""", stored="account"),
    *statement("delete", _BOTH, "account",
               "DELETE FROM {account} WHERE amount > 300 AND dept = 'IT'", stored="account"),
    *statement("delete_subquery", ICEBERG, "account dept",
               """DELETE FROM {account} AS t WHERE EXISTS
                  (SELECT 1 FROM dept d WHERE d.dept = t.dept AND d.floor_no > 0)""",
               stored="account"),
    *statement("append", _BOTH, "correction",
               """INSERT INTO {account} SELECT id, owner, dept, amount * 2, fee
                  FROM correction WHERE amount > 400""", stored="account", adds=True),
    *statement("dynamic_overwrite", _BOTH, "correction",
               """INSERT OVERWRITE {account} SELECT id, owner, dept, amount + id, fee
                  FROM correction WHERE dept = 'IT'""", stored="account", partitioned_by="dept",
               adds=True),
    *statement("ctas", _BOTH, "account dept",
               """CREATE TABLE {out} USING format AS SELECT a.id, a.amount / d.budget AS share,
                  d.city FROM {account} a LEFT JOIN dept d ON a.dept = d.dept""",
               stored="account"),
    *statement("rtas", _BOTH, "account",
               """CREATE OR REPLACE TABLE {out} USING format AS SELECT id, owner, row_number() OVER
                  (PARTITION BY dept ORDER BY amount, id) AS place FROM {account}""",
               stored="account"),
    *statement("former_version", DELTA, "account",
               """CREATE TABLE {out} USING format AS SELECT id, amount + 1 AS former
                  FROM {account} VERSION AS OF 0 WHERE fee > 0""", stored="account",
               before="UPDATE {account} SET amount = 0, fee = 1"),
    *statement("former_version", ICEBERG, "account",
               """CREATE TABLE {out} USING format AS SELECT id, amount + 1 AS former
                  FROM {account} VERSION AS OF 'first' WHERE fee > 0""", stored="account",
               before="ALTER TABLE {account} CREATE TAG first;"
               "UPDATE {account} SET amount = 0, fee = 1"),
    *statement("changes", DELTA, "account",
               """CREATE TABLE {out} USING format AS SELECT id, amount, _change_type AS how
                  FROM {changes} WHERE fee > 5""", stored="account", key=(),
               before="UPDATE {account} SET owner = 'moved' WHERE dept = 'IT'"),
    *statement("changes", ICEBERG, "account",
               """CREATE TABLE {out} USING format AS SELECT id, amount, _change_type AS how
                  FROM {account}.changes WHERE fee > 5""", stored="account", key=(),
               before="UPDATE {account} SET owner = 'moved' WHERE dept = 'IT'"),
)  # fmt: skip
