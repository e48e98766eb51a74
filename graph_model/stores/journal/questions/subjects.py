"""The subject keys of documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, Final

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
_PENDING_OTHERS: Final = _PENDING_AFTER.where(documents.c.kind != sa.bindparam("kind"))
_PENDING_OF: Final = _PENDING_AFTER.where(documents.c.kind == sa.bindparam("kind"))


class SqlJournalSubjects(JournalConnection):
    """See ``protocols.journal.JournalSubjects``."""

    def pending(self, limit: int, first: DocumentKind) -> tuple[str, ...]:
        """The cost depends on the returned documents, not on those behind."""
        page = max(limit, 100)
        with self._read() as connection:
            rows = connection.execute(_PENDING_FIRST, {"page": page, "first": first})
            before = dict.fromkeys(row.plan_id for row in rows)
            found = dict.fromkeys(islice(before, limit))
            _find_pending(connection, _PENDING_AFTER, {"page": page}, found, limit)
        return tuple(found)

    def pending_without(self, limit: int, kind: DocumentKind) -> tuple[str, ...]:
        found: dict[str, None] = {}
        parameters = {"page": max(limit, 100), "kind": kind}
        with self._read() as connection:
            _find_pending(connection, _PENDING_OTHERS, parameters, found, limit)
        return tuple(found)

    def pending_positions(self, kind: DocumentKind, after: int, limit: int) -> tuple[int, ...]:
        parameters = {"page": limit, "last": after, "kind": kind}
        with self._read() as connection:
            return tuple(row.position for row in connection.execute(_PENDING_OF, parameters))

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


def _find_pending(
    connection: Connection,
    asked: sa.Select[Any],
    parameters: Mapping[str, Any],
    found: dict[str, None],
    limit: int,
) -> None:
    """Add the subject keys of the documents PENDING to those ``found``, by position, up to
    ``limit`` in all.

    From the second page on the database leaves out those that are found: one may have very many
    documents.
    """
    last, page = 0, asked
    while len(found) < limit:
        rows = connection.execute(page, {**parameters, "last": last}).all()
        for row in rows:
            if len(found) < limit:
                found.setdefault(row.plan_id)
        if len(rows) < parameters["page"]:
            return
        last = rows[-1].position
        page = asked.where(none_of(documents.c.plan_id, found))
