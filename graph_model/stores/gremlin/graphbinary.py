"""GraphBinary, the wire format: rows of a batch as bytes, and the bytes of an answer as values.

The driver builds a request from nested maps at about 40 microseconds an element. A row has one
fixed shape, so its bytes are put together directly, in about 5; the bytes on the wire are the same
(a test compares them). A row is the map that the batched upsert unfolds:

    {"s": {T.id: id}, "c": {T.label: label, (Direction.OUT: id, Direction.IN: id,) key: value, …}}

Types are exact: ``bool`` goes as Boolean, ``int`` as Long, ``float`` as Double, ``str`` as String.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from gremlin_python.driver.serializer import GraphBinarySerializersV1
from gremlin_python.process.traversal import Direction, T, Traverser
from gremlin_python.structure.graph import Path
from gremlin_python.structure.io.graphbinaryV1 import GraphBinaryWriter

from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Properties, Scalar, Vertex

SEARCH: Final = "s"
CREATE: Final = "c"

_LENGTH: Final = struct.Struct(">i").pack
_WRITE_LONG: Final = struct.Struct(">q").pack
_WRITE_DOUBLE: Final = struct.Struct(">d").pack

# Each value begins with its type and a flag for "not null".
_STRING_TYPE: Final = b"\x03\x00"
_LONG_TYPE: Final = b"\x02\x00"
_DOUBLE_TYPE: Final = b"\x07\x00"
_LIST_TYPE: Final = b"\x09\x00"
_MAP_TYPE: Final = b"\x0a\x00"
_SHORT: Final = 256
_HEADS: Final = tuple(_STRING_TYPE + _LENGTH(size) for size in range(_SHORT))
"""The header of short texts, as nearly all are."""
_TRUE: Final = b"\x27\x00\x01"
_FALSE: Final = b"\x27\x00\x00"


class Encoded:
    """Bytes that are a value already; the driver passes them on as they are."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class _Verbatim:
    """The driver's serializer for Encoded."""

    @classmethod
    def dictify(cls, value: Encoded, _writer: object, buffer: bytearray, *_: object) -> bytearray:
        buffer.extend(value.data)
        return buffer


SERIALIZERS: Final[dict[type, Any]] = {Encoded: _Verbatim}


def _constant(value: object) -> bytes:
    buffer = bytearray()
    GraphBinaryWriter().to_dict(value, buffer)
    return bytes(buffer)


def text(value: str) -> bytes:
    """A String. Raises GraphRejected for half a surrogate pair: no engine can hold one."""
    try:
        data = value.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise GraphRejected(f"text with half a surrogate pair: {value[:80]!r}") from failure
    size = len(data)
    return (_HEADS[size] if size < _SHORT else _STRING_TYPE + _LENGTH(size)) + data


@lru_cache(maxsize=256)
def _word(value: str) -> bytes:
    """The text of a label or of a property's name, of which there are a few dozen."""
    return text(value)


_ID: Final = _constant(T.id_)
_LABEL: Final = _constant(T.label)
_OUT: Final = _constant(Direction.OUT)
_IN: Final = _constant(Direction.IN)
_ROW_HEAD: Final = _MAP_TYPE + _LENGTH(2) + text(SEARCH) + _MAP_TYPE + _LENGTH(1) + _ID
_ROW_BODY: Final = text(CREATE) + _MAP_TYPE
_PATH_HEAD: Final = _constant(Path([set()], [None])).removesuffix(_constant(None))


