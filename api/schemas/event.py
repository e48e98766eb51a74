# ruff: noqa: N815 - fields are spelled as on the wire
"""One execution event (producer API 1.2 and 1.1; version 1 is lifted first)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from api.schemas.fields import Envelope, Labels, PlainObject, ScalarText, Uuid
from graph_model.errors import InvalidDocument
from graph_model.producers.spline.documents import read_event


class EventSchema(Envelope):
    """An execution of a plan; ``timestamp`` (epoch ms) is its end, ``error`` any value or none."""

    planId = Uuid(required=True)
    timestamp = fields.Raw(
        required=True,
        error_messages={"required": "milliseconds since 1970 as an integer, up to the year 9999"},
        metadata={"type": "integer", "description": "Epoch milliseconds at the end."},
        allow_none=True,
    )
    durationNs = fields.Raw(allow_none=True, metadata={"type": "integer"})
    discriminator = ScalarText(allow_none=True)
    labels = Labels()
    error = fields.Raw(allow_none=True)
    extra = PlainObject()

    @validates_schema(pass_original=True, skip_on_field_errors=True)
    def check_whole(self, _data: Any, document: Any, **_: Any) -> None:
        """The typed pass: times within bounds, whole numbers."""
        try:
            read_event(document)
        except InvalidDocument as error:
            raise ValidationError({error.path: [error.expected]}) from error
