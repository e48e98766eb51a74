"""Documents of the journal, on their way in and as they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, NewType

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
