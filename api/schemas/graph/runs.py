"""Queries and replies about runs and facets."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.graph.queries import HistoryQuery
from api.schemas.graph.reply import ItemReply, Reply
from api.schemas.query import Choice, TextField
from graph_model.answers.facets import FacetKind


class FacetsQuery(HistoryQuery):
    name = TextField(most=200, load_default=None)
    kind = Choice(tuple(map(str, FacetKind)), load_default=None)


class FacetReply(Reply):
    name = fields.String(required=True)
    kind = fields.String(required=True)
    at = fields.String(required=True)
    deleted = fields.Boolean(required=True)


class FacetsReply(Reply):
    items = fields.List(fields.Nested(FacetReply), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


class RunReply(ItemReply):
    run_id = fields.String(required=True, allow_none=True, data_key="runId")
    state = fields.String(required=True)
    rolled_up = fields.String(required=True, data_key="rolledUp")
    below = fields.Dict(required=True)


class RunTreeReply(RunReply):
    children = fields.List(fields.Nested(RunReply), required=True)
    history = fields.List(fields.Dict(), required=True)
    facets = fields.Dict(required=True)
    cut = fields.List(fields.String(), required=True)
    items = fields.List(fields.Nested(ItemReply), required=True)
