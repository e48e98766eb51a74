"""The producer of the toy format: a copy is told in the words of OpenLineage's run."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from graph_model import naming
from graph_model.errors import InvalidDocument
from graph_model.facts import ExecutionRow, Part, merge, whole
from graph_model.json_fields import JsonObject, read_object, read_text
from graph_model.naming import Rules
from graph_model.producers.client_spellings import SpelledRead, Spellings
from graph_model.producers.command_effects import NO_EFFECTS, CommandEffects
from graph_model.producers.declared.documents import name_dataset
from graph_model.producers.openlineage import RunEvent, read_event, read_run, subject_key
from graph_model.producers.producer import Reported
from graph_model.producers.projections import Projection, projection_of
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.producers.translation_result import PROJECTED, Outcome, earlier_sets
from graph_model.stores.protocols import DocumentKind, StoredDocument, Submission
from graph_model.stores.submissions import compact_json, make_submission
from spark_agent_config.masking import mask_secrets

COPY_KIND: Final = DocumentKind("copy")
VERSION: Final = "1"


class Copies:
    """See ``producer.Producer``."""

    kinds = (COPY_KIND,)
    additions: frozenset[DocumentKind] = frozenset()
    from_clients = True
    api_versions = (VERSION,)
    versions = ("copies 1",)
    announced: Mapping[str, DocumentKind] = {"Copy": COPY_KIND}
    openings = ('{"copy"',)
    spelled = frozenset({COPY_KIND})

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        is_copy = {"copy", "from", "to"} <= document.keys()
        return (Reported(COPY_KIND, VERSION, document),) if is_copy else ()

    def submission(self, reported: Reported) -> Submission:
        masked = mask_secrets(read_object(reported.document, ""))
        key = subject_key(read_event(event_of(masked, naming.DEFAULT_RULES)))
        return make_submission(COPY_KIND, VERSION, key, "", compact_json(masked))

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject:
        return event_of(json.loads(document.body), rules)

    def spellings(self, document: StoredDocument) -> Spellings:
        copy = json.loads(document.body)
        return Spellings({}, copy["copy"], copy["to"], (SpelledRead((copy["from"],)),))

    def translator(self, rules: Rules) -> CopyTranslator:
        return CopyTranslator(rules)


class CopyTranslator:
    """Translates copies, each alone."""

    additions = None

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def forget(self) -> None:
        """Nothing is remembered."""

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: CommandEffects
    ) -> Projection:
        outcome = self._translated(documents, orders)
        earlier = earlier_sets(documents, covered=outcome.covered)
        former = [part for some in earlier for part in self._translated(some, NO_EFFECTS).parts]
        return projection_of(outcome, merge(former) if former else None, documents)

    def _translated(self, documents: Sequence[StoredDocument], orders: CommandEffects) -> Outcome:
        outcome = Outcome()
        for one in documents:
            if one.content_hash in orders.forgotten:
                outcome.drop([one])
                continue
            try:
                parts = self._parts(one)
            except (InvalidDocument, ValueError) as error:
                outcome.set_aside([one], error)
                continue
            rows = [row for part in parts for row in whole(part).rows]
            runs = [row for row in rows if isinstance(row, ExecutionRow)]
            if all(map(orders.prunes, runs)):
                outcome.hide([one], dropped=all(map(orders.drops, runs)))
                continue
            outcome.parts += parts
            outcome.states[one.position] = PROJECTED
        return outcome

    def _parts(self, document: StoredDocument) -> tuple[Part, ...]:
        event = read_event(event_of(json.loads(document.body), self._rules))
        if not isinstance(event, RunEvent):
            raise TypeError("a copy is a run")
        return read_run([event], self._rules, document.scope).parts


def event_of(copy: Mapping[str, Any], rules: Rules) -> JsonObject:
    """Raises InvalidDocument."""
    source, target = (name_dataset(read_text(copy, end, ""), rules) for end in ("from", "to"))
    columns = copy.get("columns")
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        raise InvalidDocument("columns", "a list of names")
    schema = {"fields": [{"name": name} for name in columns]}
    fields = {name: {"inputFields": [{**source, "field": name}]} for name in columns}
    facets = {"schema": schema, "columnLineage": {"fields": fields}}
    return {
        "eventType": "COMPLETE",
        "eventTime": read_text(copy, "at", ""),
        "producer": "copies",
        "run": {"runId": read_text(copy, "run", "")},
        "job": {"namespace": "default", "name": read_text(copy, "copy", "")},
        "inputs": [{**source, "facets": {"schema": schema}}],
        "outputs": [{**target, "facets": facets}],
    }


FORMATS: Final = Producers((*PRODUCERS, Copies()))
