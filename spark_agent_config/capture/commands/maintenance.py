"""Commands that rearrange or remove files and change no row: OPTIMIZE, REORG, VACUUM.

The listener reports them as lifecycle facts with a reason. ``append`` is set, so that a server that
does not know the command keeps the history before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Target
from spark_agent_config.capture.plans.relations import Relations, v2_name
from spark_agent_config.capture.questions import NO_OPTIONS, Questions

_REWRITTEN: Final = "the files of the table were rewritten, with the same rows"
MAINTENANCE_COMMANDS: Final[Mapping[str, str]] = {
    "OptimizeTableCommand": _REWRITTEN,
    "DeltaReorgTableCommand": _REWRITTEN,
    "VacuumTableCommand": "files that no version in keeping needs were removed, and no rows",
}
#: ``REORG TABLE t APPLY (PURGE)`` is an OPTIMIZE that chooses other files.
_TOLD_AS: Final = {"DeltaReorgTableCommand": "OptimizeTableCommand"}


class Maintenance:
    """Asks commands of Delta, which hold the table as their child or target."""

    def __init__(self, questions: Questions, relations: Relations) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._relations = relations

    def of_command(self, name: str, command: Any) -> CapturedQuery | None:
        """None if the table is unknown, and for a dry run."""
        if self._ask_quietly(lambda: bool(command.dryRun())):
            return None
        held = self._ask_quietly(command.child) or self._ask_quietly(command.target)
        target = self._ask(name, lambda: self._target(held), None)
        told = _TOLD_AS.get(name, name)
        return None if target is None else maintained(told, target, MAINTENANCE_COMMANDS[name])

    def _target(self, resolved: Any) -> Target | None:
        by_path = self._ask_quietly(lambda: str(resolved.table().path().toString()))
        named = self._ask_quietly(lambda: v2_name(resolved.identifier()))
        relation = self._relations.v2(resolved.table(), named, NO_OPTIONS)
        place = by_path if not relation.sources else relation.sources[0]
        return None if place is None else Target(place, "Append", "delta", table=named)


def maintained(name: str, target: Target, reason: str) -> CapturedQuery:
    """The command as a query that reads nothing. Pure."""
    plan = json.dumps([{"class": f"commands.{name}", "num-children": 0}])
    return CapturedQuery(name, plan, target, reason=reason)
