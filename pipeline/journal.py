"""A journal -> documents: lines of a backup or an export, or a database, as a Spark data frame.

Lines are read one at a time, in any order:

    {"headwater": "backup", …}                               a backup begins
    {"position": 1, "kind": "plan", …, "body": "{…}"}        a document of a backup: text
    {"position": 1, "kind": "plan", …, "body": {…}}          a document of an export: JSON
    {"damaged": {"position": 2, "kind": "plan", …}}          one that the backup could not read
    {"raw": …}, {"key": …}                                   of a backup; hold no document
    {"end": {"documents": 1, …}}                             a backup ends

A document of an export has no hash: its body is the compact JSON that the journal keeps, so the
hash is computed again. The hash in a backup is compared with the body. A document with a damaged
body comes without it and is set aside with its reason, as in the service.

Forget and prune commands are read from the whole journal before the translation.

A data frame has a ``Line`` a row. Files or folders of JSON lines are read wherever Spark reads text
(``.gz`` by its name); a journal database is PostgreSQL through JDBC, in ranges of positions. One
gzip file is read by one task; an export in several files, or JDBC, by many. Large bodies that lie
outside of the database are read where the journal notes their place (``HEADWATER_BODIES``).
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, DataType, LongType, StringType, StructField, StructType

from graph_model import identity, naming
from graph_model.errors import ConfigurationError, HeadwaterError
from graph_model.naming import Rules
from graph_model.naming.rules_json import read_rules
from graph_model.producers.commands import (
    COMMAND_KIND,
    Command,
    CommandKind,
    Forget,
    Statement,
    collect_effects,
    read_command,
)
from graph_model.producers.producer import CommandEffects
from graph_model.stores.aws import S3Bodies, open_bodies
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument, content_hash
from graph_model.stores.journal.stored_bodies import MARK, PLACE_KEY, read_body

DOCUMENT: Final = "document"
BEGIN: Final = "begin"
END: Final = "end"
REFUSED: Final = "refused"
_MOST_SHOWN: Final = 200


class Line(NamedTuple):
    """One line. ``part`` is DOCUMENT, BEGIN, END (``position``: how many documents the backup has)
    or REFUSED (``kind``: why). ``damage`` is that of ``stores.documents.StoredDocument``.
    """

    part: str
    subject_key: str = ""
    content_hash: str = ""
    scope: str = ""
    position: int = 0
    kind: str = ""
    api_version: str = ""
    received_at: int = 0
    body: bytes = b""
    damage: str = ""


def read_lines(lines: Iterable[str]) -> Iterator[Line]:
    """Each line as a value; an unreadable one is REFUSED and does not affect the others."""
    for text in lines:
        if not text.strip():
            continue
        try:
            line = _read(json.loads(text))
        except (ValueError, KeyError, TypeError) as error:
            problem = f"no {error}" if isinstance(error, KeyError) else str(error)
            yield Line(REFUSED, kind=f"{problem}: {text[:_MOST_SHOWN]}")
            continue
        if line is not None:
            yield line


def _read(line: Any) -> Line | None:
    if not isinstance(line, dict):
        raise ValueError("expected a JSON object")
    if "position" in line:
        return _document(line)
    if "headwater" in line:
        return Line(BEGIN)
    if "end" in line:
        return Line(END, position=int(line["end"]["documents"]))
    if "damaged" in line:
        return _damaged(line["damaged"])
    if "raw" in line or "key" in line:
        return None
    raise ValueError("neither a backup nor an export of a journal")


def _document(line: dict[str, Any]) -> Line:
    document = Line(
        DOCUMENT,
        position=int(line["position"]),
        kind=_text(line, "kind"),
        api_version=_text(line, "apiVersion"),
        subject_key=_text(line, "planId"),
        scope=_text(line, "scope"),
        received_at=int(line["receivedAt"]),
        body=_body(line),
    )
    return _with_hash(document, line.get("contentHash"))


def _with_hash(document: Line, expected: str | None) -> Line:
    """Raises ValueError where the hash of the body is not the expected one."""
    content = content_hash(document.kind, document.api_version, document.body)
    if expected is not None and expected != content:
        raise ValueError(f"the content of document {document.position} has another hash")
    return document._replace(content_hash=content)


def _damaged(record: dict[str, Any]) -> Line | None:
    """A document that a backup could not hold; of a damaged receipt nothing."""
    if "receipt" in record:
        return None
    return Line(
        DOCUMENT,
        position=int(record["position"]),
        kind=_text(record, "kind"),
        subject_key=_text(record, "planId"),
        scope=_text(record, "scope"),
        content_hash=_text(record, "contentHash"),
        damage=_text(record, "reason").removeprefix("its body "),
    )


def _body(line: dict[str, Any]) -> bytes:
    if "base64" in line:
        return base64.b64decode(line["base64"], validate=True)
    body = line["body"]
    if isinstance(body, str):
        return body.encode()
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _text(line: dict[str, Any], name: str) -> str:
    value = line[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def read_rows(rows: Iterable[Any], place: str | None) -> Iterator[Line]:
    """The documents of rows of the journal's tables (``sources.JOURNAL_QUERY``); ``place`` is that
    of their large bodies.
    """
    store = open_bodies(place) if place else None
    for row in rows:
        yield read_row(row, store)


def read_row(row: Any, store: S3Bodies | None = None) -> Line:
    """A document from a row; ``store`` holds its body if the row has only a mark."""
    packed = None if row.packed is None else bytes(row.packed)
    if packed == MARK and store is not None:
        packed = store.get(row.content_hash)
    body = read_body(packed, row.kind, row.api_version, row.content_hash)
    document = Line(
        DOCUMENT,
        position=row.position,
        kind=row.kind,
        api_version=row.api_version or "",
        subject_key=row.plan_id,
        scope=row.scope,
        received_at=row.received_at,
    )
    if body.damage:
        return document._replace(content_hash=row.content_hash, damage=body.damage)
    try:
        return _with_hash(document._replace(body=body.content), row.content_hash)
    except ValueError as error:
        return Line(REFUSED, kind=f"document {row.position}: {error}")


def stored(line: Line, number: int) -> StoredDocument:
    """The document as the translation takes it, as if it had just come, under this number."""
    return StoredDocument(
        position=number,
        kind=DocumentKind(line.kind),
        api_version=line.api_version,
        subject_key=line.subject_key,
        scope=line.scope,
        subject=identity.subject_id(line.scope, line.subject_key),
        content_hash=line.content_hash,
        state=DocumentState.PENDING,
        reason=None,
        received_at=line.received_at,
        size=len(line.body),
        body=line.body,
        damage=line.damage,
    )


@dataclass(frozen=True, slots=True)
class WorkerCommands:
    """The effects for every subject key; they go to all workers. ``count``: how many there are.

    The service looks forgotten bodies up in its catalogue; here all of them are listed, 64
    characters each, at most 5,000 a command.
    """

    rules: Rules
    effects: CommandEffects
    count: int


def read_commands_in_force(bodies: Iterable[tuple[str, bytes]]) -> WorkerCommands:
    """The effects of all commands, from their content hashes and bodies.

    An unreadable one has no effect, and the translation sets it aside like any other.
    """
    # By time, then hash: of several about one thing at one time every worker takes the same.
    read = (
        (command, content) for content, body in bodies if (command := _command(body)) is not None
    )
    commands = [command for command, _ in sorted(read, key=lambda pair: (pair[0].at, pair[1]))]
    forgotten = frozenset(
        content
        for command in commands
        if isinstance(command.instruction, Forget)
        for content in command.instruction.documents
    )
    effects = replace(collect_effects(commands), forgotten=forgotten)
    return WorkerCommands(rules_of(commands), effects, len(commands))


def _command(body: bytes) -> Command | None:
    try:
        return read_command(json.loads(body))
    except (HeadwaterError, ValueError):
        return None


def rules_of(commands: Iterable[Command]) -> Rules:
    """The naming rules of the last command with rules; the defaults without one."""
    rule_sets = [rules for command in commands if (rules := _rules(command)) is not None]
    return rule_sets[-1] if rule_sets else naming.DEFAULT_RULES


def _rules(command: Command) -> Rules | None:
    if command.kind is not CommandKind.RULES or not isinstance(command.instruction, Statement):
        return None
    if command.instruction.value is None:
        return naming.DEFAULT_RULES
    try:
        return read_rules(json.loads(command.instruction.value))
    except (HeadwaterError, ValueError):
        return None


# --- the journal as a data frame -----------------------------------------------------------------

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
