"""What changed upstream since the last good run: gathers what ``causes`` ranks.

The run that matters is the newest run of a job, or the newest attempt to write a dataset, be it
failed or good; the reference is the newest good one before it. A failed run has written nothing,
so nothing written tells what it read: its plans do. The inputs of the plans of each run are asked
the ordinary question upstream, at the time of that run, and both answers are compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph_model import identity, labels
from graph_model.difference.causes import (
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
from graph_model.difference.graph import GraphDifference, unite
from graph_model.difference.questions import Differences, TimeDifference
from graph_model.facts import ExecutionRow, LogicalPlanRow
from graph_model.lineage import HUB_LIMIT, Partial, Question
from graph_model.store import Catalogue, Direction, Graph
from graph_model.view import (
    DatasetNode,
    FeedEdge,
    GraphView,
    JobNode,
    JobReference,
    Node,
    iso,
)

#: Executions looked back at for the last good run.
LOOKED_BACK: Final = 1_000
#: Jobs and datasets upstream whose runs are looked at, nearest first.
LOOKED_AT: Final = 200
#: Inputs of a run that are followed.
INPUTS: Final = 50
_RUNS_KNOWN: Final = 50
_FAILURES_SHOWN: Final = 20
_ROWS_WRITTEN: Final = "numOutputRows"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution: the one that matters, or the good one it is compared with; ``job`` None: it is
    hidden.
    """

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
    """``total`` counts the causes before the limit. Without a ``since`` there was no good run
    before, and nothing is compared. Times are ISO 8601.
    """

    node: str
    subject: Attempt | None
    reference: Attempt | None
    since: str | None
    until: str | None
    causes: tuple[Cause, ...]
    total: int
    difference: TimeDifference | None
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class _Moment:
    """A side of the comparison: a time (epoch ms) and the plans of the run then."""

    at: int
    plans: tuple[LogicalPlanRow, ...]


