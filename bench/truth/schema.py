"""Tables as plain values: their types, their rows, the leaves that can be changed, their SQL."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Path = tuple[str, ...]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Struct:
    fields: Mapping[str, DataType]


@dataclass(frozen=True, slots=True)
class Array:
    element: DataType


DataType = str | Struct | Array
"""A simple type is its SQL name: int, bigint, double, decimal(12,2), string, date, boolean."""


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` hold structs as dicts, arrays as lists, dates as date, decimals as Decimal."""

    name: str
    columns: Mapping[str, DataType]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, order=True)
class Leaf:
    """The changed leaf: a column of a simple type, or such a field below it (through arrays)."""

    table: str
    column: str
    path: Path = ()

    @property
    def text(self) -> str:
        return ".".join((self.table, self.column, *self.path))


def leaves(table: Table) -> Iterator[tuple[Leaf, str]]:
    """Each leaf of a table with its simple type, in the order of the columns."""
    for column, data_type in table.columns.items():
        for path, simple in _paths(data_type):
            yield Leaf(table.name, column, path), simple


def _paths(data_type: DataType) -> Iterator[tuple[Path, str]]:
    if isinstance(data_type, Array):
        yield from _paths(data_type.element)
    elif isinstance(data_type, Struct):
        for name, inner in data_type.fields.items():
            for path, simple in _paths(inner):
                yield (name, *path), simple
    else:
        yield (), data_type


def values_at(value: Any, path: Path) -> Iterator[Any]:
    """The simple values at a path, through arrays: ``[{"a": 1}, {"a": 2}]``, ``(a,)`` => 1, 2."""
    if isinstance(value, list):
        for item in value:
            yield from values_at(item, path)
    elif isinstance(value, dict) and path:
        yield from values_at(value[path[0]], path[1:])
    else:
        yield value


def with_values(value: Any, path: Path, new: Iterator[Any]) -> Any:
    """The same value with the next of ``new`` at each place that ``values_at`` visits."""
    if isinstance(value, list):
        return [with_values(item, path, new) for item in value]
    if isinstance(value, dict) and path:
        return {
            name: with_values(inner, path[1:], new) if name == path[0] else inner
            for name, inner in value.items()
        }
    return next(new)


def select(table: Table) -> str:
    """A query that gives the table's rows: ``SELECT CAST(a AS int) AS a FROM VALUES (1) …``."""
    names = ", ".join(f"`{name}`" for name in table.columns)
    casts = ", ".join(
        f"CAST(`{name}` AS {sql_type(data_type)}) AS `{name}`"
        for name, data_type in table.columns.items()
    )
    rows = ", ".join(
        "(" + ", ".join(literal(row[name]) for name in table.columns) + ")" for row in table.rows
    )
    return f"SELECT {casts} FROM VALUES {rows} AS v({names})"


def sql_type(data_type: DataType) -> str:
    if isinstance(data_type, Array):
        return f"array<{sql_type(data_type.element)}>"
    if isinstance(data_type, Struct):
        inner = ", ".join(f"{name}: {sql_type(t)}" for name, t in data_type.fields.items())
        return f"struct<{inner}>"
    return data_type


def literal(value: Any) -> str:
    """A value as Spark SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return "array(" + ", ".join(literal(item) for item in value) + ")"
    if isinstance(value, dict):
        inner = ", ".join(f"'{name}', {literal(item)}" for name, item in value.items())
        return f"named_struct({inner})"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}D"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
