"""The lineage and the impact of one execution's output."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import identity, labels
from graph_model.answers.consumer.forward import Forward
from graph_model.answers.consumer.identifiers import read_event_id
from graph_model.answers.consumer.overview import (
    Overview,
    PlanNode,
    SourceNode,
    downstream_levels,
    plan_edges,
    plan_node,
    together,
    upstream_levels,
)
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import open_plan
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.lineage import HUB_LIMIT, Answer, Partial, PlanUse, Question
from graph_model.stores.graph import Direction

NODE_LIMIT: Final = 2_000


@dataclass(frozen=True, slots=True)
class _Walk:
    """The uses that a walk from an execution found, its levels, and the bound that cut it."""

    uses: Sequence[PlanUse]
    levels: int
    partial: Partial | None


def lineage_overview(sources: Sources, event_id: str, depth: int) -> Overview:
    """The sources of an execution's output: the content of each source just before it."""
    sources, execution = _find_execution(sources, event_id)
    start = _start(sources, execution)
    lineage = sources.lineage
    answers: list[Answer] = []
    for source in start.sources if depth > 1 and execution.at > 0 else ():
        question = Question(
            source, Direction.UPSTREAM, depth - 1, execution.at - 1, limit=NODE_LIMIT
        )
        answers.append(lineage.ask(question))
    uses = together(use for answer in answers for use in answer.plans)
    levels = 1 + upstream_levels(start.sources, uses, sources.hidden)
    cut = next((answer.partial for answer in answers if answer.partial is not None), None)
    return _overview(sources, execution, start, _Walk(uses, levels, cut), depth)


def impact_overview(sources: Sources, event_id: str, depth: int) -> Overview:
    """The uses of an execution's output, until the next overwrite replaced it.

    A failed run wrote nothing that others read, and a failed overwrite replaced nothing.
    """
    sources, execution = _find_execution(sources, event_id)
    start = _start(sources, execution)
    (target,) = start.targets
    uses: tuple[PlanUse, ...] = ()
    forward = Forward(sources.graph, sources.catalogue, sources.expired, NODE_LIMIT)
    has_written = execution.state == labels.COMPLETED and execution.kind == labels.WRITE_KIND
    if depth > 1 and has_written:
        uses = forward.uses(execution, target, depth - 1)
    levels = 1 + downstream_levels(target, uses, sources.hidden)
    cut = Partial(forward.cut, NODE_LIMIT) if forward.cut else None
    return _overview(sources, execution, start, _Walk(together(uses), levels, cut), depth)


def _find_execution(sources: Sources, event_id: str) -> tuple[Sources, ExecutionRow]:
    """The sources for a question about this execution, and its row. Raises NotFound."""
    asked = read_event_id(event_id)
    rows = sources.catalogue.events.executions_at({(asked.plan_id, asked.at)})
    chosen = [row for row in rows if asked.execution in (None, row.id)]
    if not chosen:
        raise NotFound("event", event_id)
    ends = {chosen[0].job, chosen[0].target}
    return open_plan(sources, ends, event_id, "event"), chosen[0]


def _start(sources: Sources, execution: ExecutionRow) -> PlanUse:
    """The execution's own plan, with catalog names replaced by the locations they stood for."""
    plan = execution.logical_plan
    page = sources.graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    read = {e.out_id for e in page.edges if identity.kind_of(e.out_id) == labels.DATASET}
    moments = [(dataset, execution.at) for dataset in (*read, execution.target)]
    places = sources.catalogue.locations_of(moments)
    origins = {places.get((dataset, execution.at), dataset) for dataset in read}
    target = places.get((execution.target, execution.at), execution.target)
    return PlanUse(plan, execution.job, execution.mode, tuple(sorted(origins)), (target,))


def _overview(
    sources: Sources,
    execution: ExecutionRow,
    start: PlanUse,
    walk: _Walk,
    depth: int,
) -> Overview:
    (target,) = start.targets
    shown = (start, *(use for use in walk.uses if use.logical_plan != start.logical_plan))
    again = [use for use in walk.uses if use.logical_plan == start.logical_plan]
    shown = (_together_with(start, again), *shown[1:]) if depth > 0 else ()
    shown = tuple(_visible_uses(sources, shown))
    plans = _plan_nodes(sources, execution, {use.logical_plan for use in shown})
    edges = plan_edges(shown, {key: node.id for key, node in plans.items()})
    datasets = {target} | {d for use in shown for d in (*use.sources, *use.targets)}
    rows = sources.catalogue.datasets(datasets - sources.hidden)
    return Overview(
        timestamp=execution.at,
        application_id=execution.application_id,
        target=target,
        sources=tuple(
            SourceNode(row.id, row.uri)
            for row in sorted(rows, key=lambda row: (row.id != target, row.uri, row.id))
        ),
        plans=tuple({node.id: node for node in plans.values()}.values()),
        edges=tuple(edges),
        depth_requested=depth,
        depth_computed=walk.levels if depth > 0 else -1,
        partial=walk.partial,
    )


def _visible_uses(sources: Sources, uses: Iterable[PlanUse]) -> Iterator[PlanUse]:
    """Without hidden jobs, and without the hidden datasets of other jobs."""
    hidden = sources.hidden
    for use in uses:
        if use.job not in hidden:
            yield use._replace(
                sources=tuple(one for one in use.sources if one not in hidden),
                targets=tuple(one for one in use.targets if one not in hidden),
            )


def _plan_nodes(
    sources: Sources, execution: ExecutionRow, plans: Collection[str]
) -> dict[str, PlanNode]:
    """Per logical plan the producer's plan that ran last; for the execution's own plan, its own."""
    newest = sources.catalogue.events.newest_of_plans(plans, None)
    if execution.logical_plan in plans:
        newest[execution.logical_plan] = execution
    rows = sources.catalogue.events.plans({row.execution_plan for row in newest.values()})
    documents = {row.id: row for row in rows}
    found = {
        plan: plan_node(documents[row.execution_plan])
        for plan, row in sorted(newest.items())
        if row.execution_plan in documents
    }
    return found | _unreported(sources, set(plans) - found.keys())


def _unreported(sources: Sources, plans: Collection[str]) -> dict[str, PlanNode]:
    """Plans without a Spline document: by their own ids, with the names of their jobs."""
    rows = sources.catalogue.logical_plans(plans)
    names = {row.id: row.name for row in sources.catalogue.jobs({row.job for row in rows})}
    return {row.id: PlanNode(row.id, names.get(row.job, ""), "", None) for row in rows}


def _together_with(start: PlanUse, again: Sequence[PlanUse]) -> PlanUse:
    """The execution's plan, with its uses further along a chain added."""
    sources = {*start.sources, *(source for use in again for source in use.sources)}
    targets = {*start.targets, *(target for use in again for target in use.targets)}
    return start._replace(sources=tuple(sorted(sources)), targets=tuple(sorted(targets)))
