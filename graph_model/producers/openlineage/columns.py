"""Column edges of one output, from a columnLineage facet or from an entry of a lineage facet.

Spark copies the influences on the whole output (``dataset``) into every field, unless told
otherwise: a FILTER, JOIN, GROUP_BY or SORT that all fields have is stored once, as an influence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from graph_model import labels, naming
from graph_model.naming import Rules
from graph_model.producers.elements import OpenFlow
from graph_model.producers.openlineage.datasets import Column
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import (
    ColumnLineage,
    SourceField,
    SqlQuery,
    Transformation,
    value_of,
)
from graph_model.sql import DIALECTS, SqlOpen, SqlStatement, split_name, translate

#: The most edges of one plan, and the most influences: more would not fit into the graph
#: (``translate.weight``).
MOST_FLOWS: Final = 100_000
_MAX_EXPRESSION_CHARACTERS: Final = 20_000
_LITERAL: Final = re.compile(
    r"'(?P<quoted>[^']{0,64})'"
    r"|(?P<bare>\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?\b)"
)
_INDIRECT: Final = (*labels.COLUMN_INDIRECT_HOWS, *labels.PLAN_INDIRECT_HOWS)


@dataclass(frozen=True, slots=True, order=True)
class ReportedFlow:
    """A column edge. ``masking``: every transformation that the client reports masks the value."""

    source: Column
    target: Column
    kind: str
    how: str
    expression: str
    masking: bool
    origin: str

    @property
    def fields(self) -> str:
        """A client names the columns of an output, not the fields that a source flows into."""
        return naming.WHOLE


@dataclass(frozen=True, slots=True, order=True)
class RunInfluence:
    source: Column
    how: str
    expression: str
    origin: str


@dataclass(slots=True)
class _Texts:
    """The texts of several transformations with one meaning."""

    descriptions: set[str] = field(default_factory=set)
    masking: bool = True

    def add(self, transformation: Transformation) -> None:
        if transformation.description:
            self.descriptions.add(stable_text(transformation.description))
        self.masking = self.masking and transformation.masking

    @property
    def expression(self) -> str:
        joined = labels.BETWEEN_EXPRESSIONS.join(sorted(self.descriptions))
        return joined[:_MAX_EXPRESSION_CHARACTERS]


_UNREPORTED: Final = Transformation(labels.DIRECT, labels.TRANSFORMATION, "", masking=False)
_UNREPORTED_INFLUENCE: Final = Transformation(
    labels.INDIRECT, labels.UNSPECIFIED, "", masking=False
)


@dataclass(slots=True)
class ColumnEdges:
    """Gathers the column edges of one output."""

    origin: str
    opens: set[OpenFlow] = field(default_factory=set)
    _flows: dict[tuple[Column, Column, str, str], _Texts] = field(default_factory=dict)
    _influences: dict[tuple[Column, str], _Texts] = field(default_factory=dict)

    def flow(
        self, source: Column, target: Column, transformations: Iterable[Transformation]
    ) -> None:
        """Add ``source`` -> ``target``; without a reported transformation, as a TRANSFORMATION."""
        for step in tuple(transformations) or (_UNREPORTED,):
            kind, how = kind_and_how(step)
            self._flows.setdefault((source, target, kind, how), _Texts()).add(step)

    def influence(self, source: Column, transformations: Iterable[Transformation]) -> None:
        """Add ``source`` as an influence on the whole output.

        Spark reports both how the influencing expression was computed (DIRECT) and how it decides;
        only the latter is kept here.
        """
        influences = [step for step in transformations if kind_and_how(step)[0] == labels.INDIRECT]
        for step in influences or (_UNREPORTED_INFLUENCE,):
            how = kind_and_how(step)[1]
            self._influences.setdefault((source, how), _Texts()).add(step)

    def use(self, source: Column, transformations: Iterable[Transformation]) -> None:
        """Add ``source`` as read by a plan without an output, whether shown or deciding."""
        for step in transformations:
            self._influences.setdefault((source, kind_and_how(step)[1]), _Texts()).add(step)

    def also_influenced(self, other: ColumnEdges) -> None:
        """Add the influences of another output."""
        for key, texts in other._influences.items():
            own = self._influences.setdefault(key, _Texts())
            own.descriptions |= texts.descriptions

    def fold(self) -> None:
        """Turn a source that every target column has in the same way into an influence."""
        targets = {target for _, target, _, _ in self._flows}
        shared: dict[tuple[Column, str], list[Column]] = {}
        for source, target, kind, how in self._flows:
            if kind == labels.INDIRECT and how in labels.PLAN_INDIRECT_HOWS:
                shared.setdefault((source, how), []).append(target)
        for (source, how), listed in shared.items():
            if len(listed) == len(targets):
                texts = self._influences.setdefault((source, how), _Texts())
                for target in listed:
                    folded = self._flows.pop((source, target, labels.INDIRECT, how))
                    texts.descriptions |= folded.descriptions

    def too_many(self) -> str:
        """The name of the bound that is exceeded; "" for none."""
        for count, counted in (
            (len(self._flows), "derivations"),
            (len(self._influences), "influences"),
            (len(self.opens), "open columns"),
        ):
            if count > MOST_FLOWS:
                return f"{count:,} {counted}, at most {MOST_FLOWS:,}"
        return ""

    def flows(self) -> tuple[ReportedFlow, ...]:
        return tuple(
            ReportedFlow(*key, texts.expression, texts.masking, self.origin)
            for key, texts in sorted(self._flows.items(), key=_key)
        )

    def influences(self) -> tuple[RunInfluence, ...]:
        return tuple(
            RunInfluence(*key, texts.expression, self.origin)
            for key, texts in sorted(self._influences.items(), key=_key)
        )


def _key(item: tuple[tuple[object, ...], _Texts]) -> tuple[object, ...]:
    return item[0]


def kind_and_how(step: Transformation) -> tuple[str, str]:
    """DIRECT or INDIRECT, and how; words that the specification does not define are kept."""
    if step.type == labels.INDIRECT or (not step.type and step.subtype in _INDIRECT):
        return labels.INDIRECT, step.subtype or labels.UNSPECIFIED
    return labels.DIRECT, step.subtype or labels.TRANSFORMATION


def stable_text(text: str) -> str:
    """Without session counters and with dates masked, so that runs of one logic
    have equal texts.
    """
    return _LITERAL.sub(_masked, naming.stable_text(text))


def _masked(match: re.Match[str]) -> str:
    quoted = match["quoted"]
    if quoted is None:
        return str(naming.mask_literal(match["bare"], None))
    return f"'{naming.mask_literal(quoted, None)}'"


# Column lineage from the text in a job's ``sql`` facet, for outputs that have none of their own.
#
#     sql: INSERT INTO totals SELECT day, sum(amount) FROM sales.orders GROUP BY day
#     outputs: (redshift://cluster:5439, dev.public.totals), inputs: (…, dev.sales.orders)
#
# A name in the text is the dataset of the event that ends in it; a name that fits none or several
# of them is left out with its columns. Schemas are those of the event itself, so the columns of a
# run depend on its own events alone.

#: The gaps of a text: not all of it could be read (the detail has the codes).
SQL_GAPS: Final = "sql-gaps"
_INPUT_NOT_NAMED: Final = "input-not-named"  # by a text that only reads
_MOST_QUERY: Final = 100_000  # characters of a text that is read while documents are projected

#: The dialect of a text whose facet does not say one, by the scheme of the job's datasets.
_BY_SCHEME: Final[Mapping[str, str]] = {
    "athena": "athena", "awsathena": "athena", "bigquery": "bigquery", "databricks": "databricks",
    "duckdb": "duckdb", "hive": "hive", "mssql": "tsql", "mysql": "mysql", "oracle": "oracle",
    "postgres": "postgres", "presto": "presto", "redshift": "redshift", "snowflake": "snowflake",
    "sqlserver": "tsql", "teradata": "teradata", "trino": "trino",
}  # fmt: skip

DatasetKey = tuple[str, str]


class OpenFields(NamedTuple):
    """A SqlOpen between datasets of the event. ``target`` is "" for a condition of the whole;
    ``beside`` are the tables of its place, as the text names them.
    """

    open: SqlOpen
    target: str
    source: DatasetKey
    among: tuple[DatasetKey, ...]
    like: DatasetKey | None
    beside: tuple[tuple[str, DatasetKey], ...] = ()


@dataclass(frozen=True, slots=True)
class TextLineage:
    """The column lineage of outputs by their key; of a job without outputs the columns that it
    reads, each with how it is used. ``gaps``: codes of those in the text.
    """

    by_output: Mapping[DatasetKey, ColumnLineage] = field(default_factory=dict)
    opens: Mapping[DatasetKey, Sequence[OpenFields]] = field(default_factory=dict)
    reads: tuple[SourceField, ...] = ()
    gaps: tuple[str, ...] = ()


def read_text(statement: JobStatement, rules: Rules) -> TextLineage:
    """What the job's text says about its outputs, or about the columns that it reads; nothing where
    it has none in a known dialect.
    """
    query = value_of(statement.job_facets, "sql", SqlQuery)
    if query is None or not query.text or len(query.text) > _MOST_QUERY:
        return TextLineage()
    datasets = (*statement.inputs, *statement.outputs)
    dialect = _dialect(query, datasets)
    if dialect is None:
        return TextLineage()
    statements = _translated(replace(query, dialect=dialect), tuple(_schemas(datasets)), rules)
    names = _DatasetNames(datasets, rules)
    if not statement.outputs:
        return _reading(statements, {dataset.key for dataset in statement.inputs}, names)
    outputs = {dataset.key for dataset in statement.outputs}
    drafts: dict[DatasetKey, _Draft] = {}
    gaps: set[str] = set()
    for sql in statements:
        written = {key for table in sql.writes if (key := names.find(table)) in outputs and key}
        for key in written:
            drafts.setdefault(key, _Draft()).add(sql, key, names)
        gaps.update(gap.code for gap in sql.gaps if written)
    lineages = {key: draft.lineage() for key, draft in drafts.items()}
    opens = {key: tuple(draft.opens) for key, draft in drafts.items() if draft.opens}
    return TextLineage(lineages, opens, gaps=tuple(sorted(gaps)))


def _reading(
    statements: Iterable[SqlStatement], inputs: Set[DatasetKey], names: _DatasetNames
) -> TextLineage:
    """The columns that a text without an output reads; an input that it does not name is a gap."""
    uses: dict[SourceField, None] = {}
    gaps: set[str] = set()
    named: set[DatasetKey | None] = set()
    for statement in statements:
        gaps.update(gap.code for gap in statement.gaps)
        named.update(map(names.find, statement.reads))
        for column in statement.columns:
            step = Transformation(column.kind, column.how, column.expression, masking=False)
            uses.update(dict.fromkeys(_source_fields(column.sources, step, names)))
    if not inputs <= named:
        gaps.add(_INPUT_NOT_NAMED)
    return TextLineage(reads=tuple(uses), gaps=tuple(sorted(gaps)))


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
            yield dataset.name, tuple(column.name for column in fields)


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

    def __init__(self, datasets: Sequence[Dataset], rules: Rules) -> None:
        self._rules = rules
        self._by_end: dict[tuple[str, ...], set[DatasetKey]] = {}
        for dataset in datasets:
            place = f"{dataset.namespace.rstrip('/')}/{dataset.name.lstrip('/')}".lower()
            self._by_end.setdefault((place.rstrip("/"),), set()).add(dataset.key)
            parts = tuple(part.lower() for part in split_name(dataset.name))
            for start in range(len(parts)):
                self._by_end.setdefault(parts[start:], set()).add(dataset.key)

    def find(self, table: str) -> DatasetKey | None:
        """The only dataset of this name, its first spelling; None where none or several have it.

        Airflow names ANALYTICS.public.sums, as its caller did, and analytics.public.sums.
        """
        parts = tuple(part.lower().rstrip("/") for part in split_name(table))
        keys = self._by_end.get(parts) or (self._by_end.get(parts[1:]) if len(parts) > 2 else None)
        if keys is not None and len(keys) > 1:
            places = {
                naming.normalise(naming.openlineage_uri(*key, self._rules), "", self._rules)
                for key in keys
            }
            keys = {min(keys)} if len(places) == 1 else None
        return next(iter(keys)) if keys else None


@dataclass(slots=True)
class _Draft:
    """The lineage of one output, from all statements that write it."""

    fields: dict[str, dict[SourceField, None]] = field(default_factory=dict)
    deciding: dict[SourceField, None] = field(default_factory=dict)
    opens: dict[OpenFields, None] = field(default_factory=dict)

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
        for item in statement.opens:
            table, _, name = (item.to or "").partition("#")
            if item.to is None or names.find(table) == output:
                self._add_open(item, name, names)

    def _add_open(self, item: SqlOpen, target: str, names: _DatasetNames) -> None:
        """Only where the event has all of its tables: else a column may be of another one."""
        source = names.find(item.table)
        among = [key for table in item.among if (key := names.find(table)) is not None]
        like = names.find(item.like) if item.like else None
        tables = sorted(item.place.tables) if item.place is not None else []
        beside = [(table, key) for table in tables if (key := names.find(table)) is not None]
        known = len(among) == len(item.among) and (like is not None or not item.like)
        if source is not None and known and len(beside) == len(tables):
            self.opens[OpenFields(item, target, source, tuple(among), like, tuple(beside))] = None

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
