"""Lists, counts and samples of the whole journal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from graph_model.stores.cursors import checked_limit, read_cursor, write_cursor
from graph_model.stores.database import count_rows, database_bytes
from graph_model.stores.journal.questions.connection import JournalConnection
from graph_model.stores.journal.questions.rows import described, without_body
from graph_model.stores.journal.statistics import (
    DocumentCounts,
    Sampled,
    read_backlog,
    read_sample,
    read_statistics,
)
from graph_model.stores.journal.tables import documents, receipts
from graph_model.stores.protocols import (
    Backlog,
    DocumentKind,
    DocumentState,
    JournalSize,
    JournalStatistics,
    JournalSummary,
    Page,
    Receipt,
    StoredDocument,
)

_CURSOR: Final = "entries"


class SqlJournalContents(JournalConnection):
    """See ``protocols.journal.JournalContents``."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(engine, clock)
        self._counts = DocumentCounts()

    def entries(
        self,
        *,
        state: DocumentState | None = None,
        kind: DocumentKind | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[StoredDocument]:
        chosen: list[sa.ColumnElement[bool]] = []
        if state is not None:
            chosen.append(documents.c.state == state.value)
        if kind is not None:
            chosen.append(documents.c.kind == kind)
        asked = described.where(*chosen).order_by(documents.c.position.desc())
        if cursor is not None:
            (before,) = read_cursor(cursor, _CURSOR, int)
            asked = asked.where(documents.c.position < before)
        with self._read() as connection:
            rows = connection.execute(asked.limit(checked_limit(limit) + 1)).all()
            total = count_rows(connection, documents, chosen)
        items = tuple(map(without_body, rows[:limit]))
        more = len(rows) > limit
        return Page(items, total, write_cursor(_CURSOR, items[-1].position) if more else None)

    def summary(self) -> JournalSummary:
        with self._read() as connection:
            counts: Counter[DocumentState] = Counter()
            for (_, state), number in self._counts.read(connection).items():
                counts[state] += number
        return JournalSummary(
            received=counts.total(),
            waiting=counts[DocumentState.WAITING],
            pending=counts[DocumentState.PENDING],
            projected=counts[DocumentState.PROJECTED],
            failed=counts[DocumentState.FAILED],
        )

    def backlog(self) -> Backlog:
        with self._read() as connection:
            return read_backlog(connection)

    def statistics(self) -> JournalStatistics:
        with self._read() as connection:
            return read_statistics(connection, self._counts)

    def size(self) -> JournalSize:
        """On SQLite the file holds the catalogue as well."""
        first, last = (
            sa.select(documents.c.received_at).order_by(order).limit(1).scalar_subquery()
            for order in (documents.c.position, documents.c.position.desc())
        )
        with self._read() as connection:
            stored = database_bytes(connection)
            oldest, newest = connection.execute(sa.select(first, last)).one()
        return JournalSize(stored, oldest, newest)

    def receipts(self, position: int) -> tuple[Receipt, ...]:
        """How a document came, every time, in order; () for an unknown position. The hash of the
        bytes is not kept with it: it is that of ``recall``.
        """
        columns = receipts.c
        asked = (
            sa.select(columns.received_at, columns.principal, columns.route, columns.raw_hash)
            .where(columns.position == position)
            .order_by(columns.id)
        )
        with self._read() as connection:
            return tuple(Receipt(*row) for row in connection.execute(asked))

    def sample(self, most: int) -> list[Sampled]:
        """Up to ``most`` documents, at equal distances from the first to the newest."""
        with self._read() as connection:
            return read_sample(connection, most)
