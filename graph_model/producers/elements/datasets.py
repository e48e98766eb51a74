"""A dataset as facts: its vertex and row, its schemas and columns, its versions and renames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, NamedTuple, TypeGuard

from cachetools import LRUCache, cached

from graph_model import identity, labels, naming
from graph_model.facts import (
    NO_NUMBER,
    ColumnRow,
    DatasetRow,
    Edge,
    FactCollector,
    NameRow,
    PatternRow,
    RenameRow,
    Row,
    SchemaRow,
    SupportRow,
    Version,
    Vertex,
    edge,
    properties,
)
from graph_model.naming import DatasetName, Rules
from graph_model.naming.containment import Location, folders_above

_MOST_SCHEMA_BYTES: Final = 24_000_000
"""For some thousands of tables; beyond, the least recently used are made anew."""
_ELEMENT_BYTES: Final = 300

Column = tuple[str, str]
"""A dataset's id, and the path of a column in it."""


def add_dataset(collector: FactCollector, dataset: DatasetName) -> str:
    """Add the vertex and the row of a dataset, and return its id."""
    dataset_id = _id_of(dataset)
    values = {
        "uri": dataset.uri, "scope": dataset.scope, "name": dataset.name, "kind": dataset.kind,
    }  # fmt: skip
    collector.add(
        Vertex(dataset_id, labels.DATASET, properties(values)),
        DatasetRow(dataset_id, dataset.uri, dataset.scope, dataset.name, dataset.kind),
    )
    if dataset.kind == "pattern":
        for folder in folders_above(Location(dataset.uri, is_pattern=True))[:1]:
            collector.add(PatternRow(dataset_id, identity.dataset_id(dataset.scope, folder)))
    return dataset_id


def hostless_names(
    datasets: Iterable[DatasetName], scope: str, rules: Rules
) -> tuple[tuple[str, str], ...]:
    """(name, dataset), two ids, for the datasets that a client of this scope may name without their
    servers.
    """
    pairs = ((naming.without_hosts(dataset, scope, rules), dataset) for dataset in datasets)
    return tuple(
        sorted(
            {
                (identity.dataset_id(name.scope, name.uri), _id_of(dataset))
                for name, dataset in pairs
                if name is not None
            }
        )
    )


def _id_of(dataset: DatasetName) -> str:
    return identity.dataset_id(dataset.scope, dataset.uri)


@dataclass(frozen=True, slots=True)
class _SchemaFacts:
    """``ids`` are those of the columns."""

    elements: tuple[Vertex | Edge | Row, ...]
    ids: Mapping[Column, str]
    weight: int


def add_schema(
    collector: FactCollector, row: SchemaRow, uri: str, paths: Sequence[str]
) -> Mapping[Column, str]:
    """Add a schema with its columns; returns their ids."""
    known = _schema_facts(row, uri, paths)
    collector.add(*known.elements)
    return known.ids


@cached(
    LRUCache(_MOST_SCHEMA_BYTES, lambda kept: kept.weight),
    key=lambda row, *_: row.id,
    lock=Lock(),
)
def _schema_facts(row: SchemaRow, uri: str, paths: Sequence[str]) -> _SchemaFacts:
    """Every plan that reads or writes the dataset with this schema has the same facts: they are
    cached by the schema's id, which covers the dataset and the columns.
    """
    values = {"columns": row.columns, "dataset": uri}
    elements: list[Vertex | Edge | Row] = [
        Vertex(row.id, labels.SCHEMA, properties(values)),
        row,
    ]
    ids: dict[Column, str] = {}
    for path in paths:
        column = _column_elements(row.dataset, uri, path)
        elements += (*column, edge(labels.HAS, row.id, column[0].id))
        ids[row.dataset, path] = column[0].id
    weight = len(row.columns) + len(elements) * (_ELEMENT_BYTES + len(uri))
    return _SchemaFacts(tuple(elements), ids, weight)


def _column_elements(dataset_id: str, uri: str, path: str) -> tuple[Vertex, Edge, ColumnRow]:
    column_id = identity.column_id(dataset_id, path)
    values = {"path": path, "dataset": uri, "dataset_id": dataset_id}
    return (
        Vertex(column_id, labels.COLUMN, properties(values)),
        edge(labels.HAS, dataset_id, column_id),
        ColumnRow(column_id, dataset_id, path),
    )


def add_column(collector: FactCollector, dataset_id: str, uri: str, path: str) -> str:
    """Add a column's vertex, row and the edge from its dataset; its id."""
    elements = _column_elements(dataset_id, uri, path)
    collector.add(*elements)
    return elements[0].id


class Rename(NamedTuple):
    """``in_place``: the data stayed in its location, and these are catalog names."""

    former: DatasetName
    current: DatasetName
    in_place: bool


def add_rename(
    collector: FactCollector, rename: Rename, subject: str, execution: str, at: int
) -> None:
    """Add the facts of a rename by a completed execution."""
    former, current = (add_dataset(collector, end) for end in (rename.former, rename.current))
    collector.add(SupportRow(subject, former), SupportRow(subject, current))
    collector.add(RenameRow(former, current, execution, at))
    if rename.in_place:
        collector.add(NameRow(former, former, execution, at))


_MAX_CHARACTERS: Final = 200
_MAX_DIGITS: Final = 9
"""Versions that count from zero are short; Iceberg's snapshot ids, which have no order, have 19
digits."""


def version_of_text(text: Any) -> Version | None:
    """A short number orders versions, another text only
    identifies one.
    """
    if not is_version_text(text):
        return None
    counts = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return Version(text, int(text) if counts else NO_NUMBER)


def is_version_text(value: Any) -> TypeGuard[str]:
    """Whether a value can be a version: a text that is neither empty nor too long."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_CHARACTERS
