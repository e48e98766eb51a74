"""Versions of Delta and Iceberg tables that a leaf reads or a command made.

Both formats keep a list of commits. A read that names a version (``VERSION AS OF``, a tag, a
branch, a change feed) saw the writes up to it and no later ones; a write is one commit, which also
lists the rows and the partitions that it changed.

A commit counts as a command's only if it was made while the command ran and no other write was
committed to the table meanwhile: Spark tells of a command some time after its end, when others may
have followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion, Target
from spark_agent_config.capture.questions import (
    MOST,
    Questions,
    class_name,
    entries,
    members,
    planned_at,
    read_java_map,
    read_list,
)

MAIN: Final = "main"
#: Delta's operations that a command of ours may be; others (OPTIMIZE) only rearrange files.
_DELTA_WRITES: Final = ("WRITE", "MERGE", "UPDATE", "DELETE", "RESTORE", "CLONE", "CONVERT")
_DELTA_TABLES_MADE: Final = "TABLE AS SELECT"
_PHYSICAL_NAME: Final = "delta.columnMapping.physicalName"
_NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Commit:
    """The fields of a commit. ``partition_columns`` None: the format does not record them.

    ``parent`` is the former commit of its branch, if a branch is known; ``branch_of_session`` says
    that the session named the branch, not the statement. ``added`` is the number of files that it
    added, and ``leaves_some`` whether it left others in the table.
    """

    version: TableVersion
    counts: Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    partition_columns: tuple[str, ...] | None = None
    parent: TableVersion | None = None
    branch_of_session: bool = False
    added: int = 0
    leaves_some: bool = False


@dataclass(frozen=True, slots=True)
class Period:
    """While a command ran, epoch ms, both ends included."""

    since: int
    until: int

    def __contains__(self, at: int) -> bool:
        return self.since <= at <= self.until


def with_commit(query: CapturedQuery, commit: Commit) -> CapturedQuery:
    """The query with the fields of its commit."""
    target = query.target
    if target.partition_columns is None:
        target = replace(target, partition_columns=commit.partition_columns)
    if commit.leaves_some and may_be_dynamic(target):
        target = replace(target, dynamic_partition_overwrite=True)
    exact = target.append or target.replaces_partitions
    return replace(
        query,
        target=target,
        relations=read_before(query, commit),
        written_version=commit.version,
        written_partitions=commit.partitions if exact else (),
        write_metrics={**commit.counts, **query.write_metrics},
    )


def may_be_dynamic(target: Target) -> bool:
    """Whether the commit alone can tell: a setting of the session makes an overwrite dynamic."""
    return target.mode == "Overwrite" and target.dynamic_partition_overwrite is None


def names_in_the_log(columns: Sequence[str], schema: str) -> dict[str, str]:
    """Columns of a Delta table => their names in its log; ``schema`` is the type JSON."""
    fields = {field["name"]: field.get("metadata") or {} for field in json.loads(schema)["fields"]}
    return {name: str(fields.get(name, {}).get(_PHYSICAL_NAME, name)) for name in columns}


def read_before(query: CapturedQuery, commit: Commit) -> Mapping[int, Relation]:
    """The relations, with the version of a branch before this write if both are on that branch.

    A MERGE into a branch reads it; after the commit, the branch names the MERGE itself, as the
    newest version of an incremental read does. A read of the table that names no branch is one of
    main, or of the session's branch:

        MERGE INTO t.branch_b USING t  =>  main of t
        MERGE INTO t USING t           =>  b of t, under spark.wap.branch = b
    """
    branch = commit.version.branch

    def before(relation: Relation) -> Relation:
        version = relation.version
        if version is None:
            return (
                replace(relation, version=commit.parent) if commit.branch_of_session else relation
            )
        named = version.branch is not None and (version.branch, version.since) == (branch, None)
        own = named or version.id == commit.version.id
        return replace(relation, version=_earlier(commit.parent, version)) if own else relation

    return {
        key: before(relation) if query.target.uri in relation.sources else relation
        for key, relation in query.relations.items()
    }


def _earlier(parent: TableVersion | None, version: TableVersion) -> TableVersion | None:
    """The former commit in place of the last one of a read."""
    return parent and replace(parent, branch=version.branch, since=version.since)


def delta_commit(
    commits: Iterable[tuple[int, str]], partition_columns: Mapping[str, str], period: Period
) -> Commit | None:
    """The only commit of a write in a period; None where there are several.

    ``commits``: (version, the text of its file: JSON lines), newest first; none is taken after the
    first that is older than the write. ``partition_columns``: each with its name in the log.
    """
    commit = None
    for version, text in commits:
        actions = [json.loads(line) for line in text.splitlines()]
        information = information_of(actions)
        made_at = int(information.get("timestamp", 0))
        if made_at < period.since:
            break
        if made_at not in period or not _is_write(str(information.get("operation", ""))):
            continue
        if commit is not None:
            return None
        commit = commit_of(version, actions, partition_columns)
    return commit


def commit_of(
    version: int, actions: Sequence[Mapping[str, Any]], partition_columns: Mapping[str, str]
) -> Commit:
    """The fields of a version of a Delta table; ``actions`` are the lines of its file."""
    counts = information_of(actions).get("operationMetrics") or {}
    return Commit(
        TableVersion(str(version), version),
        {name: int(value) for name, value in counts.items() if str(value).isdecimal()},
        _partitions_of(actions, partition_columns),
        tuple(partition_columns),
        added=sum("add" in action for action in actions),
    )


def information_of(actions: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    information = (action["commitInfo"] for action in actions if "commitInfo" in action)
    return next(information, {})


def _is_write(operation: str) -> bool:
    return operation.endswith((*_DELTA_WRITES, _DELTA_TABLES_MADE, "STREAMING UPDATE"))


def _partitions_of(
    actions: Iterable[Mapping[str, Any]], columns: Mapping[str, str]
) -> tuple[str, ...]:
    """``dt=d1/h=3`` of every file that was added or removed; none where names are not columns'."""
    partitions = set()
    for action in actions:
        values = (action.get("add") or action.get("remove") or {}).get("partitionValues")
        if values is None:
            continue
        if set(values) != set(columns.values()) or not columns:
            return ()
        partitions.add(
            "/".join(f"{quote(name, '')}={_escaped(values[own])}" for name, own in columns.items())
        )
    return tuple(sorted(partitions)) if len(partitions) <= MOST else ()


