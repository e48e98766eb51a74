"""The naming rules in force: those of the newest rules command in the journal.

They come from the journal: the catalogue cannot be filled before they are known. The journal
remembers the epoch of the rules under which the present projection was made. Until a rebuild has
replaced that projection, those rules stay in force for every answer and every new document, and the
newest are *wanted*.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.naming.rules_json import read_rules
from graph_model.producers.commands import RULES_PREFIX, Command, Statement, read_command
from graph_model.producers.projections import damage_of
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import Journal

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
    found = [
        RuleSet(content_hash, command.at, command.author, command.note, *rules)
        for content_hash, command in _commands(journal)
        if (rules := _rules_of(command, defaults)) is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.at, one.id)))


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
    known = (wanted, defaults, *(one.rules for one in reversed(sets)))
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
