"""The questions of the package: answers at two times, plans, versions, causes.

This module reads the stores; the pure modules of this package compare. Hidden nodes never enter a
comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from graph_model import identity, labels
from graph_model.answers.difference.graph import (
    ElementChange,
    GraphDifference,
    GraphSide,
    compare_graphs,
    focus_on_changes,
)
from graph_model.answers.difference.history import (
    PlanVersion,
    SchemaVersion,
    plan_versions,
    schema_versions,
)
from graph_model.answers.difference.plan import PlanDifference, compare_plans
from graph_model.answers.difference.schema import (
    ColumnChange,
    ComparedColumn,
    describe,
    read_schema,
)
from graph_model.answers.lineage import draw_around
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.plans.pages import PlanPage, plan
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import find_node, open_known, show_view
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.governance.graph_view import hide_nodes
from graph_model.lineage import HUB_LIMIT, Partial, Question
from graph_model.lineage.history.past import Past
from graph_model.picture.view import (
    DatasetNode,
    DatasetReference,
    GraphView,
    JobNode,
    JobReference,
    iso,
    known_mode,
    place,
)
from graph_model.stores.cursors import read_cursor, write_cursor
from graph_model.stores.protocols import Direction, Page

_VERSIONS: Final = "versions"
#: Plans listed as evidence for one side of a change.
_EVIDENCE: Final = 3
_PAGES_KEPT: Final = 4
Version = TypeVar("Version")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A plan that produces an element at one of the two times, with its newest good run by then."""

    plan: str
    plan_id: str | None
    job: JobReference | None
    execution: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Sides:
    """The evidence for both sides."""

    before: tuple[Evidence, ...]
    after: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class TimeDifference:
    """``hidden`` counts the nodes left out of both sides; ``evidence`` by element id; ``shown`` is
    the part of the merged view to draw.
    """

    node: str
    times: tuple[int | None, int | None]
    before: GraphView
    after: GraphView
    difference: GraphDifference
    evidence: Mapping[str, Sides]
    hidden: int
    shown: GraphView


@dataclass(frozen=True, slots=True)
class SchemaVersionView:
    id: str
    schema: str
    role: str
    current: bool
    first: str
    last: str
    executions: int
    columns: tuple[ComparedColumn, ...]
    changes: tuple[ColumnChange, ...] | None
    summary: tuple[str, ...]
    told_by: tuple[Evidence, ...]
    plans: int


@dataclass(frozen=True, slots=True)
class PlanVersionView:
    """``changes`` None: the first plan with this target, a plan without a document, or the time was
    up (``Differences.partial``).
    """

    id: str
    plan_id: str | None
    fingerprint: str
    mode: str | None
    target: DatasetReference | None
    first: str
    last: str
    executions: int
    completed: int
    previous: str | None
    previous_plan_id: str | None
    changes: tuple[str, ...] | None


