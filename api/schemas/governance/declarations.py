# ruff: noqa: N815 - fields are spelled as on the wire
"""Bodies and answers of declared lineage."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields, validate

from api.schemas.fields import RequestBody, Truth, expecting
from api.schemas.query import Instant, IntegerField, OptionalTextField, Query, TextField

MOST_DECLARATIONS: Final = 1_000
MOST_SOURCES: Final = 500
MOST_COLUMNS: Final = 5_000
MOST_REFERENCE: Final = 20_000
MOST_NOTE: Final = 2_000
_MOST_COLUMN: Final = 2_000


def _listed(field: fields.Field, least: int, most: int, **options: object) -> fields.List:  # type: ignore[type-arg]
    expected = f"a list of {least} to {most:,} entries"
    bounds = validate.Length(min=least, max=most, error=expected)
    return fields.List(field, validate=bounds, error_messages=expecting(expected), **options)  # type: ignore[arg-type]


class ColumnMappingRequest(RequestBody):
    """``source``: which of the sources; may be left out where there is one."""

    source = TextField(most=MOST_REFERENCE, load_default=None)
    column = TextField(most=_MOST_COLUMN, required=True, data_key="from")
    into = TextField(most=_MOST_COLUMN, required=True, data_key="to")


class DeclarationRequest(RequestBody):
    """``target`` and ``sources``: a URI, ``dataset:<uri>`` or an id. ``job``:
    ``<namespace>/<name>``; without it, the declaration has a job of its own. ``since``: the time
    from which it is in force, by default now.
    """

    target = TextField(most=MOST_REFERENCE, required=True)
    sources = _listed(TextField(most=MOST_REFERENCE), 1, MOST_SOURCES, required=True)
    columns = _listed(
        fields.Nested(ColumnMappingRequest, error_messages=expecting("a JSON object")),
        0,
        MOST_COLUMNS,
        load_default=list,
    )
    job = TextField(load_default=None)
    note = OptionalTextField(most=MOST_NOTE, load_default="")
    since = Instant()


class DeclareRequest(RequestBody):
    """All of them or none; with ``dryRun`` nothing is done."""

    declarations = _listed(
        fields.Nested(DeclarationRequest, error_messages=expecting("a JSON object")),
        1,
        MOST_DECLARATIONS,
        required=True,
    )
    dryRun = Truth(load_default=False)


class DeclarationsQuery(Query):
    """``node``: those of this dataset or job alone."""

    node = TextField(most=MOST_REFERENCE, load_default=None)
    limit = IntegerField(1, 1_000, load_default=100)
    cursor = TextField(load_default=None)


class RetractQuery(Query):
    note = OptionalTextField(most=MOST_NOTE, load_default="")


class DeclaredDataset(Schema):
    id = fields.String(required=True)
    uri = fields.String(required=True)
    scope = fields.String(required=True)


class DeclaredColumn(Schema):
    """``source`` is the id of one of the sources; paths are folded."""

    source = fields.String(required=True)
    column = fields.String(required=True, data_key="from")
    into = fields.String(required=True, data_key="to")


class DeclaredJob(Schema):
    id = fields.String(required=True)
    namespace = fields.String(required=True)
    name = fields.String(required=True)


class DeclarationReply(Schema):
    """``new``: in the reply to POST alone; false if the same person had declared it before.
    ``hidden``: in the list alone; true if it names a hidden dataset or job.
    """

    id = fields.String(required=True)
    author = fields.String(required=True)
    declaredAt = fields.String(required=True)
    since = fields.String(required=True)
    note = fields.String(required=True)
    job = fields.Nested(DeclaredJob, required=True)
    target = fields.Nested(DeclaredDataset, required=True)
    sources = fields.List(fields.Nested(DeclaredDataset), required=True)
    columns = fields.List(fields.Nested(DeclaredColumn), required=True)
    removable = fields.Boolean(required=True)
    new = fields.Boolean()
    hidden = fields.Boolean()


class DeclarationsReply(Schema):
    items = fields.List(fields.Nested(DeclarationReply), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


class DeclareReply(Schema):
    """``new``: how many were not known before."""

    items = fields.List(fields.Nested(DeclarationReply), required=True)
    total = fields.Integer(required=True)
    dryRun = fields.Boolean(required=True)
    new = fields.Integer(required=True)