def _escaped(value: str | None) -> str:
    return _NULL_PARTITION if value is None or value == "" else quote(value, "")


#: Their tables keep a list of commits, and are made together with their rows.
VERSIONED_FORMATS: Final = frozenset({"delta", "iceberg"})
_MOST_COMMITS: Final = 10
_MOST_BYTES: Final = 4_000_000
_MOST_FILES: Final = 1_000
_HISTORY_ENTRY: Final = re.compile(r"timestampMillis=(\d+), snapshotId=(\d+)")
_END: Final = 2**62
#: Iceberg's mark of an overwrite of the written partitions alone.
_DYNAMIC: Final = "replace-partitions"
#: Iceberg's options of an incremental read.
_FIRST: Final = "start-snapshot-id"
_LAST: Final = "end-snapshot-id"
#: Iceberg's property of a table, and the setting of a session that it makes count.
_STAGES: Final = "write.wap.enabled"
_SESSION_BRANCH: Final = "spark.wap.branch"
#: Iceberg's names for Spark's counts of a write of files.
_ICEBERG_COUNTS: Final = {
    "added-records": "numOutputRows",
    "added-data-files": "numFiles",
    "added-files-size": "numOutputBytes",
    "deleted-records": "numRemovedRows",
}


class TableVersions:
    """Reads tables. ``jvm`` and ``hadoop_configuration`` are py4j handles."""

    def __init__(self, questions: Questions, jvm: Any, hadoop_configuration: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm
        self._hadoop_configuration = hadoop_configuration
        self._sees_calls: bool | None = None
        self._written_to: dict[int, str] = {}  # snapshots of this session => their branches

    # --- reads -------------------------------------------------------------------------------

    def of_delta_relation(self, relation: Any) -> TableVersion | None:
        """A relation of the first data source API: time travel, or a change feed."""
        if class_name(relation) == "DeltaCDFRelation":
            first, last = relation.startingVersion(), relation.endingVersion()
            number = last.get() if last.isDefined() else _analysed_version(relation)
            since = int(first.get()) if first.isDefined() else None
            return TableVersion(str(number), int(number), since=since)
        number = self._ask_quietly(lambda: _travelled_version(relation.location()))
        return None if number is None else TableVersion(str(number), number)

    def of_iceberg_table(
        self, table: Any, options: Mapping[str, str], session: Any
    ) -> TableVersion | None:
        """A table as a query names it: pinned to a snapshot, or the newest of a branch."""
        names = {name.lower(): value for name, value in options.items()}
        if _FIRST in names:
            return commits_after(table.table(), names)
        pinned = names.get("snapshot-id") or self._ask_quietly(table.snapshotId)
        branch = names.get("branch") or self._ask_quietly(table.branch)
        tag = names.get("tag")
        held = table.table()
        if branch is None and tag is None and pinned is None:
            branch = self._ask_quietly(lambda: _branch_of_session(held, session))
        if branch is not None or tag is not None:
            return version_of(held.snapshot(branch or tag), branch)
        if pinned is None:
            return self._moved_to(held, held.currentSnapshot())
        snapshot = held.snapshot(int(pinned))
        return self._moved_to(held, snapshot) or version_of(snapshot, None)

    def of_iceberg_changes(self, table: Any, options: Mapping[str, str]) -> TableVersion | None:
        """The changes of a table after a snapshot; None: from its first commit on."""
        names = {name.lower(): value for name, value in options.items()}
        return commits_after(table.table(), names) if _FIRST in names else None

    def _moved_to(self, table: Any, snapshot: Any) -> TableVersion | None:
        """The version that main was set to without a commit: published from a branch, rolled back.

        Spark 4 calls no listener for the CALL, so the reader must report it. None for a snapshot
        that was committed to main and stayed there, and on Spark 3.5.
        """
        if snapshot is None or self._listener_sees_calls():
            return None
        history = newest_history(table)
        made, current = made_on_main(history, snapshot)
        if made or len(history) == MOST:
            return None if current else version_of(snapshot, None)
        branch = (
            staged_name(snapshot)
            or self._written_to.get(int(snapshot.snapshotId()))
            or branch_of(self._jvm, table, snapshot)
        )
        return None if branch is None else version_of(snapshot, branch)

    def _listener_sees_calls(self) -> bool:
        if self._sees_calls is None:
            session = self._jvm.org.apache.spark.sql.SparkSession
            self._sees_calls = str(session.active().version()).startswith("3.")
        return self._sees_calls

    # --- writes ------------------------------------------------------------------------------

    def is_untouched(self, query: CapturedQuery, command: Any, execution: Any) -> bool:
        """Whether a query has made no commit: the newest one of its table is older. False: unknown.

        A table of Iceberg without any commit is one that was made before and stayed empty.
        """

        def is_older() -> bool:
            since = planned_at(execution)
            if query.target.format == "delta":
                return 0 < self._newest_delta_commit(query.target.uri, execution) < since
            newest = next(newest_snapshots(_iceberg_table(command).table()), None)
            return newest is None or int(newest.timestampMillis()) < since

        return self._ask("newest commit", is_older, False)

    def _newest_delta_commit(self, place: str, execution: Any) -> int:
        """When it was made, epoch ms; 0: its file is gone or too large."""
        version = int(self.delta_snapshot(place, execution.sparkSession()).version())
        _, text = next(self.delta_commits(place, version))
        return int(information_of(map(json.loads, text.splitlines())).get("timestamp", 0))

    def complete(self, query: CapturedQuery, command: Any, execution: Any) -> CapturedQuery:
        """The query with the fields of its commit; unchanged if no commit is known to be its."""
        if query.error is not None or query.target.format not in VERSIONED_FORMATS:
            return query
        if query.written_version is not None:
            return query
        period = self._ask_quietly(lambda: period_of(execution, query.duration_ns))
        commit = None if period is None else self._commit(query, command, execution, period)
        return query if commit is None else with_commit(query, commit)

    def _commit(
        self, query: CapturedQuery, command: Any, execution: Any, period: Period
    ) -> Commit | None:
        if query.target.format == "delta":
            return self._ask(
                "Delta's commit",
                lambda: self._delta_commit(query, execution.sparkSession(), period),
                None,
            )
        return self._ask("Iceberg's commit", lambda: self._iceberg_commit(command, period), None)

    def _delta_commit(self, query: CapturedQuery, session: Any, period: Period) -> Commit | None:
        place = query.target.uri
        snapshot = self.delta_snapshot(place, session)
        commits = self.delta_commits(place, int(snapshot.version()))
        commit = delta_commit(commits, self.partition_columns(snapshot), period)
        if commit is None or not commit.partition_columns or not may_be_dynamic(query.target):
            return commit
        leaves = self._ask("files of a version", lambda: self._leaves_some(place, commit), False)
        return replace(commit, leaves_some=leaves)

    def _leaves_some(self, place: str, commit: Commit) -> bool:
        """Whether the table has other files than those of a commit; Delta's checksum counts all."""
        text = self._text(f"{_log_of(place)}/{commit.version.number:020d}.crc")
        return int(json.loads(text)["numFiles"]) > commit.added

    def partition_columns(self, snapshot: Any) -> dict[str, str]:
        """The partition columns of a Delta table, each with its name in the log, which differs with
        column mapping.
        """
        metadata = snapshot.metadata()
        columns = read_list(metadata.partitionColumns())
        return names_in_the_log(columns, str(metadata.schema().json())) if columns else {}

    def delta_snapshot(self, place: str, session: Any) -> Any:
        """The present state of a table's log in this JVM."""
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, place)
        return log.unsafeVolatileSnapshot()

    def delta_commits(self, place: str, newest: int) -> Iterator[tuple[int, str]]:
        """The last versions of a table, the newest first, each with its commit's file."""
        for version in range(newest, max(-1, newest - _MOST_COMMITS), -1):
            yield version, self._text(f"{_log_of(place)}/{version:020d}.json")

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

    def _iceberg_commit(self, command: Any, period: Period) -> Commit | None:
        """The only snapshot of that time: of the branch that the command names, else of any.

        A branch may be dropped since: the listener does not check that it holds the snapshot.
        """
        table = _iceberg_table(command)
        held = table.table()
        snapshot = only_one_of(newest_snapshots(held), period)
        if snapshot is None:
            return None
        named = self._ask_quietly(table.branch) or staged_name(snapshot)
        commit = self.iceberg_commit(held, snapshot, named or self._holder(held, snapshot))
        return replace(commit, branch_of_session=named is None and commit.version.branch != MAIN)

    def _holder(self, table: Any, snapshot: Any) -> str:
        """The branch that a write went to which names none: under ``spark.wap.branch`` another."""
        made, _ = made_on_main(newest_history(table), snapshot)
        return MAIN if made else branch_of(self._jvm, table, snapshot) or MAIN

    def iceberg_commit(self, table: Any, snapshot: Any, branch: str) -> Commit:
        """The fields of a snapshot of a branch."""
        summary = _summary(snapshot)
        unknown: tuple[str, ...] = ()
        partitions = self._ask("Iceberg's files", lambda: touched(table, snapshot), unknown)
        counts = {
            name: int(summary[theirs])
            for theirs, name in _ICEBERG_COUNTS.items()
            if theirs in summary
        }
        before = self._ask_quietly(lambda: table.snapshot(snapshot.parentId()))
        parent = None if before is None else version_of(before, branch)
        if branch != MAIN:
            self._remember(int(snapshot.snapshotId()), branch)
        dynamic = summary.get(_DYNAMIC) == "true"
        return Commit(
            version_of(snapshot, branch), counts, partitions, parent=parent, leaves_some=dynamic
        )

    def _remember(self, snapshot: int, branch: str) -> None:
        """Branches are dropped once they are published."""
        self._written_to[snapshot] = branch
        while len(self._written_to) > MOST:
            del self._written_to[next(iter(self._written_to))]


