# ruff: noqa: N815 - fields are spelled as on the wire
"""Queries and answers of the journal's routes."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema

from api.schemas.fields import RequestBody
from api.schemas.query import Choice, Flag, IntegerField, Query, TextField
from graph_model.stores.documents import DocumentState


class JournalQuery(Query):
    """Either a page of documents, or the summary alone."""

    state = Choice(DocumentState, load_default=None)
    kind = TextField(load_default=None)
    limit = IntegerField(1, 1000, load_default=100)
    cursor = TextField(load_default=None)
    summary = Flag(load_default=False)

    @validates_schema(pass_original=True)
    def check_summary(self, data: Any, original: Any, **_: Any) -> None:
        """The summary counts everything: it takes no filter and has no pages."""
        others = [name for name in original if name != "summary"]
        if data.get("summary") and others:
            raise ValidationError("no other parameter beside summary=true", others[0])


class ReplayRequest(RequestBody):
    """Which documents to try again; ``projected`` is a rebuild."""

    state = Choice(
        (DocumentState.FAILED, DocumentState.WAITING, DocumentState.PROJECTED), required=True
    )


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


class StoredReply(Schema):
    """Bytes in use on the disk: of journal and catalogue, and of SQLite's write-ahead ``log`` (null
    where the database is elsewhere); ``elements`` in the embedded engine and the bytes of its
    ``heap`` that they take, about; null where there is none.
    """

    journal = fields.Integer(required=True)
    catalogue = fields.Integer(required=True)
    log = fields.Integer(allow_none=True)
    elements = fields.Integer(allow_none=True)
    heap = fields.Integer(allow_none=True)


class GrowthReply(Schema):
    """A day: the increases of the last week's days, shared out over its days; null while it is not
    known, in the first ten minutes. ``bytes`` of journal and catalogue.
    """

    documents = fields.Float(allow_none=True)
    bytes = fields.Float(allow_none=True)
    elements = fields.Float(allow_none=True)


class FullReply(Schema):
    """``room`` that is left (bytes of the disk, elements of the heap) and the days that it lasts;
    0 for a full one, null where it is not known or nothing grows. ``soon``: in less than 14 days,
    at a rate of a day or more.
    """

    room = fields.Integer(allow_none=True)
    days = fields.Float(allow_none=True)
    soon = fields.Boolean(required=True)


class ShareReply(Schema):
    """``name`` "": documents that no run has reported yet."""

    name = fields.String(required=True)
    share = fields.Float(required=True)
    bytes = fields.Integer(required=True)


class ElementsReply(Schema):
    """Vertices and edges, about, and the heap that they take; null without an embedded engine."""

    elements = fields.Integer(required=True)
    bytes = fields.Integer(allow_none=True)


class RunsInGraphReply(ElementsReply):
    """The elements of the runs that the graph carries by HEADWATER_GRAPH_RUNS (``setting``).
    ``saved``: the elements that each other setting would remove.
    """

    setting = fields.String(required=True)
    saved = fields.Dict(keys=fields.String(), values=fields.Nested(ElementsReply), required=True)


class StorageReply(Schema):
    """Disk space. ``by`` kind, producer, namespace and job is scaled up from ``sampled`` documents;
    ``saved`` is per setting the most that it gives back, in bytes, ``savedNote`` why it may be
    less; ``tooEarly`` why nothing warns of a date yet, null after a day; ``keep`` is
    HEADWATER_KEEP, null where it is empty. ``measuredSince``: the oldest measurement behind
    ``growth``, null before the first one.
    """

    measuredAt = fields.String(required=True)
    measuredSince = fields.String(required=True, allow_none=True)
    documents = fields.Integer(required=True)
    stored = fields.Nested(StoredReply, required=True)
    growth = fields.Nested(GrowthReply, required=True)
    full = fields.Dict(keys=fields.String(), values=fields.Nested(FullReply), required=True)
    tooEarly = fields.String(allow_none=True)
    sampled = fields.Integer(required=True)
    by = fields.Dict(
        keys=fields.String(), values=fields.List(fields.Nested(ShareReply)), required=True
    )
    keep = fields.String(required=True, allow_none=True)
    saved = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    savedNote = fields.String(required=True)
    runs = fields.Nested(RunsInGraphReply, required=True)
    warning = fields.String(allow_none=True)
