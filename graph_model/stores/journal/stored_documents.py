"""Documents by their subject keys and positions, with their bodies or without.

    [3, 4, 5] => {3: Body(b"{…}"), 4: Body(b"", "cannot be inflated: …"), 5: Body(b"{…}")}

Each body is verified by its hash. It may be damaged (a changed byte), be gone, or lie on a page
that SQLite cannot read: then it comes with that reason, and the caller decides on it; it does not
stop the others. A large one may lie outside of the database (``large_bodies``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection

from graph_model.errors import DamagedDocument
from graph_model.stores.database import chunks, in_list, none_of, tells_damage
from graph_model.stores.documents import REOPENED, Body, DocumentKind, DocumentState, StoredDocument
from graph_model.stores.journal.arrivals import JournalConnection
from graph_model.stores.journal.stored_bodies import fetch, read_body
from graph_model.stores.journal.tables import bodies, documents, receipts
from graph_model.stores.pages import checked_limit
from graph_model.values import storable

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


# Made once: to put these together anew takes longer than the database does.
_OUTLINED: Final = described.where(in_list(documents.c.plan_id, "subject_keys"))
_OUTLINED_KINDS: Final = described.where(
    in_list(documents.c.plan_id, "subject_keys"), in_list(documents.c.kind, "kinds")
)
# Spelled out: of a list whose length it does not know, SQLite prefers all that is pending.
_OUTLINED_NEW: Final = described.where(
    documents.c.plan_id.in_(sa.bindparam("subject_keys", expanding=True)),
    documents.c.kind.not_in(sa.bindparam("kinds", expanding=True)),
    documents.c.state == DocumentState.PENDING.value,
)
_OUTLINED_SOME: Final = _OUTLINED_NEW.limit(sa.bindparam("most"))
_SIZES: Final = (
    sa.select(
        documents.c.plan_id,
        sa.func.count(),
        sa.func.coalesce(sa.cast(sa.func.sum(bodies.c.size), sa.BigInteger), 0),
    )
    .outerjoin_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
    .where(in_list(documents.c.plan_id, "subject_keys"))
    .group_by(documents.c.plan_id)
)
_SIZES_OF_KINDS: Final = _SIZES.where(in_list(documents.c.kind, "kinds"))


@dataclass(frozen=True, slots=True)
class DocumentsSize:
    """Of some documents together: how many, and the bytes of their bodies."""

    documents: int
    bytes: int


class JournalDocuments(JournalConnection):
    """Documents by subject key and by position; see ``Journal`` for damaged ones."""

    def documents_of(self, subject_key: str) -> tuple[StoredDocument, ...]:
        """The documents of a subject key, of every scope, by position, with bodies."""
        return self.documents_by_key((subject_key,)).get(subject_key, ())

    def documents_by_key(
        self, subject_keys: Collection[str]
    ) -> dict[str, tuple[StoredDocument, ...]]:
        """``documents_of`` for each of these subject keys that has documents, all in one go.

        Sorted here: for an order, a planner prefers an index that has it to the plan's own.
        """
        with self._read() as connection:
            rows = [
                row
                for chunk in chunks(sorted(set(subject_keys)))
                for row in connection.execute(_OUTLINED, {"subject_keys": chunk})
            ]
            return _by_subject_key(with_bodies(connection, rows))

    def newest_documents(
        self, subject_key: str, scope: str, limit: int
    ) -> tuple[StoredDocument, ...]:
        """The newest documents of a subject key in one scope, by position, with bodies.

        Bodies are read of those alone.
        """
        asked = (
            sa.select(documents.c.position)
            .where(documents.c.plan_id == subject_key, documents.c.scope == scope)
            .order_by(documents.c.position.desc())
            .limit(checked_limit(limit))
        )
        with self._read() as connection:
            positions = connection.execute(asked).scalars().all()
        return self.documents(positions)

    def newest_of_subjects(
        self, subjects: Collection[str], kinds: Collection[DocumentKind], each: int
    ) -> tuple[StoredDocument, ...]:
        """Each subject's newest ``each`` documents of these kinds, by position, with bodies."""
        place = sa.func.row_number().over(
            partition_by=documents.c.subject, order_by=documents.c.position.desc()
        )
        positions: list[int] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(subjects))):
                ranked = (
                    sa.select(documents.c.position, place.label("place"))
                    .where(documents.c.subject.in_(chunk), documents.c.kind.in_(sorted(kinds)))
                    .subquery()
                )
                newest = sa.select(ranked.c.position).where(ranked.c.place <= checked_limit(each))
                positions += connection.execute(newest).scalars()
        return self.documents(positions)

    def settled_positions(
        self,
        subject_key: str,
        kinds: Collection[DocumentKind],
        hashes: Collection[str] | None = None,
    ) -> tuple[int, ...]:
        """The positions of all documents of a subject key that have one of these kinds and are not
        PENDING, in order.

        With ``hashes`` only documents with one of these contents.

        Sorted here, for the same reason as in ``plans``.
        """
        asked = sa.select(documents.c.position).where(
            documents.c.plan_id == subject_key,
            documents.c.kind.in_(sorted(kinds)),
            documents.c.state != DocumentState.PENDING.value,
        )
        parts = [asked]
        if hashes is not None:
            among = documents.c.content_hash
            parts = [asked.where(among.in_(chunk)) for chunk in chunks(sorted(set(hashes)))]
        with self._read() as connection:
            return tuple(sorted(at for part in parts for at in connection.execute(part).scalars()))

    def positions_to(
        self, subject_key: str, kinds: Collection[DocumentKind], last: int
    ) -> tuple[int, ...]:
        """The positions of all documents of a subject key that have one of these kinds, in order,
        without fresh ones beyond ``last``.
        """
        columns = documents.c
        asked = sa.select(columns.position).where(
            columns.plan_id == subject_key,
            columns.kind.in_(sorted(kinds)),
            sa.or_(
                columns.position <= last,
                columns.state != DocumentState.PENDING.value,
                columns.reason == REOPENED,
            ),
        )
        with self._read() as connection:
            return tuple(sorted(connection.execute(asked).scalars()))

    def sizes(
        self, subject_keys: Collection[str], kinds: Collection[DocumentKind] | None = None
    ) -> dict[str, DocumentsSize]:
        """The size of all documents of each of these subject keys, or only of documents of these
        kinds. No body is read; a subject key without documents is left out.
        """
        asked = _SIZES if kinds is None else _SIZES_OF_KINDS
        sizes: dict[str, DocumentsSize] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(subject_keys))):
                rows = connection.execute(
                    asked, {"subject_keys": chunk, "kinds": sorted(kinds or ())}
                )
                sizes |= {subject_key: DocumentsSize(*size) for subject_key, *size in rows}
        return sizes

    def documents(self, positions: Collection[int]) -> tuple[StoredDocument, ...]:
        """The documents known among these, by position, with bodies."""
        stored: list[StoredDocument] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                rows = connection.execute(described.where(documents.c.position.in_(chunk))).all()
                stored += with_bodies(connection, rows)
        return tuple(sorted(stored, key=position_of))

    def in_order(
        self,
        kinds: Collection[DocumentKind],
        behind: int | None,
        limit: int,
        *,
        falling: bool,
        states: Collection[DocumentState] | None = None,
        most_bytes: int | None = None,
    ) -> tuple[StoredDocument, ...]:
        """Documents of these kinds behind a position (None: from the end), with bodies: by
        position, newest first if ``falling``. With ``most_bytes`` those that come first and are
        not larger together; the first one in any case.
        """
        position = documents.c.position
        asked = described.where(documents.c.kind.in_(sorted(kinds)))
        if behind is not None:
            asked = asked.where(position < behind if falling else position > behind)
        if states is not None:
            asked = asked.where(documents.c.state.in_(sorted(states)))
        order = position.desc() if falling else position.asc()
        with self._read() as connection:
            rows = connection.execute(asked.order_by(order).limit(checked_limit(limit))).all()
            if most_bytes is not None:
                ends = tuple(accumulate(row.size for row in rows))
                rows = rows[: max(bisect_right(ends, most_bytes), 1)]
            return tuple(with_bodies(connection, rows))

    def principals(self, positions: Collection[int]) -> dict[int, str]:
        """Who sent each of these documents first."""
        senders: dict[int, str] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                asked = sa.select(receipts.c.position, receipts.c.principal).where(
                    receipts.c.position.in_(chunk)
                )
                for position, principal in connection.execute(asked.order_by(receipts.c.id)):
                    senders.setdefault(position, principal)
        return senders

    def content_hashes(self, subject_key: str) -> tuple[str, ...]:
        """The content hashes of all documents of a subject key, by position; several scopes may
        share one.
        """
        asked = sa.select(documents.c.content_hash).where(documents.c.plan_id == subject_key)
        with self._read() as connection:
            return tuple(connection.execute(asked.order_by(documents.c.position)).scalars())

    def outline(
        self,
        subject_keys: Collection[str],
        kinds: Collection[DocumentKind],
        most: int | None = None,
    ) -> dict[str, tuple[StoredDocument, ...]]:
        """Per subject key its documents of these kinds and its PENDING ones, by position, without
        bodies. PENDING documents of other kinds are at most ``most`` for all subject keys together;
        the database chooses which.

        Two requests, whatever the number of subject keys; an unknown one is left out.
        """
        asked = {"subject_keys": sorted(set(subject_keys)), "kinds": sorted(kinds), "most": most}
        new = _OUTLINED_NEW if most is None else _OUTLINED_SOME
        with self._read() as connection:
            return _by_subject_key(
                without_body(row)
                for part in (_OUTLINED_KINDS, new)
                for row in connection.execute(part, asked)
            )

    def bodies(self, positions: Collection[int]) -> dict[int, Body]:
        """The bodies of these documents."""
        with self._read() as connection:
            return read_bodies(connection, positions)

    def document(self, position: int) -> StoredDocument | None:
        """The document at this position. Raises DamagedDocument."""
        stored = self.documents([position])
        if stored and stored[0].damage:
            raise DamagedDocument(position, stored[0].damage)
        return stored[0] if stored else None

    def document_of(self, subject_key: str, content_hash: str) -> StoredDocument | None:
        """The document with this subject key and content; of several scopes the first received.

        Raises DamagedDocument.
        """
        asked = sa.select(documents.c.position, documents.c.plan_id).where(
            documents.c.content_hash == content_hash
        )
        with self._read() as connection:
            # Compared here: asked for both, a planner may walk all documents of the subject key.
            positions = [
                at for at, key in connection.execute(asked) if key == storable(subject_key)
            ]
        return self.document(min(positions)) if positions else None

    def pending(self, limit: int, first: DocumentKind) -> tuple[str, ...]:
        """Subject keys that have a PENDING document: first those with one of the kind ``first``,
        then the others, each the oldest first.

        The cost depends on the returned documents, not on those behind.
        """
        subject_keys: dict[str, None] = {}
        with self._read() as connection:
            for subject_key in _pending_plans(connection, first, max(limit, 100), subject_keys):
                if len(subject_keys) >= limit:
                    break
                subject_keys.setdefault(subject_key)
        return tuple(subject_keys)

    def subject_keys(self, after: str, limit: int) -> tuple[str, ...]:
        """All subject keys, in order, from the first one behind ``after`` ("": from the start)."""
        asked = (
            sa.select(documents.c.plan_id)
            .where(documents.c.plan_id > after)
            .distinct()
            .order_by(documents.c.plan_id)
            .limit(checked_limit(limit))
        )
        with self._read() as connection:
            return tuple(connection.execute(asked).scalars())

    def subject_keys_of(self, subjects: Collection[str]) -> frozenset[str]:
        """The subject keys of these subjects' documents."""
        subject_keys: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(subjects))):
                asked = sa.select(documents.c.plan_id).where(documents.c.subject.in_(chunk))
                subject_keys.update(connection.execute(asked.distinct()).scalars())
        return frozenset(subject_keys)

    def count_subject_keys(self) -> int:
        asked = sa.select(sa.func.count(documents.c.plan_id.distinct()))
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())


