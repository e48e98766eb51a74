"""Runs without an end of their own, and the tree of runs.

The rules are pure: rows in, a state out. Nothing is written for a closed run: at another time the
answer is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from graph_model import labels
from graph_model.facts import RunRow

#: A run without an event for so long is stale (milliseconds).
STALE_AFTER_MS: Final = 24 * 3_600_000
_MOST_LEVELS: Final = 100

Closure = Literal["", "parent", "stale"]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """``state`` of a run at a time. ``closed``: "parent" when a run above it has ended and the run
    itself has not, "stale" when it sent no event for too long, "" when its own events give the
    state.

    ``ended_at`` is that of the run above, or the time of the last event of a stale run.
    """

    state: str
    ended_at: int | None
    closed: Closure


def newest(
    rows: Iterable[RunRow], key: Callable[[RunRow], str] = lambda row: row.run_id
) -> dict[str, RunRow]:
    """One row for each key (the run id), in the order of the keys: while a run is projected anew it
    may have two rows.
    """
    found: dict[str, RunRow] = {}
    for row in rows:
        known = found.get(key(row))
        if known is None or _newness(row) > _newness(known):
            found[key(row)] = row
    return found


def _newness(row: RunRow) -> tuple[bool, int, str]:
    return row.ended_at is not None, row.last_at, row.id


def ancestors(row: RunRow, rows: Mapping[str, RunRow]) -> tuple[RunRow, ...]:
    """The runs above one, nearest first, as far as known; a cycle ends the list."""
    found: dict[str, RunRow] = {}
    above = row.parent_run
    while above and above != row.run_id and above not in found and len(found) < _MOST_LEVELS:
        parent = rows.get(above)
        if parent is None:
            break
        found[above] = parent
        above = parent.parent_run
    if row.root_run and row.root_run != row.run_id and (root := rows.get(row.root_run)):
        found.setdefault(root.run_id, root)
    return tuple(found.values())


def status(
    row: RunRow, above: Iterable[RunRow], at: int, stale_after: int = STALE_AFTER_MS
) -> RunStatus:
    """The status of a run at ``at`` (epoch ms), given its ancestors, nearest first.

    A run without an end event is closed by the nearest run above it that has ended: a helper of
    Spark with that run's state, because it is part of it, any other as aborted. The same holds for
    a stream or a service, but silence does not make it stale.
    """
    if row.ended_at is not None and row.ended_at <= at:
        return RunStatus(row.state, row.ended_at, "")
    for parent in above:
        if parent.ended_at is not None and parent.ended_at <= at:
            state = parent.state if row.folded else labels.ABORTED
            return RunStatus(state, max(parent.ended_at, row.started_at), "parent")
    if not row.endless and row.last_at + stale_after < at:
        return RunStatus(labels.ABORTED, row.last_at, "stale")
    return RunStatus(labels.RUNNING, None, "")
