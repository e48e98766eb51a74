"""Iceberg's procedures (``CALL ice.system.fast_forward(…)``) on Spark 3.5.

Publishing is a write to the target branch that reads the published one:

    fast_forward(t, main, audit)    => reads branch audit of t, overwrites t
    publish_changes(t, w1)          => reads the snapshot staged as w1, appends to t
    cherrypick_snapshot(t, 12)      => reads that snapshot alone, appends to t
    rollback_to_snapshot(t, 12)     => reads snapshot 12 of t, overwrites t
    add_files(t, `parquet`.`/in`)   => reads /in, appends to t
    snapshot(src, t), migrate(t)    => reads the source as it is, writes t

Procedures that rewrite or remove files are lifecycle facts with a reason; the others
(``ancestors_of``, ``create_changelog_view``) change no table. Spark 4 calls no listener for a CALL.

Commands that change files or partitions of a table and write no row: OPTIMIZE, REORG, VACUUM,
ALTER TABLE ... ADD or DROP PARTITION, MSCK REPAIR TABLE.

The listener reports them as lifecycle facts with a reason. ``append`` is set, so that a server that
does not know the command keeps the history before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, TableVersion, Target
from spark_agent_config.capture.questions import NO_OPTIONS, Questions, class_name
from spark_agent_config.capture.relations import Relations, v2_name
from spark_agent_config.capture.table_moves import Copy, captured
from spark_agent_config.capture.table_versions import (
    MAIN,
    branch_of,
    newest_snapshots,
    staged_name,
    touched,
    version_of,
)
from spark_agent_config.capture.tables import Tables

_ALL_REWRITTEN: Final = "the files of the table were rewritten, with the same rows"
#: These have the name of their table; those of Delta hold the table itself.
_OF_PARTITIONS: Final[Mapping[str, str]] = {
    "AlterTableAddPartitionCommand": "partitions were added, with the rows in their folders",
    "AlterTableDropPartitionCommand": "partitions were removed from the table, with their rows",
    "RepairTableCommand": "the partitions of the table were made those of its folders",
}
MAINTENANCE_COMMANDS: Final[Mapping[str, str]] = {
    "OptimizeTableCommand": _ALL_REWRITTEN,
    "DeltaReorgTableCommand": _ALL_REWRITTEN,
    "VacuumTableCommand": "files that no version in keeping needs were removed, and no rows",
    **_OF_PARTITIONS,
}
#: ``REORG TABLE t APPLY (PURGE)`` is an OPTIMIZE that chooses other files.
_REPORTED_AS: Final = {"DeltaReorgTableCommand": "OptimizeTableCommand"}


class Maintenance:
    """Reads commands. Those of Delta hold the table as their child or target, those of partitions
    have its name.
    """

    def __init__(self, questions: Questions, tables: Tables, relations: Relations) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._tables = tables
        self._relations = relations

    def of_command(self, name: str, command: Any, execution: Any) -> CapturedQuery | None:
        """None if the table is unknown, and for a dry run."""
        if self._ask_quietly(lambda: bool(command.dryRun())):
            return None
        target = self._ask(name, lambda: self._target(name, command, execution), None)
        reported = _REPORTED_AS.get(name, name)
        return None if target is None else maintained(reported, target, MAINTENANCE_COMMANDS[name])

    def _target(self, name: str, command: Any, execution: Any) -> Target | None:
        if name in _OF_PARTITIONS:
            table = self._tables.named(command.tableName(), execution)
            if table.location is None:
                return None
            return Target(table.location, "Append", None, table=table)
        held = self._ask_quietly(command.child) or self._ask_quietly(command.target)
        return self._delta_table(held)

    def _delta_table(self, resolved: Any) -> Target | None:
        by_path = self._ask_quietly(lambda: str(resolved.table().path().toString()))
        named = self._ask_quietly(lambda: v2_name(resolved.identifier()))
        relation = self._relations.v2(resolved.table(), named, NO_OPTIONS)
        place = by_path if not relation.sources else relation.sources[0]
        return None if place is None else Target(place, "Append", "delta", table=named)


def maintained(name: str, target: Target, reason: str) -> CapturedQuery:
    """The command as a query that reads nothing. Pure."""
    plan = json.dumps([{"class": f"commands.{name}", "num-children": 0}])
    return CapturedQuery(name, plan, target, reason=reason)


CALL: Final = "Call"
_REWRITTEN: Final = "files of the table were rewritten, with the same rows"
_REMOVED: Final = "files or snapshots that are no longer needed were removed"
_MAINTENANCE: Final[Mapping[str, tuple[str, str]]] = {
    "RewriteDataFilesProcedure": ("rewrite_data_files", _REWRITTEN),
    "RewriteManifestsProcedure": ("rewrite_manifests", _REWRITTEN),
    "RewritePositionDeleteFilesProcedure": ("rewrite_position_delete_files", _REWRITTEN),
    "ExpireSnapshotsProcedure": ("expire_snapshots", _REMOVED),
    "RemoveOrphanFilesProcedure": ("remove_orphan_files", _REMOVED),
}
_FILE_FORMATS: Final = frozenset({"parquet", "orc", "avro"})


@dataclass(frozen=True, slots=True)
class _Call:
    """A call by its arguments. ``name`` and ``table`` are those of the table that it changes."""

    arguments: Mapping[str, str | None]
    relation: Relation
    table: Any
    session: Any

    def given(self, name: str) -> str:
        """Raises LookupError for an argument that was left out."""
        value = self.arguments.get(name)
        if value is None:
            raise LookupError(name)
        return value


class Procedures:
    """Reads calls. ``qualified`` turns a path into a URI with a scheme; ``jvm`` is py4j's."""

    def __init__(
        self,
        questions: Questions,
        tables: Tables,
        relations: Relations,
        qualified: Callable[[str], str | None],
        jvm: Any,
    ) -> None:
        self._ask = questions.ask
        self._tables = tables
        self._relations = relations
        self._qualified = qualified
        self._jvm = jvm
        self._copying: Mapping[str, Callable[[_Call], Copy]] = {
            "FastForwardBranchProcedure": self._fast_forwarded,
            "PublishChangesProcedure": self._published,
            "CherrypickSnapshotProcedure": self._cherry_picked,
            "RollbackToSnapshotProcedure": self._rolled_back,
            "RollbackToTimestampProcedure": self._rolled_back,
            "SetCurrentSnapshotProcedure": self._rolled_back,
            "AddFilesProcedure": self._files_added,
            "SnapshotTableProcedure": self._snapshot_taken,
            "MigrateTableProcedure": self._migrated,
        }

    def of_call(self, command: Any, execution: Any) -> CapturedQuery | None:
        """None for a procedure that changes no table, or that nobody can read."""
        name = self._ask("procedure", lambda: class_name(command.procedure()), "")
        if name not in self._copying and name not in _MAINTENANCE:
            return None
        call = self._ask("CALL", lambda: self._call(command, execution), None)
        if call is None:
            return None
        if name in _MAINTENANCE:
            reported, reason = _MAINTENANCE[name]
            return maintained(reported, _target_of(call, "Append"), reason)
        copy = self._ask(name, lambda: self._copying[name](call), None)
        return None if copy is None else captured(copy)

    def _call(self, command: Any, execution: Any) -> _Call:
        procedure, values = command.procedure(), command.args()
        arguments = {
            str(parameter.name()): _text(values.apply(place).eval(None))
            for place, parameter in enumerate(procedure.parameters())
        }
        session = execution.sparkSession()
        names = self._jvm.org.apache.iceberg.spark.Spark3Util.catalogAndIdentifier(
            session, str(arguments["table"]), _catalog_of(procedure)
        )
        table = names.catalog().loadTable(names.identifier())
        relation = self._relations.v2(table, v2_name(names.identifier()), NO_OPTIONS)
        return _Call(arguments, relation, table, session)

    # --- one method a kind of procedure --------------------------------------------------------

    def _fast_forwarded(self, call: _Call) -> Copy:
        snapshot = call.table.table().snapshot(call.given("to"))
        read = version_of(snapshot, call.given("to"))
        return _copy(
            "fast_forward", call, read, "Overwrite", version_of(snapshot, call.given("branch"))
        )

    def _published(self, call: _Call) -> Copy:
        wanted = f"wap:{call.given('wap_id')}"
        snapshots = (s for s in newest_snapshots(call.table.table()) if staged_name(s) == wanted)
        return self._picked("publish_changes", call, next(snapshots))

    def _cherry_picked(self, call: _Call) -> Copy:
        snapshot = call.table.table().snapshot(int(call.given("snapshot_id")))
        return self._picked("cherrypick_snapshot", call, snapshot)

    def _picked(self, name: str, call: _Call, snapshot: Any) -> Copy:
        """One snapshot alone, as of a change feed; the table keeps its rows."""
        table = call.table.table()
        alone = version_of(snapshot, staged_name(snapshot) or branch_of(self._jvm, table, snapshot))
        read = TableVersion(alone.id, alone.number, alone.branch, since=alone.number)
        copy = _copy(name, call, read, "Append", version_of(table.currentSnapshot(), MAIN))
        return replace(copy, partitions=self._touched(table))

    def _rolled_back(self, call: _Call) -> Copy:
        """The current snapshot is an older one: no new version was made."""
        read = version_of(call.table.table().currentSnapshot(), None)
        return _copy("rollback_to_snapshot", call, read, "Overwrite", None)

    def _files_added(self, call: _Call) -> Copy:
        source = self._source(call.given("source_table"), call.session)
        table, schema = call.table.table(), str(call.table.schema().json())
        written = version_of(table.currentSnapshot(), MAIN)
        target = _target_of(call, "Append")
        return Copy("add_files", source, target, schema, written, self._touched(table))

    def _touched(self, table: Any) -> tuple[str, ...]:
        """The partitions of the newest commit."""
        unknown: tuple[str, ...] = ()
        return self._ask(
            "Iceberg's files", lambda: touched(table, table.currentSnapshot()), unknown
        )

    def _snapshot_taken(self, call: _Call) -> Copy:
        source = self._source(call.given("source_table"), call.session)
        written = version_of(call.table.table().currentSnapshot(), MAIN)
        target = _target_of(call, "Overwrite")
        return Copy("snapshot", source, target, str(call.table.schema().json()), written)

    def _migrated(self, call: _Call) -> Copy:
        written = version_of(call.table.table().currentSnapshot(), MAIN)
        return _copy("migrate", call, None, "Overwrite", written)

    def _source(self, text: str, session: Any) -> Relation:
        """``db.t``, or a folder: `` `parquet`.`/in` ``. Raises LookupError for neither."""
        parser = session.sessionState().sqlParser()
        parts = parser.parseMultipartIdentifier(text)
        form, name = str(parts.apply(0)), str(parts.last())
        if form.lower() in _FILE_FORMATS and int(parts.size()) == 2:
            place = self._qualified(name)
            return Relation((place,) if place else (), form.lower())
        catalog = session.sessionState().catalog()
        database = str(parts.apply(parts.size() - 2)) if int(parts.size()) > 1 else None
        identifier = self._jvm.org.apache.spark.sql.catalyst.TableIdentifier(
            name, self._jvm.scala.Option.apply(database)
        )
        table = self._tables.described(catalog.getTableMetadata(identifier))
        if table.location is None:
            raise LookupError(text)
        return Relation((table.location,), None, table=table)


def _copy(
    name: str, call: _Call, read: TableVersion | None, mode: str, written: TableVersion | None
) -> Copy:
    """The table read at a version, and written."""
    source = Relation(
        call.relation.sources, call.relation.format, NO_OPTIONS, call.relation.table, version=read
    )
    return Copy(name, source, _target_of(call, mode), str(call.table.schema().json()), written)


def _target_of(call: _Call, mode: str) -> Target:
    return Target(call.relation.sources[0], mode, call.relation.format, table=call.relation.table)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _catalog_of(procedure: Any) -> Any:
    """The catalog of a procedure call: no public field has it."""
    kind = procedure.getClass()
    while str(kind.getSimpleName()) != "BaseProcedure":
        kind = kind.getSuperclass()
    field = kind.getDeclaredField("tableCatalog")
    field.setAccessible(True)
    return field.get(procedure)
