"""One plan as Spline shows it: its operations, schemas, types, and one operation in detail.

Read from the plan's document, so URIs, names and literals are the producer's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph_model.answers.consumer.expressions import Trees
from graph_model.answers.consumer.identifiers import known_id, local_id
from graph_model.errors import NotFound
from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Operation,
    OperationKind,
    Product,
    outputs,
    type_text,
)

_TYPES: Final[dict[OperationKind, str]] = {
    "read": "Read",
    "transform": "Transformation",
    "write": "Write",
}
_UNNAMED: Final = "Transform"  # the name in ``documents`` for an operation without one
#: The local ids that Spline's UI expects for the write: those of agents before 0.7, and of later
#: ones.
_WRITE_SPELLINGS: Final = frozenset({"0", "op-0"})

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SchemaAttribute:
    id: str
    name: str
    data_type_id: str | None


@dataclass(frozen=True, slots=True)
class DataSourceReference:
    """A source or target; ``source_type`` is its format, None where not reported."""

    source: str
    source_type: str | None


@dataclass(frozen=True, slots=True)
class OperationNode:
    id: str
    type: str
    name: str
    properties: JsonObject


@dataclass(frozen=True, slots=True)
class PlanInfo:
    id: str
    name: str
    system: Product
    agent: Product | None
    extra: JsonObject
    inputs: tuple[DataSourceReference, ...]
    output: DataSourceReference


@dataclass(frozen=True, slots=True)
class DetailedPlan:
    """``edges`` are (input, consumer)."""

    plan: PlanInfo
    nodes: tuple[OperationNode, ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DetailedOperation:
    """``schemas`` are those of the inputs in order, then its own."""

    operation: OperationNode
    data_types: tuple[JsonObject, ...]
    schemas: tuple[tuple[SchemaAttribute, ...], ...]


def plan_info(plan: ExecutionPlan) -> PlanInfo:
    """The fields of a plan in lists of plans and on its page."""
    shown = outputs(plan)
    emitted = dict.fromkeys(attribute for listed in unique(shown.values()) for attribute in listed)
    attributes = schema_of(plan, list(emitted))
    name = plan.name or plan.id
    return PlanInfo(
        id=plan.id,
        name=name,
        system=plan.system,
        agent=plan.agent,
        extra={
            **plan.extra,
            "attributes": [
                {"id": item.id, "name": item.name, "dataTypeId": item.data_type_id}
                for item in attributes
            ],
            "dataTypes": [
                *_declared(plan).values(),
                *_undeclared(plan, (item.data_type_id for item in attributes)),
            ],
            "appName": name,
        },
        inputs=tuple(
            DataSourceReference(source, _text(operation.extra.get("sourceType")))
            for operation in plan.reads
            for source in operation.sources
        ),
        output=DataSourceReference(
            plan.write.target, _text(plan.write.extra.get("destinationType"))
        ),
    )


def unique(
    schemas: Iterable[Sequence[str] | None],
) -> list[Sequence[str]]:
    """Each schema once: thousands of operations may pass on the same one."""
    return list({id(schema): schema for schema in schemas if schema is not None}.values())


def detailed_plan(plan: ExecutionPlan) -> DetailedPlan:
    """The operations of a plan and the edges between them; duplicate edges are merged."""
    nodes = tuple(_node(plan, operation, {}) for operation in plan.operations)
    edges = {
        (local_id(plan.id, child), local_id(plan.id, operation.id)): None
        for operation in plan.operations
        for child in operation.children
    }
    return DetailedPlan(plan_info(plan), nodes, tuple(edges))


def detailed_operation(plan: ExecutionPlan, sent: str) -> DetailedOperation:
    """One operation by its local id as the client sent it; raises NotFound.

    ``0`` and ``op-0`` mean the write where no operation has that id.
    """
    operations = {operation.id: operation for operation in plan.operations}
    key = known_id(sent, operations)
    if key is None and sent in _WRITE_SPELLINGS:
        key = plan.write.id
    if key is None:
        raise NotFound("operation", f"{plan.id}:{sent}")
    operation = operations[key]
    shown = outputs(plan)
    schemas = tuple(schema_of(plan, shown[listed] or ()) for listed in (*operation.children, key))
    used = {item.data_type_id for schema in schemas for item in schema}
    properties = {
        "inputSources": list(operation.sources) if operation.kind == "read" else None,
        "outputSource": operation.target if operation.kind == "write" else None,
        "append": operation.append if operation.kind == "write" else None,
        **Trees(plan).replaced(dict(operation.params)),
        **operation.extra,
    }
    return DetailedOperation(_node(plan, operation, properties), _used_types(plan, used), schemas)


def schema_of(plan: ExecutionPlan, attributes: Sequence[str]) -> tuple[SchemaAttribute, ...]:
    """The attributes of a schema; one that the document does not declare has its id as its name."""
    found = []
    for key in attributes:
        known = plan.attributes.get(key)
        name, data_type = (key, None) if known is None else (known.name, known.data_type)
        found.append(SchemaAttribute(local_id(plan.id, key), name, data_type))
    return tuple(found)


def _node(plan: ExecutionPlan, operation: Operation, properties: JsonObject) -> OperationNode:
    kind = _TYPES[operation.kind]
    name = kind if operation.name == _UNNAMED else operation.name
    return OperationNode(local_id(plan.id, operation.id), kind, name, properties)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


# --- data types ----------------------------------------------------------------------------------


def _declared(plan: ExecutionPlan) -> dict[str, JsonObject]:
    """The types as declared in the document, each with the hint and the flag that viewers need."""
    listed = plan.extra.get("dataTypes")
    found: dict[str, JsonObject] = {}
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping) and isinstance(item.get("id"), str):
            hint = "dt.Array" if "elementDataTypeId" in item else "dt.Simple"
            hint = "dt.Struct" if "fields" in item else hint
            found[item["id"]] = {"_typeHint": hint, "nullable": True, **item}
    return found


def _undeclared(plan: ExecutionPlan, used: Iterable[str | None]) -> list[JsonObject]:
    """Types that the document does not declare: some clients write type names instead of ids."""
    missing = dict.fromkeys(key for key in used if key is not None)
    return [
        {"_typeHint": "dt.Simple", "id": key, "name": type_text(plan.data_types, key) or key,
         "nullable": True}
        for key in missing
        if key not in plan.data_types
    ]  # fmt: skip


def _used_types(plan: ExecutionPlan, used: Iterable[str | None]) -> tuple[JsonObject, ...]:
    """The types in use, with the types nested in them, in the document's order."""
    declared = _declared(plan)
    wanted: set[str] = set()
    waiting = [key for key in used if key is not None]
    while waiting:
        key = waiting.pop()
        known = plan.data_types.get(key)
        if key in wanted:
            continue
        wanted.add(key)
        if known is not None:
            waiting.extend(field for _, field in known.fields)
            waiting.extend([known.element] if known.element is not None else [])
    return (
        *(item for key, item in declared.items() if key in wanted),
        *_undeclared(plan, sorted(wanted)),
    )
