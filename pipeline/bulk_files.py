"""The CSV of Neptune's bulk loader (Gremlin format): a writer, and a reader as strict as Neptune's.

Vertices and edges need files of their own; here each label has one, so that columns stay few:

    ~id,~label,name:String(single),uri:String(single)
    ds_0a…,dataset,"sales","s3://lake/sales"

    ~id,~from,~to,~label,index:Long,mode:String
    e_0b…,ds_0a…,op_0c…,feeds,0,

RFC 4180 in UTF-8. Without ``(single)`` a vertex property would be a set, and loading twice would
add values; edges have no cardinality. Text is always quoted: commas, quotes, line breaks and outer
spaces survive, and an empty text differs from no value (the load sets ``allowEmptyStrings``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from graph_model.errors import InvalidInput
from graph_model.facts import Edge, Scalar, Vertex

Element = TypeVar("Element", Vertex, Edge)

Columns = Mapping[str, str]
"""Property key -> type (Bool, Long, Double or String)."""

#: The folders of a load.
VERTICES: Final = "vertices"
EDGES: Final = "edges"
_TYPES: Final[dict[type, str]] = {bool: "Bool", int: "Long", float: "Double", str: "String"}
_VERTEX_FIELDS: Final = ("~id", "~label")
_EDGE_FIELDS: Final = ("~id", "~from", "~to", "~label")
_KEY: Final = re.compile(r"[^\s,:\\()\[\]\"~]+")
_COLUMN: Final = re.compile(r"([^\s,:\\()\[\]\"~]+):(Bool|Long|Double|String)(\(single\))?")
_FIELD: Final = re.compile(r'"([^"]*(?:""[^"]*)*)"|([^",\r\n]*)')


def type_of(value: Scalar) -> str:
    """The loader's name of a value's type."""
    return _TYPES[type(value)]


# --- writing -------------------------------------------------------------------------------------


def header(kind: type[Vertex] | type[Edge], columns: Columns) -> str:
    """The first record of a file. Raises ValueError for a key that no header can hold."""
    for key in columns:
        if not _KEY.fullmatch(key):
            raise ValueError(f"no header can hold the property key {key!r}")
    fields, single = (_VERTEX_FIELDS, "(single)") if kind is Vertex else (_EDGE_FIELDS, "")
    return ",".join(
        (*fields, *(f"{key}:{named}{single}" for key, named in sorted(columns.items())))
    )


def record(element: Vertex | Edge, columns: Columns) -> str:
    """The record of one element, without its end of line. ValueError for a property without a
    column of its type.
    """
    values = dict(element.properties)
    ends = (element.out_id, element.in_id) if isinstance(element, Edge) else ()
    fields = [element.id, *ends, element.label]
    for key, kind in sorted(columns.items()):
        value = values.pop(key, None)
        if value is not None and type_of(value) != kind:
            raise ValueError(f"{element.label}.{key}: {type_of(value)}, its column is {kind}")
        fields.append("" if value is None else _spell(value))
    if values:
        raise ValueError(f"{element.label}: no column for {sorted(values)}")
    return ",".join(fields)


def _spell(value: Scalar) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


# --- reading -------------------------------------------------------------------------------------


def read_elements(
    kind: type[Element], lines: Iterable[bytes], name: str, *, empty_strings: bool
) -> Iterator[Element]:
    """The elements of one file; ``lines`` end with a line feed each.

    With ``empty_strings`` a quoted empty text is a value, else none (``allowEmptyStrings``). A
    vertex column that is not ``(single)`` is refused: it would be a set. Raises InvalidInput,
    naming ``name`` and the record, for anything that the loader would refuse.
    """
    records = enumerate(_records(lines), 1)
    fields = _VERTEX_FIELDS if kind is Vertex else _EDGE_FIELDS
    columns: list[tuple[str, str]] | None = None
    for number, text in records:
        try:
            values = split(text)
            if columns is None:
                columns = _read_header(values, fields)
            else:
                yield _read_element(kind, values, fields, columns, empty_strings=empty_strings)
        except ValueError as error:
            raise InvalidInput(f"{name}, record {number}: {error}") from error
    if columns is None:
        raise InvalidInput(f"{name}: it has no header")


def _records(lines: Iterable[bytes]) -> Iterator[str]:
    """Lines joined while a quoted text is open: quotes come in pairs, also those within."""
    parts: list[bytes] = []
    quotes = 0
    for line in lines:
        parts.append(line)
        quotes += line.count(b'"')
        if quotes % 2 == 0:
            yield b"".join(parts).removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            parts, quotes = [], 0
    if parts:
        raise InvalidInput("a quoted text has no end")


def split(text: str) -> list[tuple[str, bool]]:
    """The fields of a record, each with whether it was quoted; ValueError where it breaks RFC 4180.

    ``a,"b, c",`` => ``[("a", False), ("b, c", True), ("", False)]``
    """
    fields: list[tuple[str, bool]] = []
    at = 0
    while True:
        match = _FIELD.match(text, at)
        if match is None:
            raise AssertionError("the second form matches an empty text")
        quoted, plain = match.groups()
        is_plain = quoted is None
        fields.append((plain.strip() if is_plain else quoted.replace('""', '"'), not is_plain))
        at = match.end()
        if at == len(text):
            return fields
        if text[at] != ",":
            raise ValueError(f"field {len(fields)}: {text[at]!r} after its end")
        at += 1


def _read_header(
    values: Sequence[tuple[str, bool]], fields: Sequence[str]
) -> list[tuple[str, str]]:
    names = [name for name, _ in values]
    if tuple(names[: len(fields)]) != tuple(fields):
        raise ValueError(f"the header begins {names[: len(fields)]}, not {list(fields)}")
    columns: list[tuple[str, str]] = []
    for name in names[len(fields) :]:
        match = _COLUMN.fullmatch(name)
        if match is None:
            raise ValueError(f"{name!r} is no column of a property")
        if (match[3] is not None) != (fields is _VERTEX_FIELDS):
            raise ValueError(f"{name!r}: (single) stands with every property of a vertex, no edge")
        columns.append((match[1], match[2]))
    if len({key for key, _ in columns}) != len(columns):
        raise ValueError("a property has two columns")
    return columns


def _read_element(
    kind: type[Element],
    values: Sequence[tuple[str, bool]],
    fields: Sequence[str],
    columns: Sequence[tuple[str, str]],
    *,
    empty_strings: bool,
) -> Element:
    if len(values) != len(fields) + len(columns):
        raise ValueError(f"{len(values)} fields, the header has {len(fields) + len(columns)}")
    heads = [value for value, _ in values[: len(fields)]]
    if not all(heads):
        raise ValueError(f"an empty field among {list(fields)}")
    properties = tuple(
        (key, _value(text, type_name))
        for (key, type_name), (text, quoted) in zip(columns, values[len(fields) :], strict=True)
        if text or (quoted and empty_strings and type_name == "String")
    )
    if kind is Vertex:
        return kind(*heads, properties)  # type: ignore[call-arg, arg-type]
    identifier, out_id, in_id, label = heads
    return kind(identifier, label, out_id, in_id, properties)  # type: ignore[call-arg, arg-type]


def _value(text: str, type_name: str) -> Scalar:
    if "\0" in text:
        raise ValueError("a null character")
    match type_name:
        case "String":
            return text
        case "Long":
            return int(text)
        case "Double":
            return float(text)
        case _:
            if text not in {"true", "false"}:
                raise ValueError(f"{text!r} is no Bool")
            return text == "true"
