"""Projects the new documents of some plan ids together.

Where ``projection.attempts`` requires it, the journal notes the attempt first.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Final

from graph_model.errors import Unavailable
from graph_model.facts import Facts, merge
from graph_model.producers.projections import Projection
from graph_model.projection.attempts import (
    ATTEMPT_KEY,
    Attempt,
    Outline,
    attempt_of,
    project_apart,
    write_attempt,
)
from graph_model.projection.fullness import held
from graph_model.projection.projector.commits import Commits
from graph_model.projection.projector.orders import OrdersInForce
from graph_model.projection.projector.rebuilds import Rebuilds
from graph_model.projection.projector.rules import RulesInForce
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.stores.protocols import Body, DocumentState, StoredDocument

log = logging.getLogger(__name__)

_BYTES_A_BATCH: Final = 16 << 20
_NOT_SHOWN: Final = frozenset({DocumentState.PENDING, DocumentState.FAILED})


class Attempting:
    """``interrupted`` is an attempt that broke off, until commands have been carried out, too."""

    def __init__(
        self,
        stores: ProjectionStores,
        rules: RulesInForce,
        orders: OrdersInForce,
        commits: Commits,
        rebuilds: Rebuilds,
    ) -> None:
        self._stores = stores
        self._journal = stores.journal
        self._rules = rules
        self._orders = orders
        self._commits = commits
        self._rebuilds = rebuilds
        self._noted: Attempt | None = None  # the journal's note
        self._finished: Attempt | None = None  # the same, once all of it is done
        self.interrupted: Attempt | None = None

    def take_up(self, noted: Attempt | None) -> None:
        """A round begins with the journal's note, of this process or another."""
        self._noted = noted
        self.interrupted = noted if noted != self._finished else None

    def finish(self) -> None:
        """Complete an interrupted attempt, with the documents that it began with."""
        if self.interrupted is None:
            return
        attempt = self.interrupted
        found = self._stores.outline(attempt.keys)
        outline = {key: attempt.among(documents) for key, documents in found.items()}
        begun = [key for key in attempt.keys if any(map(is_new, outline.get(key, ())))]
        self._carry_out(replace(attempt, keys=tuple(begun)), outline)

    def conclude(self) -> None:
        """The interrupted attempt is complete, in the documents and for commands."""
        if self.interrupted is not None:
            self._finished, self.interrupted = self._noted, None

    def begin(self, plan_ids: Sequence[str]) -> int:
        """Begin with the new documents of as many of these as fit into memory; how many."""
        outline = self._stores.outline(plan_ids)
        attempt = attempt_of(_within_bounds(plan_ids, outline), outline)
        changes = (d for key in attempt.keys for d in outline.get(key, ()) if is_new(d))
        # a new event of a known plan only adds: repeating it takes nothing back
        only_adds = not any(map(self._rules.translation.needs_all, changes))
        with nullcontext() if only_adds else self.noted(attempt):
            self._carry_out(attempt, outline)
        return len(attempt.keys)

    @contextmanager
    def noted(self, attempt: Attempt) -> Iterator[None]:
        """Note the attempt before it begins, and finish it only after all of it: also an earlier
        note.

        The interrupted attempt stays noted beside it, because a command may still have to withdraw
        its rest.
        """
        noted = attempt.beside(self.interrupted)
        self._journal.set_meta(ATTEMPT_KEY, write_attempt(noted))
        self._noted, self._finished = noted, None
        yield
        if self.interrupted is None:
            self._finished = noted

    def _carry_out(self, attempt: Attempt, outline: Outline) -> None:
        project_apart(
            attempt.keys,
            lambda some: self._project(some, outline, attempt),
            lambda key, reason: self._set_aside(key, reason, attempt),
        )

    def _project(self, plan_ids: Sequence[str], outline: Outline, attempt: Attempt) -> None:
        self._rebuilds.revisit(plan_ids)
        asked = {plan_id: outline.get(plan_id, ()) for plan_id in plan_ids}
        gathered = [attempt.among(one) for one in self._documents(asked)]
        orders = self._orders.among(document for one in gathered for document in one)
        projections = [self._rules.translation.project(one, orders) for one in gathered]
        for place, plan_id in enumerate(plan_ids):
            # a broken attempt may have written documents that a command has named since
            broken_off = self.interrupted is not None and plan_id in self.interrupted.keys
            if projections[place].unsettled or (broken_off and projections[place].dropped):
                everything = attempt.among(self._journal.plan(plan_id))
                projections[place] = self._orders.revise(everything)
        self._commits.commit(self._held_back(gathered, projections))

    def _held_back(
        self, gathered: Sequence[Sequence[StoredDocument]], projections: Sequence[Projection]
    ) -> list[Projection]:
        """Nothing of those that a full graph has no room for."""
        fit = self._commits.fit(projections)
        if all(fit):
            return list(projections)
        self._stores.fullness.hold()
        found = []
        for documents, projection, fits in zip(gathered, projections, fit, strict=True):
            if not fits:
                self._rules.translation.unlearn(documents)
            found.append(projection if fits else held(documents))
        return found

    def _set_aside(self, plan_id: str, reason: str, attempt: Attempt) -> None:
        tried = attempt.among(self._journal.plan(plan_id))
        try:
            self.take_back(tried)
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("%s is written in part; a rebuild is needed", plan_id)
            self._rebuilds.request()
        pending = [one.position for one in tried if is_new(one)]
        self._commits.settle(pending, DocumentState.FAILED, reason)

    def take_back(self, tried: Sequence[StoredDocument], forgotten: Collection[str] = ()) -> None:
        """Restore the former facts, and withdraw all others of these documents: the attempt may
        have been interrupted anywhere between the two.

        ``forgotten`` are content hashes of a command that is itself reversed.
        """
        stays = [one for one in tried if one.state not in _NOT_SHOWN]
        revised = self._orders.revise(tried, forgotten)
        facts = merge((*revised.parts, revised.former or Facts()))
        stood = self._orders.project_all(stays)
        restored = replace(stood, former=facts, dropped=(), earlier=revised.earlier)
        self._commits.commit([restored])

    # reading no more than a round needs

    def _documents(self, outline: Outline) -> list[Sequence[StoredDocument]]:
        """Per plan id all documents if the plan is new; else its plans and its new events.

        A known plan needs no body: of its run only the event is read.
        """
        needed = [one.position for found in outline.values() for one in self._to_read(found)]
        bodies = self._journal.bodies(needed)
        found: dict[str, Sequence[StoredDocument]] = {
            plan_id: [_with_body(one, bodies) for one in listed]
            for plan_id, listed in outline.items()
        }
        as_wholes = [key for key in found if not self._suffice(found[key])]
        read = self._journal.plans(as_wholes)
        found |= {key: read.get(key, ()) for key in as_wholes}
        return list(found.values())

    def _to_read(self, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        """The documents whose bodies a round needs; none of a plan id that is read as a whole."""
        translation = self._rules.translation
        if any(is_new(d) and translation.needs_all(d) for d in documents):
            return []
        return [d for d in documents if is_new(d) or not translation.knows(d)]

    def _suffice(self, documents: Sequence[StoredDocument]) -> bool:
        return all(map(self._rules.translation.suffices, filter(is_new, documents)))


def is_new(document: StoredDocument) -> bool:
    """Whether it waits to be projected."""
    return document.state == DocumentState.PENDING


def _within_bounds(plan_ids: Sequence[str], outline: Outline) -> Sequence[str]:
    """As many of the first as fit into memory together; at least one."""
    total = 0
    for place, plan_id in enumerate(plan_ids):
        total += sum(one.size for one in outline.get(plan_id, ()) if is_new(one))
        if total > _BYTES_A_BATCH and place:
            return plan_ids[:place]
    return plan_ids


def _with_body(document: StoredDocument, bodies: Mapping[int, Body]) -> StoredDocument:
    body = bodies.get(document.position)
    if body is None:
        return document
    return document._replace(body=body.content, damage=body.damage or document.damage)
