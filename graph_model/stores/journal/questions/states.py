"""The states of documents, and the one projector."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Final

import sqlalchemy as sa

from graph_model.errors import JournalUnavailable, ProjectedElsewhere
from graph_model.stores.database import Lease, Lock, alone, chunks, write
from graph_model.stores.journal.arrivals import Conclusion
from graph_model.stores.journal.questions.connection import JournalConnection
from graph_model.stores.journal.questions.rows import STATES
from graph_model.stores.journal.tables import documents
from graph_model.stores.protocols import NO_SETTINGS, REOPENED, DocumentKind, DocumentState

_REOPEN_CHUNK: Final = 10_000
_reopened = sa.case((documents.c.state == DocumentState.PROJECTED.value, REOPENED))


class SqlJournalStates(JournalConnection):
    """See ``protocols.journal.JournalStates``."""

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """The reason replaces the one before; None removes it."""
        self.conclude([(positions, state, reason)])

    def reopen(
        self,
        *,
        states: Collection[DocumentState],
        subject: str | None = None,
        first: int = 1,
    ) -> int:
        """Other reasons are removed; those already PENDING do not count.

        Works through the journal in bounded transactions, so that documents are accepted
        meanwhile: one that is interrupted has reopened the older documents; run it again.
        """
        closed = sorted({state.value for state in states} - {DocumentState.PENDING.value})
        if not closed:
            return 0
        statement = (
            documents.update()
            .where(documents.c.state.in_(closed), documents.c.position >= first)
            .values(state=DocumentState.PENDING.value, reason=_reopened)
        )
        if subject is not None:
            return self._update(statement.where(documents.c.subject == subject))
        return sum(
            self._update(statement.where(documents.c.position.between(low, high)))
            for low, high in self._ranges()
            if high >= first
        )

    def newest(self) -> int:
        asked = sa.select(sa.func.coalesce(sa.func.max(documents.c.position), 0))
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())

    def first_unprojected(self, besides: DocumentKind | None = None) -> int:
        columns = documents.c
        pending = sa.select(sa.func.min(columns.position)).where(
            columns.state == DocumentState.PENDING.value
        )
        if besides is not None:
            pending = pending.where(columns.kind != besides)
        asked = sa.select(
            sa.func.coalesce(
                pending.scalar_subquery(),
                sa.select(sa.func.max(columns.position) + 1).scalar_subquery(),
                1,
            )
        )
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())

    def projecting(self) -> AbstractContextManager[None]:
        return alone(self._engine, Lock.PROJECTION, JournalUnavailable, held=ProjectedElsewhere)

    def lease(self) -> Lease:
        return Lease(self._engine, Lock.LEASE, JournalUnavailable)

    def rebuild_lease(self) -> Lease:
        return Lease(self._engine, Lock.REBUILD, JournalUnavailable)

    def conclude(
        self,
        settlements: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int] = (),
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        """Durable on return."""
        if dropped or settings or any(positions for positions, _, _ in settlements):
            self._taking.run(Conclusion(tuple(settlements), tuple(dropped), settings))
        if dropped:
            self._removal.attempt()

    def states(self, positions: Collection[int]) -> dict[int, DocumentState]:
        """The states of the documents known among these."""
        columns = documents.c
        asked = sa.select(columns.position, columns.state)
        found: dict[int, DocumentState] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                for position, state in connection.execute(asked.where(columns.position.in_(chunk))):
                    found[position] = STATES.get(state, DocumentState.FAILED)
        return found

    def _update(self, statement: sa.Update) -> int:
        """Run one statement in a transaction; how many rows it changed."""
        return write(
            self._engine,
            lambda connection: connection.execute(statement).rowcount,
            JournalUnavailable,
        )

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """``(1, 10_000), (10_001, 20_000), …`` over the positions that exist now."""
        # Apart, each is a seek; together they are a walk.
        ends = (sa.func.min(documents.c.position), sa.func.max(documents.c.position))
        asked = sa.select(*(sa.select(end).scalar_subquery() for end in ends))
        with self._read() as connection:
            first, last = connection.execute(asked).one()
        if first is not None:
            for low in range(first, last + 1, _REOPEN_CHUNK):
                yield low, low + _REOPEN_CHUNK - 1
