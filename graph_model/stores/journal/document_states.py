"""States of documents, and their removal from the journal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from secrets import token_hex
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.database import Lock, chunks, in_list, insert_new, insert_rows, keep_order
from graph_model.stores.journal.large_bodies import mark_for_removal
from graph_model.stores.journal.tables import bodies, documents, meta, raw, receipts
from graph_model.stores.protocols import DocumentState

REMOVAL_KEY: Final = "removal"
"""The journal's setting with a mark of the last removal, for those that keep a count."""

# Made once: to put it together anew takes longer than the database does.
_SET_STATE: Final = documents.update().where(in_list(documents.c.position, "positions"))


def set_state(
    connection: Connection, positions: Collection[int], state: DocumentState, reason: str | None
) -> None:
    """The reason replaces the one before; None removes it."""
    for chunk in chunks(sorted(set(positions))):
        values = {"positions": chunk, "state": state.value, "reason": reason}
        connection.execute(_SET_STATE, values)


def set_value(connection: Connection, key: str, value: str) -> None:
    """Keep a setting; it replaces the one before."""
    connection.execute(insert_new(connection, meta), {"key": key, "value": value})
    connection.execute(meta.update().where(meta.c.key == key).values(value=value))


def replace_value(connection: Connection, key: str, former: str | None, value: str) -> bool:
    """Keep a setting where ``former`` is its value (None: it has none); whether it was."""
    if former is None:
        return insert_rows(connection, meta, [(key, value)]) == 1
    changed = meta.update().where(meta.c.key == key, meta.c.value == former).values(value=value)
    return connection.execute(changed).rowcount == 1


def drop(connection: Connection, positions: Sequence[int]) -> None:
    """Remove these documents, their receipts, and bodies that no other document has.

    The hashes of their received bytes go as well, so that the same bytes are read anew when they
    come again: only then does the document meet the command that names it.
    """
    # A body that goes must not be the one that another process has just found to be there.
    keep_order(connection, Lock.ORDER)
    set_value(connection, REMOVAL_KEY, token_hex(8))
    gone = documents.c.position.in_(positions)
    named = connection.execute(sa.select(documents.c.content_hash).where(gone)).scalars()
    hashes = set(named)
    connection.execute(receipts.delete().where(receipts.c.position.in_(positions)))
    connection.execute(raw.delete().where(raw.c.raw_hash.in_(_raw_hashes(positions))))
    connection.execute(documents.delete().where(gone))
    still = sa.select(documents.c.content_hash).where(documents.c.content_hash.in_(hashes))
    hashes -= set(connection.execute(still).scalars())
    mark_for_removal(connection, hashes)
    connection.execute(bodies.delete().where(bodies.c.content_hash.in_(hashes)))


def _raw_hashes(positions: Sequence[int]) -> sa.Select[tuple[str]]:
    """A request may have carried other documents too: all of it is read anew."""
    return sa.select(raw.c.raw_hash).where(raw.c.position.in_(positions))
