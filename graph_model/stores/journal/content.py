"""Bodies: how they are stored and verified by their hash."""

from __future__ import annotations

import zlib
from typing import Final

from graph_model.stores.journal.vocabulary import BY_NUMBER, VOCABULARIES
from graph_model.stores.protocols import Body
from graph_model.stores.submissions import content_hash

_LEVEL: Final = 6
_PACKER: Final = zlib.compressobj(_LEVEL, zdict=VOCABULARIES[-1])
"""Has taken in the vocabulary, and is copied for each body: to take it in costs as much as to pack
a small one."""
_NAMES_A_VOCABULARY: Final = 0x20  # a bit of the second byte; the number stands in the next four


def pack(body: bytes) -> bytes:
    """The body as the journal stores it: zlib, against the newest vocabulary."""
    packer = _PACKER.copy()
    return packer.compress(body) + packer.flush()


def unpack(packed: bytes) -> bytes:
    """The original body, by its vocabulary or without one, as it was packed.

    Raises ValueError if the stored bytes are damaged, or need an unknown vocabulary.
    """
    unpacker = zlib.decompressobj(zdict=_vocabulary(packed))
    try:
        body = unpacker.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"cannot be inflated: {error}") from error
    if not unpacker.eof:
        raise ValueError("cannot be inflated: it is cut off")
    return body


def read_body(packed: bytes | None, kind: str, api_version: str, expected: str) -> Body:
    """The body as it was written, compared with its document's content hash.

    ``packed`` is None if nothing is stored. zlib's own checksum finds nearly every change; the hash
    also finds a whole body in the place of another one.
    """
    if packed is None:
        return Body(b"", "is missing")
    try:
        body = unpack(packed)
    except ValueError as error:
        return Body(b"", str(error))
    if content_hash(kind, api_version, body) != expected:
        return Body(b"", "has another content hash than its document")
    return Body(body)


def _vocabulary(packed: bytes) -> bytes:
    """The vocabulary that a packed body names, b"" for none."""
    if len(packed) < 6 or not packed[1] & _NAMES_A_VOCABULARY:
        return b""
    number = int.from_bytes(packed[2:6], "big")
    if number not in BY_NUMBER:
        raise ValueError(f"cannot be inflated: it needs vocabulary {number:08x}")
    return BY_NUMBER[number]
