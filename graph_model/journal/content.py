"""Bodies: what their hash covers, and how they are stored."""

from __future__ import annotations

import hashlib
import json
import zlib

from graph_model import identity
from graph_model.store import DocumentKind, Submission

_LEVEL = 6


def content_hash(kind: str, api_version: str, body: bytes) -> str:
    """SHA-256 in hex over kind, API version and the inflated, masked body.

    The parts are joined unambiguously: ``["plan","1.2"]``, a line feed (which JSON never holds
    raw inside a string), the body. The same bytes as another kind are other content.
    """
    head = json.dumps([str(kind), api_version], separators=(",", ":")).encode()
    return hashlib.sha256(b"\n".join((head, body))).hexdigest()


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
    """The body as the journal stores it."""
    return zlib.compress(body, _LEVEL)


def unpack(packed: bytes) -> bytes:
    """The body again; raises ValueError where what is stored is damaged."""
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"cannot be inflated: {error}") from error
