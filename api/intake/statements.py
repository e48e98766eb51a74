"""Statements of people -> command documents in the journal, and the wait until they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import request

from api.http.rights import current_principal
from api.service import Service
from graph_model import identity, labels
from graph_model.errors import InvalidReference, NotFound
from graph_model.governance.fields import NamedNode, write_key, write_node
from graph_model.producers.commands import Command, CommandKind, Statement, submit, write_value
from graph_model.stores.documents import Receipt

WAIT_SECONDS: Final = 10.0
"""How long an answer waits until a person's statement is in force."""
_MOST_TARGET: Final = 2_000


def declare(
    statements: Sequence[Statement], target: str, note: str, service: Service
) -> tuple[int, ...]:
    """Journal statements that change something and wait until they are in force; their positions.

    ``target`` is for the list of commands. The time of each is after that of the newest statement
    of its kind, so that a clock that was set back does not let an older statement win.
    """
    if not statements:
        return ()
    now = service.clock()
    author = current_principal().name
    submissions = [
        submit(
            Command(
                author, _time(statement.kind, now, service), note, target[:_MOST_TARGET], statement
            )
        )
        for statement in statements
    ]
    receipt = Receipt(now, author, request.path[:_MOST_TARGET], "")
    positions = service.journal.accept(submissions, receipt)
    service.projector.notify()
    service.projector.wait(positions, WAIT_SECONDS)
    return tuple(positions)


def _time(kind: CommandKind, now: int, service: Service) -> int:
    rows = service.catalogue.commands(kind.value)
    return max(now, rows[-1].at + 1) if rows else now


def resolve_node(reference: str, kinds: Sequence[str], service: Service) -> tuple[str, NamedNode]:
    """The id of an existing node of one of these kinds, and its name.

    Raises InvalidReference, AmbiguousReference or NotFound.
    """
    node = service.references.resolve(reference)
    if identity.kind_of(node) not in kinds:
        raise InvalidReference(reference, f"a {' or a '.join(kinds)}")
    return node, name_node(node, service)


def name_node(node: str, service: Service) -> NamedNode:
    """The name of a node by its id; raises NotFound."""
    kind = identity.kind_of(node) or ""
    catalogue = service.catalogue
    if kind == labels.JOB:
        for job in catalogue.jobs((node,)):
            return NamedNode(kind, (job.namespace, job.name))
    if kind == labels.DATASET:
        for row in catalogue.datasets((node,)):
            return NamedNode(kind, (row.scope, row.uri))
    if kind == labels.COLUMN:
        for vertex in service.graph.vertices((node,)):
            path = str(vertex.value("path"))
            for row in catalogue.datasets_by_uri(str(vertex.value("dataset"))):
                if identity.column_id(row.id, path) == node:
                    return NamedNode(kind, (row.scope, row.uri, path))
    raise NotFound(kind or "node", node)


def state_hidden(node: NamedNode, *, hidden: bool) -> Statement:
    """Hide a dataset or a job, or show it again."""
    value = write_value({"node": write_node(node)}) if hidden else None
    return Statement(CommandKind.HIDE, write_key(node.kind, *node.names), value)
