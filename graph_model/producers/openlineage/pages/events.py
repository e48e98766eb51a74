"""The event that stands for a document of any format on pages."""

from __future__ import annotations

from collections.abc import Callable

from graph_model.errors import InvalidDocument
from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.openlineage.events.documents import Event, read_event
from graph_model.stores.protocols import StoredDocument

EventOf = Callable[[StoredDocument, Rules], JsonObject | None]
"""``registry.Producers.event``."""


def shown_event(document: StoredDocument, rules: Rules, event_of: EventOf) -> Event | None:
    """None for a document that has no event, or one that OpenLineage does not allow."""
    event = event_of(document, rules)
    try:
        return None if event is None else read_event(event)
    except InvalidDocument:
        return None
