"""The structural facts of a RunLogic: the part that all runs of the same logic share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Any, Final, NamedTuple

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
    SharedFacts,
    SupportRow,
    Vertex,
    edge,
    key_of,
    properties,
    whole,
)
from graph_model.naming import JobName, Rules
from graph_model.producers.canonical_json import spell
from graph_model.producers.elements.datasets import add_column, add_dataset, add_schema
from graph_model.producers.elements.executions import add_job
from graph_model.producers.openlineage.columns import ReportedFlow
from graph_model.producers.openlineage.datasets import Column, DatasetUse
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.job_logic import RunLogic, read_logics, statement_digest
from graph_model.producers.size_bounds import Weight, weigh

_MOST_BYTES: Final = 64_000_000
_HEAD_BYTES: Final = 1_000
_READ_BYTES: Final = 100


@dataclass(frozen=True, slots=True)
class LogicalPlanHead:
    """All that a run needs of its logical plan beside the plan's facts.

    ``reads`` are the ids of the datasets read, sorted; ``target`` is the id and ``uri`` the URI of
    the one written, "" for none; ``key`` and ``weight`` are those of the facts.
    """

    id: str
    job: JobName
    job_id: str
    reads: tuple[str, ...]
    target: str
    uri: str
    mode: str
    key: str
    weight: Weight

    @property
    def reads_text(self) -> str:
        """The same text as that of a Spline plan with these reads, so that both can be compared."""
        return identity.set_text(self.reads)


class LogicalPlan(NamedTuple):
    """A logical plan with its facts; equal logics have equal facts."""

    head: LogicalPlanHead
    facts: SharedFacts


_HeadAndFacts = tuple[LogicalPlanHead, Facts]


def plans_of(
    statement: JobStatement, job: JobName, command: str, scope: str, rules: Rules, *, declared: bool
) -> tuple[LogicalPlan, ...]:
    """The plans of a statement. A statement that was translated before costs only its digest: the
    heads of its plans are kept, and their facts are made when a caller asks for them.
    """

    @cache
    def read() -> tuple[_HeadAndFacts, ...]:
        logics = read_logics(statement, job, command, scope, rules, declared=declared)
        return tuple(map(translate_logic, logics))

    digest = statement_digest(statement, job, command, scope, rules, declared=declared)
    heads = heads_of(digest, read)
    return tuple(_plan(one, partial(_facts_at, read, at)) for at, one in enumerate(heads))


def plans_from(logics: Iterable[RunLogic]) -> tuple[LogicalPlan, ...]:
    """The plans of logics that the caller has read."""
    return tuple(_plan(head, partial(whole, facts)) for head, facts in map(translate_logic, logics))


def _plan(head: LogicalPlanHead, make: Callable[[], Facts]) -> LogicalPlan:
    return LogicalPlan(head, SharedFacts(head.key, head.weight.elements, make))


def _facts_at(read: Callable[[], Sequence[_HeadAndFacts]], place: int) -> Facts:
    _, facts = read()[place]
    return facts


def _weigh(heads: Sequence[LogicalPlanHead]) -> int:
    """Approximate bytes."""
    return sum(_HEAD_BYTES + _READ_BYTES * len(one.reads) for one in heads)


@cached(LRUCache(_MOST_BYTES, _weigh), key=lambda digest, _: digest, lock=Lock(), info=True)
def heads_of(
    digest: str,  # noqa: ARG001 - the key
    read: Callable[[], Sequence[_HeadAndFacts]],
) -> tuple[LogicalPlanHead, ...]:
    """The heads of a statement's plans, cached by the statement's digest."""
    return tuple(head for head, _ in read())


def translate_logic(logic: RunLogic) -> _HeadAndFacts:
    """The vertices, edges and rows of a logic, and their head."""
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
    facts = collector.facts()
    head = LogicalPlanHead(
        logical_plan,
        logic.job,
        job_id,
        tuple(use.id for use, _ in logic.reads),
        logic.target,
        logic.write.dataset.uri if logic.write else "",
        logic.mode,
        key_of(facts),
        weigh(facts),
    )
    return head, facts


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
