"""A person's wish -> command documents in the journal.

    wish -> what it covers, worked out now -> commands (bounded each) -> accept -> projector

The commands say explicitly what they cover, so carrying them out again, in any order and on any
machine, comes to the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from api.bodies import compact_json
from api.service import Service
from graph_model import identity, labels, naming
from graph_model.commands import (
    MOST_CUTOFFS,
    VERSION,
    Command,
    Cutoff,
    Forget,
    Order,
    Prune,
    write_command,
)
from graph_model.errors import InvalidReference, NotFound
from graph_model.journal import content_hash, make_submission
from graph_model.recorded import Recorded
from graph_model.references import possible_ids
from graph_model.retention import (
    Retention,
    count_covered,
    ensure_known,
    plan_ids_of_dataset,
    plan_ids_of_job,
    resolve_forget,
    resolve_prune,
    telling_subjects,
    waiting_plan_ids,
)
from graph_model.store import DocumentKind, Receipt, Submission

DOCUMENT: Final = "document:"
_EXPECTED: Final = "an id, dataset:<uri>, job:<namespace>/<name> or document:<position>"


@dataclass(frozen=True, slots=True)
class Covered:
    """What a wish covers; ``executions`` per cutoff in the same order."""

    orders: tuple[Order, ...]
    target: str
    executions: tuple[int, ...] = ()

    @property
    def plan_ids(self) -> int:
        return len({p for one in self.orders if isinstance(one, Forget) for p in one.plan_ids})

    @property
    def documents(self) -> int:
        return len({d for one in self.orders if isinstance(one, Forget) for d in one.documents})

    @property
    def cutoffs(self) -> tuple[Cutoff, ...]:
        return tuple(c for one in self.orders if isinstance(one, Prune) for c in one.cutoffs)


def cover_forget(reference: str, service: Service) -> Covered:
    """What forgetting a job, a dataset or one document covers.

    Raises InvalidReference, AmbiguousReference or NotFound.
    """
    if reference.startswith(DOCUMENT):
        return Covered((_forget_document(reference, service),), reference)
    catalogue = service.catalogue
    structure = Recorded(catalogue)
    node, waiting = _resolve(reference, service)
    kind = identity.kind_of(node)
    if kind == labels.JOB:
        plan_ids = plan_ids_of_job(node, structure, catalogue)
    elif kind == labels.DATASET:
        plan_ids = plan_ids_of_dataset(node, structure, catalogue)
    else:
        raise InvalidReference(reference, _EXPECTED)
    plan_ids |= service.journal.plan_ids_of(telling_subjects(node, catalogue))
    return Covered(resolve_forget(plan_ids | waiting, service.journal), reference)


def _resolve(reference: str, service: Service) -> tuple[str, frozenset[str]]:
    """The id of a node, and the plan ids that tell of it and that the catalogue does not know.

    Those are looked for while the graph is behind or away: it may be they that keep it away.
    """
    if service.projector.state == "ready":
        return service.references.resolve(reference), frozenset()
    rules, journal = service.projector.rules, service.journal
    try:
        node = service.references.resolve(reference)
    except NotFound:
        nodes = possible_ids(reference, rules)
        waiting = waiting_plan_ids(nodes, journal, rules)
        if not waiting:
            raise
        return next(iter(nodes)), waiting  # all of one kind
    return node, waiting_plan_ids({node}, journal, rules)


def _forget_document(reference: str, service: Service) -> Forget:
    position = reference.removeprefix(DOCUMENT)
    if not position.isascii() or not position.isdigit() or len(position) > 18:
        raise InvalidReference(reference, _EXPECTED)
    found = service.journal.documents([int(position)])  # one whose body is damaged can be forgotten
    if not found or found[0].kind == DocumentKind.COMMAND:
        raise NotFound("document", position)
    document = found[0]
    return Forget((document.plan_id,), (document.content_hash,))


def cover_prune(retention: Retention, service: Service, *, drop_bodies: bool) -> Covered:
    """What pruning to this retention covers."""
    if service.projector.state != "ready":
        ensure_known(service.journal)
    catalogue = service.catalogue
    prune = resolve_prune(retention, Recorded(catalogue), catalogue, drop_bodies=drop_bodies)
    executions = tuple(
        count_covered(catalogue, *cutoff.key, cutoff.before) for cutoff in prune.cutoffs
    )
    pieces = tuple(
        Prune(prune.cutoffs[start : start + MOST_CUTOFFS], drop_bodies)
        for start in range(0, len(prune.cutoffs), MOST_CUTOFFS)
    )
    return Covered(pieces, "", executions)


def give(covered: Covered, author: str, note: str, route: str, service: Service) -> Sequence[int]:
    """Journal the commands, in one transaction; their positions."""
    at = service.clock()
    submissions = [
        submit(Command(author, at, note, covered.target, order)) for order in covered.orders
    ]
    if not submissions:
        return ()
    positions = service.journal.accept(submissions, Receipt(at, author, route, ""))
    service.projector.notify()
    return positions


def submit(command: Command) -> Submission:
    """The document of a command on its way into the journal, what a person typed masked."""
    told = replace(
        command,
        note=naming.mask_text(command.note),
        target=naming.mask_text(command.target),
    )
    body = compact_json(write_command(told))
    key = command.key_prefix + content_hash(DocumentKind.COMMAND.value, VERSION, body)[:32]
    return make_submission(DocumentKind.COMMAND, VERSION, key, "", body)