class Differences:
    """Answers questions about change. Raises NotFound, InvalidReference, GraphUnavailable."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._pages: dict[str, PlanPage] = {}
        self.partial: Partial | None = None  # versions: not all compared in time

    # --- two times

    def between(
        self,
        node: str,
        times: tuple[int | None, int | None],
        question: Question,
        *,
        jobs: bool = True,
        unchanged: bool = True,
        layout: bool = False,
    ) -> TimeDifference:
        """One question at two times, about a node in any spelling (a name may stand for another
        location at each). Without ``unchanged``, unchanged elements are shown only beside a change.
        """
        opened, first = find_node(self.sources, node, times[0])
        opened, second = find_node(opened, node, times[1])
        seen = Differences(opened)
        before, after = (
            seen.view(replace(question, node=one, at=at), jobs=jobs)
            for one, at in zip((first, second), times, strict=True)
        )
        found = seen.compare((before, after), times, second)
        return replace(found, shown=seen._shown(found.difference, unchanged, layout=layout))

    def _shown(self, found: GraphDifference, unchanged: bool, *, layout: bool) -> GraphView:
        view = found.merged if unchanged else focus_on_changes(found)
        plans = {plan for edge in view.edges for plan in edge.plans}
        view = replace(view, declared=self._catalogue.declared_plans(plans))
        return show_view(self.sources, place(view) if layout else view, layout=layout)

    def view(self, question: Question, *, jobs: bool = True) -> GraphView:
        """An answer before hiding; empty where the node was not known yet."""
        with self.sources.at_once() as sources:
            view = draw_around(sources, question, jobs=jobs)
        return self._without_unborn(view, question.at)

    def compare(
        self, views: tuple[GraphView, GraphView], times: tuple[int | None, int | None], node: str
    ) -> TimeDifference:
        """Compare two answers, given for these times."""
        (before, less), (after, fewer) = (
            self._side(view, at) for view, at in zip(views, times, strict=True)
        )
        difference = compare_graphs(before, after)
        return TimeDifference(
            node=node,
            times=times,
            before=before.view,
            after=after.view,
            difference=difference,
            evidence=self._evidence(difference, times),
            hidden=max(less, fewer),
            shown=difference.merged,
        )

    def _side(self, view: GraphView, at: int | None) -> tuple[GraphSide, int]:
        """An answer with schemas and without hidden nodes, and the number of nodes hidden."""
        shown, hidden = hide_nodes(view, self.sources.hidden, layout=False)
        datasets = [node.id for node in shown.nodes if isinstance(node, DatasetNode)]
        rows = self._catalogue.newest_schemas(datasets, at)
        schemas = {dataset: read_schema(row.columns) for dataset, row in rows.items()}
        return GraphSide(shown, schemas), hidden

    def _without_unborn(self, view: GraphView, at: int | None) -> GraphView:
        """Without the requested node where it was not known yet."""
        alone = [node for node in view.nodes if node.id == view.focus]
        if at is None or not alone or any(view.focus in (e.source, e.target) for e in view.edges):
            return view
        node = alone[0]
        if isinstance(node, DatasetNode):
            known = bool(self._catalogue.seen((node.id,), at))
        else:
            known = not isinstance(node, JobNode) or node.last_run is not None
        return view if known else replace(view, nodes=(), edges=())

    def _evidence(
        self, difference: GraphDifference, times: tuple[int | None, int | None]
    ) -> dict[str, Sides]:
        changes = difference.changes.values()
        before = self._evidence_by_plan(
            {p for c in changes for p in c.plans_before[:_EVIDENCE]}, times[0]
        )
        after = self._evidence_by_plan(
            {p for c in changes for p in c.plans_after[:_EVIDENCE]}, times[1]
        )
        return {one.id: _sides(one, before, after) for one in changes}

    def _evidence_by_plan(self, plans: Collection[str], at: int | None) -> dict[str, Evidence]:
        """Per logical plan its newest good run at the time; plans of hidden jobs are left out."""
        rows = {row.id: row for row in self._catalogue.logical_plans(plans)}
        last = self._catalogue.last_of_plans(plans, at)
        jobs = job_references(self.sources, {row.job for row in rows.values()})
        return {
            plan: _evidence(plan, jobs.get(row.job), last.get(plan))
            for plan, row in rows.items()
            if row.job not in self.sources.hidden
        }

    # --- two plans, two executions

    def plans(self, before: str, after: str, *, layout: bool = False) -> PlanDifference:
        """Compare two plans, by any id that ``/graph/plans/<id>`` accepts; each must be visible."""
        return compare_plans(self._page(before), self._page(after), layout=layout)

    def _page(self, plan_id: str) -> PlanPage:
        """The page of one plan; the last few are kept, because versions are
        compared in sequence.
        """
        if plan_id not in self._pages:
            strict = replace(self.sources, opens_hidden=False)
            page = plan(strict, plan_id, at=None, document=False, layout=False)
            self._pages[plan_id] = page
            if len(self._pages) > _PAGES_KEPT:
                del self._pages[next(iter(self._pages))]
        return self._pages[plan_id]

    def execution(self, execution: str) -> ExecutionRow:
        """One execution; NotFound where it is unknown or its job is hidden."""
        if identity.kind_of(execution) == labels.EXECUTION:
            rows = self._catalogue.executions_of((execution,))
            if rows and self.sources.hidden.isdisjoint((rows[0].job, rows[0].target)):
                return rows[0]
        raise NotFound("execution", execution)

    def plans_of_executions(
        self, before: ExecutionRow, after: ExecutionRow, *, layout: bool = False
    ) -> PlanDifference | None:
        """None where a plan has no stored document (a declaration, for example)."""
        try:
            return self.plans(_plan_of(before), _plan_of(after), layout=layout)
        except NotFound:
            return None

    # --- versions

    def dataset_versions(
        self, dataset: str, *, at: int | None, limit: int, cursor: str | None
    ) -> Page[SchemaVersionView]:
        """The schemas of a dataset (an id), by the time first seen, newest first."""
        self.sources = open_known(self.sources, labels.DATASET, dataset)
        uses = self._catalogue.schema_uses(dataset)
        spans = self._catalogue.plan_spans({use.logical_plan for use in uses}, at)
        rows = self._catalogue.schemas({use.schema for use in uses})
        reports = Past(self._catalogue).writes.reports_of(dataset, (labels.COMPLETED,))
        again = [row for _, *others in reports for row in others if at is None or row.at <= at]
        versions = schema_versions(uses, rows, spans, [row.logical_plan for row in again])
        current = max(versions, key=lambda one: (one.last, one.first, one.schema), default=None)
        shown = _newest(versions, lambda one: (one.first, one.schema), limit, cursor)
        evidence = self._evidence_by_plan(
            {p for one in shown.items for p in one.plans[-_EVIDENCE:]}, at
        )
        items = tuple(_schema_view(one, one is current, evidence) for one in shown.items)
        return Page(items, shown.total, shown.next)

    def job_versions(
        self, job: str, *, at: int | None, limit: int, cursor: str | None
    ) -> Page[PlanVersionView]:
        """The logical plans of a job (an id), by their first run, newest first, each with its
        changes.
        """
        self.sources = open_known(self.sources, labels.JOB, job)
        page = self._graph.edges((job,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
        rows = self._catalogue.logical_plans(plans)
        shown_rows = [row for row in rows if row.target not in self.sources.hidden]
        versions = plan_versions(shown_rows, self._catalogue.plan_spans(plans, at))
        shown = _newest(versions, lambda one: (one.first, one.plan.id), limit, cursor)
        targets = dataset_references(self.sources, {one.plan.target for one in shown.items})
        items = tuple(self._plan_view(one, targets.get(one.plan.target)) for one in shown.items)
        return Page(items, shown.total, shown.next)

    def _plan_view(self, one: PlanVersion, target: DatasetReference | None) -> PlanVersionView:
        return PlanVersionView(
            id=one.plan.id,
            plan_id=self._document_of(one.plan.id),
            fingerprint=one.plan.fingerprint,
            mode=known_mode(one.plan.mode),
            target=target,
            first=iso(one.first) or "",
            last=iso(one.last) or "",
            executions=one.executions,
            completed=one.completed,
            previous=one.previous,
            previous_plan_id=self._document_of(one.previous),
            changes=self._timely_summary(one.previous, one.plan.id),
        )

    def _document_of(self, plan: str | None) -> str | None:
        rows = self._catalogue.execution_plans(logical_plan=plan, limit=1) if plan else ()
        return rows[0].plan_id if rows else None

    def _timely_summary(self, before: str | None, after: str) -> tuple[str, ...] | None:
        """As ``summary``; None for the first version, and once the time is up, which ``partial``
        records.
        """
        if before is None:
            return None
        if self.sources.expired():
            self.partial = Partial("time", self.sources.time_limit_ms)
            return None
        return self.summary(before, after)

    def summary(self, before: str, after: str) -> tuple[str, ...] | None:
        """A short summary of the changes between two plans; None where one has no document."""
        try:
            return self.plans(before, after).summary
        except NotFound:
            return None


def _plan_of(row: ExecutionRow) -> str:
    return row.execution_plan or row.logical_plan


def _evidence(plan: str, job: JobReference | None, row: ExecutionRow | None) -> Evidence:
    if row is None:
        return Evidence(plan, None, job, None, None)
    return Evidence(plan, row.plan_id, job, row.id, iso(row.at))


def _sides(
    change: ElementChange, before: Mapping[str, Evidence], after: Mapping[str, Evidence]
) -> Sides:
    return Sides(_found(change.plans_before, before), _found(change.plans_after, after))


def _found(plans: Iterable[str], evidence: Mapping[str, Evidence]) -> tuple[Evidence, ...]:
    """Sorted, newest first."""
    found = [evidence[plan] for plan in plans if plan in evidence]
    return tuple(sorted(found, key=lambda one: (one.at or "", one.plan), reverse=True))


def _schema_view(
    one: SchemaVersion, current: bool, evidence: Mapping[str, Evidence]
) -> SchemaVersionView:
    return SchemaVersionView(
        id=one.schema,
        schema=one.schema,
        role=one.role,
        current=current,
        first=iso(one.first) or "",
        last=iso(one.last) or "",
        executions=one.executions,
        columns=one.columns,
        changes=one.changes,
        summary=describe(one.changes or ()),
        told_by=_found(one.plans, evidence),
        plans=len(one.plans),
    )


def _newest(
    versions: Iterable[Version],
    key: Callable[[Version], tuple[int, str]],
    limit: int,
    cursor: str | None,
) -> Page[Version]:
    """One page, newest first; the cursor is the key of the last item returned."""
    ordered = sorted(versions, key=key, reverse=True)
    after = read_cursor(cursor, _VERSIONS, int, str) if cursor is not None else None
    left = [one for one in ordered if after is None or key(one) < after]
    shown = left[:limit]
    following = write_cursor(_VERSIONS, *key(shown[-1])) if len(left) > limit else None
    return Page(tuple(shown), len(ordered), following)
