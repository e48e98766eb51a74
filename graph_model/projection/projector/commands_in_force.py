"""The effect of the commands in force on documents.

The rows of a command may be recorded before its turn (``put_in_force``): from then on its documents
are not shown, and they are removed when the command is carried out (``commands``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from graph_model.errors import HeadwaterError
from graph_model.facts import Facts, merge
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Forget,
    Statement,
    collect_effects,
    read_command,
    recorded_commands,
    translate_command,
)
from graph_model.producers.producer import NO_EFFECTS, CommandEffects
from graph_model.producers.projections import Projection
from graph_model.producers.registry import Translation
from graph_model.projection.projector.rules import RulesInForce
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.stores.documents import StoredDocument

#: Changes with every command, so that every process learns of it.
COMMANDS_KEY: Final = "orders"


class CommandsInForce:
    """The commands that the catalogue in force holds, as they were when ``load`` was called last.

    ``epoch`` is the journal's at that time, None before the first.
    """

    def __init__(self, stores: ProjectionStores, rules: RulesInForce) -> None:
        self._generations = stores.generations
        self._rules = rules
        self._effects = NO_EFFECTS
        self._any_forgotten = False
        #: The documents of each ``forget`` that is in force and not carried out.
        self._early_removals: tuple[frozenset[str], ...] = ()
        self.epoch: str | None = None
        self.loaded = False

    def load(self, epoch: str | None) -> None:
        """Read the commands in force; forget the remembered documents that one may cover."""
        catalogue = self._generations.current
        kinds = (CommandKind.PRUNE, CommandKind.RETRACT)
        self._effects = collect_effects(
            chain.from_iterable(recorded_commands(catalogue, kind) for kind in kinds)
        )
        self._any_forgotten = bool(catalogue.commands_after(CommandKind.FORGET.value, None, 1))
        self._note_loaded(epoch)

    def add(self, command: Command, epoch: str) -> None:
        """As ``load``, where only this command has come since: no other command is read again,
        however many there are.
        """
        self._effects = collect_effects([command], self._effects)
        self._any_forgotten |= isinstance(command.instruction, Forget)
        self._note_loaded(epoch)

    def _note_loaded(self, epoch: str | None) -> None:
        self._rules.translation.forget()
        self.epoch, self.loaded = epoch, True

    def put_in_force(self, documents: Iterable[StoredDocument]) -> bool:
        """Put these commands in force. Returns whether any of them removes something.

        An unreadable command is set aside in its turn.
        """
        removes = False
        for document in documents:
            try:
                command = read_command(json.loads(document.body))
                rows = translate_command(command, document.content_hash).rows
            except (HeadwaterError, ValueError):
                continue
            if not isinstance(command.instruction, Statement):
                self._generations.current.record(rows)
                removes = True
            if isinstance(command.instruction, Forget):
                self._early_removals += (frozenset(command.instruction.documents),)
        return removes

    def end_early_removals(self) -> None:
        """Drop the note of commands in force before their turn: they are carried out, or wait for a
        later round.
        """
        self._early_removals = ()

    def among(self, documents: Iterable[StoredDocument]) -> CommandEffects:
        """The commands in force, as far as these documents are concerned."""
        if not self._any_forgotten:
            return self._effects
        hashes = {document.content_hash for document in documents}
        return replace(self._effects, forgotten=self._generations.current.forgotten(hashes))

    def project_all(
        self, documents: Sequence[StoredDocument], translation: Translation | None = None
    ) -> Projection:
        """Translate all documents of a subject as if they had just come, under the rules in force
        or those of another ``translation``.
        """
        chosen = translation or self._rules.translation
        return chosen.project_all(documents, self.among(documents))

    def revise(
        self, documents: Sequence[StoredDocument], no_more: Collection[str] = ()
    ) -> Projection:
        """Translate all documents of a subject again. The result's ``former`` are its facts under
        fewer commands, and those of the documents projected before. ``no_more`` are content hashes
        of a command that is no longer in force.
        """
        before = self._forgotten_before(documents)
        former = [
            self._rules.translation.project_all(
                documents, CommandEffects(forgotten=forgotten)
            ).facts
            for forgotten in before.union(hashes.union(no_more) for hashes in before)
        ]
        # last, for a translator remembers its last result: a plan that is hidden => none
        revised = self.project_all(documents)
        return replace(revised, former=merge((revised.former or Facts(), *former)))

    def _forgotten_before(self, documents: Sequence[StoredDocument]) -> set[frozenset[str]]:
        """The sets of these documents that may have been forgotten when a round was interrupted:
        none, or those of the first commands put in force. Any other command adds or hides a subject
        as a whole.
        """
        forgotten = self.among(documents).forgotten
        known = forgotten.difference(*self._early_removals)
        sets = {frozenset[str](), known}
        for named in self._early_removals:
            known |= named & forgotten
            sets.add(known)
        return sets
