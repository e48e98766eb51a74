"""One column, and what it is in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.blueprint import Blueprint
from api.marking import mark, refuse_hidden
from api.replies import to_json
from api.schemas.graph import AtQuery
from api.schemas.reply import ItemReply
from api.service import current_service
from graph_model import identity, labels
from graph_model.column_pages import describe_column
from graph_model.errors import NotFound

blueprint = Blueprint("columns", __name__, url_prefix="/graph", description="Columns")


@blueprint.route("/columns/<column_id>")
@blueprint.arguments(AtQuery)
@blueprint.alt_response(200, schema=ItemReply, success=True)  # type: ignore[untyped-decorator]
def column(query: Mapping[str, Any], column_id: str) -> Response:
    """One column: its table, its type, and its definition as a sentence."""
    if identity.kind_of(column_id) != labels.COLUMN:
        raise NotFound(labels.COLUMN, column_id)
    service = current_service()
    key = refuse_hidden(column_id, service)
    catalogue = service.catalogue
    kept = service.kept(catalogue)
    hidden = kept.governance.hidden
    page = describe_column(key, query["at"], service.graph, catalogue, hidden, kept.structure)
    return jsonify(mark(to_json(page), kept.governance))
