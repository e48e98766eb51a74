"""Changes upstream since the last good run: gathers the values that ``causes`` ranks.

The subject is the newest run of a job, or the newest attempt to write a dataset, failed or good;
the reference is the newest good one before it. A failed run has no output to start from, but its
plans name its inputs. The inputs of each run's plans are followed upstream, at the time of that
run, and both answers are compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import identity, labels
from graph_model.answers.difference.causes import (
    UNSUCCESSFUL,
    Cause,
    Failure,
    JobActivity,
    RowCount,
    causes_of_activity,
    causes_of_difference,
    causes_of_rows,
    distances_from,
    rank,
)
from graph_model.answers.difference.graphs import GraphDifference, unite
from graph_model.answers.difference.plans import PlanPairs
from graph_model.answers.difference.times import TimeDifference, both_sides, compare_views, draw_at
from graph_model.answers.nodes import job_references, location_of, open_known
from graph_model.answers.sources import Sources
from graph_model.facts import ExecutionRow, LogicalPlanRow
from graph_model.lineage import HUB_LIMIT, Partial, Question
from graph_model.picture.json_form import to_json
from graph_model.picture.view import DatasetNode, FeedEdge, GraphView, JobNode, JobReference, Node
from graph_model.stores.graph import Direction
from graph_model.values import iso

#: Number of executions searched for the last good run.
LOOKED_BACK: Final = 1_000
#: Number of jobs and datasets upstream whose runs are examined, nearest first.
LOOKED_AT: Final = 200
#: Number of inputs of a run that are followed.
INPUTS: Final = 50
_RUNS_KNOWN: Final = 50
_FAILURES_SHOWN: Final = 20
_ROWS_WRITTEN: Final = "numOutputRows"


@dataclass(frozen=True, slots=True)
class ComparedExecution:
    """The execution in question, or the good one that it is compared with; ``job`` None: hidden."""

    execution: str
    run: str
    job: JobReference | None
    plan: str
    plan_id: str
    at: str
    state: str
    error: str | None


@dataclass(frozen=True, slots=True)
class UpstreamChanges:
    """``total`` counts the causes before the limit. A ``since`` of None: no good run is known, and
    nothing is compared. Times are ISO 8601.
    """

    node: str
    subject: ComparedExecution | None
    reference: ComparedExecution | None
    since: str | None
    until: str | None
    causes: tuple[Cause, ...]
    total: int
    difference: TimeDifference | None
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class _Moment:
    """One side of the comparison: a time (epoch ms) and the plans of the run then."""

    at: int
    plans: tuple[LogicalPlanRow, ...]


class Upstream:
    """Answers one question about upstream changes. ``nodes`` bounds each answer that it reads."""

    def __init__(self, sources: Sources, *, nodes: int = 1_000) -> None:
        self._pairs = PlanPairs(sources)
        self._sources = sources
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._nodes = nodes
        self._cut: Partial | None = None

    def changes(
        self,
        node: str,
        kind: str,
        *,
        since: int | None,
        at: int | None,
        depth: int,
        limit: int,
    ) -> UpstreamChanges:
        """``node`` is the id of a dataset or a job, as ``kind`` states; raises NotFound.

        ``since``: compare ``at`` with that time, instead of the last run with the last good run.
        """
        self._sources = open_known(self._sources, kind, node)
        self._pairs = PlanPairs(self._sources)
        rows = self._attempts(node, at)
        if not rows:
            return UpstreamChanges(node, None, None, None, iso(at), (), 0, None, None)
        subject, reference = rows[0], self._reference(rows, since)
        if reference is None:
            shown = self._attempt(subject)
            return UpstreamChanges(node, shown, None, None, iso(subject.at), (), 0, None, None)
        window = (reference.at, subject.at) if since is None else (since, self._end(at))
        comparison = self._compare(node, rows, (reference, subject), window, depth)
        causes = rank(self._causes(node, comparison, window))
        return UpstreamChanges(
            node=node,
            subject=self._attempt(subject),
            reference=self._attempt(reference),
            since=iso(window[0]),
            until=iso(window[1]),
            causes=tuple(causes[:limit]),
            total=len(causes),
            difference=comparison,
            partial=self._partial(comparison, len(causes), limit),
        )

    # --- the runs

    def _end(self, until: int | None) -> int:
        """For the end of time, the newest event: a run is not overdue before an event shows that
        time has passed.
        """
        return until if until is not None else self._catalogue.newest_event(None) or 0

    def _attempts(self, node: str, at: int | None) -> Sequence[ExecutionRow]:
        """Newest first: the executions of a job, or the writes and attempted
        writes of a dataset.
        """
        is_job = identity.kind_of(node) == labels.JOB
        page = self._catalogue.executions(
            job=node if is_job else None,
            target=None if is_job else node,
            at=at,
            limit=LOOKED_BACK,
        )
        kinds = {labels.WRITE_KIND, labels.READ_KIND} if is_job else {labels.WRITE_KIND}
        return [row for row in page.items if row.kind in kinds]

    def _reference(self, rows: Sequence[ExecutionRow], since: int | None) -> ExecutionRow | None:
        """The last good run; with ``since`` the newest good execution by then, otherwise the first
        one known, before which the node did not exist.
        """
        if since is None:
            return last_good(rows)
        good = [row for row in rows if row.state == labels.COMPLETED]
        return next((row for row in good if row.at <= since), good[-1] if good else None)

    def _attempt(self, row: ExecutionRow) -> ComparedExecution:
        return ComparedExecution(
            execution=row.id,
            run=row.run,
            job=job_references(self._sources, (row.job,)).get(row.job),
            plan=row.logical_plan,
            plan_id=row.plan_id,
            at=iso(row.at),
            state=row.state,
            error=row.error,
        )

    # --- both sides

    def _compare(
        self,
        node: str,
        rows: Sequence[ExecutionRow],
        runs: tuple[ExecutionRow, ExecutionRow],
        times: tuple[int, int],
        depth: int,
    ) -> TimeDifference:
        reference, subject = runs
        before = self._plans_of(rows, reference)
        after = self._plans_of(rows, subject)
        targets = {plan.target for plan in after}
        # A run that failed early has not reached its later plans: those that it would have
        # followed.
        after = (*after, *(plan for plan in before if plan.target not in targets))
        sides = (_Moment(times[0], before), _Moment(times[1], after))
        views = [self._side(node, moment, depth) for moment in sides]
        return compare_views(self._sources, (views[0], views[1]), times, node)

    def _plans_of(
        self, rows: Sequence[ExecutionRow], run: ExecutionRow
    ) -> tuple[LogicalPlanRow, ...]:
        """The plans of a run; for each target the one that ran last."""
        newest: dict[str, str] = {}
        for row in rows:
            if row.run == run.run and row.at <= run.at:
                newest.setdefault(row.target, row.logical_plan)
        return self._catalogue.logical_plans({*newest.values()})

    def _side(self, node: str, moment: _Moment, depth: int) -> GraphView:
        """The inputs of the plans and everything upstream of them, then the node itself."""
        plans = {plan.id: plan for plan in moment.plans}
        page = self._graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        reads = [
            (location_of(self._catalogue, edge.out_id, moment.at), plans[edge.in_id])
            for edge in page.edges
        ]
        inputs = sorted({dataset for dataset, _ in reads})
        if len(inputs) > INPUTS:
            self._cut = Partial("inputs", INPUTS)
        answers = [
            draw_at(
                self._sources,
                Question(
                    dataset, Direction.UPSTREAM, depth=depth - 1, at=moment.at, limit=self._nodes
                ),
            )
            for dataset in inputs[:INPUTS]
        ]
        jobs = [self._alone(job, moment.at) for job in sorted({p.job for p in moment.plans})]
        shown = unite([*answers, *jobs], self._alone(node, moment.at))
        return _with_runs(shown, moment.plans, reads, node, depth)

    def _alone(self, node: str, at: int) -> GraphView:
        return draw_at(self._sources, Question(node, Direction.UPSTREAM, depth=0, at=at))

    # --- causes

    def _causes(
        self, node: str, comparison: TimeDifference, window: tuple[int, int]
    ) -> Iterator[Cause]:
        view = comparison.difference.merged
        distances = distances_from(view, node)
        summaries = dict(self._summaries(comparison.difference))
        yield from causes_of_difference(comparison.difference, distances, summaries)
        jobs = [job for job in _nearest(view, distances, JobNode) if job != node]
        activities = [self._activity(job, window) for job in jobs[:LOOKED_AT]]
        yield from causes_of_activity(activities, view, node, distances, window[1])
        counts = self._row_counts(_nearest(view, distances, DatasetNode)[:LOOKED_AT], window)
        yield from causes_of_rows(counts, view, distances)

    def _summaries(self, difference: GraphDifference) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Per job the changes from the plans that it no longer follows to the
        new ones, by target.
        """
        for change in difference.nodes:
            if identity.kind_of(change.id) != labels.JOB or not change.fields:
                continue
            rows = self._catalogue.logical_plans({*change.plans_before, *change.plans_after})
            target = {row.id: row.target for row in rows}
            former = {target.get(plan): plan for plan in change.plans_before}
            sentences: list[str] = []
            for plan in change.plans_after:
                before = former.get(target.get(plan))
                if before is not None and before != plan:
                    sentences += self._pairs.summary(before, plan) or ()
            yield change.id, tuple(sentences)

    def _activity(self, job: str, window: tuple[int, int]) -> JobActivity:
        since, until = window
        failures: list[Failure] = []
        more = set()
        for state in UNSUCCESSFUL:
            page = self._catalogue.executions(job=job, state=state, at=until, limit=_FAILURES_SHOWN)
            later = [row for row in page.items if row.at > since]
            failures += (Failure(state, row.id, row.at, row.error) for row in later)
            if page.next is not None and len(later) == len(page.items):
                more.add(state)
        completed = self._completed_runs(job, until)
        return JobActivity(job, tuple(failures), frozenset(more), completed)

    def _completed_runs(self, job: str, until: int) -> tuple[int, ...]:
        """The end times of its newest completed runs, newest first; a run ends with its last
        execution.
        """
        page = self._catalogue.executions(
            job=job, state=labels.COMPLETED, at=until, limit=_RUNS_KNOWN
        )
        ended: dict[str, int] = {}
        for row in page.items:
            ended.setdefault(row.run, row.at)
        return tuple(ended.values())

    def _row_counts(self, datasets: Collection[str], window: tuple[int, int]) -> Iterator[RowCount]:
        former, latter = (self._catalogue.last_writers(datasets, moment) for moment in window)
        for dataset in datasets:
            before, after = former.get(dataset), latter.get(dataset)
            if before is None or after is None or before.id == after.id:
                continue
            counted = rows_written(before), rows_written(after)
            if counted[0] is not None and counted[1] is not None:
                yield RowCount(dataset, counted[0], counted[1], after.id, after.at)

    def _partial(self, comparison: TimeDifference, causes: int, limit: int) -> Partial | None:
        """Why causes may be missing: a truncated answer, too much to examine, or the limit."""
        nodes = comparison.difference.merged.nodes
        jobs = sum(isinstance(drawn, JobNode) for drawn in nodes)
        tables = sum(isinstance(drawn, DatasetNode) for drawn in nodes)
        looked = Partial("runs", LOOKED_AT) if max(jobs, tables) > LOOKED_AT else None
        more = Partial("causes", limit) if causes > limit else None
        return comparison.before.partial or comparison.after.partial or self._cut or looked or more


