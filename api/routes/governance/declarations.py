"""Declared lineage: add, list, retract."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import Response, jsonify, request

from api.http.blueprint import Blueprint
from api.http.principals import Principal, current_principal
from api.http.rights import DECLARING
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
from api.intake.statements import resolve_node
from api.schemas.governance.declarations import (
    DeclarationReply,
    DeclarationsQuery,
    DeclarationsReply,
    DeclareReply,
    DeclareRequest,
    RetractQuery,
)
from api.service import Service, current_service
from api.service.sources import current_sources, is_rebuilding
from graph_model import labels
from graph_model.answers.visibility import open_found
from graph_model.errors import NotAllowed, Rebuilding
from graph_model.facts import DeclarationRow
from graph_model.stores.pages import newest_page
from graph_model.stores.roles import Role

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
    caller.check_scopes(one.submission.scope for one in prepared)
    known = {row.id: row for row in list_declarations(service)}
    new = [one for one in prepared if one.row.id not in known]
    if not body["dryRun"]:
        declare(new, author, request.path[:_MOST_ROUTE], service)
    items = [
        {
            **describe(known.get(one.row.id, one.row), removable=True),
            "new": one.row.id not in known,
        }
        for one in prepared
    ]
    reply = {"dryRun": body["dryRun"], "new": len(new), "items": items, "total": len(items)}
    done = new and not body["dryRun"]
    response = jsonify(reply)
    response.status_code = HTTPStatus.CREATED if done else HTTPStatus.OK
    return response


@blueprint.route("/declarations/<key>", methods=["DELETE"])
@blueprint.arguments(RetractQuery)
@blueprint.response(200, DeclarationReply)
def delete_declaration(query: Mapping[str, Any], key: str) -> Response:
    """Retract a declaration, as its author or an admin. Lineage that runs support stays."""
    service = current_service()
    _refuse_while_rebuilding()
    row = find(key, service)
    caller = current_principal()
    if not _may_remove(row, caller):
        raise NotAllowed(caller.name, (Role.ADMIN.value,))
    retract(row, caller.name, query["note"], request.path[:_MOST_ROUTE], service)
    return jsonify(describe(row, removable=True))


def _may_remove(row: DeclarationRow, caller: Principal) -> bool:
    own = row.author == caller.name and caller.may(Role.PRODUCER)
    return own or caller.may(Role.ADMIN)


def _refuse_while_rebuilding() -> None:
    if is_rebuilding():
        raise Rebuilding("the graph is being rebuilt: existing declarations are not known yet")
