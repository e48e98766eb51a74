"""Changes upstream between two moments, ranked: the likeliest cause of a failed run first.

Pure: the difference of the upstream answer at both moments, and the activity of its jobs between
them. Nothing is guessed: each cause carries its facts, with the plan and the execution that
reported them. Nearer causes come first, and at one distance those that break a reader most often:

    failed-run, aborted-run, plan, schema, input-removed, input-added, writer-removed, writer-added,
    late, rows
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from graph_model import labels
from graph_model.answers.difference.graphs import (
    ADDED,
    CHANGED,
    PLANS,
    SCHEMA,
    ElementChange,
    GraphDifference,
    describe,
)
from graph_model.lineage import ColumnEdge
from graph_model.picture.view import (
    ColumnNodeView,
    DatasetNode,
    GraphView,
    JobNode,
    Node,
)
from graph_model.values import cause_line, iso

FAILED_RUN: Final = "failed-run"
ABORTED_RUN: Final = "aborted-run"
NEW_PLAN: Final = "plan"
NEW_SCHEMA: Final = "schema"
LATE: Final = "late"
ROWS: Final = "rows"
KINDS: Final = (
    FAILED_RUN, ABORTED_RUN, NEW_PLAN, NEW_SCHEMA, "input-removed", "input-added",
    "writer-removed", "writer-added", LATE, ROWS,
)  # fmt: skip
#: States of an execution that say why a table is not new, with what they are called.
UNSUCCESSFUL: Final = {
    labels.FAILED: (FAILED_RUN, "failed"),
    labels.ABORTED: (ABORTED_RUN, "was aborted"),
}
#: A job is late after two of its usual intervals, which are known from three on.
LATE_INTERVALS: Final = 2
_INTERVALS_KNOWN: Final = 3
#: A row count is reported as different from this factor on.
ROWS_FACTOR: Final = 2.0
_ERROR_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Failure:
    state: str
    execution: str
    at: int
    error: str | None


@dataclass(frozen=True, slots=True)
class JobActivity:
    """The failures of a job between both moments, those of a state newest first, with the states
    of which there are more, and the end times of its newest completed runs up to the later moment,
    newest first (epoch ms).
    """

    job: str
    failures: tuple[Failure, ...] = ()
    more_failures: frozenset[str] = frozenset()
    completed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RowCount:
    """The rows that the newest completed write of a dataset wrote, at each moment."""

    dataset: str
    before: float
    after: float
    execution: str
    at: int


@dataclass(frozen=True, slots=True)
class CauseNode:
    id: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Cause:
    """``distance``: drawn edges between the cause and the requested node. ``at``: epoch ms where
    known.

    ``plans``: before and after, for a difference of plans; ``execution`` is the one that reported
    it.
    """

    kind: str
    node: CauseNode
    distance: int
    at: int | None
    reason: str
    changes: tuple[str, ...] = ()
    plans_before: tuple[str, ...] = ()
    plans_after: tuple[str, ...] = ()
    execution: str | None = None


def rank(causes: Iterable[Cause]) -> list[Cause]:
    """Nearest first, then by kind, then the newest."""
    return sorted(
        causes,
        key=lambda cause: (
            cause.distance,
            KINDS.index(cause.kind),
            -(cause.at or 0),
            cause.node.id,
            cause.reason,
        ),
    )


def causes_of_difference(
    difference: GraphDifference,
    distances: Mapping[str, int],
    summaries: Mapping[str, Sequence[str]],
) -> Iterator[Cause]:
    """Causes from other plans, schemas, inputs and writers.

    ``distances``: the result of ``distances_from`` for the merged view; ``summaries``: per job the
    changes between its plans.
    """
    view = difference.merged
    nodes = {node.id: node for node in view.nodes}
    for change in difference.nodes:
        node = nodes[change.id]
        if change.change == CHANGED and node.id in distances:
            yield from _node_causes(change, node, distances[node.id], summaries)
    ends = {edge.id: (edge.source, edge.target) for edge in view.edges}
    columns = {edge.id for edge in view.edges if isinstance(edge, ColumnEdge)}
    for change in difference.edges:
        source, target = (nodes.get(end) for end in ends[change.id])
        if change.change == CHANGED or change.id in columns or source is None or target is None:
            continue
        if source.id in distances:
            yield _edge_cause(change, source, target, distances)


def _node_causes(
    change: ElementChange, node: Node, distance: int, summaries: Mapping[str, Sequence[str]]
) -> Iterator[Cause]:
    for field in change.fields:
        if field.field == PLANS and isinstance(node, JobNode):
            changes = tuple(summaries.get(node.id, ()))
            summary = f": {'; '.join(changes[:3])}" if changes else ""
            reason = f"job {node.label} runs another plan{summary}"
            yield _cause(NEW_PLAN, node, distance, reason, change, changes)
        elif field.field == SCHEMA:
            changes = describe(field.columns)
            reason = f"{node.label} has another schema: {'; '.join(changes[:3])}"
            yield _cause(NEW_SCHEMA, node, distance, reason, change, changes)


def _edge_cause(
    change: ElementChange, source: Node, target: Node, distances: Mapping[str, int]
) -> Cause:
    """A dataset that a job reads or no longer reads; a job that writes or no longer writes."""
    added = change.change == ADDED
    if isinstance(source, JobNode):
        kind = "writer-added" if added else "writer-removed"
        verb = "is also written by" if added else "is no longer written by"
        reason = f"{target.label} {verb} job {source.label}"
    else:
        kind = "input-added" if added else "input-removed"
        user = f"job {target.label}" if isinstance(target, JobNode) else target.label
        reason = f"{user} {'reads' if added else 'no longer reads'} {source.label}"
    return _cause(kind, source, distances[source.id], reason, change, ())


def _cause(
    kind: str,
    node: Node,
    distance: int,
    reason: str,
    change: ElementChange,
    changes: tuple[str, ...],
) -> Cause:
    return Cause(
        kind,
        cause_node(node),
        distance,
        None,
        reason,
        changes,
        change.plans_before,
        change.plans_after,
    )


def cause_node(node: Node) -> CauseNode:
    kinds = {DatasetNode: "dataset", JobNode: "job", ColumnNodeView: "column"}
    return CauseNode(node.id, kinds[type(node)], node.label)


def causes_of_activity(
    activities: Iterable[JobActivity],
    view: GraphView,
    focus: str,
    distances: Mapping[str, int],
    until: int,
) -> Iterator[Cause]:
    """Failed, aborted and overdue runs of the jobs upstream; the requested job itself is no
    cause.
    """
    jobs = {node.id: node for node in view.nodes if isinstance(node, JobNode)}
    for activity in activities:
        job = jobs.get(activity.job)
        if job is None or activity.job == focus or activity.job not in distances:
            continue
        for state in UNSUCCESSFUL:
            if failures := [each for each in activity.failures if each.state == state]:
                more = state in activity.more_failures
                yield _failed(failures, job, distances[job.id], more=more)
        usual = usual_interval(activity.completed)
        if usual is not None and until - activity.completed[0] > LATE_INTERVALS * usual:
            yield _late(activity, job, distances[job.id], usual)


def _failed(failures: Sequence[Failure], job: JobNode, distance: int, *, more: bool) -> Cause:
    """``failures``: of one state, newest first."""
    last = failures[0]
    kind, words = UNSUCCESSFUL[last.state]
    number = f"{len(failures)}{' or more' if more else ''}"
    times = "once" if number == "1" else f"{number} times"
    error = " ".join((cause_line(last.error) or "").split())
    message = f": {error[:_ERROR_SHOWN]}" if error else ""
    reason = f"job {job.label} {words} {times}, last at {iso(last.at)}{message}"
    return Cause(kind, cause_node(job), distance, last.at, reason, execution=last.execution)


def usual_interval(completed: Sequence[int]) -> float | None:
    """The median interval between completed runs; None where too few are known or all ended at one
    time.
    """
    intervals = [later - earlier for later, earlier in pairwise(completed)]
    if len(intervals) < _INTERVALS_KNOWN:
        return None
    usual = median(intervals)
    return usual if usual > 0 else None


def _late(activity: JobActivity, job: JobNode, distance: int, usual: float) -> Cause:
    known = len(activity.completed) - 1
    reason = (
        f"job {job.label} has not completed since {iso(activity.completed[0])}; "
        f"it usually does every {spell_interval(usual)} (median of {known})"
    )
    return Cause(LATE, cause_node(job), distance, activity.completed[0], reason)


def spell_interval(milliseconds: float) -> str:
    """``90_000`` => ``1 min 30 s``, in the two greatest units."""
    left = round(milliseconds / 1000)
    parts: list[str] = []
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        number, left = divmod(left, seconds)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "less than 1 s"


def causes_of_rows(
    counts: Iterable[RowCount], view: GraphView, distances: Mapping[str, int]
) -> Iterator[Cause]:
    """Datasets whose newest write wrote at least twice or at most half the rows
    of the one before.
    """
    nodes = {node.id: node for node in view.nodes}
    for count in counts:
        if count.dataset in distances and _jumped(count.before, count.after):
            node = nodes[count.dataset]
            reason = (
                f"the last write of {node.label} wrote {count.after:,.0f} rows; "
                f"{count.before:,.0f} at the reference"
            )
            distance = distances[node.id]
            yield Cause(
                ROWS, cause_node(node), distance, count.at, reason, execution=count.execution
            )


def _jumped(before: float, after: float) -> bool:
    least, most = sorted((before, after))
    return least >= 0 and most > least and (least == 0 or most / least >= ROWS_FACTOR)


def distances_from(view: GraphView, focus: str) -> dict[str, int]:
    """The number of drawn edges, against the flow, from the requested node to
    each node upstream.
    """
    upstream: defaultdict[str, list[str]] = defaultdict(list)
    for edge in view.edges:
        upstream[edge.target].append(edge.source)
    distances = {focus: 0}
    queue = deque([focus])
    while queue:
        node = queue.popleft()
        for source in upstream[node]:
            if source not in distances:
                distances[source] = distances[node] + 1
                queue.append(source)
    return distances
