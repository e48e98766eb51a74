"""The naming rules as data: read, preview on history, apply by a rebuild."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.intake.statements import declare
from api.schemas.governance import ChangeQuery, RulesQuery, RulesReply, RulesRequest
from api.service import Service, current_service
from graph_model.errors import NotFound
from graph_model.governance.previews import preview_rules
from graph_model.instants import iso
from graph_model.naming import DEFAULT_RULES, Rules, rules_digest
from graph_model.naming.rules_json import changed_tables, read_rules, write_rules
from graph_model.picture.json_form import to_json
from graph_model.producers.commands import CommandKind, Statement, write_value
from graph_model.projection.recorded_rules import list_rule_sets, wanted_rules

blueprint = Blueprint("rules", __name__, description="Naming rules as data")
_KEY: Final = "rules"
_PREVIEW_SECONDS: Final = 20.0
_VERSIONS_SHOWN: Final = 100


@blueprint.route("/rules")
@blueprint.arguments(RulesQuery)
@blueprint.describes(RulesReply)
def rules(query: Mapping[str, Any]) -> Response:
    """The rules that are wanted, whether they are in force yet, and their versions."""
    service = current_service()
    if query["version"] is None:
        return jsonify(_reply(wanted_rules(service.journal, DEFAULT_RULES), service))
    for one in list_rule_sets(service.journal, DEFAULT_RULES):
        if one.id == query["version"]:
            return jsonify(_reply(one.rules, service))
    raise NotFound("version of the rules", query["version"])


@blueprint.route("/rules", methods=["PUT"])
@blueprint.arguments(ChangeQuery)
@blueprint.arguments(RulesRequest, location="json")
@blueprint.describes(RulesReply)
def put_rules(query: Mapping[str, Any], body: Mapping[str, Any]) -> Response:
    """Put a whole set of rules in force: everything is projected anew beside the projection in
    force. With ``preview=true`` return its effect on the names in the journal.
    """
    wanted = read_rules(body["rules"])
    return _change(wanted, write_rules(wanted), body["note"], preview=query["preview"])


@blueprint.route("/rules", methods=["DELETE"])
@blueprint.arguments(ChangeQuery)
@blueprint.describes(RulesReply)
def delete_rules(query: Mapping[str, Any]) -> Response:
    """Return to the rules of the program."""
    return _change(DEFAULT_RULES, None, "", preview=query["preview"])


@blueprint.route("/rules/defaults")
@blueprint.no_parameters
@blueprint.describes(RulesReply)
def defaults() -> Response:
    """The rules of the program."""
    return jsonify(_reply(DEFAULT_RULES, current_service()))


def _change(
    wanted: Rules, document: Mapping[str, Any] | None, note: str, *, preview: bool
) -> Response:
    service = current_service()
    if preview:
        end = time.monotonic() + _PREVIEW_SECONDS
        found = preview_rules(
            service.projector.rules,
            wanted,
            service.journal,
            lambda: time.monotonic() > end,
            service.governance.hidden,
            service.producers,
        )
        return jsonify({"preview": True, **to_json(found)})
    if wanted != wanted_rules(service.journal, DEFAULT_RULES):
        value = None if document is None else write_value(document)
        declare([Statement(CommandKind.RULES, _KEY, value)], "naming rules", note, service)
    return jsonify(_reply(wanted, service))


def _reply(shown: Rules, service: Service) -> dict[str, Any]:
    versions = list_rule_sets(service.journal, DEFAULT_RULES)
    wanted = versions[-1].rules if versions else DEFAULT_RULES
    return {
        "rules": write_rules(shown),
        "changed": list(changed_tables(shown)),
        "digest": rules_digest(shown),
        "state": "in force" if service.projector.rules == wanted else "rebuilding",
        "versions": [
            {
                "id": one.id, "at": iso(one.at), "author": one.author,
                "note": one.note, "default": one.default, "digest": rules_digest(one.rules),
            }
            for one in reversed(versions[-_VERSIONS_SHOWN:])
        ],
    }  # fmt: skip
