# ruff: noqa: N815 - fields are spelled as on the wire
"""Forget and prune, each with a dry run, and the list of past commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from flask import request
from marshmallow import Schema, ValidationError, fields, validates_schema

from api.http.blueprint import Blueprint, current_principal
from api.intake.commands import (
    WAIT_SECONDS,
    Covered,
    cover_forget,
    cover_prune,
    declare,
    give,
    resolve_node,
    state_hidden,
)
from api.schemas.fields import (
    Choice,
    Count,
    Instant,
    OptionalTextField,
    Query,
    RequestBody,
    TextField,
    Truth,
)
from api.service import Service, current_service
from api.service.parts import is_rebuilding
from graph_model import labels
from graph_model.errors import Rebuilding
from graph_model.facts import CommandRow
from graph_model.governance.fields import NamedNode, node_ids, read_node
from graph_model.governance.statements import KINDS, ids_in_force
from graph_model.producers.commands import CommandKind
from graph_model.retention.coverage import Retention
from graph_model.values import iso

_NODE_ONLY = ("node",)
_PRUNE_ONLY = ("before", "keep", "dropBodies")


class RequestedCommand(StrEnum):
    """The body of ``POST /commands``; other commands have routes of their own."""

    FORGET = "forget"
    PRUNE = "prune"
    HIDE = "hide"
    SHOW = "show"


class CommandRequest(RequestBody):
    """``prune`` takes ``before``, ``keep`` or both; the others take a node."""

    command = Choice(RequestedCommand, required=True)
    node = TextField()
    before = Instant()
    keep = Count(1_000_000, load_default=None)
    dropBodies = Truth(load_default=False)
    note = OptionalTextField(load_default="")
    dryRun = Truth(load_default=False)

    @validates_schema(pass_original=True)
    def check_command(self, data: Any, original: Any, **_: Any) -> None:
        """Each command has its own fields, and needs one that limits it."""
        kind = data.get("command")
        foreign = _NODE_ONLY if kind == RequestedCommand.PRUNE else _PRUNE_ONLY
        for name in foreign:
            if name in original:
                raise ValidationError(f"no such field with {kind.value}", name)
        if kind != RequestedCommand.PRUNE and "node" not in data:
            raise ValidationError("a job or dataset reference, or document:<position>", "node")
        if kind == RequestedCommand.PRUNE and data["before"] is None and data["keep"] is None:
            raise ValidationError("a time here, or a number of runs in keep", "before")


class CutoffSchema(Schema):
    """Executions of a job that wrote a dataset before a time."""

    job = fields.String(required=True)
    dataset = fields.String(required=True)
    before = fields.String(required=True)
    executions = fields.Integer(required=True)


class CommandReply(Schema):
    """The coverage of a command; with ``dryRun`` nothing was done.

    ``pending`` is there only while the graph is down or behind: the remaining work.
    """

    command = fields.String(required=True)
    dryRun = fields.Boolean(required=True)
    positions = fields.List(fields.Integer(), required=True)
    planIds = fields.Integer(required=True)
    documents = fields.Integer(required=True)
    executions = fields.Integer(required=True)
    cutoffs = fields.List(fields.Nested(CutoffSchema), required=True)
    pending = fields.String()


class CommandsQuery(Query):
    """Which kind of command to list."""

    kind = Choice(CommandKind, load_default=None)


class CommandItem(Schema):
    """A command. ``inForce``: no later one has replaced it or taken it back, and it takes nothing
    back itself. ``node`` is the id of the node that it hides now, else null.
    """

    id = fields.String(required=True)
    kind = fields.String(required=True)
    at = fields.String(required=True)
    author = fields.String(required=True)
    target = fields.String(required=True)
    note = fields.String(required=True)
    inForce = fields.Boolean(required=True)
    node = fields.String(required=True, allow_none=True)


class CommandsReply(Schema):
    """All commands, newest first."""

    items = fields.List(fields.Nested(CommandItem), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


blueprint = Blueprint(
    "commands", __name__, description="Commands of people: forget, prune, hide, show"
)
_HIDDEN_KINDS = (labels.DATASET, labels.JOB)
_AWAY_SECONDS: Final = 1.0
_PENDING: Final = (
    "the graph is away or behind: it is changed when it answers again, and new documents are "
    "projected in between. Nothing that the command covers is projected again. Until then pages "
    "may still show it, and the journal still holds the documents that are to leave it"
)


@blueprint.route("/commands", methods=["POST"])
@blueprint.no_parameters
@blueprint.arguments(CommandRequest, location="json")
@blueprint.response(202, CommandReply)
def give_command(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give a command; with ``dryRun`` only return the documents that it would cover.

    Forget and prune need the journal and the catalogue alone: while the graph is down the command
    is journalled, and ``pending`` describes the work that follows when it is back.
    """
    service = current_service()
    if body["command"] in {RequestedCommand.HIDE, RequestedCommand.SHOW}:
        return _hide(body, service)
    covered = _cover(body, service)
    positions: tuple[int, ...] = ()
    is_done = is_ready = service.projector.state == "ready"
    if not body["dryRun"]:
        author = current_principal().name
        positions = tuple(give(covered, author, body["note"], request.path, service))
        is_done = service.projector.wait(positions, WAIT_SECONDS if is_ready else _AWAY_SECONDS)
    described = _describe(body, covered, positions)
    return described if is_done else described | {"pending": _PENDING}


