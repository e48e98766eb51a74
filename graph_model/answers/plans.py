"""``/graph/plans/<id>``: the fine view of one plan, of a document or of events, with the plan's own
column edges and expressions where its client sends none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graph_model import identity, labels, naming
from graph_model.answers.facets import cut_bodies
from graph_model.answers.nodes import (
    ExecutionView,
    dataset_references,
    dataset_row,
    execution_views,
    job_references,
    open_plan,
)
from graph_model.answers.openlineage_reports import (
    EventDataset,
    EventPlan,
    EventPlans,
    Use,
    draw_datasets,
    raw_events,
    without_facets,
)
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import NotFound
from graph_model.facts import Edge, ExecutionPlanRow, ExecutionRow, LogicalPlanRow
from graph_model.lineage import HUB_LIMIT, Partial
from graph_model.picture.json_form import operation_reply, to_json
from graph_model.picture.layout import Flow
from graph_model.picture.operations import PlanInspection
from graph_model.picture.view import DatasetReference, JobReference, known_mode
from graph_model.producers.projections import gaps_of
from graph_model.producers.spline.gathering import read_plan_document
from graph_model.producers.spline.inspection import inspect
from graph_model.producers.spline.plan_logic import PlanDocument, with_patterns
from graph_model.stores.documents import StoredDocument
from graph_model.stores.graph import Direction

EXECUTIONS_SHOWN = 20
#: The origin of an edge that the plan's own document reports.
PLAN = "plan"


@dataclass(frozen=True, slots=True)
class SourceReference(DatasetReference):
    """A dataset that a plan reads; ``origin``: the plan, or the OpenLineage
    facet that reports it.
    """

    origin: str


@dataclass(frozen=True, slots=True)
class JobLinkView:
    """A job that feeds the plan's job; ``column`` of its target, None: the whole dataset."""

    job: JobReference
    column: str | None


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The fine view of one plan. ``origin`` is that of the edge to its target; ``openlineage`` is
    the content of the events, None for a plan with a document.
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
    openlineage: EventPlan | None = None


