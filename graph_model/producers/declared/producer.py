"""Declarations: JobEvents that the service writes, under the subject key of their job.

They are translated as JobEvents; only their author distinguishes them. An event from outside cannot
claim one (``openlineage.submissions``), a journal's export can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.declared.documents import DECLARATION_KIND
from graph_model.producers.declared.submissions import declaration_submission
from graph_model.producers.openlineage.events.documents import read_json
from graph_model.producers.openlineage.producer import OpenLineageTranslator
from graph_model.producers.openlineage.submissions import SPECIFICATION
from graph_model.producers.producer import Reported
from graph_model.stores.protocols import DocumentKind, StoredDocument, Submission


class Declarations:
    """A producer, see ``producer.Producer``. Its facts depend on the version of OpenLineage's
    translator.
    """

    kinds = (DECLARATION_KIND,)
    additions: frozenset[DocumentKind] = frozenset()
    from_clients = False
    api_versions = (SPECIFICATION,)
    versions: tuple[object, ...] = ()
    announced: Mapping[str, DocumentKind] = {}
    openings: tuple[str, ...] = ()
    spelled: frozenset[DocumentKind] = frozenset()

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:  # noqa: ARG002
        """None: declarations come from people or from an export of a journal, never from a
        producer.
        """
        return ()

    def submission(self, reported: Reported) -> Submission:
        return declaration_submission(reported.document)

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject:  # noqa: ARG002
        return read_json(document.body)

    def spellings(self, document: StoredDocument) -> None:
        """None: the preview of naming rules shows the names of plans."""

    def translator(self, rules: Rules, clock_tolerance: int) -> OpenLineageTranslator:
        return OpenLineageTranslator(rules, clock_tolerance)
