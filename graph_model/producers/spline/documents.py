"""Plans and events in one normal form, whatever the wire version.

Frozen values between the edge and the translator. ``read_plan`` and ``read_event`` are the one
reader of a parsed document: they coerce the known errors of published clients (numeric ids,
null collections), keep unknown fields out of the way, and refuse the rest with
:class:`InvalidDocument`, which names every wrong field and the expected value (the first 50, and
the rules between the parts where each part is right). The rules come from the Spline producer API
1.2 as its agents speak it:

- attributes, expressions and operations are unique only inside a plan, each by its id;
- references may dangle: an undeclared attribute or expression is a leaf, not an error;
- a childId must name an operation of the plan, and operations form no cycle;
- a single-key object ``{"__attrId": "…"}`` or ``{"__exprId": "…"}`` is a reference, anywhere in
  params and extra; an object with more keys is plain data.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeVar

from graph_model.errors import InvalidDocument
from graph_model.json_fields import (
    JsonObject,
    WrongFields,
    join,
    optional_list,
    optional_object,
    read_object,
)
from graph_model.stores.documents import DocumentKind

ReferenceKind = Literal["attribute", "expression"]
OperationKind = Literal["read", "transform", "write"]

PLAN_KIND: Final = DocumentKind("plan")
EVENT_KIND: Final = DocumentKind("event")
API_VERSIONS: Final = ("1", "1.1", "1.2")
_MAX_TIMESTAMP: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
_MOST_QUOTED: Final = 100
_MAX_TYPE_PARTS: Final = 10_000  # two fields of one type, 40 levels deep, would be 2**40 parts
_MAX_TYPE_DEPTH: Final = 64
#: How Spark calls an RDD by where it was made: in ``start()`` or ``toTable()`` of a stream.
_BATCH_OF_STREAM: Final = re.compile(r"\w{1,50}\[\d{1,20}\] at (?:start|toTable) at ")
_FILE_SCAN: Final = "FileScanRDD"
_SHORTEST_UUID: Final = 32  # characters: hex digits alone
_MAX_ALL_TYPE_PARTS: Final = 1_000_000  # shared by the types of a plan: 100 may be that large


class Reference(NamedTuple):
    """A pointer to an attribute or an expression of the same plan.

    A named tuple, because a plan has tens of thousands and uses all of them as keys: the cost is
    hashing.
    """

    kind: ReferenceKind
    id: str


class Attribute(NamedTuple):
    """A column of an operation's output; ``children`` are its sources (empty: a leaf)."""

    id: str
    name: str
    data_type: str | None
    children: tuple[Reference, ...]
    extra: JsonObject


class Function(NamedTuple):
    """An expression node. ``hint`` is extra._typeHint, ``class_name`` extra.simpleClassName."""

    id: str
    name: str
    data_type: str | None
    children: tuple[Reference, ...]
    params: JsonObject
    hint: str
    class_name: str
    symbol: str | None


