"""Two derivations side by side, per output column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.agreement.catalyst import Column
from graph_model import labels
from graph_model.producers.spline.column_derivation import PlanColumns, derive
from graph_model.producers.spline.documents import ExecutionPlan
from graph_model.sql import SqlStatement, translate


@dataclass(frozen=True, slots=True)
class Difference:
    """``gaps`` are the codes that the plan's lineage reports: a difference with one is owned."""

    query: str
    column: str
    ours: frozenset[str]
    theirs: frozenset[str]
    gaps: tuple[str, ...]

    def __str__(self) -> str:
        sides = f"ours {sorted(self.ours)}, Spark's {sorted(self.theirs)}"
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
    result = derive(plan)
    names = [plan.attributes[output].name for output in result.outputs]
    if names != [column.name for column in theirs]:
        raise ValueError(f"{query} has other columns: {names}")
    gaps = tuple(sorted({gap.code for gap in result.gaps}))
    differences = tuple(
        Difference(query, name, ours, column.sources, gaps)
        for name, ours, column in zip(names, direct(plan, tables), theirs, strict=True)
        if ours != column.sources
    )
    return Compared(query, len(names), gaps, differences)


def compare_text(query: str, text: str, plan: ExecutionPlan, tables: Mapping[str, str]) -> Compared:
    """What ``graph_model.sql`` finds in a query's text, against the plan that Spark made of it, by
    place: sources with how (``store#s_name IDENTITY``). ``tables`` has each table's columns as SQL.
    """
    result = derive(plan)
    names = [plan.attributes[output].name for output in result.outputs]
    statements = _translated(text, len(names), tables)
    gaps = tuple(sorted({gap.code for statement in statements for gap in statement.gaps}))
    sides = zip(names, _of_text(statements, len(names)), _of_plan(plan, result), strict=True)
    differences = tuple(
        Difference(query, name, frozenset(ours), frozenset(theirs), gaps)
        for name, ours, theirs in sides
        if ours != theirs
    )
    return Compared(query, len(names), gaps, differences)


def _translated(text: str, columns: int, tables: Mapping[str, str]) -> Sequence[SqlStatement]:
    """The text as the source of a table with the columns c0, c1, …"""
    listed = ", ".join(f"c{place}" for place in range(columns))
    schemas = {table: _COLUMN.findall(declared) for table, declared in tables.items()}
    return translate(f"INSERT INTO {_WRITTEN} ({listed}) {text}", "spark", schemas=schemas)


def _of_text(statements: Sequence[SqlStatement], columns: int) -> list[set[str]]:
    places = {f"{_WRITTEN}#c{place}": place for place in range(columns)}
    sources: list[set[str]] = [set() for _ in range(columns)]
    for statement in statements:
        for column in statement.columns:
            if column.to is not None and column.kind == labels.DIRECT:
                sources[places[column.to]] |= {f"{each} {column.how}" for each in column.sources}
    return sources


def _of_plan(plan: ExecutionPlan, found: PlanColumns) -> list[set[str]]:
    read = {output: item.sources[0] for item in plan.reads for output in item.output or ()}
    sources: list[set[str]] = [set() for _ in found.outputs]
    for item in found.derivations:
        if item.kind == labels.DIRECT:
            table = read[item.source].rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[-1]
            name = plan.attributes[item.source].name
            sources[item.output].add(f"{table}#{name} {item.how}")
    return sources


_WRITTEN: Final = "written"
_COLUMN: Final = re.compile(r"`(\w+)`")


def direct(plan: ExecutionPlan, tables: Mapping[str, str]) -> list[frozenset[str]]:
    """Per written column the read ones whose values it has; one that is said to be of another
    table than it is keeps that table's name, ``store#i_item_sk``."""
    read = {output: item.sources[0] for item in plan.reads for output in item.output or ()}
    result = derive(plan)
    columns: list[set[str]] = [set() for _ in result.outputs]
    for item in result.derivations:
        if item.kind == labels.DIRECT:
            name = plan.attributes[item.source].name
            table = read[item.source].rstrip("/").rsplit("/", 1)[-1]
            right = table.rsplit(".", 1)[-1] == tables[name]
            columns[item.output].add(name if right else f"{table}#{name}")
    return [frozenset(sources) for sources in columns]
