"""Documents by their plan ids and positions, with their bodies or without."""

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
from graph_model.stores.journal.tables import documents
from graph_model.stores.protocols import Body, DocumentKind, DocumentState, StoredDocument

# Made once: to put these together anew takes longer than the database does.
_OUTLINED: Final = described.where(in_list(documents.c.plan_id, "plan_ids"))
_OUTLINED_KINDS: Final = described.where(
    in_list(documents.c.plan_id, "plan_ids"), in_list(documents.c.kind, "kinds")
)
# Spelled out: of a list whose length it does not know, SQLite prefers all that is pending.
_OUTLINED_NEW: Final = described.where(
    documents.c.plan_id.in_(sa.bindparam("plan_ids", expanding=True)),
    documents.c.kind.not_in(sa.bindparam("kinds", expanding=True)),
    documents.c.state == DocumentState.PENDING.value,
)


class SqlJournalDocuments(JournalConnection):
    """See ``protocols.journal.JournalDocuments``."""

    def plan(self, plan_id: str) -> tuple[StoredDocument, ...]:
        return self.plans((plan_id,)).get(plan_id, ())

    def plans(self, plan_ids: Collection[str]) -> dict[str, tuple[StoredDocument, ...]]:
        """Sorted here: for an order, a planner prefers an index that has it to the plan's own."""
        with self._read() as connection:
            rows = [
                row
                for chunk in chunks(sorted(set(plan_ids)))
                for row in connection.execute(_OUTLINED, {"plan_ids": chunk})
            ]
            return _by_plan_id(with_bodies(connection, rows))

    def newest_documents(self, plan_id: str, scope: str, limit: int) -> tuple[StoredDocument, ...]:
        """Bodies are read of those alone."""
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
        """Sorted here, for the same reason as in ``plans``."""
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
        found: list[StoredDocument] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(positions))):
                rows = connection.execute(described.where(documents.c.position.in_(chunk))).all()
                found += with_bodies(connection, rows)
        return tuple(sorted(found, key=position_of))

    def content_hashes(self, plan_id: str) -> tuple[str, ...]:
        asked = sa.select(documents.c.content_hash).where(documents.c.plan_id == plan_id)
        with self._read() as connection:
            return tuple(connection.execute(asked.order_by(documents.c.position)).scalars())

    def outline(
        self, plan_ids: Collection[str], kinds: Collection[DocumentKind]
    ) -> dict[str, tuple[StoredDocument, ...]]:
        asked = {"plan_ids": sorted(set(plan_ids)), "kinds": sorted(kinds)}
        with self._read() as connection:
            return _by_plan_id(
                without_body(row)
                for part in (_OUTLINED_KINDS, _OUTLINED_NEW)
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

    def document_of(self, plan_id: str, content_hash: str) -> StoredDocument | None:
        asked = sa.select(documents.c.position, documents.c.plan_id).where(
            documents.c.content_hash == content_hash
        )
        with self._read() as connection:
            # Compared here: asked for both, a planner may walk all documents of the plan id.
            found = [at for at, key in connection.execute(asked) if key == storable(plan_id)]
        return self.document(min(found)) if found else None


def _by_plan_id(found: Iterable[StoredDocument]) -> dict[str, tuple[StoredDocument, ...]]:
    """Per plan id its documents, by position."""
    grouped: dict[str, list[StoredDocument]] = {}
    for document in found:
        grouped.setdefault(document.plan_id, []).append(document)
    return {
        plan_id: tuple(sorted(together, key=lambda one: one.position))
        for plan_id, together in grouped.items()
    }
