"""Bodies: what their hash covers, and how they are stored."""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import lru_cache
from typing import Final

from graph_model import identity
from graph_model.journal.vocabulary import BY_NUMBER, VOCABULARIES
from graph_model.store import Body, DocumentKind, Submission

_LEVEL: Final = 6
_PACKER: Final = zlib.compressobj(_LEVEL, zdict=VOCABULARIES[-1])
"""Has taken in the vocabulary, and is copied for each body: to take it in costs as much as to pack
a small one."""
_NAMES_A_VOCABULARY: Final = 0x20  # a bit of the second byte; the number stands in the next four


def content_hash(kind: str, api_version: str, body: bytes) -> str:
    """SHA-256 in hex over kind, API version and the inflated, masked body.

    The parts are joined unambiguously: ``["plan","1.2"]``, a line feed (which JSON never holds
    raw inside a string), the body. The same bytes as another kind are other content.
    """
    return hashlib.sha256(_head(str(kind), api_version) + body).hexdigest()


@lru_cache(maxsize=64)
def _head(kind: str, api_version: str) -> bytes:
    return json.dumps([kind, api_version], separators=(",", ":")).encode() + b"\n"


def make_submission(
    kind: DocumentKind, api_version: str, plan_id: str, scope: str, body: bytes
) -> Submission:
    """A document on its way into the journal: subject and content hash follow from the rest."""
    return Submission(
        kind,
        api_version,
        plan_id,
        scope,
        identity.subject_id(scope, plan_id),
        content_hash(kind.value, api_version, body),
        body,
    )


def pack(body: bytes) -> bytes:
    """The body as the journal stores it: zlib, against the newest vocabulary."""
    packer = _PACKER.copy()
    return packer.compress(body) + packer.flush()


def unpack(packed: bytes) -> bytes:
    """The body again, by whatever vocabulary it was packed or by none, as it was done at first.

    Raises ValueError where what is stored is damaged, or needs a vocabulary that is not known.
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
    """The body as it was written, held against the content hash that its document has.

    ``packed`` is None where nothing is stored. zlib's own checksum finds nearly every change; the
    hash also finds a whole body that stands where another one belongs.
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
    """What a packed body says that it needs, b"" for nothing."""
    if len(packed) < 6 or not packed[1] & _NAMES_A_VOCABULARY:
        return b""
    number = int.from_bytes(packed[2:6], "big")
    if number not in BY_NUMBER:
        raise ValueError(f"cannot be inflated: it needs vocabulary {number:08x}")
    return BY_NUMBER[number]
