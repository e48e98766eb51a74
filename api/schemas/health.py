"""Answers of the health routes."""

from __future__ import annotations

from marshmallow import Schema, fields


class LiveReply(Schema):
    """The process answers."""

    status = fields.String(required=True)


class LagReply(Schema):
    """How far the graph is behind: documents, and since how many seconds the oldest is there."""

    documents = fields.Integer(required=True)
    seconds = fields.Float(required=True)


class ReadyReply(Schema):
    """The answer of each part; ``pending`` counts documents that are not in the graph yet."""

    status = fields.String(required=True)
    checks = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    pending = fields.Integer(allow_none=True)
    lag = fields.Nested(LagReply, allow_none=True)
