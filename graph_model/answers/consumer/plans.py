"""One plan as Spline shows it: its operations, schemas, types, one operation in detail, and the ids
of all of them.

Read from the plan's document, so URIs, names and literals are the producer's own. Expressions are
the trees that Spline puts into an operation's parameters:

    {"_typeHint": "expr.Binary", "dataTypeId": …, "name": "+", "symbol": "+", "children": [
        {"_typeHint": "expr.AttrRef", "dataTypeId": …, "name": "a", "refId": "<plan>:attr-0"}, …]}

A plan's expressions may share parts and may be thousands deep, so a tree is bounded in nodes and
depth; a part beyond that is one leaf with its text. All walks are iterative.

Ids are spelled as Spline spells them.

    operation, attribute   <plan id>:<local id>                 83b6be41-…:op-1
    event                  <plan id>:<time, base 36>            83b6be41-…:lozl4ow0
                           <plan id>:<time, base 36>-<our id>   where another event has that time

A viewer cuts off all behind the last colon to get the plan's id, so colons (and whatever a path
of a URL may not hold) are percent-encoded in local ids. Those of the agents hold nothing of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from graph_model import identity, labels
from graph_model.errors import InvalidDocument, NotFound
from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Function,
    Operation,
    OperationKind,
    Product,
    Reference,
    as_reference,
    outputs,
    read_uuid,
    type_text,
)
from graph_model.producers.spline.expressions.text import Renderer

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
    schema = []
    for key in attributes:
        known = plan.attributes.get(key)
        name, data_type = (key, None) if known is None else (known.name, known.data_type)
        schema.append(SchemaAttribute(local_id(plan.id, key), name, data_type))
    return tuple(schema)


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
    types: dict[str, JsonObject] = {}
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping) and isinstance(item.get("id"), str):
            hint = "dt.Array" if "elementDataTypeId" in item else "dt.Simple"
            hint = "dt.Struct" if "fields" in item else hint
            types[item["id"]] = {"_typeHint": hint, "nullable": True, **item}
    return types


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


MOST_NODES: Final = 20_000
MOST_DEPTH: Final = 100
_CHARACTERS_OF_A_NODE: Final = 200
_ALIAS: Final = "expr.Alias"
_BINARY: Final = "expr.Binary"
_UDF: Final = "expr.UDF"
_LEAF: Final = "expr.GenericLeaf"
_GENERIC: Final = "expr.Generic"
_UNTYPED: Final = "expr.UntypedExpression"
_HINTS: Final = frozenset({_ALIAS, _BINARY, _UDF, _LEAF, _GENERIC, _UNTYPED})

Tree = dict[str, Any]


class Trees:
    """Builds trees for one operation, whose parameters share one bound on the number of nodes."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._renderer = Renderer(plan)
        self._left = MOST_NODES
        self._weights: dict[str, int] = {}

    def replaced(self, value: Any) -> Any:
        """A copy of a JSON value with every reference in it replaced by its tree. Iterative."""
        whole: list[Any] = [None]
        waiting: list[tuple[Any, Any, Any]] = [(whole, 0, value)]
        while waiting:
            holder, place, current = waiting.pop()
            reference = as_reference(current)
            if reference is not None:
                holder[place] = self.tree(reference)
            elif isinstance(current, Mapping):
                copied = dict.fromkeys(current)
                holder[place] = copied
                waiting.extend((copied, key, current[key]) for key in reversed(list(current)))
            elif isinstance(current, list):
                listed: list[Any] = [None] * len(current)
                holder[place] = listed
                waiting.extend((listed, n, current[n]) for n in range(len(current) - 1, -1, -1))
            else:
                holder[place] = current
        return whole[0]

    def tree(self, reference: Reference) -> Tree:
        """The tree below a reference; attributes are leaves."""
        holder: list[Tree] = [{}]
        waiting: list[tuple[list[Tree], int, Reference, int]] = [(holder, 0, reference, 1)]
        while waiting:
            siblings, place, current, depth = waiting.pop()
            function = self._plan.functions.get(current.id)
            if current.kind == "attribute" or function is None:
                siblings[place] = self._leaf(current)
            elif depth > MOST_DEPTH or not self._has_room(function):
                siblings[place] = self._cut(current, function)
            else:
                siblings[place], children = self._node(function)
                waiting.extend(
                    (children, number, child, depth + 1)
                    for number, child in reversed(list(enumerate(function.children)))
                    if number < len(children)
                )
        return _finished(holder[0])

    def _has_room(self, function: Function) -> bool:
        """Whether the node's children fit into the bound, repeated parameters included; counts them
        if so.
        """
        weight = self._weights.get(function.id)
        if weight is None:
            parameters = len(identity.spelled(dict(function.params))) // _CHARACTERS_OF_A_NODE
            weight = self._weights[function.id] = len(function.children) + parameters
        fits = weight <= self._left
        self._left -= weight if fits else 0
        return fits

    def _node(self, function: Function) -> tuple[Tree, list[Tree]]:
        """A node and the list for its children; all still empty."""
        hint = function.hint if function.hint in _HINTS else _GENERIC
        node = _start(hint, function.data_type, function.name)
        children: list[Tree] = [{} for _ in function.children]
        if hint == _ALIAS and children:
            node |= {"alias": function.params.get("name", function.name), "child": children[:1]}
            return node, node["child"]
        if hint == _BINARY:
            node |= {"symbol": function.symbol or function.name, "children": children}
        elif hint == _UDF:
            node |= {"children": children}
        else:
            node |= {"exprType": function.class_name, "params": dict(function.params)}
            if hint == _LEAF:
                return node, []
            node |= {"children": children}
        return node, children

    def _leaf(self, reference: Reference) -> Tree:
        """A column, a literal, or a reference to something that the document does not hold."""
        if reference.kind == "attribute":
            attribute = self._plan.attributes.get(reference.id)
            return _start(
                "expr.AttrRef",
                None if attribute is None else attribute.data_type,
                self._renderer.definitions.name_of(reference.id),
            ) | {"refId": local_id(self._plan.id, reference.id)}
        constant = self._plan.constants.get(reference.id)
        if constant is None:
            return _start(_UNTYPED, None, "?") | {"exprType": "", "params": {}, "children": []}
        return _start("expr.Literal", constant.data_type, None) | {"value": constant.value}

    def _cut(self, reference: Reference, function: Function) -> Tree:
        text = self._renderer.text(reference, inline=False)
        return _start(_LEAF, function.data_type, text) | {
            "exprType": function.class_name,
            "params": {},
        }


