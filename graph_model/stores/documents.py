"""Documents on their way into the journal, the one spelling of their bodies, and as it has them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from graph_model import identity

DocumentKind = NewType("DocumentKind", str)
"""The kind of a document, as a text that its producer defines and the journal keeps: ``plan``."""


class DocumentState(StrEnum):
    """``WAITING``: an event whose plan has not come. ``PENDING``: accepted, not projected yet."""

    WAITING = "waiting"
    PENDING = "pending"
    PROJECTED = "projected"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Submission:
    """One document on its way into the journal: checked at the edge, masked, not yet durable.

    ``subject_key`` names the thing that its producer projects as one: Spline's plan id, the key of
    an OpenLineage run, job or dataset, of a declaration or a command. ``subject`` is the id of
    that thing in one scope.

    ``content_hash`` covers kind, API version and ``body`` (inflated, masked JSON, UTF-8); ``scope``
    is the capture scope in force (plan label, else that of the receipt, else empty).
    """

    kind: DocumentKind
    api_version: str
    subject_key: str
    scope: str
    subject: str
    content_hash: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """How documents came: ``received_at`` epoch ms; ``raw_hash`` of the bytes on the wire."""

    received_at: int
    principal: str
    route: str
    raw_hash: str


REOPENED: Final = "it was projected and is to be projected again"
"""Why a document is PENDING that the graph or the catalogue may already show."""


class Body(NamedTuple):
    """The body of a document; ``damage`` is the reason why it cannot be read, "" if it can."""

    content: bytes
    damage: str = ""


class StoredDocument(NamedTuple):
    """A document of the journal. ``position`` is the order of first receipt, from 1.

    ``damage`` is the fault of the stored body ("" for none, or if it was not read): such a document
    has an empty ``body`` and cannot be translated.

    A tuple, because a round of the projector makes several of each document.
    """

    position: int
    kind: DocumentKind
    api_version: str
    subject_key: str
    scope: str
    subject: str
    content_hash: str
    state: DocumentState
    reason: str | None
    received_at: int
    size: int
    body: bytes
    damage: str = ""

    @property
    def is_fresh(self) -> bool:
        """Whether no round was ever concluded with it."""
        return self.state == DocumentState.PENDING and self.reason != REOPENED


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
    head = json.dumps([kind, api_version], separators=(",", ":"))
    return hashlib.sha256(head.encode() + b"\n" + body).hexdigest()


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
