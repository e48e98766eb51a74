"""The columns of all datasets, and one column with its definition in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.schemas.graph import AtQuery, ColumnListQuery, ItemReply, ListReply
from api.service.sources import current_sources
from graph_model.answers.columns import describe_column, list_columns
from graph_model.picture.json_form import page_reply, to_json

blueprint = Blueprint("columns", __name__, url_prefix="/graph", description="Columns")


@blueprint.route("/columns")
@blueprint.arguments(ColumnListQuery)
@blueprint.describes(ListReply)
def columns(query: Mapping[str, Any]) -> Response:
    """The columns of all datasets, by name unless ``sort`` names another order."""
    return jsonify(page_reply(list_columns(current_sources(), **query)))


@blueprint.route("/columns/<column_id>")
@blueprint.arguments(AtQuery)
@blueprint.alt_response(200, schema=ItemReply, success=True)  # type: ignore[untyped-decorator]
def column(query: Mapping[str, Any], column_id: str) -> Response:
    """One column: its table, its type, and its definition as a sentence."""
    return jsonify(to_json(describe_column(current_sources(), column_id, query["at"])))
