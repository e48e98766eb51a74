"""A plan as Spline's own form has it, from its document or from OpenLineage's events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from graph_model import identity, labels, naming
from graph_model.answers.consumer.event_plans import event_execution_plan
from graph_model.answers.consumer.identifiers import is_event_plan, read_plan_id
from graph_model.answers.nodes import dataset_references
from graph_model.answers.openlineage.reported_plans import EventPlans, Use, without_facets
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import open_plan
from graph_model.errors import NotFound
from graph_model.lineage import HUB_LIMIT
from graph_model.producers.spline.documents import ExecutionPlan
from graph_model.producers.spline.gathering import read_plan_document
from graph_model.producers.spline.plan_logic import with_patterns
from graph_model.stores.graph import Direction

_PLAN: Final = "execution plan"


def find_plan(sources: Sources, plan_id: str) -> ExecutionPlan:
    """The plan with this id. Raises NotFound."""
    return scoped_plan(sources, plan_id)[0]


def scoped_plan(sources: Sources, plan_id: str) -> tuple[ExecutionPlan, str]:
    """The plan with this id, and the scope of its URIs. Raises NotFound."""
    if is_event_plan(plan_id):
        return _event_plan(sources, plan_id), ""
    return reported_plan(sources, read_plan_id(plan_id))


def reported_plan(sources: Sources, plan_id: str) -> tuple[ExecutionPlan, str]:
    """The plan of a Spline document, and its scope."""
    rows = sources.catalogue.execution_plans(plan_id=plan_id, limit=1)
    stored = sources.journal.document_of(plan_id, rows[0].content_hash) if rows else None
    if stored is None:
        raise NotFound(_PLAN, plan_id)
    logical = sources.catalogue.logical_plans((rows[0].logical_plan,))
    ends = {rows[0].job, *(row.target for row in logical)}
    sources = open_plan(sources, ends, plan_id, _PLAN)
    document = read_plan_document(stored)
    plan = with_patterns(document.plan, sources.rules)
    return _without_hidden(sources, plan, document.scope), document.scope


def _event_plan(sources: Sources, plan_id: str) -> ExecutionPlan:
    """A plan made from OpenLineage events; NotFound for one that writes nothing."""
    event_plans = EventPlans(
        sources.catalogue, sources.journal, sources.rules, sources.producers.event
    )
    found = event_plans.find(plan_id, None)
    plan, execution = found.logical_plan, found.execution
    sources = open_plan(sources, {execution.job, execution.target}, plan_id, _PLAN)
    page = sources.graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    read = {edge.out_id for edge in page.edges}
    named = dataset_references(sources, {execution.target, *read})
    uses = [Use(key, named[key], "") for key in sorted(named)]
    written = next((use for use in uses if use.id == execution.target), None)
    events = event_plans.events(execution)
    reads = [use for use in uses if use.id in read]
    event_plan = event_plans.read(execution, events, reads, written)
    if not sources.hidden.isdisjoint(read):
        event_plan = without_facets(event_plan)
    shown = event_execution_plan(plan, event_plan, append=execution.mode in labels.KEEPING_MODES)
    if shown is None:
        raise NotFound(_PLAN, plan_id)
    return shown


def _without_hidden(sources: Sources, plan: ExecutionPlan, scope: str) -> ExecutionPlan:
    """An operation that reads something hidden loses its sources and parameters."""
    if not sources.hidden:
        return plan
    operations = tuple(
        replace(one, sources=(), params={}, extra={})
        if _reads_hidden(sources, one.sources, scope)
        else one
        for one in plan.operations
    )
    return replace(plan, operations=operations)


def _reads_hidden(sources: Sources, uris: Iterable[str], scope: str) -> bool:
    names = (name for uri in uris for name in naming.normalise(uri, scope, sources.rules))
    return any(identity.dataset_id(one.scope, one.uri) in sources.hidden for one in names)
