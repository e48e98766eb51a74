"""Layers and classifications of datasets and columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.http.times import format_instant
from api.intake.statements import declare, resolve_node
from api.replies.graph import to_json
from api.schemas.governance.governance import (
    AssignmentsReply,
    BlockQuery,
    BlockRequest,
    ChangeQuery,
    ClassifyRequest,
    ColumnsQuery,
    ColumnsReply,
    LayerReply,
    LayerRequest,
    LayersQuery,
    LayersReply,
    NodeQuery,
    TagsReply,
)
from api.schemas.query import NoQuery
from api.service import Service, current_service
from api.service.sources import current_sources, lacking
from graph_model import identity, labels
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidDocument, NotFound
from graph_model.governance.classifications import (
    Assignment,
    Block,
    check_tag,
    write_assignment,
    write_block,
)
from graph_model.governance.layers import MOST_LAYERS, Layer, Layers, read_layer, write_layer
from graph_model.governance.nodes import node_ids
from graph_model.governance.previews import count_datasets, preview_layers
from graph_model.governance.propagation import (
    Carrier,
    Spread,
    UnfollowedPlan,
    spread,
    visible_spread,
)
from graph_model.lineage import ColumnEdge
from graph_model.producers.commands.documents import CommandKind, Statement, write_value

blueprint = Blueprint(
    "governance", __name__, description="Layers and classifications, stated by people"
)
_TAGGED: Final = (labels.DATASET, labels.COLUMN)


# --- layers --------------------------------------------------------------------------------------


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
    found = preview_layers(before, after, service.catalogue, hidden)
    return jsonify({"preview": True, **to_json(found)})


# --- classifications -----------------------------------------------------------------------------


@blueprint.route("/classifications")
@blueprint.arguments(NoQuery)
@blueprint.describes(TagsReply)
def classifications(query: Mapping[str, Any]) -> Response:
    """The tags in use, with how many datasets and columns carry each."""
    del query
    governance = current_service().governance
    counts: dict[str, dict[str, int]] = {}
    for tag, node in governance.assigned:
        counted = counts.setdefault(tag, {"datasets": 0, "columns": 0, "blocks": 0})
        counted[f"{identity.kind_of(node)}s"] += 1
    for tag, _, _ in governance.blocked:
        if tag in counts:
            counts[tag]["blocks"] += 1
    items = [{"tag": tag, **counts[tag]} for tag in sorted(counts)]
    return jsonify({"items": items, "total": len(items)})


@blueprint.route("/classifications/<tag>")
@blueprint.arguments(NoQuery)
@blueprint.describes(AssignmentsReply)
def classification(query: Mapping[str, Any], tag: str) -> Response:
    """The nodes with a tag, their authors, and the edges that it does not follow."""
    del query
    service = current_service()
    governance, rules = service.governance, service.projector.rules
    items = [
        _assignment_reply(node, one)
        for (known, node), one in sorted(governance.assigned.items())
        if known == tag and governance.shows(one.node, rules)
    ]
    blocks = [
        _block_reply(one)
        for one in governance.blocks
        if one.tag == tag and all(governance.shows(end, rules) for end in (one.source, one.target))
    ]
    return jsonify({"items": items, "total": len(items), "blocks": blocks})


def _assignment_reply(node: str, one: Assignment) -> dict[str, Any]:
    scope, uri, *path = one.node.names
    return {
        "tag": one.tag, "id": node, "kind": one.node.kind, "uri": uri, "scope": scope,
        "path": path[0] if path else None, "owner": one.owner, "note": one.note,
        "author": one.author, "at": format_instant(one.at),
    }  # fmt: skip


def _block_reply(one: Block) -> dict[str, Any]:
    return {**write_block(one), "author": one.author, "at": format_instant(one.at)}


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
    one = Assignment(tag, name, body["owner"], body["note"])
    if query["preview"]:
        return _preview_tag(node, one, service)
    known = service.governance.assigned.get((tag, node))
    if known is None or (known.owner, known.note) != (one.owner, one.note):
        value = write_value(write_assignment(one))
        declare(
            [Statement(CommandKind.CLASSIFY, one.key, value)], f"{tag} {name}", one.note, service
        )
    held = service.governance.assigned.get((tag, node), one)
    return jsonify(_assignment_reply(node, held))


def _preview_tag(node: str, one: Assignment, service: Service) -> Response:
    alone = replace(service.governance, assigned={(one.tag, node): one})
    sources = current_sources()
    found = spread(one.tag, alone, sources.lineage, sources.catalogue, expired=sources.expired)
    return jsonify({"preview": True, **_spread_reply(one.tag, found, sources, propagate=True)})


@blueprint.route("/classifications/<tag>", methods=["DELETE"])
@blueprint.arguments(NodeQuery)
@blueprint.describes(AssignmentsReply)
def declassify(query: Mapping[str, Any], tag: str) -> Response:
    """Take a tag off a dataset or a column."""
    service = current_service()
    governance, rules = service.governance, service.projector.rules
    node = query["node"]
    if (tag, node) not in governance.assigned:  # what is gone from the graph goes by its id
        node, _ = resolve_node(node, _TAGGED, service)
    held = [
        one
        for one in governance.assignments
        if one.tag == tag and node in node_ids(one.node, rules)
    ]
    if not held:
        raise NotFound(f"{tag} on", query["node"])
    statements = [Statement(CommandKind.CLASSIFY, one.key, None) for one in held]
    declare(statements, f"{tag} {held[0].node}", "", service)
    return jsonify(_assignment_reply(node, held[0]))


@blueprint.route("/classifications/<tag>/blocks", methods=["PUT"])
@blueprint.arguments(BlockRequest, location="json")
@blueprint.describes(AssignmentsReply)
def put_block(body: Mapping[str, Any], tag: str) -> Response:
    """A tag does not follow the edge between these two columns."""
    check_tag(tag)
    service = current_service()
    (source, from_), (target, to) = (
        resolve_node(body[name], (labels.COLUMN,), service) for name in ("source", "target")
    )
    one = Block(tag, from_, to, body["note"])
    if (tag, source, target) not in service.governance.blocked:
        value = write_value(write_block(one))
        edge = f"{tag} {from_} -> {to}"
        declare([Statement(CommandKind.BLOCK, one.key, value)], edge, one.note, service)
    return jsonify(_block_reply(service.governance.blocked.get((tag, source, target), one)))


@blueprint.route("/classifications/<tag>/blocks", methods=["DELETE"])
@blueprint.arguments(BlockQuery)
@blueprint.describes(AssignmentsReply)
def delete_block(query: Mapping[str, Any], tag: str) -> Response:
    """The tag follows the edge again."""
    service = current_service()
    ends = [
        resolve_node(query[name], (labels.COLUMN,), service)[0] for name in ("source", "target")
    ]
    one = service.governance.blocked.get((tag, ends[0], ends[1]))
    if one is None:
        raise NotFound(f"block of {tag}", f"{query['source']} -> {query['target']}")
    target = f"{tag} {one.source} -> {one.target}"
    declare([Statement(CommandKind.BLOCK, one.key, None)], target, "", service)
    return jsonify(_block_reply(one))


# --- all columns of a class ----------------------------------------------------------------------


@blueprint.route("/classifications/<tag>/columns")
@blueprint.arguments(ColumnsQuery)
@blueprint.describes(ColumnsReply)
def columns(query: Mapping[str, Any], tag: str) -> Response:
    """All columns of a class, direct or propagated, each with its reason; edges at which it ended,
    and plans through which it may go on unseen.
    """
    sources = current_sources()
    found = spread(
        check_tag(tag),
        sources.governance,
        sources.lineage,
        sources.catalogue,
        at=query["at"],
        propagate=query["propagate"],
        limit=query["limit"],
        expired=sources.expired,
    )
    return jsonify(_spread_reply(tag, found, sources, propagate=query["propagate"]))


def _spread_reply(tag: str, found: Spread, sources: Sources, *, propagate: bool) -> dict[str, Any]:
    found = visible_spread(found, sources.hidden)
    names = _ColumnNames(found, sources)
    partial = to_json(lacking() or found.partial)
    return {
        "tag": tag,
        "propagate": propagate,
        "items": [_carrier_reply(one, names) for one in found.carriers],
        "total": len(found.carriers),
        "blocked": [_edge_reply(edge, names) for edge in found.blocked],
        "gaps": [_gap_reply(gap, names) for gap in found.gaps],
        "asOf": format_instant(found.as_of) if found.as_of is not None else None,
        "folded": found.folded,
        "partial": partial,
    }


class _ColumnNames:
    """Names of the columns, datasets and jobs of one answer, looked up together."""

    def __init__(self, found: Spread, sources: Sources) -> None:
        edges = [*found.blocked, *(edge for one in found.carriers for edge in one.path)]
        ids = {one.column for one in found.carriers}
        ids |= {end for edge in edges for end in (edge.source, edge.target)}
        vertices = sources.graph.vertices(ids - {""})
        self._columns = {
            vertex.id: (str(vertex.value("dataset")), str(vertex.value("path")))
            for vertex in vertices
        }
        self._dataset_ids = found.datasets
        around = {d for gap in found.gaps for d in (*gap.sources, *gap.targets)}
        named = dataset_references(sources, around)
        self._datasets = {key: one.uri for key, one in named.items()}
        plans = sources.catalogue.logical_plans({p for edge in edges for p in edge.plans})
        self._plan_jobs = {row.id: row.job for row in plans}
        jobs = job_references(
            sources, {gap.job for gap in found.gaps} | set(self._plan_jobs.values())
        )
        self._jobs = {key: f"{one.namespace}/{one.name}" for key, one in jobs.items()}

    def column(self, key: str) -> dict[str, Any]:
        uri, path = self._columns.get(key, ("", ""))
        return {"id": key, "dataset": uri, "datasetId": self._dataset_ids.get(key), "name": path}

    def datasets(self, keys: Iterable[str]) -> list[dict[str, Any]]:
        return [{"id": key, "uri": self._datasets[key]} for key in keys if key in self._datasets]

    def job(self, key: str) -> dict[str, str]:
        return {"id": key, "name": self._jobs.get(key, "")}

    def jobs_of(self, plans: Collection[str]) -> list[dict[str, str]]:
        known = {self._plan_jobs[plan] for plan in plans if plan in self._plan_jobs}
        return [self.job(job) for job in sorted(known & self._jobs.keys())]


def _carrier_reply(one: Carrier, names: _ColumnNames) -> dict[str, Any]:
    return {
        **names.column(one.column),
        "direct": not one.path,
        "reason": {
            "origin": names.column(one.origin),
            "owner": one.assignment.owner,
            "note": one.assignment.note,
            "author": one.assignment.author,
            "at": format_instant(one.assignment.at),
        },
        "path": [_edge_reply(edge, names) for edge in one.path],
    }


def _edge_reply(edge: ColumnEdge, names: _ColumnNames) -> dict[str, Any]:
    return {
        "from": names.column(edge.source),
        "to": names.column(edge.target),
        "how": edge.how,
        "expression": edge.expression,
        "jobs": names.jobs_of(edge.plans),
    }


def _gap_reply(gap: UnfollowedPlan, names: _ColumnNames) -> dict[str, Any]:
    return {
        "plan": gap.logical_plan,
        "job": names.job(gap.job),
        "reads": names.datasets(gap.sources),
        "writes": names.datasets(gap.targets),
        "gaps": [dict(one) for one in gap.gaps],
    }
