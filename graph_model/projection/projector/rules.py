"""What a projector works on and by: its stores, the naming rules and the commands in force.

The rules in force hold for projected and for new documents, until a rebuild under the wanted rules
is complete (``rebuild_control``). The rows of a command may be recorded before its turn
(``put_in_force``): from then on its documents are not shown, and they are removed when the command
is carried out (``commands``).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from graph_model import identity
from graph_model.errors import HeadwaterError
from graph_model.facts import Facts, merge
from graph_model.naming import Rules
from graph_model.naming.rules_json import read_rules
from graph_model.producers.commands import (
    RULES_PREFIX,
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
from graph_model.producers.projections import Projection, damage_of
from graph_model.producers.registry import Producers, Translation, projection_epoch
from graph_model.projection.attempts import Outline
from graph_model.projection.fullness import Fullness
from graph_model.stores.catalogue import Generations
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal


@dataclass(frozen=True, slots=True)
class ProjectionStores:
    """``fullness`` is that of an in-memory graph."""

    journal: Journal
    graph: Graph
    generations: Generations
    producers: Producers
    fullness: Fullness

    def outline(self, subject_keys: Collection[str], most: int | None = None) -> Outline:
        """Per subject the documents that its additions build on, and its new documents: at most
        ``most`` of these.
        """
        return (
            self.journal.outline(subject_keys, self.producers.bases, most) if subject_keys else {}
        )


# --------------------------------------------------------------------------------------------------

# The naming rules in force: those of the newest rules command in the journal.
#
# They come from the journal: the catalogue cannot be filled before they are known. The journal
# remembers the epoch of the rules under which the present projection was made. Until a rebuild has
# replaced that projection, those rules stay in force for every answer and every new document, and
# the newest are *wanted*.

_PAGE: Final = 100

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A rules command of the journal, with the rules that it puts in force."""

    id: str
    at: int
    author: str
    note: str
    rules: Rules
    default: bool


def list_rule_sets(journal: Journal, defaults: Rules) -> tuple[RuleSet, ...]:
    """Every rules command, oldest first by (time, id); unreadable ones are left out."""
    sets = [
        RuleSet(content_hash, command.at, command.author, command.note, *rules)
        for content_hash, command in _commands(journal)
        if (rules := _rules_of(command, defaults)) is not None
    ]
    return tuple(sorted(sets, key=lambda rule_set: (rule_set.at, rule_set.id)))


def wanted_rules(journal: Journal, defaults: Rules) -> Rules:
    """The rules of the newest command; the defaults when there is none."""
    sets = list_rule_sets(journal, defaults)
    return sets[-1].rules if sets else defaults


def rules_in_force(
    journal: Journal, defaults: Rules, epoch: str | None, epoch_of: Callable[[Rules], str]
) -> Rules:
    """The rules of the projection in force: those of its epoch, else the wanted ones."""
    sets = list_rule_sets(journal, defaults)
    wanted = sets[-1].rules if sets else defaults
    known = (wanted, defaults, *(rule_set.rules for rule_set in reversed(sets)))
    return next((rules for rules in known if epoch_of(rules) == epoch), wanted)


def _commands(journal: Journal) -> Iterator[tuple[str, Command]]:
    last = RULES_PREFIX
    while page := journal.subject_keys(last, _PAGE):
        for subject_key in page:
            if not subject_key.startswith(RULES_PREFIX):
                return
            for document in journal.documents_of(subject_key):
                if document.state == DocumentState.FAILED and not document.damage:
                    continue  # set aside: not in force, like any command that was set aside
                if document.damage:
                    log.warning(
                        "the naming rules in document %d are left out: %s",
                        *(document.position, damage_of(document)),
                    )
                    continue
                try:
                    yield document.content_hash, read_command(json.loads(document.body))
                except (HeadwaterError, ValueError):
                    continue
        last = page[-1]


def _rules_of(command: Command, defaults: Rules) -> tuple[Rules, bool] | None:
    if not isinstance(command.instruction, Statement):
        return None
    if command.instruction.value is None:
        return defaults, True
    try:
        return read_rules(json.loads(command.instruction.value)), False
    except HeadwaterError:
        return None


# --------------------------------------------------------------------------------------------------

#: The journal's setting for the epoch under which graph and catalogue were projected.
EPOCH_KEY: Final = "projection_epoch"
#: The epoch of a journal whose graph and catalogue are to be emptied first.
FROM_NOTHING: Final = "from nothing"


class RulesInForce:
    """``in_force`` are the rules in force, ``translation`` is under them; ``wanted`` are those of
    the newest rules command. Each has its epoch: ``epoch_in_force`` and ``epoch``.
    """

    def __init__(self, stores: ProjectionStores, defaults: Rules) -> None:
        self._journal = stores.journal
        self._version = stores.generations.version
        self.producers: Final = stores.producers
        self._defaults = defaults
        self.want(self.read_wanted())
        self.put_in_force(self.wanted)

    def read_wanted(self) -> Rules:
        """The rules of the newest command in the journal; the defaults when there is none."""
        return wanted_rules(self._journal, self._defaults)

    def read(self, epoch: str | None) -> None:
        """Read both sets of rules from the journal; its graph was projected under this epoch."""
        self.want(self.read_wanted())
        self.put_in_force(rules_in_force(self._journal, self._defaults, epoch, self._epoch_of))

    def want(self, rules: Rules) -> None:
        """Note that these rules are wanted."""
        self.wanted, self.epoch = rules, self._epoch_of(rules)

    def put_in_force(self, rules: Rules) -> None:
        """Note that these rules are in force."""
        self.in_force, self.epoch_in_force = rules, self._epoch_of(rules)
        self.translation = Translation(rules, self.producers)

    @property
    def settled(self) -> bool:
        """Whether the rules in force are the wanted ones."""
        return self.in_force == self.wanted

    def _epoch_of(self, rules: Rules) -> str:
        return identity.digest(projection_epoch(rules, self.producers), self._version)


# --------------------------------------------------------------------------------------------------

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