def _by_subject_key(stored: Iterable[StoredDocument]) -> dict[str, tuple[StoredDocument, ...]]:
    """Per subject key its documents, by position."""
    grouped: dict[str, list[StoredDocument]] = {}
    for document in stored:
        grouped.setdefault(document.subject_key, []).append(document)
    return {
        subject_key: tuple(sorted(together, key=lambda document: document.position))
        for subject_key, together in grouped.items()
    }


_PENDING: Final = (
    sa.select(documents.c.position, documents.c.plan_id)
    .where(documents.c.state == DocumentState.PENDING.value)
    .order_by(documents.c.position)
    .limit(sa.bindparam("page"))
)
_PENDING_FIRST: Final = _PENDING.where(documents.c.kind == sa.bindparam("first"))
_PENDING_AFTER: Final = _PENDING.where(documents.c.position > sa.bindparam("last"))


def _pending_plans(
    connection: Connection, first: DocumentKind, page: int, taken: Collection[str]
) -> Iterator[str]:
    """The subject keys of the documents PENDING, by position; one may come for each document.

    Those of the kind ``first`` come before all others, as many as a page holds. From the second
    page on the database leaves out those that the caller has ``found``: one may have very many.
    """
    for row in connection.execute(_PENDING_FIRST, {"page": page, "first": first}):
        yield row.plan_id
    last, asked = 0, _PENDING_AFTER
    while True:
        rows = connection.execute(asked, {"page": page, "last": last}).all()
        yield from (row.plan_id for row in rows)
        if len(rows) < page:
            return
        last = rows[-1].position
        asked = _PENDING_AFTER.where(none_of(documents.c.plan_id, taken))