def last_good(rows: Sequence[ExecutionRow]) -> ExecutionRow | None:
    """From executions, newest first: the last one of the newest good run before the first one's
    run.

    A good run has no failed execution. Where there is none (a continuous application, a job whose
    runs all failed), the newest completed execution before the first one that wrote the same
    table: an earlier step of the run itself wrote another one, and is nothing to compare with.
    """
    bad = {row.run for row in rows if row.state != labels.COMPLETED}
    for row in rows:
        if row.run != rows[0].run and row.run not in bad and row.at < rows[0].at:
            return row
    good = (row for row in rows if row.state == labels.COMPLETED and row.at < rows[0].at)
    return next((row for row in good if row.target == rows[0].target), None)


def rows_written(row: ExecutionRow) -> float | None:
    """The rows written as the execution reported them; None where it did not."""
    written = json.loads(row.metrics or "{}").get("write") or {}
    number = written.get(_ROWS_WRITTEN)
    return float(number) if isinstance(number, int | float) else None


def _with_runs(
    view: GraphView,
    plans: Sequence[LogicalPlanRow],
    reads: Sequence[tuple[str, LogicalPlanRow]],
    node: str,
    depth: int,
) -> GraphView:
    """The jobs of these plans, with an edge from each input and one to the requested dataset."""
    own: defaultdict[str, set[str]] = defaultdict(set)
    edges: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for plan in plans:
        own[plan.job].add(plan.id)
        if node != plan.job:
            edges[plan.job, node].add(plan.id)
    for dataset, plan in reads:
        edges[dataset, plan.job].add(plan.id)
    shown = {drawn.id for drawn in view.nodes}
    fed = [
        FeedEdge(f"{ends[0]}-{ends[1]}", *ends, plans=tuple(sorted(plans)))
        for ends, plans in edges.items()
        if shown.issuperset(ends)
    ]
    known = {edge.id for edge in fed}
    kept = [edge for edge in view.edges if edge.id not in known]
    nodes = tuple(_with_plans(drawn, own) for drawn in view.nodes)
    return replace(view, nodes=nodes, edges=(*kept, *fed), depth_asked=depth, focus=node)


def _with_plans(node: Node, own: Mapping[str, set[str]]) -> Node:
    """A job of the run, with the plans of that run only."""
    if not isinstance(node, JobNode) or node.id not in own:
        return node
    return node._replace(plans=tuple(sorted(own[node.id])))


def _nearest(view: GraphView, distances: Mapping[str, int], kind: type[Node]) -> list[str]:
    """The nodes of one kind upstream of the requested one, nearest first."""
    ids = [node.id for node in view.nodes if isinstance(node, kind) and node.id in distances]
    return sorted(ids, key=lambda key: (distances[key], key))


# --- as JSON --------------------------------------------------------------------------------------


def changes_reply(changes: UpstreamChanges, lack: Partial | None) -> dict[str, Any]:
    """Changes upstream, ranked; both sides as in ``/graph/diff``."""
    sides = {} if changes.difference is None else both_sides(changes.difference)
    return {
        "node": changes.node,
        "subject": to_json(changes.subject),
        "reference": to_json(changes.reference),
        "since": changes.since,
        "until": changes.until,
        **sides,
        "items": [to_json(cause) | {"at": iso(cause.at)} for cause in changes.causes],
        "total": changes.total,
        "partial": to_json(lack or changes.partial),
    }
