"""Bytes of a request -> a parsed document, every step within bounds.

    read (at most the limit) -> gunzip (at most the limit) -> UTF-8 -> JSON

Nothing here knows the meaning of a document. Unreadable bytes are refused with a status for the
reason: 400 broken, 413 too large, 415 an unsupported type or encoding.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, Any, Final, NoReturn

from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.http import parse_options_header

from api.http.errors import InvalidRequest
from api.http.repeated_keys import RepeatedKeys
from graph_model.producers.document_notes import repeated_keys

_JSON: Final = "application/json"
CONTENT_TYPES: Final = {
    _JSON: "1",
    "application/vnd.absa.spline.producer.v1+json": "1",
    "application/vnd.absa.spline.producer.v1.1+json": "1.1",
    "application/vnd.absa.spline.producer.v1.2+json": "1.2",
}
"""Media type -> API version. Agents send ``application/json`` for version 1."""

_CHUNK: Final = 64 * 1024
_FIRST_STEP: Final = 512
MOST_VALUES: Final = 8_000_000
"""Commas and opening brackets outside strings. An agent's document has one in ten bytes or more, so
64 MB of it pass; ``[{},{},…]`` has one in two and takes forty times its size in memory."""
_SMALL: Final = 1024 * 1024
# To its end, or to the body's where it has none: a search never reads a string twice.
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_STRETCH: Final = re.compile(rb'[^"]*+(?:' + _STRING + rb'[^"]*+){0,10000}+', re.DOTALL)
_MARKS: Final = (b",", b"[", b"{")
_GZIP: Final = 16 + zlib.MAX_WBITS
_UTF8: Final = frozenset({"", "utf-8", "utf8", "us-ascii"})


class RepeatedKey(InvalidRequest):
    """An object has a key twice, where it may not: ``parse_json`` takes it."""


class UnpackingRoom:
    """How much of large documents is unpacked at a time; a request that finds it full waits.

    A document takes about thirty times its size while it is parsed and checked, so sixteen of
    64 MB at once would take all memory. Small ones (1 MiB) always enter, and so does one alone.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._changed = threading.Condition()

    def hold(self, size: int) -> AbstractContextManager[None]:
        """Room for ``size`` bytes, for as long as the block runs."""
        return self._hold(size) if size > _SMALL else nullcontext()

    @contextmanager
    def _hold(self, size: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._fits(size))
            self._taken += size
        try:
            yield
        finally:
            with self._changed:
                self._taken -= size
                self._changed.notify_all()

    def _fits(self, size: int) -> bool:
        return self._taken == 0 or self._taken + size <= self._limit


ROOM: Final = UnpackingRoom(64 * 1024 * 1024)
"""One for all routes: it is the process's memory that they share."""


