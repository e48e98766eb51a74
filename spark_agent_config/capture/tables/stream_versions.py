"""Versions of tables that a micro-batch read and made.

Delta and Iceberg write the stream and the batch into the commit, so the made version is certain.
The read versions are in the offsets that Spark reports of a batch; a batch reads the versions since
the former batch, as a change feed does:

    "startOffset": {"reservoirVersion": 3, "index": -1}, "endOffset": {"reservoirVersion": 5, …}
    => versions 3 and 4 of a Delta table
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion
from spark_agent_config.capture.questions import Questions, items, read_list
from spark_agent_config.capture.tables.relations import bracketed
from spark_agent_config.capture.tables.table_versions import (
    MAIN,
    Commit,
    TableVersions,
    commit_of,
    newest_snapshots,
    version_of,
    with_commit,
)

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
