"""Streaming queries: one logical plan a query, one execution a batch that processed rows.

Spark calls no query listener for a streaming write, so this module takes the progress from the
events of streams and the plan from the running query. They are on the bus of the application, for
the streams of all its sessions: :class:`StreamEvents` hears them. A session's own listener is
called while a stream starts, so that even one of some milliseconds is found; the bus comes later.
Writes of a batch function (``foreachBatch``) reach the query listener like any other write.

Delta and Iceberg write the stream and the batch into the commit, so the version that a micro-batch
made is certain. The versions that it read are in the offsets that Spark reports of a batch; a batch
reads the versions since the former batch, as a change feed does:

    "startOffset": {"reservoirVersion": 3, "index": -1}, "endOffset": {"reservoirVersion": 5, …}
    => versions 3 and 4 of a Delta table
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion
from spark_agent_config.capture.questions import Questions, class_name, first_line, items, read_list
from spark_agent_config.capture.relations import bracketed
from spark_agent_config.capture.table_versions import (
    MAIN,
    Commit,
    TableVersions,
    commit_of,
    newest_snapshots,
    version_of,
    with_commit,
)

_LOG: Final = logging.getLogger(__name__)


class Streams:
    """Follows streaming queries for one observation.

    ``find`` returns the JVM's running query of an id; ``capture`` turns it into a captured write,
    None for a sink that keeps nothing (console, memory) or is reported otherwise (foreachBatch).
    ``complete`` adds the fields of one batch alone: the versions that it read and made.
    """

    def __init__(
        self,
        find: Callable[[str], Any],
        capture: Callable[[Any], CapturedQuery | None],
        tell: Callable[[CapturedQuery], object],
        complete: Callable[[CapturedQuery, Any, Mapping[str, Any]], CapturedQuery],
    ) -> None:
        self._find = find
        self._capture = capture
        self._tell = tell
        self._complete = complete
        self._running: dict[str, Any] = {}
        self._captured: dict[str, CapturedQuery | None] = {}
        self._warned = False
        self._lock = threading.Lock()

    def started(self, query: str, run: str) -> None:
        """Keep hold of the query: once it has ended Spark does not find it any more."""
        if not self.knows(run):
            self._quietly(lambda: self._keep(run, self._find(query)))

    def knows(self, run: str) -> bool:
        with self._lock:
            return self._running.get(run) is not None

    def running(self) -> list[Any]:
        """The JVM's queries that have started, until their end is reported."""
        with self._lock:
            return [query for query in self._running.values() if query is not None]

    def progressed(self, run: str, progress: Mapping[str, Any]) -> None:
        """``progress`` is the JSON that Spark gives of a trigger; an idle one is no execution."""
        if "addBatch" in (progress.get("durationMs") or {}):
            self._quietly(lambda: self._report_batch(run, progress))

    def ended(self, run: str, error: str | None, timestamp: int) -> None:
        """``timestamp`` is epoch ms; ``error`` is None when the query was stopped."""
        self._quietly(lambda: self._report_failure(run, error, timestamp))
        with self._lock:
            self._running.pop(run, None)
            self._captured.pop(run, None)

    def _keep(self, run: str, query: Any) -> None:
        with self._lock:
            self._running[run] = query

    def _report_batch(self, run: str, progress: Mapping[str, Any]) -> None:
        captured = self._write_of(run)
        if captured is not None:
            batch = with_progress(captured, progress)
            self._tell(self._complete(batch, self._running.get(run), progress))

    def _report_failure(self, run: str, error: str | None, timestamp: int) -> None:
        captured = None if error is None else self._write_of(run)
        if captured is not None:
            self._tell(replace(captured, error=error, timestamp=timestamp))

    def _write_of(self, run: str) -> CapturedQuery | None:
        with self._lock:
            if run in self._captured or self._running.get(run) is None:
                return self._captured.get(run)
            query = self._running[run]
        captured = self._capture(query)
        with self._lock:
            self._captured[run] = captured
        return captured

    def _quietly(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:  # the law of the listener: a job never fails because of us
            if not self._warned:
                self._warned = True
                _LOG.warning("Lineage of a stream is lost: %s", first_line(error))


def with_progress(captured: CapturedQuery, progress: Mapping[str, Any]) -> CapturedQuery:
    """The write as one batch did it: its end, its duration, its rows."""
    milliseconds = int((progress.get("durationMs") or {}).get("triggerExecution", 0))
    start = datetime.fromisoformat(str(progress["timestamp"]).replace("Z", "+00:00"))
    rows = int(progress.get("numInputRows") or 0)
    written = (progress.get("sink") or {}).get("numOutputRows")
    known = isinstance(written, int) and written >= 0  # -1: the sink does not count
    return replace(
        captured,
        timestamp=int(start.timestamp() * 1000) + milliseconds,
        duration_ns=milliseconds * 1_000_000,
        read_metrics={"numOutputRows": rows},
        write_metrics={"numOutputRows": int(str(written))} if known else {},
    )


class StreamEvents:
    """``java.util.function.Consumer`` of the events of an application's streams.

    ``of_run`` returns who follows a stream: by the ids of the query and of its run. ``now`` gives
    epoch ms.
    """

    def __init__(
        self, of_run: Callable[[str, str], Streams | None], now: Callable[[], int]
    ) -> None:
        self._of_run = of_run
        self._now = now
        self._followers: dict[str, Streams] = {}
        self._has_failed = False

    def accept(self, event: Any) -> None:
        """Never raises: Spark's bus would log it."""
        try:
            self._pass_on(event)
        except Exception as error:  # the law of the listener: a job never fails because of us
            if not self._has_failed:
                self._has_failed = True
                _LOG.warning("Lineage of a stream is lost: %s", first_line(error))

    def _pass_on(self, event: Any) -> None:
        kind = class_name(event)
        if kind == "QueryProgressEvent":
            progress = json.loads(str(event.progress().json()))
            if streams := self._follower(progress["id"], progress["runId"]):
                streams.progressed(progress["runId"], progress)
            return
        query, run = str(event.id()), str(event.runId())
        streams = self._follower(query, run)
        if kind == "QueryTerminatedEvent":
            self._followers.pop(run, None)
            if streams is not None:
                failure = event.exception()
                error = str(failure.get()) if failure.isDefined() else None
                streams.ended(run, error, self._now())

    def _follower(self, query: str, run: str) -> Streams | None:
        """Also of a stream that was running before anybody listened."""
        if run not in self._followers:
            streams = self._of_run(query, run)
            if streams is None:
                return None
            streams.started(query, run)
            self._followers[run] = streams
        return self._followers[run]

    def hashCode(self) -> int:
        return id(self) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self

    def toString(self) -> str:
        return "HeadwaterStreams"

    #: How py4j learns which interface this is.
    Java: Final = SimpleNamespace(implements=["java.util.function.Consumer"])


def streaming_listener(streams: Streams, now: Callable[[], int], *, starts_only: bool) -> Any:
    """A listener for ``spark.streams.addListener``; ``now`` gives epoch ms. Needs PySpark.

    With ``starts_only`` the rest comes from the application's bus.
    """
    from pyspark.sql.streaming import StreamingQueryListener

    class Listener(StreamingQueryListener):  # type: ignore[misc]
        def onQueryStarted(self, event: Any) -> None:
            streams.started(str(event.id), str(event.runId))

        def onQueryProgress(self, event: Any) -> None:
            if starts_only:
                return
            streams.progressed(str(event.progress.runId), json.loads(event.progress.json))

        def onQueryIdle(self, event: Any) -> None:
            """Nothing happened."""

        def onQueryTerminated(self, event: Any) -> None:
            if starts_only:
                return
            error = None if event.exception is None else str(event.exception)
            streams.ended(str(event.runId), error, now())

    return Listener()


# --- versions of tables --------------------------------------------------------------------------

_DELTA: Final = "DeltaSource"
_ICEBERG_STREAM: Final = "spark.sql.streaming.queryId"
_ICEBERG_BATCH: Final = "spark.sql.streaming.epochId"
_FILES_OF_A_SNAPSHOT: Final = "added-data-files"
_FROM_TIMESTAMP: Final = "stream-from-timestamp"

Offset = Mapping[str, Any]


class StreamVersions:
    """Reads running queries. ``progress`` is Spark's JSON about a batch."""

    def __init__(self, questions: Questions, versions: TableVersions) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._versions = versions

    def complete(
        self, query: CapturedQuery, running: Any, progress: Mapping[str, Any]
    ) -> CapturedQuery:
        """The batch with its versions; as it is where they are not known."""
        commit = self._ask(
            "the batch's commit", lambda: self._commit(query, running, progress), None
        )
        if commit is not None:
            query = replace(with_commit(query, commit), target=query.target)
        relations = self._ask(
            "the batch's versions",
            lambda: self._bound(query.relations, running, progress),
            query.relations,
        )
        return replace(query, relations=relations)

    def with_partition_columns(self, query: CapturedQuery, running: Any) -> CapturedQuery:
        """Add a Delta table's partition columns, which its sink lacks: every batch has the same."""
        if query.target.format != "delta" or query.target.partition_columns is not None:
            return query
        columns = self._ask(
            "partition columns", lambda: self._partition_columns(query.target.uri, running), None
        )
        return replace(query, target=replace(query.target, partition_columns=columns))

    def _partition_columns(self, place: str, running: Any) -> tuple[str, ...]:
        snapshot = self._versions.delta_snapshot(place, running.sparkSession())
        return tuple(read_list(snapshot.metadata().partitionColumns()))

    # --- the written version --------------------------------------------------------------------

    def _commit(
        self, query: CapturedQuery, running: Any, progress: Mapping[str, Any]
    ) -> Commit | None:
        stream, batch = str(progress["id"]), int(progress["batchId"])
        if query.target.format == "delta":
            return self._delta_commit(query.target.uri, running.sparkSession(), stream, batch)
        if query.target.format != "iceberg":
            return None
        table = running.logicalPlan().table().table()
        for snapshot in newest_snapshots(table):
            summary = snapshot.summary()
            named = (summary.get(_ICEBERG_STREAM), summary.get(_ICEBERG_BATCH))
            if named == (stream, str(batch)):
                return self._versions.iceberg_commit(table, snapshot, MAIN)
        return None

    def _delta_commit(self, place: str, session: Any, stream: str, batch: int) -> Commit | None:
        snapshot = self._versions.delta_snapshot(place, session)
        for version, text in self._versions.delta_commits(place, int(snapshot.version())):
            actions = [json.loads(line) for line in text.splitlines()]
            if is_of_batch(actions, stream, batch):
                return commit_of(version, actions, self._versions.partition_columns(snapshot))
        return None

    # --- the read versions -----------------------------------------------------------------------

    def _bound(
        self, relations: Mapping[int, Relation], running: Any, progress: Mapping[str, Any]
    ) -> Mapping[int, Relation]:
        """A source that several relations may be binds none."""
        bound = dict(relations)
        for source in progress.get("sources") or ():
            kind, place = bracketed(str(source.get("description")))
            form = "delta" if kind == _DELTA else "iceberg"
            keys = [
                key
                for key, relation in relations.items()
                if (place in relation.sources if form == "delta" else relation.format == form)
            ]
            if len(keys) == 1 and (version := self._read(form, source, running)) is not None:
                bound[keys[0]] = replace(relations[keys[0]], version=version)
        return bound

    def _read(self, form: str, source: Mapping[str, Any], running: Any) -> TableVersion | None:
        start, end = _offset(source.get("startOffset")), _offset(source.get("endOffset"))
        if form == "delta":
            named = str(source["description"])
            first = (
                None if start else self._ask_quietly(lambda: self._first_version(named, running))
            )
            return delta_versions(start, end, first)
        if end is None or "snapshot_id" not in end:
            return None
        leaf = self._iceberg_source(running)
        return self._iceberg_versions(start, end, leaf.table().table(), self._began(leaf))

    def _first_version(self, description: str, running: Any) -> int | None:
        """``startingVersion`` of a Delta stream, which then begins with changes."""
        for leaf in items(running.logicalPlan().collectLeaves()):
            source = self._ask_quietly(leaf.source)
            if source is not None and str(source.toString()) == description:
                given = source.options().startingVersion()
                return int(given.get().version()) if given.isDefined() else None
        return None

    def _iceberg_source(self, running: Any) -> Any:
        """The leaf with the only table of Iceberg's that a stream reads."""
        leaves = items(running.analyzedPlan().collectLeaves())
        (leaf,) = [leaf for leaf in leaves if self._iceberg_table(leaf) is not None]
        return leaf

    def _iceberg_table(self, leaf: Any) -> Any | None:
        """None for a leaf that holds none: the files of a static table, another source."""
        return self._ask_quietly(lambda: leaf.table().table())

    def _began(self, leaf: Any) -> int | None:
        """``stream-from-timestamp`` (epoch ms) of an Iceberg stream; None: at the first version."""
        return self._ask_quietly(lambda: int(leaf.extraOptions().get(_FROM_TIMESTAMP)))

    def _iceberg_versions(
        self, start: Offset | None, end: Offset, table: Any, began: int | None
    ) -> TableVersion:
        last = version_of(table.snapshot(int(end["snapshot_id"])), None)
        if start is None:
            since = None if began is None else _first_after(table, began)
            return replace(last, since=since if since is None else min(since, last.number))
        snapshot = table.snapshot(int(start["snapshot_id"]))
        files = int(snapshot.summary().get(_FILES_OF_A_SNAPSHOT) or 0)
        before = version_of(snapshot, None).number
        since = before + 1 if int(start["position"]) >= files else before
        return replace(last, since=min(since, last.number))


def _first_after(table: Any, began: int) -> int | None:
    """The number of the first snapshot made at or after a time; None: it is not a recent one."""
    first = None
    for snapshot in newest_snapshots(table):
        if int(snapshot.timestampMillis()) < began:
            return first
        first = version_of(snapshot, None).number
    return None


def is_of_batch(actions: Sequence[Mapping[str, Any]], stream: str, batch: int) -> bool:
    """Whether a Delta commit is that of a stream's batch: ``{"txn": {"appId", "version"}}``."""
    return any(
        transaction.get("appId") == stream and transaction.get("version") == batch
        for action in actions
        if isinstance(transaction := action.get("txn"), Mapping)
    )


def delta_versions(
    start: Offset | None, end: Offset | None, first: int | None = None
) -> TableVersion | None:
    """The versions of a Delta table between two offsets; None if there are none.

    An index below 0 stands before the files of its version. A stream begins with the whole table as
    it was (``isStartingVersion``), and continues with changes; one that starts at the version
    ``first`` begins with the changes from there on.
    """
    if end is None or "reservoirVersion" not in end:
        return None
    number = int(end["reservoirVersion"])
    if int(end.get("index", -1)) < 0 and not end.get("isStartingVersion"):
        number -= 1
    whole = start is None or start.get("isStartingVersion")
    since = first if start is None or whole else int(start["reservoirVersion"])
    if number < (since or 0):
        return None
    return TableVersion(str(number), number, since=since)


def _offset(value: object) -> Offset | None:
    """An offset is JSON, or its text."""
    value = json.loads(value) if isinstance(value, str) else value
    return value if isinstance(value, Mapping) else None
