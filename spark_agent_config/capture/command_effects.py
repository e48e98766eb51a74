"""What a write makes that its command does not name: partitions of files, columns of Delta.

Spark counts the written partitions (the metric ``numParts``) and keeps no list of them. The times
of the table's folders tell: a written partition is newer than the start of the query. The list
counts only where it agrees with Spark's own count:

    numParts 2, query started 12:00:07
    dt=d1 12:00:09, dt=d2 12:00:08, dt=d3 11:58:30  =>  dt=d1, dt=d2
    dt=d1 12:00:09, dt=d2 12:00:08, dt=d3 12:00:08  =>  nothing: another job wrote at that time

The listener lists folders, not files, with bounds on their number and on the time. Object stores
keep no times of folders; there it lists the files of each partition, within the same bounds.

Delta fills in columns during the write: ``twice GENERATED ALWAYS AS (id * 2)``,
``pay BIGINT DEFAULT 7``, ``number GENERATED ALWAYS AS IDENTITY``. The analyzed plan of an insert
lacks them. Their expressions are in the table's schema; Spark resolves them over the written query:

    Project [id, dt]  =>  Project [id, dt, (id * 2) AS twice, 7 AS pay] over Project [id, dt]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.questions import MOST, Questions, planned_at, read_list

_PARTITIONS_WRITTEN: Final = "numParts"
#: Each listing is a request to the file system, made while Spark's listener bus waits.
_MOST_LISTINGS: Final = 64
_MOST_FOLDERS: Final = 20_000
_MOST_SECONDS: Final = 2.0
#: Some file systems keep whole seconds.
_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder of a listing; ``modified`` is epoch ms."""

    path: str
    is_folder: bool
    modified: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class PartitionFolder:
    """``text`` is ``dt=d1/h=3`` as the path spells it."""

    text: str
    path: str
    modified: int


Listing = Callable[[str], Sequence[Entry]]


