"""Carries out forget and prune commands: a command's rows first, then its documents.

Commands are carried out one by one, before the documents that wait beside them. A long command
gives way to those documents now and then; it is in force for them from its beginning. After a crash
it is repeated from the start. When the service stops, it breaks off between two commits, so that
the service can still save its graph, and the next start repeats it. A command that fails is set
aside with its reason: the facts that it removed are projected again, except those of documents that
it had already dropped from the journal, and the documents behind it are projected as usual.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from graph_model.errors import HeadwaterError, ProjectionStopped, Unavailable
from graph_model.facts import Facts
from graph_model.producers.commands import (
    COMMAND_KIND,
    KEY_PREFIX,
    Command,
    Forget,
    read_command,
    translate_command,
)
from graph_model.producers.projections import Projection, damage_of, reason_of
from graph_model.projection.attempts import EVENTS_A_STEP, Outline, attempt_of, revise
from graph_model.projection.projector.commits import Commits
from graph_model.projection.projector.rebuild_control import RebuildControl
from graph_model.projection.projector.rules import COMMANDS_KEY, CommandsInForce, ProjectionStores
from graph_model.projection.projector.subject_projector import NEW_A_ROUND, SubjectProjector, is_new
from graph_model.retention.coverage import affected_subject_keys
from graph_model.stores.documents import DocumentState
from graph_model.values import batched

log = logging.getLogger(__name__)

_MOST_ATTEMPTS: Final = 3
SUBJECTS_AT_ONCE: Final = 100
_WAITING_AT_ONCE: Final = 100


class CommandRunner:
    """Carries out the commands that the journal holds, until ``is_stopping`` returns True."""

    def __init__(
        self,
        stores: ProjectionStores,
        commands_in_force: CommandsInForce,
        commits: Commits,
        rebuild_control: RebuildControl,
        subject_projector: SubjectProjector,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._is_stopping = is_stopping
        self._stores = stores
        self._commands_in_force = commands_in_force
        self._commits = commits
        self._rebuild_control = rebuild_control
        self._subject_projector = subject_projector

    def put_in_force(self, keys: Iterable[str]) -> None:
        """Put commands in force; their documents are removed when the commands are carried out."""
        documents = [
            document for key in keys for document in self._stores.journal.documents_of(key)
        ]
        try:
            removes = self._commands_in_force.put_in_force(documents)
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("a command could not be announced before its round")
            removes = True
        if removes:
            self._announce_change()

    def carry_out(self, key: str) -> None:
        """Carry out the command of this key, or set it aside where that fails."""
        for document in self._stores.journal.documents_of(key):
            if document.damage:
                self._commits.settle([document.position], DocumentState.FAILED, damage_of(document))
                continue
            try:
                command = read_command(json.loads(document.body))
                facts = translate_command(command, document.content_hash)
            except (HeadwaterError, ValueError) as error:
                self._commits.settle([document.position], DocumentState.FAILED, reason_of(error))
                continue
            self._attempt(document.position, command, facts)

    def _attempt(self, position: int, command: Command, facts: Facts) -> None:
        """Carry out the command; try again after an unforeseen error, a bounded number of times.
        Unavailable and MemoryError are raised: the round is then repeated, however often.
        """
        touched: set[str] = set()  # by all attempts: no row is left of a pruned document
        reason = ""
        for _ in range(_MOST_ATTEMPTS):
            try:
                self._carry_out_once(position, command, facts, touched)
            except (Unavailable, MemoryError):
                raise
            except Exception as error:
                log.exception("the command in document %d cannot be carried out", position)
                reason = reason_of(error)
            else:
                return
        self._set_aside(position, command, facts, touched)
        self._commits.settle([position], DocumentState.FAILED, reason)

    def _carry_out_once(
        self, position: int, command: Command, facts: Facts, touched: set[str]
    ) -> None:
        """Carry out the command once. Adds its subjects to ``touched``."""
        self._break_off_if_stopping()
        origin = self._commits.origin(position)
        self._stores.generations.current.record(facts.rows, origin)
        if self._commits.rebuild is not None:
            self._commits.rebuild.add(facts)
        self._announce_change(command)
        touched.update(self._touched_by(command))
        for place, subject_keys in enumerate(batched(sorted(touched), SUBJECTS_AT_ONCE)):
            if place:
                self._give_way()
            self._project_again(subject_keys, _named_by(command))
        self._commits.settle([position], DocumentState.PROJECTED)

    def _give_way(self) -> None:
        """Project documents that wait behind a long command. While another command waits, project
        none: it may remove them.
        """
        pending = self._stores.journal.pending(_WAITING_AT_ONCE, COMMAND_KIND)
        others = [key for key in pending if not key.startswith(KEY_PREFIX)]
        if others and len(pending) - len(others) == 1:
            self._subject_projector.begin(others)

    def _set_aside(
        self, position: int, command: Command, facts: Facts, touched: Collection[str]
    ) -> None:
        """Reverse the writes of a failed command. If that fails, or some may be left elsewhere (an
        earlier round was interrupted, or a rebuild has its rows), everything is projected anew.
        """
        is_whole = self._subject_projector.interrupted is None and self._commits.rebuild is None
        try:
            self._take_back(command, facts, sorted(touched))
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("the command in document %d was interrupted half-way", position)
            is_whole = False
        if not is_whole:
            self._rebuild_control.drop()
            self._rebuild_control.request()

    def _take_back(self, command: Command, facts: Facts, touched: Sequence[str]) -> None:
        """Project the command's documents again, except those that have left the journal."""
        with self._subject_projector.noted(attempt_of(touched, {})):
            self._stores.generations.current.withdraw(facts.rows)
            self._announce_change()
            for subject_key in touched:
                documents = self._stores.journal.documents_of(subject_key)
                self._subject_projector.take_back(
                    [document for document in documents if not is_new(document)],
                    _named_by(command) or (),
                )

    def _announce_change(self, added: Command | None = None) -> None:
        """Make all processes read the commands in force, which have changed: by the command
        ``added`` alone if given.
        """
        epoch = uuid.uuid4().hex
        self._stores.journal.set_meta(COMMANDS_KEY, epoch)
        if added is None:
            self._rebuild_control.load_commands(epoch)
        else:
            self._rebuild_control.add_command(added, epoch)

    def _touched_by(self, command: Command) -> set[str]:
        """The subjects that a command changes, and those of an interrupted attempt: perhaps no row
        names these any more.
        """
        affected = affected_subject_keys(command, self._stores.generations.current)
        interrupted = self._subject_projector.interrupted
        return affected.union(interrupted.keys if interrupted else ())

    def _project_again(self, subject_keys: Sequence[str], named: Collection[str] | None) -> None:
        """Project again these subjects, whose facts a command changed; new documents come first."""
        outline = self._without_new_documents(subject_keys)
        bases = self._stores.producers.bases
        plans = {key: [d for d in outline.get(key, ()) if d.kind in bases] for key in subject_keys}
        self._rebuild_control.revisit(subject_keys)
        with self._subject_projector.noted(attempt_of(subject_keys, plans)):
            for revised in self._revisions(plans, named):
                self._break_off_if_stopping()
                self._commits.commit(revised)

    def _break_off_if_stopping(self) -> None:
        if self._is_stopping():
            raise ProjectionStopped("the service stops")

    def _without_new_documents(self, subject_keys: Sequence[str]) -> Outline:
        """The outline of these subjects, once their new documents are projected."""
        while True:
            outline = self._stores.outline(subject_keys, NEW_A_ROUND)
            new = [key for key in subject_keys if any(map(is_new, outline.get(key, ())))]
            if not new:
                return outline
            if not self._subject_projector.begin(new):
                self._subject_projector.large.wait(self._break_off_if_stopping)

    def _revisions(
        self, plans: Outline, named: Collection[str] | None
    ) -> Iterator[Sequence[Projection]]:
        """Yield the projections of each commit: long subjects in steps, the others together."""
        journal, documents = self._stores.journal, 0
        together: list[Projection] = []
        for subject_key, bases in plans.items():
            events = self._events(subject_key)
            if bases and len(events) > EVENTS_A_STEP:
                covered = events if named is None else self._events(subject_key, named)
                read = journal.documents([document.position for document in bases])
                steps = revise(
                    journal.documents, read, events, covered, self._commands_in_force.revise
                )
                yield from ([step] for step in steps)
                continue
            together += self._revision(subject_key)
            documents += len(events)
            if documents > EVENTS_A_STEP:
                yield together
                together, documents = [], 0
        if together:
            yield together

    def _events(self, subject_key: str, named: Collection[str] | None = None) -> Sequence[int]:
        """The positions of a subject's settled events; ``named``: only of these content hashes."""
        additions = self._stores.producers.additions
        return self._stores.journal.settled_positions(subject_key, additions, named)

    def _revision(self, subject_key: str) -> Sequence[Projection]:
        """The revision of all documents of a subject at once; empty where none is left."""
        documents = [
            document
            for document in self._stores.journal.documents_of(subject_key)
            if not is_new(document)
        ]
        if not documents:
            return ()
        revised = self._commands_in_force.revise(documents)
        return (replace(revised, dropped=(*revised.dropped, *revised.silenced())),)


def _named_by(command: Command) -> Collection[str] | None:
    """The content hashes that a forget command names; None for another one."""
    return command.instruction.documents if isinstance(command.instruction, Forget) else None
