"""A plan's own column edges, with expressions where its client sends none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graph_model import labels, naming
from graph_model.answers.nodes import dataset_row
from graph_model.answers.openlineage.reported_plans import EventPlan
from graph_model.answers.sources import Sources
from graph_model.facts import Edge
from graph_model.lineage import HUB_LIMIT
from graph_model.stores.graph import Direction

#: The origin of an edge that the plan's own document reports.
PLAN = "plan"


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
        str(edge.value("kind") or labels.INDIRECT),
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
    texts = {path: _expression(path, found) for path, found in by_path.items()}
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
