# ruff: noqa: N815 - fields are spelled as on the wire
"""Bodies, queries and answers of layers, classifications, naming rules, rules over run facets."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.schemas.fields import (
    Choice,
    Flag,
    Instant,
    IntegerField,
    OptionalTextField,
    Query,
    RequestBody,
    TextField,
    expecting,
)
from graph_model.governance.classifications import MOST_NOTE, MOST_OWNER
from graph_model.governance.layers import COLOUR, MatchKind


class GovernanceReply(Schema):
    """A reply; unlisted fields are described in docs/http.md."""


class ChangeQuery(Query):
    """``preview``: list the changes, and change nothing."""

    preview = Flag(load_default=False)


# --- layers --------------------------------------------------------------------------------------


class LayersQuery(Query):
    """``counts``: how many datasets each layer has; that looks at every dataset."""

    counts = Flag(load_default=False)


class LayerRequest(RequestBody):
    match = Choice(MatchKind, required=True)
    pattern = TextField(most=1_000, required=True)
    order = fields.Integer(
        required=True, strict=True, error_messages=expecting("a whole number from 0 to 1,000,000")
    )
    colour = fields.String(required=True, error_messages=expecting(COLOUR))
    note = OptionalTextField(most=500, load_default="")


class LayerReply(GovernanceReply):
    """With ``preview=true``: ``{"preview", "items", "total", "datasets"}`` instead."""

    name = fields.String(required=True)
    match = fields.String(required=True)
    pattern = fields.String(required=True)
    order = fields.Integer(required=True)
    colour = fields.String(required=True)
    note = fields.String(required=True)
    datasets = fields.Integer()


class LayersReply(GovernanceReply):
    items = fields.List(fields.Nested(LayerReply), required=True)
    total = fields.Integer(required=True)
    without = fields.Integer()


# --- classifications -----------------------------------------------------------------------------


class ClassifyRequest(RequestBody):
    node = TextField(most=20_000, required=True)
    owner = OptionalTextField(most=MOST_OWNER, load_default="")
    note = OptionalTextField(most=MOST_NOTE, load_default="")


class NodeQuery(Query):
    node = TextField(most=20_000, required=True)


class BlockRequest(RequestBody):
    """Two columns, by reference or id."""

    source = TextField(most=20_000, required=True, data_key="from")
    target = TextField(most=20_000, required=True, data_key="to")
    note = OptionalTextField(most=MOST_NOTE, load_default="")


class BlockQuery(Query):
    source = TextField(most=20_000, required=True, data_key="from")
    target = TextField(most=20_000, required=True, data_key="to")


class ColumnsQuery(Query):
    propagate = Flag(load_default=False)
    at = Instant()
    limit = IntegerField(1, 5_000, load_default=1_000)


class TagReply(GovernanceReply):
    tag = fields.String(required=True)
    datasets = fields.Integer(required=True)
    columns = fields.Integer(required=True)
    blocks = fields.Integer(required=True)


class TagsReply(GovernanceReply):
    items = fields.List(fields.Nested(TagReply), required=True)
    total = fields.Integer(required=True)


class AssignmentReply(GovernanceReply):
    tag = fields.String(required=True)
    id = fields.String(required=True)
    kind = fields.String(required=True)
    uri = fields.String(required=True)
    scope = fields.String(required=True)
    path = fields.String(required=True, allow_none=True)
    owner = fields.String(required=True)
    note = fields.String(required=True)
    author = fields.String(required=True)
    at = fields.String(required=True)


class AssignmentsReply(GovernanceReply):
    items = fields.List(fields.Nested(AssignmentReply), required=True)
    total = fields.Integer(required=True)
    blocks = fields.List(fields.Dict(), required=True)


class ColumnsReply(GovernanceReply):
    """The columns of a class, with paths, blocked edges and gaps."""

    tag = fields.String(required=True)
    propagate = fields.Boolean(required=True)
    items = fields.List(fields.Dict(), required=True)
    total = fields.Integer(required=True)
    blocked = fields.List(fields.Dict(), required=True)
    gaps = fields.List(fields.Dict(), required=True)
    asOf = fields.String(required=True, allow_none=True)
    folded = fields.Boolean(required=True)
    cut = fields.Dict(required=True, allow_none=True, data_key="partial")


# --- rules ---------------------------------------------------------------------------------------


class RulesQuery(Query):
    """``version``: the id of a rules command; else the set that is wanted."""

    version = TextField(most=100, load_default=None)


class RulesRequest(RequestBody):
    """``rules``: tables by name; one that is left out is the default one."""

    rules = fields.Dict(required=True, error_messages=expecting("a JSON object of tables"))
    note = OptionalTextField(most=500, load_default="")


class RulesReply(GovernanceReply):
    """With ``preview=true``: ``{"preview", "datasets", "jobs", "partitions", …}`` instead."""

    rules = fields.Dict(required=True)
    changed = fields.List(fields.String(), required=True)
    state = fields.String(required=True, metadata={"enum": ["in force", "rebuilding"]})
    versions = fields.List(fields.Dict(), required=True)


_PASSES = "a list of 1 to 50 texts, numbers, true or false"


class QualityRuleRequest(RequestBody):
    """A run passes where ``path`` in its facet is one of ``passes``, fails where it is another."""

    facet = TextField(most=200, required=True)
    path = TextField(most=200, required=True)
    passes: Any = fields.List(
        fields.Raw(allow_none=True), required=True, error_messages=expecting(_PASSES)
    )
    note = OptionalTextField(most=500, load_default="")


class QualityRuleReply(GovernanceReply):
    """With ``preview=true``: ``{"preview", "items", "total", "datasets", "cut"}`` instead."""

    name = fields.String(required=True)
    facet = fields.String(required=True)
    path = fields.String(required=True)
    passes: Any = fields.List(fields.Raw(), required=True)
    note = fields.String(required=True)


class QualityRulesReply(GovernanceReply):
    items = fields.List(fields.Nested(QualityRuleReply), required=True)
    total = fields.Integer(required=True)