def _hide(body: Mapping[str, Any], service: Service) -> dict[str, Any]:
    """Hide a dataset or a job, or show it again; a repetition is no command."""
    if is_rebuilding():
        raise Rebuilding("the graph is being rebuilt: the command's effect is not known yet")
    hidden = body["command"] == RequestedCommand.HIDE
    names = _to_hide(body["node"], service) if hidden else _to_show(body["node"], service)
    positions: tuple[int, ...] = ()
    if not body["dryRun"]:
        statements = [state_hidden(name, hidden=hidden) for name in names]
        target = ", ".join(map(str, names))
        positions = declare(statements, target, body["note"], service)
    return _describe(body, Covered((), body["node"]), positions)


def _to_hide(reference: str, service: Service) -> list[NamedNode]:
    node, name = resolve_node(reference, _HIDDEN_KINDS, service)
    return [] if node in service.governance.hidden else [name]


def _to_show(reference: str, service: Service) -> list[NamedNode]:
    """All statements that hide a node, under each of its names; by its id also one that is gone
    from the graph.
    """
    governance, node = service.governance, reference
    if node not in governance.hidden:
        node, _ = resolve_node(reference, _HIDDEN_KINDS, service)
    rules = service.projector.rules
    return [
        hidden_node.node
        for hidden_node in governance.hidden_nodes
        if node in node_ids(hidden_node.node, rules)
    ]


def _cover(body: Mapping[str, Any], service: Service) -> Covered:
    if body["command"] == RequestedCommand.FORGET:
        return cover_forget(body["node"], service)
    retention = Retention(body["before"], body["keep"])
    return cover_prune(retention, service, drop_bodies=body["dropBodies"])


def _describe(
    body: Mapping[str, Any], covered: Covered, positions: tuple[int, ...]
) -> dict[str, Any]:
    return {
        "command": body["command"].value,
        "dryRun": body["dryRun"],
        "positions": list(positions),
        "planIds": covered.subject_keys,
        "documents": covered.documents,
        "executions": sum(covered.executions),
        "cutoffs": [
            {
                "job": f"{cutoff.namespace}/{cutoff.name}",
                "dataset": cutoff.uri,
                "before": iso(cutoff.before),
                "executions": count,
            }
            for cutoff, count in zip(covered.cutoffs, covered.executions, strict=True)
        ],
    }


@blueprint.route("/commands")
@blueprint.arguments(CommandsQuery)
@blueprint.response(200, CommandsReply)
def commands(query: Mapping[str, Any]) -> dict[str, Any]:
    """All commands, newest first, with those that a later one has replaced or taken back."""
    kinds = [query["kind"]] if query["kind"] else list(CommandKind)
    listed = {kind: current_service().catalogue.commands(kind.value) for kind in kinds}
    in_force = frozenset().union(*(_in_force(kind, rows) for kind, rows in listed.items()))
    rows = [row for of_kind in listed.values() for row in of_kind]
    rows.sort(key=lambda row: (row.at, row.id), reverse=True)
    items = [_item(row, in_force=row.id in in_force) for row in rows]
    return {"items": items, "total": len(rows), "next": None}


def _in_force(kind: CommandKind, rows: Sequence[CommandRow]) -> frozenset[str]:
    """Only a statement can be taken back; the documents of a forget or a prune are gone."""
    if kind in (*KINDS, CommandKind.RULES):
        return ids_in_force(rows)
    return frozenset(row.id for row in rows)


def _item(row: CommandRow, *, in_force: bool) -> dict[str, Any]:
    body = json.loads(row.body)
    return {
        "id": row.id,
        "kind": row.kind,
        "at": iso(row.at),
        "author": row.author,
        "target": row.target,
        "note": body["note"],
        "inForce": in_force,
        "node": _hidden_node(body) if row.kind == CommandKind.HIDE else None,
    }


def _hidden_node(body: Mapping[str, Any]) -> str | None:
    """The id of the hidden node of a statement, by which ``show`` finds the statement; None if the
    node was shown again. A rule may give one name several ids, of which any finds it.
    """
    service = current_service()
    if body["value"] is None:
        return None
    ids = node_ids(read_node(body["value"]["node"], "node"), service.projector.rules)
    return next((node for node in ids if node in service.governance.hidden), None)
