"""SqlJournal: the journal of ``graph_model.stores.protocols`` in a relational database."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import (
    ConfigurationError,
    DamagedDocument,
    JournalUnavailable,
    Unavailable,
)
from graph_model.storable_text import storable
from graph_model.stores.cursors import checked_limit, read_cursor, write_cursor
from graph_model.stores.database import (
    Lock,
    PreparedStatement,
    alone,
    among,
    chunks,
    database_bytes,
    insert_new,
    prepare,
    read,
    tells_damage,
    tidy,
    used_bytes,
    write,
)
from graph_model.stores.journal.arrivals import (
    Conclusion,
    GroupCommit,
    Packed,
    Repeat,
    Request,
    packed,
    record,
)
from graph_model.stores.journal.bodies import read_bodies
from graph_model.stores.journal.conclusion import set_value
from graph_model.stores.journal.integrity import Progress, find_problems
from graph_model.stores.journal.large_bodies import (
    PLACE_KEY,
    RemovedMeanwhile,
    check_place,
    large_of,
    put_aside,
    remove_condemned,
    require_none,
)
from graph_model.stores.journal.statistics import (
    Sampled,
    read_sample,
    read_statistics,
    share_received_before,
)
from graph_model.stores.journal.tables import (
    VERSION,
    VERSION_WITH_LARGE_BODIES,
    bodies,
    documents,
    meta,
    metadata,
    raw,
    receipts,
)
from graph_model.stores.journal.trial import Trial, WriteTrial
from graph_model.stores.journal.vocabulary import check_vocabularies
from graph_model.stores.protocols import (
    NO_SETTINGS,
    REOPENED,
    Body,
    DocumentKind,
    DocumentState,
    JournalSize,
    JournalStatistics,
    JournalSummary,
    Page,
    Receipt,
    StoredDocument,
    Submission,
)

log = logging.getLogger(__name__)

ID_KEY: Final = "journal_id"
"""Where a journal keeps its own id."""

_CURSOR: Final = "entries"
_ROOM: Final = "room"  # where an attempt writes
_REMEDY: Final = (
    "nothing was changed. The journal is what everything else is made from: keep the file, and"
    " restore the newest backup into another data folder (headwater restore FILE --data FOLDER)"
)
_REOPEN_CHUNK: Final = 10_000
_MOST_PUTS: Final = 10
_MOST_RECALLED: Final = 20_000
_FOLLOWING_POSITIONS: Final = 256

# Outer joins: a document whose body is missing is damaged, and must not vanish from its plan id.
_described = (
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

# Made once: to put these together anew takes longer than the database does.
_OUTLINED: Final = _described.where(among(documents.c.plan_id, "plan_ids"))
_OUTLINED_KINDS: Final = _described.where(
    among(documents.c.plan_id, "plan_ids"), among(documents.c.kind, "kinds")
)
# Spelled out: of a list whose length it does not know, SQLite prefers all that is pending.
_OUTLINED_NEW: Final = _described.where(
    documents.c.plan_id.in_(sa.bindparam("plan_ids", expanding=True)),
    documents.c.kind.not_in(sa.bindparam("kinds", expanding=True)),
    documents.c.state == DocumentState.PENDING.value,
)
_taken_as = _described.join(raw, raw.c.position == documents.c.position)
_RECALLED: Final = _taken_as.where(
    raw.c.raw_hash == sa.bindparam("asked_hash"), raw.c.scope == sa.bindparam("asked_scope")
).order_by(raw.c.ordinal)
_second = raw.alias()
_FOLLOWING: Final = (
    _taken_as.add_columns(raw.c.raw_hash, raw.c.scope.label("raw_scope"))
    .where(
        raw.c.position.between(sa.bindparam("first"), sa.bindparam("last")),
        raw.c.ordinal == 0,
        ~sa.exists().where(
            _second.c.raw_hash == raw.c.raw_hash,
            _second.c.scope == raw.c.scope,
            _second.c.ordinal == 1,
        ),
        documents.c.state == DocumentState.PROJECTED.value,
    )
    .limit(_FOLLOWING_POSITIONS)
)
_META: Final = PreparedStatement(
    sa.select(meta.c.value).where(meta.c.key == sa.bindparam("asked", required=True))
)
_EVERY_META: Final = sa.select(meta.c.key, meta.c.value)
_PENDING: Final = (
    sa.select(documents.c.position, documents.c.plan_id)
    .where(documents.c.state == DocumentState.PENDING.value)
    .order_by(documents.c.position)
    .limit(sa.bindparam("page"))
)
_PENDING_FIRST: Final = _PENDING.where(documents.c.kind == sa.bindparam("first"))
_PENDING_AFTER: Final = _PENDING.where(documents.c.position > sa.bindparam("last"))
_reopened = sa.case((documents.c.state == DocumentState.PROJECTED.value, REOPENED))


def read_meta(engine: Engine, key: str) -> str | None:
    """A value that the journal keeps, read beside a service of any version: it makes no table and
    records no version. None where there is none, or no journal.
    """
    with read(engine, JournalUnavailable) as connection:
        if not sa.inspect(connection).has_table(meta.name):
            return None
        found = connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar()
    return None if found is None else str(found)


def _prepare(engine: Engine) -> None:
    """Make the tables; only with large bodies elsewhere of the version that older ones refuse."""
    if large_of(engine) is not None:
        prepare(engine, "journal", VERSION_WITH_LARGE_BODIES, metadata)
        return
    try:
        prepare(engine, "journal", VERSION, metadata)
    except ConfigurationError:
        with suppress(JournalUnavailable):
            require_none(read_meta(engine, PLACE_KEY))
        raise


class SqlJournal:
    """The journal in the tables ``journal_*`` of an engine from ``open_database``.

    Several threads may share one; several processes may share the database. Every method may raise
    JournalUnavailable; the constructor raises ConfigurationError for a database that it cannot use.
    """

    def __init__(self, engine: Engine) -> None:
        check_vocabularies()
        try:
            _prepare(engine)
        except (ConfigurationError, Unavailable) as error:
            if tells_damage(error):
                raise ConfigurationError(f"{error}: {_REMEDY}") from error
            raise
        self._engine = engine
        self._id = self._given_id()
        place = check_place(engine, self.get_meta(PLACE_KEY), self._id)
        if place is not None:
            self.set_meta(PLACE_KEY, place)
        self._remove_condemned()
        self._taking: GroupCommit[Request, tuple[int, ...]] = GroupCommit(engine, record)
        self._trial = Trial(self._attempt)
        self._recalled: dict[tuple[str, str], tuple[StoredDocument, ...]] = {}
        self._looked_up = 0

    def _given_id(self) -> str:
        def work(connection: Connection) -> None:
            new = {"key": ID_KEY, "value": uuid.uuid4().hex}
            connection.execute(insert_new(connection, meta), new)

        known = self.get_meta(ID_KEY)
        if known is None:
            write(self._engine, work, JournalUnavailable)
        return known or self.get_meta(ID_KEY) or ""

    @property
    def id(self) -> str:
        """See ``protocols.Journal``."""
        return self._id

    # --- taking documents ------------------------------------------------------------------------

    def accept(
        self, submissions: Sequence[Submission], receipt: Receipt, *, remember: bool = True
    ) -> tuple[int, ...]:
        """See ``protocols.Journal``. A document given twice in one call has one position.

        Calls of several threads at one time share a transaction and its fsync (GroupCommit).

        The bytes (``receipt.raw_hash``) are remembered for ``recall`` only where all documents
        have one scope: bytes whose documents name their own scopes mean something else under
        another key. An empty ``raw_hash`` is not remembered.
        """
        if not submissions:
            return ()
        positions = self._accept(packed(tuple(submissions), receipt, remember=remember))
        for scope in {submission.scope for submission in submissions}:
            # They may mean something else from now on: a rule about secrets has changed.
            self._recalled.pop((receipt.raw_hash, scope), None)
        return positions

    def _accept(self, request: Packed) -> tuple[int, ...]:
        """Large bodies first; anew when others were removed before the transaction."""
        hashes = [submission.content_hash for submission in request.submissions]
        for _ in range(_MOST_PUTS):
            stored, removals = put_aside(self._engine, hashes, request.bodies)
            with suppress(RemovedMeanwhile):
                return self._take(replace(request, bodies=stored, removals=removals))
            remove_condemned(self._engine)
        raise JournalUnavailable("large bodies are being removed")

    def _take(self, request: Packed | Repeat) -> tuple[int, ...]:
        """Durable on return; requests of several threads share a transaction (GroupCommit)."""
        try:
            positions = self._taking.run(request)
        except JournalUnavailable as error:
            tried = replace(request, removals=None) if isinstance(request, Packed) else request
            self._trial.refused(tried, error)
            raise
        self._trial.passed()
        return positions

    def ensure_taking(self) -> None:
        """See ``protocols.Journal``."""
        self._trial.check()

    def _attempt(self, attempt: WriteTrial) -> None:
        """The writes of a document: its pages read and changed, and room written durably."""
        with suppress(_Undone):
            write(self._engine, partial(_rehearse, attempt.request), JournalUnavailable)
        self.set_meta(_ROOM, token_hex(attempt.size // 2))
        self.set_meta(_ROOM, "")  # what reads all settings shall not read this

    def recall(self, raw_hash: str, scope: str) -> tuple[StoredDocument, ...]:
        """See ``protocols.Journal``. A bounded number of projected documents is kept in memory."""
        known = self._recalled.get((raw_hash, scope))
        if known is not None:
            return known
        try:
            return self._look_up(raw_hash, scope)
        except JournalUnavailable as error:
            self._trial.refused(Repeat(scope, Receipt(0, "", "", raw_hash)), error)
            raise

    def _look_up(self, raw_hash: str, scope: str) -> tuple[StoredDocument, ...]:
        """Bytes repeat in the order in which they came first, so the following ones are looked up,
        too.
        """
        with self._read() as connection:
            asked = {"asked_hash": raw_hash, "asked_scope": scope}
            found = tuple(map(_without_body, connection.execute(_RECALLED, asked)))
            if not found or any(one.state != DocumentState.PROJECTED for one in found):
                return found
            first = found[0].position + 1
            near = {"first": first, "last": first + _FOLLOWING_POSITIONS}
            in_order = 0 < first - self._looked_up <= 2 * _FOLLOWING_POSITIONS
            self._looked_up = first
            rows = connection.execute(_FOLLOWING, near) if in_order else ()
            following = {(one.raw_hash, one.raw_scope): (_without_body(one),) for one in rows}
        if len(self._recalled) + len(following) >= _MOST_RECALLED:
            self._recalled.clear()
        self._recalled |= {**following, (raw_hash, scope): found}
        return found

    def acknowledge(self, raw_hash: str, scope: str, receipt: Receipt) -> bool:
        """See ``protocols.Journal``; durable on return."""
        known = bool(self._take(Repeat(scope, replace(receipt, raw_hash=raw_hash))))
        if not known:
            self._recalled.pop((raw_hash, scope), None)
        return known

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

    # --- projecting ------------------------------------------------------------------------------

    def plan(self, plan_id: str) -> tuple[StoredDocument, ...]:
        """See ``protocols.Journal``."""
        return self.plans((plan_id,)).get(plan_id, ())

    def plans(self, plan_ids: Collection[str]) -> dict[str, tuple[StoredDocument, ...]]:
        """See ``protocols.Journal``.

        Sorted here: asked for an order, a planner prefers an index that has it to the plan's own.
        """
        with self._read() as connection:
            rows = [
                row
                for chunk in chunks(sorted(set(plan_ids)))
                for row in connection.execute(_OUTLINED, {"plan_ids": chunk})
            ]
            return _by_plan_id(_with_bodies(connection, rows))

    def newest_documents(self, plan_id: str, scope: str, limit: int) -> tuple[StoredDocument, ...]:
        """See ``protocols.Journal``. Bodies are read of those alone."""
        asked = (
            sa.select(documents.c.position)
            .where(documents.c.plan_id == plan_id, documents.c.scope == scope)
            .order_by(documents.c.position.desc())
            .limit(checked_limit(limit))
        )
        with self._read() as connection:
            positions = connection.execute(asked).scalars().all()
        return self.documents(positions)

    def settled_positions(
        self,
        plan_id: str,
        kinds: Collection[DocumentKind],
        hashes: Collection[str] | None = None,
    ) -> tuple[int, ...]:
        """See ``protocols.Journal``. Sorted here, for the same reason as in ``plans``."""
        asked = sa.select(documents.c.position).where(
            documents.c.plan_id == plan_id,
            documents.c.kind.in_(sorted(kinds)),
            documents.c.state != DocumentState.PENDING.value,
        )
        parts = [asked]
        if hashes is not None:
            among = documents.c.content_hash
            parts = [asked.where(among.in_(chunk)) for chunk in chunks(sorted(set(hashes)))]
        with self._read() as connection:
            return tuple(sorted(at for part in parts for at in connection.execute(part).scalars()))

    def documents(self, positions: Collection[int]) -> tuple[StoredDocument, ...]:
        """See ``protocols.Journal``."""
        found: list[StoredDocument] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                rows = connection.execute(_described.where(documents.c.position.in_(chunk))).all()
                found += _with_bodies(connection, rows)
        return tuple(sorted(found, key=_position))

    def content_hashes(self, plan_id: str) -> tuple[str, ...]:
        """See ``protocols.Journal``."""
        asked = sa.select(documents.c.content_hash).where(documents.c.plan_id == plan_id)
        with self._read() as connection:
            return tuple(connection.execute(asked.order_by(documents.c.position)).scalars())

    def outline(
        self, plan_ids: Collection[str], kinds: Collection[DocumentKind]
    ) -> dict[str, tuple[StoredDocument, ...]]:
        """See ``protocols.Journal``."""
        asked = {"plan_ids": sorted(set(plan_ids)), "kinds": sorted(kinds)}
        with self._read() as connection:
            return _by_plan_id(
                _without_body(row)
                for part in (_OUTLINED_KINDS, _OUTLINED_NEW)
                for row in connection.execute(part, asked)
            )

    def bodies(self, positions: Collection[int]) -> dict[int, Body]:
        """See ``protocols.Journal``."""
        with self._read() as connection:
            return read_bodies(connection, positions)

    def pending(self, limit: int, first: DocumentKind) -> tuple[str, ...]:
        """See ``protocols.Journal``. The cost depends on the returned documents, not on those
        behind.
        """
        found: dict[str, None] = {}
        with self._read() as connection:
            for plan_id in _pending_plans(connection, first, max(limit, 100)):
                if len(found) >= limit:
                    break
                found.setdefault(plan_id)
        return tuple(found)

    def plan_ids(self, after: str, limit: int) -> tuple[str, ...]:
        """See ``protocols.Journal``."""
        asked = (
            sa.select(documents.c.plan_id)
            .where(documents.c.plan_id > after)
            .distinct()
            .order_by(documents.c.plan_id)
            .limit(checked_limit(limit))
        )
        with self._read() as connection:
            return tuple(connection.execute(asked).scalars())

    def plan_ids_of(self, subjects: Collection[str]) -> frozenset[str]:
        """See ``protocols.Journal``."""
        found: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(subjects))):
                asked = sa.select(documents.c.plan_id).where(documents.c.subject.in_(chunk))
                found.update(connection.execute(asked.distinct()).scalars())
        return frozenset(found)

    def count_plan_ids(self) -> int:
        """See ``protocols.Journal``."""
        asked = sa.select(sa.func.count(documents.c.plan_id.distinct()))
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """See ``protocols.Journal``. The reason replaces the one before; None removes it."""
        self.conclude([(positions, state, reason)])

    def reopen(
        self,
        *,
        states: Collection[DocumentState],
        subject: str | None = None,
        first: int = 1,
    ) -> int:
        """See ``protocols.Journal``. Other reasons are removed; those already PENDING do not count.

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
            for low, high in self._ranges(_REOPEN_CHUNK)
            if high >= first
        )

    def newest(self) -> int:
        """See ``protocols.Journal``."""
        asked = sa.select(sa.func.coalesce(sa.func.max(documents.c.position), 0))
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())

    def first_unprojected(self) -> int:
        """See ``protocols.Journal``."""
        columns = documents.c
        pending = sa.select(sa.func.min(columns.position)).where(
            columns.state == DocumentState.PENDING.value
        )
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
        """See ``protocols.Journal``."""
        return alone(self._engine, Lock.PROJECTION, JournalUnavailable)

    def conclude(
        self,
        settlements: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int] = (),
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        """See ``protocols.Journal``; durable on return."""
        if dropped or settings or any(positions for positions, _, _ in settlements):
            self._taking.run(Conclusion(tuple(settlements), tuple(dropped), settings))
        if dropped:
            self._remove_condemned()

    def states(self, positions: Collection[int]) -> dict[int, DocumentState]:
        """The states of the documents known among these."""
        columns = documents.c
        asked = sa.select(columns.position, columns.state)
        found: dict[int, DocumentState] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                for position, state in connection.execute(asked.where(columns.position.in_(chunk))):
                    found[position] = _STATES.get(state, DocumentState.FAILED)
        return found

    # --- reading ---------------------------------------------------------------------------------

    def document(self, position: int) -> StoredDocument | None:
        """See ``protocols.Journal``."""
        found = self.documents([position])
        if found and found[0].damage:
            raise DamagedDocument(position, found[0].damage)
        return found[0] if found else None

    def document_of(self, plan_id: str, content_hash: str) -> StoredDocument | None:
        """See ``protocols.Journal``."""
        asked = sa.select(documents.c.position, documents.c.plan_id).where(
            documents.c.content_hash == content_hash
        )
        with self._read() as connection:
            # Compared here: asked for both, a planner may walk all documents of the plan id.
            found = [at for at, key in connection.execute(asked) if key == storable(plan_id)]
        return self.document(min(found)) if found else None

    def entries(
        self,
        *,
        state: DocumentState | None = None,
        kind: DocumentKind | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[StoredDocument]:
        """See ``protocols.Journal``."""
        chosen: list[sa.ColumnElement[bool]] = []
        if state is not None:
            chosen.append(documents.c.state == state.value)
        if kind is not None:
            chosen.append(documents.c.kind == kind)
        asked = _described.where(*chosen).order_by(documents.c.position.desc())
        if cursor is not None:
            (before,) = read_cursor(cursor, _CURSOR, int)
            asked = asked.where(documents.c.position < before)
        counted = sa.select(sa.func.count()).select_from(documents).where(*chosen)
        with self._read() as connection:
            rows = connection.execute(asked.limit(checked_limit(limit) + 1)).all()
            total = connection.execute(counted).scalar_one()
        items = tuple(map(_without_body, rows[:limit]))
        more = len(rows) > limit
        return Page(items, total, write_cursor(_CURSOR, items[-1].position) if more else None)

    def summary(self) -> JournalSummary:
        """See ``protocols.Journal``."""
        asked = sa.select(documents.c.state, sa.func.count().label("number")).group_by(
            documents.c.state
        )
        with self._read() as connection:
            counts: dict[str, int] = {row.state: row.number for row in connection.execute(asked)}
        return JournalSummary(
            received=sum(counts.values()),
            waiting=counts.get(DocumentState.WAITING.value, 0),
            pending=counts.get(DocumentState.PENDING.value, 0),
            projected=counts.get(DocumentState.PROJECTED.value, 0),
            failed=sum(counts[one] for one in counts if one not in _STATES or one == _FAILED),
        )

    def _remove_condemned(self) -> None:
        try:
            remove_condemned(self._engine)
        except JournalUnavailable as error:
            log.warning("bodies of removed documents are still to be removed: %s", error)

    def tidy(self) -> bool:
        """One step of freeing the space of deleted rows; False when none is left."""
        self._remove_condemned()
        return tidy(self._engine, JournalUnavailable)

    def used_bytes(self) -> int:
        """The size of its tables; on SQLite that of its file, with the keys. Reads no rows."""
        with self._read() as connection:
            return used_bytes(connection, "journal%")

    def sample(self, most: int) -> list[Sampled]:
        """Up to ``most`` documents, at equal distances from the first to the newest."""
        with self._read() as connection:
            return read_sample(connection, most)

    def share_received_before(self, times: Sequence[int]) -> list[float]:
        """Per time (epoch ms) the share of documents that came before it."""
        with self._read() as connection:
            return share_received_before(connection, times)

    def statistics(self) -> JournalStatistics:
        """See ``protocols.Journal``."""
        with self._read() as connection:
            return read_statistics(connection)

    def size(self) -> JournalSize:
        """See ``protocols.Journal``; on SQLite the file holds the catalogue as well."""
        first, last = (
            sa.select(documents.c.received_at).order_by(order).limit(1).scalar_subquery()
            for order in (documents.c.position, documents.c.position.desc())
        )
        with self._read() as connection:
            stored = database_bytes(connection)
            oldest, newest = connection.execute(sa.select(first, last)).one()
        return JournalSize(stored, oldest, newest)

    # --- settings, checks, the end ---------------------------------------------------------------

    def get_every_meta(self) -> dict[str, str]:
        """See ``protocols.Journal``."""
        with self._read() as connection:
            return {row.key: row.value for row in connection.execute(_EVERY_META)}

    def get_meta(self, key: str) -> str | None:
        """See ``protocols.Journal``."""
        with self._read() as connection:
            found = _META.rows(connection, {"asked": key})
        return str(found[0][0]) if found else None

    def set_meta(self, key: str, value: str) -> None:
        """See ``protocols.Journal``; durable on return."""
        write(self._engine, lambda c: set_value(c, key, value), JournalUnavailable)

    def verify(self, progress: Progress = lambda _done, _total: None) -> tuple[str, ...]:
        """The defects of the journal, a sentence each; () when it is whole.

        Inflates every body, computes its hash again, and compares rows with each other. A damaged
        body is listed with its documents.
        """
        return tuple(find_problems(self._engine, progress))

    def close(self) -> None:
        """Give back the connections of the engine; safe to call twice."""
        self._engine.dispose()

    # --- parts -----------------------------------------------------------------------------------

    def _read(self) -> AbstractContextManager[Connection]:
        return read(self._engine, JournalUnavailable)

    def _update(self, statement: sa.Update) -> int:
        """Run one statement in a transaction; how many rows it changed."""
        return write(
            self._engine,
            lambda connection: connection.execute(statement).rowcount,
            JournalUnavailable,
        )

    def _ranges(self, size: int) -> Iterator[tuple[int, int]]:
        """``(1, size), (size + 1, 2 * size), …`` over the positions that exist now."""
        # Apart, each is a seek; together they are a walk.
        ends = (sa.func.min(documents.c.position), sa.func.max(documents.c.position))
        asked = sa.select(*(sa.select(end).scalar_subquery() for end in ends))
        with self._read() as connection:
            first, last = connection.execute(asked).one()
        if first is not None:
            for low in range(first, last + 1, size):
                yield low, low + size - 1


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


# --- rows out ------------------------------------------------------------------------------------


def _without_body(row: Any) -> StoredDocument:
    return _stored(row, b"")


def _with_bodies(connection: Connection, rows: Sequence[Any]) -> list[StoredDocument]:
    found = read_bodies(connection, [row.position for row in rows])
    return [_stored(row, *found[row.position]) for row in rows]


def _position(document: StoredDocument) -> int:
    return document.position


# Looked up sooner than an enumeration finds them, for every document of a round.
_STATES: Final = {state.value: state for state in DocumentState}
_FAILED: Final = DocumentState.FAILED.value


def _stored(row: Any, body: bytes, damage: str = "") -> StoredDocument:
    # As ``_described`` lists them; looked up by its name, each would cost as much as all of them.
    position, kind, api_version, plan_id, scope, subject, content_hash, state, *rest = row
    reason, received_at, size = rest[:3]
    return StoredDocument(
        position,
        kind,
        api_version,
        plan_id,
        scope,
        subject,
        content_hash,
        _STATES.get(state, DocumentState.FAILED),  # of a damaged row: a rebuild sets it again
        reason,
        received_at,
        size,
        body,
        damage,
    )


def _pending_plans(connection: Connection, first: DocumentKind, page: int) -> Iterator[str]:
    """The plan ids of the documents PENDING, by position; one comes once per document.

    Those of the kind ``first`` come before all others, as many as a page holds.
    """
    for row in connection.execute(_PENDING_FIRST, {"page": page, "first": first}):
        yield row.plan_id
    last = 0
    while True:
        rows = connection.execute(_PENDING_AFTER, {"page": page, "last": last}).all()
        yield from (row.plan_id for row in rows)
        if len(rows) < page:
            return
        last = rows[-1].position


def _by_plan_id(found: Iterable[StoredDocument]) -> dict[str, tuple[StoredDocument, ...]]:
    """Per plan id its documents, by position."""
    grouped: dict[str, list[StoredDocument]] = {}
    for document in found:
        grouped.setdefault(document.plan_id, []).append(document)
    return {
        plan_id: tuple(sorted(together, key=lambda one: one.position))
        for plan_id, together in grouped.items()
    }
