# ruff: noqa: N815 - fields are spelled as on the wire
"""Bodies and answers of the routes that take commands."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema

from api.schemas.fields import Checked, RequestBody, Truth
from api.schemas.query import Choice, Instant, OptionalTextField, Query, TextField
from graph_model.producers.commands import CommandKind

_NODE_ONLY = ("node",)
_PRUNE_ONLY = ("before", "keep", "dropBodies")


class Count(Checked):
    """A JSON integer of 1 or more."""

    kinds = (int,)
    shape: Mapping[str, Any] = {"type": "integer"}

    def __init__(self, most: int, **options: Any) -> None:
        self.most = most
        self.expected = f"an integer from 1 to {most}"
        super().__init__(**options)

    def read(self, value: Any) -> int:
        if isinstance(value, bool) or not 1 <= super().read(value) <= self.most:
            raise ValueError(value)
        return int(value)


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
