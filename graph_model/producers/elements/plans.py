"""A logical plan as facts: its vertex, the datasets that it uses, the columns that it derives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, Protocol

from graph_model import identity, labels
from graph_model.facts import (
    Edge,
    FactCollector,
    LogicalPlanRow,
    Properties,
    SchemaUseRow,
    Vertex,
    edge,
    properties,
)
from graph_model.naming import DatasetName, JobName
from graph_model.producers.elements.datasets import Column, add_column, add_dataset
from graph_model.producers.elements.executions import add_job


class PlanInfluence(Protocol):
    """A column that influences the rows of a plan's target."""

    @property
    def source(self) -> Column: ...
    @property
    def how(self) -> str: ...
    @property
    def expression(self) -> str: ...


class PlanFlow(Protocol):
    """A column of a plan's target, and one that it derives from; ``fields`` are those of the target
    that the source flows into, as ``naming.columns`` spells them.
    """

    @property
    def source(self) -> Column: ...
    @property
    def target(self) -> Column: ...
    @property
    def how(self) -> str: ...
    @property
    def expression(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def fields(self) -> str: ...


def add_logical_plan(
    collector: FactCollector,
    job: JobName,
    fingerprint: str,
    *,
    target: str,
    mode: str,
    partition_keys: Iterable[str] = (),
    gaps: Iterable[tuple[str, str]] = (),
    origin: str | None = None,
) -> LogicalPlanRow:
    """Add a job and one of its logical plans, with the edge to the dataset that it writes.

    ``fingerprint`` covers all that the plan's facts say; ``target`` is that dataset's id, "" for
    none; ``gaps`` are (code, detail). Returns the plan's row.
    """
    job_id = identity.job_id(job.namespace, job.name)
    keys = identity.spelled(list(partition_keys))
    row = LogicalPlanRow(
        identity.logical_plan_id(job_id, job.name, fingerprint),
        job_id,
        fingerprint,
        target,
        mode,
        keys,
        identity.spelled([{"code": code, "detail": detail} for code, detail in gaps]),
    )
    values = {
        "name": identity.plan_name(job.name, fingerprint), "fingerprint": fingerprint,
        "mode": mode, "partition_keys": keys, "gaps": row.gaps,
    }  # fmt: skip
    add_job(collector, job_id, job)
    collector.add(
        Vertex(row.id, labels.LOGICAL_PLAN, properties(values)),
        edge(labels.HAS, job_id, row.id),
        row,
    )
    if target:
        written = {"mode": mode, "partition_keys": keys, "origin": origin}
        collector.add(edge(labels.FEEDS, row.id, target, written))
    return row


def add_use(
    collector: FactCollector,
    logical_plan: str,
    dataset: DatasetName,
    schema_id: str,
    role: Literal["read", "write"],
) -> None:
    """Add a dataset that a plan reads or writes; ``schema_id`` "": its schema there is unknown."""
    dataset_id = add_dataset(collector, dataset)
    collector.add(SchemaUseRow(logical_plan, dataset_id, schema_id, role))
    if schema_id:
        label = labels.READS if role == "read" else labels.WRITES
        collector.add(edge(label, logical_plan, schema_id))


def add_column_edges(
    collector: FactCollector,
    logical_plan: str,
    flows: Collection[tuple[PlanFlow, str | None, bool]],
    influences: Collection[tuple[PlanInfluence, str | None]],
    uris: Mapping[str, str],
    ids: dict[Column, str],
) -> None:
    """Add the column edges of a plan: flows, each with its origin and whether it masks the value,
    and influences with their origin; an origin None is not reported.

    ``ids`` are those of the columns that a schema has; it receives those of the other ends (fields,
    columns behind queries), which are added to their dataset. ``uris``: by dataset id.
    """
    ends = {end for flow, *_ in flows for end in (flow.source, flow.target)}
    ends.update(influence.source for influence, _ in influences)
    for dataset_id, path in sorted(ends.difference(ids)):
        ids[dataset_id, path] = add_column(collector, dataset_id, uris[dataset_id], path)
    shared: dict[tuple[Any, ...], Properties] = {}  # few texts, many edges
    for flow, origin, masking in flows:
        key = (flow.kind, flow.how, flow.expression, origin, masking, flow.fields)
        values = shared.get(key)
        if values is None:
            values = shared[key] = properties(
                {
                    "kind": flow.kind, "how": flow.how, "expression": flow.expression,
                    "logical_plan": logical_plan, "origin": origin, "masking": masking or None,
                    "fields": flow.fields or None,
                }
            )  # fmt: skip
        source, target = ids[flow.source], ids[flow.target]
        edge_id = identity.edge_id(
            labels.DERIVES, source, target, logical_plan, flow.kind, flow.how
        )
        collector.add(Edge(edge_id, labels.DERIVES, source, target, values))
    for influence, origin in influences:
        how, source = influence.how, ids[influence.source]
        reported = {"how": how, "expression": influence.expression, "origin": origin}
        collector.add(edge(labels.INFLUENCES, source, logical_plan, reported, discriminator=(how,)))
