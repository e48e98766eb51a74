"""Rules that read a custom run facet as a passed or failed check of the datasets that it wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.intake.statements import declare
from api.schemas.governance import (
    ChangeQuery,
    QualityRuleReply,
    QualityRuleRequest,
    QualityRulesReply,
)
from api.service import current_service
from api.service.sources import current_sources
from graph_model.errors import InvalidDocument, NotFound
from graph_model.governance.quality_rules import (
    MOST_RULES,
    QualityRule,
    preview_rules,
    read_quality_rule,
    with_rule,
    without_rule,
    write_quality_rule,
)
from graph_model.governance.visible_nodes import walk_datasets
from graph_model.picture.json_form import to_json
from graph_model.producers.commands import CommandKind, Statement, write_value

blueprint = Blueprint(
    "quality", __name__, description="Rules that read a custom run facet as passed or failed"
)


@blueprint.route("/quality-rules")
@blueprint.no_parameters
@blueprint.describes(QualityRulesReply)
def quality_rules() -> Response:
    """The rules, by name."""
    items = [_reply(rule) for rule in current_service().governance.quality_rules]
    return jsonify({"items": items, "total": len(items)})


def _reply(rule: QualityRule) -> dict[str, Any]:
    return {"name": rule.name, **write_quality_rule(rule)}


@blueprint.route("/quality-rules/<name>", methods=["PUT"])
@blueprint.arguments(ChangeQuery)
@blueprint.arguments(QualityRuleRequest, location="json")
@blueprint.describes(QualityRuleReply)
def put_rule(query: Mapping[str, Any], body: Mapping[str, Any], name: str) -> Response:
    """Set a rule; with ``preview=true`` list the datasets whose mark would change."""
    rule = read_quality_rule(name, body)
    service = current_service()
    before = service.governance.quality_rules
    after = with_rule(before, rule)
    if len(after) > MOST_RULES:
        raise InvalidDocument("name", f"at most {MOST_RULES} rules")
    if query["preview"]:
        return _preview(before, after)
    if rule not in before:
        value = write_value(write_quality_rule(rule))
        declare([Statement(CommandKind.QUALITY, name, value)], name, rule.note, service)
    return jsonify(_reply(rule))


@blueprint.route("/quality-rules/<name>", methods=["DELETE"])
@blueprint.arguments(ChangeQuery)
@blueprint.describes(QualityRuleReply)
def delete_rule(query: Mapping[str, Any], name: str) -> Response:
    """Remove a rule; with ``preview=true`` list the datasets whose mark would change."""
    service = current_service()
    before = service.governance.quality_rules
    held = next((rule for rule in before if rule.name == name), None)
    if held is None:
        raise NotFound("rule of quality", name)
    if query["preview"]:
        return _preview(before, without_rule(before, name))
    declare([Statement(CommandKind.QUALITY, name, None)], name, "", service)
    return jsonify(_reply(held))


def _preview(before: Sequence[QualityRule], after: Sequence[QualityRule]) -> Response:
    sources = current_sources()
    datasets = walk_datasets(sources.catalogue, hidden=sources.hidden)
    found = preview_rules(before, after, datasets, sources.catalogue, sources.expired)
    return jsonify({"preview": True, **to_json(found)})
