"""Runs as a tree at a time: a DAG's run, its tasks, the Spark applications under them. Pure.

Nothing of this is stored: at another time the tree is another. A run that others name as their
parent, and that never reported itself, is in the tree as an unknown one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.facts import RunRow
from graph_model.producers.openlineage.events.runs import RunStatus, status

#: Worst first: the state of a run without events of its own, from the runs below it.
_WORST: Final = (labels.FAILED, labels.RUNNING, labels.ABORTED, labels.COMPLETED)


@dataclass(frozen=True, slots=True)
class RunNode:
    """``row`` None: other runs name it, and it never sent an event. ``rolled_up`` is its state
    including the runs below; ``below`` counts these by state, helpers of Spark left out.
    """

    run_id: str
    job: str
    row: RunRow | None
    status: RunStatus
    rolled_up: str
    below: Mapping[str, int]
    children: tuple[RunNode, ...]


def build_tree(row: RunRow, rows: Iterable[RunRow], above: Sequence[RunRow], at: int) -> RunNode:
    """The tree below ``row`` at ``at``, of ``rows`` that had started by then.

    ``above`` are its ancestors, nearest first.
    """
    beside: dict[str, list[RunRow]] = {}
    for one in rows:
        if one.started_at <= at and one.run_id != row.run_id:
            beside.setdefault(one.parent_run, []).append(one)
    return _node(row, beside, tuple(above), at, frozenset({row.run_id}))


def _node(
    row: RunRow,
    beside: Mapping[str, Sequence[RunRow]],
    above: tuple[RunRow, ...],
    at: int,
    seen: frozenset[str],
) -> RunNode:
    """``seen`` are the runs on the path to this one: a cycle of parents ends there."""
    children = tuple(
        _node(one, beside, (row, *above), at, seen | {one.run_id})
        for one in beside.get(row.run_id, ())
        if one.run_id not in seen
    )
    own = status(row, above, at)
    return RunNode(
        row.run_id, row.job, row, own, _rolled_up(own, children), _below(children), children
    )


def unknown_node(run_id: str, job: str, children: Sequence[RunNode]) -> RunNode:
    """A run that only its children name: its state follows from theirs."""
    states = {child.rolled_up for child in children}
    worst = next((state for state in _WORST if state in states), labels.RUNNING)
    own = RunStatus(worst, None, "")
    return RunNode(run_id, job, None, own, worst, _below(children), tuple(children))


def _rolled_up(own: RunStatus, children: Sequence[RunNode]) -> str:
    """A run that has ended has its own state: a failed task may have been retried.

    A run in progress, or one that was closed, has failed if a part of it has failed.
    """
    ended = own.ended_at is not None and not own.closed
    if not ended and any(child.rolled_up == labels.FAILED for child in children):
        return labels.FAILED
    return own.state


def _below(children: Sequence[RunNode]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for child in children:
        if child.row is None or not child.row.folded:
            counts[child.status.state] += 1
        counts.update(child.below)
    return dict(sorted(counts.items()))
