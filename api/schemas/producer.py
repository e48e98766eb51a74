# ruff: noqa: N815 - fields are spelled as on the wire
"""The envelope of an execution plan, and an execution event (producer API 1.2 and 1.1; version 1 is
lifted first).

marshmallow checks the envelope and the short lists, so that one reply names all their errors. The
long lists (attributes, expressions: tens of thousands of entries) go through the one typed pass of
``graph_model.producers.spline.documents``, which also knows the rules between the parts: ids used
once, childIds that exist, no cycle. The schema accepts every plan that this pass accepts. Nothing
is dropped or rewritten; the document is journaled as it was sent.
"""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from api.schemas.fields import (
    Envelope,
    Labels,
    LongList,
    PlainObject,
    ScalarText,
    Truth,
    Uri,
    Uuid,
    expecting,
    list_of,
    list_of_objects,
)
from graph_model.errors import InvalidDocument
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.producer import STAND_IN


class ProductSchema(Envelope):
    """A name and a version."""

    name = ScalarText(required=True)
    version = ScalarText(required=True)


class AgentSchema(Envelope):
    """The agent's name and version; an empty object counts as none."""

    name = ScalarText()
    version = ScalarText()


class OperationSchema(Envelope):
    """The fields of every operation."""

    id = ScalarText(required=True)
    name = ScalarText(allow_none=True)
    childIds = list_of(ScalarText(), "a list of operation ids", allow_none=True)
    params = PlainObject()
    extra = PlainObject()


class WriteSchema(OperationSchema):
    """The one operation that writes."""

    outputSource = Uri(required=True)
    append = Truth(required=True)
    childIds = list_of(ScalarText(), "a list of operation ids", required=True)


class ReadSchema(OperationSchema):
    """An operation that reads one or several sources."""

    inputSources = list_of(Uri(), "a list of URIs", required=True)
    output = list_of(ScalarText(), "a list of ids", allow_none=True)


class TransformSchema(OperationSchema):
    """Any other operation; the order of ``childIds`` is significant (left, right)."""

    output = list_of(ScalarText(), "a list of ids", allow_none=True)


class OperationsSchema(Envelope):
    """The operations of a plan."""

    write = fields.Nested(WriteSchema, required=True, error_messages=expecting("a JSON object"))
    reads = list_of_objects(ReadSchema)
    other = list_of_objects(TransformSchema)


class ExpressionsSchema(Envelope):
    """Functions and constants, referenced by id."""

    functions = LongList({"type": "object", "required": ["id", "name"]})
    constants = LongList({"type": "object", "required": ["id", "value"]})


class PlanSchema(Envelope):
    """An execution plan."""

    id = Uuid(allow_none=True)
    name = ScalarText(allow_none=True)
    discriminator = ScalarText(allow_none=True)
    labels = Labels()
    operations = fields.Nested(
        OperationsSchema, required=True, error_messages=expecting("a JSON object")
    )
    attributes = LongList({"type": "object", "required": ["id", "name"]})
    expressions = fields.Nested(
        ExpressionsSchema, allow_none=True, error_messages=expecting("a JSON object")
    )
    systemInfo = fields.Nested(
        ProductSchema, required=True, error_messages=expecting("a JSON object")
    )
    agentInfo = fields.Nested(
        AgentSchema, allow_none=True, error_messages=expecting("a JSON object")
    )
    extraInfo = PlainObject()

    @validates_schema(pass_original=True, skip_on_field_errors=True)
    def check_whole(self, _data: Any, document: Any, **_: Any) -> None:
        """The typed pass: long lists, and the rules between the parts."""
        try:
            read_plan(document, STAND_IN)
        except InvalidDocument as error:
            raise ValidationError({error.path: [error.expected]}) from error


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
