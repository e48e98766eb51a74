"""The journal: its parts, its own id, how it is opened and checked; what is in it, counted."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, JournalUnavailable, Unavailable
from graph_model.stores.database import (
    count_rows,
    database_bytes,
    insert_new,
    prepare,
    read,
    reserve_of,
    tells_damage,
    tidy,
    used_bytes,
    write,
)
from graph_model.stores.documents import DocumentKind, DocumentState, Receipt, StoredDocument
from graph_model.stores.journal.arrivals import REMOVAL_KEY, JournalConnection
from graph_model.stores.journal.intake import JournalIntake, JournalStates
from graph_model.stores.journal.integrity import Progress, find_problems
from graph_model.stores.journal.stored_bodies import (
    PLACE_KEY,
    check_place,
    check_vocabularies,
    large_of,
    require_none,
)
from graph_model.stores.journal.stored_documents import JournalDocuments, described, without_body
from graph_model.stores.journal.tables import (
    VERSION,
    VERSION_WITH_LARGE_BODIES,
    bodies,
    documents,
    meta,
    metadata,
    receipts,
)
from graph_model.stores.pages import Page, checked_limit, read_cursor, write_cursor

_CURSOR: Final = "entries"


@dataclass(frozen=True, slots=True)
class JournalSummary:
    """Counts of distinct documents: ``received`` is the sum of the others."""

    received: int
    waiting: int
    pending: int
    projected: int
    failed: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """The pending documents: how many, and when the one with the lowest position first came (epoch
    ms; None without any).
    """

    documents: int
    oldest_at: int | None


@dataclass(frozen=True, slots=True)
class JournalStatistics:
    """For operators; ``database_bytes``: of the whole database."""

    documents: dict[tuple[DocumentKind, DocumentState], int]
    backlog: Backlog
    database_bytes: int


@dataclass(frozen=True, slots=True)
class JournalSize:
    """``stored_bytes`` on disk; ``oldest`` and ``newest`` receipt of a document, epoch ms."""

    stored_bytes: int
    oldest: int | None
    newest: int | None


class JournalContents(JournalConnection):
    """Lists and counts for operators."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(engine, clock)
        self._counts = DocumentCounts()

    def entries(
        self,
        *,
        state: DocumentState | None = None,
        kind: DocumentKind | None = None,
        besides: DocumentKind | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[StoredDocument]:
        """Newest first, without bodies; of one ``kind``, or all ``besides`` one."""
        chosen: list[sa.ColumnElement[bool]] = []
        if state is not None:
            chosen.append(documents.c.state == state.value)
        if kind is not None:
            chosen.append(documents.c.kind == kind)
        if besides is not None:
            chosen.append(documents.c.kind != besides)
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
        """Its cost grows with the pending documents alone: cheap enough for a probe."""
        with self._read() as connection:
            return read_backlog(connection)

    def statistics(self) -> JournalStatistics:
        with self._read() as connection:
            return read_statistics(connection, self._counts)

    def size(self) -> JournalSize:
        """A few seeks, whatever the size: cheap enough for every scrape of the metrics.

        On SQLite the file holds the catalogue as well.
        """
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


_STATES: Final = {state.value: state for state in DocumentState}
_PROJECTED: Final = DocumentState.PROJECTED.value
_DAMAGED: Final = DocumentState.FAILED
"""The name in counts for a document with an unknown state in its row."""


def read_statistics(connection: Connection, counts: DocumentCounts) -> JournalStatistics:
    return JournalStatistics(
        counts.read(connection), read_backlog(connection), database_bytes(connection)
    )


# --- documents by kind and state -----------------------------------------------------------------

_KIND, _STATE, _NUMBER = documents.c.kind, documents.c.state, sa.func.count()
_OTHERS: Final = sa.select(_KIND, _STATE, _NUMBER).group_by(_STATE, _KIND)  # as its index has them
_ENDS: Final = sa.select(
    sa.literal(""),
    sa.func.coalesce(
        sa.select(meta.c.value).where(meta.c.key == REMOVAL_KEY).scalar_subquery(), ""
    ),
    sa.func.coalesce(sa.select(sa.func.max(documents.c.position)).scalar_subquery(), 0),
)
_BESIDES: Final = (  # two ranges of that index: an inequality would walk over all of it
    _OTHERS.where(_STATE < _PROJECTED),
    _OTHERS.where(_STATE > _PROJECTED),
    _ENDS,
)
_ALL: Final = sa.union_all(
    sa.select(_KIND, sa.literal(_PROJECTED), _NUMBER).group_by(_KIND), *_BESIDES
)
_KIND_WITHOUT_INDEX: Final = _KIND.concat(sa.literal_column("''"))
"""Grouped by this, the index of kinds serves nothing: it would be walked over as a whole."""
_LATER: Final = sa.union_all(
    sa.select(_KIND_WITHOUT_INDEX, sa.literal(_PROJECTED), _NUMBER)
    .where(documents.c.position > sa.bindparam("since"))
    .group_by(_KIND_WITHOUT_INDEX),
    *_BESIDES,
)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Documents by kind, up to the ``newest`` position and after the ``removal`` with this mark;
    of them the unprojected ones by kind and state.
    """

    kinds: Mapping[str, int]
    others: Mapping[tuple[str, str], int]
    newest: int
    removal: str


_NOTHING: Final = _Counted({}, {}, 0, "")


class DocumentCounts:
    """Documents by kind and state. Any thread may read them.

    The first question, and the first after a removal, walks over the index of kinds. Others count
    the documents that came since the one before, and the few unprojected ones.
    """

    def __init__(self) -> None:
        self._last = _NOTHING

    def read(self, connection: Connection) -> dict[tuple[DocumentKind, DocumentState], int]:
        last = self._last
        counted = _count(connection, last)
        if last.newest and counted.removal != last.removal:
            counted = _count(connection, _NOTHING)
        self._last = counted
        counts: Counter[tuple[DocumentKind, DocumentState]] = Counter()
        for name, number in counted.kinds.items():
            counts[DocumentKind(name), DocumentState.PROJECTED] = number
        for (name, spelled), number in counted.others.items():
            counts[DocumentKind(name), _STATES.get(spelled, _DAMAGED)] += number
            counts[DocumentKind(name), DocumentState.PROJECTED] -= number
        return {key: number for key, number in counts.items() if number}


def _count(connection: Connection, last: _Counted) -> _Counted:
    """In one statement, which sees one state of the journal."""
    kinds, others, newest, removal = Counter(last.kinds), {}, 0, ""
    asked = _LATER if last.newest else _ALL
    for name, spelled, number in connection.execute(asked, {"since": last.newest}):
        if not name:
            newest, removal = number, spelled
        elif spelled == _PROJECTED:
            kinds[name] += number
        else:
            others[name, spelled] = number
    return _Counted(kinds, others, newest, removal)


def read_backlog(connection: Connection) -> Backlog:
    columns = documents.c
    pending = columns.state == DocumentState.PENDING.value
    oldest = sa.select(columns.received_at).where(pending).order_by(columns.position).limit(1)
    counted = sa.select(sa.func.count()).select_from(documents).where(pending)
    row = connection.execute(sa.select(counted.scalar_subquery(), oldest.scalar_subquery())).one()
    return Backlog(*row)


# --- disk space: a bounded number of rows, for any size of the journal ---------------------------


class Sampled(NamedTuple):
    """One document of a sample, which came first at ``received_at`` (epoch ms); ``stored_bytes`` of
    its body, as it is packed.
    """

    subject_key: str
    kind: str
    received_at: int
    stored_bytes: int


def read_sample(connection: Connection, most: int) -> list[Sampled]:
    """Up to ``most`` documents, at equal distances from the first to the newest."""
    first, newest = _ends(connection)
    step = max(1, (newest - first + 1) // most)
    positions = range(newest, first - 1, -step)[:most] if newest else ()
    own = documents.c
    asked = (
        sa.select(own.plan_id, own.kind, own.received_at, sa.func.length(bodies.c.packed))
        .join_from(documents, bodies, own.content_hash == bodies.c.content_hash)
        .where(own.position.in_(positions))
    )
    return [Sampled(*row) for row in connection.execute(asked)]


def _ends(connection: Connection) -> tuple[int, int]:
    """The first and the newest position; (1, 0) for an empty journal. Apart, each is a seek."""
    column = documents.c.position
    first = connection.execute(sa.select(sa.func.min(column))).scalar()
    newest = connection.execute(sa.select(sa.func.max(column))).scalar()
    return first or 1, newest or 0


NEW_KEY: Final = "journal_new"
"""A journal's own setting: "true" from when its tables are made until a projector has found nothing
beside it that was made from another journal."""
ID_KEY: Final = "journal_id"
"""Where a journal keeps its own id."""
_ROWS_A_DOCUMENT: Final = 3_000
"""Bytes in the catalogue: 2,400 were measured for a run that is one document."""
_REMEDY: Final = (
    "nothing was changed. Everything else is made from the journal: keep the file, and"
    " restore the newest backup into another data folder (headwater restore FILE --data FOLDER)"
)


def read_meta(engine: Engine, key: str) -> str | None:
    """A value that the journal keeps, read beside a service of any version: it makes no table and
    records no version. None where there is none, or no journal.
    """
    with read(engine, JournalUnavailable) as connection:
        if not sa.inspect(connection).has_table(meta.name):
            return None
        value = connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar()
    return None if value is None else str(value)


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


class Journal(JournalIntake, JournalDocuments, JournalStates, JournalContents):
    """The documents as they came, in the tables ``journal_*`` of an engine from ``open_database``.

    Each method is found in the class of its kind of question, beside its SQL. Every method is safe
    from several threads, several processes may share the database; raises JournalUnavailable. The
    constructor makes the tables that are missing, and raises ConfigurationError for a database
    that it cannot use.

    ``id`` is given to a journal when it is made, and distinguishes it from every other one.

    Every body is compared with its content hash when it is read. A method that reads several
    documents returns a damaged one with its ``damage`` and without its body; one that reads a
    single document raises DamagedDocument.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        check_vocabularies()
        try:
            _prepare(engine)
        except (ConfigurationError, Unavailable) as error:
            if tells_damage(error):
                raise ConfigurationError(f"{error}: {_REMEDY}") from error
            raise
        super().__init__(engine, clock)
        self._id = self._given_id()
        place = check_place(engine, self.get_meta(PLACE_KEY), self._id)
        if place is not None:
            self.set_meta(PLACE_KEY, place)
        self._removal.attempt()
        if (reserve := reserve_of(engine)) is not None:
            reserve.promised = self._unprojected_bytes

    def _unprojected_bytes(self) -> int:
        """About the room that the projection of the pending documents will take."""
        try:
            return _ROWS_A_DOCUMENT * self.backlog().documents
        except JournalUnavailable:
            return 0  # the request that asks will meet it

    def _given_id(self) -> str:
        def work(connection: Connection) -> None:
            new = {ID_KEY: uuid.uuid4().hex, NEW_KEY: "true"}
            rows = [{"key": key, "value": value} for key, value in new.items()]
            connection.execute(insert_new(connection, meta), rows)

        known = self.get_meta(ID_KEY)
        if known is None:
            write(self._engine, work, JournalUnavailable)
        return known or self.get_meta(ID_KEY) or ""

    @property
    def id(self) -> str:
        return self._id

    def tidy(self) -> bool:
        """One step of freeing the space of deleted rows; False when none is left."""
        self._removal.attempt()
        return tidy(self._engine, JournalUnavailable)

    def used_bytes(self) -> int:
        """The size of its tables; on SQLite that of its file, with the keys. Reads no rows."""
        with self._read() as connection:
            return used_bytes(connection, "journal%")

    def verify(self, progress: Progress = lambda _done, _total: None) -> tuple[str, ...]:
        """The defects of the journal, a sentence each; () when it is whole.

        Inflates every body, computes its hash again, and compares rows with each other. A damaged
        body is listed with its documents.
        """
        return tuple(find_problems(self._engine, progress))

    def close(self) -> None:
        """Give back the connections of the engine; safe to call twice."""
        self._engine.dispose()
