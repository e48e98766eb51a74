"""Gathers what is compared: answers at two times, plans, versions, causes.

The stores are asked here and the pure modules of this package decide. What is hidden
(``graph_model.governance``) never enters a comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from graph_model import identity, labels
from graph_model.answers.lineage import lineage
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.plans.pages import PlanPage, plan, without_datasets
from graph_model.answers.sources import Sources
from graph_model.cursors import read_cursor, write_cursor
from graph_model.difference.graph import (
    ElementChange,
    GraphDifference,
    GraphSide,
    compare_graphs,
)
from graph_model.difference.history import (
    PlanVersion,
    SchemaVersion,
    plan_versions,
    schema_versions,
)
from graph_model.difference.plan import PlanDifference, compare_plans
from graph_model.difference.schema import ColumnChange, SchemaColumn, describe, read_schema
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.governance.marking import hide_nodes
from graph_model.history.past import Past
from graph_model.lineage import HUB_LIMIT, Partial, Question
from graph_model.store import Direction, Page
from graph_model.view import (
    DatasetNode,
    DatasetReference,
    GraphView,
    JobNode,
    JobReference,
    iso,
    known_mode,
)

_VERSIONS: Final = "versions"
#: Plans told as evidence of one side of a change.
_EVIDENCE: Final = 3
_PAGES_KEPT: Final = 4
Version = TypeVar("Version")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A plan that says an element at one of both times, with its newest good run then."""

    plan: str
    plan_id: str | None
    job: JobReference | None
    execution: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Sides:
    """Evidence of both sides."""

    before: tuple[Evidence, ...]
    after: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class TimeDifference:
    """``hidden``: how many nodes were left out of both sides; ``evidence`` by element id."""

    node: str
    times: tuple[int | None, int | None]
    before: GraphView
    after: GraphView
    difference: GraphDifference
    evidence: Mapping[str, Sides]
    hidden: int


@dataclass(frozen=True, slots=True)
class SchemaVersionView:
    id: str
    schema: str
    role: str
    current: bool
    first: str
    last: str
    executions: int
    columns: tuple[SchemaColumn, ...]
    changes: tuple[ColumnChange, ...] | None
    summary: tuple[str, ...]
    told_by: tuple[Evidence, ...]
    plans: int


