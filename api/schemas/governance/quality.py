"""Bodies and answers of rules over custom run facets."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from api.schemas.fields import RequestBody, expecting
from api.schemas.governance.governance import GovernanceReply
from api.schemas.query import OptionalTextField, TextField

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
