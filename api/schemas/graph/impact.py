"""Query strings of the impact routes, and the shapes of their replies."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.graph.queries import MAX_DEPTH, REACHES
from api.schemas.graph.reply import DepthReply, PartialReply, Reply
from api.schemas.query import Choice, Flag, Instant, IntegerField, Query, TextField
from graph_model import labels
from graph_model.answers.impact.changes import COLUMN_CHANGES
from graph_model.answers.impact.tables import JSON, TEXT_FORMS
from graph_model.lineage import ChainFlow, Reach

MOST_ITEMS = 5_000
FORMS = (JSON, *TEXT_FORMS)


class ImpactQuery(Query):
    node = TextField(most=20_000, required=True)
    depth = IntegerField(0, MAX_DEPTH, load_default=MAX_DEPTH)
    at = Instant()
    columns = Flag(load_default=False)
    jobs = Flag(load_default=True)
    indirect = Flag(load_default=None)
    change = Choice(COLUMN_CHANGES, load_default=None)
    limit = IntegerField(1, MOST_ITEMS, load_default=1_000)
    format = Choice(FORMS, load_default=None)
    reach = Choice(REACHES, load_default=Reach.POSSIBLE)


class PlanCheckQuery(Query):
    job = TextField(load_default=None)
    depth = IntegerField(1, MAX_DEPTH, load_default=MAX_DEPTH)
    at = Instant()
    jobs = Flag(load_default=True)
    indirect = Flag(load_default=True)
    limit = IntegerField(1, MOST_ITEMS, load_default=1_000)
    format = Choice(FORMS, load_default=None)


class ImpactItemReply(Reply):
    """docs/http.md lists the fields."""

    id = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": ["dataset", "job", "column"]})
    label = fields.String(required=True)
    depth = fields.Integer(required=True)
    path = fields.List(fields.Dict(), required=True)
    flow = fields.String(required=True, metadata={"enum": list(ChainFlow)})
    reads = fields.String(
        required=True, allow_none=True, metadata={"enum": [labels.METADATA, None]}
    )


class ImpactReply(Reply):
    starts = fields.List(fields.Dict(), required=True)
    items = fields.List(fields.Nested(ImpactItemReply), required=True)
    total = fields.Integer(required=True)
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")
    depth = fields.Nested(DepthReply, required=True)
    folded = fields.Boolean(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
    hidden = fields.Integer(required=True)
    verdict = fields.String(
        required=True, allow_none=True, metadata={"enum": ["breaks", "may-break", "none"]}
    )


class ChangeReply(Reply):
    kind = fields.String(required=True)
    subject = fields.String(required=True)
    before = fields.String(required=True, allow_none=True)
    after = fields.String(required=True, allow_none=True)
    effect = fields.String(required=True, metadata={"enum": ["breaks", "may-break", "none"]})


class PlanChangesReply(Reply):
    job = fields.String(required=True)
    target = fields.String(required=True)
    plan = fields.String(required=True, allow_none=True)
    changes = fields.List(fields.Nested(ChangeReply), required=True)


class PlanCheckReply(ImpactReply):
    plans = fields.List(fields.Nested(PlanChangesReply), required=True)
    missing = fields.List(fields.String(), required=True)
    unmet = fields.List(fields.String(), required=True)