class Constant(NamedTuple):
    """A literal; ``value`` is any JSON value, null included."""

    id: str
    value: Any
    data_type: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A node of the plan. ``output`` None: the document does not list it (schema-less).

    Reads have ``sources``; the write has ``target`` and ``append``.
    """

    id: str
    kind: OperationKind
    name: str
    children: tuple[str, ...]
    output: tuple[str, ...] | None
    params: JsonObject
    extra: JsonObject
    sources: tuple[str, ...] = ()
    target: str = ""
    append: bool = False


@dataclass(frozen=True, slots=True)
class DataType:
    """``text`` is Spark's simpleString (``array<struct<a:int>>``); ``fields`` of a struct.

    ``element`` is the id of an array's element type; field types are ids too.
    """

    id: str
    text: str
    nullable: bool
    fields: tuple[tuple[str, str], ...] = ()
    element: str | None = None


class DocumentTypes(dict[str, DataType]):
    """The types of a plan by id; caches their texts, because thousands of columns may share one."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}

    @property
    def most_parts(self) -> int:
        """The most parts in the text of one type: a function of the document alone."""
        return min(_MAX_TYPE_PARTS, _MAX_ALL_TYPE_PARTS // max(len(self), 1))


@dataclass(frozen=True, slots=True)
class Product:
    """A name and a version: of the system (``spark 3.5.9``) or of the agent."""

    name: str
    version: str


def read_product(text: str) -> Product:
    """``spark 3.5.9`` => name and version."""
    name, _, version = text.rpartition(" ")
    return Product(name, version) if name else Product(version, "")


_MAX_NESTED_ARRAYS: Final = 8


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """A plan in normal form; ``operations`` are in topological order, inputs before consumers.

    The order depends on the structure alone (depth first from the write, children in the order
    of childIds), so two documents of one logic have their operations in the same places. The
    write is last. Of the operations that the write does not reach the reads stand first, by their
    sources (a client that does not link its reads still read them); the others are left out.
    """

    id: str
    name: str | None
    discriminator: str | None
    labels: Mapping[str, tuple[str, ...]]
    operations: tuple[Operation, ...]
    attributes: Mapping[str, Attribute]
    functions: Mapping[str, Function]
    constants: Mapping[str, Constant]
    data_types: Mapping[str, DataType]
    system: Product
    agent: Product | None
    extra: JsonObject

    @property
    def write(self) -> Operation:
        return self.operations[-1]

    @property
    def reads(self) -> tuple[Operation, ...]:
        return tuple(operation for operation in self.operations if operation.kind == "read")

    def fields(self, data_type: str | None) -> tuple[tuple[str, str], ...]:
        """Names and type ids of the fields of a struct, or of the structs in an array; () where
        unknown.
        """
        for _ in range(_MAX_NESTED_ARRAYS):
            known = self.data_types.get(data_type) if data_type is not None else None
            if known is None or known.element is None:
                return known.fields if known is not None else ()
            data_type = known.element
        return ()


@dataclass(frozen=True, slots=True)
class ExecutionEvent:
    """One execution of a plan. ``timestamp`` is epoch ms at its end; ``error``
    None: it succeeded.
    """

    plan_id: str
    timestamp: int
    duration_ns: int | None
    discriminator: str | None
    labels: Mapping[str, tuple[str, ...]]
    error: Any
    extra: JsonObject

    @property
    def application_id(self) -> str:
        value = self.extra.get("appId")
        return value if isinstance(value, str) else ""


_Part = TypeVar("_Part", Attribute, Function, Constant)


# --- plans -------------------------------------------------------------------------------------


def read_plan(document: object, plan_id: str | None = None) -> ExecutionPlan:
    """Normal form of an API 1.2 (or 1.1) plan.

    ``plan_id`` is used where ``id`` is absent. Raises InvalidDocument.
    """
    plan = read_object(document, "")
    wrong = WrongFields()
    take = wrong.take
    given = take("", read_uuid, plan["id"], "id") if plan.get("id") is not None else plan_id
    name = take(None, _optional_text, plan, "name", "")
    discriminator = take(None, _optional_text, plan, "discriminator", "")
    labels = _gather_labels(plan.get("labels"), "labels", wrong)
    operations = _read_operations(plan, wrong)
    attributes = _read_unique(plan, "attributes", "", _read_attribute, (), wrong)
    expressions = take({}, optional_object, plan, "expressions", "")
    functions = _read_unique(expressions, "functions", "expressions", _read_function, (), wrong)
    constants = _read_unique(
        expressions, "constants", "expressions", _read_constant, functions, wrong
    )
    system = _read_product(plan.get("systemInfo"), "systemInfo", wrong)
    agent = _read_agent(plan.get("agentInfo"), wrong)
    extra = take({}, optional_object, plan, "extraInfo", "")
    if given is None:
        wrong.note("id", "a UUID string")
    wrong.check()
    return ExecutionPlan(
        id=given or "",
        name=name or _app_name(extra),
        discriminator=discriminator,
        labels=labels,
        operations=_with_folders_of_streams(_topological(_connected(operations))),
        attributes=attributes,
        functions=functions,
        constants=constants,
        data_types=_read_data_types(extra),
        system=system,
        agent=agent,
        extra=extra,
    )


def read_uuid(value: object, path: str) -> str:
    """A UUID in lower case with dashes; raises InvalidDocument."""
    if isinstance(value, str):
        try:
            return str(uuid.UUID(value))
        except ValueError:
            pass
    raise InvalidDocument(path, "a UUID string")


def read_labels(value: object, path: str) -> dict[str, tuple[str, ...]]:
    """Labels: an object of lists of strings; one string counts as a list of one."""
    wrong = WrongFields()
    labels = _gather_labels(value, path, wrong)
    wrong.check()
    return labels


def _gather_labels(value: object, path: str, wrong: WrongFields) -> dict[str, tuple[str, ...]]:
    if value is None:
        return {}
    labels: dict[str, tuple[str, ...]] = {}
    for name, values in wrong.take({}, read_object, value, path).items():
        listed = values if isinstance(values, list) else [values]
        where = f"{path}.{name[:_MOST_QUOTED]}"
        labels[name] = wrong.take((), _label_values, listed, where)
    return labels


def _label_values(listed: list[object], path: str) -> tuple[str, ...]:
    expected = "a string or a list of strings"
    return tuple(_scalar_text(item, path, expected) for item in listed if item is not None)


def _app_name(extra: JsonObject) -> str | None:
    name = extra.get("appName")
    return name if isinstance(name, str) else None


# A plan has tens of thousands of these: their paths are computed only for an error.


def _read_attribute(item: object) -> Attribute:
    fields = read_object(item, "")
    return Attribute(
        _required_text(fields, "id"),
        _required_text(fields, "name"),
        _data_type_id(fields),
        _read_references(fields.get("childRefs")),
        optional_object(fields, "extra", ""),
    )


def _read_function(item: object) -> Function:
    fields = read_object(item, "")
    extra = optional_object(fields, "extra", "")
    symbol = extra.get("symbol")
    return Function(
        _required_text(fields, "id"),
        _required_text(fields, "name"),
        _data_type_id(fields),
        _read_references(fields.get("childRefs")),
        optional_object(fields, "params", ""),
        _text_or_empty(extra.get("_typeHint")),
        _text_or_empty(extra.get("simpleClassName")),
        symbol if isinstance(symbol, str) else None,
    )


def _read_constant(item: object) -> Constant:
    fields = read_object(item, "")
    if "value" not in fields:
        raise InvalidDocument("value", "a value (null is one)")
    return Constant(_required_text(fields, "id"), fields["value"], _data_type_id(fields))


def _read_references(value: object) -> tuple[Reference, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidDocument("childRefs", "a list of references")
    references = [reference for reference in map(as_reference, value) if reference is not None]
    if len(references) < len(value):
        wrong = next(place for place, item in enumerate(value) if as_reference(item) is None)
        expected = 'exactly one of {"__attrId"} or {"__exprId"}'
        raise InvalidDocument(f"childRefs[{wrong}]", expected)
    return tuple(references)


def as_reference(value: object) -> Reference | None:
    """The reference that a JSON value holds, or None for plain data."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    (key,) = value
    kind = _REFERENCE_KINDS.get(key)
    if kind is None:
        return None
    target = value[key]
    if not isinstance(target, str):
        if isinstance(target, bool) or not isinstance(target, int):
            return None
        target = str(target)
    return _new_tuple(Reference, (kind, target))


_new_tuple: Final = tuple.__new__  # as Reference(…), without a stack frame
_REFERENCE_KINDS: Final[Mapping[str, ReferenceKind]] = {
    "__attrId": "attribute",
    "__exprId": "expression",
}


def references_in(value: object) -> Iterator[Reference]:
    """Every reference inside params or extra, at any depth, in document order. Iterative."""
    stack = [value]
    while stack:
        current = stack.pop()
        if (reference := as_reference(current)) is not None:
            yield reference
        elif isinstance(current, dict):
            stack.extend(reversed(list(current.values())))
        elif isinstance(current, list):
            stack.extend(reversed(current))


_Place = tuple[Operation, str]  # with its path


def _read_operations(plan: JsonObject, wrong: WrongFields) -> list[_Place]:
    """The write first, then in the order of the document."""
    take = wrong.take
    operations = take(None, read_object, plan.get("operations"), "operations")
    if operations is None:
        return []
    path = "operations.write"
    write = take(None, read_object, operations.get("write"), path)
    read = [] if write is None else [(_read_write(write, path, wrong), path)]
    for key, read_one in (("reads", _read_read), ("other", _read_transform)):
        path = f"operations.{key}"
        for at, item in enumerate(take([], optional_list, operations, key, "operations")):
            here = f"{path}[{at}]"
            fields = take(None, read_object, item, here)
            if fields is not None:
                read.append((read_one(fields, here, wrong), here))
    return read


def _connected(read: Sequence[_Place]) -> dict[str, Operation]:
    """The operations by id; raises InvalidDocument where the references between them fail."""
    known: dict[str, Operation] = {}
    for operation, path in read:
        if known.setdefault(operation.id, operation) is not operation:
            raise InvalidDocument(
                f"{path}.id", f"operation ids used once, not {_quoted(operation.id)} twice"
            )
    for operation, path in read:
        for index, child in enumerate(operation.children):
            if child not in known:
                raise InvalidDocument(
                    f"{path}.childIds[{index}]", f"an operation's id, not {_quoted(child)}"
                )
    return known


def _read_write(fields: JsonObject, path: str, wrong: WrongFields) -> Operation:
    append = fields.get("append")
    if not isinstance(append, bool):
        wrong.note(f"{path}.append", "true or false")
    if fields.get("childIds") is None:
        wrong.note(f"{path}.childIds", _CHILDREN)
    source = fields.get("outputSource")
    target = wrong.take("", _required_source, source, f"{path}.outputSource")
    operation = _read_operation(fields, path, "write", wrong)
    return replace(operation, target=target, append=append is True)


def _read_read(fields: JsonObject, path: str, wrong: WrongFields) -> Operation:
    path_of_sources = f"{path}.inputSources"
    sources = fields.get("inputSources")
    if not isinstance(sources, list):
        wrong.note(path_of_sources, "a list of URIs")
        sources = []
    uris = tuple(
        wrong.take("", _required_source, source, f"{path_of_sources}[{index}]")
        for index, source in enumerate(sources)
    )
    return replace(_read_operation(fields, path, "read", wrong), sources=uris)


def _read_transform(fields: JsonObject, path: str, wrong: WrongFields) -> Operation:
    return _read_operation(fields, path, "transform", wrong)


_CHILDREN: Final = "a list of operation ids"


def _read_operation(
    fields: JsonObject, path: str, kind: OperationKind, wrong: WrongFields
) -> Operation:
    """The fields that all kinds share; one without a name is called by its kind."""
    take = wrong.take
    output = None if kind == "write" else fields.get("output")
    children = _read_ids(fields.get("childIds"), f"{path}.childIds", _CHILDREN, wrong)
    outputs = _read_ids(output, f"{path}.output", "a list of ids", wrong)
    return Operation(
        id=take("", _required_scalar, fields, "id", path),
        kind=kind,
        name=take(None, _optional_text, fields, "name", path) or kind.capitalize(),
        children=children,
        output=None if output is None else outputs,
        params=take({}, optional_object, fields, "params", path),
        extra=take({}, optional_object, fields, "extra", path),
    )


def _with_folders_of_streams(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """A stream's batch (``foreachBatch``) reads the folder that the stream watches.

    The agent sees the batch as an RDD with the files alone: ``raw/a.json`` => ``raw``.
    """
    known = {operation.id: operation for operation in operations}
    waiting = [operation.id for operation in operations if _is_batch_of_stream(operation)]
    below: set[str] = set()
    while waiting:
        key = waiting.pop()
        if key not in below:
            below.add(key)
            waiting += known[key].children
    if not below:
        return operations
    return tuple(
        replace(operation, sources=tuple(dict.fromkeys(map(_folder, operation.sources))))
        if operation.id in below and operation.name == _FILE_SCAN
        else operation
        for operation in operations
    )


def _is_batch_of_stream(operation: Operation) -> bool:
    """Whether its RDD was created where a streaming query was started."""
    rdd = operation.params.get("rdd")
    return isinstance(rdd, str) and _BATCH_OF_STREAM.match(rdd) is not None


def _folder(file: str) -> str:
    folder = file.rpartition("/")[0]
    return file if not folder or folder.endswith(("/", ":")) else folder


def _topological(operations: Mapping[str, Operation]) -> tuple[Operation, ...]:
    """Depth first from the write, children in order, each operation after its inputs."""
    write = next(operation for operation in operations.values() if operation.kind == "write")
    ordered: list[Operation] = []
    entered: set[str] = set()
    left: set[str] = set()
    stack: list[tuple[Operation, int]] = [(write, 0)]
    entered.add(write.id)
    while stack:
        operation, position = stack.pop()
        if position == len(operation.children):
            left.add(operation.id)
            ordered.append(operation)
            continue
        stack.append((operation, position + 1))
        child = operations[operation.children[position]]
        if child.id not in entered:
            entered.add(child.id)
            stack.append((child, 0))
        elif child.id not in left:
            raise InvalidDocument(
                "operations", f"no cycle of childIds, as through {_quoted(child.id)}"
            )
    loose = [o for o in operations.values() if o.kind == "read" and o.id not in left]
    return (*sorted(loose, key=lambda operation: (operation.sources, operation.name)), *ordered)


def _read_data_types(extra: JsonObject) -> DocumentTypes:
    """``extraInfo.dataTypes``; a malformed entry only loses the type's name."""
    listed = extra.get("dataTypes")
    types = DocumentTypes()
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            types[item["id"]] = _read_data_type(item)
    return types


def _read_data_type(item: JsonObject) -> DataType:
    fields: list[tuple[str, str]] = []
    listed = item.get("fields")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            fields.append((entry["name"], _text_or_empty(entry.get("dataTypeId"))))
    element = item.get("elementDataTypeId")
    return DataType(
        id=item["id"],
        text=_text_or_empty(item.get("name")),
        nullable=item.get("nullable") is not False,
        fields=tuple(fields),
        element=element if isinstance(element, str) else None,
    )


def type_text(types: Mapping[str, DataType], identifier: str | None) -> str | None:
    """Spark's simpleString of a type id; None when the plan does not know it.

    struct types are composed: ``struct<city:string,zip:int>``. A type inside itself, depths above
    64 and all beyond 10,000 parts end in ``...``; a type id that is not declared but reads as a
    name (other clients) is the name.
    """
    if identifier is None:
        return None
    if not isinstance(types, DocumentTypes):
        return _type_text(types, identifier, _MAX_TYPE_PARTS)
    known = types.texts.get(identifier)
    if known is None:
        known = _type_text(types, identifier, types.most_parts)
        types.texts[identifier] = known
    return known


def _type_text(types: Mapping[str, DataType], identifier: str, most_parts: int) -> str:
    pieces: list[str] = []
    _TypeWriter(types, pieces, most_parts).write(identifier, 0)
    return "".join(pieces)


class _TypeWriter:
    """Writes one type piece by piece; ``left`` is the number of fields still allowed."""

    def __init__(self, types: Mapping[str, DataType], pieces: list[str], left: int) -> None:
        self.types = types
        self.pieces = pieces
        self.left = left
        self.above: set[str] = set()

    def write(self, identifier: str, depth: int) -> None:
        known = self.types.get(identifier)
        if known is None:
            self.pieces.append("" if _is_uuid(identifier) else identifier)
        elif not known.fields and known.element is None:
            self.pieces.append("..." if depth > _MAX_TYPE_DEPTH else known.text)
        elif identifier in self.above or depth > _MAX_TYPE_DEPTH:
            self.pieces.append("...")
        else:
            self.above.add(identifier)
            if known.fields:
                self._struct(known, depth + 1)
            elif known.element is not None:
                self.pieces.append("array<")
                self.write(known.element, depth + 1)
                self.pieces.append(">")
            self.above.discard(identifier)

    def _struct(self, known: DataType, depth: int) -> None:
        mark = "struct<"
        for name, field in known.fields:
            self.left -= 1
            if self.left < 0:
                self.pieces.append(f"{mark}...")
                break
            self.pieces.append(f"{mark}{name}:")
            self.write(field, depth)
            mark = ","
        self.pieces.append(">")


def _is_uuid(text: str) -> bool:
    if len(text) < _SHORTEST_UUID:
        return False
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _read_product(value: object, path: str, wrong: WrongFields) -> Product:
    fields = wrong.take(None, read_object, value, path)
    if fields is None:
        return Product("", "")
    return Product(
        wrong.take("", _required_scalar, fields, "name", path),
        wrong.take("", _required_scalar, fields, "version", path),
    )


def _read_agent(value: object, wrong: WrongFields) -> Product | None:
    """Optional; an empty object counts as absent."""
    return None if value is None or value == {} else _read_product(value, "agentInfo", wrong)


# --- events ------------------------------------------------------------------------------------


def read_event(document: object, path: str = "") -> ExecutionEvent:
    """Normal form of an API 1.2 (or 1.1) event. Raises InvalidDocument."""
    event = read_object(document, path)
    wrong = WrongFields()
    take = wrong.take
    read = ExecutionEvent(
        plan_id=take("", read_uuid, event.get("planId"), join(path, "planId")),
        timestamp=take(0, _read_timestamp, event.get("timestamp"), join(path, "timestamp")),
        duration_ns=take(None, _read_duration, event.get("durationNs"), join(path, "durationNs")),
        discriminator=take(None, _optional_text, event, "discriminator", path),
        labels=_gather_labels(event.get("labels"), join(path, "labels"), wrong),
        error=event.get("error"),
        extra=take({}, optional_object, event, "extra", path),
    )
    wrong.check()
    return read


def _read_timestamp(value: object, path: str) -> int:
    number = _whole(value)
    if number is None or not 0 <= number <= _MAX_TIMESTAMP:
        raise InvalidDocument(path, "milliseconds since 1970 as an integer, up to the year 9999")
    return number


def _read_duration(value: object, path: str) -> int | None:
    if value is None:
        return None
    number = _whole(value)
    if number is None or not 0 <= number < 2**63:
        raise InvalidDocument(path, "nanoseconds as a non-negative 64-bit integer")
    return number


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return None


# --- small readers -----------------------------------------------------------------------------


def _read_unique(
    fields: JsonObject,
    key: str,
    path: str,
    read: Callable[[object], _Part],
    taken: Container[str],
    wrong: WrongFields,
) -> dict[str, _Part]:
    """Parts by id; an id that is ``taken`` or occurs twice is refused at its later place."""
    known: dict[str, _Part] = {}
    for place, item in enumerate(wrong.take([], optional_list, fields, key, path)):
        try:
            part = read(item)
            if part.id in known or part.id in taken:
                noun = "attribute" if isinstance(part, Attribute) else "expression"
                raise InvalidDocument("id", f"{noun} ids used once, not {_quoted(part.id)} twice")
        except InvalidDocument as error:
            here = f"{join(path, key)}[{place}]"
            wrong.note(f"{here}.{error.path}" if error.path else here, error.expected)
        else:
            known[part.id] = part
    return known


def _quoted(text: str) -> str:
    """The beginning of a client's text for a message: an id may have megabytes."""
    return repr(text[:_MOST_QUOTED])


def _scalar_text(value: object, path: str, expected: str = "a string") -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        raise InvalidDocument(path, expected)
    return str(value)


_NUMBERS: Final = (int, float)


def _required_text(fields: JsonObject, key: str) -> str:
    """Ids of published non-Spark clients are numbers: 3 => "3"."""
    value = fields.get(key)
    return value if isinstance(value, str) else _scalar_text(value, key)


def _required_scalar(fields: JsonObject, key: str, path: str) -> str:
    return _scalar_text(fields.get(key), f"{path}.{key}")


def _required_source(value: object, path: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidDocument(path, "a URI, not empty")
    return value


def _optional_text(fields: JsonObject, key: str, path: str) -> str | None:
    value = fields.get(key)
    return None if value is None else _scalar_text(value, join(path, key))


def _read_ids(value: object, path: str, expected: str, wrong: WrongFields) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        wrong.note(path, expected)
        return ()
    return tuple(
        item if isinstance(item, str) else wrong.take("", _scalar_text, item, f"{path}[{index}]")
        for index, item in enumerate(value)
    )


def _data_type_id(fields: JsonObject) -> str | None:
    """``dataType`` is a UUID from the agent and may be any value from others."""
    value = fields.get("dataType")
    return value if isinstance(value, str) else None


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def outputs(plan: ExecutionPlan) -> dict[str, Sequence[str] | None]:
    """Per operation id the attribute ids of its output, inferred where the document has none.

    Spline's rule: an operation without ``output`` inherits the schema that its inputs share; when
    they differ, or none has one, it is schema-less (None). The write has that of its inputs.
    """
    known: dict[str, Sequence[str] | None] = {}
    # Equal outputs are compared once, by hash.
    distinct: dict[tuple[str, ...], tuple[str, ...]] = {}
    for operation in plan.operations:
        if operation.output is not None:
            known[operation.id] = distinct.setdefault(operation.output, operation.output)
            continue
        inherited = {id(known[child]): known[child] for child in operation.children}
        inherited.pop(id(None), None)
        known[operation.id] = next(iter(inherited.values())) if len(inherited) == 1 else None
    return known
