"""ALTER TABLE ... RENAME TO: history continues under the new name.

Where Spark moves the data with the name (a table in its default place, a table of a database), the
listener reports a read of the former table, an overwrite of the new one, and an emptied former one:

    ALTER TABLE a RENAME TO b    => reads /w/a, overwrites /w/b; overwrites /w/a with nothing

Where the data stays (a table with a LOCATION, Iceberg), only its name changes. The listener looks
the table up after the rename. Where Spark does not find it under its new name (it was renamed
again, or a database spells the name in its own way), the report uses the former one, with a gap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, Table, Target
from spark_agent_config.capture.commands.table_copies import Copy, captured
from spark_agent_config.capture.questions import NO_OPTIONS, Questions, class_name, read_list
from spark_agent_config.capture.tables.relations import Relations, v2_name, with_scheme
from spark_agent_config.capture.tables.tables import Tables

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
        found = _renamed(_V1, _relation(old, None), _relation(new, None), _NO_COLUMNS)
        return [replace(query, unread=_NOT_FOUND) for query in found]

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
    head, found, tail = place.rpartition(former)
    return f"{head}{current}{tail}" if found else place


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
