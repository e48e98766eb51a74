"""The producer of OpenLineage's events: all events of one subject key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.openlineage import OPENLINEAGE_VERSION
from graph_model.producers.openlineage import gathering as openlineage
from graph_model.producers.openlineage.events.documents import EVENT_KINDS, read_json
from graph_model.producers.openlineage.submissions import SPECIFICATION, event_submission, recognise
from graph_model.producers.producer import CommandEffects, Reported
from graph_model.producers.projections import Projection, projection_of
from graph_model.stores.documents import DocumentKind, StoredDocument, Submission


class OpenLineage:
    """A producer, see ``producer.Producer``. A run is a function of all its events."""

    kinds = EVENT_KINDS
    additions: frozenset[DocumentKind] = frozenset()
    from_clients = True
    api_versions = (SPECIFICATION,)
    versions = (OPENLINEAGE_VERSION,)
    announced: Mapping[str, DocumentKind] = {}
    openings = ('{"eventTime"', '{"eventType"')
    spelled: frozenset[DocumentKind] = frozenset()

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        return recognise(document)

    def submission(self, reported: Reported) -> Submission:
        return event_submission(reported.document)

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject:  # noqa: ARG002
        return read_json(document.body)

    def spellings(self, document: StoredDocument) -> None:
        """None: the preview of naming rules shows the names of plans."""

    def translator(self, rules: Rules, clock_tolerance: int) -> OpenLineageTranslator:
        return OpenLineageTranslator(rules, clock_tolerance)


class OpenLineageTranslator:
    """Translates the events of subject keys under one set of rules, all of a key together."""

    additions = None

    def __init__(self, rules: Rules, clock_tolerance: int) -> None:
        self._terms = openlineage.Terms(rules, clock_tolerance)
        self._ongoing = openlineage.OngoingRuns()

    def forget(self) -> None:
        """Keeps everything: cached facts depend on the rules alone."""

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],  # noqa: ARG002 - all events of a key are translated together
        effects: CommandEffects,
    ) -> Projection:
        outcome = openlineage.translate_events(documents, effects, self._terms)
        former = openlineage.former_facts(documents, outcome, effects, self._terms, self._ongoing)
        self._ongoing.keep(documents, outcome)
        return projection_of(outcome, former, documents)
