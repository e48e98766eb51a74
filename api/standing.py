"""What people state of the graph, read once and kept until somebody states something else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from graph_model.governance.standing import KINDS, NOTHING, Governance, govern
from graph_model.lineage import Structure
from graph_model.naming import Rules, rules_digest
from graph_model.projector import ORDERS_KEY
from graph_model.store import Catalogue, Journal


@dataclass(frozen=True, slots=True)
class Kept:
    """What was read, and what questions have learnt, of one catalogue between two commands.

    ``epoch`` changes with every command; a rebuild brings another catalogue.
    """

    epoch: str | None
    catalogue: Catalogue
    rules: str
    governance: Governance
    structure: Structure = field(default_factory=Structure)


class Stated(Protocol):
    """Tells what people state of a graph."""

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> Kept: ...


@dataclass(slots=True)
class StatedAtOnce:
    """What is stated at one moment: for the length of a request that states nothing itself."""

    _stated: Stated
    _kept: Kept | None = field(default=None)

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> Kept:
        """What held when it was asked for first, of this catalogue."""
        if self._kept is None or self._kept.catalogue is not catalogue:
            self._kept = self._stated.read(journal, catalogue, rules)
        return self._kept


@dataclass(slots=True)
class Standing:
    """Safe from several threads: what is kept is replaced as a whole."""

    _kept: Kept | None = field(default=None)

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> Kept:
        """What holds now. The epoch is read first: what comes in between is read again."""
        epoch = journal.get_meta(ORDERS_KEY)
        kept = self._kept
        digest = rules_digest(rules)
        if kept and kept.catalogue is catalogue and (kept.epoch, kept.rules) == (epoch, digest):
            return kept
        governance = NOTHING
        if epoch is not None:
            governance = govern({kind: catalogue.commands(kind.value) for kind in KINDS}, rules)
        self._kept = Kept(epoch, catalogue, digest, governance)
        return self._kept