def _log_of(place: str) -> str:
    return f"{place.rstrip('/')}/_delta_log"


def only_one_of(snapshots: Iterable[Any], period: Period) -> Any | None:
    """The snapshot that was made in a period, of those given newest first; None: not just one."""
    in_period = None
    for snapshot in snapshots:
        made_at = int(snapshot.timestampMillis())
        if made_at < period.since:
            break
        if made_at in period and in_period is not None:
            return None
        in_period = snapshot if made_at in period else in_period
    return in_period


def newest_snapshots(table: Any) -> Iterator[Any]:
    """The last snapshots of an Iceberg table, the newest first."""
    listed = table.snapshots()
    count = int(listed.size())
    return (listed.get(place) for place in range(count - 1, max(-1, count - 1 - _MOST_COMMITS), -1))


def staged_name(snapshot: Any) -> str | None:
    """``wap:nightly``: the branch of a snapshot written under that WAP id."""
    given = snapshot.summary().get("wap.id")
    return None if given is None else f"wap:{given}"


def _branch_of_session(table: Any, session: Any) -> str | None:
    """The branch that a session reads where a query names none. The first write makes it."""
    if str(table.properties().get(_STAGES)).lower() != "true":
        return None
    branch = session.conf().get(_SESSION_BRANCH, None)
    return None if branch is None or table.refs().get(branch) is None else str(branch)


