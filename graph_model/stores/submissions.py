"""A document on its way into the journal: the one spelling of its body, and its content hash."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Final

from graph_model import identity
from graph_model.stores.protocols import DocumentKind, Submission

# A value parsed from JSON holds no circle.
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def compact_json(value: object) -> bytes:
    """The one spelling in which documents are journaled."""
    return _COMPACT.encode(value).encode("utf-8")


def content_hash(kind: str, api_version: str, body: bytes) -> str:
    """SHA-256 in hex over kind, API version and the inflated, masked body.

    The parts are joined unambiguously: ``["plan","1.2"]``, a line feed (which JSON never holds
    raw inside a string), the body. The same bytes as another kind are other content.
    """
    return hashlib.sha256(_head(kind, api_version) + body).hexdigest()


@lru_cache(maxsize=64)
def _head(kind: str, api_version: str) -> bytes:
    return json.dumps([kind, api_version], separators=(",", ":")).encode() + b"\n"


def make_submission(
    kind: DocumentKind, api_version: str, subject_key: str, scope: str, body: bytes
) -> Submission:
    """Subject and content hash follow from the rest."""
    return Submission(
        kind,
        api_version,
        subject_key,
        scope,
        identity.subject_id(scope, subject_key),
        content_hash(kind, api_version, body),
        body,
    )
