"""Column lineage from the text in a job's ``sql`` facet, for outputs that have none of their own.

    sql: INSERT INTO totals SELECT day, sum(amount) FROM sales.orders GROUP BY day
    outputs: (redshift://cluster:5439, dev.public.totals), inputs: (…, dev.sales.orders)

A name in the text is the dataset of the event that ends in it; a name that fits none or several of
them is left out with its columns. Schemas are those of the event itself, so the columns of a run
depend on its own events alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from graph_model import naming
from graph_model.naming import Rules
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import (
    ColumnLineage,
    SourceField,
    SqlQuery,
    Transformation,
    value_of,
)
from graph_model.sql import DIALECTS, SqlStatement, split_name, translate

#: The gaps of a text: not all of it could be read (the detail has the codes).
SQL_GAPS: Final = "sql-gaps"
_MOST_QUERY: Final = 100_000  # characters of a text that is read while documents are projected

#: The dialect of a text whose facet does not say one, by the scheme of the job's datasets.
_BY_SCHEME: Final[Mapping[str, str]] = {
    "athena": "athena", "awsathena": "athena", "bigquery": "bigquery", "databricks": "databricks",
    "duckdb": "duckdb", "hive": "hive", "mssql": "tsql", "mysql": "mysql", "oracle": "oracle",
    "postgres": "postgres", "presto": "presto", "redshift": "redshift", "snowflake": "snowflake",
    "sqlserver": "tsql", "teradata": "teradata", "trino": "trino",
}  # fmt: skip

DatasetKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TextLineage:
    """The column lineage of outputs by their key, and the codes of gaps in the text."""

    by_output: Mapping[DatasetKey, ColumnLineage] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


def read_text(statement: JobStatement, rules: Rules) -> TextLineage:
    """What the job's text says about its outputs; nothing where it has none in a known dialect."""
    query = value_of(statement.job_facets, "sql", SqlQuery)
    if query is None or not query.text or len(query.text) > _MOST_QUERY:
        return TextLineage()
    datasets = (*statement.inputs, *statement.outputs)
    dialect = _dialect(query, datasets)
    if dialect is None:
        return TextLineage()
    statements = _translated(replace(query, dialect=dialect), tuple(_schemas(datasets)), rules)
    names = _DatasetNames(datasets)
    outputs = {one.key for one in statement.outputs}
    drafts: dict[DatasetKey, _Draft] = {}
    gaps: set[str] = set()
    for one in statements:
        written = {key for table in one.writes if (key := names.find(table)) in outputs and key}
        for key in written:
            drafts.setdefault(key, _Draft()).add(one, key, names)
        gaps.update(gap.code for gap in one.gaps if written)
    return TextLineage({key: draft.lineage() for key, draft in drafts.items()}, tuple(sorted(gaps)))


def _dialect(query: SqlQuery, datasets: Sequence[Dataset]) -> str | None:
    if query.dialect:
        return DIALECTS.get(query.dialect.lower())
    schemes = {dataset.namespace.partition(":")[0].lower() for dataset in datasets}
    known = {_BY_SCHEME[scheme] for scheme in schemes if scheme in _BY_SCHEME}
    return known.pop() if len(known) == 1 else None


def _schemas(datasets: Sequence[Dataset]) -> Iterator[tuple[str, tuple[str, ...]]]:
    seen: set[str] = set()
    for dataset in datasets:
        fields = value_of(dataset.facets, "schema", tuple) or ()
        if fields and dataset.name not in seen:
            seen.add(dataset.name)
            yield dataset.name, tuple(one.name for one in fields)


@lru_cache(maxsize=64)  # a job's text is that of its last run
def _translated(
    query: SqlQuery, schemas: tuple[tuple[str, tuple[str, ...]], ...], rules: Rules
) -> tuple[SqlStatement, ...]:
    def mask(literal: str) -> str:
        return str(naming.mask_literal(literal, None, rules))

    return translate(
        query.text,
        query.dialect,
        schemas=dict(schemas),
        database=query.database,
        schema=query.schema,
        mask=mask,
    )


class _DatasetNames:
    """The datasets of an event by the ends of their names."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self._by_end: dict[tuple[str, ...], set[DatasetKey]] = {}
        for dataset in datasets:
            place = f"{dataset.namespace.rstrip('/')}/{dataset.name.lstrip('/')}".lower()
            self._by_end.setdefault((place.rstrip("/"),), set()).add(dataset.key)
            parts = tuple(part.lower() for part in split_name(dataset.name))
            for start in range(len(parts)):
                self._by_end.setdefault(parts[start:], set()).add(dataset.key)

    def find(self, table: str) -> DatasetKey | None:
        """The only dataset of this name; None where none or several have it."""
        parts = tuple(part.lower().rstrip("/") for part in split_name(table))
        found = self._by_end.get(parts) or (self._by_end.get(parts[1:]) if len(parts) > 2 else None)
        return next(iter(found)) if found is not None and len(found) == 1 else None


@dataclass(slots=True)
class _Draft:
    """The lineage of one output, from all statements that write it."""

    fields: dict[str, dict[SourceField, None]] = field(default_factory=dict)
    deciding: dict[SourceField, None] = field(default_factory=dict)

    def add(self, statement: SqlStatement, output: DatasetKey, names: _DatasetNames) -> None:
        for column in statement.columns:
            step = Transformation(column.kind, column.how, column.expression, masking=False)
            sources = dict.fromkeys(_source_fields(column.sources, step, names))
            if column.to is None:
                self.deciding.update(sources)
                continue
            table, _, name = column.to.partition("#")
            if names.find(table) == output and name != "*" and sources:
                self.fields.setdefault(name, {}).update(sources)

    def lineage(self) -> ColumnLineage:
        fields = tuple((name, tuple(self.fields[name])) for name in sorted(self.fields))
        return ColumnLineage(fields, tuple(self.deciding))


def _source_fields(
    sources: Sequence[str], step: Transformation, names: _DatasetNames
) -> Iterator[SourceField]:
    for source in sources:
        table, _, name = source.partition("#")
        key = names.find(table)
        if key is not None and name != "*":
            yield SourceField(*key, name, (step,))
