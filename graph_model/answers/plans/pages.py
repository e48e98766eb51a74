"""``/graph/plans/<id>``: the fine view of one plan, of a document or of events."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graph_model import identity, labels, naming
from graph_model.answers.executions import ExecutionView, execution_views
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.plans.column_steps import (
    PLAN,
    ColumnStep,
    column_steps,
    columns_of,
    step_expressions,
)
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import NotFound
from graph_model.facts import (
    ExecutionPlanRow,
)
from graph_model.inspection import PlanInspection, inspect
from graph_model.lineage import (
    HUB_LIMIT,
)
from graph_model.openlineage.inspection import Use, draw_told
from graph_model.projection.notes import gaps_of
from graph_model.projection.plans import read_plan_document
from graph_model.store import (
    Direction,
    DocumentKind,
)
from graph_model.told_plans import ToldPlan, ToldPlans, raw_events
from graph_model.translate import PlanDocument
from graph_model.view import (
    DatasetReference,
    JobReference,
    known_mode,
)

_EXECUTIONS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class SourceReference(DatasetReference):
    """A dataset that a plan reads; ``origin``: plan, or what of OpenLineage's says so."""

    origin: str


@dataclass(frozen=True, slots=True)
class JobLinkView:
    """A job that the plan goes by; ``column`` of its target, None: the whole."""

    job: JobReference
    column: str | None


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The fine view of one plan. ``origin`` is that of the edge to its target; ``openlineage`` is
    what events tell, None for a plan with a document.
    """

    id: str
    plan_id: str
    plan: str
    job: JobReference
    name: str
    system: str
    agent: str
    api_version: str
    command: str
    mode: str | None
    labels: Any
    target: DatasetReference | None
    sources: tuple[SourceReference, ...]
    inspection: PlanInspection[DatasetReference]
    columns: tuple[ColumnStep, ...]
    executions: tuple[ExecutionView, ...]
    other_plans: int
    gaps: Any
    document: Any | None
    origin: str = PLAN
    links: tuple[JobLinkView, ...] = ()
    openlineage: ToldPlan | None = None


@of_one_state
def plan(
    sources: Sources, plan_id: str, *, at: int | None, document: bool, layout: bool
) -> PlanPage:
    """The fine view, by the producer's plan id or an ``lp_`` / ``xp_`` id.

    Of OpenLineage, which has no plans, by a run's id (the client's) as well. What is hidden is left
    out; a plan of a hidden job, or that writes a hidden dataset, is unknown to all but admins.
    """
    page = _whole_page(sources, plan_id, at, document=document, layout=layout)
    ends = {page.job.id, page.target.id if page.target else ""}
    if ends & sources.hidden and not sources.opens_hidden:
        raise NotFound("plan", plan_id)
    return without_datasets(page, sources.hidden - ends)


def without_datasets(page: PlanPage, hidden: Collection[str]) -> PlanPage:
    """A plan without what names these datasets (or jobs): what reads or writes one says no more
    than that, and the document, which names it, is left out.
    """
    page = replace(page, links=tuple(one for one in page.links if one.job.id not in hidden))
    gone = {one.uri for one in page.sources if one.id in hidden}
    if not gone:
        return page
    operations = tuple(
        replace(one, label="hidden", properties=(), datasets=(), schema=None)
        if any(dataset.id in hidden for dataset in one.datasets)
        else one
        for one in page.inspection.operations
    )
    return replace(
        page,
        sources=tuple(one for one in page.sources if one.id not in hidden),
        inspection=replace(page.inspection, operations=operations),
        columns=tuple(step for step in page.columns if step.source.dataset not in gone),
        document=None,
        openlineage=page.openlineage and _without_told_datasets(page.openlineage, hidden),
    )


def _without_told_datasets(told: ToldPlan, hidden: Collection[str]) -> ToldPlan:
    shown = (one for one in told.datasets if one.dataset.id not in hidden)
    return replace(told, datasets=tuple(shown))


def _whole_page(
    sources: Sources, plan_id: str, at: int | None, *, document: bool, layout: bool
) -> PlanPage:
    found = _plan_row(sources, plan_id)
    if found is None:
        return _told_page(sources, plan_id, at, document=document, layout=layout)
    row, others = found
    others = max(others, _other_bodies(sources, row.plan_id))
    stored = sources.journal.plan_document(row.plan_id, row.content_hash)
    if stored is None:
        raise NotFound("document of plan", plan_id)
    plan_document = read_plan_document(stored)
    logical = sources.catalogue.logical_plans((row.logical_plan,))
    if not logical:
        raise NotFound("plan", plan_id)
    references, reads = _reads(sources, row.logical_plan, logical[0].target)
    page = sources.catalogue.executions(
        plan_id=row.plan_id, logical_plan=row.logical_plan, at=at, limit=_EXECUTIONS_SHOWN
    )
    return PlanPage(
        id=row.id,
        plan_id=row.plan_id,
        plan=row.logical_plan,
        job=job_references(sources, (row.job,))[row.job],
        name=row.name,
        system=row.system,
        agent=row.agent,
        api_version=row.api_version,
        command=row.command,
        mode=known_mode(logical[0].mode),
        labels=json.loads(row.labels),
        target=references[logical[0].target],
        sources=_source_references(reads),
        inspection=inspect(plan_document, references_of=partial(_named, sources), layout=layout),
        columns=column_steps(sources, row.logical_plan, logical[0].target),
        executions=execution_views(sources, page.items),
        other_plans=others,
        gaps=json.loads(logical[0].gaps) + gaps_of(stored),
        document=json.loads(stored.body) if document else None,
    )


def _told_page(
    sources: Sources, plan_id: str, at: int | None, *, document: bool, layout: bool
) -> PlanPage:
    """A plan that events tell: the newest run speaks."""
    told_plans = ToldPlans(sources.catalogue, sources.journal, sources.rules)
    found = told_plans.find(plan_id, at)
    plan, execution = found.logical_plan, found.execution
    logical = sources.catalogue.logical_plans((plan,))
    if not logical:
        raise NotFound("plan", plan_id)
    references, reads = _reads(sources, plan, logical[0].target)
    target = references.get(logical[0].target)
    origin = _write_origin(sources, plan)
    write = Use(logical[0].target, target, origin) if target else None
    documents = told_plans.events(execution)
    told = told_plans.read(execution, documents, reads, write)
    job = job_references(sources, (execution.job,))[execution.job]
    name = told.name or job.name
    columns = columns_of(sources, logical[0].target)
    steps = column_steps(sources, plan, logical[0].target, columns)
    page = sources.catalogue.executions(logical_plan=plan, at=at, limit=_EXECUTIONS_SHOWN)
    return PlanPage(
        id=plan,
        plan_id=execution.plan_id,
        plan=plan,
        job=job,
        name=name,
        system=told.system,
        agent=told.producer,
        api_version="",
        command=execution.command,
        mode=known_mode(logical[0].mode),
        labels={},
        target=target,
        sources=_source_references(reads),
        inspection=draw_told(told.datasets, name, step_expressions(told, steps), layout=layout),
        columns=steps,
        executions=execution_views(sources, page.items),
        other_plans=found.others,
        gaps=json.loads(logical[0].gaps) + [gap for one in documents for gap in gaps_of(one)],
        document=raw_events(documents) if document else None,
        origin=origin,
        links=_job_links(sources, plan, job.id, columns) if told.explicit else (),
        openlineage=told,
    )


def _reads(
    sources: Sources, plan: str, target: str
) -> tuple[dict[str, DatasetReference], list[Use]]:
    """The datasets of a plan by id, and those it reads with the origin of the edge."""
    page = sources.graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    origins = {edge.out_id: str(edge.value("origin") or PLAN) for edge in page.edges}
    references = dataset_references(sources, {target, *origins})
    reads = [
        Use(key, references[key], origins[key]) for key in sorted(origins) if key in references
    ]
    return references, reads


def _write_origin(sources: Sources, plan: str) -> str:
    page = sources.graph.edges((plan,), Direction.DOWNSTREAM, (labels.FEEDS,), 1)
    return next((str(edge.value("origin") or PLAN) for edge in page.edges), PLAN)


def _job_links(
    sources: Sources, plan: str, job: str, columns: Mapping[str, str]
) -> tuple[JobLinkView, ...]:
    """Jobs that feed the plan's job, or a column of its target (id -> path), by an explicit
    lineage.
    """
    fed = {job: "", **columns}
    page = sources.graph.edges(fed, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    own = [edge for edge in page.edges if edge.value("logical_plan") == plan]
    jobs = job_references(sources, {edge.out_id for edge in own})
    links = [(jobs[edge.out_id], fed[edge.in_id]) for edge in own if edge.out_id in jobs]
    links.sort(key=lambda link: (link[0].namespace, link[0].name, link[1]))
    return tuple(JobLinkView(one, column or None) for one, column in links)


def _plan_row(sources: Sources, plan_id: str) -> tuple[ExecutionPlanRow, int] | None:
    """The row of the plan's document and how many others there are; None for none."""
    kind = identity.kind_of(plan_id)
    if kind == labels.LOGICAL_PLAN:
        rows = sources.catalogue.execution_plans(logical_plan=plan_id)
    elif kind == labels.EXECUTION_PLAN:
        rows = sources.catalogue.execution_plans(id=plan_id)
    else:
        rows = sources.catalogue.execution_plans(plan_id=plan_id.lower())
    return (rows[0], len(rows) - 1) if rows else None


def _other_bodies(sources: Sources, plan_id: str) -> int:
    """How many more plan documents the journal has under this id."""
    documents = sources.journal.plan(plan_id, all_events=False)
    return sum(document.kind == DocumentKind.PLAN for document in documents) - 1


def _named(sources: Sources, document: PlanDocument, uri: str) -> tuple[DatasetReference, ...]:
    """The datasets that a URI of the document stands for."""
    found = naming.normalise(uri, document.scope, sources.rules)
    return tuple(
        DatasetReference(identity.dataset_id(n.scope, n.uri), n.uri, n.name) for n in found
    )


def _source_references(
    reads: Iterable[Use],
) -> tuple[SourceReference, ...]:
    return tuple(
        SourceReference(use.id, use.dataset.uri, use.dataset.label, use.origin) for use in reads
    )
