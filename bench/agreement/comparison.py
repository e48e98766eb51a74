"""Two derivations side by side, per output column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.agreement.catalyst import Column
from graph_model import labels
from graph_model.producers.spline.columns.derivation import derive
from graph_model.producers.spline.documents import ExecutionPlan


@dataclass(frozen=True, slots=True)
class Difference:
    """``gaps`` are the codes that the plan's lineage reports: a difference with one is owned."""

    query: str
    column: str
    ours: frozenset[str]
    theirs: frozenset[str]
    gaps: tuple[str, ...]

    def __str__(self) -> str:
        sides = f"ours {sorted(self.ours)}, Catalyst's {sorted(self.theirs)}"
        return f"{self.query}.{self.column}: {sides}, gaps {list(self.gaps)}"


@dataclass(frozen=True, slots=True)
class Compared:
    query: str
    columns: int
    gaps: tuple[str, ...]
    differences: tuple[Difference, ...]


def compare(
    query: str, plan: ExecutionPlan, theirs: Sequence[Column], tables: Mapping[str, str]
) -> Compared:
    """Columns by place. ``tables`` gives the table of each column that can be read.

    Raises ValueError when the two do not even have the same columns.
    """
    found = derive(plan)
    names = [plan.attributes[output].name for output in found.outputs]
    if names != [column.name for column in theirs]:
        raise ValueError(f"{query} has other columns: {names}")
    gaps = tuple(sorted({gap.code for gap in found.gaps}))
    differences = tuple(
        Difference(query, name, ours, column.sources, gaps)
        for name, ours, column in zip(names, direct(plan, tables), theirs, strict=True)
        if ours != column.sources
    )
    return Compared(query, len(names), gaps, differences)


def direct(plan: ExecutionPlan, tables: Mapping[str, str]) -> list[frozenset[str]]:
    """Per written column the read ones whose values it has; one that is said to be of another
    table than it is keeps that table's name, ``store#i_item_sk``."""
    read = {output: item.sources[0] for item in plan.reads for output in item.output or ()}
    found = derive(plan)
    columns: list[set[str]] = [set() for _ in found.outputs]
    for item in found.derivations:
        if item.kind == labels.DIRECT:
            name = plan.attributes[item.source].name
            table = read[item.source].rstrip("/").rsplit("/", 1)[-1]
            right = table.rsplit(".", 1)[-1] == tables[name]
            columns[item.output].add(name if right else f"{table}#{name}")
    return [frozenset(sources) for sources in columns]
