"""Projects the new documents of some subjects together.

Where ``projection.attempts`` requires it, the journal notes the attempt first. If a subject has
more new events than a round takes, the others stay PENDING for the next rounds. If its plan changes
while it has many events, it is projected in steps (``projection.attempts``). If it is large, it is
translated beside the rounds (``large_subjects``).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Final

from graph_model.errors import Unavailable
from graph_model.facts import Facts, merge
from graph_model.producers.producer import CommandEffects
from graph_model.producers.projections import PRUNED, Projection
from graph_model.projection.attempts import (
    ATTEMPT_KEY,
    Attempt,
    Outline,
    attempt_of,
    is_long,
    project_apart,
    revise,
    write_attempt,
)
from graph_model.projection.fullness import held
from graph_model.projection.projector.commits import Commits
from graph_model.projection.projector.large_subjects import LargeSubject, LargeSubjects
from graph_model.projection.projector.rebuild_control import RebuildControl
from graph_model.projection.projector.rules import CommandsInForce, ProjectionStores, RulesInForce
from graph_model.stores.documents import Body, DocumentState, StoredDocument

log = logging.getLogger(__name__)

NEW_A_ROUND: Final = 2_000
"""New documents in a round; more where a producer translates them together, such as all events of a
run."""
MANY_TOGETHER: Final = 1_000
"""The log warns at each multiple of this number of documents that are translated together."""
_BYTES_A_BATCH: Final = 16 << 20
_BYTES_APART: Final = 1 << 20
"""A subject of whose documents more bytes are to be translated is large (``large_subjects``)."""
_NOT_SHOWN: Final = frozenset({DocumentState.PENDING, DocumentState.FAILED})


class SubjectProjector:
    """``interrupted`` is an attempt that broke off; it stays set until its documents and the
    waiting commands are done. ``left_some``: the last attempt left new documents of its subjects to
    the next one.
    """

    def __init__(
        self,
        stores: ProjectionStores,
        rules: RulesInForce,
        commands_in_force: CommandsInForce,
        commits: Commits,
        rebuild_control: RebuildControl,
        large: LargeSubjects,
    ) -> None:
        self._stores = stores
        self._journal = stores.journal
        self._rules = rules
        self._commands_in_force = commands_in_force
        self._commits = commits
        self._rebuild_control = rebuild_control
        self._noted: Attempt | None = None  # the journal's note
        self._finished: Attempt | None = None  # the same, once all of it is done
        self._in_pieces: Attempt | None = None  # at a large subject that is written in part
        self.interrupted: Attempt | None = None
        self.left_some = False
        self.large: Final = large

    def take_up(self, noted: Attempt | None) -> None:
        """Begin a round with the journal's note of an attempt, by this process or another."""
        self._noted = noted
        self.interrupted = noted if noted != self._finished else None

    def finish(self) -> None:
        """Complete an interrupted attempt, with the documents that it began with."""
        if self.interrupted is None:
            return
        attempt = self.interrupted
        rest = attempt.keys
        while rest:
            keys, listed = self._outline(rest)
            outline = {key: attempt.among(documents) for key, documents in listed.items()}
            begun = [key for key in keys if any(map(is_new, outline.get(key, ())))]
            self._carry_out(attempt.of(begun), outline)
            rest = rest[len(keys) :]

    def conclude(self) -> None:
        """Note that the interrupted attempt is complete: its documents and the waiting commands."""
        if self.interrupted is not None:
            self._finished, self.interrupted = self._noted, None

    def begin(self, subject_keys: Sequence[str]) -> int:
        """Project the new documents of as many of these subjects as fit into memory, or of a large
        one that is translated. Returns how many subjects.
        """
        pieces = 0
        if (large := self.large.ready(subject_keys)) is not None:
            if large.key in subject_keys or self._in_pieces is not None:
                if not self._write_piece(large):
                    return self._finish_large(large)
                pieces = 1
            else:  # another process wrote them
                self.large.end(large)
                self._rules.translation.unlearn(large.documents)
        keys, outline = self._outline(self.large.without(subject_keys))
        attempt = attempt_of(keys, outline)
        changes = (d for key in attempt.keys for d in outline.get(key, ()) if is_new(d))
        # A new event of a known plan only adds facts, so repeating it needs no note.
        only_adds = not any(map(self._rules.translation.needs_all, changes))
        with nullcontext() if only_adds else self.noted(attempt):
            self._carry_out(attempt, outline, large_apart=True)
        small = tuple(key for key in attempt.keys if key not in self.large)
        if len(small) < len(attempt.keys) and not only_adds:
            with self.noted(attempt.of(small)):
                pass  # a start completes all that is noted, in one round: large ones are not
        taken = len(small) + pieces
        if not taken and self.large.begun and not self.large.beside:
            return self.begin(subject_keys)  # there are no small ones to let pass
        self.left_some |= bool(self.large)
        return taken

    def _write_piece(self, large: LargeSubject) -> bool:
        """Write a piece of what was made of a large subject. False where there is none left, or
        where it is to be committed at once: a rebuild writes everything as a whole, and a full
        graph holds it.
        """
        if not large.pieces or large.projection is None or self._commits.rebuild is not None:
            return False
        if not self._has_basis(large):
            return False
        if self._in_pieces is None:
            if large.projection.unsettled or not all(self._commits.fit([large.projection])):
                return False
            self._in_pieces = large.attempt
            with self.noted(large.attempt):
                pass
        try:
            self._commits.write_ahead(large.pieces[0])
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("a piece of %s cannot be written; its commit tries again", large.key)
            large.pieces.clear()
            return False
        large.pieces.popleft()
        return True

    def _finish_large(self, large: LargeSubject) -> int:
        """Commit what was made of a large subject, or translate it anew. Newer documents wait."""
        projection = large.projection
        if projection is None or not self._has_basis(large):
            self.large.end(large)
            self._translate_again(large)
            return 1
        self._rebuild_control.revisit([large.key])
        with self.noted(large.attempt):
            project_apart(
                large.attempt.keys,
                lambda _: self._commit_large(large, projection),
                lambda key, reason: self._set_aside(key, reason, large.attempt),
            )
        self.large.end(large)
        self._in_pieces = None
        self.left_some = True
        return 1

    def _commit_large(self, large: LargeSubject, projection: Projection) -> None:
        if self._in_pieces is None:
            self._commit({large.key: large.documents}, [projection], large.attempt)
        else:  # there was room for it before its first piece
            self._commits.commit([projection])

    def _translate_again(self, large: LargeSubject) -> None:
        """Project the documents of a large subject in this round. What is written of it may belong
        to no later set of documents: then those that it began with come first, as after a kill.
        """
        self._rules.translation.unlearn(large.documents)
        if self._in_pieces is None:
            keys, outline = self._outline([large.key])
            attempt = attempt_of(keys, outline)
            with self.noted(attempt):
                self._carry_out(attempt, outline)
            return
        former, self.interrupted = self.interrupted, self._in_pieces.beside(self.interrupted)
        self._in_pieces = None
        self.finish()
        self.interrupted = former
        self.left_some = True

    def _has_basis(self, large: LargeSubject) -> bool:
        return large.basis == self._basis(large.documents)

    def _basis(self, documents: Sequence[StoredDocument]) -> object:
        """Equal as long as the same documents give the same projection."""
        states = self._journal.states([document.position for document in documents])
        effects = self._commands_in_force.among(documents)
        kept = [states.get(document.position) for document in documents]
        return self._rules.translation, effects, kept

    def _outline(self, subject_keys: Sequence[str]) -> tuple[Sequence[str], Outline]:
        """The first subjects that fit into memory together (at least one), with their outline; a
        subject with many new events has only the first of them in it.
        """
        outline = self._stores.outline(subject_keys, NEW_A_ROUND)
        while len(subject_keys) > 1 and self._is_full(outline):
            subject_keys = subject_keys[: len(subject_keys) // 2]
            outline = self._stores.outline(subject_keys, NEW_A_ROUND)
        keys = _within_bounds(subject_keys, outline)
        self.left_some = False
        if len(keys) == 1 and (documents := outline.get(keys[0])):
            kept = self._first_events(documents)
            self.left_some = self._is_full(outline) or len(kept) < len(documents)
            if self.left_some and any(map(self._is_translated_with_all, documents)):
                self.left_some = False
                return keys, self._stores.outline(keys)
            outline = {keys[0]: kept}
        return keys, outline

    def _is_full(self, outline: Outline) -> bool:
        """Whether there may be more new documents than these."""
        bases = self._stores.producers.bases
        are_events = (
            document.kind not in bases for documents in outline.values() for document in documents
        )
        return sum(are_events) >= NEW_A_ROUND

    def _is_translated_with_all(self, document: StoredDocument) -> bool:
        is_base = document.kind in self._stores.producers.bases
        return not is_base and self._rules.translation.needs_all(document)

    def _first_events(self, documents: Sequence[StoredDocument]) -> Sequence[StoredDocument]:
        """The documents without the new events that are together too large; at least one stays."""
        first: list[StoredDocument] = []
        left = _BYTES_A_BATCH
        for document in documents:
            if not self._rules.translation.needs_all(document):
                if left < 0:
                    continue
                left -= document.size
            first.append(document)
        return first

    @contextmanager
    def noted(self, attempt: Attempt) -> Iterator[None]:
        """Note the attempt before it begins. The note, like an earlier one, is finished only after
        all of the attempt.

        An interrupted attempt stays noted beside this one, because a command may still have to
        withdraw its remains.
        """
        noted = attempt.beside(self.interrupted).beside(self._in_pieces)
        self._journal.set_meta(ATTEMPT_KEY, write_attempt(noted))
        self._noted, self._finished = noted, None
        yield
        if self.interrupted is None:
            self._finished = noted

    def _carry_out(self, attempt: Attempt, outline: Outline, *, large_apart: bool = False) -> None:
        project_apart(
            attempt.keys,
            lambda some: self._project(some, outline, attempt, large_apart=large_apart),
            lambda key, reason: self._set_aside(key, reason, attempt),
        )

    def _project(
        self,
        subject_keys: Sequence[str],
        outline: Outline,
        attempt: Attempt,
        *,
        large_apart: bool,
    ) -> None:
        self._rebuild_control.revisit(subject_keys)
        asked = {subject_key: outline.get(subject_key, ()) for subject_key in subject_keys}
        read = self._documents(asked)
        gathered = {key: attempt.among(documents) for key, documents in read.items()}
        effects = self._commands_in_force.among(
            document for documents in gathered.values() for document in documents
        )
        if large_apart:
            for key in [key for key in gathered if _is_large(gathered[key])]:
                self._set_large_apart(key, gathered.pop(key), effects, attempt)
        projections = [
            self._rules.translation.project(documents, effects) for documents in gathered.values()
        ]
        for subject_key in subject_keys:
            if subject_key not in read:
                self._project_in_steps(subject_key, asked[subject_key], attempt)
        self._commit(gathered, projections, attempt)

    def _set_large_apart(
        self,
        subject_key: str,
        documents: Sequence[StoredDocument],
        effects: CommandEffects,
        attempt: Attempt,
    ) -> None:
        def make() -> LargeSubject:
            project = partial(self._rules.translation.project, documents, effects)
            own = attempt.of([subject_key])
            return LargeSubject(subject_key, own, documents, self._basis(documents), project)

        self.large.add(subject_key, make)

    def _commit(
        self,
        gathered: Mapping[str, Sequence[StoredDocument]],
        projections: list[Projection],
        attempt: Attempt,
    ) -> None:
        """Write the projections of these documents, in their order."""
        in_steps: list[str] = []
        for place, subject_key in enumerate(gathered):
            # An attempt that broke off may have written documents that a command has named since.
            broken_off = self.interrupted is not None and subject_key in self.interrupted.keys
            if projections[place].unsettled or (broken_off and projections[place].dropped):
                if self._long([subject_key]):
                    projections[place] = Projection((), None, ())
                    in_steps.append(subject_key)
                else:
                    everything = attempt.among(self._journal.documents_of(subject_key))
                    projections[place] = self._commands_in_force.revise(everything)
        for subject_key in in_steps:
            self._project_in_steps(subject_key, gathered[subject_key], attempt)
        if gathered:
            self._commits.commit(self._held_back(tuple(gathered.values()), projections))

    def _long(self, subject_keys: Sequence[str]) -> set[str]:
        """The subjects with more events than are projected at once."""
        sizes = (
            self._journal.sizes(subject_keys, self._stores.producers.additions)
            if subject_keys
            else {}
        )
        return {subject_key for subject_key, size in sizes.items() if is_long(size)}

    def _project_in_steps(
        self, subject_key: str, documents: Sequence[StoredDocument], attempt: Attempt
    ) -> None:
        """Project the plans, then the events: all events if a plan is new, else the new ones. After
        a crash in between, a document is still PENDING and causes all of it again.
        """
        kinds = self._stores.producers.additions
        plans = self._journal.documents([d.position for d in documents if d.kind not in kinds])
        plans_changed = any(is_new(plan) for plan in plans)
        events = self._journal.positions_to(subject_key, kinds, attempt.lasts[subject_key])
        new = [d.position for d in documents if d.kind in kinds and is_new(d)]
        steps = revise(
            self._journal.documents,
            attempt.among(plans),
            events,
            events if plans_changed else new,
            self._commands_in_force.revise,
            plans_first=plans_changed or any(map(_left_with_its_events, plans)),
        )
        for step in steps:
            (fitting,) = self._held_back([documents], [step])
            self._commits.commit([fitting])
            if fitting is not step:
                return

    def _held_back(
        self, gathered: Sequence[Sequence[StoredDocument]], projections: Sequence[Projection]
    ) -> list[Projection]:
        """The projections; one that a full graph has no room for is replaced by one that only holds
        its documents.
        """
        fit = self._commits.fit(projections)
        if all(fit):
            return list(projections)
        self._stores.fullness.hold()
        kept = []
        for documents, projection, fits in zip(gathered, projections, fit, strict=True):
            if not fits:
                self._rules.translation.unlearn(documents)
            kept.append(projection if fits else held(documents))
        return kept

    def _set_aside(self, subject_key: str, reason: str, attempt: Attempt) -> None:
        if self._long([subject_key]):
            tried = attempt.among(
                self._stores.outline([subject_key], NEW_A_ROUND).get(subject_key, ())
            )
            log.error("%s is perhaps written in part; a rebuild is needed", subject_key)
            self._rebuild_control.request()
        else:
            tried = attempt.among(self._journal.documents_of(subject_key))
            self._take_back_or_rebuild(subject_key, tried)
        pending = [document.position for document in tried if is_new(document)]
        self._commits.settle(pending, DocumentState.FAILED, reason)

    def _take_back_or_rebuild(self, subject_key: str, tried: Sequence[StoredDocument]) -> None:
        try:
            self.take_back(tried)
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("%s is written in part; a rebuild is needed", subject_key)
            self._rebuild_control.request()

    def take_back(self, tried: Sequence[StoredDocument], forgotten: Collection[str] = ()) -> None:
        """Restore the former facts of these documents and withdraw all others: the attempt may have
        been interrupted anywhere between the two sets of facts.

        ``forgotten`` are content hashes of a command that is itself reversed.
        """
        stays = [document for document in tried if document.state not in _NOT_SHOWN]
        revised = self._commands_in_force.revise(tried, forgotten)
        facts = merge((*revised.parts, revised.former or Facts()))
        stood = self._commands_in_force.project_all(stays)
        restored = replace(stood, former=facts, dropped=())
        self._commits.commit([restored])

    # reading no more than a round needs

    def _documents(self, outline: Outline) -> dict[str, Sequence[StoredDocument]]:
        """Per subject all documents if the plan is new; else its plans and its new events. Subjects
        with too many events to be read as a whole are left out.

        A known plan needs no body: of a new run only the event is read.
        """
        needed = [
            document.position
            for documents in outline.values()
            for document in self._to_read(documents)
        ]
        bodies = self._journal.bodies(needed)
        by_key: dict[str, Sequence[StoredDocument]] = {
            subject_key: [_with_body(document, bodies) for document in listed]
            for subject_key, listed in outline.items()
        }
        as_wholes = [key for key in by_key if not self._suffice(by_key[key])]
        long = self._long(as_wholes)
        read = self._journal.documents_by_key([key for key in as_wholes if key not in long])
        by_key |= {key: read.get(key, ()) for key in as_wholes}
        for key, documents in read.items():
            if self._is_translated_with_all(documents[0]):
                _warn_of_many(key, documents)
        return {key: documents for key, documents in by_key.items() if key not in long}

    def _to_read(self, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        """The documents whose bodies a round needs; none where the subject is read as a whole."""
        translation = self._rules.translation
        if any(is_new(d) and translation.needs_all(d) for d in documents):
            return []
        return [d for d in documents if is_new(d) or not translation.knows(d)]

    def _suffice(self, documents: Sequence[StoredDocument]) -> bool:
        return all(map(self._rules.translation.suffices, filter(is_new, documents)))


def is_new(document: StoredDocument) -> bool:
    """Whether the document waits to be projected."""
    return document.state == DocumentState.PENDING


def _left_with_its_events(plan: StoredDocument) -> bool:
    """Whether a command removed the plan's facts together with its last event."""
    return plan.state == DocumentState.WAITING or (plan.state, plan.reason) == PRUNED


def _within_bounds(subject_keys: Sequence[str], outline: Outline) -> Sequence[str]:
    """The first subjects that fit into memory together; at least one."""
    total = 0
    for place, subject_key in enumerate(subject_keys):
        total += _new_bytes(outline.get(subject_key, ()))
        if total > _BYTES_A_BATCH and place:
            return subject_keys[:place]
    return subject_keys


def _is_large(documents: Sequence[StoredDocument]) -> bool:
    """A known plan comes without its body, and costs nothing."""
    return sum(len(document.body) for document in documents) > _BYTES_APART


def _new_bytes(documents: Sequence[StoredDocument]) -> int:
    return sum(document.size for document in documents if is_new(document))


def _warn_of_many(subject_key: str, documents: Sequence[StoredDocument]) -> None:
    """Warn at each further thousand of documents, not at each document."""
    new = sum(map(is_new, documents))
    if len(documents) // MANY_TOGETHER > (len(documents) - new) // MANY_TOGETHER:
        log.warning(
            "%s has %d documents, which are translated together with each new one; a run that does"
            " not end becomes slower with each (docs/limits.md)",
            subject_key, len(documents),
        )  # fmt: skip


def _with_body(document: StoredDocument, bodies: Mapping[int, Body]) -> StoredDocument:
    body = bodies.get(document.position)
    if body is None:
        return document
    return document._replace(body=body.content, damage=body.damage or document.damage)
