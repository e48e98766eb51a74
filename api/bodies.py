"""Bytes on the wire -> a parsed document, every step within bounds.

    read (at most the limit) -> gunzip (at most the limit) -> UTF-8 -> JSON

Nothing here knows what a document means. What cannot be read is refused with the status that
tells why: 400 broken, 413 too large, 415 a type or an encoding that is not spoken here.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.http import parse_options_header

from api.errors import InvalidRequest

CONTENT_TYPES: Final = {
    "application/json": "1",
    "application/vnd.absa.spline.producer.v1+json": "1",
    "application/vnd.absa.spline.producer.v1.1+json": "1.1",
    "application/vnd.absa.spline.producer.v1.2+json": "1.2",
}
"""Media type -> API version. Agents send ``application/json`` for version 1."""

_CHUNK: Final = 64 * 1024
_GZIP: Final = 16 + zlib.MAX_WBITS
_UTF8: Final = frozenset({"", "utf-8", "utf8", "us-ascii"})


@dataclass(frozen=True, slots=True)
class Limits:
    """In bytes: ``inflated`` bounds the document, ``compressed`` a gzip body on the wire."""

    inflated: int
    compressed: int


class Stream(Protocol):
    """What WSGI gives to read a body from."""

    def read(self, size: int, /) -> bytes: ...


def read_bounded(stream: Stream, limit: int) -> bytes:
    """Everything up to the end, which may be at most ``limit`` bytes away; else 413."""
    parts: list[bytes] = []
    left = limit + 1
    while left > 0 and (part := stream.read(min(_CHUNK, left))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        _too_large(limit)
    return b"".join(parts)


def is_gzip(content_encoding: str | None) -> bool:
    """Whether the body is compressed; raises 415 for an encoding other than gzip."""
    encoding = (content_encoding or "identity").strip().lower()
    if encoding in {"gzip", "x-gzip"}:
        return True
    if encoding in {"identity", ""}:
        return False
    raise UnsupportedMediaType(f"Content-Encoding: expected gzip or none, not {encoding[:40]!r}")


def gunzip(packed: bytes, limit: int) -> bytes:
    """Inflate one or more gzip members, never holding more than ``limit`` bytes; else 413.

    A stream that ends early, fails its checksum or is followed by something else is a 400.
    """
    parts: list[bytes] = []
    left = limit + 1
    data = packed
    while data:
        member = zlib.decompressobj(_GZIP)
        while not member.eof and data:
            try:
                part = member.decompress(data, left)
            except zlib.error:
                _not_gzip()
            left -= len(part)
            if left <= 0:
                _too_large(limit)
            parts.append(part)
            data = member.unconsumed_tail
        if not member.eof:
            _not_gzip()
        data = member.unused_data
    if not packed:
        _not_gzip()
    return b"".join(parts)


def api_version(content_type: str | None) -> str:
    """The API version that a Content-Type stands for; parameters are tolerated, charset is UTF-8.

    No type, or one that is not listed, is a 415: the type alone tells the version, and a page of
    another origin can post without one.
    """
    media_type, parameters = parse_options_header(content_type)
    version = CONTENT_TYPES.get(media_type.lower())
    if version is None or parameters.get("charset", "").strip().lower() not in _UTF8:
        known = ", ".join(CONTENT_TYPES)
        given = "no Content-Type" if not content_type else repr(content_type[:80])
        raise UnsupportedMediaType(f"Content-Type: expected one of {known} (UTF-8), not {given}")
    return version


def parse_json(body: bytes) -> Any:
    """The JSON value of UTF-8 bytes; a byte order mark is skipped.

    Refused (InvalidRequest): what is not UTF-8 or not JSON, NaN and numbers beyond a double, a
    key given twice in one object, nesting beyond the interpreter's stack. A lone surrogate
    (text cut in the middle of a character) becomes U+FFFD: it is no reason to lose
    a document.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest({"document": [f"UTF-8 (byte {error.start} is not)"]}) from None
    try:
        value = _load(text)
        return _load(_mended(value)) if _may_hold_surrogates(text) else value
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidRequest({"document": [f"JSON ({error.msg}: {where})"]}) from None
    except RecursionError:
        raise InvalidRequest({"document": ["JSON that is nested less deeply"]}) from None
    except ValueError as error:
        raise InvalidRequest({"document": [f"JSON ({error})"]}) from None


def compact_json(value: object) -> bytes:
    """The one spelling in which documents are journaled."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def wire_hash(kind: str, version: str, encoding: str, raw: bytes) -> str:
    """SHA-256 in hex over the bytes as they came and over what they were said to be."""
    head = json.dumps([kind, version, encoding]).encode()
    return hashlib.sha256(head + b"\n" + raw).hexdigest()


def _load(text: str) -> Any:
    return json.loads(
        text,
        object_pairs_hook=_object_of,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:80]!r} stands twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise ValueError("a number is too large")
    return number


def _may_hold_surrogates(text: str) -> bool:
    return "\\ud" in text or "\\uD" in text


def _mended(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _too_large(limit: int) -> NoReturn:
    raise RequestEntityTooLarge(f"the document is larger than {limit:,} bytes")


def _not_gzip() -> NoReturn:
    raise InvalidRequest({"document": ["a whole gzip stream"]})
