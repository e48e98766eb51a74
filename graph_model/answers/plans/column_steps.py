"""A plan's own column edges, and expressions that stand for what its client does not say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graph_model import labels, naming
from graph_model.answers.nodes import dataset_row
from graph_model.answers.sources import Sources
from graph_model.facts import (
    Edge,
)
from graph_model.lineage import (
    HUB_LIMIT,
)
from graph_model.store import (
    Direction,
)
from graph_model.told_plans import ToldPlan

#: The origin of what a plan's own document says.
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
    """The plan's own column edges; influences once a column, onto the whole target.

    ``columns`` of the target are looked at as well: events may name some that no schema has.
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
    ends = {v.id: _column_end(v.id, dict(v.properties)) for v in sources.graph.vertices(ids)}
    whole = ColumnEnd("", dataset_row(sources, target).uri if target else "", "*")
    steps = [_step(edge, ends[edge.out_id], ends[edge.in_id]) for edge in edges]
    steps += [_step(edge, ends[edge.out_id], whole) for edge in influences.edges]
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


def step_expressions(told: ToldPlan, steps: Iterable[ColumnStep]) -> dict[str, str]:
    """Per written column's name how it comes about; a column that is passed on is left out."""
    by_path: dict[str, list[ColumnStep]] = {}
    for step in steps:
        if step.kind == labels.DIRECT:
            by_path.setdefault(step.target.name, []).append(step)
    texts = {path: _expression(path, found) for path, found in by_path.items()}
    return {
        column.name: texts[path]
        for dataset in told.datasets
        if dataset.role == "output"
        for column in dataset.columns or ()
        if texts.get(path := naming.column_path((naming.fold(column.name),)))
    }


def _expression(path: str, steps: Sequence[ColumnStep]) -> str:
    """``AGGREGATION(amount)`` where the client does not say more."""
    if [(step.how, step.source.name) for step in steps] == [(labels.IDENTITY, path)]:
        return ""
    if told := sorted({step.expression for step in steps if step.expression}):
        return " | ".join(told)
    sources: dict[str, list[str]] = {}
    for step in steps:
        sources.setdefault(step.how, []).append(step.source.name)
    return ", ".join(f"{how}({', '.join(names)})" for how, names in sorted(sources.items()))
