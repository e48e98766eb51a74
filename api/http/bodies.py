"""The body of a request and the headers that describe it, every step within bounds.

    read (at most the limit) -> UnpackingMemory -> inflate (at most the limit) -> json_texts

Nothing here knows the meaning of a document. A body is refused with a status for the reason: 400
broken, 413 too large, 415 an unsupported type or encoding.
"""

from __future__ import annotations

import hmac
import json
import threading
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from secrets import token_bytes, token_hex
from typing import IO, Final

from werkzeug.exceptions import UnsupportedMediaType
from werkzeug.http import parse_options_header

from graph_model.documents.json_texts import inflated, memory_for
from graph_model.errors import DocumentTooLarge

_JSON: Final = "application/json"
CONTENT_TYPES: Final = {
    _JSON: "1",
    "application/vnd.absa.spline.producer.v1+json": "1",
    "application/vnd.absa.spline.producer.v1.1+json": "1.1",
    "application/vnd.absa.spline.producer.v1.2+json": "1.2",
}
"""Media type -> API version. Agents send ``application/json`` for version 1."""

_CHUNK: Final = 64 * 1024
_MEBIBYTE: Final = 1024 * 1024
_SMALL: Final = 16 * _MEBIBYTE
_KEPT: Final = _MEBIBYTE
"""Bytes of a text that are kept while it is measured, so that they are inflated once."""
_UTF8: Final = frozenset({"", "utf-8", "utf8", "us-ascii"})


class UnpackingMemory:
    """The memory for documents that are unpacked at a time; a request that finds it full waits.

    A document takes many times its size while it is parsed and checked (``memory_for``), and a
    gzip stream a thousandth of it. Small ones (16 MiB of memory) always enter, and so does a larger
    one alone. Larger ones enter in the order in which they came: the largest is not left waiting
    for as long as others fit beside each other.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def unpacked(self, raw: bytes, *, packed: bool, limit: int) -> Iterator[bytes]:
        """The text of a body, with the memory for its document held while the block runs.

        A gzip stream is inflated piece by piece to be measured, and a large one again once there is
        memory for it. Raises as ``inflated``, before anything waits.
        """

        def pieces() -> Iterator[bytes]:
            return inflated(raw, limit) if packed else iter((raw,))

        size = needed = 0
        kept: list[bytes] = []
        for piece in pieces():
            size += len(piece)
            needed += memory_for(piece)
            if size <= _KEPT:
                kept.append(piece)
        with self.hold(needed):
            yield b"".join(kept if size <= _KEPT else pieces())

    def hold(self, size: int) -> AbstractContextManager[None]:
        """``size`` bytes of memory, for as long as the block runs."""
        return self._hold(size) if size > _SMALL else nullcontext()

    @contextmanager
    def _hold(self, size: int) -> Iterator[None]:
        turn = object()
        with self._changed:
            self._waiting.append(turn)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is turn and self._fits(size))
                self._taken += size
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._taken -= size
                self._changed.notify_all()

    def _fits(self, size: int) -> bool:
        return self._taken == 0 or self._taken + size <= self._limit


UNPACKING_MEMORY: Final = UnpackingMemory(256 * _MEBIBYTE)
"""One for all routes: it is the process's memory that they share."""


def read_bounded(stream: IO[bytes], limit: int) -> bytes:
    """Everything up to the end, which may be at most ``limit`` bytes away; else 413."""
    parts: list[bytes] = []
    left = limit + 1
    while left > 0 and (part := stream.read(min(_CHUNK, left))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise DocumentTooLarge(limit)
    return b"".join(parts)


def is_gzip(content_encoding: str | None) -> bool:
    """Whether the body is compressed; raises 415 for an encoding other than gzip."""
    encoding = (content_encoding or "identity").strip().lower()
    if encoding in {"gzip", "x-gzip"}:
        return True
    if encoding in {"identity", ""}:
        return False
    raise UnsupportedMediaType(f"Content-Encoding: expected gzip or none, not {encoding[:40]!r}")


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


_KEY: Final = token_bytes(32)
PROCESS_MARK: Final = f"k{token_hex(8)}-"
"""The beginning of this process's wire hashes."""
MOST_FORGOTTEN: Final = 5_000
"""Hashes that one transaction removes: some tens of milliseconds."""


def wire_hash(kind: str, version: str, encoding: str, raw: bytes) -> str:
    """A keyed hash over the received bytes, their type and their encoding.

    The bytes hold secrets that the journal masks, and a plain hash lets anybody who has it try
    passwords. The key is this process's own and is stored nowhere: after a restart a repeat is
    parsed once, and recognised by its content.
    """
    head = json.dumps([kind, version, encoding]).encode()
    return PROCESS_MARK + hmac.digest(_KEY, head + b"\n" + raw, "sha256").hex()
