"""Facts that every format makes, whichever reported them.

First datasets: their vertices and rows, schemas and columns, versions and renames. Then jobs and
their executions, and logical plans: the datasets that they use, the columns that they derive, the
commands that they are named after.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeGuard

from cachetools import LRUCache, cached

from graph_model import identity, labels, naming
from graph_model.facts import (
    NO_NUMBER,
    ApplicationRow,
    ColumnRow,
    DatasetRow,
    Edge,
    EventLabelRow,
    ExecutionRow,
    FactCollector,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PatternRow,
    Properties,
    RenameRow,
    Row,
    Scalar,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
    Version,
    Vertex,
    edge,
    properties,
)
from graph_model.naming import DatasetName, JobName, Rules
from graph_model.naming.containment import Location, folders_above
from graph_model.sql import RowPlace

# --- Datasets -------------------------------------------------------------------------------------

_MOST_SCHEMA_BYTES: Final = 24_000_000
"""For some thousands of tables; beyond, the least recently used are made anew."""
_ELEMENT_BYTES: Final = 300

Column = tuple[str, str]
"""A dataset's id, and the path of a column in it."""


def add_dataset(collector: FactCollector, dataset: DatasetName) -> str:
    """Add the vertex and the row of a dataset, and return its id."""
    dataset_id = _dataset_id(dataset)
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
                (identity.dataset_id(name.scope, name.uri), _dataset_id(dataset))
                for name, dataset in pairs
                if name is not None
            }
        )
    )


def _dataset_id(dataset: DatasetName) -> str:
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


_MAX_VERSION_CHARACTERS: Final = 200
_MAX_VERSION_DIGITS: Final = 9
"""Versions that count from zero are short; Iceberg's snapshot ids, which have no order, have 19
digits."""


def version_of_text(text: Any) -> Version | None:
    """A short number orders versions, another text only
    identifies one.
    """
    if not is_version_text(text):
        return None
    counts = text.isascii() and text.isdigit() and len(text) <= _MAX_VERSION_DIGITS
    return Version(text, int(text) if counts else NO_NUMBER)


def is_version_text(value: Any) -> TypeGuard[str]:
    """Whether a value can be a version: a text that is neither empty nor too long."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_VERSION_CHARACTERS


# --- Jobs and their executions --------------------------------------------------------------------
#
# Elements that all runs of a job share are few.

MOST_EXTRA_CHARACTERS: Final = 20_000
"""The limit of the labels of an event together, and of each other text about it."""
_MAX_LABEL_CHARACTERS: Final = 500
_NO_LABELS: Final = "{}"
_DAY_MS: Final = 86_400_000

Labels = Mapping[str, Sequence[str]]


def add_job(collector: FactCollector, job_id: str, job: JobName) -> None:
    """Add a job's vertex and row."""
    collector.add(
        Vertex(job_id, labels.JOB, properties({"namespace": job.namespace, "name": job.name})),
        JobRow(job_id, job.namespace, job.name, job.shared),
    )


def add_application(
    collector: FactCollector, subject: str, run: str, application_id: str, application_run: str
) -> None:
    """Add that a run vertex is that of an application; ``application_run`` is its run vertex."""
    content = (run, application_id, application_run)
    key = "ola_" + identity.digest(*content)
    collector.add(ApplicationRow(key, *content), SupportRow(subject, key))


def dispatched_run(name: str, target: str, started_at: int, ended_at: int) -> str:
    """The key of a run as the OpenLineage dispatcher of Spline's agent reports it: one write, by
    the application's name, the id of its dataset, and its times in milliseconds.

    Its events name no application. Those of the agent's own plan have the same four, and the
    application: so each can say what the other one has to be called (decision 206).
    """
    return identity.digest("dispatched", name, target, started_at, ended_at)


def add_execution(collector: FactCollector, row: ExecutionRow) -> None:
    """Add an execution with its run and its day."""
    collector.add(*run_elements(row), row)


