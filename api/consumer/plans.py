"""One plan as Spline shows it: its operations, schemas, types, one operation in detail, and the ids
of all of them, as JSON.

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
from typing import Any, Final
from urllib.parse import quote, unquote

from graph_model import identity
from graph_model.answers.consumer.executions import EventId
from graph_model.answers.consumer.plan_documents import RUN, AttributeGraph, own_plan_id
from graph_model.errors import NotFound
from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Function,
    Operation,
    OperationKind,
    Product,
    Reference,
    as_reference,
    outputs,
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

Json = dict[str, Any]


def plan_json(plan: ExecutionPlan) -> Json:
    """A plan without its operations."""
    emitted = [attribute for listed in _unique(outputs(plan).values()) for attribute in listed]
    attributes = _schema(plan, dict.fromkeys(emitted))
    used = (item["dataTypeId"] for item in attributes)
    name = plan.name or plan.id
    return {
        "_id": plan.id,
        "name": name,
        "systemInfo": product_json(plan.system),
        "agentInfo": None if plan.agent is None else product_json(plan.agent),
        "extra": {
            **plan.extra,
            "attributes": attributes,
            "dataTypes": [*_declared(plan).values(), *_undeclared(plan, used)],
            "appName": name,
        },
        "inputs": [
            _place(source, operation.extra.get("sourceType"))
            for operation in plan.reads
            for source in operation.sources
        ],
        "output": _place(plan.write.target, plan.write.extra.get("destinationType")),
    }


def product_json(product: Product) -> Json:
    """The system or the agent."""
    return {"name": product.name, "version": product.version}


def _place(source: str, kind: object) -> Json:
    """A source or target and its format, null where not reported."""
    return {"source": source, "sourceType": kind if isinstance(kind, str) else None}


def _unique(schemas: Iterable[Sequence[str] | None]) -> list[Sequence[str]]:
    """Each schema once: thousands of operations may pass on the same one."""
    return list({id(schema): schema for schema in schemas if schema is not None}.values())


def detailed_json(plan: ExecutionPlan) -> Json:
    """A plan with its operations and the edges between them; duplicate edges are merged."""
    edges = {
        (local_id(plan.id, child), local_id(plan.id, operation.id)): None
        for operation in plan.operations
        for child in operation.children
    }
    return {
        "executionPlan": plan_json(plan),
        "graph": {
            "nodes": [_node(plan, operation, {}) for operation in plan.operations],
            "edges": [edge_json(child, consumer) for child, consumer in edges],
        },
    }


def edge_json(source: str, target: str) -> Json:
    """An edge of any graph."""
    return {"source": source, "target": target}


def operation_json(plan: ExecutionPlan, sent: str) -> Json:
    """One operation by its local id as the client sent it, with the schemas of its inputs in order
    and its own behind them: ``inputs`` and ``output`` are places there. Raises NotFound.

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
    schemas = [_schema(plan, shown[listed] or ()) for listed in (*operation.children, key)]
    used = {item["dataTypeId"] for schema in schemas for item in schema}
    properties = {
        "inputSources": list(operation.sources) if operation.kind == "read" else None,
        "outputSource": operation.target if operation.kind == "write" else None,
        "append": operation.append if operation.kind == "write" else None,
        **Trees(plan).replaced(dict(operation.params)),
        **operation.extra,
    }
    last = len(schemas) - 1
    return {
        "operation": _node(plan, operation, properties),
        "dataTypes": _used_types(plan, used),
        "schemas": schemas,
        "inputs": list(range(last)),
        "output": last,
    }


def _schema(plan: ExecutionPlan, attributes: Iterable[str]) -> list[Json]:
    """The attributes of a schema; one that the document does not declare has its id as its name."""
    schema = []
    for key in attributes:
        known = plan.attributes.get(key)
        name, data_type = (key, None) if known is None else (known.name, known.data_type)
        schema.append({"id": local_id(plan.id, key), "name": name, "dataTypeId": data_type})
    return schema


