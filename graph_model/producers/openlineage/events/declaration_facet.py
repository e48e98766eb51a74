"""Headwater's own facet of a job: a person's name and reason make a JobEvent a declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model.errors import InvalidDocument
from graph_model.json_fields import JsonObject, optional_text, read_text
from graph_model.producers.times import read_nanoseconds

DECLARATION_FACET: Final = "headwater_declaration"
_MILLISECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class DeclarationFacet:
    """The author, the reason and the time (epoch ms) of a declaration; it holds from the event's
    time on.
    """

    id: str
    author: str
    note: str
    declared_at: int


def read_declaration_facet(body: JsonObject, path: str) -> DeclarationFacet:
    """Raises InvalidDocument naming the field."""
    declared = read_nanoseconds(read_text(body, "declaredAt", path))
    if declared is None:
        raise InvalidDocument(f"{path}.declaredAt", "an ISO 8601 time from 1970 to 9999")
    return DeclarationFacet(
        read_text(body, "id", path),
        read_text(body, "author", path),
        optional_text(body, "note", path),
        declared // _MILLISECOND,
    )