@of_one_state
def plan(
    sources: Sources,
    plan_id: str,
    *,
    at: int | None,
    document: bool,
    layout: bool,
    flow: Flow = Flow.RIGHT,
    fold: bool = False,
) -> PlanPage:
    """The fine view, by the producer's plan id or an ``lp_`` / ``xp_`` id.

    OpenLineage has no plans: there the id of a run (the client's) selects one too. Hidden inputs
    are left out; a plan of a hidden job, or one that writes a hidden dataset, is unknown to
    everyone but admins.
    """
    reported = _plan_row(sources, plan_id)
    if reported is None:
        return _event_page(sources, plan_id, at, document=document, layout=layout, flow=flow)
    row, others = reported
    opened = open_document(sources, row, plan_id)
    sources, logical, stored = opened.sources, opened.logical, opened.stored
    references, reads, unseen = _reads(sources, row.logical_plan, logical.target)
    runs = sources.catalogue.executions(
        plan_id=row.plan_id, logical_plan=row.logical_plan, at=at, limit=EXECUTIONS_SHOWN
    )
    page = PlanPage(
        id=row.id,
        plan_id=row.plan_id,
        plan=row.logical_plan,
        job=job_references(sources, (row.job,))[row.job],
        name=row.name,
        system=row.system,
        agent=row.agent,
        api_version=row.api_version,
        command=row.command,
        mode=known_mode(logical.mode),
        labels=json.loads(row.labels),
        target=references[logical.target],
        sources=_source_references(reads),
        inspection=inspect(
            opened.document,
            references_of=partial(_named, sources),
            layout=layout,
            flow=flow,
            fold=fold,
        ),
        columns=column_steps(sources, row.logical_plan, logical.target),
        executions=execution_views(sources, runs.items, at),
        other_plans=max(others, _other_bodies(sources, stored)),
        gaps=json.loads(logical.gaps) + gaps_of(stored),
        document=json.loads(stored.body) if document else None,
    )
    return _without(page, unseen)


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A plan that a document reports. ``sources`` are those for a question about it; ``document``
    has the patterns of the installation's rules.
    """

    sources: Sources
    logical: LogicalPlanRow
    stored: StoredDocument
    document: PlanDocument


def open_document(sources: Sources, row: ExecutionPlanRow, asked: str) -> OpenedDocument:
    """The document of a row. Raises NotFound, also for one of a hidden job or target."""
    stored = sources.journal.document_of(row.plan_id, row.content_hash)
    logical = sources.catalogue.logical_plans((row.logical_plan,))
    if stored is None or not logical:
        raise NotFound("plan", asked)
    sources = open_plan(sources, {row.job, logical[0].target}, asked)
    read = read_plan_document(stored)
    document = replace(read, plan=with_patterns(read.plan, sources.rules))
    return OpenedDocument(sources, logical[0], stored, document)


def _event_page(
    sources: Sources, plan_id: str, at: int | None, *, document: bool, layout: bool, flow: Flow
) -> PlanPage:
    """A plan made from events, as its newest run reports it."""
    opened = open_events(sources, plan_id, at)
    sources, execution, event_plan = opened.sources, opened.execution, opened.content
    plan, logical = opened.logical.id, opened.logical
    job = job_references(sources, (execution.job,))[execution.job]
    name = event_plan.name or job.name
    columns = columns_of(sources, logical.target)
    steps = column_steps(sources, plan, logical.target, columns)
    runs = sources.catalogue.executions(logical_plan=plan, at=at, limit=EXECUTIONS_SHOWN)
    page = PlanPage(
        id=plan,
        plan_id=execution.plan_id,
        plan=plan,
        job=job,
        name=name,
        system=event_plan.system,
        agent=event_plan.producer,
        api_version="",
        command=execution.command,
        mode=known_mode(logical.mode),
        labels={},
        target=opened.write.dataset if opened.write else None,
        sources=_source_references(opened.reads),
        inspection=draw_datasets(
            event_plan.datasets, name, step_expressions(event_plan, steps), layout=layout, flow=flow
        ),
        columns=steps,
        executions=execution_views(sources, runs.items, at),
        other_plans=opened.others,
        gaps=json.loads(logical.gaps) + [gap for each in opened.documents for gap in gaps_of(each)],
        document=raw_events(opened.documents) if document else None,
        origin=opened.origin,
        links=_job_links(sources, plan, job.id, columns) if event_plan.explicit else (),
        openlineage=_cut_facets(event_plan),
    )
    return _without(page, opened.unseen)


@dataclass(frozen=True, slots=True)
class OpenedEvents:
    """A plan that events report, as its newest run does. ``sources`` are those for a question about
    it; ``reads`` and ``write`` (None: nothing) are its edges in the graph, ``unseen`` the ids of
    the hidden datasets that it reads; ``others`` as of ``FoundPlan``.
    """

    sources: Sources
    logical: LogicalPlanRow
    execution: ExecutionRow
    reads: Sequence[Use]
    write: Use | None
    origin: str
    unseen: frozenset[str]
    documents: Sequence[StoredDocument]
    content: EventPlan
    others: int


def open_events(sources: Sources, plan_id: str, at: int | None) -> OpenedEvents:
    """The events of a plan. Raises NotFound, also for one of a hidden job or target."""
    event_plans = EventPlans(
        sources.catalogue, sources.journal, sources.rules, sources.producers.event
    )
    reported = event_plans.find(plan_id, at)
    plan, execution = reported.logical_plan, reported.execution
    logical = sources.catalogue.logical_plans((plan,))
    if not logical:
        raise NotFound("plan", plan_id)
    sources = open_plan(sources, {execution.job, logical[0].target}, plan_id)
    references, reads, unseen = _reads(sources, plan, logical[0].target)
    origin = _write_origin(sources, plan)
    target = references.get(logical[0].target)
    write = Use(logical[0].target, target, origin) if target else None
    documents = event_plans.events(execution)
    content = event_plans.read(execution, documents, reads, write)
    return OpenedEvents(
        sources, logical[0], execution, reads, write, origin, unseen, documents, content,
        reported.others,
    )  # fmt: skip


def _cut_facets(event_plan: EventPlan) -> EventPlan:
    """Without the facets that are too long for a page; they are named."""
    job_facets, of_job = cut_bodies(event_plan.job_facets)
    run_facets, of_run = cut_bodies(event_plan.run_facets)
    return replace(
        event_plan,
        job_facets=job_facets,
        run_facets=run_facets,
        datasets=tuple(map(_cut_dataset_facets, event_plan.datasets)),
        cut_job_facets=of_job,
        cut_run_facets=of_run,
    )


def _cut_dataset_facets(dataset: EventDataset) -> EventDataset:
    facets, cut = cut_bodies(dataset.facets)
    usage, cut_usage = cut_bodies(dataset.usage)
    return replace(dataset, facets=facets, usage=usage, cut=tuple(dict.fromkeys(cut + cut_usage)))


def _without(page: PlanPage, unseen: Collection[str]) -> PlanPage:
    """A plan without the hidden datasets that it reads: an operation that reads one loses its
    details, and texts as the client wrote them (facets, the document) are left out.
    """
    if not unseen:
        return page
    operations = tuple(
        replace(operation, label="hidden", properties=(), datasets=(), schema=None)
        if any(dataset.id in unseen for dataset in operation.datasets)
        else operation
        for operation in page.inspection.operations
    )
    return replace(
        page,
        inspection=replace(page.inspection, operations=operations),
        document=None,
        openlineage=page.openlineage and without_facets(page.openlineage),
    )


def _reads(
    sources: Sources, plan: str, target: str
) -> tuple[dict[str, DatasetReference], list[Use], frozenset[str]]:
    """The datasets of a plan by id, those it reads with the origin of the edge, and the ids of the
    hidden ones.
    """
    page = sources.graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    origins = {edge.out_id: str(edge.value("origin") or PLAN) for edge in page.edges}
    references = dataset_references(sources, {target, *origins})
    reads = [
        Use(key, references[key], origins[key]) for key in sorted(origins) if key in references
    ]
    return references, reads, sources.hidden.intersection(origins)


def _write_origin(sources: Sources, plan: str) -> str:
    page = sources.graph.edges((plan,), Direction.DOWNSTREAM, (labels.FEEDS,), 1)
    return next((str(edge.value("origin") or PLAN) for edge in page.edges), PLAN)


def _job_links(
    sources: Sources, plan: str, job: str, columns: Mapping[str, str]
) -> tuple[JobLinkView, ...]:
    """Jobs that feed the plan's job, or a column of its target (id -> path), by
    explicit lineage.
    """
    fed = {job: "", **columns}
    page = sources.graph.edges(fed, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    own = [edge for edge in page.edges if edge.value("logical_plan") == plan]
    jobs = job_references(sources, {edge.out_id for edge in own})
    links = [(jobs[edge.out_id], fed[edge.in_id]) for edge in own if edge.out_id in jobs]
    links.sort(key=lambda link: (link[0].namespace, link[0].name, link[1]))
    return tuple(JobLinkView(reference, column or None) for reference, column in links)


def _plan_row(sources: Sources, plan_id: str) -> tuple[ExecutionPlanRow, int] | None:
    """The row of the plan's document and the number of other documents with its plan id; None for
    none.
    """
    kind = identity.kind_of(plan_id)
    if kind == labels.LOGICAL_PLAN:
        rows = sources.catalogue.execution_plans(logical_plan=plan_id)
    elif kind == labels.EXECUTION_PLAN:
        rows = sources.catalogue.execution_plans(id=plan_id)
    else:
        rows = sources.catalogue.execution_plans(plan_id=plan_id.lower())
    return (rows[0], len(rows) - 1) if rows else None


def _other_bodies(sources: Sources, document: StoredDocument) -> int:
    """The number of other documents of its kind under its subject key in the journal."""
    key, kind = document.subject_key, document.kind
    outline = sources.journal.outline((key,), (kind,)).get(key, ())
    return sum(entry.kind == kind for entry in outline) - 1


def _named(sources: Sources, document: PlanDocument, uri: str) -> tuple[DatasetReference, ...]:
    """The datasets that a URI in the document names."""
    names = naming.normalise(uri, document.scope, sources.rules)
    return tuple(
        DatasetReference(identity.dataset_id(n.scope, n.uri), n.uri, n.name) for n in names
    )


def _source_references(
    reads: Iterable[Use],
) -> tuple[SourceReference, ...]:
    return tuple(
        SourceReference(use.id, use.dataset.uri, use.dataset.label, use.origin) for use in reads
    )


@dataclass(frozen=True, slots=True)
class ColumnEnd:
    id: str
    dataset: str
    name: str


@dataclass(frozen=True, slots=True)
class ColumnStep:
    source: ColumnEnd
    target: ColumnEnd
    kind: str
    how: str
    expression: str
    origin: str = PLAN
    masking: bool = False


def column_steps(
    sources: Sources, plan: str, target: str, columns: Iterable[str] = ()
) -> tuple[ColumnStep, ...]:
    """The plan's own column edges; each influence once, onto the whole target. Columns of hidden
    datasets are left out.

    ``columns`` of the target are read as well: events may name columns that no schema has.
    """
    page = sources.graph.edges((plan,), Direction.DOWNSTREAM, (labels.WRITES,), HUB_LIMIT)
    schemas = [edge.in_id for edge in page.edges]
    held = sources.graph.edges(schemas, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
    written = {edge.in_id for edge in held.edges} | set(columns)
    derived = sources.graph.edges(written, Direction.UPSTREAM, (labels.DERIVES,), HUB_LIMIT)
    edges = [edge for edge in derived.edges if edge.value("logical_plan") == plan]
    influences = sources.graph.edges((plan,), Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
    ids = {end for e in edges for end in (e.out_id, e.in_id)}
    ids |= {edge.out_id for edge in influences.edges}
    ends = {
        vertex.id: _column_end(vertex.id, dict(vertex.properties))
        for vertex in sources.graph.vertices(ids)
        if vertex.value("dataset_id") not in sources.hidden
    }
    whole = ColumnEnd("", dataset_row(sources, target).uri if target else "", "*")
    steps = [
        _step(edge, ends[edge.out_id], ends[edge.in_id])
        for edge in edges
        if edge.out_id in ends and edge.in_id in ends
    ]
    steps += [
        _step(edge, ends[edge.out_id], whole) for edge in influences.edges if edge.out_id in ends
    ]
    return tuple(
        sorted(steps, key=lambda s: (s.target.name, s.kind, s.source.dataset, s.source.name))
    )


def _column_end(key: str, values: dict[str, Any]) -> ColumnEnd:
    return ColumnEnd(key, str(values.get("dataset", "")), str(values.get("path", "")))


def _step(edge: Edge, source: ColumnEnd, target: ColumnEnd) -> ColumnStep:
    return ColumnStep(
        source,
        target,
        str(edge.value("kind") or labels.kind_of(str(edge.value("how")))),
        str(edge.value("how")),
        str(edge.value("expression") or ""),
        str(edge.value("origin") or PLAN),
        masking=edge.value("masking") is True,
    )


def columns_of(sources: Sources, dataset: str) -> dict[str, str]:
    """The ids of all columns that a dataset ever had, each with its path."""
    if not dataset:
        return {}
    page = sources.graph.edges((dataset,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
    rows = sources.catalogue.columns([edge.in_id for edge in page.edges])
    return {row.id: row.path for row in rows}


def step_expressions(event_plan: EventPlan, steps: Iterable[ColumnStep]) -> dict[str, str]:
    """The expression of each written column, by name; a column that is passed on is left out."""
    by_path: dict[str, list[ColumnStep]] = {}
    for step in steps:
        if step.kind == labels.DIRECT:
            by_path.setdefault(step.target.name, []).append(step)
    texts = {path: _expression(path, listed) for path, listed in by_path.items()}
    return {
        column.name: texts[path]
        for dataset in event_plan.datasets
        if dataset.role == "output"
        for column in dataset.columns or ()
        if texts.get(path := naming.column_path((naming.fold(column.name),)))
    }


def _expression(path: str, steps: Sequence[ColumnStep]) -> str:
    """``AGGREGATION(amount)`` where the client reports no expression."""
    if [(step.how, step.source.name) for step in steps] == [(labels.IDENTITY, path)]:
        return ""
    if expressions := sorted({step.expression for step in steps if step.expression}):
        return labels.BETWEEN_EXPRESSIONS.join(expressions)
    sources: dict[str, list[str]] = {}
    for step in steps:
        sources.setdefault(step.how, []).append(step.source.name)
    return ", ".join(f"{how}({', '.join(names)})" for how, names in sorted(sources.items()))


# --- as JSON --------------------------------------------------------------------------------------


def plan_reply(page: PlanPage, lack: Partial | None) -> dict[str, Any]:
    """The fine view of a plan."""
    reply: dict[str, Any] = to_json(page)
    del reply["inspection"]
    if page.document is None:
        del reply["document"]
    cut = Partial("nodes", len(page.inspection.operations)) if page.inspection.cut else None
    return reply | {
        "operations": [operation_reply(operation) for operation in page.inspection.operations],
        "edges": [{"from": a, "to": b} for a, b in page.inspection.edges],
        "columns": [_step_reply(step) for step in page.columns],
        "partial": to_json(lack or cut),
    }


def _step_reply(step: ColumnStep) -> dict[str, Any]:
    return {
        "from": to_json(step.source),
        "to": to_json(step.target),
        "kind": step.kind,
        "how": step.how,
        "expression": step.expression,
        "origin": step.origin,
        "masking": step.masking,
    }