def _node(plan: ExecutionPlan, operation: Operation, properties: Json) -> Json:
    kind = _TYPES[operation.kind]
    name = kind if operation.name == _UNNAMED else operation.name
    key = local_id(plan.id, operation.id)
    return {"_id": key, "_type": kind, "name": name, "properties": properties}


def attributes_json(plan_id: str, graph: AttributeGraph) -> Json:
    """Attributes of a plan and the ones that each derives from."""
    return {
        "nodes": [
            {
                "_id": local_id(plan_id, node.attribute),
                "name": node.name,
                "originOpId": local_id(plan_id, node.origin),
                "transOpIds": [local_id(plan_id, key) for key in node.passed],
            }
            for node in graph.nodes
        ],
        "edges": [
            edge_json(local_id(plan_id, derived), local_id(plan_id, source))
            for derived, source in graph.edges
        ],
    }


# --- data types ----------------------------------------------------------------------------------


def _declared(plan: ExecutionPlan) -> dict[str, Json]:
    """The types as declared in the document, each with the hint and the flag that viewers need."""
    listed = plan.extra.get("dataTypes")
    types: dict[str, Json] = {}
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping) and isinstance(item.get("id"), str):
            hint = "dt.Array" if "elementDataTypeId" in item else "dt.Simple"
            hint = "dt.Struct" if "fields" in item else hint
            types[item["id"]] = {"_typeHint": hint, "nullable": True, **item}
    return types


def _undeclared(plan: ExecutionPlan, used: Iterable[str | None]) -> list[Json]:
    """Types that the document does not declare: some clients write type names instead of ids."""
    missing = dict.fromkeys(key for key in used if key is not None)
    return [
        {"_typeHint": "dt.Simple", "id": key, "name": type_text(plan.data_types, key) or key,
         "nullable": True}
        for key in missing
        if key not in plan.data_types
    ]  # fmt: skip


def _used_types(plan: ExecutionPlan, used: Iterable[str | None]) -> list[Json]:
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
    return [
        *(item for key, item in declared.items() if key in wanted),
        *_undeclared(plan, sorted(wanted)),
    ]


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

    def tree(self, reference: Reference) -> Json:
        """The tree below a reference; attributes are leaves."""
        holder: list[Json] = [{}]
        waiting: list[tuple[list[Json], int, Reference, int]] = [(holder, 0, reference, 1)]
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

    def _node(self, function: Function) -> tuple[Json, list[Json]]:
        """A node and the list for its children; all still empty."""
        hint = function.hint if function.hint in _HINTS else _GENERIC
        node = _start(hint, function.data_type, function.name)
        children: list[Json] = [{} for _ in function.children]
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

    def _leaf(self, reference: Reference) -> Json:
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

    def _cut(self, reference: Reference, function: Function) -> Json:
        text = self._renderer.text(reference, inline=False)
        return _start(_LEAF, function.data_type, text) | {
            "exprType": function.class_name,
            "params": {},
        }


def _start(hint: str, data_type: str | None, name: str | None) -> Json:
    return {"_typeHint": hint, "dataTypeId": data_type, "name": name}


def _finished(root: Json) -> Json:
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
    return EventId(text, known, int(digits, 36), execution or None)


def local_id(plan_id: str, identifier: str) -> str:
    """The id of a part of a plan."""
    return f"{plan_id}:{quote(identifier, safe='')}"


def split_local_id(text: str, kind: str) -> tuple[str, str]:
    """(plan id, local id as the client sent it); raises NotFound.

    The key of an OpenLineage run contains colons: the last colon separates it from the local id.
    """
    cut = str.rpartition if text.startswith(RUN) else str.partition
    plan_id, separator, identifier = cut(text, ":")
    known = own_plan_id(plan_id)
    if not separator or not identifier or known is None:
        raise NotFound(kind, text)
    return known, identifier


def known_id(sent: str, known: Container[str]) -> str | None:
    """The local id that matches; a proxy may already have percent-decoded the one sent."""
    decoded = unquote(sent)
    if decoded in known and quote(decoded, safe="") == sent:
        return decoded
    return sent if sent in known else None
