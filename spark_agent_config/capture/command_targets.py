"""The target and the mode of a write: one method a kind of command.

Of a statement that Spark refused to analyse (an unknown column, a table that takes no such write)
only the parsed statement is left, in which tables are names. The listener looks up the target and
the sources, so that the attempt is a failed run of its tables, without columns:

    MERGE WITH SCHEMA EVOLUTION INTO t USING s …   =>  reads s and t, would append to t; failed

The listener does not report a refused SELECT or a statement about an unknown table.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from spark_agent_config.capture.captured import UNKNOWN_MODE, CapturedQuery, Relation, Table, Target
from spark_agent_config.capture.questions import (
    NO_OPTIONS,
    Questions,
    class_name,
    items,
    read_list,
    read_map,
)
from spark_agent_config.capture.relations import (
    KAFKA,
    Relations,
    bracketed,
    lower_names,
    source_uris,
    v2_name,
)
from spark_agent_config.capture.row_level import (
    COMMAND_NAMES,
    DELTA_COMMANDS,
    HUDI_COMMANDS,
    ROW_LEVEL_WRITES,
)
from spark_agent_config.capture.table_moves import RESTORE
from spark_agent_config.capture.table_versions import VERSIONED_FORMATS
from spark_agent_config.capture.tables import (
    SESSION_CATALOG,
    Tables,
    name_in_catalog,
    name_of_source,
    stores_nothing,
)

#: Commands of the second data source API, with the save mode that each amounts to.
_V2_MODES: Final = {
    "AppendData": "Append",
    "OverwriteByExpression": "Overwrite",
    "OverwritePartitionsDynamic": "Overwrite",
    "DeltaDynamicPartitionOverwriteCommand": "Overwrite",
    "CreateTableAsSelect": "ErrorIfExists",
    "ReplaceTableAsSelect": "Overwrite",
}
#: Delta's own name of a command => Spark's.
_SPARKS_NAMES: Final = {"DeltaDynamicPartitionOverwriteCommand": "OverwritePartitionsDynamic"}
_HUDI: Final = "hudi"
#: Commands that change some rows => the field with the table, and the format that is theirs alone.
_CHANGED_TABLES: Final[Mapping[str, tuple[str, str | None]]] = {
    "DeleteFromTable": ("table", None),
    **dict.fromkeys(ROW_LEVEL_WRITES, ("originalTable", None)),
    **dict.fromkeys(DELTA_COMMANDS, ("target", "delta")),
    **{name: (field, _HUDI) for name, (field, _) in HUDI_COMMANDS.items()},
}
#: Commands that write rows. Others that finish are DDL or queries: not reported.
WRITE_COMMANDS: Final = (
    frozenset(_V2_MODES)
    | _CHANGED_TABLES.keys()
    | {
        "InsertIntoHiveDirCommand",
        "InsertIntoHoodieTableCommand",
        "CreateHoodieTableAsSelectCommand",
        "InsertIntoHadoopFsRelationCommand",
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "InsertIntoHiveTable",
        "SaveIntoDataSourceCommand",
        "InsertIntoDataSourceCommand",
    }
)
#: Commands that make, empty or remove a table: reported as they are, without a query.
LIFECYCLE_COMMANDS: Final = frozenset(
    {
        "CreateDataSourceTableCommand",
        "CreateTableCommand",
        "CreateTableLike",  # since Spark 4.2
        "CreateTableLikeCommand",
        "CreateTable",
        "DropTableCommand",
        "DropTable",
        "CreateV2Table",
        "ReplaceTable",
        "CreateDeltaTableCommand",
        "CreateHoodieTableCommand",
        "DropHoodieTableCommand",
        "TruncateTableCommand",
        "TruncateTable",
        "TruncateHoodieTableCommand",
    }
)
#: Streaming sinks that call themselves by their place: ``FileSink[file:/lake/t]``; their format.
_SINKS_OF_FILES: Final[Mapping[str, str | None]] = {
    "FileSink": None,
    "DeltaSink": "delta",
    "HoodieStreamingSink": "hudi",
}
#: Options with the place of a source; the others may hold anything.
_SHOWN_OPTIONS: Final = frozenset({"path", "dbtable", "topic"})


class Targets:
    """Reads commands. ``jvm`` and ``hadoop_configuration`` are py4j handles."""

    def __init__(
        self,
        questions: Questions,
        tables: Tables,
        relations: Relations,
        jvm: Any,
        hadoop_configuration: Any,
    ) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._tables = tables
        self._relations = relations
        self._jvm = jvm
        self._hadoop_configuration = hadoop_configuration

    def of_command(self, name: str, command: Any, execution: Any) -> Target | None:
        """None if the target is unknown, or keeps nothing (the noop sink)."""
        if name in LIFECYCLE_COMMANDS:
            return self._lifecycle(command, execution)
        if name in _V2_MODES:
            return self._v2(name, command) or self._unmade(name, command, execution)
        if name in _CHANGED_TABLES:
            return self._row_level(name, command)
        if name == "InsertIntoHoodieTableCommand":
            return self._hudi_insert(command)
        if name == "InsertIntoHadoopFsRelationCommand":
            return self._files(command)
        if name == "SaveIntoDataSourceCommand":
            return self._source(command, execution)
        if name == "InsertIntoDataSourceCommand":
            return self._relation(command)
        if name == "InsertIntoHiveDirCommand":
            return self._directory(command)
        return self._table(command, execution)

    def keeps_nothing(self, name: str, command: Any) -> bool:
        """Whether a write without a target has none: the noop sink, the console."""
        if name == "SaveIntoDataSourceCommand":
            return stores_nothing(self._provider(command))
        table: str = self._ask_quietly(lambda: str(command.table().table().name())) or ""
        return stores_nothing(table)

    def of_unknown_command(self, name: str, command: Any, execution: Any) -> Target:
        """A write that this listener does not know (a vendor's), as far as its fields show it."""
        guesses = (
            lambda: self._files(command),
            lambda: self._v2(name, command),
            lambda: self._relation(command),
            lambda: self._table(command, execution),
            lambda: self._directory(command),
        )
        targets = (self._ask_quietly(guess) for guess in guesses)
        return next((target for target in targets if target is not None), nameless(name))

    def _files(self, command: Any) -> Target | None:
        uri = self._ask("outputPath", lambda: str(command.outputPath().toString()), None)
        if uri is None:
            return None
        columns = self._ask("partitionColumns", lambda: _partition_names(command), None)
        static = self._ask("staticPartitions", lambda: read_map(command.staticPartitions()), None)
        dynamic = self._ask(
            "dynamicPartitionOverwrite", lambda: bool(command.dynamicPartitionOverwrite()), None
        )
        if columns != () and (static is None or dynamic is None):
            dynamic = True  # which partitions is unknown: better than to claim all of them
        return Target(
            uri=uri,
            mode=self._mode(command),
            format=self._relations.format_of(command),
            options=self._ask("options", lambda: read_map(command.options()), NO_OPTIONS),
            table=self._tables.of_node(command),
            partition_columns=columns,
            static_partitions=static or NO_OPTIONS,
            dynamic_partition_overwrite=dynamic,
        )

    def _table(self, command: Any, execution: Any) -> Target | None:
        """CREATE TABLE AS SELECT, with or without Hive, and INSERT INTO a Hive table."""
        described = self._ask_quietly(command.table) or self._ask(
            "tableDesc", command.tableDesc, None
        )
        table = None if described is None else self._tables.being_made(described, execution)
        if table is None or table.location is None:
            return None
        overwrite = self._ask_quietly(lambda: bool(command.overwrite()))
        partition = self._ask_quietly(lambda: read_map(command.partition())) or NO_OPTIONS
        static = _given(partition)
        return Target(
            uri=table.location,
            mode=self._mode(command) if overwrite is None else _mode_of(overwrite),
            format=self._ask("provider", lambda: str(described.provider().get()).lower(), None),
            table=table,
            partition_columns=self._ask(
                "partitionColumnNames", lambda: read_list(described.partitionColumnNames()), None
            ),
            static_partitions=static,
            # Hive replaces only the partitions that an insert with dynamic ones writes.
            dynamic_partition_overwrite=len(static) < len(partition) if partition else None,
        )

    def _source(self, command: Any, execution: Any) -> Target | None:
        """``df.write.format("jdbc").save()`` and other sources that write by themselves."""
        options = lower_names(self._ask("options", lambda: read_map(command.options()), NO_OPTIONS))
        provider = self._provider(command)
        (uri, *_) = source_uris(provider, options) or (None,)
        if uri is None and "path" in options:
            uri = self.qualified(options["path"])
        unplaced = name_of_source(provider, options) if uri is None else None
        uri = uri or unplaced
        if uri is None:
            return None
        shown = {name: value for name, value in options.items() if name in _SHOWN_OPTIONS}
        condition = options.get("replacewhere")
        return Target(
            uri=uri,
            # whatever mode it is called with, rows are added to a topic
            mode="Append" if provider == KAFKA else self._mode(command),
            format=provider,
            options=shown,
            dynamic_partition_overwrite=_overwrites_some(options) or None,
            replaced_by=() if condition is None else self._columns_of_text(condition, execution),
            unplaced=unplaced,
        )

    def _columns_of_text(self, condition: str, execution: Any) -> tuple[str, ...] | None:
        """The columns that a condition names: ``dt = 'd1' AND h > 3`` => dt, h."""

        def parsed() -> tuple[str, ...]:
            parser = execution.sparkSession().sessionState().sqlParser()
            leaves = items(parser.parseExpression(condition).collectLeaves())
            return tuple(str(n.name()) for n in leaves if class_name(n) == "UnresolvedAttribute")

        return self._ask("replaceWhere", parsed, None)

    def _provider(self, command: Any) -> str:
        short = self._ask_quietly(lambda: str(command.dataSource().shortName()))
        return short or self._ask(
            "dataSource", lambda: str(command.dataSource().getClass().getName()), "unknown"
        )

    def _relation(self, command: Any) -> Target | None:
        """INSERT INTO a catalog table whose source is no file format, such as JDBC."""
        relation = self._ask(
            "logicalRelation", lambda: self._relations.logical(command.logicalRelation()), None
        )
        overwrite = self._ask("overwrite", lambda: bool(command.overwrite()), False)
        return None if relation is None else _target_of(relation, _mode_of(overwrite))

    def _directory(self, command: Any) -> Target | None:
        """INSERT OVERWRITE DIRECTORY with a Hive format."""
        place = self._ask(
            "storage", lambda: str(command.storage().locationUri().get().toString()), None
        )
        uri = None if place is None else self.qualified(place)
        return None if uri is None else Target(uri=uri, mode="Overwrite", format="hive")

    def _v2(self, name: str, command: Any) -> Target | None:
        relation = self._ask_quietly(
            lambda: self._relations.v2_relation(command.table())
        ) or self._ask_quietly(lambda: self._made_v2_table(command.name()))
        if relation is None:
            return None
        mode = _V2_MODES.get(name, UNKNOWN_MODE)
        target = _target_of(relation, mode, self._replaces_some(name, command))
        if target is not None and name == "OverwriteByExpression":
            target = replace(target, replaced_by=self._columns_of_condition(command))
        if target is not None and self._may_do_nothing(name, command, target):
            target = replace(target, mode="Ignore")
        keys = self._ask_quietly(lambda: _v2_partition_names(command.table().table()))
        return target if target is None or not keys else replace(target, partition_columns=keys)

    def _may_do_nothing(self, name: str, command: Any, target: Target) -> bool:
        """CREATE TABLE IF NOT EXISTS AS SELECT, where its commits tell whether the table is new."""
        if name != "CreateTableAsSelect" or target.format not in VERSIONED_FORMATS:
            return False
        return bool(self._ask_quietly(lambda: bool(command.ignoreIfExists())))

    def _unmade(self, name: str, command: Any, execution: Any) -> Target | None:
        """The target of a command that made no table: a place in Spark's catalog, or a name."""
        if "AsSelect" not in name:
            return None

        def unmade() -> Target | None:
            identifier = self._tables.v1_identifier(command.name())
            table = self._tables.named(identifier, execution)
            return unmade_target(table, command, _V2_MODES[name])

        def named() -> Target:
            resolved = command.name()
            table = v2_name(resolved.identifier())
            uri = name_in_catalog(str(resolved.catalog().name()), table.database, table.name)
            return Target(uri, _V2_MODES[name], table=table, unplaced=uri)

        return self._ask_quietly(unmade) or self._ask_quietly(named)

    def _replaces_some(self, name: str, command: Any) -> bool | None:
        """Whether an overwrite leaves some rows: those of other partitions, or by a condition."""
        if _SPARKS_NAMES.get(name, name) == "OverwritePartitionsDynamic":
            return True
        if name != "OverwriteByExpression":
            return None
        text = self._ask("deleteExpr", lambda: str(command.deleteExpr().toString()), "?")
        return None if text == "true" else True

    def _columns_of_condition(self, command: Any) -> tuple[str, ...] | None:
        """The columns that decide which rows an overwrite replaces; none for ``true``."""

        def read() -> tuple[str, ...]:
            references = read_list(command.deleteExpr().references().toSeq())
            return tuple(name.rpartition("#")[0] for name in references)

        return self._ask("columns of deleteExpr", read, None)

    def reported_name(self, name: str, command: Any) -> str:
        """Spark rewrites MERGE, UPDATE and DELETE into one command; its table has the original."""
        if name in HUDI_COMMANDS:
            return HUDI_COMMANDS[name][1]
        if name not in ROW_LEVEL_WRITES:
            return _SPARKS_NAMES.get(name, name)
        operation = self._ask(
            "row-level operation",
            lambda: str(command.table().table().operation().command().toString()),
            "MERGE",
        )
        return COMMAND_NAMES.get(operation, COMMAND_NAMES["MERGE"])

    def _row_level(self, name: str, command: Any) -> Target | None:
        """MERGE, UPDATE and DELETE: other rows stay, so they append.

        A statement's target stands before its source.
        """
        field, form = _CHANGED_TABLES[name]
        relation = self._ask(
            "changed table", lambda: self._relations.only_leaf(getattr(command, field)()), None
        )
        target = None if relation is None else _target_of(relation, "Append")
        return target if target is None or form is None else replace(target, format=form)

    def _hudi_insert(self, command: Any) -> Target | None:
        """INSERT INTO, and INSERT OVERWRITE of a table or of the partitions that it names."""
        target = self._relation(command)
        if target is None:
            return None
        partition = self._ask_quietly(lambda: read_map(command.partitionSpec())) or NO_OPTIONS
        static = _given(partition)
        dynamic = len(static) < len(partition) if partition else None
        return replace(
            target, format=_HUDI, static_partitions=static, dynamic_partition_overwrite=dynamic
        )

    def _made_v2_table(self, resolved: Any) -> Relation:
        """The table that CREATE TABLE AS SELECT has made by now."""
        identifier = resolved.identifier()
        table = resolved.catalog().loadTable(identifier)
        catalog = str(resolved.catalog().name())
        return self._relations.v2(table, v2_name(identifier), NO_OPTIONS, catalog)

    def of_stream(self, write: Any) -> Target | None:
        """Where a streaming query writes; None for a sink that keeps nothing, or a function.

        ``write`` is the node at the top of the query's plan. Complete mode writes all anew.
        """
        mode = self._ask("output mode", lambda: str(write.outputMode().toString()), UNKNOWN_MODE)
        mode = {"Complete": "Overwrite", "Update": "Append"}.get(mode, mode)
        table = self._ask_quietly(lambda: self._tables.described(write.catalogTable().get()))
        sink = self._ask_quietly(lambda: str(write.sink().toString()))
        if sink is None:
            options = self._ask_quietly(lambda: read_map(write.writeOptions())) or NO_OPTIONS
            relation = self._ask(
                "stream's table", lambda: self._relations.v2(write.table(), None, options), None
            )
            target = None if relation is None else _target_of(relation, mode)
            keys = self._ask_quietly(lambda: _v2_partition_names(write.table()))
            return target if target is None or not keys else replace(target, partition_columns=keys)
        kind, place = bracketed(sink)
        if kind not in _SINKS_OF_FILES:
            return None
        uri = table.location if table is not None and table.location else self.qualified(place)
        form = _SINKS_OF_FILES[kind]
        return None if uri is None else Target(uri=uri, mode=mode, format=form, table=table)

    def _lifecycle(self, command: Any, execution: Any) -> Target | None:
        """CREATE, DROP or TRUNCATE of a table. A view has no data, so it is not reported."""
        if self._ask_quietly(lambda: bool(command.isView())):
            return None
        described = self._ask_quietly(command.table)
        made = self._ask_quietly(lambda: self._made_v2_table(command.name())) or self._ask_quietly(
            lambda: self._made_v2_table(described)
        )  # a TRUNCATE
        if made is not None:
            return _target_of(made, "")
        elsewhere = self._ask_quietly(lambda: self._tables.gone_from(command.child()))
        if elsewhere is not None and elsewhere.location is not None:
            return Target(uri=elsewhere.location, table=elsewhere)
        if described is not None:
            table = self._tables.being_made(described, execution)
        else:
            identifier = (
                self._ask_quietly(command.tableName)
                or self._ask_quietly(command.targetTable)  # a CREATE TABLE LIKE
                or self._ask_quietly(command.tableIdentifier)  # Hudi's
                or self._ask(
                    "identifier", lambda: self._tables.v1_identifier(command.child()), None
                )
            )
            conditional = self._ask_quietly(lambda: bool(command.ifExists()))
            table = self._ask(
                "named",
                lambda: (
                    self._tables.named(identifier, execution)
                    if conditional is None  # no DROP
                    else self._tables.dropped(identifier, execution, certainly=not conditional)
                ),
                None,
            )
        if table is None or table.location is None:
            return None
        return Target(uri=self._source_of(described) or table.location, table=table)

    def _source_of(self, described: Any) -> str | None:
        """``CREATE TABLE … USING jdbc`` names a table elsewhere; its location means nothing."""
        properties = self._ask_quietly(lambda: read_map(described.storage().properties()))
        return next(iter(source_uris("", lower_names(properties or NO_OPTIONS))), None)

    def _mode(self, command: Any) -> str:
        return self._ask("mode", lambda: str(command.mode().toString()), UNKNOWN_MODE)

    def qualified(self, path: str) -> str | None:
        """``/lake/t`` => ``file:/lake/t``, by the cluster's default file system."""

        def qualify() -> str:
            location = self._jvm.org.apache.hadoop.fs.Path(path)
            system = location.getFileSystem(self._hadoop_configuration)
            return str(system.makeQualified(location).toString())

        return self._ask("path", qualify, None)


def unmade_target(table: Table, statement: Any, mode: str) -> Target | None:
    """The target of a statement that failed to make a table of Spark's own catalog: the path at
    which the table would lie.
    """
    if table.location is None:
        return None
    provider = statement.tableSpec().provider()
    form = str(provider.get()).lower() if provider.isDefined() else None
    return Target(table.location, mode, form, table=table)


def nameless(name: str) -> Target:
    """The target of a command without a readable place, under the command's name."""
    return Target(f"unknown:{name}", UNKNOWN_MODE, unplaced=name)


def _target_of(relation: Relation, mode: str, dynamic: bool | None = None) -> Target | None:
    if not relation.sources:
        return None
    return Target(
        uri=relation.sources[0],
        mode=mode,
        format=relation.format,
        table=relation.table,
        dynamic_partition_overwrite=dynamic,
        unplaced=relation.unplaced,
    )


def _overwrites_some(options: Mapping[str, str]) -> bool:
    """Delta's ``replaceWhere``, and an overwrite of the partitions that are written alone."""
    dynamic = options.get("partitionoverwritemode", "").lower() == "dynamic"
    return dynamic or "replacewhere" in options


def _v2_partition_names(table: Any) -> tuple[str, ...]:
    """The columns that a table is partitioned by as they are; ``days(ts)`` is no column."""
    plain = (part for part in table.partitioning() if str(part.name()) == "identity")
    return tuple(str(part.references()[0].fieldNames()[0]) for part in plain)


def _mode_of(overwrite: bool) -> str:
    return "Overwrite" if overwrite else "Append"


def _partition_names(command: Any) -> tuple[str, ...]:
    return tuple(str(column.name()) for column in items(command.partitionColumns()))


def _given(partition: Mapping[str, str]) -> dict[str, str]:
    """Hive's partition spec: ``Some(x)`` is a static value, ``None`` a dynamic one."""
    return {
        name: value.removeprefix("Some(").removesuffix(")")
        for name, value in partition.items()
        if value.startswith("Some(")
    }


# --- statements that Spark refused ---------------------------------------------------------------

_LOG: Final = logging.getLogger(__name__)
_INSERT: Final = "InsertIntoStatement"
_MAKING: Final = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect"})
#: The parsed statement => its reported name, and its mode.
_STATEMENTS: Final[Mapping[str, tuple[str, str]]] = {
    _INSERT: (_INSERT, "Append"),
    "AppendData": ("AppendData", "Append"),
    "OverwriteByExpression": ("OverwriteByExpression", "Overwrite"),
    "OverwritePartitionsDynamic": ("OverwritePartitionsDynamic", "Overwrite"),
    "CreateTableAsSelect": ("CreateTableAsSelect", "ErrorIfExists"),
    "ReplaceTableAsSelect": ("ReplaceTableAsSelect", "Overwrite"),
    "MergeIntoTable": (COMMAND_NAMES["MERGE"], "Append"),
    "UnresolvedMergeIntoIcebergTable": (COMMAND_NAMES["MERGE"], "Append"),
    "DeltaMergeInto": (COMMAND_NAMES["MERGE"], "Append"),
    "UpdateTable": (COMMAND_NAMES["UPDATE"], "Append"),
    "DeltaUpdateTable": (COMMAND_NAMES["UPDATE"], "Append"),
    "DeleteFromTable": (COMMAND_NAMES["DELETE"], "Append"),
    "DeltaDelete": (COMMAND_NAMES["DELETE"], "Append"),
    "RestoreTableStatement": (RESTORE, "Overwrite"),
}
_UNRESOLVED: Final = "UnresolvedRelation"
_PLACES: Final = ("table", "targetTable", "target", "child")


class RefusedStatements:
    """Reads statements that have failed."""

    def __init__(self, questions: Questions, tables: Tables, relations: Relations) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._tables = tables
        self._relations = relations

    def of_execution(self, execution: Any) -> list[CapturedQuery]:
        """The write that did not come about, with the tables that it names; none of a SELECT."""
        nothing: list[CapturedQuery] = []
        return self._ask("refused statement", lambda: self._refused(execution), nothing)

    def _refused(self, execution: Any) -> list[CapturedQuery]:
        statement = execution.logical()
        kind = class_name(statement)
        if kind not in _STATEMENTS:
            _LOG.debug("A statement that Spark refused is not reported: %s", kind)
            return []
        name, mode = _STATEMENTS[kind]
        if kind == _INSERT and bool(statement.overwrite()):
            mode = "Overwrite"
        session = execution.sparkSession()
        target = self._target(kind, statement, execution, mode)
        if target is None:
            return []
        relations: dict[int, Relation] = {}
        for leaf in _read_leaves(statement):
            plan = self._looked_up(leaf, session)
            relations |= {} if plan is None else self._relations.of_query(plan)
        return [CapturedQuery(name, "", target, relations, staged=False)]

    def _target(self, kind: str, statement: Any, execution: Any, mode: str) -> Target | None:
        if kind in _MAKING:
            return self._ask_quietly(lambda: self._being_made(statement, execution, mode))
        for place in _PLACES:
            table = self._ask_quietly(getattr(statement, place))
            if table is not None:
                named = self._ask_quietly(table.relation) or table  # RESTORE's time travel
                leaf = named.collectLeaves().head()
                plan = self._looked_up(leaf, execution.sparkSession())
                return None if plan is None else self._existing(plan, mode)
        return None

    def _existing(self, plan: Any, mode: str) -> Target | None:
        """The format is the table's own: Delta reads its files as parquet."""
        relation = self._relations.only_leaf(plan)
        if relation is None or not relation.sources:
            return None
        held = plan.collectLeaves().head()
        form = self._ask_quietly(lambda: str(held.catalogTable().get().provider().get()).lower())
        return Target(relation.sources[0], mode, form or relation.format, table=relation.table)

    def _being_made(self, statement: Any, execution: Any, mode: str) -> Target | None:
        """A table of Spark's own catalog has a place to be; one of another catalog has a name."""
        parts = [str(part) for part in items(statement.name().nameParts())]
        catalog, namespace, name = self._tables.parts_of(parts, execution)
        if catalog == SESSION_CATALOG:
            table = self._tables.named(self._tables.identifier_of(parts, execution), execution)
            return unmade_target(table, statement, mode)
        database = ".".join(namespace) or None
        uri = name_in_catalog(catalog, database, name)
        return Target(uri, mode, table=Table(name, database), unplaced=uri)

    def _looked_up(self, leaf: Any, session: Any) -> Any | None:
        """The plan behind a name, or the leaf itself; None: there is no such table."""
        if class_name(leaf) != _UNRESOLVED:
            return leaf
        parts = (str(part).replace("`", "``") for part in items(leaf.multipartIdentifier()))
        name = ".".join(f"`{part}`" for part in parts)
        return self._ask_quietly(lambda: session.table(name).queryExecution().analyzed())


def _read_leaves(statement: Any) -> Iterator[Any]:
    """The leaves of a statement's reads: its query, or all tables of a row-level one."""
    kind = class_name(statement)
    if _STATEMENTS[kind][0] == RESTORE:
        return
    read = statement if _STATEMENTS[kind][0] in COMMAND_NAMES.values() else statement.query()
    for plan in (read, *items(read.subqueriesAll())):
        yield from items(plan.collectLeaves())
