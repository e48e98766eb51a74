"""The effect on documents of the commands in force, which every format obeys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from graph_model import labels
from graph_model.facts import ExecutionRow


@dataclass(frozen=True, slots=True)
class CommandEffects:
    """The effect on documents of the commands in force.

    ``pruned`` and ``dropped`` hold, per (job id, dataset id), the time before which executions are
    not projected, and before which the journal also deletes their documents. ``forgotten`` are the
    content hashes, among those requested, that a forget command names; ``retracted`` all those that
    a retract command names.
    """

    pruned: Mapping[tuple[str, str], int] = field(default_factory=dict)
    dropped: Mapping[tuple[str, str], int] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    retracted: frozenset[str] = frozenset()

    def prunes(self, row: ExecutionRow) -> bool:
        """Whether a prune command excludes this execution from the projection."""
        return _covers(self.pruned, row)

    def drops(self, row: ExecutionRow) -> bool:
        """Whether the journal is to delete the document of this execution."""
        return _covers(self.dropped, row)


NO_EFFECTS: Final = CommandEffects()


def _covers(times: Mapping[tuple[str, str], int], row: ExecutionRow) -> bool:
    """Never a declaration: it holds until its author retracts it."""
    if row.plan_id.startswith(labels.DECLARATION_SUBJECT):
        return False
    before = times.get((row.job, row.target)) if times else None
    return before is not None and row.at < before
