"""Commits of Delta and Iceberg tables as values: the one of a command, and its content. Pure.

A commit counts as a command's only if it was made while the command ran and no other write was
committed to the table meanwhile: Spark tells of a command some time after its end, when others may
have followed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion, Target
from spark_agent_config.capture.plans.row_level import COMMAND_NAMES
from spark_agent_config.capture.questions import MOST

MAIN: Final = "main"
#: Delta's operations that a command of ours may be; others (OPTIMIZE) only rearrange files.
_DELTA_WRITES: Final = ("WRITE", "MERGE", "UPDATE", "DELETE", "RESTORE", "CLONE", "CONVERT")
_DELTA_TABLES_MADE: Final = "TABLE AS SELECT"
_PHYSICAL_NAME: Final = "delta.columnMapping.physicalName"
_NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Commit:
    """The fields of a commit. ``partition_columns`` None: the format does not record them.

    ``parent`` is the former commit of its branch, if a branch is known. ``added`` is the number of
    files that it added, and ``leaves_some`` whether it left others in the table.
    """

    version: TableVersion
    counts: Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    partition_columns: tuple[str, ...] | None = None
    parent: TableVersion | None = None
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
    newest version of an incremental read does.
    """
    branch = commit.version.branch
    itself = query.command in COMMAND_NAMES.values() and branch not in {None, MAIN}

    def before(relation: Relation) -> Relation:
        version = relation.version
        if version is None:
            return replace(relation, version=commit.parent) if itself else relation
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
    found = None
    for version, text in commits:
        actions = [json.loads(line) for line in text.splitlines()]
        information = information_of(actions)
        made_at = int(information.get("timestamp", 0))
        if made_at < period.since:
            break
        if made_at not in period or not _is_write(str(information.get("operation", ""))):
            continue
        if found is not None:
            return None
        found = commit_of(version, actions, partition_columns)
    return found


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
    found = (action["commitInfo"] for action in actions if "commitInfo" in action)
    return next(found, {})


def _is_write(operation: str) -> bool:
    return operation.endswith((*_DELTA_WRITES, _DELTA_TABLES_MADE, "STREAMING UPDATE"))


def _partitions_of(
    actions: Iterable[Mapping[str, Any]], columns: Mapping[str, str]
) -> tuple[str, ...]:
    """``dt=d1/h=3`` of every file that was added or removed; none where names are not columns'."""
    found = set()
    for action in actions:
        values = (action.get("add") or action.get("remove") or {}).get("partitionValues")
        if values is None:
            continue
        if set(values) != set(columns.values()) or not columns:
            return ()
        found.add(
            "/".join(f"{quote(name, '')}={_escaped(values[own])}" for name, own in columns.items())
        )
    return tuple(sorted(found)) if len(found) <= MOST else ()


def _escaped(value: str | None) -> str:
    return _NULL_PARTITION if value is None or value == "" else quote(value, "")
