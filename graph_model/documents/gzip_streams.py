"""A gzip stream -> its bytes, within a bound."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from graph_model.errors import DocumentTooLarge, InvalidFields

_CHUNK: Final = 64 * 1024
_FIRST_STEP: Final = 512
_MOST_PIECE: Final = 1024 * 1024
_GZIP: Final = 16 + zlib.MAX_WBITS


def gunzip(packed: bytes, limit: int) -> bytes:
    """Inflate one or more gzip members, never holding more than ``limit`` bytes; raises as
    ``inflated``.
    """
    return b"".join(inflated(packed, limit))


def inflated(packed: bytes, limit: int) -> Iterator[bytes]:
    """The bytes of one or more gzip members, in pieces of at most 1 MiB.

    Raises DocumentTooLarge for more than ``limit``, InvalidFields for a stream that ends early,
    fails its checksum or has other bytes behind it. It is fed in small steps: zlib copies the bytes
    behind a member, and a stream of a million empty members would be copied a million times.
    """
    left = limit + 1
    stream = memoryview(packed)
    while True:
        member = zlib.decompressobj(_GZIP)
        step = _FIRST_STEP
        while not member.eof and stream:
            part = _inflate(member, stream[:step], min(left, _MOST_PIECE))
            left -= len(part)
            if left <= 0:
                raise DocumentTooLarge(limit)
            yield part
            untouched = len(member.unused_data if member.eof else member.unconsumed_tail)
            stream = stream[min(step, len(stream)) - untouched :]
            step = min(2 * step, _CHUNK)
        if not member.eof:
            raise _not_gzip()
        if not stream:
            return


def _inflate(member: zlib._Decompress, piece: memoryview, most: int) -> bytes:
    try:
        return member.decompress(piece, most)
    except zlib.error:
        raise _not_gzip() from None


def _not_gzip() -> InvalidFields:
    return InvalidFields({"document": ["a whole gzip stream"]}, "unreadable")
