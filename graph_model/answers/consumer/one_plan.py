"""Questions about one plan: its operations, one of them, one attribute, its data sources."""

from __future__ import annotations

from graph_model import naming
from graph_model.answers.consumer.attributes import AttributeGraph, PlanAttributes
from graph_model.answers.consumer.identifiers import known_id, local_id, split_local_id
from graph_model.answers.consumer.plan_documents import find_plan, scoped_plan
from graph_model.answers.consumer.plans import (
    DetailedOperation,
    DetailedPlan,
    detailed_operation,
    detailed_plan,
)
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound


def plan(sources: Sources, plan_id: str) -> DetailedPlan:
    """A plan's operations."""
    return detailed_plan(find_plan(sources, plan_id))


def write_operation(sources: Sources, plan_id: str) -> str:
    """The id of the plan's write operation."""
    found = find_plan(sources, plan_id)
    return local_id(found.id, found.write.id)


def operation(sources: Sources, operation_id: str) -> DetailedOperation:
    """One operation with its schemas and expressions."""
    plan_id, local = split_local_id(operation_id, "operation")
    return detailed_operation(find_plan(sources, plan_id), local)


def attribute(sources: Sources, attribute_id: str) -> tuple[str, AttributeGraph, AttributeGraph]:
    """The plan's id, the lineage of a column, and its impact."""
    plan_id, sent = split_local_id(attribute_id, "attribute")
    attributes = PlanAttributes(find_plan(sources, plan_id))
    key = known_id(sent, attributes.emitted)
    if key is None:
        raise NotFound("attribute", attribute_id)
    return plan_id, attributes.lineage(key), attributes.impact(key)


def plan_sources(sources: Sources, plan_id: str, *, read: bool, write: bool) -> tuple[str, ...]:
    """The URIs of the data sources that a plan reads, writes, or both."""
    found, scope = scoped_plan(sources, plan_id)
    uris = [found.write.target] if write else []
    uris += [source for one in found.reads for source in one.sources] if read else []
    names = (name for uri in uris for name in naming.normalise(uri, scope, sources.rules))
    return tuple(dict.fromkeys(name.uri for name in names))