def without_body(row: Any) -> StoredDocument:
    """The document of a row of ``described``."""
    return _stored(row, b"")


def with_bodies(connection: Connection, rows: Sequence[Any]) -> list[StoredDocument]:
    """The documents of these rows, each with its body or the damage of it."""
    by_position = read_bodies(connection, [row.position for row in rows])
    return [_stored(row, *by_position[row.position]) for row in rows]


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


# An outer join: of a body that is gone its document must tell. Made once: to put it together anew
# takes longer than the database does.
_PACKED: Final = (
    sa.select(
        documents.c.position,
        documents.c.content_hash,
        documents.c.kind,
        bodies.c.api_version,
        bodies.c.packed,
    )
    .outerjoin_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
    .where(in_list(documents.c.position, "positions"))
)


def read_bodies(connection: Connection, positions: Collection[int]) -> dict[int, Body]:
    """The bodies of the documents known among these."""
    by_position: dict[int, Body] = {}
    for chunk in chunks(sorted(set(positions))):
        try:
            by_position |= _read(connection, chunk)
        except exc.DBAPIError as error:
            if connection.dialect.name != "sqlite" or not tells_damage(error):
                raise  # elsewhere an error ends the transaction
            for position in chunk:
                by_position |= _read_alone(connection, position)
    return by_position


def _read_alone(connection: Connection, position: int) -> dict[int, Body]:
    try:
        return _read(connection, [position])
    except exc.DBAPIError as error:
        if not tells_damage(error):
            raise
        return {position: Body(b"", "lies on a damaged page of the database")}


def _read(connection: Connection, positions: Sequence[int]) -> dict[int, Body]:
    return {
        row.position: read_body(
            fetch(connection, row.content_hash, row.packed),
            row.kind,
            row.api_version,
            row.content_hash,
        )
        for row in connection.execute(_PACKED, {"positions": positions})
    }
