"""The naming rules in force, and those for the next rebuild (*wanted*).

The rules in force hold for projected and for new documents, until a rebuild under the wanted rules
is complete (``rebuild_control``).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from graph_model import identity
from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.naming.rules_json import read_rules
from graph_model.producers.commands import RULES_PREFIX, Command, Statement, read_command
from graph_model.producers.projections import damage_of
from graph_model.producers.registry import Translation, projection_epoch
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import Journal

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