class Upstream:
    """Answers from the same stores as ``Differences``. ``nodes`` bounds each answer upstream."""

    def __init__(
        self, differences: Differences, graph: Graph, catalogue: Catalogue, *, nodes: int = 1_000
    ) -> None:
        self._differences = differences
        self._graph = graph
        self._catalogue = catalogue
        self._nodes = nodes
        self._cut: Partial | None = None

    def changes(
        self, node: str, *, since: int | None, at: int | None, depth: int, limit: int
    ) -> UpstreamChanges:
        """``node`` is a dataset or a job that exists.

        ``since``: compare with that time, and up to ``at``, instead of run with run.
        """
        rows = self._attempts(node, at)
        if not rows:
            return UpstreamChanges(node, None, None, None, iso(at), (), 0, None, None)
        subject, reference = rows[0], self._reference(rows, since)
        if reference is None:
            shown = self._attempt(subject)
            return UpstreamChanges(node, shown, None, None, iso(subject.at), (), 0, None, None)
        window = (reference.at, subject.at) if since is None else (since, self._end(at))
        found = self._compare(node, rows, (reference, subject), window, depth)
        causes = rank(self._causes(node, found, window))
        return UpstreamChanges(
            node=node,
            subject=self._attempt(subject),
            reference=self._attempt(reference),
            since=iso(window[0]),
            until=iso(window[1]),
            causes=tuple(causes[:limit]),
            total=len(causes),
            difference=found,
            partial=self._partial(found, len(causes), limit),
        )

    # --- the runs

    def _end(self, until: int | None) -> int:
        """The end of time is the newest event: nobody is late for what has not happened."""
        return until if until is not None else self._catalogue.newest_event(None) or 0

    def _attempts(self, node: str, at: int | None) -> Sequence[ExecutionRow]:
        """Newest first: a job's executions, or those that were to write a dataset."""
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
        """The last good run; with ``since`` the newest good execution by then, else the first one
        known: it was not there yet.
        """
        if since is None:
            return last_good(rows)
        good = [row for row in rows if row.state == labels.COMPLETED]
        return next((row for row in good if row.at <= since), good[-1] if good else None)

    def _attempt(self, row: ExecutionRow) -> Attempt:
        return Attempt(
            execution=row.id,
            run=row.run,
            job=self._differences.job_references((row.job,)).get(row.job),
            plan=row.logical_plan,
            plan_id=row.plan_id,
            at=iso(row.at) or "",
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
        # A run that failed early has not come to its later plans: those it would have followed.
        after = (*after, *(plan for plan in before if plan.target not in targets))
        sides = (_Moment(times[0], before), _Moment(times[1], after))
        views = [self._side(node, one, depth) for one in sides]
        return self._differences.compare((views[0], views[1]), times, node)

    def _plans_of(
        self, rows: Sequence[ExecutionRow], run: ExecutionRow
    ) -> tuple[LogicalPlanRow, ...]:
        """The plans of a run, of each target the one that ran last."""
        newest: dict[str, str] = {}
        for row in rows:
            if row.run == run.run and row.at <= run.at:
                newest.setdefault(row.target, row.logical_plan)
        return self._catalogue.logical_plans({*newest.values()})

    def _side(self, node: str, moment: _Moment, depth: int) -> GraphView:
        """What the plans read and all upstream of it, then the node itself."""
        plans = {plan.id: plan for plan in moment.plans}
        page = self._graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        reads = [(self._place(e.out_id, moment.at), plans[e.in_id]) for e in page.edges]
        inputs = sorted({dataset for dataset, _ in reads})
        if len(inputs) > INPUTS:
            self._cut = Partial("inputs", INPUTS)
        answers = [
            self._differences.view(
                Question(
                    dataset, Direction.UPSTREAM, depth=depth - 1, at=moment.at, limit=self._nodes
                )
            )
            for dataset in inputs[:INPUTS]
        ]
        jobs = [self._alone(job, moment.at) for job in sorted({p.job for p in moment.plans})]
        shown = unite([*answers, *jobs], self._alone(node, moment.at))
        return _with_runs(shown, moment.plans, reads, node, depth)

    def _alone(self, node: str, at: int) -> GraphView:
        return self._differences.view(Question(node, Direction.UPSTREAM, depth=0, at=at))

    def _place(self, dataset: str, at: int) -> str:
        """Where a catalog name stood at the time; any other dataset itself."""
        return self._catalogue.location_of(dataset, at) or dataset

    # --- causes

    def _causes(self, node: str, found: TimeDifference, window: tuple[int, int]) -> Iterator[Cause]:
        view = found.difference.merged
        distances = distances_from(view, node)
        summaries = dict(self._summaries(found.difference))
        yield from causes_of_difference(found.difference, distances, summaries)
        jobs = [job for job in _nearest(view, distances, JobNode) if job != node]
        activities = [self._activity(job, window) for job in jobs[:LOOKED_AT]]
        yield from causes_of_activity(activities, view, node, distances, window[1])
        counts = self._row_counts(_nearest(view, distances, DatasetNode)[:LOOKED_AT], window)
        yield from causes_of_rows(counts, view, distances)

    def _summaries(self, difference: GraphDifference) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Per job what changed from the plans it no longer follows to the new ones, by target."""
        for change in difference.nodes:
            if identity.kind_of(change.id) != labels.JOB or not change.fields:
                continue
            rows = self._catalogue.logical_plans({*change.plans_before, *change.plans_after})
            target = {row.id: row.target for row in rows}
            former = {target.get(plan): plan for plan in change.plans_before}
            told: list[str] = []
            for plan in change.plans_after:
                before = former.get(target.get(plan))
                if before is not None and before != plan:
                    told += self._differences.summary(before, plan) or ()
            yield change.id, tuple(told)

    def _activity(self, job: str, window: tuple[int, int]) -> JobActivity:
        since, until = window
        failed = self._catalogue.executions(
            job=job, state=labels.FAILED, at=until, limit=_FAILURES_SHOWN
        )
        failures = tuple(
            Failure(row.id, row.at, row.error) for row in failed.items if row.at > since
        )
        more = len(failures) == len(failed.items) and failed.next is not None
        return JobActivity(job, failures, more, self._completed_runs(job, until))

    def _completed_runs(self, job: str, until: int) -> tuple[int, ...]:
        """When its newest runs completed, newest first: the last execution of each."""
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

    def _partial(self, found: TimeDifference, causes: int, limit: int) -> Partial | None:
        """Why there may be more: a cut answer, too much to look at, more causes than asked for."""
        nodes = found.difference.merged.nodes
        jobs = sum(isinstance(one, JobNode) for one in nodes)
        tables = sum(isinstance(one, DatasetNode) for one in nodes)
        looked = Partial("runs", LOOKED_AT) if max(jobs, tables) > LOOKED_AT else None
        more = Partial("causes", limit) if causes > limit else None
        return found.before.partial or found.after.partial or self._cut or looked or more


def last_good(rows: Sequence[ExecutionRow]) -> ExecutionRow | None:
    """Of executions newest first, the last one of the newest good run before the first one's run.

    A good run is one of which nothing failed. Where all is one run (an application that goes on
    and on) it is the newest completed execution before the first one's time.
    """
    bad = {row.run for row in rows if row.state != labels.COMPLETED}
    for row in rows:
        if row.run != rows[0].run and row.run not in bad and row.at < rows[0].at:
            return row
    return next(
        (row for row in rows if row.state == labels.COMPLETED and row.at < rows[0].at), None
    )


def rows_written(row: ExecutionRow) -> float | None:
    """What the execution said that it wrote; None where it did not say."""
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
    """The jobs of these plans with the plans, an edge from each input, one to the dataset asked."""
    own: defaultdict[str, set[str]] = defaultdict(set)
    edges: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for plan in plans:
        own[plan.job].add(plan.id)
        if node != plan.job:
            edges[plan.job, node].add(plan.id)
    for dataset, plan in reads:
        edges[dataset, plan.job].add(plan.id)
    shown = {one.id for one in view.nodes}
    fed = [
        FeedEdge(f"{ends[0]}-{ends[1]}", *ends, plans=tuple(sorted(told)))
        for ends, told in edges.items()
        if shown.issuperset(ends)
    ]
    known = {edge.id for edge in fed}
    kept = [edge for edge in view.edges if edge.id not in known]
    nodes = tuple(_with_plans(one, own) for one in view.nodes)
    return replace(view, nodes=nodes, edges=(*kept, *fed), depth_asked=depth, focus=node)


def _with_plans(node: Node, own: Mapping[str, set[str]]) -> Node:
    """A job of the run with the plans of the run alone."""
    if not isinstance(node, JobNode) or node.id not in own:
        return node
    return node._replace(plans=tuple(sorted(own[node.id])))


def _nearest(view: GraphView, distances: Mapping[str, int], kind: type[Node]) -> list[str]:
    """The nodes of one kind upstream of the one asked about, nearest first."""
    found = [one.id for one in view.nodes if isinstance(one, kind) and one.id in distances]
    return sorted(found, key=lambda key: (distances[key], key))
