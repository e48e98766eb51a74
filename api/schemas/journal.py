# ruff: noqa: N815 - fields are spelled as on the wire
"""Queries and answers of the journal's routes."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema

from api.schemas.fields import Body
from api.schemas.query import Choice, Flag, Query, Text, Whole
from graph_model.store import DocumentKind, DocumentState


class ReplayState(StrEnum):
    """Which documents are tried again; ``projected`` is a rebuild."""

    FAILED = "failed"
    WAITING = "waiting"
    PROJECTED = "projected"


class JournalQuery(Query):
    """Either a page of documents, or the summary alone."""

    state = Choice(DocumentState, load_default=None)
    kind = Choice(DocumentKind, load_default=None)
    limit = Whole(1, 1000, load_default=100)
    cursor = Text(load_default=None)
    summary = Flag(load_default=False)

    @validates_schema(pass_original=True)
    def check_summary(self, data: Any, original: Any, **_: Any) -> None:
        """The summary counts everything: it takes no filter and has no pages."""
        others = [name for name in original if name != "summary"]
        if data.get("summary") and others:
            raise ValidationError("no other parameter beside summary=true", others[0])


class ReplayRequest(Body):
    """Which documents to try again."""

    state = Choice(ReplayState, required=True)


class ReplayReply(Schema):
    """How many documents are pending again."""

    reopened = fields.Integer(required=True)


class RebuildReply(Schema):
    """How far a rebuild is; the hashes are null until they are known."""

    phase = fields.String(required=True)
    plansDone = fields.Integer(required=True)
    plans = fields.Integer(required=True)
    removed = fields.Integer(required=True)
    before = fields.String(required=True, allow_none=True)
    after = fields.String(required=True, allow_none=True)


class EntrySchema(Schema):
    """One document of the journal, without its body."""

    position = fields.Integer(required=True)
    kind = fields.String(required=True)
    planId = fields.String(required=True)
    apiVersion = fields.String(required=True)
    contentHash = fields.String(required=True)
    scope = fields.String(required=True)
    state = fields.String(required=True)
    reason = fields.String(allow_none=True)
    receivedAt = fields.String(required=True)
    size = fields.Integer(required=True)


class JournalReply(Schema):
    """A page of documents, newest first; with ``summary=true`` the counts instead."""

    items = fields.List(fields.Nested(EntrySchema))
    total = fields.Integer()
    next = fields.String(allow_none=True)
    received = fields.Integer()
    waiting = fields.Integer()
    pending = fields.Integer()
    projected = fields.Integer()
    failed = fields.Integer()
