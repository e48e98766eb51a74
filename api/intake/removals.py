"""Forget and prune requests -> command documents in the journal.

    request -> the documents that it covers now -> commands (bounded each) -> accept -> projector

A command lists the documents that it covers, so carrying it out again, in any order and on any
machine, gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.service import Service
from graph_model import identity, labels
from graph_model.answers.sources import possible_ids
from graph_model.errors import InvalidReference, NotFound
from graph_model.producers.commands import (
    COMMAND_KIND,
    MOST_CUTOFFS,
    Command,
    Cutoff,
    Forget,
    Instruction,
    Prune,
    submit,
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
