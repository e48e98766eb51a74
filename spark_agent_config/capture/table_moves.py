"""Commands that move or copy a whole table.

Copies of a whole table: Delta's CLONE, RESTORE and CONVERT, and LOAD DATA.

These commands hold no query, so Spark's plan for them has no columns. The listener reports each as
a read of the source and a write with the same columns:

    CREATE TABLE c SHALLOW CLONE t VERSION AS OF 3   => reads version 3 of t, writes c
    RESTORE TABLE t TO VERSION AS OF 1               => reads version 1 of t, overwrites t
    CONVERT TO DELTA parquet.`/lake/t`               => reads /lake/t, writes version 0 of it
    LOAD DATA INPATH '/in' INTO TABLE t              => reads /in, appends to t

ALTER TABLE ... RENAME TO: history continues under the new name.

Where Spark moves the data with the name (a table in its default place, a table of a database), the
listener reports a read of the former table, an overwrite of the new one, and an emptied former one:

    ALTER TABLE a RENAME TO b    => reads /w/a, overwrites /w/b; overwrites /w/a with nothing

Where the data stays (a table with a LOCATION, Iceberg), only its name changes. The listener looks
the table up after the rename. Where Spark does not find it under its new name (it was renamed
again, or a database spells the name in its own way), the report uses the former one, with a gap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, Table, TableVersion, Target
from spark_agent_config.capture.questions import (
    NO_OPTIONS,
    Questions,
    class_name,
    read_list,
    read_map,
)
from spark_agent_config.capture.relations import Relations, v2_name, with_scheme
from spark_agent_config.capture.tables import Tables

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


_V1: Final = "AlterTableRenameCommand"
_V2: Final = "RenameTable"
RENAMING_COMMANDS: Final = frozenset({_V1, _V2})
_VIEW: Final = "VIEW"
_NO_COLUMNS: Final = '{"type": "struct", "fields": []}'
_NOT_FOUND: Final = "the table was not found under its new name: its place follows from the former"


class TableRenames:
    """Reads commands that have ended. ``jvm`` is a py4j handle."""

    def __init__(
        self, questions: Questions, tables: Tables, relations: Relations, jvm: Any
    ) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._tables = tables
        self._relations = relations
        self._jvm = jvm

    def of_command(
        self, name: str, command: Any, execution: Any, *, failed: bool
    ) -> list[CapturedQuery]:
        """The effects of a rename; none for a view, which has no data."""
        if self._ask_quietly(lambda: bool(command.isView())):
            return []
        read = self._of_session_catalog if name == _V1 else self._of_other_catalog
        return self._ask(name, lambda: read(command, execution, failed=failed), [])

    def _of_session_catalog(
        self, command: Any, execution: Any, *, failed: bool
    ) -> list[CapturedQuery]:
        catalog = execution.sparkSession().sessionState().catalog()
        former, current = command.oldName(), command.newName()
        if failed:
            return _attempted(_V1, _relation(self._tables.named(former, execution), None))
        database = former.database()
        if database.isDefined() and not current.database().isDefined():
            identifier = self._jvm.org.apache.spark.sql.catalyst.TableIdentifier
            current = identifier(current.table(), database)
        described = self._ask_quietly(lambda: catalog.getTableMetadata(current))
        if described is None:
            return self._supposed(former, current, execution)
        if str(described.tableType().name()) == _VIEW:
            return []
        form = self._ask_quietly(lambda: str(described.provider().get()).lower())
        new = self._tables.described(described)
        default = str(catalog.defaultTablePath(current).toString())
        moves = new.location is not None and with_scheme(new.location) == with_scheme(default)
        old = self._tables.renamed(former, execution, None if moves else new.location)
        schema = str(execution.sparkSession().table(current.quotedString()).schema().json())
        columns = tuple(read_list(described.partitionColumnNames()))
        return _renamed(_V1, _relation(old, form), _relation(new, form), schema, columns)

    def _supposed(self, former: Any, current: Any, execution: Any) -> list[CapturedQuery]:
        """A table in its default place moves to that of its new name; any other one stays."""
        default = self._tables.default_place(former, execution)
        old = self._tables.renamed(former, execution, None)
        moves = old.location is not None and with_scheme(old.location) == with_scheme(default or "")
        place = self._tables.default_place(current, execution) if moves else old.location
        new = self._tables.supposed(current, execution, place and with_scheme(place))
        queries = _renamed(_V1, _relation(old, None), _relation(new, None), _NO_COLUMNS)
        return [replace(query, unread=_NOT_FOUND) for query in queries]

    def _of_other_catalog(
        self, command: Any, execution: Any, *, failed: bool
    ) -> list[CapturedQuery]:
        resolved = command.child()
        catalog, identifier = resolved.catalog(), resolved.identifier()
        old = self._described(resolved.table(), identifier)
        if failed:
            return _attempted(_V2, old)
        if old.table is not None:
            self._tables.forget(old.table)
        self._ask_quietly(lambda: self._tables.gone_from(resolved))
        current = self._current(command, identifier)
        table = self._ask_quietly(lambda: catalog.loadTable(current))
        schema = str(resolved.table().schema().json())
        if table is not None:
            return _renamed(_V2, old, self._described(table, current), schema)
        new = self._supposed_relation(old, resolved, v2_name(current), execution)
        return [replace(query, unread=_NOT_FOUND) for query in _renamed(_V2, old, new, schema)]

    def _supposed_relation(
        self, old: Relation, resolved: Any, current: Table, execution: Any
    ) -> Relation:
        """Delta moves as files do, a table of a database with its name; Iceberg's files stay."""
        place = next(iter(old.sources), "")
        if place.startswith("jdbc:") and old.table is not None:
            place = with_name(place, old.table.name, current.name)
        elif old.format == "delta":
            former = self._tables.v1_identifier(resolved)
            if with_scheme(self._tables.default_place(former, execution) or "") == place:
                identifier = self._jvm.org.apache.spark.sql.catalyst.TableIdentifier
                moved = identifier(current.name, former.database())
                place = with_scheme(self._tables.default_place(moved, execution) or place)
        return replace(old, sources=(place,) if place else (), table=current)

    def _current(self, command: Any, former: Any) -> Any:
        """The new Identifier; a name without a database stays in the former's."""
        connector = self._jvm.org.apache.spark.sql.connector.catalog
        named = connector.CatalogV2Implicits.MultipartIdentifierHelper(command.newName())
        current = named.asIdentifier()
        if len(current.namespace()):
            return current
        return connector.Identifier.of(former.namespace(), current.name())

    def _described(self, table: Any, identifier: Any) -> Relation:
        name = v2_name(identifier)
        if class_name(table) == "DeltaTableV2":
            place = with_scheme(str(table.path().toString()))
            return Relation((place,), "delta", table=replace(name, location=place))
        return self._relations.v2(table, name, NO_OPTIONS)


