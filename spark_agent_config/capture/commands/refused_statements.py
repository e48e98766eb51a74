"""Statements that Spark refused to analyse: an unknown column, a table that takes no such write.

Only the parsed statement is left, in which tables are names. The listener looks up the target and
the sources, so that the attempt is a failed run of its tables, without columns:

    MERGE WITH SCHEMA EVOLUTION INTO t USING s …   =>  reads s and t, would append to t; failed

The listener does not report a refused SELECT or a statement about an unknown table.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, Table, Target
from spark_agent_config.capture.commands.table_moves import RESTORE
from spark_agent_config.capture.commands.targets import unmade_target
from spark_agent_config.capture.plans.row_level import COMMAND_NAMES
from spark_agent_config.capture.questions import Questions, class_name, items
from spark_agent_config.capture.tables.relations import Relations
from spark_agent_config.capture.tables.tables import SESSION_CATALOG, Tables, name_in_catalog

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
