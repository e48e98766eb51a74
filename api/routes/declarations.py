# ruff: noqa: N815 - fields are spelled as on the wire
"""Declared lineage: add, list, retract."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import Response, jsonify, request
from marshmallow import Schema, fields, validate

from api.http.blueprint import DECLARING, Blueprint, Principal, current_principal
from api.intake.commands import resolve_node
from api.intake.declarations import (
    Author,
    declare,
    describe,
    find,
    list_declarations,
    prepare,
    retract,
    touches,
)
from api.schemas.fields import (
    Instant,
    IntegerField,
    OptionalTextField,
    Query,
    RequestBody,
    TextField,
    Truth,
    expecting,
)
from api.service import Service, current_service
from api.service.parts import current_sources, is_rebuilding
from graph_model import labels
from graph_model.answers.nodes import open_found
from graph_model.errors import NotAllowed, Rebuilding
from graph_model.facts import DeclarationRow
from graph_model.stores.pages import newest_page
from graph_model.values import Role

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


_MOST_ROUTE: Final = 2_000
_CURSOR: Final = "declarations"
_KINDS: Final = (labels.DATASET, labels.JOB)

blueprint = Blueprint(
    "declarations",
    __name__,
    access=DECLARING,
    description="Lineage that people declare, without a run",
)


@blueprint.route("/declarations")
@blueprint.arguments(DeclarationsQuery)
@blueprint.response(200, DeclarationsReply)
def declarations(query: Mapping[str, Any]) -> Response:
    """Declarations, newest first; with ``node`` those of one dataset or job. Those that name a
    hidden node are for admins.
    """
    service = current_service()
    node = query["node"] and _node(query["node"], service)
    caller = current_principal()
    hidden = service.governance.hidden
    rows = list_declarations(service, node)
    if not caller.may(Role.ADMIN):
        rows = [row for row in rows if not touches(row, hidden)]
    page = newest_page(
        _CURSOR, rows, lambda row: (row.declared_at, row.id), query["limit"], query["cursor"]
    )
    items = [
        {**describe(row, removable=_may_remove(row, caller)), "hidden": touches(row, hidden)}
        for row in page.items
    ]
    return jsonify({"items": items, "total": page.total, "next": page.next})


def _node(reference: str, service: Service) -> str:
    node, _ = resolve_node(reference, _KINDS, service)
    open_found(current_sources(), node, reference)  # or it is hidden: NotFound
    return node


@blueprint.route("/declarations", methods=["POST"])
@blueprint.no_parameters
@blueprint.arguments(DeclareRequest, location="json")
@blueprint.response(201, DeclareReply)
def post_declarations(body: Mapping[str, Any]) -> Response:
    """Declare lineage: all declarations of the list, or none where one of them is wrong. Those that
    the same person has made before are known; without a new one the status is 200.
    """
    service = current_service()
    _refuse_while_rebuilding()
    caller = current_principal()
    author = Author(caller.name, caller.scope)
    prepared = prepare(body["declarations"], author, service)
    caller.check_scopes(declared.submission.scope for declared in prepared)
    known = {row.id: row for row in list_declarations(service)}
    new = [declared for declared in prepared if declared.row.id not in known]
    if not body["dryRun"]:
        declare(new, author, request.path[:_MOST_ROUTE], service)
    items = [
        {
            **describe(known.get(declared.row.id, declared.row), removable=True),
            "new": declared.row.id not in known,
        }
        for declared in prepared
    ]
    reply = {"dryRun": body["dryRun"], "new": len(new), "items": items, "total": len(items)}
    done = new and not body["dryRun"]
    response = jsonify(reply)
    response.status_code = HTTPStatus.CREATED if done else HTTPStatus.OK
    return response


@blueprint.route("/declarations/<key>", methods=["DELETE"])
@blueprint.arguments(RetractQuery)
@blueprint.response(200, DeclarationReply)
@blueprint.no_body
def delete_declaration(query: Mapping[str, Any], key: str) -> Response:
    """Retract a declaration, as its author or an admin. Lineage that runs support stays."""
    service = current_service()
    _refuse_while_rebuilding()
    row = find(key, service)
    caller = current_principal()
    if not _may_remove(row, caller):
        raise NotAllowed(caller.name, (Role.ADMIN.value,))
    caller.check_scopes([row.scope])
    retract(row, caller.name, query["note"], request.path[:_MOST_ROUTE], service)
    return jsonify(describe(row, removable=True))


def _may_remove(row: DeclarationRow, caller: Principal) -> bool:
    own = row.author == caller.name and caller.may(Role.PRODUCER)
    return own or caller.may(Role.ADMIN)


def _refuse_while_rebuilding() -> None:
    if is_rebuilding():
        raise Rebuilding("the graph is being rebuilt: existing declarations are not known yet")
