"""The effect of the commands in force on documents.

The rows of a command may be recorded before its turn (``put_in_force``): from then on new documents
that it covers are not shown, and the others are removed when the command is carried out
(``commands``).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from graph_model.errors import HeadwaterError, Unavailable
from graph_model.facts import Facts, Row, merge
from graph_model.producers.command_effects import NO_EFFECTS, CommandEffects
from graph_model.producers.commands.documents import (
    Command,
    CommandKind,
    Forget,
    collect_effects,
    read_command,
    translate_command,
)
from graph_model.producers.commands.recorded import recorded_commands
from graph_model.producers.projections import Projection
from graph_model.producers.translation import Translation
from graph_model.projection.projector.rules import RulesInForce
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.stores.protocols import Catalogue, DocumentState, StoredDocument

log = logging.getLogger(__name__)

#: Changes with every command, so that every process learns of it.
COMMANDS_KEY: Final = "orders"
_PROJECTED: Final = frozenset({DocumentState.PROJECTED, DocumentState.WAITING})


class CommandsInForce:
    """The commands that the catalogue in force holds, as they were when ``load`` was called last.

    Some may be in force before their turn: of the waiting commands those up to the position
    ``last_early``.
    """

    def __init__(self, stores: ProjectionStores, rules: RulesInForce) -> None:
        self._generations = stores.generations
        self._rules = rules
        self._effects = NO_EFFECTS
        self._any_forgotten = False
        self._epoch: str | None = None
        self._catalogue: Catalogue | None = None
        self.forget()

    def forget(self) -> None:
        """Forget which commands are in force: they are to be read again."""
        self._loaded = False
        self.forget_early()

    def forget_early(self) -> None:
        """Forget which commands are in force before their turn."""
        #: The position in the journal of each of them, by content hash.
        self._early: dict[str, int] = {}
        self._refused: set[str] = set()
        self.last_early = 0

    def are_of(self, epoch: str | None) -> bool:
        """Whether these are the commands of this epoch of the journal, and of the catalogue."""
        return self.is_loaded and epoch == self._epoch

    @property
    def is_loaded(self) -> bool:
        """Whether the commands of the catalogue in force are known."""
        return self._loaded and self._catalogue == self._generations.current

    def load(self, epoch: str | None) -> None:
        """Read the commands in force; forget the remembered documents that one may cover."""
        catalogue = self._generations.current
        kinds = (CommandKind.PRUNE, CommandKind.RETRACT)
        self._effects = collect_effects(
            chain.from_iterable(recorded_commands(catalogue, kind) for kind in kinds)
        )
        self._any_forgotten = bool(catalogue.commands_after(CommandKind.FORGET.value, None, 1))
        self._stand(epoch)

    def add(self, commands: Sequence[Command], epoch: str) -> None:
        """As ``load``, where only these commands have come since: no other command is read again,
        however many there are.
        """
        self._effects = collect_effects(commands, self._effects)
        self._any_forgotten |= any(isinstance(one.instruction, Forget) for one in commands)
        self._stand(epoch)

    def _stand(self, epoch: str | None) -> None:
        self._rules.translation.forget()
        self._epoch, self._catalogue, self._loaded = epoch, self._generations.current, True

    # before their turn

    def record(self, documents: Iterable[StoredDocument]) -> list[Command]:
        """Record the rows of these waiting commands. Returns those that are in force now; one that
        cannot be read is set aside in its turn.
        """
        found = []
        for document in documents:
            try:
                command = read_command(json.loads(document.body))
                rows = translate_command(command, document.content_hash).rows
            except (HeadwaterError, ValueError):
                continue
            if self._takes(document, rows):
                found.append(command)
        return found

    def _takes(self, document: StoredDocument, rows: Sequence[Row]) -> bool:
        try:
            self._generations.current.record(rows)
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("the command in document %d waits for its turn", document.position)
            self._refused.add(document.content_hash)
            return False
        return True

    def note_early(self, documents: Iterable[StoredDocument], last: int) -> None:
        """Note that the waiting commands up to the position ``last``, of which these are the
        newest, are recorded and announced before their turn.
        """
        for document in documents:
            if document.content_hash not in self._refused:
                self._early[document.content_hash] = document.position
        self.last_early = last

    @property
    def early(self) -> Mapping[str, int]:
        """The commands in force before their turn: content hash -> position."""
        return self._early

    @property
    def is_incomplete(self) -> bool:
        """Whether a waiting command could not be put in force."""
        return bool(self._refused)

    def end_turn(self, content_hash: str) -> None:
        """Note that this command waits no longer: it is carried out, or set aside."""
        self._early.pop(content_hash, None)
        self._refused.discard(content_hash)

    # their effect

    def among(self, documents: Iterable[StoredDocument]) -> CommandEffects:
        """The commands in force, as far as these documents are concerned."""
        return self._with(self._forgotten(documents))

    def _with(self, forgotten: Mapping[str, Collection[str]]) -> CommandEffects:
        return replace(self._effects, forgotten=frozenset(forgotten))

    def _forgotten(self, documents: Iterable[StoredDocument]) -> Mapping[str, frozenset[str]]:
        """The forgotten content hashes among these documents, with the commands that name each."""
        if not self._any_forgotten:
            return {}
        hashes = {document.content_hash for document in documents}
        return self._generations.current.forgotten(hashes)

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
        forgotten = self._forgotten(documents)
        before = self._forgotten_before(forgotten)
        asked = before.union(one.union(no_more) for one in before)
        former = [
            self._rules.translation.project_all(documents, CommandEffects(forgotten=one)).facts
            for one in _without_known(asked, documents)
        ]
        # last, for a translator remembers its last result: a plan that is hidden => none
        revised = self._rules.translation.project_all(documents, self._with(forgotten))
        return replace(revised, former=merge((revised.former or Facts(), *former)))

    def _forgotten_before(self, forgotten: Mapping[str, frozenset[str]]) -> set[frozenset[str]]:
        """The sets of these documents that may have been forgotten when a round was interrupted:
        none, or those of the commands carried out, or with them those of the first waiting ones.
        Any other command adds or hides a subject as a whole.

            carried out: {a}; waiting, in this order: {b}, {c}; of a subject with {a, b, c}
            => {}, {a}, {a, b} or {a, b, c}
        """
        since = {
            content_hash: min(self._early.get(command, 0) for command in commands)
            for content_hash, commands in forgotten.items()
        }
        found = {frozenset[str]()}
        for last in {0, *since.values()}:
            found.add(frozenset(one for one, position in since.items() if position <= last))
        return found


def _without_known(
    forgotten: Collection[frozenset[str]], documents: Sequence[StoredDocument]
) -> Iterator[frozenset[str]]:
    """The sets under which the former facts of these documents are still to be translated.

    Where all are forgotten nothing is left. Where none is, and all are projected, the revision
    itself tells the former facts.
    """
    hashes = {one.content_hash for one in documents}
    are_projected = all(one.state in _PROJECTED for one in documents)
    for some in forgotten:
        if not (hashes <= some or (are_projected and not some)):
            yield some
