"""Documents by their subject keys and positions, with their bodies or without."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import sqlalchemy as sa

from graph_model.errors import DamagedDocument
from graph_model.storable_text import storable
from graph_model.stores.cursors import checked_limit
from graph_model.stores.database import chunks, in_list
from graph_model.stores.journal.bodies import read_bodies
from graph_model.stores.journal.questions.connection import JournalConnection
from graph_model.stores.journal.questions.rows import (
    described,
    position_of,
    with_bodies,
    without_body,
)
from graph_model.stores.journal.tables import bodies, documents
from graph_model.stores.protocols import (
    REOPENED,
    Body,
    DocumentKind,
    DocumentsSize,
    DocumentState,
    StoredDocument,
)

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


class SqlJournalDocuments(JournalConnection):
    """See ``protocols.journal.JournalDocuments``."""

    def documents_of(self, subject_key: str) -> tuple[StoredDocument, ...]:
        return self.documents_by_key((subject_key,)).get(subject_key, ())

    def documents_by_key(
        self, subject_keys: Collection[str]
    ) -> dict[str, tuple[StoredDocument, ...]]:
        """Sorted here: for an order, a planner prefers an index that has it to the plan's own."""
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
        """Bodies are read of those alone."""
        asked = (
            sa.select(documents.c.position)
            .where(documents.c.plan_id == subject_key, documents.c.scope == scope)
            .order_by(documents.c.position.desc())
            .limit(checked_limit(limit))
        )
        with self._read() as connection:
            positions = connection.execute(asked).scalars().all()
        return self.documents(positions)

    def settled_positions(
        self,
        subject_key: str,
        kinds: Collection[DocumentKind],
        hashes: Collection[str] | None = None,
    ) -> tuple[int, ...]:
        """Sorted here, for the same reason as in ``plans``."""
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
        asked = _SIZES if kinds is None else _SIZES_OF_KINDS
        found: dict[str, DocumentsSize] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(subject_keys))):
                rows = connection.execute(
                    asked, {"subject_keys": chunk, "kinds": sorted(kinds or ())}
                )
                found |= {subject_key: DocumentsSize(*size) for subject_key, *size in rows}
        return found

    def documents(self, positions: Collection[int]) -> tuple[StoredDocument, ...]:
        found: list[StoredDocument] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                rows = connection.execute(described.where(documents.c.position.in_(chunk))).all()
                found += with_bodies(connection, rows)
        return tuple(sorted(found, key=position_of))

    def content_hashes(self, subject_key: str) -> tuple[str, ...]:
        asked = sa.select(documents.c.content_hash).where(documents.c.plan_id == subject_key)
        with self._read() as connection:
            return tuple(connection.execute(asked.order_by(documents.c.position)).scalars())

    def outline(
        self,
        subject_keys: Collection[str],
        kinds: Collection[DocumentKind],
        most: int | None = None,
    ) -> dict[str, tuple[StoredDocument, ...]]:
        asked = {"subject_keys": sorted(set(subject_keys)), "kinds": sorted(kinds), "most": most}
        new = _OUTLINED_NEW if most is None else _OUTLINED_SOME
        with self._read() as connection:
            return _by_subject_key(
                without_body(row)
                for part in (_OUTLINED_KINDS, new)
                for row in connection.execute(part, asked)
            )

    def bodies(self, positions: Collection[int]) -> dict[int, Body]:
        with self._read() as connection:
            return read_bodies(connection, positions)

    def document(self, position: int) -> StoredDocument | None:
        found = self.documents([position])
        if found and found[0].damage:
            raise DamagedDocument(position, found[0].damage)
        return found[0] if found else None

    def document_of(self, subject_key: str, content_hash: str) -> StoredDocument | None:
        asked = sa.select(documents.c.position, documents.c.plan_id).where(
            documents.c.content_hash == content_hash
        )
        with self._read() as connection:
            # Compared here: asked for both, a planner may walk all documents of the subject key.
            found = [at for at, key in connection.execute(asked) if key == storable(subject_key)]
        return self.document(min(found)) if found else None


def _by_subject_key(found: Iterable[StoredDocument]) -> dict[str, tuple[StoredDocument, ...]]:
    """Per subject key its documents, by position."""
    grouped: dict[str, list[StoredDocument]] = {}
    for document in found:
        grouped.setdefault(document.subject_key, []).append(document)
    return {
        subject_key: tuple(sorted(together, key=lambda one: one.position))
        for subject_key, together in grouped.items()
    }
