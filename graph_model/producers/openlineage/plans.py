"""The structural facts of a RunLogic: the part that all runs of the same logic share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Final, Literal, NamedTuple

from cachetools import LRUCache, cached

from graph_model import identity, labels
from graph_model.facts import (
    FactCollector,
    Facts,
    SchemaRow,
    SharedFacts,
    SupportRow,
    edge,
    key_of,
    whole,
)
from graph_model.naming import JobName
from graph_model.producers.bounds import Weight, weigh
from graph_model.producers.elements import (
    add_column,
    add_column_edges,
    add_job,
    add_logical_plan,
    add_open_flows,
    add_schema,
    add_use,
)
from graph_model.producers.openlineage.datasets import Column, DatasetUse
from graph_model.producers.openlineage.job_logic import RunLogic, StatedJob, read_logics

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


def plans_of(stated: StatedJob) -> tuple[LogicalPlan, ...]:
    """The plans of a statement. A statement that was translated before costs only its digest: the
    heads of its plans are kept, and their facts are made when a caller asks for them.
    """

    @cache
    def read() -> tuple[_HeadAndFacts, ...]:
        return tuple(map(translate_logic, read_logics(stated)))

    heads = heads_of(stated.digest(), read)
    return tuple(_plan(head, partial(_facts_at, read, at)) for at, head in enumerate(heads))


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
    return sum(_HEAD_BYTES + _READ_BYTES * len(head.reads) for head in heads)


@cached(LRUCache(_MOST_BYTES, _weigh), key=lambda digest, _: digest, lock=Lock(), info=True)
def heads_of(
    digest: str,  # noqa: ARG001 - the key
    read: Callable[[], Sequence[_HeadAndFacts]],
) -> tuple[LogicalPlanHead, ...]:
    """The heads of a statement's plans, cached by the statement's digest."""
    return tuple(head for head, _ in read())


def translate_logic(logic: RunLogic) -> _HeadAndFacts:
    """The vertices, edges and rows of a logic, and their head."""
    collector = FactCollector()
    row = add_logical_plan(
        collector,
        logic.job,
        logic.fingerprint(),
        target=logic.target,
        mode=logic.mode,
        partition_keys=logic.partition_keys,
        gaps=logic.gaps,
        origin=logic.origin,
    )
    _add_datasets(collector, logic, row.id)
    _add_links(collector, logic, row.job, row.id)
    facts = collector.facts()
    head = LogicalPlanHead(
        row.id,
        logic.job,
        row.job,
        tuple(use.id for use, _ in logic.reads),
        logic.target,
        logic.write.dataset.uri if logic.write else "",
        logic.mode,
        key_of(facts),
        weigh(facts),
    )
    return head, facts


def _add_datasets(collector: FactCollector, logic: RunLogic, logical_plan: str) -> None:
    """Add the datasets with their schemas, and the edges between their columns."""
    ids: dict[Column, str] = {}
    uris = {use.id: use.dataset.uri for use, _ in logic.reads}
    for use, origin in logic.reads:
        ids.update(_add_use(collector, use, logical_plan, "read"))
        collector.add(edge(labels.FEEDS, use.id, logical_plan, {"origin": origin}))
    if logic.write is not None:
        ids.update(_add_use(collector, logic.write, logical_plan, "write"))
        uris[logic.write.id] = logic.write.dataset.uri
    flows = [(flow, flow.origin, flow.masking) for flow in logic.flows]
    influences = [(influence, influence.origin) for influence in logic.influences]
    add_column_edges(collector, logical_plan, flows, influences, uris, ids)
    add_open_flows(collector, logical_plan, logic.opens)


def _add_use(
    collector: FactCollector, use: DatasetUse, logical_plan: str, role: Literal["read", "write"]
) -> Mapping[Column, str]:
    """Adds one input or output; returns the ids of the columns in its schema."""
    known = use.schema.columns is not None
    add_use(collector, logical_plan, use.dataset, use.schema_id if known else "", role)
    return add_schema_of(collector, use) if known else {}


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
