"""The naming rules in force, and those for the next rebuild (*wanted*).

The rules in force hold for projected and for new documents, until a rebuild under the wanted rules
is complete (``projection.recorded_rules``, ``rebuild_control``).
"""

from __future__ import annotations

from typing import Final

from graph_model import identity
from graph_model.naming import Rules
from graph_model.producers.translation import Translation, projection_epoch
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.projection.recorded_rules import rules_in_force, wanted_rules

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
