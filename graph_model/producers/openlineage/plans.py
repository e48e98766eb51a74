"""The structural facts of a RunLogic: the part that all runs of the same logic share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache, cached

from graph_model import identity, labels
from graph_model.facts import (
    Edge,
    FactCollector,
    Facts,
    LogicalPlanRow,
    Properties,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
    Vertex,
    edge,
    properties,
    with_key,
)
from graph_model.naming import JobName, Rules
from graph_model.producers.elements.datasets import add_column, add_dataset, add_schema
from graph_model.producers.elements.executions import add_job
from graph_model.producers.openlineage.columns import ReportedFlow
from graph_model.producers.openlineage.datasets import Column, DatasetUse
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.logic import RunLogic, read_logics, statement_digest
from graph_model.producers.size_bounds import Weight, weigh
from graph_model.producers.spelling import spell

_MOST_WEIGHT: Final = 100_000  # edges
_LEAST_WEIGHT: Final = 100  # a thousand statements are kept at most


@dataclass(frozen=True, slots=True)
class LogicalPlan:
    """A logical plan with its facts; equal logics have equal facts."""

    id: str
    job_id: str
    logic: RunLogic
    facts: Facts
    weight: Weight


def _weight(plans: tuple[LogicalPlan, ...]) -> int:
    return _LEAST_WEIGHT + sum(len(plan.facts.edges) for plan in plans)


@cached(LRUCache(_MOST_WEIGHT, _weight), key=statement_digest, lock=Lock(), info=True)
def plans_of(
    statement: JobStatement, job: JobName, command: str, scope: str, rules: Rules, *, declared: bool
) -> tuple[LogicalPlan, ...]:
    """Cached by the statement's digest: a repeated statement costs only its digest."""
    logics = read_logics(statement, job, command, scope, rules, declared=declared)
    return tuple(translate_logic(logic) for logic in logics)


def translate_logic(logic: RunLogic) -> LogicalPlan:
    """The vertices, edges and rows of a logic."""
    job_id = identity.job_id(logic.job.namespace, logic.job.name)
    fingerprint = logic.fingerprint()
    logical_plan = identity.logical_plan_id(job_id, logic.job.name, fingerprint)
    collector = FactCollector()
    add_job(collector, job_id, logic.job)
    _add_logical_plan(collector, logic, job_id, logical_plan, fingerprint)
    ids: dict[Column, str] = {}
    for use, origin in logic.reads:
        ids.update(_add_use(collector, use, logical_plan, labels.READS, "read"))
        collector.add(edge(labels.FEEDS, use.id, logical_plan, {"origin": origin}))
    if logic.write is not None:
        ids.update(_add_use(collector, logic.write, logical_plan, labels.WRITES, "write"))
    _add_columns(collector, logic, logical_plan, ids)
    _add_links(collector, logic, job_id, logical_plan)
    facts = with_key(collector.facts())
    return LogicalPlan(logical_plan, job_id, logic, facts, weigh(facts))


def _add_logical_plan(
    collector: FactCollector, logic: RunLogic, job_id: str, logical_plan: str, fingerprint: str
) -> None:
    keys = spell(list(logic.partition_keys))
    gaps = spell([{"code": code, "detail": detail} for code, detail in logic.gaps])
    values = {
        "name": identity.plan_name(logic.job.name, fingerprint), "fingerprint": fingerprint,
        "mode": logic.mode, "partition_keys": keys, "gaps": gaps,
    }  # fmt: skip
    collector.add(
        Vertex(logical_plan, labels.LOGICAL_PLAN, properties(values)),
        edge(labels.HAS, job_id, logical_plan),
        LogicalPlanRow(logical_plan, job_id, fingerprint, logic.target, logic.mode, keys, gaps),
    )
    if logic.write is not None:
        written = {"mode": logic.mode, "partition_keys": keys, "origin": logic.origin}
        collector.add(edge(labels.FEEDS, logical_plan, logic.target, written))


def _add_use(
    collector: FactCollector, use: DatasetUse, logical_plan: str, label: str, role: str
) -> Mapping[Column, str]:
    """Adds one input or output; returns the ids of the columns in its schema."""
    dataset_id = add_dataset(collector, use.dataset)
    known = use.schema.columns is not None
    collector.add(SchemaUseRow(logical_plan, dataset_id, use.schema_id if known else "", role))
    if not known:
        return {}
    collector.add(edge(label, logical_plan, use.schema_id))
    return add_schema_of(collector, use)


def add_schema_of(collector: FactCollector, use: DatasetUse) -> Mapping[Column, str]:
    """Adds a schema with its columns; nested fields are columns of the dataset, not of the schema.

    Returns the ids of all of them.
    """
    row = SchemaRow(use.schema_id, use.id, use.schema.content)
    paths = [column.path for column in use.schema.columns or ()]
    ids = add_schema(collector, row, use.dataset.uri, paths)
    nested: dict[Column, str] = {}
    for path in use.schema.nested:
        nested[use.id, path] = column_id = add_column(collector, use.id, use.dataset.uri, path)
        collector.add(SupportRow(use.schema_id, column_id))
    return {**ids, **nested} if nested else ids


def _add_columns(
    collector: FactCollector, logic: RunLogic, logical_plan: str, ids: dict[Column, str]
) -> None:
    """``ids``: those of the columns that a schema has."""
    _add_ends(collector, logic, ids)
    shared: dict[tuple[Any, ...], Properties] = {}  # few texts, many edges
    for flow in logic.flows:
        key = (flow.kind, flow.how, flow.expression, flow.origin, flow.masking)
        values = shared.get(key)
        if values is None:
            values = shared[key] = _flow_properties(flow, logical_plan)
        source, target = ids[flow.source], ids[flow.target]
        edge_id = identity.edge_id(
            labels.DERIVES, source, target, logical_plan, flow.kind, flow.how
        )
        collector.add(Edge(edge_id, labels.DERIVES, source, target, values))
    for one in logic.influences:
        decides = {"how": one.how, "expression": one.expression, "origin": one.origin}
        source = ids[one.source]
        collector.add(
            edge(labels.INFLUENCES, source, logical_plan, decides, discriminator=(one.how,))
        )


def _flow_properties(flow: ReportedFlow, logical_plan: str) -> Properties:
    return properties(
        {
            "kind": flow.kind, "how": flow.how, "expression": flow.expression,
            "logical_plan": logical_plan, "origin": flow.origin, "masking": flow.masking or None,
        }
    )  # fmt: skip


def _add_ends(collector: FactCollector, logic: RunLogic, ids: dict[Column, str]) -> None:
    """The ends of column edges that no schema has."""
    uses = [use for use, _ in logic.reads] + ([logic.write] if logic.write else [])
    uris = {use.id: use.dataset.uri for use in uses}
    ends: set[Column] = {end for flow in logic.flows for end in (flow.source, flow.target)}
    ends.update(influence.source for influence in logic.influences)
    for dataset_id, path in sorted(ends.difference(ids)):
        ids[dataset_id, path] = add_column(collector, dataset_id, uris[dataset_id], path)


def _add_links(collector: FactCollector, logic: RunLogic, job_id: str, logical_plan: str) -> None:
    """Edges job -feeds-> job and job -feeds-> column, from a lineage facet."""
    values = {"origin": labels.EXPLICIT, "logical_plan": logical_plan}
    for job, link in logic.links:
        add_job(collector, link.source, job)
        fed = job_id
        if link.column and logic.write is not None:
            write = logic.write
            fed = add_column(collector, write.id, write.dataset.uri, link.column)
        collector.add(edge(labels.FEEDS, link.source, fed, values, discriminator=(logical_plan,)))
