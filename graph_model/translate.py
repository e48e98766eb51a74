"""Documents -> facts. Pure: no I/O, no clock, no environment.

    translate(subject) = translate_plan(plan) + the sum of translate_execution(head, event)

A subject is one plan with its executions, as one capture scope reported it. The steps:

1. name the datasets (naming), the job, the mode and the partitions of the write;
2. derive the columns (columns) and render the operations (expressions), with volatile text and
   date-like literals masked, so that tomorrow's run of the same logic reads the same;
3. gather all of it in one value, :class:`Logic`. Its digest is the fingerprint, so whatever the
   graph says of a logical plan is covered by the plan's id: law 2 of the design holds by
   construction;
4. spell the Logic as vertices, edges and rows.

The fingerprint leaves out what may change while the logic stays: ids, times, the application's
name, labels, the write command's class and path, statistics, session counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from graph_model import columns as column_lineage
from graph_model import identity, labels, naming
from graph_model.documents import (
    Constant,
    ExecutionEvent,
    ExecutionPlan,
    Operation,
    outputs,
    type_text,
)
from graph_model.expressions import Renderer, operation_properties
from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionPlanRow,
    ExecutionRow,
    FactCollector,
    Facts,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    Scalar,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
    Vertex,
    edge,
    merge,
    properties,
)
from graph_model.naming import DatasetName, JobName, Rules, SchemaColumn

#: Part of the projection epoch: raise it when equal documents must give other facts.
TRANSLATOR_VERSION: Final = 1

#: Commands that change a table without being a write of data (DESIGN "What is true at a time").
LIFECYCLE_COMMANDS: Final = frozenset(
    {
        "CreateDataSourceTableCommand",
        "CreateTable",
        "CreateTableCommand",
        "CreateV2Table",
        "CreateDeltaTableCommand",
        "CreateViewCommand",
        "DropTable",
        "DropTableCommand",
        "TruncateTable",
        "TruncateTableCommand",
        "TruncatePartitionCommand",
    }
)
#: Commands that change some rows of their target: appends that also read it.
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
#: Parameters that hold session counters, statistics, locations or whole plans as text.
VOLATILE_PARAMETERS: Final = frozenset(
    {
        "_resolved", "analyzedchild", "cteDefs", "cteid", "ctedefs", "dbtable", "desc", "id",
        "identifier", "isstreaming", "metadataoutput", "originalplanwithpredicates", "path",
        "paths", "statsopt", "table", "undersubquery", "url",
    }
)  # fmt: skip
_MAX_ERROR_CHARACTERS: Final = 4_000
_MAX_PARAMETER_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A plan with what identifies its document: scope of capture, content hash, API version."""

    plan: ExecutionPlan
    scope: str
    content_hash: str
    api_version: str


