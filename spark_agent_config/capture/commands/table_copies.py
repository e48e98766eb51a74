"""Copies of a whole table: Delta's CLONE, RESTORE and CONVERT, and LOAD DATA.

These commands hold no query, so Spark's plan for them has no columns. The listener reports each as
a read of the source and a write with the same columns:

    CREATE TABLE c SHALLOW CLONE t VERSION AS OF 3   => reads version 3 of t, writes c
    RESTORE TABLE t TO VERSION AS OF 1               => reads version 1 of t, overwrites t
    CONVERT TO DELTA parquet.`/lake/t`               => reads /lake/t, writes version 0 of it
    LOAD DATA INPATH '/in' INTO TABLE t              => reads /in, appends to t
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, Table, TableVersion, Target
from spark_agent_config.capture.questions import Questions, class_name, read_map
from spark_agent_config.capture.tables.relations import with_scheme
from spark_agent_config.capture.tables.tables import Tables

CLONE: Final = "CloneTableCommand"
RESTORE: Final = "RestoreTableCommand"
LOAD: Final = "LoadDataCommand"
CONVERT: Final = "ConvertToDeltaCommand"
#: Delta runs its CLONE inside the command that makes the table.
CREATE_DELTA_TABLE: Final = "CreateDeltaTableCommand"
COPYING_COMMANDS: Final = frozenset({CREATE_DELTA_TABLE, RESTORE, LOAD, CONVERT})
_FORMATS_OF_PATHS: Final = frozenset({"parquet", "iceberg"})
_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions"
_RELATION: Final = "org.apache.spark.sql.execution.datasources.LogicalRelation"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a whole table; ``schema`` is the type JSON of both sides.

    ``written`` is the new version and ``partitions`` the written ones, if the command has them.
    """

    command: str
    source: Relation
    target: Target
    schema: str
    written: TableVersion | None = None
    partitions: tuple[str, ...] = ()


