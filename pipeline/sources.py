"""A journal as a Spark data frame of ``journal.Line``.

A backup or an export: files or folders of JSON lines, wherever Spark reads text (``.gz`` by its
name). A journal database: PostgreSQL through JDBC, in ranges of positions. One gzip file is read
by one task; an export in several files, or JDBC, by many. Large bodies that lie outside of the
database are read where the journal notes their place (``HEADWATER_BODIES``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_type_hints
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, DataType, LongType, StringType, StructField, StructType

from graph_model.errors import ConfigurationError
from graph_model.producers.commands import COMMAND_KIND
from graph_model.stores.journal.large_bodies import PLACE_KEY
from pipeline.journal import Line, read_lines, read_rows

_JDBC: Final = "jdbc:postgresql://"
_SERVERS: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
_DRIVER: Final = "org.postgresql.Driver"
_FETCH_SIZE: Final = "500"

JOURNAL_QUERY: Final = (
    "SELECT d.position, d.kind, b.api_version, d.plan_id, d.scope, d.content_hash, d.received_at,"
    " b.packed FROM journal_documents d"
    " LEFT JOIN journal_bodies b ON b.content_hash = d.content_hash"
)
_SETTINGS_QUERY: Final = "SELECT key, value FROM journal_meta"
_RANGE_QUERY: Final = (
    "SELECT coalesce(min(position), 0) AS first, coalesce(max(position), 0) AS last"
    " FROM journal_documents"
)

_TYPES: Final[Mapping[type, DataType]] = {
    str: StringType(),
    int: LongType(),
    bytes: BinaryType(),
}
#: The fields of ``Line``.
SCHEMA: Final = StructType(
    [StructField(name, _TYPES[kind], False) for name, kind in get_type_hints(Line).items()]
)


@dataclass(frozen=True, slots=True)
class TextSource:
    """Backups and exports."""

    paths: tuple[str, ...]

    def lines(self, spark: SparkSession, partitions: int) -> DataFrame:  # noqa: ARG002
        """Every line; how many tasks read is a matter of the files."""
        return _frame(spark, spark.read.text(list(self.paths)))

    def commands(self, spark: SparkSession) -> list[tuple[str, bytes]]:
        """The content hashes and bodies of all commands."""
        text = spark.read.text(list(self.paths))
        likely = text.where(text["value"].rlike('"kind": ?"command"'))
        return _commands(_frame(spark, likely))


@dataclass(frozen=True, slots=True)
class DatabaseSource:
    """A journal in PostgreSQL. ``options`` may hold a password: they are shown nowhere."""

    url: str
    options: Mapping[str, str] = field(repr=False)

    def lines(self, spark: SparkSession, partitions: int) -> DataFrame:
        """Every document, read in so many ranges of positions."""
        ends = self._read(spark, _RANGE_QUERY, {}).collect()[0]
        ranges = {
            "partitionColumn": "position",
            "lowerBound": str(ends["first"]),
            "upperBound": str(ends["last"] + 1),
            "numPartitions": str(partitions),
        }
        return _row_frame(spark, self._read(spark, JOURNAL_QUERY, ranges), self._place(spark))

    def commands(self, spark: SparkSession) -> list[tuple[str, bytes]]:
        """The content hashes and bodies of all commands."""
        query = f"{JOURNAL_QUERY} WHERE d.kind = '{COMMAND_KIND}'"
        return _commands(_row_frame(spark, self._read(spark, query, {}), self._place(spark)))

    def _place(self, spark: SparkSession) -> str | None:
        """Where the journal notes that its large bodies lie; every task reads them there."""
        noted = self._read(spark, _SETTINGS_QUERY, {}).collect()
        return {row["key"]: row["value"] for row in noted}.get(PLACE_KEY)

    def _read(self, spark: SparkSession, query: str, ranges: Mapping[str, str]) -> DataFrame:
        settings = {
            "url": self.url,
            "driver": _DRIVER,
            "fetchsize": _FETCH_SIZE,
            **self.options,
            **ranges,
        }
        return spark.read.format("jdbc").options(**settings, dbtable=f"({query}) journal").load()


Source = TextSource | DatabaseSource


def open_source(places: Sequence[str], password: str | None) -> Source:
    """The source of these places: one database, or files and folders.

    Raises ConfigurationError for places that cannot be one.
    """
    databases = [place for place in places if place.startswith((_JDBC, *_SERVERS))]
    if not databases:
        for place in places:
            _check_name(place)
        return TextSource(tuple(places))
    if len(places) > 1:
        raise ConfigurationError("a journal database stands alone after --from")
    return _database(databases[0], password)


def _check_name(place: str) -> None:
    """Spark knows compression by its name alone."""
    path = Path(place)
    if "://" in place or not path.is_file() or path.suffix == ".gz":
        return
    with path.open("rb") as file:
        if file.read(2) == b"\x1f\x8b":
            raise ConfigurationError(f"{place} is compressed: give it a name that ends .gz")


def _database(place: str, password: str | None) -> DatabaseSource:
    url = urlsplit(place.removeprefix("jdbc:"))
    if not url.hostname or not url.path.strip("/"):
        raise ConfigurationError("expected postgresql://user@host/database")
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    port = f":{url.port}" if url.port else ""
    query = f"?{url.query}" if url.query else ""
    login = {"user": url.username, "password": url.password}
    options = {name: unquote(value) for name, value in login.items() if value is not None}
    if password:
        options["password"] = password
    return DatabaseSource(f"{_JDBC}{host}{port}{url.path}{query}", options)


def _frame(spark: SparkSession, text: DataFrame) -> DataFrame:
    def read(rows: Iterator[Any]) -> Iterator[Line]:
        return read_lines(row.value for row in rows)

    return spark.createDataFrame(text.rdd.mapPartitions(read), SCHEMA, verifySchema=False)


def _row_frame(spark: SparkSession, rows: DataFrame, place: str | None) -> DataFrame:
    def read(partition: Iterator[Any]) -> Iterator[Line]:
        return read_rows(partition, place)

    return spark.createDataFrame(rows.rdd.mapPartitions(read), SCHEMA, verifySchema=False)


def _commands(lines: DataFrame) -> list[tuple[str, bytes]]:
    chosen = lines.where(lines["kind"] == COMMAND_KIND)
    rows = chosen.select("content_hash", "body").collect()
    return [(row["content_hash"], bytes(row["body"])) for row in rows]


# A Spark session: that of spark-submit, Glue or EMR, else a local one.

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
