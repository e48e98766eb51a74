"""What operators ask of the journal: counts, the age of what waits, the size on disk."""

from __future__ import annotations

from collections import Counter
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.database import database_bytes
from graph_model.journal.tables import documents
from graph_model.store import DocumentKind, DocumentState, JournalStatistics

_KINDS: Final = {kind.value: kind for kind in DocumentKind}
_STATES: Final = {state.value: state for state in DocumentState}
_DAMAGED: Final = DocumentState.FAILED
"""How a document counts whose row has a state that there is not."""


def read_statistics(connection: Connection) -> JournalStatistics:
    """One walk over an index for the counts; the rest costs nothing."""
    columns = documents.c
    counted = sa.select(columns.kind, columns.state, sa.func.count()).group_by(
        columns.kind, columns.state
    )
    oldest = (
        sa.select(columns.received_at)
        .where(columns.state == DocumentState.PENDING.value)
        .order_by(columns.position)
        .limit(1)
    )
    found: Counter[tuple[DocumentKind, DocumentState]] = Counter()
    for kind, state, number in connection.execute(counted):
        found[_KINDS.get(kind, DocumentKind.EVENT), _STATES.get(state, _DAMAGED)] += int(number)
    oldest_at = connection.execute(oldest).scalar()
    return JournalStatistics(dict(found), oldest_at, database_bytes(connection))
