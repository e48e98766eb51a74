"""Rows of a batch as bytes of GraphBinary, the wire format.

The driver builds a request from nested maps at about 40 microseconds an element. A row has one
fixed shape, so its bytes are put together directly, in about 5; the bytes on the wire are the same
(a test compares them). A row is the map that the batched upsert unfolds:

    {"s": {T.id: id}, "c": {T.label: label, (Direction.OUT: id, Direction.IN: id,) key: value, …}}

Types are exact: ``bool`` goes as Boolean, ``int`` as Long, ``float`` as Double, ``str`` as String.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from gremlin_python.process.traversal import Direction, T
from gremlin_python.structure.graph import Path
from gremlin_python.structure.io.graphbinaryV1 import GraphBinaryWriter

from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Properties, Scalar, Vertex

SEARCH: Final = "s"
CREATE: Final = "c"

_LENGTH: Final = struct.Struct(">i").pack
_LONG: Final = struct.Struct(">q").pack
_DOUBLE: Final = struct.Struct(">d").pack

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
            return _LONG_TYPE + _LONG(value)
        except struct.error as failure:
            raise GraphRejected(f"{value} needs more than 64 bits") from failure
    return _DOUBLE_TYPE + _DOUBLE(value)


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
