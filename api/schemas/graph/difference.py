"""Queries and replies of differences between times, executions and plans; versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from marshmallow import ValidationError, fields, validates_schema

from api.schemas.graph.queries import MAX_DEPTH
from api.schemas.graph.reply import ItemReply, ListReply, NodeReply, PartialReply, Reply
from api.schemas.query import Choice, Flag, Instant, IntegerField, Query, TextField
from graph_model.stores.graph import Direction

PLANS: Final = ("fromPlan", "toPlan")
EXECUTIONS: Final = ("fromExecution", "toExecution")
TIMES: Final = ("from", "to")
#: Parameters of a question about a graph alone, with their defaults.
OF_GRAPHS: Final[Mapping[str, Any]] = {
    "node": None,
    "direction": Direction.BOTH,
    "depth": 1,
    "columns": False,
    "jobs": True,
    "indirect": False,
    "limit": 500,
}


class DifferenceQuery(Query):
    """``from`` and ``to``, two executions, or two plans: one of the three."""

    node = TextField(most=20_000)
    begin = Instant(data_key="from")
    end = Instant(data_key="to")
    from_execution = TextField(data_key="fromExecution", load_default=None)
    to_execution = TextField(data_key="toExecution", load_default=None)
    from_plan = TextField(data_key="fromPlan", load_default=None)
    to_plan = TextField(data_key="toPlan", load_default=None)
    direction = Choice(Direction)
    depth = IntegerField(0, MAX_DEPTH)
    columns = Flag()
    jobs = Flag()
    indirect = Flag()
    limit = IntegerField(1, 5_000)
    unchanged = Flag(load_default=False)
    layout = Flag(load_default=False)

    @validates_schema(pass_original=True, skip_on_field_errors=True)
    def check_sides(self, _data: Any, given: Any, **_: Any) -> None:
        """Both sides of one kind, and nothing that another kind takes."""
        kind = next((k for k in (PLANS, EXECUTIONS) if given.keys() & set(k)), TIMES)
        for name in kind if kind is not TIMES else ("from", "node"):
            if name not in given:
                raise ValidationError(_NEEDED[name], name)
        refused = {*PLANS, *EXECUTIONS, *TIMES} - set(kind)
        for name in sorted(refused | (set(OF_GRAPHS) if kind is PLANS else set())):
            if name in given:
                raise ValidationError(f"no {name} beside {kind[0]} and {kind[1]}", name)


_NEEDED: Final = {
    "from": "a time (with to), or fromExecution and toExecution, or fromPlan and toPlan",
    "node": "the dataset, job or column whose lineage is compared",
    "fromPlan": "a plan id beside toPlan",
    "toPlan": "a plan id beside fromPlan",
    "fromExecution": "the id of an execution beside toExecution",
    "toExecution": "the id of an execution beside fromExecution",
}


class VersionsQuery(Query):
    limit = IntegerField(1, 100, load_default=20)
    cursor = TextField(load_default=None)
    at = Instant()


class ChangesQuery(Query):
    since = Instant()
    at = Instant()
    depth = IntegerField(1, MAX_DEPTH, load_default=10)
    limit = IntegerField(1, 500, load_default=100)


class SideReply(Reply):
    at = fields.String(required=True, allow_none=True)
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")
    folded = fields.Boolean(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class ChangedNodeReply(NodeReply):
    change = fields.String(
        required=True, allow_none=True, metadata={"enum": ["added", "removed", "changed"]}
    )


class ChangedEdgeReply(Reply):
    id = fields.String(required=True)
    source = fields.String(required=True, data_key="from")
    target = fields.String(required=True, data_key="to")
    change = fields.String(
        required=True, allow_none=True, metadata={"enum": ["added", "removed", "changed"]}
    )


class PlanDifferenceReply(Reply):
    same_logic = fields.Boolean(required=True, data_key="sameLogic")
    summary = fields.List(fields.String(), required=True)
    operations = fields.List(fields.Nested(ItemReply), required=True)
    columns = fields.List(fields.Dict(), required=True)


class DifferenceReply(Reply):
    """Of two plans ``plan`` alone is there; of two executions also both of them."""

    kind = fields.String(required=True, metadata={"enum": ["times", "executions", "plans"]})
    begin = fields.Nested(SideReply, data_key="from")
    end = fields.Nested(SideReply, data_key="to")
    nodes = fields.List(fields.Nested(ChangedNodeReply))
    edges = fields.List(fields.Nested(ChangedEdgeReply))
    plan = fields.Nested(PlanDifferenceReply, allow_none=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class VersionsReply(ListReply):
    """Newest first; ``changes`` is null for the first of its kind."""


class CauseReply(Reply):
    kind = fields.String(required=True)
    node = fields.Nested(ItemReply, required=True)
    distance = fields.Integer(required=True)
    reason = fields.String(required=True)


class ChangesReply(Reply):
    node = fields.String(required=True)
    since = fields.String(required=True, allow_none=True)
    until = fields.String(required=True, allow_none=True)
    items = fields.List(fields.Nested(CauseReply), required=True)
    total = fields.Integer(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
