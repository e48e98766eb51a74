"""Declarations -> submissions to the journal."""

from __future__ import annotations

from typing import Any

from graph_model.errors import InvalidDocument
from graph_model.json_fields import read_object
from graph_model.producers.declared.documents import DECLARATION_KIND
from graph_model.producers.openlineage.events.declaration_facet import (
    DECLARATION_FACET,
    DeclarationFacet,
)
from graph_model.producers.openlineage.events.documents import JobEvent, read_event, subject_key
from graph_model.producers.openlineage.events.facets import value_of
from graph_model.producers.openlineage.submissions import SPECIFICATION
from graph_model.stores.protocols import Submission
from graph_model.stores.submissions import compact_json, make_submission
from spark_agent_config.masking import mask_secrets


def declaration_submission(document: Any, scope: str = "") -> Submission:
    """Validated and masked; raises InvalidDocument for an event without a declaration facet."""
    masked = read_object(mask_secrets(document), "")
    event = read_event(masked)
    if not isinstance(event, JobEvent) or not value_of(
        event.job.facets, DECLARATION_FACET, DeclarationFacet
    ):
        raise InvalidDocument(
            f"job.facets.{DECLARATION_FACET}", "author, note and time of the declaration"
        )
    body = compact_json(masked)
    return make_submission(DECLARATION_KIND, SPECIFICATION, subject_key(event), scope, body)