def read_bounded(stream: IO[bytes], limit: int) -> bytes:
    """Everything up to the end, which may be at most ``limit`` bytes away; else 413."""
    parts: list[bytes] = []
    left = limit + 1
    while left > 0 and (part := stream.read(min(_CHUNK, left))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        refuse_too_large(limit)
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

    A stream that ends early, fails its checksum or has other bytes behind it is a 400. It is fed in
    small steps: zlib copies the bytes behind a member, and a stream of a million empty members
    would be copied a million times.
    """
    parts: list[bytes] = []
    left = limit + 1
    stream = memoryview(packed)
    while True:
        member = zlib.decompressobj(_GZIP)
        step = _FIRST_STEP
        while not member.eof and stream:
            part = _inflate(member, stream[:step], left)
            left -= len(part)
            if left <= 0:
                refuse_too_large(limit)
            parts.append(part)
            stream = stream[min(step, len(stream)) - len(member.unused_data) :]
            step = min(2 * step, _CHUNK)
        if not member.eof:
            _not_gzip()
        if not stream:
            return b"".join(parts)


def _inflate(member: zlib._Decompress, piece: memoryview, most: int) -> bytes:
    try:
        return member.decompress(piece, most)
    except zlib.error:
        _not_gzip()


def api_version(content_type: str | None) -> str:
    """The API version of a Content-Type; parameters are tolerated, charset is UTF-8.

    No type, or one that is not listed, is a 415: only the type names the version, and a page of
    another origin can post without one.
    """
    expected = f"one of {', '.join(CONTENT_TYPES)}"
    return CONTENT_TYPES[_media_type(content_type, CONTENT_TYPES, expected)]


def require_json(content_type: str | None) -> None:
    """Raises 415 for another type than ``application/json`` in UTF-8, or none."""
    _media_type(content_type, (_JSON,), _JSON)


def _media_type(content_type: str | None, known: Collection[str], expected: str) -> str:
    media_type, parameters = parse_options_header(content_type)
    charset = parameters.get("charset", "").strip().lower()
    if media_type.lower() not in known or charset not in _UTF8:
        given = "no Content-Type" if not content_type else repr(content_type[:80])
        raise UnsupportedMediaType(f"Content-Type: expected {expected} (UTF-8), not {given}")
    return media_type.lower()


def parse_json(body: bytes) -> Any:
    """The JSON value of UTF-8 bytes; a byte order mark is skipped.

    Refused (InvalidRequest): bytes that are not UTF-8 or not JSON, NaN and numbers beyond a double,
    nesting beyond the interpreter's stack, more than MOST_VALUES values. Of a key given twice in
    one object the last value counts, and where they differ the document notes it
    (``repeated_keys``). A lone surrogate (text cut in the middle of a character) becomes U+FFFD: it
    is no reason to lose a document.
    """
    if _exceeds(body):
        raise InvalidRequest({"document": [f"at most {MOST_VALUES:,} values"]}, "too-large")
    try:
        return _parse(body, _load_strictly)
    except RepeatedKey:
        return _parse(body, _load_repeated)


def parse_order(body: bytes) -> Any:
    """``parse_json`` of an order that is carried out at once: a key with two values is refused."""
    value = parse_json(body)
    if twice := repeated_keys(value):
        listed = ", ".join(map(repr, twice))
        raise InvalidRequest({"document": [f"one value for each key, not two for {listed}"]})
    return value


def _parse(body: bytes, load: Callable[[str], Any]) -> Any:
    try:
        return load(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _unreadable(f"UTF-8 (byte {error.start} is not)") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _unreadable(f"JSON ({error.msg}: {where})") from None
    except RecursionError:
        raise _unreadable("JSON that is nested less deeply") from None
    except ValueError as error:
        raise _unreadable(f"JSON ({error})") from None


def _unreadable(expected: str) -> InvalidRequest:
    return InvalidRequest({"document": [expected]}, "unreadable")


def _load_strictly(text: str) -> Any:
    value = _load(text)
    return _load(_mended(value)) if _may_hold_surrogates(text) else value


def _load_repeated(text: str) -> Any:
    """A text in which some object has a key twice; mending may make two keys one as well."""
    value = _load_and_note(text)
    return _load_and_note(_mended(value)) if _may_hold_surrogates(text) else value


def _load_and_note(text: str) -> Any:
    repeated = RepeatedKeys()
    value = _decoder(repeated.object_of)(text)
    repeated.note(value)
    return value


def wire_hash(kind: str, version: str, encoding: str, raw: bytes) -> str:
    """SHA-256 in hex over the received bytes, their type and their encoding."""
    head = json.dumps([kind, version, encoding]).encode()
    return hashlib.sha256(head + b"\n" + raw).hexdigest()


def _exceeds(body: bytes) -> bool:
    """Whether a JSON text has more than MOST_VALUES values.

    Nearly every text is cleared by a glance. In one that is not, commas in strings do not count:
    strings are taken out, a stretch at a time (a body may hold millions of them).
    """
    if len(body) <= MOST_VALUES or sum(map(body.count, _MARKS)) <= MOST_VALUES:
        return False
    count = place = 0
    while count <= MOST_VALUES and (stretch := _STRETCH.match(body, place)) and stretch[0]:
        count += sum(map(_STRINGS.sub(b"", stretch[0]).count, _MARKS))
        place = stretch.end()
    return count > MOST_VALUES


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedKey({"document": ["each key once in an object"]})
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise ValueError("a number is too large")
    return number


def _decoder(object_of: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Callable[[str], Any]:
    return json.JSONDecoder(
        object_pairs_hook=object_of, parse_constant=_refuse_constant, parse_float=_finite
    ).decode


# Made once: to make a decoder takes as long as to read a small document.
_load: Final = _decoder(_object_of)


def _may_hold_surrogates(text: str) -> bool:
    return "\\" in text and ("\\ud" in text or "\\uD" in text)


def _mended(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def refuse_too_large(limit: int) -> NoReturn:
    """Raises the 413 of a document of more than ``limit`` bytes."""
    raise RequestEntityTooLarge(f"the document is larger than {limit:,} bytes")


def _not_gzip() -> NoReturn:
    raise _unreadable("a whole gzip stream")
