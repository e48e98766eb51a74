"""Rows of the journal -> documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.journal.bodies import read_bodies
from graph_model.stores.journal.tables import bodies, documents
from graph_model.stores.protocols import DocumentState, StoredDocument

# The columns of a document. Outer joins: one whose body is missing is damaged, and
# must not vanish from its subject key.
described = (
    sa.select(
        documents.c.position,
        documents.c.kind,
        sa.func.coalesce(bodies.c.api_version, "").label("api_version"),
        documents.c.plan_id,
        documents.c.scope,
        documents.c.subject,
        documents.c.content_hash,
        documents.c.state,
        documents.c.reason,
        documents.c.received_at,
        sa.func.coalesce(bodies.c.size, 0).label("size"),
    )
).outerjoin_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
# Looked up sooner than an enumeration finds them, for every document of a round.
STATES: Final = {state.value: state for state in DocumentState}


def without_body(row: Any) -> StoredDocument:
    """The document of a row of ``described``."""
    return _stored(row, b"")


def with_bodies(connection: Connection, rows: Sequence[Any]) -> list[StoredDocument]:
    """The documents of these rows, each with its body or the damage of it."""
    found = read_bodies(connection, [row.position for row in rows])
    return [_stored(row, *found[row.position]) for row in rows]


def position_of(document: StoredDocument) -> int:
    """By which documents are sorted."""
    return document.position


def _stored(row: Any, body: bytes, damage: str = "") -> StoredDocument:
    # As ``described`` lists them; looked up by its name, each would cost as much as all of them.
    position, kind, api_version, subject_key, scope, subject, content_hash, state, *rest = row
    reason, received_at, size = rest[:3]
    return StoredDocument(
        position,
        kind,
        api_version,
        subject_key,
        scope,
        subject,
        content_hash,
        STATES.get(state, DocumentState.FAILED),  # of a damaged row: a rebuild sets it again
        reason,
        received_at,
        size,
        body,
        damage,
    )
