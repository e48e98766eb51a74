"""Statements of people about the graph, kept in memory until one changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from graph_model.governance.statements import KINDS, NOTHING, Governance, govern
from graph_model.lineage import Structure
from graph_model.naming import Rules, rules_digest
from graph_model.projection.projector import COMMANDS_KEY
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.journal import Journal


@dataclass(frozen=True, slots=True)
class KeptGovernance:
    """The statements of one catalogue between two commands, and results derived from them.

    ``epoch`` changes with every command; a rebuild brings another catalogue.
    """

    epoch: str | None
    catalogue: Catalogue
    rules: str
    governance: Governance
    structure: Structure = field(default_factory=Structure)


class GovernanceSource(Protocol):
    """A source of the statements about a graph."""

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> KeptGovernance: ...


@dataclass(slots=True)
class GovernanceAtOnce:
    """The statements at one moment, for a request that adds no statement itself."""

    _stated: GovernanceSource
    _kept: KeptGovernance | None = field(default=None)

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> KeptGovernance:
        """The statements of this catalogue at the first call."""
        if self._kept is None or self._kept.catalogue is not catalogue:
            self._kept = self._stated.read(journal, catalogue, rules)
        return self._kept


@dataclass(slots=True)
class GovernanceCache:
    """For any thread: the kept value is replaced as a whole."""

    _kept: KeptGovernance | None = field(default=None)

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> KeptGovernance:
        """The statements now. The epoch is read first: a statement that comes in between changes
        it, and the next call reads all statements again.
        """
        epoch = journal.get_meta(COMMANDS_KEY)
        kept = self._kept
        digest = rules_digest(rules)
        if kept and kept.catalogue is catalogue and (kept.epoch, kept.rules) == (epoch, digest):
            return kept
        governance = NOTHING
        if epoch is not None:
            governance = govern({kind: catalogue.commands(kind.value) for kind in KINDS}, rules)
        self._kept = KeptGovernance(epoch, catalogue, digest, governance)
        return self._kept
