"""The shapes of the graph's replies for the OpenAPI document; what its questions take stands beside
their routes.

A reply that ``to_json`` makes of a value has the fields of that value (``reply_of``). Schemas are
written down for those that ``picture.json_form`` and the modules of the questions spell themselves;
a test loads real replies through them, so the description cannot drift.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from marshmallow import INCLUDE, Schema, fields

from graph_model.answers.facets import FacetView
from graph_model.answers.overview import JobFailure, LoneJobs, Totals
from graph_model.lineage import Reach
from graph_model.picture.json_form import members
from graph_model.picture.layout import Flow

MAX_DEPTH = 50
#: What a question may follow; a walk by plans in force alone is a part of POSSIBLE.
REACHES = (Reach.SEEN, Reach.POSSIBLE)


class Reply(Schema):
    class Meta:
        unknown = INCLUDE


@cache
def reply_of(kind: Any) -> type[Schema]:
    """The shape of the object that ``to_json`` makes of a value of this kind, from its fields."""
    hints = get_type_hints(kind)
    described = {name: _field(hints[name], data_key=key) for name, key in members(kind)}
    return Reply.from_dict(described, name=kind.__name__)


def _field(hint: Any, *, required: bool = True, **options: Any) -> fields.Field[Any]:
    """``tuple[Late, ...]`` => a list of late ones; ``str | None`` => a text or null."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    options["required"] = required
    if len(kinds) < len(get_args(hint)):
        options["allow_none"] = True
        (hint,) = kinds
        kinds = [*get_args(hint)]
    if kinds[1:] == [...]:
        return fields.List(_field(kinds[0], required=False), **options)
    if isinstance(hint, type) and members(hint):
        return fields.Nested(lambda: reply_of(hint)(), **options)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return fields.String(metadata={"enum": [*hint]}, **options)
    plain = _PLAIN.get(get_origin(hint) or hint)
    return plain(**options) if plain else fields.Raw(**{**options, "allow_none": True})


_PLAIN: Final[Mapping[Any, type[fields.Field[Any]]]] = {
    str: fields.String,
    int: fields.Integer,
    float: fields.Float,
    bool: fields.Boolean,
    dict: fields.Dict,
    Mapping: fields.Dict,
}


class PartialReply(Reply):
    reason = fields.String(required=True)
    limit = fields.Integer(required=True)


class DepthReply(Reply):
    asked = fields.Integer(required=True)
    reached = fields.Integer(required=True)


class NodeReply(Reply):
    """A dataset, a job or a column; docs/http.md lists the fields of each kind."""

    id = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": ["dataset", "job", "column"]})
    label = fields.String(required=True)
    x = fields.Float()
    y = fields.Float()
    width = fields.Float()
    height = fields.Float()


class EdgeReply(Reply):
    """``from`` and ``to`` follow the data. The kind is feeds, DIRECT or INDIRECT."""

    id = fields.String(required=True)
    source = fields.String(required=True, data_key="from")
    target = fields.String(required=True, data_key="to")
    kind = fields.String(required=True, metadata={"enum": ["feeds", "DIRECT", "INDIRECT"]})
    plans = fields.List(fields.String(), required=True)
    attempted = fields.Boolean()
    seen = fields.Boolean()
    route = fields.List(fields.List(fields.Float()))


class GraphReply(Reply):
    nodes = fields.List(fields.Nested(NodeReply), required=True)
    edges = fields.List(fields.Nested(EdgeReply), required=True)
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")
    depth = fields.Nested(DepthReply, required=True)
    folded = fields.Boolean(required=True)
    focus = fields.String(required=True, allow_none=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
    layers = fields.List(fields.Dict())
    hidden = fields.Integer()
    flow = fields.String(metadata={"enum": list(Flow)})
    not_seen = fields.Dict(data_key="notSeen")


class OverviewReply(GraphReply):
    totals = fields.Nested(reply_of(Totals), required=True)
    failures = fields.List(fields.Nested(reply_of(JobFailure)), required=True)
    lone = fields.Nested(reply_of(LoneJobs), required=True, allow_none=True)


class ItemReply(Reply):
    id = fields.String(required=True)


class ListReply(Reply):
    items = fields.List(fields.Nested(ItemReply), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


class HistoryReply(ListReply):
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class OperationReply(Reply):
    id = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": ["read", "transform", "write"]})
    name = fields.String(required=True)
    inputs = fields.List(fields.String(), required=True)
    outputs = fields.List(fields.String(), required=True)
    aliases = fields.List(fields.String(), required=True)
    folded = fields.List(fields.String(), required=True)


class PlanReply(Reply):
    id = fields.String(required=True)
    plan_id = fields.String(required=True, data_key="planId")
    plan = fields.String(required=True)
    operations = fields.List(fields.Nested(OperationReply), required=True)


class FacetsReply(Reply):
    items = fields.List(fields.Nested(reply_of(FacetView)), required=True)
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
