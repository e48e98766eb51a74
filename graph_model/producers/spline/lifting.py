"""Spline producer API 1 as API 1.2, so that one reader serves both.

Agents fall back to API 1 (content type ``application/json``) when a server does not advertise its
versions, or when they are old. There an operation has an integer id, its columns in ``schema`` and
its name in ``extra.name``; attributes stand in ``extraInfo.attributes`` and do not say where they
come from; expressions are trees inside ``params``, each node marked by its ``_typeHint``. API 1.1
is 1.2 without labels and needs nothing from here.

    {"projectList": [{"_typeHint": "expr.AttrRef", "refId": "attr-0"}]}
        => {"projectList": [{"__attrId": "attr-0"}]}

Where an attribute comes from is worked out by the operation that makes it (``_ORIGINS``): the
rules of Spline's own server for Project, Aggregate, SubqueryAlias and Generate (there for the first
generated column, here for all), and beyond it Union, Window and View, whose columns correspond to
their inputs by position. Operations that carry the positions in ``params`` (Expand, common table
expressions) keep them. Anything else is left as it is; MERGE has no content in API 1.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.json_fields import JsonObject, read_object

_MOST_BRANCHES: Final = 1_000_000
"""Columns times inputs, over the unions of a plan. A union may name one input ten thousand times,
so a short document could require any number; translation refuses half as many derivations.
"""

Inner = list[tuple[object, Any, Any]]

# symbol of a binary operator: the name and the class that API 1.2 gives it
_OPERATORS: Final[Mapping[str, tuple[str, str]]] = {
    "+": ("add", "Add"),
    "-": ("subtract", "Subtract"),
    "*": ("multiply", "Multiply"),
    "/": ("divide", "Divide"),
    "%": ("remainder", "Remainder"),
    "=": ("equalto", "EqualTo"),
    "<=>": ("equalnullsafe", "EqualNullSafe"),
    "<": ("lessthan", "LessThan"),
    "<=": ("lessthanorequal", "LessThanOrEqual"),
    ">": ("greaterthan", "GreaterThan"),
    ">=": ("greaterthanorequal", "GreaterThanOrEqual"),
    "&&": ("and", "And"),
    "||": ("or", "Or"),
    "&": ("bitwiseand", "BitwiseAnd"),
    "|": ("bitwiseor", "BitwiseOr"),
    "^": ("bitwisexor", "BitwiseXor"),
}


def lift(document: object) -> JsonObject:
    """An API 1 plan in the form of API 1.2; a plan in that form is returned unchanged.

    Expression ids count the nodes in document order, so one document always gives the same plan.
    Raises InvalidDocument, in the document's own spelling, where its outline is broken;
    ``read_plan`` checks the rest.
    """
    plan = read_object(document, "")
    if "attributes" in plan or "expressions" in plan:
        return plan
    extra = _object_or_empty(plan.get("extraInfo"), "extraInfo")
    expressions = _Expressions()
    operations = read_object(plan.get("operations"), "operations")
    attributes = _lift_attributes(extra.get("attributes"))
    unions = _UnionColumns(operations, attributes)
    operations = _lift_operations(operations, expressions, unions)
    _trace(operations, attributes, expressions)
    lifted = {
        **plan,
        "operations": operations,
        "attributes": list(attributes.values()),
        "expressions": {"functions": expressions.functions, "constants": expressions.constants},
        "extraInfo": {key: value for key, value in extra.items() if key != "attributes"},
    }
    if lifted.get("name") is None and extra.get("appName") is not None:
        lifted["name"] = extra["appName"]
    return lifted


def lift_event(document: object) -> JsonObject:
    """An API 1 event as API 1.2 has it: ``durationNs`` out of ``extra``, text made a number.

    A duration that is no count of nanoseconds stays where it is. Raises InvalidDocument.
    """
    event = read_object(document, "")
    extra = _object_or_empty(event.get("extra"), "extra")
    duration = _nanoseconds(extra.get("durationNs"))
    if duration is None or event.get("durationNs") is not None:
        return event
    rest = {key: value for key, value in extra.items() if key != "durationNs"}
    return {**event, "durationNs": duration, "extra": rest}


def _nanoseconds(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**63 else None


# --- operations and attributes -----------------------------------------------------------------


def _lift_operations(
    operations: JsonObject, expressions: _Expressions, unions: _UnionColumns
) -> dict[str, Any]:
    def lift_one(item: object, path: str) -> dict[str, Any]:
        return _lift_operation(read_object(item, path), path, expressions, unions)

    lifted = {**operations, "write": lift_one(operations.get("write"), "operations.write")}
    for key in ("reads", "other"):
        path = f"operations.{key}"
        listed = _list(operations.get(key), path)
        lifted[key] = [lift_one(item, f"{path}[{index}]") for index, item in enumerate(listed)]
    return lifted


def _lift_operation(
    operation: JsonObject, path: str, expressions: _Expressions, unions: _UnionColumns
) -> dict[str, Any]:
    extra = dict(_object_or_empty(operation.get("extra"), f"{path}.extra"))
    lifted = {key: value for key, value in operation.items() if key != "schema"}
    lifted["id"] = _operation_id(operation.get("id"))
    if "childIds" in operation:
        children = _list(operation["childIds"], f"{path}.childIds")
        lifted["childIds"] = [_operation_id(child) for child in children]
    if operation.get("schema") is not None:
        own = unions.made_by(operation)
        listed = _list(operation["schema"], f"{path}.schema")
        lifted["output"] = [
            own.get(item, item) if isinstance(item, str) else item for item in listed
        ]
    if operation.get("name") is None and extra.get("name") is not None:
        lifted["name"] = extra.pop("name")
    lifted["extra"] = extra
    if "params" in operation:
        lifted["params"] = expressions.lift(operation["params"], unions.read_by(operation))
    return lifted


def _operation_id(value: object) -> object:
    """The agent cut it: 3 => "op-3". Other ids are left to ``read_plan``."""
    return f"op-{value}" if isinstance(value, int) and not isinstance(value, bool) else value


def _lift_attributes(listed: object) -> dict[str, dict[str, Any]]:
    path = "extraInfo.attributes"
    attributes: dict[str, dict[str, Any]] = {}
    for index, item in enumerate(_list(listed, path)):
        attribute = dict(read_object(item, f"{path}[{index}]"))
        if "dataTypeId" in attribute:
            attribute["dataType"] = attribute.pop("dataTypeId")
        identifier = attribute.get("id")
        if not isinstance(identifier, str):
            raise InvalidDocument(f"{path}[{index}].id", "a string")
        if attributes.setdefault(identifier, attribute) is not attribute:
            raise InvalidDocument(path, f"attribute ids used once, not {identifier[:100]!r} twice")
    return attributes


class _UnionColumns:
    """Attributes for the unions of agents before 0.5.3, which gave them those of their first input.

    Such a union stands for the rows of every input, so its columns get ids of their own, there and
    in the operations above:

        Union [a1] over [a1] and [b1], Project a1  =>  Union [a1~1], Project a1~1

    https://github.com/AbsaOSS/spline-spark-agent/issues/65
    """

    def __init__(self, operations: JsonObject, attributes: dict[str, dict[str, Any]]) -> None:
        listed = (
            *_objects([operations.get("write")]),
            *_objects(operations.get("reads")),
            *_objects(operations.get("other")),
        )
        self._attributes = attributes
        self._operations = {_key(item): item for item in listed}
        self._made: dict[str, dict[str, str]] = {}
        self._branches = 0
        if any(map(_is_union, listed)):
            for operation in listed:
                self._name(operation)

    def made_by(self, operation: JsonObject) -> Mapping[str, str]:
        """Attribute => its id in the output of an operation, where that is another one."""
        return self._made.get(_key(operation), {})

    def read_by(self, operation: JsonObject) -> Mapping[str, str]:
        """The same for the inputs of an operation; nothing is copied, as inputs may be wide."""
        made = (self._made.get(child) for child in dict.fromkeys(_keys_of_inputs(operation)))
        known = [names for names in made if names]
        return ChainMap(*known) if len(known) > 1 else next(iter(known), {})

    def _name(self, top: JsonObject) -> None:
        """Inputs first; a cycle, which the reader of the plan refuses, ends anywhere."""
        stack = [(_key(top), False)]
        entered: set[str] = set()
        while stack:
            key, inputs_done = stack.pop()
            operation = self._operations.get(key)
            if operation is None or key in self._made:
                continue
            if inputs_done:
                self._made[key] = self._outputs_of(operation, key)
            elif key not in entered:
                entered.add(key)
                stack.append((key, True))
                stack.extend((child, False) for child in _keys_of_inputs(operation))

    def _outputs_of(self, operation: JsonObject, key: str) -> dict[str, str]:
        read = self.read_by(operation)
        if operation.get("schema") is None:
            return read if isinstance(read, dict) else {}
        output, inputs_of = _attribute_ids(operation["schema"]), _keys_of_inputs(operation)
        if isinstance(read, ChainMap) or _is_union(operation):
            self._branches += len(output) * len(inputs_of)
            if self._branches > _MOST_BRANCHES:
                raise InvalidDocument("operations", f"unions of at most {_MOST_BRANCHES:,} columns")
        made = {item: read[item] for item in output if item in read}
        if not _is_union(operation) or any(
            self._width(child) != len(output) for child in inputs_of
        ):
            return made
        inputs = [self._outputs(child) for child in inputs_of]
        if not inputs or any(len(columns) != len(output) for columns in inputs):
            return made
        for item, *columns in zip(output, *inputs, strict=True):
            if made.get(item, item) == columns[0] and len(set(columns)) > 1:
                made[item] = self._new(item, key)
        return made

    def _width(self, key: str) -> int:
        schema = self._operations.get(key, {}).get("schema")
        return len(schema) if isinstance(schema, list) else 0

    def _outputs(self, key: str) -> tuple[str, ...]:
        made = self._made.get(key, {})
        output = _attribute_ids(self._operations.get(key, {}).get("schema"))
        return tuple(made.get(item, item) for item in output)

    def _new(self, attribute: str, union: str) -> str:
        name = f"{attribute}~{union}"
        while name in self._attributes:
            name += "~"
        self._attributes[name] = {**self._attributes.get(attribute, {}), "id": name}
        return name


def _objects(listed: object) -> list[JsonObject]:
    """The JSON objects of a list; what is none is reported where the operations are lifted."""
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _key(operation: JsonObject) -> str:
    return str(operation.get("id"))


def _keys_of_inputs(operation: JsonObject) -> list[str]:
    children = operation.get("childIds")
    return [str(child) for child in children] if isinstance(children, list) else []


def _is_union(operation: JsonObject) -> bool:
    extra = operation.get("extra")
    name = operation.get("name") or (extra.get("name") if isinstance(extra, dict) else None)
    return _kind({"name": name}) == "Union"


# --- expression trees --------------------------------------------------------------------------


class _Expressions:
    """Takes expression trees apart into the flat lists of API 1.2. Depth costs no Python stack."""

    def __init__(self) -> None:
        self.functions: list[dict[str, Any]] = []
        self.constants: list[dict[str, Any]] = []
        self._branches = 0
        self._columns: Mapping[str, str] = {}

    def lift(self, value: object, columns: Mapping[str, str]) -> Any:
        """``value`` with a reference in the place of each expression tree, at any depth;
        ``columns`` are attributes that have another id.
        """
        self._columns = columns
        result: list[Any] = [None]
        stack: Inner = [(value, result, 0)]
        while stack:
            current, holder, key = stack.pop()
            holder[key], inner = self._shell(current)
            stack.extend(reversed(inner))
        return result[0]

    def union(self, attributes: Sequence[str]) -> dict[str, str]:
        """The synthetic function by which API 1.2 represents the stacked rows of several inputs."""
        self._branches += len(attributes)
        if self._branches > _MOST_BRANCHES:
            raise InvalidDocument("operations", f"unions of at most {_MOST_BRANCHES:,} columns")
        references = [{"__attrId": attribute} for attribute in attributes]
        return self._add(
            self.functions,
            {"name": "union", "childRefs": references, "extra": {"synthetic": True}},
        )

    def _shell(self, value: object) -> tuple[Any, Inner]:
        """A value without its contents, and where each of these belongs."""
        if isinstance(value, list):
            items: list[Any] = [None] * len(value)
            return items, [(item, items, index) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value, []
        hint = _hint(value)
        if hint == "AttrRef" and isinstance(value.get("refId"), str):
            return {"__attrId": self._columns.get(value["refId"], value["refId"])}, []
        if hint == "Literal":
            return self._constant(value), []
        if hint and hint != "AttrRef":
            return self._function(value, hint)
        fields: dict[str, Any] = dict.fromkeys(value)
        return fields, [(item, fields, key) for key, item in value.items()]

    def _constant(self, node: JsonObject) -> dict[str, str]:
        constant = {"value": node.get("value"), "extra": _expression_extra("Literal", "Literal")}
        if "dataTypeId" in node:
            constant["dataType"] = node["dataTypeId"]
        return self._add(self.constants, constant)

    def _function(self, node: JsonObject, hint: str) -> tuple[dict[str, str], Inner]:
        function, params = _described(node, hint)
        nodes = [child for child in _child_nodes(node, hint) if _hint(child)]
        references: list[Any] = [None] * len(nodes)
        inner: Inner = [(child, references, index) for index, child in enumerate(nodes)]
        if references:
            function["childRefs"] = references
        if params:
            function["params"] = None
            inner.append((params, function, "params"))
        return self._add(self.functions, function), inner

    def _add(self, known: list[dict[str, Any]], entry: dict[str, Any]) -> dict[str, str]:
        identifier = f"expr-{len(self.functions) + len(self.constants)}"
        entry["id"] = identifier
        known.append(entry)
        return {"__exprId": identifier}


def _hint(value: object) -> str:
    """The kind of an expression node: ``expr.Alias`` => ``Alias``; empty for other values."""
    hint = value.get("_typeHint") if isinstance(value, dict) else None
    return hint.removeprefix("expr.") if isinstance(hint, str) and hint[:5] == "expr." else ""


def _child_nodes(node: JsonObject, hint: str) -> list[object]:
    listed = [node.get("child")] if hint == "Alias" else node.get("children")
    return listed if isinstance(listed, list) else []


def _described(node: JsonObject, hint: str) -> tuple[dict[str, Any], JsonObject]:
    """A function of API 1.2 without its children, and its params as they came."""
    params = node.get("params")
    params = params if isinstance(params, dict) else {}
    name, class_name = str(node.get("name", "")), node.get("exprType")
    extra: dict[str, Any] = {}
    if hint == "Alias":
        name, class_name = str(node.get("alias", "")), "Alias"
        params = {"name": name}
    elif hint == "Binary":
        symbol = str(node.get("symbol", ""))
        name, class_name = _OPERATORS.get(symbol, (symbol, None))
        extra["symbol"] = symbol
    elif hint == "UDF":
        class_name = "ScalaUDF"
    function = {"name": name, "extra": _expression_extra(hint, class_name) | extra}
    typed = node.get("child") if hint == "Alias" else node
    if isinstance(typed, dict) and "dataTypeId" in typed:
        function["dataType"] = typed["dataTypeId"]
    return function, params


def _expression_extra(hint: str, class_name: object) -> dict[str, Any]:
    extra: dict[str, Any] = {"_typeHint": f"expr.{hint}"}
    if isinstance(class_name, str) and class_name:
        extra["simpleClassName"] = class_name
    return extra


# --- where attributes come from ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Making:
    """An operation as the maker of attributes; ``new`` are those that none of its inputs has."""

    output: tuple[str, ...]
    inputs: tuple[tuple[str, ...], ...]
    new: tuple[str, ...]
    params: JsonObject
    expressions: _Expressions


Origins = Iterator[tuple[str, list[Any]]]


def _trace(
    operations: JsonObject, attributes: Mapping[str, dict[str, Any]], expressions: _Expressions
) -> None:
    """Gives each attribute the ``childRefs`` that the operation which makes it implies."""
    outputs = {
        str(operation["id"]): _attribute_ids(operation.get("output"))
        for operation in (*operations["reads"], *operations["other"])
    }
    sets = {identifier: frozenset(output) for identifier, output in outputs.items()}
    for operation in operations["other"]:
        origins = _ORIGINS.get(_kind(operation))
        if origins is None:
            continue
        output = outputs[str(operation["id"])]
        children = [str(child) for child in operation.get("childIds") or ()]
        inputs = tuple(outputs.get(child, ()) for child in children)
        known = [sets[child] for child in dict.fromkeys(children) if child in sets]
        new = tuple(item for item in _not_in(known, output) if item in attributes)
        params = operation.get("params")
        making = _Making(
            output, inputs, new, params if isinstance(params, dict) else {}, expressions
        )
        for attribute, references in origins(making):
            if attribute in new:
                attributes[attribute]["childRefs"] = references


def _not_in(known: Sequence[frozenset[str]], output: Sequence[str]) -> list[str]:
    """The attributes in none of the sets; wide inputs are not copied for an operation with few
    columns.
    """
    if len(known) * len(output) > sum(map(len, known)):
        known = [frozenset[str]().union(*known)]
    return [item for item in output if not any(item in columns for columns in known)]


def _kind(operation: JsonObject) -> str:
    """``View (`a`, [x#1])`` => ``View``."""
    return str(operation.get("name", "")).partition(" ")[0]


def _attribute_ids(output: object) -> tuple[str, ...]:
    listed = output if isinstance(output, list) else []
    return tuple(item for item in listed if isinstance(item, str))


def _listed(key: str) -> Callable[[_Making], Origins]:
    """Output and the list in ``params[key]`` correspond by position."""

    def origins(making: _Making) -> Origins:
        items = making.params.get(key)
        if isinstance(items, list) and len(items) == len(making.output):
            for attribute, item in zip(making.output, items, strict=True):
                if _is_reference(item):
                    yield attribute, [item]

    return origins


def _renamed(making: _Making) -> Origins:
    """Output and the only input correspond by position."""
    if len(making.inputs) == 1 and len(making.inputs[0]) == len(making.output):
        for attribute, source in zip(making.output, making.inputs[0], strict=True):
            yield attribute, [{"__attrId": source}]


def _stacked(making: _Making) -> Origins:
    """Output and every input correspond by position."""
    if any(len(columns) != len(making.output) for columns in making.inputs):
        return
    for position, attribute in enumerate(making.output):
        if attribute in making.new:
            branches = [columns[position] for columns in making.inputs]
            yield attribute, [making.expressions.union(branches)]


def _windowed(making: _Making) -> Origins:
    """The window expressions follow the columns of the input."""
    items = making.params.get("windowExpressions")
    if isinstance(items, list) and len(items) == len(making.new):
        for attribute, item in zip(making.new, items, strict=True):
            if _is_reference(item):
                yield attribute, [item]


def _generated(making: _Making) -> Origins:
    """Every column that the input does not have comes from the generator."""
    generator = making.params.get("generator")
    if _is_reference(generator):
        for attribute in making.new:
            yield attribute, [generator]


def _is_reference(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and not value.keys().isdisjoint(_REFERENCES)


_REFERENCES: Final = {"__attrId", "__exprId"}
_ORIGINS: Final[Mapping[str, Callable[[_Making], Origins]]] = {
    "Project": _listed("projectList"),
    "Aggregate": _listed("aggregateExpressions"),
    "SubqueryAlias": _renamed,
    "View": _renamed,
    "Union": _stacked,
    "Window": _windowed,
    "Generate": _generated,
}


# --- small readers -----------------------------------------------------------------------------


def _object_or_empty(value: object, path: str) -> JsonObject:
    return {} if value is None else read_object(value, path)


def _list(value: object, path: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidDocument(path, "a list")
    return value
