"""Versions of Delta and Iceberg tables: which one a leaf reads, which one a command has made.

Both formats keep a list of commits. A read that names a version (``VERSION AS OF``, a tag, a
branch, a change feed) saw the writes up to it, whatever came later; a write is one commit, which
also tells the rows and the partitions that it changed. A commit is taken for the command's only
where it was made since the command began and no other write was committed to the table meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

from spark_agent_config.captured import CapturedQuery, Relation, Version
from spark_agent_config.questions import MOST, Questions, class_name, planned_at, read_list
from spark_agent_config.row_level import COMMAND_NAMES

#: Delta's operations that a command of ours may be; others (OPTIMIZE) only rearrange files.
_DELTA_WRITES: Final = ("WRITE", "MERGE", "UPDATE", "DELETE", "RESTORE", "CLONE", "CONVERT")
_DELTA_TABLES_MADE: Final = "TABLE AS SELECT"
_MOST_COMMITS: Final = 10
_MOST_BYTES: Final = 4_000_000
_MOST_FILES: Final = 1_000
MAIN: Final = "main"
_NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
#: Iceberg's words for what Spark counts of a write of files.
_ICEBERG_COUNTS: Final = {
    "added-records": "numOutputRows",
    "added-data-files": "numFiles",
    "added-files-size": "numOutputBytes",
    "deleted-records": "numRemovedRows",
}


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit says of itself. ``partition_columns`` None: the format did not say.

    ``parent`` is what its branch was before it, where a branch is known.
    """

    version: Version
    counts: Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    partition_columns: tuple[str, ...] | None = None
    parent: Version | None = None


class TableVersions:
    """Asks tables. ``jvm`` and ``hadoop_configuration`` are py4j handles."""

    def __init__(self, questions: Questions, jvm: Any, hadoop_configuration: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm
        self._hadoop_configuration = hadoop_configuration

    # --- reads -------------------------------------------------------------------------------

    def of_delta_relation(self, relation: Any) -> Version | None:
        """A relation of the first data source API: time travel, or a change feed."""
        if class_name(relation) == "DeltaCDFRelation":
            first, last = relation.startingVersion(), relation.endingVersion()
            number = last.get() if last.isDefined() else _analysed_version(relation)
            since = int(first.get()) if first.isDefined() else None
            return Version(str(number), int(number), since=since)
        number = self._ask_quietly(lambda: _travelled_version(relation.location()))
        return None if number is None else Version(str(number), number)

    def of_iceberg_table(self, table: Any, options: Mapping[str, str]) -> Version | None:
        """A table as a query names it: pinned to a snapshot, or the newest of a branch."""
        names = {name.lower(): value for name, value in options.items()}
        pinned = names.get("snapshot-id") or self._ask_quietly(table.snapshotId)
        branch = names.get("branch") or self._ask_quietly(table.branch)
        tag = names.get("tag")
        if pinned is None and branch is None and tag is None:
            return None
        held = table.table()
        snapshot = held.snapshot(int(pinned)) if pinned else held.snapshot(branch or tag)
        return version_of(snapshot, branch)

    # --- writes ------------------------------------------------------------------------------

    def complete(self, query: CapturedQuery, command: Any, execution: Any) -> CapturedQuery:
        """The query with what its commit says; as it is where no commit is known to be its."""
        if query.error is not None or query.target.format not in {"delta", "iceberg"}:
            return query
        if query.written_version is not None:
            return query
        started = self._ask_quietly(lambda: planned_at(execution))
        commit = None if started is None else self._commit(query, command, execution, started)
        if commit is None:
            return query
        target = query.target
        if target.partition_columns is None:
            target = replace(target, partition_columns=commit.partition_columns)
        exact = target.append or target.replaces_partitions
        return replace(
            query,
            target=target,
            relations=read_before(query, commit),
            written_version=commit.version,
            written_partitions=commit.partitions if exact else (),
            write_metrics={**commit.counts, **query.write_metrics},
        )

    def _commit(
        self, query: CapturedQuery, command: Any, execution: Any, started: int
    ) -> Commit | None:
        if query.target.format == "delta":
            return self._ask(
                "Delta's commit",
                lambda: self._delta_commit(query.target.uri, execution.sparkSession(), started),
                None,
            )
        return self._ask("Iceberg's commit", lambda: self._iceberg_commit(command, started), None)

    def _delta_commit(self, place: str, session: Any, started: int) -> Commit | None:
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, place)
        snapshot = log.unsafeVolatileSnapshot()
        newest = int(snapshot.version())
        texts = {
            version: self._text(f"{place.rstrip('/')}/_delta_log/{version:020d}.json")
            for version in range(newest, max(-1, newest - _MOST_COMMITS), -1)
        }
        return delta_commit(texts, read_list(snapshot.metadata().partitionColumns()), started)

    def _text(self, place: str) -> str:
        """A small file's text; empty for one that is gone or larger than the bound."""
        path = self._jvm.org.apache.hadoop.fs.Path(place)
        files = path.getFileSystem(self._hadoop_configuration)
        if not files.exists(path) or int(files.getFileStatus(path).getLen()) > _MOST_BYTES:
            return ""
        stream = files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def _iceberg_commit(self, command: Any, started: int) -> Commit | None:
        table = _iceberg_table(command)
        held = table.table()
        named = self._ask_quietly(table.branch)
        branches = [named] if named else [MAIN, *list(held.refs().keySet())[:MOST]]
        for branch in dict.fromkeys(branches):
            snapshot = held.snapshot(branch)
            if snapshot is not None and int(snapshot.timestampMillis()) >= started:
                return self._iceberg_commit_of(held, snapshot, branch)
        return self._staged_commit(held, started)

    def _staged_commit(self, table: Any, started: int) -> Commit | None:
        """A write under ``spark.wap.id``: a snapshot that no branch has until it is published."""
        for snapshot in newest_snapshots(table):
            if int(snapshot.timestampMillis()) < started:
                break
            if staged := staged_name(snapshot):
                return self._iceberg_commit_of(table, snapshot, staged)
        return None

    def _iceberg_commit_of(self, table: Any, snapshot: Any, branch: str) -> Commit:
        summary = {str(name): str(value) for name, value in dict(snapshot.summary()).items()}
        unknown: tuple[str, ...] = ()
        partitions = self._ask(
            "Iceberg's files", lambda: _touched(table, snapshot, summary), unknown
        )
        counts = {
            name: int(summary[theirs])
            for theirs, name in _ICEBERG_COUNTS.items()
            if theirs in summary
        }
        before = self._ask_quietly(lambda: table.snapshot(snapshot.parentId()))
        parent = None if before is None else version_of(before, branch)
        return Commit(version_of(snapshot, branch), counts, partitions, parent=parent)


