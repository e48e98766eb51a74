"""``POST /sql``: SQL text translated, and nothing stored: what statements read, write, compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Response, jsonify
from marshmallow import Schema, fields

from api.http.blueprint import ASKING, Blueprint
from api.schemas.fields import Checked, Choice, OptionalTextField, RequestBody
from graph_model.errors import DocumentTooLarge
from graph_model.labels import (
    COLUMN_INDIRECT_HOWS,
    DIRECT,
    DIRECT_HOWS,
    INDIRECT,
    PLAN_INDIRECT_HOWS,
)
from graph_model.sql import DIALECTS, MOST_CHARACTERS, translate
from graph_model.sql.reply import GAPS, statements_json

_MOST_TABLES: Final = 100_000


class ScriptText(Checked):
    """A text of SQL; its size is the route's to refuse, with 413."""

    expected = "a text of SQL"
    kinds = (str,)
    shape: Mapping[str, Any] = {"type": "string"}


class TableColumns(Checked):
    """``{"sales.orders": ["id", "amount"]}``, columns in the order of the table."""

    expected = f"an object of at most {_MOST_TABLES:,} tables, each a list of names of columns"
    kinds = (dict,)
    shape: Mapping[str, Any] = {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
    nullable = True

    def read(self, value: Any) -> Mapping[str, list[str]]:
        schemas: Mapping[str, list[str]] = super().read(value) or {}
        if len(schemas) > _MOST_TABLES or not all(map(_are_names, schemas.values())):
            raise ValueError(value)
        return schemas


def _are_names(columns: object) -> bool:
    return isinstance(columns, list) and all(isinstance(name, str) for name in columns)


class SqlRequest(RequestBody):
    """A text and what its names mean: only the text and its dialect are needed."""

    sql = ScriptText(required=True)
    dialect = Choice(DIALECTS, required=True)
    schemas = TableColumns(load_default=None)
    database = OptionalTextField(load_default="")
    schema = OptionalTextField(load_default="")


class _Gap(Schema):
    code = fields.String(metadata={"enum": list(GAPS)})
    detail = fields.String()


_Column = Schema.from_dict(
    {
        "to": fields.String(allow_none=True),
        "from": fields.List(fields.String()),
        "kind": fields.String(metadata={"enum": [DIRECT, INDIRECT]}),
        "how": fields.String(
            metadata={"enum": [*DIRECT_HOWS, *COLUMN_INDIRECT_HOWS, *PLAN_INDIRECT_HOWS]}
        ),
        "expression": fields.String(),
    },
    name="SqlColumn",
)


class _SqlStatement(Schema):
    reads = fields.List(fields.String())
    writes = fields.List(fields.String())
    columns = fields.List(fields.Nested(_Column))
    gaps = fields.List(fields.Nested(_Gap))


class SqlReply(Schema):
    """Each statement of the text that reads or writes something, in order."""

    statements = fields.List(fields.Nested(_SqlStatement))


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