class WrittenPartitions:
    """Reads Hadoop's file systems. ``jvm`` and ``hadoop_configuration`` are py4j handles."""

    def __init__(self, questions: Questions, jvm: Any, hadoop_configuration: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm
        self._hadoop_configuration = hadoop_configuration

    def complete(self, query: CapturedQuery, execution: Any) -> CapturedQuery:
        """The query with the partitions that it wrote; unchanged if they are unknown.

        A full overwrite is not looked up: it replaces every partition.
        """
        target, count = query.target, query.write_metrics.get(_PARTITIONS_WRITTEN, 0)
        keys = target.partition_columns or ()
        leaves_some = target.append or target.dynamic_partition_overwrite is True
        if query.error is not None or not leaves_some or not 0 < count <= MOST:
            return query
        if len(target.static_partitions) >= len(keys):
            return query
        started = self._ask_quietly(lambda: planned_at(execution))
        if started is None:
            return query
        partitions: tuple[str, ...] = self._ask(
            "written partitions",
            lambda: written_partitions(
                Bounded(self._list), target.uri, keys, target.static_partitions, count, started
            ),
            (),
        )
        return replace(query, written_partitions=partitions)

    def _list(self, place: str) -> tuple[Entry, ...]:
        """The entries of a folder in two calls: each of its own would cost a call a field."""
        path = self._jvm.org.apache.hadoop.fs.Path(place)
        listed = path.getFileSystem(self._hadoop_configuration).listStatus(path)
        return tuple(map(read_status, read_list(self._jvm.scala.Predef.genericWrapArray(listed))))


class TooMuchToList(Exception):
    """The folders of this table are more than a listener may look through."""


class Bounded:
    """A listing that gives up: raises TooMuchToList beyond the bounds of this module."""

    def __init__(self, listing: Listing, clock: Callable[[], float] = time.monotonic) -> None:
        self._listing = listing
        self._clock = clock
        self._until = clock() + _MOST_SECONDS
        self._listings = 0
        self._entries = 0

    def __call__(self, place: str) -> Sequence[Entry]:
        self._listings += 1
        if self._listings > _MOST_LISTINGS or self._clock() > self._until:
            raise TooMuchToList(place)
        entries = self._listing(place)
        self._entries += len(entries)
        if self._entries > _MOST_FOLDERS:
            raise TooMuchToList(place)
        return entries


def written_partitions(
    listing: Listing,
    place: str,
    keys: Sequence[str],
    static: Mapping[str, str],
    count: int,
    started: int,
) -> tuple[str, ...]:
    """The ``count`` partitions of the table at ``place`` written since ``started`` (epoch ms).

    ``dt=d1/h=3`` each, as the path spells it, in order; empty if the times do not identify them.
    """
    folders = _partition_folders(listing, place, keys, static)
    if len(folders) < count:
        return ()
    touched = newest(folders, count, started)
    if not touched:
        touched = newest(_by_their_files(listing, folders), count, started)
    return tuple(sorted(folder.text for folder in touched))


def newest(
    folders: Iterable[PartitionFolder], count: int, started: int
) -> tuple[PartitionFolder, ...]:
    """The ``count`` newest, where they alone are as new as the query; else none."""
    ordered = sorted(folders, key=lambda folder: -folder.modified)
    chosen, others = ordered[:count], ordered[count:]
    if chosen[-1].modified < started // _SECOND_MS * _SECOND_MS:
        return ()
    return () if others and others[0].modified >= started else tuple(chosen)


def _partition_folders(
    listing: Listing, place: str, keys: Sequence[str], static: Mapping[str, str]
) -> list[PartitionFolder]:
    given = {key.lower(): value for key, value in static.items()}
    level = [PartitionFolder("", place, 0)]
    for key in keys:
        level = [
            PartitionFolder(f"{folder.text}/{entry.name}".lstrip("/"), entry.path, entry.modified)
            for folder in level
            for entry in listing(folder.path)
            if entry.is_folder and _is_value(entry.name, key.lower(), given)
        ]
    return level


def _is_value(name: str, key: str, given: Mapping[str, str]) -> bool:
    """Whether a folder is a partition of this key, of the given value where there is one."""
    spelled, separator, value = name.partition("=")
    return (
        bool(separator)
        and spelled.lower() == key
        and given.get(key, value) in (value, unquote(value))
    )


def _by_their_files(listing: Listing, folders: Sequence[PartitionFolder]) -> list[PartitionFolder]:
    return [
        replace(folder, modified=max((e.modified for e in listing(folder.path)), default=0))
        for folder in folders
    ]


def read_status(text: str) -> Entry:
    """Hadoop's ``FileStatus{path=…; isDirectory=true; modification_time=1; …}``.

    Raises ValueError if it has no time.
    """
    path, _, rest = text.partition("path=")[2].partition("; isDirectory=")
    modified = rest.partition("modification_time=")[2].partition(";")[0]
    return Entry(path, rest.startswith("true"), int(modified))


# --- columns -------------------------------------------------------------------------------------

#: A generated column may have no default.
_EXPRESSIONS: Final = ("delta.generationExpression", "CURRENT_DEFAULT")
_IDENTITY: Final = "delta.identity.start"
#: Stands for the numbers that Delta deals out: made of no column.
_NUMBERS: Final = "monotonically_increasing_id()"


class GeneratedColumns:
    """Reads a Delta table's schema. ``jvm`` is a py4j handle."""

    def __init__(self, questions: Questions, jvm: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm

    def complete(self, captured: CapturedQuery, query: Any, session: Any) -> CapturedQuery:
        """The write of ``query`` with the columns that its Delta table adds; else as it is."""
        if captured.target.format != "delta" or captured.schema is None:
            return captured
        return self._ask(
            "generated columns", lambda: self._completed(captured, query, session), captured
        )

    def _completed(self, captured: CapturedQuery, query: Any, session: Any) -> CapturedQuery:
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, captured.target.uri)
        schema = str(log.unsafeVolatileSnapshot().metadata().schemaString())
        given = [field["name"] for field in json.loads(captured.schema or "{}")["fields"]]
        missing = generated(schema, given)
        if not missing:
            return captured
        sql = self._jvm.org.apache.spark.sql
        frame = self._rows(session, query)
        for name, text in missing.items():
            frame = frame.withColumn(name, sql.functions.expr(text))
        analyzed = frame.queryExecution().analyzed()
        return replace(
            captured,
            plan=with_query(captured.plan, str(analyzed.toJSON())),
            schema=str(analyzed.schema().json()),
        )

    def _rows(self, session: Any, query: Any) -> Any:
        """A plan as a frame; its class moved in Spark 4."""
        sql = self._jvm.org.apache.spark.sql
        return self._ask_quietly(
            lambda: sql.classic.Dataset.ofRows(session, query)
        ) or sql.Dataset.ofRows(session, query)


def generated(schema: str, given: Collection[str]) -> dict[str, str]:
    """The columns of a Delta schema (type JSON) that a write does not give: name => expression."""
    if not any(name in schema for name in (*_EXPRESSIONS, _IDENTITY)):
        return {}
    known = {name.lower() for name in given}
    expressions = {
        field["name"]: _expression(field.get("metadata", {}))
        for field in json.loads(schema)["fields"]
        if field["name"].lower() not in known
    }
    return {name: text for name, text in expressions.items() if text is not None}


def _expression(metadata: Mapping[str, Any]) -> str | None:
    expression = next((metadata[name] for name in _EXPRESSIONS if name in metadata), None)
    return _NUMBERS if expression is None and _IDENTITY in metadata else expression


def with_query(command: str, query: str) -> str:
    """A command's JSON with another query: below it, or in the command's own field."""
    top, *_ = json.loads(command)
    nodes = json.loads(query)
    if isinstance(top.get("query"), int):
        return json.dumps([top, *nodes])
    return json.dumps([{**top, "query": nodes}])