def read_before(query: CapturedQuery, commit: Commit) -> Mapping[int, Relation]:
    """The relations, with what a branch held before this write where both are on that branch.

    A MERGE into a branch reads it; asked after the commit, the branch names the MERGE itself.
    """
    branch = commit.version.branch
    itself = query.command in COMMAND_NAMES.values() and branch not in {None, MAIN}

    def before(relation: Relation) -> Relation:
        version = relation.version
        named = version is not None and version.branch is not None and version.branch == branch
        own = named or (itself and version is None)
        return replace(relation, version=commit.parent) if own else relation

    return {
        key: before(relation) if query.target.uri in relation.sources else relation
        for key, relation in query.relations.items()
    }


def newest_snapshots(table: Any) -> Iterator[Any]:
    """The last snapshots of an Iceberg table, the newest first."""
    listed = table.snapshots()
    count = int(listed.size())
    return (listed.get(place) for place in range(count - 1, max(-1, count - 1 - _MOST_COMMITS), -1))


def staged_name(snapshot: Any) -> str | None:
    """``wap:nightly``: what stands for a branch of a snapshot written under that WAP id."""
    given = snapshot.summary().get("wap.id")
    return None if given is None else f"wap:{given}"


def delta_commit(
    texts: Mapping[int, str], partition_columns: Sequence[str], started: int
) -> Commit | None:
    """The only commit of a write since ``started`` (epoch ms); None where there are several.

    ``texts``: version => the commit's file, JSON lines, newest first.
    """
    found = None
    for version, text in texts.items():
        actions = [json.loads(line) for line in text.splitlines()]
        information: dict[str, Any] = next(
            (action["commitInfo"] for action in actions if "commitInfo" in action), {}
        )
        if int(information.get("timestamp", 0)) < started:
            break
        if not _is_write(str(information.get("operation", ""))):
            continue
        if found is not None:
            return None
        counts = information.get("operationMetrics") or {}
        found = Commit(
            Version(str(version), version),
            {name: int(value) for name, value in counts.items() if str(value).isdecimal()},
            _partitions_of(actions, partition_columns),
            tuple(partition_columns),
        )
    return found


def _is_write(operation: str) -> bool:
    return operation.endswith((*_DELTA_WRITES, _DELTA_TABLES_MADE, "STREAMING UPDATE"))


def _partitions_of(actions: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> tuple[str, ...]:
    """``dt=d1/h=3`` of every file that was added or removed; none where names are not columns'."""
    found = set()
    for action in actions:
        values = (action.get("add") or action.get("remove") or {}).get("partitionValues")
        if values is None:
            continue
        if set(values) != set(columns) or not columns:
            return ()
        found.add("/".join(f"{quote(name, '')}={_escaped(values[name])}" for name in columns))
    return tuple(sorted(found)) if len(found) <= MOST else ()


def _escaped(value: str | None) -> str:
    return _NULL_PARTITION if value is None or value == "" else quote(value, "")


def _travelled_version(index: Any) -> int | None:
    return int(index.getSnapshot().version()) if index.isTimeTravelQuery() else None


def _analysed_version(relation: Any) -> int:
    return int(relation.snapshotWithSchemaMode().snapshot().version())


def version_of(snapshot: Any, branch: str | None) -> Version:
    """Snapshots of one branch are ordered by their sequence numbers; the oldest format has none."""
    number = int(snapshot.sequenceNumber()) or int(snapshot.timestampMillis())
    return Version(str(snapshot.snapshotId()), number, branch)


def _iceberg_table(command: Any) -> Any:
    """The table that a command writes; one that it has made is loaded by its name."""
    if "AsSelect" in class_name(command):
        made = command.name()
        return made.catalog().loadTable(made.identifier())
    table = command.table().table()
    return table.table() if class_name(table) == "RowLevelOperationTable" else table


def _touched(table: Any, snapshot: Any, summary: Mapping[str, str]) -> tuple[str, ...]:
    """The partitions of every file that the commit added or removed, as paths spell them."""
    files = sum(int(summary.get(f"{what}-data-files", 0)) for what in ("added", "deleted"))
    if files > _MOST_FILES or int(summary.get("changed-partition-count", MOST + 1)) > MOST:
        return ()
    specs, read = table.specs(), table.io()
    changed = [
        *snapshot.addedDataFiles(read), *snapshot.removedDataFiles(read),
        *snapshot.addedDeleteFiles(read),
    ]  # fmt: skip
    found = {str(specs.get(f.specId()).partitionToPath(f.partition())) for f in changed}
    return tuple(sorted(found - {""}))