class TableCopies:
    """Reads commands. ``qualified`` turns a path into a URI with a scheme; ``jvm`` is py4j's."""

    def __init__(
        self,
        questions: Questions,
        tables: Tables,
        qualified: Callable[[str], str | None],
        jvm: Any,
    ) -> None:
        self._jvm = jvm
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._tables = tables
        self._qualified = qualified

    def of_command(self, name: str, command: Any, execution: Any) -> CapturedQuery | None:
        """The copy that a command made; None for one that copies nothing (CREATE TABLE)."""
        if name not in COPYING_COMMANDS:
            return None
        copy = self._ask(name, lambda: self._copy(name, command, execution), None)
        return None if copy is None else captured(copy)

    def _copy(self, name: str, command: Any, execution: Any) -> Copy | None:
        if name == RESTORE:
            return self._restored(command)
        if name == LOAD:
            return self._loaded(command, execution)
        if name == CONVERT:
            return self._converted(command, execution)
        query = command.query()
        inner = query.get() if query.isDefined() else None
        if inner is None or class_name(inner) != CLONE:
            return None
        target = self._clone_target(command, execution)
        return None if target is None else self._cloned(inner, target)

    def _cloned(self, clone: Any, target: Target) -> Copy:
        """A clone of a parquet or Iceberg table has no version of Delta's."""
        source = clone.sourceTable()
        number = self._ask_quietly(lambda: int(source.snapshot().get().version()))
        delta = class_name(source) == "CloneDeltaSource" and number is not None
        relation = Relation(
            sources=(with_scheme(str(source.dataPath().toString())),),
            format=str(source.format()).lower(),
            table=self._ask_quietly(lambda: self._tables.described(source.catalogTable().get())),
            version=TableVersion(str(number), number) if delta and number is not None else None,
        )
        return Copy(CLONE, relation, target, str(source.schema().json()))

    def _clone_target(self, command: Any, execution: Any) -> Target | None:
        """The command has no location of a table that it replaces."""
        mode = "Ignore" if self._ask_quietly(command.mode().toString) == "Ignore" else "Overwrite"
        described = command.table()
        if not bool(command.tableByPath()):
            table = self._tables.being_made(described, execution)
            place = None if table is None else table.location
        else:
            table, placed = None, described.storage().locationUri()
            path = placed.get().toString() if placed.isDefined() else described.identifier().table()
            place = self._qualified(str(path))
        return None if place is None else Target(with_scheme(place), mode, "delta", table=table)

    def _restored(self, command: Any) -> Copy:
        held = command.sourceTable()
        place = with_scheme(str(held.path().toString()))
        number = int(held.initialSnapshot().version())
        table = self._ask_quietly(lambda: self._tables.described(held.catalogTable().get()))
        source = Relation((place,), "delta", table=table, version=TableVersion(str(number), number))
        target = Target(place, "Overwrite", "delta", table=table)
        return Copy(RESTORE, source, target, str(held.schema().json()))

    def _loaded(self, command: Any, execution: Any) -> Copy | None:
        table = self._tables.named(command.table(), execution)
        place = str(command.path())
        source = f"file:{place}" if bool(command.isLocal()) else self._qualified(place)
        if table.location is None or source is None:
            return None
        partition = command.partition()
        static = read_map(partition.get()) if partition.isDefined() else {}
        target = Target(
            uri=table.location,
            mode="Overwrite" if bool(command.isOverwrite()) else "Append",
            format="hive",
            table=table,
            static_partitions=static,
        )
        schema = without_columns(str(self._schema_of(table, execution)), static)
        return Copy(LOAD, Relation((with_scheme(source),), None), target, schema)

    def _converted(self, command: Any, execution: Any) -> Copy | None:
        """The table stays where it is; a path is named as a table of the database ``parquet``."""
        identifier = command.tableIdentifier()
        database = identifier.database()
        form = str(database.get()) if database.isDefined() else ""
        table = None
        if form in _FORMATS_OF_PATHS:
            place = self._qualified(str(identifier.table()))
        else:
            table = self._tables.named(identifier, execution)
            place = table.location
        if place is None:
            return None
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog
        snapshot = log.forTable(execution.sparkSession(), place).unsafeVolatileSnapshot()
        source = Relation((place,), form or None, table=table)
        target = Target(place, "Overwrite", "delta", table=table)
        return Copy(CONVERT, source, target, str(snapshot.schema().json()))

    def _schema_of(self, table: Table, execution: Any) -> str:
        name = table.name if table.database is None else f"{table.database}.{table.name}"
        return str(execution.sparkSession().table(name).schema().json())


def without_columns(schema: str, names: Collection[str]) -> str:
    """A schema's JSON without some columns: the files of a Hive partition lack its columns."""
    left_out = {name.lower() for name in names}
    structure = json.loads(schema)
    kept = [field for field in structure["fields"] if field["name"].lower() not in left_out]
    return json.dumps({**structure, "fields": kept})


def captured(copy: Copy) -> CapturedQuery:
    """The copy as a query: a relation with the columns of its schema below the write. Pure."""
    fields = json.loads(copy.schema)["fields"]
    output = [[_attribute(number, field)] for number, field in enumerate(fields, start=1)]
    command = {"class": f"commands.{copy.command}", "num-children": 1, "query": 0}
    relation = {"class": _RELATION, "num-children": 0, "output": output}
    return CapturedQuery(
        command=copy.command,
        plan=json.dumps([command, relation]),
        target=copy.target,
        relations={1: copy.source},
        schema=copy.schema,
        written_version=copy.written,
        written_partitions=copy.partitions,
    )


def _attribute(number: int, field: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "class": f"{_EXPRESSIONS}.AttributeReference",
        "num-children": 0,
        "name": field["name"],
        "dataType": field["type"],
        "nullable": field["nullable"],
        "exprId": {"id": number},
    }