def scalar(value: Scalar) -> bytes:
    """A property value. Raises GraphRejected for an integer beyond 64 bits."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):  # before int: a bool is one
        return _TRUE if value else _FALSE
    if isinstance(value, int):
        try:
            return _LONG_TYPE + _WRITE_LONG(value)
        except struct.error as failure:
            raise GraphRejected(f"{value} needs more than 64 bits") from failure
    return _DOUBLE_TYPE + _WRITE_DOUBLE(value)


def vertex_row(vertex: Vertex) -> bytes:
    return b"".join(
        (
            _ROW_HEAD,
            text(vertex.id),
            _ROW_BODY,
            _LENGTH(1 + len(vertex.properties)),
            _LABEL,
            _word(vertex.label),
            _pairs(vertex.properties),
        )
    )


def edge_row(edge: Edge) -> bytes:
    return b"".join(
        (
            _ROW_HEAD,
            text(edge.id),
            _ROW_BODY,
            _LENGTH(3 + len(edge.properties)),
            _LABEL,
            _word(edge.label),
            _OUT,
            text(edge.out_id),
            _IN,
            text(edge.in_id),
            _pairs(edge.properties),
        )
    )


def _pairs(properties: Properties) -> bytes:
    return b"".join([_word(key) + scalar(value) for key, value in properties])


def rows(encoded: Sequence[bytes]) -> Encoded:
    """The list of rows, as the one argument of ``inject``: wrapped, so it is unfolded twice.

    A server copies lists and maps in an argument, and all in them, twice before it runs anything
    (TinkerPop 3.7: ``Bytecode.addStep``, ``JavaTranslator``); a path it takes as it is.
    """
    return Encoded(_PATH_HEAD + _LIST_TYPE + _LENGTH(len(encoded)) + b"".join(encoded))


_INT: Final = struct.Struct(">i").unpack_from
_READ_LONG: Final = struct.Struct(">q").unpack_from
_READ_DOUBLE: Final = struct.Struct(">d").unpack_from

_VERSION: Final = 0x81
_STRING: Final = 0x03
_LIST: Final = 0x09
_TRAVERSER: Final = 0x21
_NULL: Final = 0xFE
_ID_END: Final = 18  # version, flag, 16 bytes
_CODE_END: Final = 22

_DRIVER: Final = GraphBinarySerializersV1()


@dataclass(frozen=True, slots=True)
class ResponsePart:
    """One part of an answer. ``request_id`` is None when the server could not read the request."""

    request_id: str | None
    code: int
    message: str
    items: list[Any]


def answer(data: bytes) -> ResponsePart:
    """Decode one WebSocket message. Raises ValueError for bytes that are no answer."""
    if data[:1] != bytes([_VERSION]):
        raise ValueError("not an answer: it does not begin with the version of GraphBinary")
    try:
        if data[1]:  # no request id: an error, and rare
            return _by_driver(data)
        (code,) = _INT(data, _ID_END)
        message, at = _value(data, _CODE_END, _STRING)
        _, at = _map(data, at)  # attributes of the status
        _, at = _map(data, at)  # meta data of the result
        items, end = _read(data, at)
    except _Unknown:
        return _by_driver(data)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError) as failure:
        raise ValueError(f"not an answer: {failure!r}") from failure
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes too many")
    return ResponsePart(str(UUID(bytes=data[2:_ID_END])), code, message or "", items or [])


class _Unknown(Exception):
    """A type that this reader does not know."""


_Reader = Callable[[bytes, int], tuple[Any, int]]


def _read(data: bytes, at: int) -> tuple[Any, int]:
    """A value with its type: the value, and where it ends."""
    kind = data[at]
    if kind == _STRING and not data[at + 1]:  # most values are texts: one call less
        return _text(data, at + 2)
    if kind == _NULL:
        return None, at + 2
    return _value(data, at + 1, kind)


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """A value whose type has been read: first a flag, 1 for null."""
    if data[at]:
        return None, at + 1
    reader = _READERS.get(kind)
    if reader is None:
        raise _Unknown
    return reader(data, at + 1)


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = at + 4 + _INT(data, at)[0]
    if end > len(data):
        raise IndexError("text beyond the end")
    return data[at + 4 : end].decode(), end


def _list(data: bytes, at: int) -> tuple[list[Any], int]:
    """The values; a traverser in a list stands for so many equal ones."""
    (length,) = _INT(data, at)
    at += 4
    values: list[Any] = []
    value: Any
    for _ in range(length):
        if data[at] == _TRAVERSER and not data[at + 1]:
            (times,) = _READ_LONG(data, at + 2)
            value, at = _read(data, at + 10)
            values.extend([value] * times)
        else:
            value, at = _read(data, at)
            values.append(value)
    return values, at


def _map(data: bytes, at: int) -> tuple[dict[Any, Any], int]:
    (length,) = _INT(data, at)
    at += 4
    values: dict[Any, Any] = {}
    for _ in range(length):
        key, at = _read(data, at)
        value, at = _read(data, at)
        values[key] = value
    return values, at


_READERS: Final[dict[int, _Reader]] = {
    0x01: lambda data, at: (_INT(data, at)[0], at + 4),
    0x02: lambda data, at: (_READ_LONG(data, at)[0], at + 8),
    _STRING: _text,
    0x07: lambda data, at: (_READ_DOUBLE(data, at)[0], at + 8),
    _LIST: _list,
    0x0A: _map,
    0x27: lambda data, at: (data[at] == 1, at + 1),
}


def _by_driver(data: bytes) -> ResponsePart:
    try:
        read = _DRIVER.deserialize_message(data)
    except Exception as failure:  # whatever the driver does with bytes that it cannot read
        raise ValueError(f"not an answer: {failure!r}") from failure
    items: list[Any] = []
    for each in read["result"]["data"] or ():
        times = each.bulk if isinstance(each, Traverser) else 1
        items.extend([each.object if isinstance(each, Traverser) else each] * times)
    request_id = read["requestId"]
    status = read["status"]
    return ResponsePart(
        None if request_id == "None" else request_id,
        int(status["code"]),
        str(status["message"] or ""),
        items,
    )
