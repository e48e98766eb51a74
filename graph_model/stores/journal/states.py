"""The states of documents, the one projector, and the values that a journal keeps by their keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Final

import sqlalchemy as sa

from graph_model.errors import JournalUnavailable, ProjectedElsewhere
from graph_model.stores.database import Lease, Lock, PreparedStatement, alone, chunks, write
from graph_model.stores.documents import REOPENED, DocumentKind, DocumentState
from graph_model.stores.journal.arrivals import (
    Conclusion,
    JournalConnection,
    replace_value,
    set_value,
)
from graph_model.stores.journal.documents import STATES
from graph_model.stores.journal.tables import documents, meta

_REOPEN_CHUNK: Final = 10_000
_reopened = sa.case((documents.c.state == DocumentState.PROJECTED.value, REOPENED))
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


class JournalStates(JournalConnection):
    """The states of documents, and the positions that the projector has come to."""

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """Set the state of documents.

        The reason replaces the one before; None removes it.
        """
        self.conclude([(positions, state, reason)])

    def reopen(
        self,
        *,
        states: Collection[DocumentState],
        subject: str | None = None,
        first: int = 1,
    ) -> int:
        """Set documents in these states back to PENDING (replay, rebuild). Returns how many.

        With ``first`` only documents at this position or after it. Documents that were PROJECTED
        get the reason REOPENED, because their facts may still exist.

        Other reasons are removed; those already PENDING do not count.

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
        """The position of the newest document; 0 before the first."""
        asked = sa.select(sa.func.coalesce(sa.func.max(documents.c.position), 0))
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())

    def last_before(self, at: int) -> int:
        """The position of the newest document that was first received before this time (epoch ms);
        0 for none.
        """
        asked = sa.select(sa.func.coalesce(sa.func.max(documents.c.position), 0)).where(
            documents.c.received_at < at
        )
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())

    def first_unprojected(self, besides: DocumentKind | None = None) -> int:
        """The position before which nothing is PENDING: that of the oldest such document, else
        the one that the next new document may get. Documents of the kind ``besides`` do not count.
        """
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
        """Held during a projection: one projector at a time, in all processes.

        Otherwise one projector could withdraw a fact that another is about to support. Blocks for a
        bounded time while another holds it (ProjectedElsewhere); a process that dies releases it.
        """
        return alone(self._engine, Lock.PROJECTION, JournalUnavailable, held=ProjectedElsewhere)

    def lease(self) -> Lease:
        """A lease that is not taken yet."""
        return Lease(self._engine, Lock.LEASE, JournalUnavailable)

    def forward_lease(self) -> Lease:
        """The same for the one process that sends documents on to other backends."""
        return Lease(self._engine, Lock.FORWARD, JournalUnavailable)

    def rebuild_lease(self) -> Lease:
        """The same for the one process that rebuilds: no other one projects meanwhile."""
        return Lease(self._engine, Lock.REBUILD, JournalUnavailable)

    def conclude(
        self,
        settlements: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int] = (),
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        """Set the states of documents; remove the dropped ones for good, with their receipts and
        with bodies that no other document has; set ``settings`` as ``set_meta`` does. All of it is
        one transaction; without any change there is none.

        Durable on return.
        """
        if dropped or settings or any(positions for positions, _, _ in settlements):
            self._taking.run(Conclusion(tuple(settlements), tuple(dropped), settings))
        if dropped:
            self._removal.attempt()

    def states(self, positions: Collection[int]) -> dict[int, DocumentState]:
        """The states of the documents known among these."""
        columns = documents.c
        asked = sa.select(columns.position, columns.state)
        states: dict[int, DocumentState] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                for position, state in connection.execute(asked.where(columns.position.in_(chunk))):
                    states[position] = STATES.get(state, DocumentState.FAILED)
        return states

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


_META: Final = PreparedStatement(
    sa.select(meta.c.value).where(meta.c.key == sa.bindparam("asked", required=True))
)
_EVERY_META: Final = sa.select(meta.c.key, meta.c.value)


class JournalSettings(JournalConnection):
    """Small durable settings: epochs, the last round."""

    def get_every_meta(self) -> dict[str, str]:
        """All settings that ``set_meta`` keeps, at one moment."""
        with self._read() as connection:
            return {row.key: row.value for row in connection.execute(_EVERY_META)}

    def get_meta(self, key: str) -> str | None:
        """A small durable setting (projection epoch, graph epoch)."""
        with self._read() as connection:
            rows = _META.rows(connection, {"asked": key})
        return str(rows[0][0]) if rows else None

    def set_meta(self, key: str, value: str) -> None:
        """Durable on return."""
        write(self._engine, lambda c: set_value(c, key, value), JournalUnavailable)

    def replace_meta(self, key: str, former: str | None, value: str) -> bool:
        """``set_meta`` where the value is still ``former`` (None: there is none); whether it was:
        of several processes that have read one value, one replaces it.

        Durable on return.
        """
        return write(
            self._engine, lambda c: replace_value(c, key, former, value), JournalUnavailable
        )
