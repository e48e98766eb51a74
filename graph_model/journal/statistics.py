"""What operators ask of the journal: counts, the age of what waits, the size on disk."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.database import database_bytes
from graph_model.journal.tables import documents
from graph_model.store import DocumentKind, DocumentState, JournalStatistics


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
    found = {
        (DocumentKind(kind), DocumentState(state)): int(number)
        for kind, state, number in connection.execute(counted)
    }
    oldest_at = connection.execute(oldest).scalar()
    return JournalStatistics(found, oldest_at, database_bytes(connection))