def branch_of(jvm: Any, table: Any, snapshot: Any) -> str | None:
    """A branch of an Iceberg table that holds the snapshot; None: the main one alone."""
    follows = jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf
    for name, reference in entries(table.refs()):
        branch = str(name) != MAIN and bool(reference.isBranch())
        if branch and follows(table, int(reference.snapshotId()), int(snapshot.snapshotId())):
            return str(name)
    return None


def newest_history(table: Any) -> list[tuple[int, int]]:
    """The last ``MOST`` entries of a table's history, oldest first: (epoch ms, snapshot)."""
    entries = table.history()
    count = int(entries.size())
    text = str(entries.subList(max(0, count - MOST), count).toString())
    return [(int(at), int(key)) for at, key in _HISTORY_ENTRY.findall(text)]


def made_on_main(history: Sequence[tuple[int, int]], snapshot: Any) -> tuple[bool, bool]:
    """(whether a snapshot was committed to main, whether that was the last change of main).

    The history has an entry for each time that main was set, with the snapshot's own time if it was
    committed then.
    """
    committed = (int(snapshot.timestampMillis()), int(snapshot.snapshotId()))
    return committed in history, list(history[-1:]) == [committed]


def period_of(execution: Any, duration_ns: int | None) -> Period:
    """When a query ran; without an end where its length is unknown. Raises py4j's errors."""
    since = planned_at(execution)
    return Period(since, _END if duration_ns is None else since + duration_ns // 1_000_000 + 1)


def _travelled_version(index: Any) -> int | None:
    return int(index.getSnapshot().version()) if index.isTimeTravelQuery() else None


def _analysed_version(relation: Any) -> int:
    return int(relation.snapshotWithSchemaMode().snapshot().version())


def version_of(snapshot: Any, branch: str | None) -> TableVersion:
    """Snapshots of one branch are ordered by their sequence numbers; the oldest format has none."""
    number = int(snapshot.sequenceNumber()) or int(snapshot.timestampMillis())
    return TableVersion(str(snapshot.snapshotId()), number, branch)


def commits_after(table: Any, options: Mapping[str, str]) -> TableVersion:
    """An incremental read of Iceberg: the commits after one snapshot, up to another or the newest.

    The snapshot in ``start-snapshot-id`` is not read, that in ``end-snapshot-id`` is.
    """
    branch, last = options.get("branch"), options.get(_LAST)
    newest = table.snapshot(int(last) if last else branch or MAIN)
    before = version_of(table.snapshot(int(options[_FIRST])), None)
    return replace(version_of(newest, branch), since=before.number + 1)


def _iceberg_table(command: Any) -> Any:
    """The table that a command writes; one that it has made is loaded by its name."""
    if "AsSelect" in class_name(command):
        made = command.name()
        return made.catalog().loadTable(made.identifier())
    table = command.table().table()
    return table.table() if class_name(table) == "RowLevelOperationTable" else table


def _summary(snapshot: Any) -> dict[str, str]:
    return read_java_map(snapshot.summary())


def touched(table: Any, snapshot: Any) -> tuple[str, ...]:
    """The partitions of every file that the commit added or removed, as paths spell them.

    None of more than ``MOST``, or of too many files.
    """
    summary = _summary(snapshot)
    files = sum(int(summary.get(f"{change}-data-files", 0)) for change in ("added", "deleted"))
    # Files that were added with their manifests are not counted by partitions.
    if files > _MOST_FILES or int(summary.get("changed-partition-count", 0)) > MOST:
        return ()
    specs, read = table.specs(), table.io()
    changed = [
        *members(snapshot.addedDataFiles(read)), *members(snapshot.removedDataFiles(read)),
        *members(snapshot.addedDeleteFiles(read)),
    ]  # fmt: skip
    partitions = {str(specs.get(f.specId()).partitionToPath(f.partition())) for f in changed}
    return tuple(sorted(partitions - {""})) if len(partitions) <= MOST else ()
