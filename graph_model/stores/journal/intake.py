"""Documents into the journal, durable on return, and their states; whether it takes any now.

Whether it does tells the last document, or an attempt. A disk may be full while small values still
find room, and a file may be damaged in pages that only some documents touch. So a refusal counts
until a document passes, and the attempts meanwhile repeat the refused write.

The one projector is here too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from types import MappingProxyType
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import JournalUnavailable, ProjectedElsewhere
from graph_model.stores.database import (
    Lease,
    Lock,
    alone,
    chunks,
    noted_damage,
    reserve_of,
    write,
)
from graph_model.stores.documents import (
    REOPENED,
    DocumentKind,
    DocumentState,
    Receipt,
    StoredDocument,
    Submission,
)
from graph_model.stores.journal.arrivals import (
    Conclusion,
    JournalConnection,
    JournalSettings,
    Packed,
    Repeat,
    forget_hashes,
    packed,
    record,
)
from graph_model.stores.journal.stored_bodies import (
    NO_REMOVALS,
    RemovedMeanwhile,
    large_of,
    put_aside,
    put_marked,
    removals_held,
)
from graph_model.stores.journal.stored_documents import STATES, described, without_body
from graph_model.stores.journal.tables import documents, raw

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

    def reopen(self, *, states: Collection[DocumentState], first: int = 1) -> int:
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
        """The position before the first document that was received at this time (epoch ms) or
        later; the newest one's where there is none. After a clock was set back, documents behind
        it may have an earlier time: 10:00, 12:00, 09:30, asked for 11:00 => 1.
        """
        later = sa.select(sa.func.min(documents.c.position) - 1).where(
            documents.c.received_at >= at
        )
        newest = sa.select(sa.func.coalesce(sa.func.max(documents.c.position), 0))
        asked = sa.select(sa.func.coalesce(later.scalar_subquery(), newest.scalar_subquery()))
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


_ROOM: Final = "room"  # where an attempt writes

_RECALLED: Final = (
    described.join(raw, raw.c.position == documents.c.position)
    .where(raw.c.raw_hash == sa.bindparam("asked_hash"), raw.c.scope == sa.bindparam("asked_scope"))
    .order_by(raw.c.ordinal)
)


class JournalIntake(JournalSettings):
    """Takes documents, and makes them durable before a client is answered."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(engine, clock)
        self._intake_check = IntakeCheck(self._attempt)

    def accept(
        self,
        submissions: Sequence[Submission],
        receipt: Receipt,
        *,
        remember: bool = True,
        makes_room: bool = False,
    ) -> tuple[int, ...]:
        """Make documents durable (fsync) in one transaction. Returns their positions, in order.

        With ``remember`` the bytes are recognised by ``recall`` when they come again.

        A document is its (content hash, scope): a repeat adds a receipt, stores no body again and
        keeps its state. A new plan or event starts as PENDING (the projector decides on WAITING).

        Raises DiskNearlyFull while the disk has only its reserve left. Documents with
        ``makes_room`` remove others: they are taken also then.

        A document given twice in one call has one position.

        Calls of several threads at one time share a transaction and its fsync (GroupCommit).

        The bytes (``receipt.raw_hash``) are remembered for ``recall`` only where all documents
        have one scope: bytes whose documents name their own scopes mean something else under
        another key. An empty ``raw_hash`` is not remembered.
        """
        if not submissions:
            return ()
        self._intake_check.ensure_not_held()
        request = packed(tuple(submissions), receipt, remember=remember)
        if not makes_room:
            self._ensure_room(_most_written(request))
        return self._accept(request)

    def _ensure_room(self, size: int) -> None:
        """Raises DiskNearlyFull. Not a refusal of the database: ``ensure_taking`` ignores it."""
        if (reserve := reserve_of(self._engine)) is not None:
            reserve.take(size)

    def _accept(self, request: Packed) -> tuple[int, ...]:
        """Large bodies first; anew when others were removed before the transaction, and then
        without any removal meanwhile: a request that meets one each time is taken, too.
        """
        hashes = [submission.content_hash for submission in request.submissions]
        stored, removals = put_aside(self._engine, hashes, request.bodies)
        with suppress(RemovedMeanwhile):
            return self._take(replace(request, bodies=stored, removals=removals))
        with removals_held(self._engine):
            stored = put_marked(large_of(self._engine), hashes, request.bodies)
            return self._take(replace(request, bodies=stored, removals=NO_REMOVALS))

    def _take(self, request: Packed | Repeat) -> tuple[int, ...]:
        """Durable on return; requests of several threads share a transaction (GroupCommit)."""
        try:
            positions = self._taking.run(request)
        except JournalUnavailable as error:
            tried = replace(request, removals=None) if isinstance(request, Packed) else request
            self._intake_check.refused(tried, error)
            raise
        self._intake_check.passed()
        return positions

    def ensure_taking(self) -> None:
        """Raise JournalUnavailable while documents are refused: the last one was, or an attempt
        with the same writes. At most one attempt a second while they succeed. The reserve of a disk
        does not count: it is a refusal by choice, which ends by itself. Raises also once damage of
        the stored data was met, by any reader or writer: it stays until a backup is restored.
        """
        if (met := noted_damage(self._engine)) is not None:
            raise JournalUnavailable(met)
        self._intake_check.check()

    def hold(self, reason: str | None) -> None:
        """Refuse every document of this process with JournalUnavailable; None: no longer."""
        self._intake_check.held = reason

    def _attempt(self, attempt: WriteTrial) -> None:
        """The writes of a document: its pages read and changed, and room written durably."""
        with suppress(_Undone):
            write(self._engine, partial(_rehearse, attempt.request), JournalUnavailable)
        self.set_meta(_ROOM, token_hex(attempt.size // 2))
        self.set_meta(_ROOM, "")  # a reader of all settings shall not read this

    def recall(self, raw_hash: str, scope: str) -> tuple[StoredDocument, ...]:
        """The documents of these very bytes, if they came before (without bodies), or ()."""
        asked = {"asked_hash": raw_hash, "asked_scope": scope}
        try:
            with self._read() as connection:
                return tuple(map(without_body, connection.execute(_RECALLED, asked)))
        except JournalUnavailable as error:
            self._intake_check.refused(Repeat(scope, Receipt(0, "", "", raw_hash)), error)
            raise

    def acknowledge(self, raw_hash: str, scope: str, receipt: Receipt) -> bool:
        """Add receipts for bytes that ``recall`` knows; False when it does not know them. Raises
        DiskNearlyFull as ``accept`` does.

        Durable on return.
        """
        self._intake_check.ensure_not_held()
        self._ensure_room(0)
        return bool(self._take(Repeat(scope, replace(receipt, raw_hash=raw_hash))))

    def forget_bytes(self, mark: str, most: int) -> int:
        """Forget up to ``most`` hashes of bytes that do not begin with the mark: those of processes
        that have ended. How many were found; documents and receipts stay.
        """
        forget = partial(forget_hashes, mark=mark, most=most)
        return int(write(self._engine, forget, JournalUnavailable))


def _most_written(request: Packed) -> int:
    """The bytes that a request may take on the disk: its bodies in the write-ahead log and then in
    the file, too, and the rows of the projection, which nothing compresses.
    """
    stored = sum(map(len, request.bodies))
    return 2 * stored + sum(len(submission.body) for submission in request.submissions)


# --- a document without a trace ------------------------------------------------------------------


class _Undone(Exception):
    """Ends a rehearsal: nothing of it stays."""


def _rehearse(request: Packed | Repeat | None, connection: Connection) -> None:
    """Write a request, or a small document that nobody sent, and take it back."""
    if isinstance(request, Repeat):
        asked = {"asked_hash": request.receipt.raw_hash, "asked_scope": request.scope}
        connection.execute(_RECALLED, asked).all()
    record(connection, [request or _nobodys_document()])
    raise _Undone


def _nobodys_document() -> Packed:
    name = token_hex(16)
    submission = Submission(DocumentKind("trial"), "", name, "", name, name, b"{}")
    return packed((submission,), Receipt(0, "", "", name))


_FRESH_SECONDS: Final = 1.0
_LEAST_BYTES: Final = 32 << 10
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class WriteTrial:
    """The content of an attempt: the refused request (None if it is too large to be kept, or none
    was refused), and this number of bytes of room.
    """

    request: Packed | Repeat | None = None
    size: int = _LEAST_BYTES


def attempt_at(request: Packed | Repeat) -> WriteTrial:
    """A request once more; of a very large one the room alone, up to a bound."""
    size = sum(map(len, request.bodies)) if isinstance(request, Packed) else 0
    kept = request if size <= _MOST_BYTES else None
    return WriteTrial(kept, min(max(size, _LEAST_BYTES), _MOST_BYTES))


class IntakeCheck:
    """Safe from several threads. ``attempt`` raises JournalUnavailable; ``seconds`` never go back.

    At most one attempt at a time, and one a second while they succeed. ``held`` is a reason to
    refuse every document; None while there is none.
    """

    def __init__(
        self, attempt: Callable[[WriteTrial], None], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._attempt = attempt
        self._seconds = seconds
        self._trying = threading.Lock()
        self._tried_at = float("-inf")
        self._refused: tuple[WriteTrial, JournalUnavailable] | None = None
        self.held: str | None = None

    def ensure_not_held(self) -> None:
        """Raises JournalUnavailable."""
        if self.held is not None:
            raise JournalUnavailable(self.held)

    def passed(self) -> None:
        """A document was made durable."""
        self._refused = None

    def refused(self, request: Packed | Repeat, error: JournalUnavailable) -> None:
        """A document was not made durable, because of this error."""
        self._refused = attempt_at(request), error

    def check(self) -> None:
        """Raises JournalUnavailable while documents are refused, as far as that is known."""
        self.ensure_not_held()
        fresh = self._seconds() - self._tried_at < _FRESH_SECONDS
        if (self._refused or not fresh) and self._trying.acquire(blocking=False):
            try:
                self._try()
            finally:
                self._trying.release()
        if (refused := self._refused) is not None:
            raise JournalUnavailable(refused[1].reason)

    def _try(self) -> None:
        refused = self._refused  # read once: another thread's document may pass meanwhile
        attempt = refused[0] if refused else WriteTrial()
        try:
            self._attempt(attempt)
        except JournalUnavailable as error:
            self._refused = attempt, error
        else:
            self._tried_at = self._seconds()
            self.passed()
