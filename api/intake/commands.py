"""Statements of people, forget and prune requests -> command documents in the journal.

    request -> the documents that it covers now -> commands (bounded each) -> accept -> projector

A command lists the documents that it covers, so carrying it out again, in any order and on any
machine, gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flask import request

from api.http.blueprint import current_principal
from api.service import Service
from graph_model import identity, labels
from graph_model.answers.sources import possible_ids
from graph_model.errors import InvalidReference, NotFound
from graph_model.governance.fields import NamedNode, node_ids, write_key, write_node
from graph_model.governance.statements import Assignment, write_assignment
from graph_model.producers.commands import (
    COMMAND_KIND,
    MOST_CUTOFFS,
    Command,
    CommandKind,
    Cutoff,
    Forget,
    Instruction,
    Prune,
    Statement,
    submit,
    write_value,
)
from graph_model.retention.coverage import (
    Retention,
    count_covered,
    ensure_known,
    resolve_forget,
    resolve_prune,
    subject_keys_of_dataset,
    subject_keys_of_job,
    subjects_without_plan,
    waiting_subject_keys,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.documents import Receipt
from graph_model.values import batched

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


def classify(
    tag: str, name: NamedNode, node: str, owner: str, note: str, service: Service
) -> Assignment:
    """The assignment of a tag to a node (its name and its id), stated unless it holds already."""
    assignment = Assignment(tag, name, owner, note)
    known = service.governance.assigned.get((tag, node))
    if known is None or (known.owner, known.note) != (owner, note):
        value = write_value(write_assignment(assignment))
        statement = Statement(CommandKind.CLASSIFY, assignment.key, value)
        declare([statement], f"{tag} {name}", note, service)
    return service.governance.assigned.get((tag, node), assignment)


def declassify(tag: str, node: str, service: Service) -> Assignment:
    """Take a tag off a node (an id), under each of its names. Raises NotFound where it has none."""
    rules = service.projector.rules
    held = [
        assignment
        for assignment in service.governance.assignments
        if assignment.tag == tag and node in node_ids(assignment.node, rules)
    ]
    if not held:
        raise NotFound(f"{tag} on", node)
    statements = [Statement(CommandKind.CLASSIFY, assignment.key, None) for assignment in held]
    declare(statements, f"{tag} {held[0].node}", "", service)
    return held[0]


# --------------------------------------------------------------------------------------------------
#
# Forget and prune requests.

DOCUMENT: Final = "document:"
_EXPECTED: Final = "an id, dataset:<uri>, job:<namespace>/<name> or document:<position>"


@dataclass(frozen=True, slots=True)
class Covered:
    """The documents of instructions; ``executions`` per cutoff in the same order."""

    instructions: tuple[Instruction, ...]
    target: str
    executions: tuple[int, ...] = ()

    @property
    def _forgets(self) -> list[Forget]:
        return [instruction for instruction in self.instructions if isinstance(instruction, Forget)]

    @property
    def subject_keys(self) -> int:
        return len({plan for forget in self._forgets for plan in forget.subject_keys})

    @property
    def documents(self) -> int:
        return len({body for forget in self._forgets for body in forget.documents})

    @property
    def cutoffs(self) -> tuple[Cutoff, ...]:
        return tuple(
            c for prune in self.instructions if isinstance(prune, Prune) for c in prune.cutoffs
        )


def cover_forget(reference: str, service: Service) -> Covered:
    """The documents that forgetting a job, a dataset or one document covers.

    Raises InvalidReference, AmbiguousReference or NotFound.
    """
    if reference.startswith(DOCUMENT):
        return Covered((_forget_document(reference, service),), reference)
    catalogue = service.catalogue
    node, waiting = _resolve(reference, service)
    kind = identity.kind_of(node)
    if kind == labels.JOB:
        subject_keys = subject_keys_of_job(node, catalogue)
    elif kind == labels.DATASET:
        subject_keys = subject_keys_of_dataset(node, catalogue)
    else:
        raise InvalidReference(reference, _EXPECTED)
    subject_keys |= service.journal.subject_keys_of(subjects_without_plan(node, catalogue))
    return Covered(resolve_forget(subject_keys | waiting, service.journal), reference)


def _resolve(reference: str, service: Service) -> tuple[str, frozenset[str]]:
    """The id of a node, and its subject keys that the catalogue does not know.

    While the graph is behind or down, the journal is searched for those: they may be the reason.
    """
    if service.projector.state == "ready":
        return service.references.resolve(reference), frozenset()
    searched = (service.journal, service.projector.rules, service.producers)
    try:
        node = service.references.resolve(reference)
    except NotFound:
        nodes = possible_ids(reference, service.projector.rules)
        waiting = waiting_subject_keys(nodes, *searched)
        if not waiting:
            raise
        return next(iter(nodes)), waiting  # all of one kind
    return node, waiting_subject_keys({node}, *searched)


def _forget_document(reference: str, service: Service) -> Forget:
    position = reference.removeprefix(DOCUMENT)
    if not position.isascii() or not position.isdigit() or len(position) > 18:
        raise InvalidReference(reference, _EXPECTED)
    # One whose body is damaged can be forgotten.
    documents = service.journal.documents([int(position)])
    if not documents or documents[0].kind == COMMAND_KIND:
        raise NotFound("document", position)
    document = documents[0]
    return Forget((document.subject_key,), (document.content_hash,))


def cover_prune(retention: Retention, service: Service, *, drop_bodies: bool) -> Covered:
    """The documents that a prune to this retention covers. Raises Rebuilding."""
    prune, catalogue = choose_cutoffs(retention, service, drop_bodies=drop_bodies)
    executions = tuple(
        count_covered(catalogue, *cutoff.key, cutoff.before) for cutoff in prune.cutoffs
    )
    pieces = tuple(
        Prune(tuple(cutoffs), drop_bodies) for cutoffs in batched(prune.cutoffs, MOST_CUTOFFS)
    )
    return Covered(pieces, "", executions)


def choose_cutoffs(
    retention: Retention, service: Service, *, drop_bodies: bool
) -> tuple[Prune, Catalogue]:
    """The cut-offs of this retention, and the catalogue that has its executions.

    Raises Rebuilding while that is being filled, and where it was emptied meanwhile: its executions
    do not show any more which others are needed.
    """
    ensure_known(service.journal)
    catalogue = service.catalogue
    prune = resolve_prune(retention, catalogue, drop_bodies=drop_bodies)
    ensure_known(service.journal)
    return prune, catalogue


def give(covered: Covered, author: str, note: str, route: str, service: Service) -> Sequence[int]:
    """Journal the commands in one transaction, also on a disk with only its reserve left; their
    positions.
    """
    at = service.clock()
    submissions = [
        submit(Command(author, at, note, covered.target, instruction))
        for instruction in covered.instructions
    ]
    if not submissions:
        return ()
    receipt = Receipt(at, author, route, "")
    positions = service.journal.accept(submissions, receipt, makes_room=True)
    service.projector.notify()
    return positions
