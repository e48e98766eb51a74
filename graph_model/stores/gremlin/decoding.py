"""Answers of a Gremlin server: GraphBinary bytes -> plain values.

The driver's reader takes about 30 microseconds for one edge, most of it in calls per byte; lineage
reads thousands. This one knows the few types in answers to our requests and takes about a third; an
answer with any other type goes to the driver's reader (a test compares both).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from gremlin_python.driver.serializer import GraphBinarySerializersV1
from gremlin_python.process.traversal import Traverser

_INT: Final = struct.Struct(">i").unpack_from
_LONG: Final = struct.Struct(">q").unpack_from
_DOUBLE: Final = struct.Struct(">d").unpack_from

_VERSION: Final = 0x81
_STRING: Final = 0x03
_LIST: Final = 0x09
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
    (length,) = _INT(data, at)
    at += 4
    values: list[Any] = []
    value: Any
    for _ in range(length):
        kind = data[at]
        if kind == _STRING and not data[at + 1]:  # most values are texts: one call less
            value, at = _text(data, at + 2)
        else:
            value, at = _read(data, at)
        if type(value) is _Repeated:
            values.extend([value.value] * value.times)
        else:
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


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A traverser: one value for ``times`` equal ones."""

    value: Any
    times: int


def _traverser(data: bytes, at: int) -> tuple[Any, int]:
    (times,) = _LONG(data, at)
    value, at = _read(data, at + 8)
    return _Repeated(value, times), at


_READERS: Final[dict[int, _Reader]] = {
    0x01: lambda data, at: (_INT(data, at)[0], at + 4),
    0x02: lambda data, at: (_LONG(data, at)[0], at + 8),
    _STRING: _text,
    0x07: lambda data, at: (_DOUBLE(data, at)[0], at + 8),
    _LIST: _list,
    0x0A: _map,
    0x21: _traverser,
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
