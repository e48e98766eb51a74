"""OpenLineage's events: all that came under one subject key."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph_model.commands import Orders
from graph_model.naming import Rules
from graph_model.openlineage import OPENLINEAGE_VERSION
from graph_model.projection import openlineage
from graph_model.projection.projections import Projection, projection_of
from graph_model.store import DocumentKind, StoredDocument


class OpenLineage:
    """A producer, see ``producer.Producer``. A run is a function of all its events."""

    kinds = frozenset({DocumentKind.RUN_EVENT, DocumentKind.JOB_EVENT, DocumentKind.DATASET_EVENT})
    additions: frozenset[DocumentKind] = frozenset()
    versions = (OPENLINEAGE_VERSION,)

    def translator(self, rules: Rules) -> OpenLineageTranslator:
        """See ``producer.Producer``."""
        return OpenLineageTranslator(rules)


class OpenLineageTranslator:
    """Translates the events of subject keys under one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._said = openlineage.Said()

    def forget(self) -> None:
        """Nothing: what events said under these rules stays true."""

    def knows(self, document: StoredDocument) -> bool:  # noqa: ARG002 - the protocol's
        """Never: the body of each event is read."""
        return False

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],  # noqa: ARG002 - all events of a key are translated together
        orders: Orders,
    ) -> Projection:
        """See ``producer.Translator``."""
        outcome = openlineage.translate_events(documents, orders, self._rules)
        former = openlineage.former_facts(
            documents, orders, self._rules, self._said, covered=outcome.covered
        )
        self._said.keep(documents, outcome)
        return projection_of(outcome, former, documents)
