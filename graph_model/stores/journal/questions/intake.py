"""Documents into the journal, durable on return."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import noted_damage, reserve_of, write
from graph_model.stores.journal.arrivals import Packed, Repeat, forget_hashes, packed, record
from graph_model.stores.journal.intake_check import IntakeCheck, WriteTrial
from graph_model.stores.journal.large_bodies import RemovedMeanwhile, put_aside, remove_marked
from graph_model.stores.journal.questions.rows import described, without_body
from graph_model.stores.journal.questions.settings import SqlJournalSettings
from graph_model.stores.journal.tables import documents, raw
from graph_model.stores.protocols import (
    DocumentKind,
    Receipt,
    StoredDocument,
    Submission,
)

_ROOM: Final = "room"  # where an attempt writes
_MOST_PUTS: Final = 10

_RECALLED: Final = (
    described.join(raw, raw.c.position == documents.c.position)
    .where(raw.c.raw_hash == sa.bindparam("asked_hash"), raw.c.scope == sa.bindparam("asked_scope"))
    .order_by(raw.c.ordinal)
)


class SqlJournalIntake(SqlJournalSettings):
    """See ``protocols.journal.JournalIntake``."""

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
        """A document given twice in one call has one position.

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
        """Large bodies first; anew when others were removed before the transaction."""
        hashes = [submission.content_hash for submission in request.submissions]
        for _ in range(_MOST_PUTS):
            stored, removals = put_aside(self._engine, hashes, request.bodies)
            with suppress(RemovedMeanwhile):
                return self._take(replace(request, bodies=stored, removals=removals))
            remove_marked(self._engine)
        raise JournalUnavailable("large bodies are being removed")

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
        if (met := noted_damage(self._engine)) is not None:
            raise JournalUnavailable(met)
        self._intake_check.check()

    def hold(self, reason: str | None) -> None:
        self._intake_check.held = reason

    def _attempt(self, attempt: WriteTrial) -> None:
        """The writes of a document: its pages read and changed, and room written durably."""
        with suppress(_Undone):
            write(self._engine, partial(_rehearse, attempt.request), JournalUnavailable)
        self.set_meta(_ROOM, token_hex(attempt.size // 2))
        self.set_meta(_ROOM, "")  # a reader of all settings shall not read this

    def recall(self, raw_hash: str, scope: str) -> tuple[StoredDocument, ...]:
        asked = {"asked_hash": raw_hash, "asked_scope": scope}
        try:
            with self._read() as connection:
                return tuple(map(without_body, connection.execute(_RECALLED, asked)))
        except JournalUnavailable as error:
            self._intake_check.refused(Repeat(scope, Receipt(0, "", "", raw_hash)), error)
            raise

    def acknowledge(self, raw_hash: str, scope: str, receipt: Receipt) -> bool:
        """Durable on return."""
        self._intake_check.ensure_not_held()
        self._ensure_room(0)
        return bool(self._take(Repeat(scope, replace(receipt, raw_hash=raw_hash))))

    def forget_bytes(self, mark: str, most: int) -> int:
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
