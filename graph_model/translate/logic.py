"""What a plan does, free of when, by whom and under which ids.

Steps 1 to 3 of the translation: names, column lineage and rendered operations, gathered in one
value whose digest is the fingerprint.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import columns as column_lineage
from graph_model import identity, labels, naming
from graph_model.documents import (
    Constant,
    ExecutionPlan,
    Operation,
    outputs,
    type_text,
)
from graph_model.errors import InvalidDocument
from graph_model.expressions import Renderer, operation_properties
from graph_model.expressions.text import shortened
from graph_model.naming import DatasetName, Rules, SchemaColumn
from graph_model.translate.spelling import spell

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
_MAX_PARAMETER_CHARACTERS: Final = 4_000
_MAX_ALTERNATIVES_CHARACTERS: Final = 20_000
#: What one plan may grow to. A short document can say much: a thousand steps that each hand on a
#: thousand columns, a thousand sources of a thousand columns each.
MOST_CHARACTERS: Final = 50_000_000
MOST_READ_COLUMNS: Final = 200_000


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A plan with what identifies its document: scope of capture, content hash, API version."""

    plan: ExecutionPlan
    scope: str
    content_hash: str
    api_version: str


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
        return spell([{"name": c.name, "type": c.type, "path": c.path} for c in self.columns])

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
    """Steps 1 to 3 of the module's docstring. Raises InvalidDocument for what grows too large."""
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
        self._characters_left = MOST_CHARACTERS
        self.gaps: set[tuple[str, str]] = {(gap.code, gap.detail) for gap in self.columns.gaps}
        self.named = {
            operation.id: self._names_of(operation.sources) for operation in self.plan.reads
        }
        self.target = self._names_of((self.plan.write.target,))[0]
        self.write = DatasetSchema(self.target, self._schema(self.columns.outputs or None))
        self.read_schemas = {
            operation.id: self._schema(self.outputs[operation.id]) for operation in self.plan.reads
        }
        self._check_read_columns()
        self._leaves = self._read_leaves()

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

    def _check_read_columns(self) -> None:
        count = sum(
            len(names) * len(self.read_schemas[key] or ()) for key, names in self.named.items()
        )
        if count > MOST_READ_COLUMNS:
            raise InvalidDocument(
                "operations.reads", f"at most {MOST_READ_COLUMNS:,} columns of all sources together"
            )

    def _counted(self, text: str) -> str:
        """The text, off the allowance of the plan."""
        self._spend(len(text))
        return text

    def _spend(self, characters: int) -> None:
        self._characters_left -= characters
        if self._characters_left < 0:
            raise InvalidDocument(
                "operations", f"schemas and expressions of at most {MOST_CHARACTERS:,} characters"
            )

    def _alternatives(self, texts: Collection[str]) -> str:
        """``a | b``: every way in which a column gets there, within bounds."""
        if len(texts) == 1:
            return next(iter(texts))
        return self._counted(shortened(" | ".join(sorted(texts)), _MAX_ALTERNATIVES_CHARACTERS))

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
        self._spend(sum(len(name) + len(kind or "") for name, kind in listed))
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
                output=self._counted(
                    spell([self._name_and_type(a) for a in self.outputs[operation.id] or ()])
                ),
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
            return spell(_format_of(operation, "destinationType"))
        shown = _format_of(operation, "sourceType") if operation.kind == "read" else {}
        for name, text in operation_properties(self.plan, operation, self.renderer):
            if name.lower() not in VOLATILE_PARAMETERS:
                shown[name] = naming.stable_text(text)[:_MAX_PARAMETER_CHARACTERS]
        return spell(shown)

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
            ColumnFlow(*key, self._alternatives(texts))
            for key, texts in sorted(expressions.items())
        )

    def _influences(self) -> tuple[ColumnInfluence, ...]:
        expressions: dict[tuple[tuple[str, str], str], set[str]] = {}
        for influence in self.columns.influences:
            for source in self._source_columns(influence.source, influence.source_path):
                expressions.setdefault((source, influence.how), set()).add(influence.expression)
        return tuple(
            ColumnInfluence(*key, self._alternatives(texts))
            for key, texts in sorted(expressions.items())
        )

    def _source_columns(self, attribute: str, below: Sequence[str]) -> list[tuple[str, str]]:
        """(dataset id, path) of a leaf attribute, in every dataset that its reads name."""
        found: dict[tuple[str, str], None] = {}
        for dataset_id, top in self._leaves.get(attribute, ()):
            found[(dataset_id, _path_below(top, below))] = None
        return list(found)

    def _read_leaves(self) -> dict[str, list[tuple[str, str]]]:
        """Per attribute that a read emits: where it lies, as (dataset id, path)."""
        leaves: dict[str, list[tuple[str, str]]] = {}
        for operation in self.plan.reads:
            datasets = [use.dataset_id for use in self._uses(operation) if use.columns is not None]
            schema = self.read_schemas[operation.id] or ()
            for attribute, column in zip(self.outputs[operation.id] or (), schema, strict=False):
                leaves.setdefault(attribute, []).extend((key, column.path) for key in datasets)
        return leaves

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


def _path_below(top: str, below: Sequence[str]) -> str:
    """``customer`` and ("Address", "city") => ``customer.address.city``."""
    if not below:
        return top
    return naming.column_path([*naming.split_path(top), *(naming.fold(part) for part in below)])


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