def run_elements(row: ExecutionRow) -> tuple[Vertex | Edge, ...]:
    """The graph elements of an execution: a function of its row alone."""
    day = _elements_of_day(row.job, row.logical_plan, row.claimed_at // _DAY_MS)
    return (
        *day,
        Vertex(row.run, labels.RUN),
        _execution_vertex(row),
        edge(labels.HAS, day[0].id, row.run),
        edge(labels.PERFORMED, row.run, row.id),
    )


def _elements_of_day(job: str, logical_plan: str, day: int) -> tuple[Vertex, Edge, Edge]:
    """The elements that all executions of a plan on one day share; ``day`` counts from 1970."""
    at = day * _DAY_MS
    vertex = Vertex(day_id(job, at), labels.DAY, (("date", utc_date(at)),))
    return (
        vertex,
        edge(labels.HAS, job, vertex.id),
        edge(labels.FOLLOWED, vertex.id, logical_plan),
    )


def _execution_vertex(row: ExecutionRow) -> Vertex:
    values: dict[str, Scalar | None] = {
        "at": row.claimed_at,
        "state": row.state,
        "duration_ns": row.duration_ns,
        "error": row.error,
        "metrics": row.metrics,
        "mode": row.mode,
        "plan": row.plan_id,
    }
    return Vertex(row.id, labels.EXECUTION, properties(values))


def labels_text(labelled: Labels) -> str:
    """As JSON; "{}" where that is too long."""
    if not labelled:
        return _NO_LABELS
    text = identity.spelled({name: list(values) for name, values in sorted(labelled.items())})
    return text if len(text) <= MOST_EXTRA_CHARACTERS else _NO_LABELS


def label_rows(execution: str, *listed: Labels) -> set[EventLabelRow]:
    """The labels of the event and of the plan: a filter may name either. None for labels too long
    to be shown.
    """
    return {
        EventLabelRow(execution, name[:_MAX_LABEL_CHARACTERS], value[:_MAX_LABEL_CHARACTERS])
        for labelled in listed
        if labels_text(labelled) != _NO_LABELS
        for name, values in labelled.items()
        for value in values
    }


def utc_date(at: int) -> str:
    """The UTC date of an epoch-millisecond time, ``2026-03-01``."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def day_id(job: str, at: int) -> str:
    """The id of the ``day`` vertex for an execution of the job at this time."""
    return identity.vertex_id(labels.DAY, job, utc_date(at))


# --- Logical plans --------------------------------------------------------------------------------


class PlanInfluence(Protocol):
    """A column that influences the rows of a plan's target."""

    @property
    def source(self) -> Column: ...
    @property
    def how(self) -> str: ...
    @property
    def expression(self) -> str: ...


class PlanFlow(Protocol):
    """A column of a plan's target, and one that it derives from; ``fields`` are those of the target
    that the source flows into, as ``naming.columns`` spells them.
    """

    @property
    def source(self) -> Column: ...
    @property
    def target(self) -> Column: ...
    @property
    def how(self) -> str: ...
    @property
    def expression(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def fields(self) -> str: ...


def add_logical_plan(
    collector: FactCollector,
    job: JobName,
    fingerprint: str,
    *,
    target: str,
    mode: str,
    partition_keys: Iterable[str] = (),
    gaps: Iterable[tuple[str, str]] = (),
    origin: str | None = None,
) -> LogicalPlanRow:
    """Add a job and one of its logical plans, with the edge to the dataset that it writes.

    ``fingerprint`` covers all that the plan's facts say; ``target`` is that dataset's id, "" for
    none; ``gaps`` are (code, detail). Returns the plan's row.
    """
    job_id = identity.job_id(job.namespace, job.name)
    keys = identity.spelled(list(partition_keys))
    row = LogicalPlanRow(
        identity.logical_plan_id(job_id, job.name, fingerprint),
        job_id,
        fingerprint,
        target,
        mode,
        keys,
        identity.spelled([{"code": code, "detail": detail} for code, detail in gaps]),
    )
    values = {
        "name": identity.plan_name(job.name, fingerprint), "fingerprint": fingerprint,
        "mode": mode, "partition_keys": keys, "gaps": row.gaps,
    }  # fmt: skip
    add_job(collector, job_id, job)
    collector.add(
        Vertex(row.id, labels.LOGICAL_PLAN, properties(values)),
        edge(labels.HAS, job_id, row.id),
        row,
    )
    if target:
        written = {"mode": mode, "partition_keys": keys, "origin": origin}
        collector.add(edge(labels.FEEDS, row.id, target, written))
    return row


def add_use(
    collector: FactCollector,
    logical_plan: str,
    dataset: DatasetName,
    schema_id: str,
    role: Literal["read", "write"],
) -> None:
    """Add a dataset that a plan reads or writes; ``schema_id`` "": its schema there is unknown."""
    dataset_id = add_dataset(collector, dataset)
    collector.add(SchemaUseRow(logical_plan, dataset_id, schema_id, role))
    if schema_id:
        label = labels.READS if role == "read" else labels.WRITES
        collector.add(edge(label, logical_plan, schema_id))


def add_column_edges(
    collector: FactCollector,
    logical_plan: str,
    flows: Collection[tuple[PlanFlow, str | None, bool]],
    influences: Collection[tuple[PlanInfluence, str | None]],
    uris: Mapping[str, str],
    ids: dict[Column, str],
) -> None:
    """Add the column edges of a plan: flows, each with its origin and whether it masks the value,
    and influences with their origin; an origin None is not reported.

    ``ids`` are those of the columns that a schema has; it receives those of the other ends (fields,
    columns behind queries), which are added to their dataset. ``uris``: by dataset id.
    """
    ends = {end for flow, *_ in flows for end in (flow.source, flow.target)}
    ends.update(influence.source for influence, _ in influences)
    for dataset_id, path in sorted(ends.difference(ids)):
        ids[dataset_id, path] = add_column(collector, dataset_id, uris[dataset_id], path)
    shared: dict[tuple[Any, ...], Properties] = {}  # few texts, many edges
    for flow, origin, masking in flows:
        key = (flow.kind, flow.how, flow.expression, origin, masking, flow.fields)
        values = shared.get(key)
        if values is None:
            values = shared[key] = properties(
                {
                    "kind": flow.kind, "how": flow.how, "expression": flow.expression,
                    "logical_plan": logical_plan, "origin": origin, "masking": masking or None,
                    "fields": flow.fields or None,
                }
            )  # fmt: skip
        source, target = ids[flow.source], ids[flow.target]
        edge_id = identity.edge_id(
            labels.DERIVES, source, target, logical_plan, flow.kind, flow.how
        )
        collector.add(Edge(edge_id, labels.DERIVES, source, target, values))
    for influence, origin in influences:
        how, source = influence.how, ids[influence.source]
        reported = {"how": how, "expression": influence.expression, "origin": origin}
        collector.add(edge(labels.INFLUENCES, source, logical_plan, reported, discriminator=(how,)))


class OpenFlow(NamedTuple):
    """What a text leaves open (``graph_model.sql.SqlOpen``), between datasets (ids) and the paths
    of their columns. ``target`` is "" for a condition of the whole statement; an ``origin`` None is
    not reported.
    """

    source: str
    path: str
    target: str
    among: tuple[str, ...]
    kind: str
    how: str
    expression: str
    left_out: tuple[str, ...] = ()
    into: tuple[str, ...] | None = None
    like: str = ""
    place: RowPlace | None = None
    origin: str | None = None

    def properties(self, logical_plan: str) -> dict[str, str | None]:
        """Those of the edge ``supplies``; lists are JSON."""
        return {
            "column": self.path, "target": self.target, "among": identity.spelled(self.among),
            "kind": self.kind, "how": self.how, "expression": self.expression,
            "left_out": identity.spelled(self.left_out) if self.left_out else None,
            "into": None if self.into is None else identity.spelled(self.into),
            "like": self.like or None,
            "row": None if self.place is None else identity.spelled(self.place),
            "logical_plan": logical_plan, "origin": self.origin,
        }  # fmt: skip


def add_open_flows(collector: FactCollector, logical_plan: str, opens: Iterable[OpenFlow]) -> None:
    """Add the edges ``supplies`` of a plan."""
    for item in opens:
        values = item.properties(logical_plan)
        key = identity.digest(*sorted(map(str, values.items())))
        collector.add(
            edge(labels.SUPPLIES, item.source, logical_plan, values, discriminator=(key,))
        )


MOST_OPEN_TEXTS: Final = 100
"""Gaps ``open-columns`` of one plan."""


# --- Spark's commands ----------------------------------------------------------------------------
#
# The names that every format reports, and what each does to its target. OpenLineage's agent names a
# job after its command: ``execute_insert_into_hive_table`` is ``InsertIntoHiveTable``,
# ``overwrite_partitions_dynamic`` is ``OverwritePartitionsDynamic``.

LIFECYCLE_COMMANDS: Final = frozenset(
    {
        "CreateDataSourceTableCommand",
        "CreateTable",
        "CreateTableCommand",
        "CreateTableLike",
        "CreateTableLikeCommand",
        "CreateV2Table",
        "CreateDeltaTableCommand",
        "CreateHoodieTableCommand",
        "CreateViewCommand",
        "DropHoodieTableCommand",
        "DropTable",
        "DropTableCommand",
        "ReplaceTable",
        "TruncateTable",
        "TruncateHoodieTableCommand",
        "TruncateTableCommand",
        "TruncatePartitionCommand",
        "AlterTableAddPartitionCommand",
        "AlterTableDropPartitionCommand",
        "RepairTableCommand",
        "TruncatePartition",
        # They change what is known of a table: columns, properties, statistics, partitions.
        "AddColumns",
        "AddPartitions",
        "AlterColumn",
        "AlterColumns",
        "AlterDatabasePropertiesCommand",
        "AlterNamespaceSetProperties",
        "AlterTable",
        "AlterTableAddColumnsCommand",
        "AlterTableChangeColumnCommand",
        "AlterTableRecoverPartitionsCommand",
        "AlterTableRenamePartitionCommand",
        "AlterTableSerDePropertiesCommand",
        "AlterTableSetLocationCommand",
        "AlterTableSetPropertiesCommand",
        "AlterTableUnsetPropertiesCommand",
        "AlterViewAsCommand",
        "AnalyzeColumn",
        "AnalyzeColumnCommand",
        "AnalyzePartitionCommand",
        "AnalyzeTable",
        "AnalyzeTableCommand",
        "AnalyzeTables",
        "AnalyzeTablesCommand",
        "AtomicReplaceTable",
        "CacheTable",
        "CommentOnTable",
        "DropColumns",
        "DropPartition",
        "DropPartitions",
        "MsckRepairTable",
        "RecoverPartitions",
        "RefreshFunctionCommand",
        "RefreshTable",
        "RefreshTableCommand",
        "RenameColumn",
        "RenamePartitions",
        "RepairTable",
        "ReplaceColumns",
        "SetTableLocation",
        "SetTableProperties",
        "SetTableSerDeProperties",
        "UncacheTable",
        "UnsetTableProperties",
        # They rewrite or remove files, and no rows.
        "OptimizeTableCommand",
        "VacuumTableCommand",
        "rewrite_data_files",
        "rewrite_manifests",
        "rewrite_position_delete_files",
        "expire_snapshots",
        "remove_orphan_files",
    }
)
"""Commands that change a table without writing data."""
ROW_LEVEL_COMMANDS: Final = frozenset(
    {
        "DeleteCommand",
        "DeleteCommandEdge",
        "DeleteFromTable",
        "MergeIntoCommand",
        "MergeIntoCommandEdge",
        "MergeIntoTable",
        "UpdateCommand",
        "UpdateCommandEdge",
        "UpdateTable",
    }
)
"""Commands that change some rows of their target: appends that also read it."""
ROW_LEVEL_WRITES: Final = frozenset(
    {
        "DeleteFromIcebergTable",
        "MergeIntoIcebergTable",
        "MergeRows",
        "ReplaceData",
        "ReplaceIcebergData",
        "UpdateIcebergTable",
        "WriteDelta",
        "WriteIcebergDelta",
    }
)
"""How a table of Spark's second interface carries out a command of rows."""
APPENDING_COMMANDS: Final = frozenset(
    {"AppendData", "AppendDataExecV1", "CopyIntoCommand", "CopyIntoCommandEdge"}
)
FILLING_COMMANDS: Final = frozenset(
    {
        "AtomicCreateTableAsSelect",
        "AtomicReplaceTableAsSelect",
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "CreateTableAsSelect",
        "OptimizedCreateHiveTableAsSelectCommand",
        "ReplaceTableAsSelect",
    }
)
"""Commands that make a table of a query, ``saveAsTable`` among them. Many run an insert of their
own, which Spark reports as well."""
DYNAMIC_COMMANDS: Final = frozenset(
    {"OverwritePartitionsDynamic", "OverwritePartitionsDynamicExecV1"}
)
"""Commands that replace the partitions that they have rows for."""
INSERTING_COMMANDS: Final = frozenset(
    {
        "InsertIntoDataSourceCommand",
        "InsertIntoDataSourceDirCommand",
        "InsertIntoDir",
        "InsertIntoHadoopFsRelationCommand",
        "InsertIntoHiveDirCommand",
        "InsertIntoHiveTable",
        "InsertIntoHoodieTableCommand",
        "LoadDataCommand",
        "OverwriteByExpression",
        "OverwriteByExpressionExecV1",
        "SaveAsV1TableCommand",
        "SaveIntoDataSourceCommand",
        "WriteFiles",
        "WriteToDataSourceV2",
        "WriteToMicroBatchDataSourceV1",
    }
)
"""Commands that write as their mode says: append to the target, or overwrite it."""
