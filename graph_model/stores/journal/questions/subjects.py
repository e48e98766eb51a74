"""The subject keys of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.cursors import checked_limit
from graph_model.stores.database import chunks, none_of
from graph_model.stores.journal.questions.connection import JournalConnection
from graph_model.stores.journal.tables import documents
from graph_model.stores.protocols import DocumentKind, DocumentState

_PENDING: Final = (
    sa.select(documents.c.position, documents.c.plan_id)
    .where(documents.c.state == DocumentState.PENDING.value)
    .order_by(documents.c.position)
    .limit(sa.bindparam("page"))
)
_PENDING_FIRST: Final = _PENDING.where(documents.c.kind == sa.bindparam("first"))
_PENDING_AFTER: Final = _PENDING.where(documents.c.position > sa.bindparam("last"))


class SqlJournalSubjects(JournalConnection):
    """See ``protocols.journal.JournalSubjects``."""

    def pending(self, limit: int, first: DocumentKind) -> tuple[str, ...]:
        """The cost depends on the returned documents, not on those behind."""
        found: dict[str, None] = {}
        with self._read() as connection:
            for subject_key in _pending_plans(connection, first, max(limit, 100), found):
                if len(found) >= limit:
                    break
                found.setdefault(subject_key)
        return tuple(found)

    def subject_keys(self, after: str, limit: int) -> tuple[str, ...]:
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
        found: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(subjects))):
                asked = sa.select(documents.c.plan_id).where(documents.c.subject.in_(chunk))
                found.update(connection.execute(asked.distinct()).scalars())
        return frozenset(found)

    def count_subject_keys(self) -> int:
        asked = sa.select(sa.func.count(documents.c.plan_id.distinct()))
        with self._read() as connection:
            return int(connection.execute(asked).scalar_one())


def _pending_plans(
    connection: Connection, first: DocumentKind, page: int, found: Collection[str]
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
        asked = _PENDING_AFTER.where(none_of(documents.c.plan_id, found))