def _start(hint: str, data_type: str | None, name: str | None) -> Tree:
    return {"_typeHint": hint, "dataTypeId": data_type, "name": name}


def _finished(root: Tree) -> Tree:
    """``child`` was built as a list; its one entry replaces it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node.get("child"), list):
            (node["child"],) = node["child"]
            waiting.append(node["child"])
        waiting.extend(node.get("children", ()))
    return root


# --- ids -----------------------------------------------------------------------------------------

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST_DIGITS: Final = 12
_RUN: Final = "run:"


@dataclass(frozen=True, slots=True)
class EventId:
    """The plan, the time and the execution that an event id names; ``execution`` None in the short
    form.
    """

    plan_id: str
    at: int
    execution: str | None


def base36(number: int) -> str:
    """``1234567890 => kf12oi``."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def event_id(plan_id: str, at: int, execution: str | None = None) -> str:
    """With an ``execution``, the form that distinguishes events of one time."""
    plain = f"{plan_id}:{base36(at)}"
    return plain if execution is None else f"{plain}-{execution}"


def read_event_id(text: str) -> EventId:
    """Raises NotFound for a text that is not an event id."""
    plan_id, separator, rest = text.rpartition(":")
    digits, _, execution = rest.partition("-")
    if not separator or not 0 < len(digits) <= _MOST_DIGITS or set(digits) - set(_DIGITS):
        raise NotFound("event", text)
    # A UUID in any case; the key of an OpenLineage run (run:…) as its client spells it.
    known = plan_id if ":" in plan_id else plan_id.lower()
    return EventId(known, int(digits, 36), execution or None)


def local_id(plan_id: str, identifier: str) -> str:
    """The id of a part of a plan."""
    return f"{plan_id}:{quote(identifier, safe='')}"


def read_plan_id(text: str) -> str:
    """A plan's id in lower case; raises NotFound for a text that is not a UUID."""
    try:
        return read_uuid(text, "")
    except InvalidDocument:
        raise NotFound("execution plan", text) from None


def is_event_plan(text: str) -> bool:
    """Whether this is a logical plan's id or an OpenLineage run's key, so that
    no document has it.
    """
    return text.startswith(_RUN) or identity.kind_of(text) == labels.LOGICAL_PLAN


def split_local_id(text: str, kind: str) -> tuple[str, str]:
    """(plan id, local id as the client sent it); raises NotFound.

    The key of an OpenLineage run contains colons: the last colon separates it from the local id.
    """
    cut = str.rpartition if text.startswith(_RUN) else str.partition
    plan_id, separator, identifier = cut(text, ":")
    if not separator or not identifier:
        raise NotFound(kind, text)
    if is_event_plan(plan_id):
        return plan_id, identifier
    try:
        return read_uuid(plan_id, ""), identifier
    except InvalidDocument:
        raise NotFound(kind, text) from None


def known_id(sent: str, known: Container[str]) -> str | None:
    """The local id that matches; a proxy may already have percent-decoded the one sent."""
    decoded = unquote(sent)
    if decoded in known and quote(decoded, safe="") == sent:
        return decoded
    return sent if sent in known else None