@dataclass(frozen=True, slots=True)
class Subject:
    """One plan with its executions."""

    document: PlanDocument
    events: tuple[ExecutionEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanHead:
    """What the facts of an execution need to know of its plan: the part worth keeping at hand."""

    subject: str
    scope: str
    plan_id: str
    execution_plan: str
    logical_plan: str
    job: str
    target: str
    mode: str
    dynamic: bool
    command: str
    producer: str
    reads: str
    partitions: tuple[tuple[str, str, str], ...]  # (dataset id, role, partition)
    names: tuple[tuple[DatasetName, str], ...]  # (catalog name, its location's dataset id)


# --- the logic of a plan -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DatasetSchema:
    """A dataset with the columns that the plan saw in it; ``columns`` None: schema-less."""

    dataset: DatasetName
    columns: tuple[SchemaColumn, ...] | None

    @property
    def dataset_id(self) -> str:
        return identity.dataset_id(self.dataset.scope, self.dataset.uri)

    @property
    def content(self) -> str:
        """The schema as JSON, ``""`` where there is none."""
        if self.columns is None:
            return ""
        return _json([{"name": c.name, "type": c.type, "path": c.path} for c in self.columns])

    @property
    def schema_id(self) -> str:
        return identity.vertex_id(labels.SCHEMA, self.dataset_id, self.content)


@dataclass(frozen=True, slots=True)
class LogicalOperation:
    """An operation by its position; ``inputs`` are positions, ``datasets`` what it reads."""

    position: int
    kind: str
    name: str
    inputs: tuple[int, ...]
    parameters: str
    output: str
    schema: str
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class ColumnFlow:
    """A column edge between two columns, each (dataset id, path)."""

    source: tuple[str, str]
    target: tuple[str, str]
    kind: str
    how: str
    expression: str


@dataclass(frozen=True, slots=True, order=True)
class ColumnInfluence:
    source: tuple[str, str]
    how: str
    expression: str


@dataclass(frozen=True, slots=True)
class Logic:
    """What a plan does, free of when, by whom and under which ids.

    ``names`` (catalog name, location) are no part of the fingerprint: of the two plans that one
    CREATE TABLE AS SELECT leaves only one tells the table's name. They become facts of executions.
    """

    reads: tuple[DatasetSchema, ...]
    write: DatasetSchema
    mode: str
    partition_keys: tuple[str, ...]
    operations: tuple[LogicalOperation, ...]
    flows: tuple[ColumnFlow, ...]
    influences: tuple[ColumnInfluence, ...]
    names: tuple[tuple[DatasetName, DatasetName], ...]
    gaps: tuple[tuple[str, str], ...]

    def fingerprint(self) -> str:
        """128 bits in hex over everything here but the names."""
        return identity.digest(
            [(use.dataset_id, use.content) for use in self.reads],
            (self.write.dataset_id, self.write.content),
            self.mode,
            self.partition_keys,
            [_fields(operation) for operation in self.operations],
            [_fields(flow) for flow in self.flows],
            [_fields(influence) for influence in self.influences],
            self.gaps,
        )


def _fields(value: LogicalOperation | ColumnFlow | ColumnInfluence) -> list[Any]:
    return [getattr(value, name) for name in value.__slots__]


def read_logic(document: PlanDocument, rules: Rules = naming.DEFAULT_RULES) -> Logic:
    """Steps 1 to 3 of the module's docstring."""
    return _LogicReader(document, rules).read()


class _LogicReader:
    """Holds what the steps share while one plan is read."""

    def __init__(self, document: PlanDocument, rules: Rules) -> None:
        self.plan = _masked(document.plan)
        self.scope = document.scope
        self.rules = rules
        self.columns = column_lineage.derive(self.plan)
        self.renderer = Renderer(self.plan)
        self.outputs = outputs(self.plan)
        self.gaps: set[tuple[str, str]] = {(gap.code, gap.detail) for gap in self.columns.gaps}
        self.named = {
            operation.id: self._names_of(operation.sources) for operation in self.plan.reads
        }
        self.target = self._names_of((self.plan.write.target,))[0]
        self.write = DatasetSchema(self.target, self._schema(self.columns.outputs or None))
        self.read_schemas = {
            operation.id: self._schema(self.outputs[operation.id]) for operation in self.plan.reads
        }

    def read(self) -> Logic:
        mode = mode_of(self.plan.write)
        return Logic(
            reads=self._reads(mode),
            write=self.write,
            mode=mode,
            partition_keys=self._partition_keys(),
            operations=self._operations(),
            flows=self._flows(),
            influences=self._influences(),
            names=self._catalog_names(),
            gaps=tuple(sorted(self.gaps)),
        )

    def _names_of(self, sources: Iterable[str]) -> tuple[DatasetName, ...]:
        """Names of all sources, each dataset once, in the document's order."""
        found: dict[tuple[str, str], DatasetName] = {}
        for source in sources:
            for name in naming.normalise(source, self.scope, self.rules):
                found.setdefault((name.scope, name.uri), name)
        return tuple(found.values())

    def _schema(self, attributes: Sequence[str] | None) -> tuple[SchemaColumn, ...] | None:
        if attributes is None:
            return None
        listed = [self._name_and_type(attribute) for attribute in attributes]
        schema, collisions = naming.schema_columns(listed)
        self.gaps.update(("column-collision", name) for name in collisions)
        return schema

    def _name_and_type(self, attribute: str) -> tuple[str, str | None]:
        known = self.plan.attributes.get(attribute)
        if known is None:
            return attribute, None
        return known.name, type_text(self.plan.data_types, known.data_type)

    def _reads(self, mode: str) -> tuple[DatasetSchema, ...]:
        uses = {
            (use.dataset_id, use.content): use
            for operation in self.plan.reads
            for use in self._uses(operation)
        }
        target_read = any(dataset == self.write.dataset_id for dataset, _ in uses)
        if self.plan.write.name in ROW_LEVEL_COMMANDS and mode == labels.APPEND and not target_read:
            use = DatasetSchema(self.target, None)
            uses[(use.dataset_id, use.content)] = use
        return tuple(uses[key] for key in sorted(uses))

    def _uses(self, operation: Operation) -> list[DatasetSchema]:
        """A read's datasets with its columns; a query over several tables has none of its own."""
        names = self.named[operation.id]
        query = _is_query(operation, names)
        if query:
            self.gaps.add(("jdbc-query", ", ".join(name.name for name in names)))
        schema = None if query else self.read_schemas[operation.id]
        return [DatasetSchema(name, schema) for name in names]

    def _partition_keys(self) -> tuple[str, ...]:
        """Keys in the target's path first, then those that the listener reports."""
        listed = self.plan.write.extra.get("partitionColumns")
        keys = [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
        return tuple(
            dict.fromkeys(naming.fold(key) for key in (*self.target.partition_keys, *keys))
        )

    def _operations(self) -> tuple[LogicalOperation, ...]:
        positions = {operation.id: i for i, operation in enumerate(self.plan.operations)}
        return tuple(
            LogicalOperation(
                position=positions[operation.id],
                kind=operation.kind,
                name=labels.WRITE_NAME if operation.kind == "write" else operation.name,
                inputs=tuple(positions[child] for child in operation.children),
                parameters=self._parameters(operation),
                output=_json([self._name_and_type(a) for a in self.outputs[operation.id] or ()]),
                schema=self._schema_reference(operation),
                datasets=tuple(
                    sorted(identity.dataset_id(n.scope, n.uri) for n in self._datasets(operation))
                ),
            )
            for operation in self.plan.operations
        )

    def _datasets(self, operation: Operation) -> tuple[DatasetName, ...]:
        return self.named.get(operation.id, ())

    def _schema_reference(self, operation: Operation) -> str:
        if operation.kind == "write":
            return self.write.schema_id if self.write.columns is not None else ""
        uses = self._uses(operation) if operation.kind == "read" else []
        return uses[0].schema_id if uses and uses[0].columns is not None else ""

    def _parameters(self, operation: Operation) -> str:
        """Rendered parameters as JSON; of the write only the format, for its path is its target."""
        if operation.kind == "write":
            return _json(_format_of(operation, "destinationType"))
        shown = _format_of(operation, "sourceType") if operation.kind == "read" else {}
        for name, text in operation_properties(self.plan, operation, self.renderer):
            if name.lower() not in VOLATILE_PARAMETERS:
                shown[name] = naming.stable_text(text)[:_MAX_PARAMETER_CHARACTERS]
        return _json(shown)

    def _flows(self) -> tuple[ColumnFlow, ...]:
        target_id = self.write.dataset_id
        expressions: dict[tuple[tuple[str, str], tuple[str, str], str, str], set[str]] = {}
        for derivation in self.columns.derivations:
            if self.write.columns is None:
                break
            target = (target_id, self.write.columns[derivation.output].path)
            for source in self._source_columns(derivation.source, derivation.source_path):
                key = (source, target, derivation.kind, derivation.how)
                expressions.setdefault(key, set()).add(derivation.expression)
        return tuple(
            ColumnFlow(*key, " | ".join(sorted(texts)))
            for key, texts in sorted(expressions.items())
        )

    def _influences(self) -> tuple[ColumnInfluence, ...]:
        expressions: dict[tuple[tuple[str, str], str], set[str]] = {}
        for influence in self.columns.influences:
            for source in self._source_columns(influence.source, influence.source_path):
                expressions.setdefault((source, influence.how), set()).add(influence.expression)
        return tuple(
            ColumnInfluence(*key, " | ".join(sorted(texts)))
            for key, texts in sorted(expressions.items())
        )

    def _source_columns(self, attribute: str, below: Sequence[str]) -> list[tuple[str, str]]:
        """(dataset id, path) of a leaf attribute, in every dataset that its reads name."""
        found: dict[tuple[str, str], None] = {}
        for operation in self.plan.reads:
            schema = self.read_schemas[operation.id]
            emitted = self.outputs[operation.id] or ()
            if schema is None or attribute not in emitted:
                continue
            top = schema[list(emitted).index(attribute)].path
            segments = (*naming.split_path(top), *(naming.fold(segment) for segment in below))
            path = naming.column_path(segments) if below else top
            for use in self._uses(operation):
                if use.columns is not None:
                    found[(use.dataset_id, path)] = None
        return list(found)

    def _catalog_names(self) -> tuple[tuple[DatasetName, DatasetName], ...]:
        """(catalog name, location) of every table that the plan names beside its location."""
        pairs: dict[tuple[str, str], tuple[DatasetName, DatasetName]] = {}
        for operation in self.plan.operations:
            table = catalog_name(operation)
            places = (self.target,) if operation.kind == "write" else self._datasets(operation)
            if table is None or len(places) != 1:
                continue
            name = naming.normalise(table, self.scope, self.rules)[0]
            if (name.scope, name.uri) != (places[0].scope, places[0].uri):
                pairs[(name.uri, places[0].uri)] = (name, places[0])
        return tuple(pairs[key] for key in sorted(pairs))


def _masked(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan with date-like literals masked: run dates must not make a new logical plan."""
    constants = {
        key: replace(constant, value=_masked_value(plan, constant))
        for key, constant in plan.constants.items()
    }
    return replace(plan, constants=constants)


def _masked_value(plan: ExecutionPlan, constant: Constant) -> Any:
    return naming.mask_literal(constant.value, type_text(plan.data_types, constant.data_type))


def mode_of(write: Operation) -> str:
    """overwrite, append or lifecycle: by the command's class, then by ``append``."""
    if write.name in LIFECYCLE_COMMANDS:
        return labels.LIFECYCLE
    if write.name in ROW_LEVEL_COMMANDS or write.append:
        return labels.APPEND
    return labels.OVERWRITE


def _format_of(operation: Operation, key: str) -> dict[str, str]:
    value = operation.extra.get(key)
    return {"format": value} if isinstance(value, str) else {}


def _is_query(operation: Operation, names: Sequence[DatasetName]) -> bool:
    """A JDBC read of a query: its columns are the query's, not those of the tables behind it."""
    if not any(name.kind == "jdbc" for name in names):
        return False
    table = operation.params.get("dbtable")
    return "query" in operation.params or (isinstance(table, str) and "(" in table)


def catalog_name(operation: Operation) -> str | None:
    """The URI of the catalog name in ``params.table.identifier``, None where there is none."""
    table = operation.params.get("table")
    identifier = table.get("identifier") if isinstance(table, dict) else None
    if not isinstance(identifier, dict) or not isinstance(identifier.get("table"), str):
        return None
    database = identifier.get("database")
    return naming.catalog_table(
        database if isinstance(database, str) else None, identifier["table"]
    )


# --- facts of a plan -----------------------------------------------------------------------------


def translate_plan(
    document: PlanDocument, rules: Rules = naming.DEFAULT_RULES
) -> tuple[Facts, PlanHead]:
    """The facts of a plan without its executions, and the head that executions need."""
    logic = read_logic(document, rules)
    plan = document.plan
    job = naming.job_name(plan.labels, plan.name, document.scope, rules)
    job_id = identity.job_id(job.namespace, job.name)
    fingerprint = logic.fingerprint()
    logical_plan = identity.vertex_id(labels.LOGICAL_PLAN, job_id, fingerprint)
    collector = FactCollector()
    _add_job(collector, job_id, job)
    _add_logical_plan(collector, logic, job_id, logical_plan, fingerprint)
    _add_datasets(collector, logic, logical_plan)
    _add_operations(collector, logic, logical_plan)
    _add_columns(collector, logic, logical_plan)
    head = _head(document, logic, job_id, logical_plan, rules)
    _add_execution_plan(collector, document, head)
    return collector.facts(), head


def _add_job(collector: FactCollector, job_id: str, job: JobName) -> None:
    collector.add(
        Vertex(job_id, labels.JOB, properties({"namespace": job.namespace, "name": job.name})),
        JobRow(job_id, job.namespace, job.name, job.shared),
    )


def _add_logical_plan(
    collector: FactCollector, logic: Logic, job_id: str, logical_plan: str, fingerprint: str
) -> None:
    keys = _json(list(logic.partition_keys))
    gaps = _json([{"code": code, "detail": detail} for code, detail in logic.gaps])
    values = {"fingerprint": fingerprint, "mode": logic.mode, "partition_keys": keys, "gaps": gaps}
    target = logic.write.dataset_id
    collector.add(
        Vertex(logical_plan, labels.LOGICAL_PLAN, properties(values)),
        edge(labels.HAS, job_id, logical_plan),
        edge(labels.FEEDS, logical_plan, target, {"mode": logic.mode, "partition_keys": keys}),
        LogicalPlanRow(logical_plan, job_id, fingerprint, target, logic.mode, keys, gaps),
    )
    for use in logic.reads:
        collector.add(edge(labels.FEEDS, use.dataset_id, logical_plan))


def _add_datasets(collector: FactCollector, logic: Logic, logical_plan: str) -> None:
    for use in logic.reads:
        _add_schema(collector, use, logical_plan, labels.READS, "read")
    _add_schema(collector, logic.write, logical_plan, labels.WRITES, "write")


def _add_dataset(collector: FactCollector, dataset: DatasetName) -> str:
    dataset_id = identity.dataset_id(dataset.scope, dataset.uri)
    values = {
        "uri": dataset.uri, "scope": dataset.scope, "name": dataset.name, "kind": dataset.kind,
    }  # fmt: skip
    collector.add(
        Vertex(dataset_id, labels.DATASET, properties(values)),
        DatasetRow(dataset_id, dataset.uri, dataset.scope, dataset.name, dataset.kind),
    )
    return dataset_id


def _add_schema(
    collector: FactCollector, use: DatasetSchema, logical_plan: str, label: str, role: str
) -> None:
    dataset_id = _add_dataset(collector, use.dataset)
    if use.columns is None:
        collector.add(SchemaUseRow(logical_plan, dataset_id, "", role))
        return
    values = {"columns": use.content, "dataset": use.dataset.uri}
    collector.add(
        Vertex(use.schema_id, labels.SCHEMA, properties(values)),
        edge(label, logical_plan, use.schema_id),
        SchemaRow(use.schema_id, dataset_id, use.content),
        SchemaUseRow(logical_plan, dataset_id, use.schema_id, role),
    )
    for column in use.columns:
        column_id = _add_column(collector, dataset_id, use.dataset.uri, column.path)
        collector.add(edge(labels.HAS, use.schema_id, column_id))


def _add_column(collector: FactCollector, dataset_id: str, uri: str, path: str) -> str:
    column_id = identity.column_id(dataset_id, path)
    values = {"path": path, "dataset": uri, "dataset_id": dataset_id}
    collector.add(
        Vertex(column_id, labels.COLUMN, properties(values)),
        edge(labels.HAS, dataset_id, column_id),
        ColumnRow(column_id, dataset_id, path),
    )
    return column_id


def _add_operations(collector: FactCollector, logic: Logic, logical_plan: str) -> None:
    ids = [
        identity.vertex_id(labels.OPERATION, logical_plan, operation.position)
        for operation in logic.operations
    ]
    for operation, operation_id in zip(logic.operations, ids, strict=True):
        values: dict[str, Any] = {
            "name": operation.name,
            "kind": operation.kind,
            "position": operation.position,
            "parameters": operation.parameters,
            "output": operation.output,
            "schema": operation.schema or None,
            "logical_plan": logical_plan,
        }
        collector.add(
            Vertex(operation_id, labels.OPERATION, properties(values)),
            edge(labels.HAS, logical_plan, operation_id),
        )
        for index, position in enumerate(operation.inputs):
            collector.add(
                edge(
                    labels.FEEDS, ids[position], operation_id, {"index": index},
                    discriminator=(index,),
                )
            )  # fmt: skip
        for dataset_id in operation.datasets:
            collector.add(edge(labels.FEEDS, dataset_id, operation_id))
    collector.add(edge(labels.FEEDS, ids[-1], logic.write.dataset_id))


def _add_columns(collector: FactCollector, logic: Logic, logical_plan: str) -> None:
    uris = {use.dataset_id: use.dataset.uri for use in (*logic.reads, logic.write)}
    for flow in logic.flows:
        source = _add_column(collector, flow.source[0], uris[flow.source[0]], flow.source[1])
        target = _add_column(collector, flow.target[0], uris[flow.target[0]], flow.target[1])
        values = {
            "kind": flow.kind, "how": flow.how, "expression": flow.expression,
            "logical_plan": logical_plan,
        }  # fmt: skip
        discriminator = (logical_plan, flow.kind, flow.how)
        collector.add(edge(labels.DERIVES, source, target, values, discriminator=discriminator))
    for influence in logic.influences:
        dataset_id, path = influence.source
        source = _add_column(collector, dataset_id, uris[dataset_id], path)
        values = {"how": influence.how, "expression": influence.expression}
        collector.add(
            edge(labels.INFLUENCES, source, logical_plan, values, discriminator=(influence.how,))
        )


def _head(
    document: PlanDocument, logic: Logic, job_id: str, logical_plan: str, rules: Rules
) -> PlanHead:
    plan = document.plan
    extra = plan.write.extra
    return PlanHead(
        subject=identity.subject_id(document.scope, plan.id),
        scope=document.scope,
        plan_id=plan.id,
        execution_plan=identity.vertex_id(
            labels.EXECUTION_PLAN, document.scope, plan.id, document.content_hash
        ),
        logical_plan=logical_plan,
        job=job_id,
        target=logic.write.dataset_id,
        mode=logic.mode,
        dynamic=extra.get("dynamicPartitionOverwrite") is True
        or plan.write.name == "OverwritePartitionsDynamic",
        command=plan.write.name,
        producer=f"{plan.agent.name} {plan.agent.version}" if plan.agent else "unknown",
        reads=identity.digest(sorted({use.dataset_id for use in logic.reads})),
        partitions=_partitions(document, rules),
        names=tuple(
            (name, identity.dataset_id(place.scope, place.uri)) for name, place in logic.names
        ),
    )


def _partitions(document: PlanDocument, rules: Rules) -> tuple[tuple[str, str, str], ...]:
    """(dataset id, role, partition) of every partition that the plan names."""
    found: set[tuple[str, str, str]] = set()
    for operation in document.plan.operations:
        sources = (operation.target,) if operation.kind == "write" else operation.sources
        role = "write" if operation.kind == "write" else "read"
        for source in sources:
            for name in naming.normalise(source, document.scope, rules):
                static = _static_partition(operation) if role == "write" else None
                partition = "/".join(part for part in (name.partition, static) if part)
                if partition:
                    found.add((identity.dataset_id(name.scope, name.uri), role, partition))
    return tuple(sorted(found))


def _static_partition(operation: Operation) -> str | None:
    """``{"dt": "2026-01-01"}`` of the listener => ``dt=2026-01-01``."""
    static = operation.extra.get("staticPartitions")
    if not isinstance(static, dict) or not static:
        return None
    pairs = ((str(key), None if value is None else str(value)) for key, value in static.items())
    return naming.partition_text(pairs)


def _add_execution_plan(collector: FactCollector, document: PlanDocument, head: PlanHead) -> None:
    plan = document.plan
    system = f"{plan.system.name} {plan.system.version}"
    values = {"name": plan.name or "", "system": system, "agent": head.producer, "plan": plan.id}
    collector.add(
        Vertex(head.execution_plan, labels.EXECUTION_PLAN, properties(values)),
        edge(labels.IS, head.execution_plan, head.logical_plan),
        ExecutionPlanRow(
            id=head.execution_plan,
            subject=head.subject,
            scope=document.scope,
            plan_id=plan.id,
            content_hash=document.content_hash,
            api_version=document.api_version,
            logical_plan=head.logical_plan,
            job=head.job,
            name=plan.name or "",
            system=system,
            agent=head.producer,
            command=head.command,
            labels=_json({name: list(values) for name, values in sorted(plan.labels.items())}),
        ),
        SupportRow(head.subject, head.logical_plan),
    )


# --- facts of an execution -----------------------------------------------------------------------


def translate_execution(head: PlanHead, event: ExecutionEvent) -> Facts:
    """The facts of one execution: O(1) elements, none of them shared by all runs of a job."""
    row = _execution_row(head, event)
    day = day_id(head.job, row.at)
    collector = FactCollector()
    collector.add(
        Vertex(day, labels.DAY, properties({"date": utc_date(row.at)})),
        Vertex(row.run, labels.RUN),
        _execution_vertex(row),
        edge(labels.HAS, head.job, day),
        edge(labels.HAS, day, row.run),
        edge(labels.PERFORMED, row.run, row.id),
        edge(labels.FOLLOWED, day, head.logical_plan),
        row,
    )
    for dataset_id, role, partition in head.partitions:
        collector.add(PartitionRow(row.id, dataset_id, role, partition))
    if row.state == labels.COMPLETED:
        for name, place_id in head.names:
            name_id = _add_dataset(collector, name)
            collector.add(
                edge(labels.NAMES, name_id, place_id), NameRow(name_id, place_id, row.id, row.at)
            )
    return collector.facts()


def utc_date(at: int) -> str:
    """The UTC date of an epoch-millisecond time, ``2026-03-01``."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def day_id(job: str, at: int) -> str:
    """The id of the ``day`` vertex that an execution of the job at this time hangs by."""
    return identity.vertex_id(labels.DAY, job, utc_date(at))


def _execution_row(head: PlanHead, event: ExecutionEvent) -> ExecutionRow:
    error = _error_text(event.error)
    run_key = event.application_id or f"{head.plan_id}@{event.timestamp}"
    return ExecutionRow(
        id=identity.vertex_id(
            labels.EXECUTION, head.execution_plan, head.logical_plan, normal_event(event)
        ),
        subject=head.subject,
        plan_id=head.plan_id,
        execution_plan=head.execution_plan,
        logical_plan=head.logical_plan,
        job=head.job,
        run=identity.vertex_id(labels.RUN, head.scope, run_key),
        target=head.target,
        at=event.timestamp,
        state=labels.COMPLETED if error is None else labels.FAILED,
        duration_ns=event.duration_ns,
        error=error,
        metrics=_json(
            {
                "read": _metrics(event.extra.get("readMetrics")),
                "write": _metrics(event.extra.get("writeMetrics")),
            }
        ),
        mode=head.mode,
        dynamic=head.dynamic,
        kind="lifecycle" if head.mode == labels.LIFECYCLE else "write",
        command=head.command,
        producer=head.producer,
        application_id=event.application_id,
        scope=head.scope,
        reads=head.reads,
    )


def normal_event(event: ExecutionEvent) -> list[Any]:
    """What tells one execution of a plan from another: every field that the event carries."""
    return [
        event.plan_id,
        event.timestamp,
        event.duration_ns,
        event.discriminator,
        {name: list(values) for name, values in event.labels.items()},
        event.error,
        dict(event.extra),
    ]


def _execution_vertex(row: ExecutionRow) -> Vertex:
    values: dict[str, Scalar | None] = {
        "at": row.at,
        "state": row.state,
        "duration_ns": row.duration_ns,
        "error": row.error,
        "metrics": row.metrics,
        "mode": row.mode,
        "plan": row.plan_id,
    }
    return Vertex(row.id, labels.EXECUTION, properties(values))


def _error_text(error: Any) -> str | None:
    """null, false and "" mean that it worked; anything else is kept as text, bounded."""
    if error is None or error is False or error == "":
        return None
    text = error if isinstance(error, str) else _json(error)
    return text[:_MAX_ERROR_CHARACTERS]


def _metrics(value: Any) -> dict[str, int | float]:
    """Numbers alone, by name; agents send {} where adaptive execution hid them."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name): number
        for name, number in sorted(value.items())
        if isinstance(number, int | float) and not isinstance(number, bool)
    }


def translate(subject: Subject, rules: Rules = naming.DEFAULT_RULES) -> Facts:
    """All facts of a subject: the plan's and those of every execution."""
    facts, head = translate_plan(subject.document, rules)
    return merge([facts, *(translate_execution(head, event) for event in subject.events)])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
