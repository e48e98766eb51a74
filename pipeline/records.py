"""Facts as text: the CSV of Neptune's bulk loader, and records that Spark can carry.

Of the CSV (Gremlin format) here is a writer, and a reader as strict as Neptune's. Vertices and
edges need files of their own; here each label has one, so that columns stay few:

    ~id,~label,name:String(single),uri:String(single)
    ds_0a…,dataset,"sales","s3://lake/sales"

    ~id,~from,~to,~label,index:Long,mode:String
    e_0b…,ds_0a…,op_0c…,feeds,0,

RFC 4180 in UTF-8. Without ``(single)`` a vertex property would be a set, and loading twice would
add values; edges have no cardinality. Text is always quoted: commas, quotes, line breaks and outer
spaces survive, and an empty text differs from no value (the load sets ``allowEmptyStrings``).

Records are all ASCII, one spelling for equal content:

    Vertex  -> ("vertices", "dataset",    "ds_…",  '["ds_…","dataset",[["uri","s3://…"]]]')
    Edge    -> ("edges",    "feeds",      "e_…",   '["e_…","feeds","ds_…","op_…",[…]]')
    Row     -> ("rows",     "DatasetRow", digest of the key,  '["ds_…","s3://…",…]')

``shape`` names the properties with their types (``index:Long,mode:String``): the columns of a file
are the union of the shapes in it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from graph_model import facts, identity
from graph_model.errors import GraphRejected, InvalidInput
from graph_model.facts import Edge, Facts, Row, Scalar, Vertex, row_key
from graph_model.values import storable

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


# --- records of Spark ----------------------------------------------------------------------------

ROWS: Final = "rows"
SET_ASIDE: Final = "set_aside"
COUNTS: Final = "counts"
CONTENT_PARTS: Final = (VERTICES, EDGES, ROWS)

_LONGEST: Final = 1 << 63

#: The kinds of rows by name, as ``facts.py`` spells them.
ROW_KINDS: Final[dict[str, type[Any]]] = {kind.__name__: kind for kind in facts.Row.__args__}


class Record(NamedTuple):
    """``name`` is the label, or the kind of the row; ``content`` is JSON in ASCII."""

    part: str
    name: str
    id: str
    content: str
    shape: str


def records_of(projected: Facts) -> Iterator[Record]:
    """One record a fact. Raises GraphRejected for a fact that no graph can hold."""
    for vertex in projected.vertices:
        yield element_record(vertex)
    for edge in projected.edges:
        yield element_record(edge)
    for row in projected.rows:
        yield row_record(row)


def element_record(element: Vertex | Edge) -> Record:
    ends = (element.out_id, element.in_id) if isinstance(element, Edge) else ()
    for key, value in element.properties:
        _check(key, value)
    return Record(
        EDGES if isinstance(element, Edge) else VERTICES,
        element.label,
        element.id,
        _text([element.id, element.label, *ends, element.properties]),
        ",".join(f"{key}:{type_of(value)}" for key, value in element.properties),
    )


def _check(key: str, value: Scalar) -> None:
    if isinstance(value, str):
        if "\0" in value or (not value.isascii() and storable(value) != value):
            raise GraphRejected(f"{key}: text that no graph can hold: {value[:80]!r}")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise GraphRejected(f"{key}: {value} is no number")
    elif not -_LONGEST <= value < _LONGEST:
        raise GraphRejected(f"{key}: a number beyond 64 bits")


def row_record(row: Row) -> Record:
    """The row as every database stores it, so that equal keys there are equal keys here."""
    kind: type[Any] = type(row)
    kept = kind(*(storable(v) if isinstance(v, str) else v for v in row))
    return Record(ROWS, kind.__name__, identity.digest(*row_key(kept)), _text(kept), "")


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def read_element(part: str, content: str) -> Vertex | Edge:
    """The element of a record."""
    identifier, label, *ends, listed = json.loads(content)
    properties = tuple((key, value) for key, value in listed)
    if part == VERTICES:
        return Vertex(identifier, label, properties)
    return Edge(identifier, label, ends[0], ends[1], properties)


def read_row(name: str, content: str) -> Row:
    """The row of a record; KeyError for an unknown kind, TypeError for another number of fields."""
    row: Row = ROW_KINDS[name](*json.loads(content))
    return row