@dataclass(frozen=True, slots=True)
class PlanVersionView:
    """``changes`` None: the first plan with this target, one of them has no document, or there was
    no time to compare them (``Differences.partial``).
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
    """What can be asked of change. ``hidden`` are the ids of nodes that the caller must not see.

    Raises NotFound, InvalidReference, GraphUnavailable.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        hidden: Collection[str] = frozenset(),
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
    ) -> None:
        self._sources = sources
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._hidden = hidden
        self._expired = expired
        self._time_limit_ms = time_limit_ms
        self._pages: dict[str, PlanPage] = {}
        self.partial: Partial | None = None  # of versions: plans that there was no time to compare

    # --- two times

    def between(
        self,
        nodes: tuple[str, str],
        times: tuple[int | None, int | None],
        question: Question,
        *,
        jobs: bool = True,
    ) -> TimeDifference:
        """The ordinary question at two times. ``nodes``: the id at each (a name may have moved)."""
        before, after = (
            self.view(replace(question, node=node, at=at), jobs=jobs)
            for node, at in zip(nodes, times, strict=True)
        )
        return self.compare((before, after), times, nodes[1])

    def view(self, question: Question, *, jobs: bool = True) -> GraphView:
        """An answer, nothing hidden yet; empty where nobody had seen the node by then."""
        view = lineage(
            self._sources,
            question,
            jobs=jobs,
            expired=self._expired,
            time_limit_ms=self._time_limit_ms,
        )
        return self._without_unborn(view, question.at)

    def compare(
        self, views: tuple[GraphView, GraphView], times: tuple[int | None, int | None], node: str
    ) -> TimeDifference:
        """Two answers and the times that they were given for."""
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
        )

    def _side(self, view: GraphView, at: int | None) -> tuple[GraphSide, int]:
        """With schemas and without what is hidden, and how many nodes that is."""
        shown, hidden = hide_nodes(view, self._hidden, layout=False)
        datasets = [node.id for node in shown.nodes if isinstance(node, DatasetNode)]
        rows = self._catalogue.newest_schemas(datasets, at)
        schemas = {dataset: read_schema(row.columns) for dataset, row in rows.items()}
        return GraphSide(shown, schemas), hidden

    def _without_unborn(self, view: GraphView, at: int | None) -> GraphView:
        """Without what was asked about where nobody had seen it by then."""
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
        before = self._told({p for c in changes for p in c.plans_before[:_EVIDENCE]}, times[0])
        after = self._told({p for c in changes for p in c.plans_after[:_EVIDENCE]}, times[1])
        return {one.id: _sides(one, before, after) for one in changes}

    def _told(self, plans: Collection[str], at: int | None) -> dict[str, Evidence]:
        """Per logical plan its newest good run at the time; plans of hidden jobs are left out."""
        rows = {row.id: row for row in self._catalogue.logical_plans(plans)}
        last = self._catalogue.last_of_plans(plans, at)
        jobs = self.job_references({row.job for row in rows.values()})
        return {
            plan: _evidence(plan, jobs.get(row.job), last.get(plan))
            for plan, row in rows.items()
            if row.job not in self._hidden
        }

    def job_references(self, ids: Collection[str]) -> dict[str, JobReference]:
        """The names of jobs, without those that are hidden."""
        return job_references(self._sources, set(ids) - set(self._hidden))

    # --- two plans, two executions

    def plans(self, before: str, after: str, *, layout: bool = False) -> PlanDifference:
        """Two plans, by any id that ``/graph/plans/<id>`` takes; each must be visible."""
        pages = [self._page(before), self._page(after)]
        for page, asked in zip(pages, (before, after), strict=True):
            target = page.target.id if page.target else ""
            if {page.job.id, target} & set(self._hidden):
                raise NotFound("plan", asked)
        shown = [without_datasets(page, self._hidden) for page in pages]
        return compare_plans(shown[0], shown[1], layout=layout)

    def _page(self, plan_id: str) -> PlanPage:
        """One plan's page; the last few are kept, for versions are compared one after the other."""
        if plan_id not in self._pages:
            page = plan(self._sources, plan_id, at=None, document=False, layout=False)
            self._pages[plan_id] = page
            if len(self._pages) > _PAGES_KEPT:
                del self._pages[next(iter(self._pages))]
        return self._pages[plan_id]

    def execution(self, execution: str) -> ExecutionRow:
        """One execution; NotFound where there is none or its job is hidden."""
        if identity.kind_of(execution) == labels.EXECUTION:
            rows = self._catalogue.executions_of((execution,))
            if rows and not {rows[0].job, rows[0].target} & set(self._hidden):
                return rows[0]
        raise NotFound("execution", execution)

    def plans_of_executions(
        self, before: ExecutionRow, after: ExecutionRow, *, layout: bool = False
    ) -> PlanDifference | None:
        """None where a plan is not kept as a document (a declaration, say)."""
        try:
            return self.plans(_plan_of(before), _plan_of(after), layout=layout)
        except NotFound:
            return None

    # --- versions

    def dataset_versions(
        self, dataset: str, *, at: int | None, limit: int, cursor: str | None
    ) -> Page[SchemaVersionView]:
        """The schemas of a dataset, newest first seen first."""
        uses = self._catalogue.schema_uses(dataset)
        spans = self._catalogue.plan_spans({use.logical_plan for use in uses}, at)
        rows = self._catalogue.schemas({use.schema for use in uses})
        reports = Past(self._catalogue).reports_of(dataset, (labels.COMPLETED,))
        again = [row for _, *others in reports for row in others if at is None or row.at <= at]
        versions = schema_versions(uses, rows, spans, [row.logical_plan for row in again])
        current = max(versions, key=lambda one: (one.last, one.first, one.schema), default=None)
        shown = _newest(versions, lambda one: (one.first, one.schema), limit, cursor)
        told = self._told({p for one in shown.items for p in one.plans[-_EVIDENCE:]}, at)
        items = tuple(_schema_view(one, one is current, told) for one in shown.items)
        return Page(items, shown.total, shown.next)

    def job_versions(
        self, job: str, *, at: int | None, limit: int, cursor: str | None
    ) -> Page[PlanVersionView]:
        """The logical plans of a job, newest first seen first, each with what changed."""
        page = self._graph.edges((job,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
        rows = self._catalogue.logical_plans(plans)
        shown_rows = [row for row in rows if row.target not in self._hidden]
        versions = plan_versions(shown_rows, self._catalogue.plan_spans(plans, at))
        shown = _newest(versions, lambda one: (one.first, one.plan.id), limit, cursor)
        targets = dataset_references(self._sources, {one.plan.target for one in shown.items})
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
        """As ``summary``; None for the first of all, and once the time is up, which is noted."""
        if before is None:
            return None
        if self._expired():
            self.partial = Partial("time", self._time_limit_ms)
            return None
        return self.summary(before, after)

    def summary(self, before: str, after: str) -> tuple[str, ...] | None:
        """What changed between two plans in short; None where one has no document."""
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


def _found(plans: Iterable[str], told: Mapping[str, Evidence]) -> tuple[Evidence, ...]:
    """Newest first."""
    found = [told[plan] for plan in plans if plan in told]
    return tuple(sorted(found, key=lambda one: (one.at or "", one.plan), reverse=True))


def _schema_view(
    one: SchemaVersion, current: bool, told: Mapping[str, Evidence]
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
        told_by=_found(one.plans, told),
        plans=len(one.plans),
    )


def _newest(
    versions: Iterable[Version],
    key: Callable[[Version], tuple[int, str]],
    limit: int,
    cursor: str | None,
) -> Page[Version]:
    """One page, newest first; the cursor is the key of the last one shown."""
    ordered = sorted(versions, key=key, reverse=True)
    after = read_cursor(cursor, _VERSIONS, int, str) if cursor is not None else None
    left = [one for one in ordered if after is None or key(one) < after]
    shown = left[:limit]
    following = write_cursor(_VERSIONS, *key(shown[-1])) if len(left) > limit else None
    return Page(tuple(shown), len(ordered), following)
