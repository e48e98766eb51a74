"""Commands that change files or partitions of a table and write no row: OPTIMIZE, REORG, VACUUM,
ALTER TABLE ... ADD or DROP PARTITION, MSCK REPAIR TABLE.

The listener reports them as lifecycle facts with a reason. ``append`` is set, so that a server that
does not know the command keeps the history before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Target
from spark_agent_config.capture.questions import NO_OPTIONS, Questions
from spark_agent_config.capture.tables.relations import Relations, v2_name
from spark_agent_config.capture.tables.tables import Tables

_REWRITTEN: Final = "the files of the table were rewritten, with the same rows"
#: These have the name of their table; those of Delta hold the table itself.
_OF_PARTITIONS: Final[Mapping[str, str]] = {
    "AlterTableAddPartitionCommand": "partitions were added, with the rows in their folders",
    "AlterTableDropPartitionCommand": "partitions were removed from the table, with their rows",
    "RepairTableCommand": "the partitions of the table were made those of its folders",
}
MAINTENANCE_COMMANDS: Final[Mapping[str, str]] = {
    "OptimizeTableCommand": _REWRITTEN,
    "DeltaReorgTableCommand": _REWRITTEN,
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
