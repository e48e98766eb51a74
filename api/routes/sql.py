"""SQL text translated, and nothing stored: what each statement reads, writes and computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.http.rights import ASKING
from api.schemas.sql import SqlReply, SqlRequest
from graph_model.errors import DocumentTooLarge
from graph_model.sql import MOST_CHARACTERS, translate
from graph_model.sql.reply import statements_json

blueprint = Blueprint("sql", __name__, description="The lineage of SQL text")


@blueprint.route("/sql", methods=["POST"], access=ASKING)
@blueprint.no_parameters
@blueprint.arguments(SqlRequest, location="json")
@blueprint.describes(SqlReply)
def sql(body: Mapping[str, Any]) -> Response:
    """The lineage of each statement. What cannot be read is a gap, in a 200."""
    text = body["sql"]
    if len(text) > MOST_CHARACTERS or len(text.encode("utf-8", "replace")) > MOST_CHARACTERS:
        raise DocumentTooLarge(MOST_CHARACTERS)
    statements = translate(
        text,
        body["dialect"],
        schemas=body["schemas"],
        database=body["database"],
        schema=body["schema"],
    )
    return jsonify(statements_json(statements))
