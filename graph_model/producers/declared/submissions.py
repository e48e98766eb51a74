"""Declarations -> submissions to the journal."""

from __future__ import annotations

from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.json_fields import read_object
from graph_model.producers.declared.documents import DECLARATION_KIND, FACET, DeclarationFacet
from graph_model.producers.openlineage.events.documents import JobEvent, read_event, subject_key
from graph_model.producers.openlineage.events.facets import value_of
from graph_model.stores.protocols import Submission
from graph_model.stores.submissions import compact_json, make_submission
from spark_agent_config.masking import mask_secrets

SPECIFICATION: Final = "2"
"""The version of OpenLineage's core whose JobEvent a declaration is."""


def declaration_submission(document: Any, scope: str = "") -> Submission:
    """Validated and masked; raises InvalidDocument for an event without a declaration facet."""
    masked = read_object(mask_secrets(document), "")
    event = read_event(masked)
    if not isinstance(event, JobEvent) or not value_of(event.job.facets, FACET, DeclarationFacet):
        raise InvalidDocument(f"job.facets.{FACET}", "author, note and time of the declaration")
    body = compact_json(masked)
    return make_submission(DECLARATION_KIND, SPECIFICATION, subject_key(event), scope, body)
