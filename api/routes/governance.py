# ruff: noqa: N815 - fields are spelled as on the wire
"""Layers and classifications of datasets and columns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Response, jsonify
from marshmallow import Schema, fields

from api.http.blueprint import Blueprint
from api.intake import commands
from api.intake.commands import declare, resolve_node
from api.schemas.fields import (
    Choice,
    Flag,
    Instant,
    IntegerField,
    OptionalTextField,
    Query,
    RequestBody,
    TextField,
    expecting,
)
from api.schemas.graph import reply_of
from api.service import Service, current_service
from api.service.parts import current_sources, lacking
from graph_model import labels
from graph_model.answers.classifications import (
    TagUse,
    assignment_reply,
    block_reply,
    classified_columns,
    columns_reply,
    preview_tag,
    tagged_nodes,
    tagged_reply,
    tags,
)
from graph_model.errors import InvalidDocument, NotFound
from graph_model.governance.previews import count_datasets, preview_layers, preview_rules
from graph_model.governance.quality_rules import (
    MOST_RULES,
    QualityRule,
    preview_quality_rules,
    read_quality_rule,
    with_rule,
    without_rule,
    write_quality_rule,
)
from graph_model.governance.statements import (
    COLOUR,
    MOST_LAYERS,
    MOST_NOTE,
    MOST_OWNER,
    Assignment,
    Block,
    Layer,
    Layers,
    MatchKind,
    check_tag,
    read_layer,
    walk_datasets,
    write_block,
    write_layer,
)
from graph_model.naming import DEFAULT_RULES, Rules, rules_digest
from graph_model.naming.rules_json import changed_tables, read_rules, write_rules
from graph_model.picture.json_form import to_json
from graph_model.producers.commands import CommandKind, Statement, write_value
from graph_model.projection.projector.rules import list_rule_sets, wanted_rules
from graph_model.values import iso

blueprint = Blueprint(
    "governance", __name__, description="Layers and classifications, stated by people"
)
_TAGGED: Final = (labels.DATASET, labels.COLUMN)


# --- layers --------------------------------------------------------------------------------------


class GovernanceReply(Schema):
    """A reply; unlisted fields are described in docs/http.md."""


class ChangeQuery(Query):
    """``preview``: list the changes, and change nothing."""

    preview = Flag(load_default=False)


class LayersQuery(Query):
    """``counts``: how many datasets each layer has; that looks at every dataset."""

    counts = Flag(load_default=False)


class LayerRequest(RequestBody):
    match = Choice(MatchKind, required=True)
    pattern = TextField(most=1_000, required=True)
    order = fields.Integer(
        required=True, strict=True, error_messages=expecting("a whole number from 0 to 1,000,000")
    )
    colour = fields.String(required=True, error_messages=expecting(COLOUR))
    note = OptionalTextField(most=500, load_default="")


class LayerReply(GovernanceReply):
    """With ``preview=true``: ``{"preview", "items", "total", "datasets"}`` instead."""

    name = fields.String(required=True)
    match = fields.String(required=True)
    pattern = fields.String(required=True)
    order = fields.Integer(required=True)
    colour = fields.String(required=True)
    note = fields.String(required=True)
    datasets = fields.Integer()


class LayersReply(GovernanceReply):
    items = fields.List(fields.Nested(LayerReply), required=True)
    total = fields.Integer(required=True)
    without = fields.Integer()


@blueprint.route("/layers")
@blueprint.arguments(LayersQuery)
@blueprint.describes(LayersReply)
def layers(query: Mapping[str, Any]) -> Response:
    """The layers, in the order in which they are tried."""
    service = current_service()
    items = [_layer_reply(layer) for layer in service.governance.layers.items]
    reply: dict[str, Any] = {"items": items, "total": len(items)}
    if query["counts"]:
        counts = count_datasets(service.governance, service.catalogue)
        for item in items:
            item["datasets"] = counts.get(item["name"], 0)
        reply["without"] = counts.get(None, 0)
    return jsonify(reply)


def _layer_reply(layer: Layer) -> dict[str, Any]:
    return {"name": layer.name, **write_layer(layer)}


@blueprint.route("/layers/<name>", methods=["PUT"])
@blueprint.arguments(ChangeQuery)
@blueprint.arguments(LayerRequest, location="json")
@blueprint.describes(LayerReply)
def put_layer(query: Mapping[str, Any], body: Mapping[str, Any], name: str) -> Response:
    """Set a layer; with ``preview=true`` list the datasets whose layer would change."""
    layer = read_layer(name, {**body, "match": body["match"].value})
    service = current_service()
    before = service.governance.layers
    after = before.with_one(layer)
    if len(after.items) > MOST_LAYERS:
        raise InvalidDocument("name", f"at most {MOST_LAYERS} layers")
    if query["preview"]:
        return _preview(before, after, service)
    if before.find(name) != layer:
        value = write_value(write_layer(layer))
        declare([Statement(CommandKind.LAYER, name, value)], name, layer.note, service)
    return jsonify(_layer_reply(layer))


@blueprint.route("/layers/<name>", methods=["DELETE"])
@blueprint.arguments(ChangeQuery)
@blueprint.describes(LayerReply)
@blueprint.no_body
def delete_layer(query: Mapping[str, Any], name: str) -> Response:
    """Remove a layer; with ``preview=true`` list the datasets whose layer would change."""
    service = current_service()
    before = service.governance.layers
    layer = before.find(name)
    if layer is None:
        raise NotFound("layer", name)
    if query["preview"]:
        return _preview(before, before.without(name), service)
    declare([Statement(CommandKind.LAYER, name, None)], name, "", service)
    return jsonify(_layer_reply(layer))


def _preview(before: Layers, after: Layers, service: Service) -> Response:
    hidden = service.governance.hidden
    preview = preview_layers(before, after, service.catalogue, hidden)
    return jsonify({"preview": True, **to_json(preview)})


# --- classifications -----------------------------------------------------------------------------


class ClassifyRequest(RequestBody):
    node = TextField(most=20_000, required=True)
    owner = OptionalTextField(most=MOST_OWNER, load_default="")
    note = OptionalTextField(most=MOST_NOTE, load_default="")


class NodeQuery(Query):
    node = TextField(most=20_000, required=True)


class BlockRequest(RequestBody):
    """Two columns, by reference or id."""

    source = TextField(most=20_000, required=True, data_key="from")
    target = TextField(most=20_000, required=True, data_key="to")
    note = OptionalTextField(most=MOST_NOTE, load_default="")


class BlockQuery(Query):
    source = TextField(most=20_000, required=True, data_key="from")
    target = TextField(most=20_000, required=True, data_key="to")


class ColumnsQuery(Query):
    propagate = Flag(load_default=False)
    at = Instant()
    limit = IntegerField(1, 5_000, load_default=1_000)


class TagsReply(GovernanceReply):
    items = fields.List(fields.Nested(reply_of(TagUse)), required=True)
    total = fields.Integer(required=True)


class AssignmentReply(GovernanceReply):
    tag = fields.String(required=True)
    id = fields.String(required=True)
    kind = fields.String(required=True)
    uri = fields.String(required=True)
    scope = fields.String(required=True)
    path = fields.String(required=True, allow_none=True)
    owner = fields.String(required=True)
    note = fields.String(required=True)
    author = fields.String(required=True)
    at = fields.String(required=True)


class AssignmentsReply(GovernanceReply):
    items = fields.List(fields.Nested(AssignmentReply), required=True)
    total = fields.Integer(required=True)
    blocks = fields.List(fields.Dict(), required=True)


class ColumnsReply(GovernanceReply):
    """The columns of a class, with paths, blocked edges and gaps."""

    tag = fields.String(required=True)
    propagate = fields.Boolean(required=True)
    items = fields.List(fields.Dict(), required=True)
    total = fields.Integer(required=True)
    blocked = fields.List(fields.Dict(), required=True)
    gaps = fields.List(fields.Dict(), required=True)
    asOf = fields.String(required=True, allow_none=True)
    folded = fields.Boolean(required=True)
    cut = fields.Dict(required=True, allow_none=True, data_key="partial")


@blueprint.route("/classifications")
@blueprint.no_parameters
@blueprint.describes(TagsReply)
def classifications() -> Response:
    """The tags in use, with how many datasets and columns carry each."""
    uses = tags(current_sources())
    return jsonify({"items": to_json(uses), "total": len(uses)})


@blueprint.route("/classifications/<tag>")
@blueprint.no_parameters
@blueprint.describes(AssignmentsReply)
def classification(tag: str) -> Response:
    """The nodes with a tag, their authors, and the edges that it does not follow."""
    return jsonify(tagged_reply(tagged_nodes(current_sources(), tag)))


@blueprint.route("/classifications/<tag>", methods=["PUT"])
@blueprint.arguments(ChangeQuery)
@blueprint.arguments(ClassifyRequest, location="json")
@blueprint.describes(AssignmentsReply)
def classify(query: Mapping[str, Any], body: Mapping[str, Any], tag: str) -> Response:
    """Put a tag on a dataset or a column; with ``preview=true`` list the columns that would carry
    it along their lineage.
    """
    check_tag(tag)
    service = current_service()
    node, name = resolve_node(body["node"], _TAGGED, service)
    assignment = Assignment(tag, name, body["owner"], body["note"])
    if query["preview"]:
        preview = preview_tag(current_sources(), node, assignment)
        return jsonify({"preview": True, **columns_reply(preview, lacking())})
    held = commands.classify(tag, name, node, body["owner"], body["note"], service)
    return jsonify(assignment_reply(node, held))


@blueprint.route("/classifications/<tag>", methods=["DELETE"])
@blueprint.arguments(NodeQuery)
@blueprint.describes(AssignmentsReply)
@blueprint.no_body
def declassify(query: Mapping[str, Any], tag: str) -> Response:
    """Take a tag off a dataset or a column."""
    service = current_service()
    node = query["node"]
    if (tag, node) not in service.governance.assigned:  # a node gone from the graph goes by its id
        node, _ = resolve_node(node, _TAGGED, service)
    return jsonify(assignment_reply(node, commands.declassify(tag, node, service)))


@blueprint.route("/classifications/<tag>/blocks", methods=["PUT"])
@blueprint.no_parameters
@blueprint.arguments(BlockRequest, location="json")
@blueprint.describes(AssignmentsReply)
def put_block(body: Mapping[str, Any], tag: str) -> Response:
    """A tag does not follow the edge between these two columns."""
    check_tag(tag)
    service = current_service()
    (source, from_), (target, to) = (
        resolve_node(body[name], (labels.COLUMN,), service) for name in ("source", "target")
    )
    block = Block(tag, from_, to, body["note"])
    if (tag, source, target) not in service.governance.blocked:
        value = write_value(write_block(block))
        edge = f"{tag} {from_} -> {to}"
        declare([Statement(CommandKind.BLOCK, block.key, value)], edge, block.note, service)
    return jsonify(block_reply(service.governance.blocked.get((tag, source, target), block)))


@blueprint.route("/classifications/<tag>/blocks", methods=["DELETE"])
@blueprint.arguments(BlockQuery)
@blueprint.describes(AssignmentsReply)
@blueprint.no_body
def delete_block(query: Mapping[str, Any], tag: str) -> Response:
    """The tag follows the edge again."""
    service = current_service()
    ends = [
        resolve_node(query[name], (labels.COLUMN,), service)[0] for name in ("source", "target")
    ]
    block = service.governance.blocked.get((tag, ends[0], ends[1]))
    if block is None:
        raise NotFound(f"block of {tag}", f"{query['source']} -> {query['target']}")
    target = f"{tag} {block.source} -> {block.target}"
    declare([Statement(CommandKind.BLOCK, block.key, None)], target, "", service)
    return jsonify(block_reply(block))


# --- all columns of a class ----------------------------------------------------------------------


@blueprint.route("/classifications/<tag>/columns")
@blueprint.arguments(ColumnsQuery)
@blueprint.describes(ColumnsReply)
def columns(query: Mapping[str, Any], tag: str) -> Response:
    """All columns of a class, direct or propagated, each with its reason; edges at which it ended,
    and plans through which it may go on unseen.
    """
    classified = classified_columns(
        current_sources(),
        check_tag(tag),
        at=query["at"],
        propagate=query["propagate"],
        limit=query["limit"],
    )
    return jsonify(columns_reply(classified, lacking()))


# Rules that read a custom run facet as a passed or failed check of the datasets that it wrote.

_PASSES = "a list of 1 to 50 texts, numbers, true or false"


class QualityRuleRequest(RequestBody):
    """A run passes where ``path`` in its facet is one of ``passes``, fails where it is another."""

    facet = TextField(most=200, required=True)
    path = TextField(most=200, required=True)
    passes: Any = fields.List(
        fields.Raw(allow_none=True), required=True, error_messages=expecting(_PASSES)
    )
    note = OptionalTextField(most=500, load_default="")


class QualityRuleReply(GovernanceReply):
    """With ``preview=true``: ``{"preview", "items", "total", "datasets", "cut"}`` instead."""

    name = fields.String(required=True)
    facet = fields.String(required=True)
    path = fields.String(required=True)
    passes: Any = fields.List(fields.Raw(), required=True)
    note = fields.String(required=True)


class QualityRulesReply(GovernanceReply):
    items = fields.List(fields.Nested(QualityRuleReply), required=True)
    total = fields.Integer(required=True)


quality_routes = Blueprint(
    "quality", __name__, description="Rules that read a custom run facet as passed or failed"
)


@quality_routes.route("/quality-rules")
@quality_routes.no_parameters
@quality_routes.describes(QualityRulesReply)
def quality_rules() -> Response:
    """The rules, by name."""
    items = [_reply(rule) for rule in current_service().governance.quality_rules]
    return jsonify({"items": items, "total": len(items)})


def _reply(rule: QualityRule) -> dict[str, Any]:
    return {"name": rule.name, **write_quality_rule(rule)}


@quality_routes.route("/quality-rules/<name>", methods=["PUT"])
@quality_routes.arguments(ChangeQuery)
@quality_routes.arguments(QualityRuleRequest, location="json")
@quality_routes.describes(QualityRuleReply)
def put_rule(query: Mapping[str, Any], body: Mapping[str, Any], name: str) -> Response:
    """Set a rule; with ``preview=true`` list the datasets whose mark would change."""
    rule = read_quality_rule(name, body)
    service = current_service()
    before = service.governance.quality_rules
    after = with_rule(before, rule)
    if len(after) > MOST_RULES:
        raise InvalidDocument("name", f"at most {MOST_RULES} rules")
    if query["preview"]:
        return _quality_preview(before, after)
    if rule not in before:
        value = write_value(write_quality_rule(rule))
        declare([Statement(CommandKind.QUALITY, name, value)], name, rule.note, service)
    return jsonify(_reply(rule))


@quality_routes.route("/quality-rules/<name>", methods=["DELETE"])
@quality_routes.arguments(ChangeQuery)
@quality_routes.describes(QualityRuleReply)
@quality_routes.no_body
def delete_rule(query: Mapping[str, Any], name: str) -> Response:
    """Remove a rule; with ``preview=true`` list the datasets whose mark would change."""
    service = current_service()
    before = service.governance.quality_rules
    held = next((rule for rule in before if rule.name == name), None)
    if held is None:
        raise NotFound("rule of quality", name)
    if query["preview"]:
        return _quality_preview(before, without_rule(before, name))
    declare([Statement(CommandKind.QUALITY, name, None)], name, "", service)
    return jsonify(_reply(held))


def _quality_preview(before: Sequence[QualityRule], after: Sequence[QualityRule]) -> Response:
    sources = current_sources()
    datasets = walk_datasets(sources.catalogue, hidden=sources.hidden)
    preview = preview_quality_rules(before, after, datasets, sources.catalogue, sources.expired)
    return jsonify({"preview": True, **to_json(preview)})


# The naming rules as data: read, preview on history, apply by a rebuild.


class RulesQuery(Query):
    """``version``: the id of a rules command; else the set that is wanted."""

    version = TextField(most=100, load_default=None)


class RulesRequest(RequestBody):
    """``rules``: tables by name; one that is left out is the default one."""

    rules = fields.Dict(required=True, error_messages=expecting("a JSON object of tables"))
    note = OptionalTextField(most=500, load_default="")


class RulesReply(GovernanceReply):
    """With ``preview=true``: ``{"preview", "datasets", "jobs", "partitions", …}`` instead."""

    rules = fields.Dict(required=True)
    changed = fields.List(fields.String(), required=True)
    state = fields.String(required=True, metadata={"enum": ["in force", "rebuilding"]})
    versions = fields.List(fields.Dict(), required=True)


naming_routes = Blueprint("rules", __name__, description="Naming rules as data")
_KEY: Final = "rules"
_PREVIEW_SECONDS: Final = 20.0
_VERSIONS_SHOWN: Final = 100


@naming_routes.route("/rules")
@naming_routes.arguments(RulesQuery)
@naming_routes.describes(RulesReply)
def rules(query: Mapping[str, Any]) -> Response:
    """The rules that are wanted, whether they are in force yet, and their versions."""
    service = current_service()
    if query["version"] is None:
        return jsonify(_rules_reply(wanted_rules(service.journal, DEFAULT_RULES), service))
    for rule_set in list_rule_sets(service.journal, DEFAULT_RULES):
        if rule_set.id == query["version"]:
            return jsonify(_rules_reply(rule_set.rules, service))
    raise NotFound("version of the rules", query["version"])


@naming_routes.route("/rules", methods=["PUT"])
@naming_routes.arguments(ChangeQuery)
@naming_routes.arguments(RulesRequest, location="json")
@naming_routes.describes(RulesReply)
def put_rules(query: Mapping[str, Any], body: Mapping[str, Any]) -> Response:
    """Put a whole set of rules in force: everything is projected anew beside the projection in
    force. With ``preview=true`` return its effect on the names in the journal.
    """
    wanted = read_rules(body["rules"])
    return _change(wanted, write_rules(wanted), body["note"], preview=query["preview"])


@naming_routes.route("/rules", methods=["DELETE"])
@naming_routes.arguments(ChangeQuery)
@naming_routes.describes(RulesReply)
@naming_routes.no_body
def delete_rules(query: Mapping[str, Any]) -> Response:
    """Return to the rules of the program."""
    return _change(DEFAULT_RULES, None, "", preview=query["preview"])


@naming_routes.route("/rules/defaults")
@naming_routes.no_parameters
@naming_routes.describes(RulesReply)
def defaults() -> Response:
    """The rules of the program."""
    return jsonify(_rules_reply(DEFAULT_RULES, current_service()))


def _change(
    wanted: Rules, document: Mapping[str, Any] | None, note: str, *, preview: bool
) -> Response:
    service = current_service()
    if preview:
        end = time.monotonic() + _PREVIEW_SECONDS
        changes = preview_rules(
            service.projector.rules,
            wanted,
            service.journal,
            lambda: time.monotonic() > end,
            service.governance.hidden,
            service.producers,
        )
        return jsonify({"preview": True, **to_json(changes)})
    if wanted != wanted_rules(service.journal, DEFAULT_RULES):
        value = None if document is None else write_value(document)
        declare([Statement(CommandKind.RULES, _KEY, value)], "naming rules", note, service)
    return jsonify(_rules_reply(wanted, service))


def _rules_reply(shown: Rules, service: Service) -> dict[str, Any]:
    versions = list_rule_sets(service.journal, DEFAULT_RULES)
    wanted = versions[-1].rules if versions else DEFAULT_RULES
    return {
        "rules": write_rules(shown),
        "changed": list(changed_tables(shown)),
        "digest": rules_digest(shown),
        "state": "in force" if service.projector.rules == wanted else "rebuilding",
        "versions": [
            {
                "id": version.id, "at": iso(version.at), "author": version.author,
                "note": version.note, "default": version.default,
                "digest": rules_digest(version.rules),
            }
            for version in reversed(versions[-_VERSIONS_SHOWN:])
        ],
    }  # fmt: skip