def with_name(place: str, former: str, current: str) -> str:
    """``jdbc:…:"hr"."emp"`` => ``jdbc:…:"hr"."staff"``: the last name, quoted as it was."""
    head, separator, tail = place.rpartition(former)
    return f"{head}{current}{tail}" if separator else place


def _relation(table: Table, form: str | None) -> Relation:
    return Relation((table.location,) if table.location else (), form, table=table)


def _renamed(
    name: str,
    old: Relation,
    new: Relation,
    schema: str,
    partition_columns: tuple[str, ...] | None = None,
) -> list[CapturedQuery]:
    """Pure. None if the place of the data is unknown."""
    if not (old.sources and new.sources and old.table and new.table):
        return []
    renamed = (_end(old), _end(new))
    target = Target(
        new.sources[0],
        "Overwrite",
        new.format,
        table=new.table,
        partition_columns=partition_columns,
        dynamic_partition_overwrite=False if partition_columns else None,
        renamed=renamed,
    )
    if with_scheme(old.sources[0]) == with_scheme(new.sources[0]):
        return [_without_query(name, replace(target, mode=""))]
    emptied = replace(target, uri=old.sources[0], format=old.format, table=old.table)
    moved = captured(Copy(name, replace(old, version=None), target, schema))
    return [moved, _without_query(name, emptied)]


def _attempted(name: str, old: Relation) -> list[CapturedQuery]:
    """A failed rename changes nothing, and is reported for the table that it would rename."""
    if not old.sources:
        return []
    ends = (_end(old), _end(old))
    return [
        _without_query(name, Target(old.sources[0], "", old.format, table=old.table, renamed=ends))
    ]


def _end(relation: Relation) -> Table:
    table = relation.table or Table("")
    return replace(table, location=with_scheme(relation.sources[0]))


def _without_query(name: str, target: Target) -> CapturedQuery:
    return CapturedQuery(name, f'[{{"class": "commands.{name}", "num-children": 0}}]', target)
