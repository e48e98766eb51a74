"""Statistics of the journal for operators: counts, age of waiting documents, size on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.database import database_bytes
from graph_model.stores.journal.tables import bodies, documents
from graph_model.stores.protocols import DocumentKind, DocumentState, JournalStatistics

_STATES: Final = {state.value: state for state in DocumentState}
_DAMAGED: Final = DocumentState.FAILED
"""The name in counts for a document with an unknown state in its row."""


def read_statistics(connection: Connection) -> JournalStatistics:
    """One walk over an index for the counts; the rest costs nothing."""
    columns = documents.c
    counted = sa.select(columns.kind, columns.state, sa.func.count()).group_by(
        columns.kind, columns.state
    )
    oldest = (
        sa.select(columns.received_at)
        .where(columns.state == DocumentState.PENDING.value)
        .order_by(columns.position)
        .limit(1)
    )
    found: Counter[tuple[DocumentKind, DocumentState]] = Counter()
    for kind, state, number in connection.execute(counted):
        found[DocumentKind(kind), _STATES.get(state, _DAMAGED)] += int(number)
    oldest_at = connection.execute(oldest).scalar()
    return JournalStatistics(dict(found), oldest_at, database_bytes(connection))


# --- disk space: a bounded number of rows, for any size of the journal ---------------------------


class Sampled(NamedTuple):
    """One document of a sample; ``stored_bytes`` of its body, as it is packed."""

    plan_id: str
    kind: str
    stored_bytes: int


def read_sample(connection: Connection, most: int) -> list[Sampled]:
    """Up to ``most`` documents, at equal distances from the first to the newest."""
    first, newest = _ends(connection)
    step = max(1, (newest - first + 1) // most)
    positions = range(newest, first - 1, -step)[:most] if newest else ()
    asked = (
        sa.select(documents.c.plan_id, documents.c.kind, sa.func.length(bodies.c.packed))
        .join_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
        .where(documents.c.position.in_(positions))
    )
    return [Sampled(*row) for row in connection.execute(asked)]


def share_received_before(connection: Connection, times: Sequence[int]) -> list[float]:
    """Per time (epoch ms) the share of documents that came before it, by their positions: they are
    given in order of arrival. Some twenty seeks a time.
    """
    first, newest = _ends(connection)
    span = newest - first + 1
    return [
        (_first_since(connection, time, first, newest + 1) - first) / span if newest else 0.0
        for time in times
    ]


def _ends(connection: Connection) -> tuple[int, int]:
    """The first and the newest position; (1, 0) for an empty journal. Apart, each is a seek."""
    column = documents.c.position
    first = connection.execute(sa.select(sa.func.min(column))).scalar()
    newest = connection.execute(sa.select(sa.func.max(column))).scalar()
    return first or 1, newest or 0


def _first_since(connection: Connection, time: int, low: int, high: int) -> int:
    """The first position from ``low`` on that was received at ``time`` or later, by halving."""
    columns = documents.c
    asked = (
        sa.select(columns.received_at)
        .where(columns.position >= sa.bindparam("middle"))
        .order_by(columns.position)
        .limit(1)
    )
    while low < high:
        middle = (low + high) // 2
        received = connection.execute(asked, {"middle": middle}).scalar()
        if received is None or received >= time:
            high = middle
        else:
            low = middle + 1
    return low
