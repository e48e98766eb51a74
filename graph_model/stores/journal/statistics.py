"""Statistics of the journal for operators: counts, age of waiting documents, size on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.database import database_bytes
from graph_model.stores.journal.tables import bodies, documents
from graph_model.stores.protocols import Backlog, DocumentKind, DocumentState, JournalStatistics

_STATES: Final = {state.value: state for state in DocumentState}
_PROJECTED: Final = DocumentState.PROJECTED.value
_DAMAGED: Final = DocumentState.FAILED
"""The name in counts for a document with an unknown state in its row."""


def read_statistics(connection: Connection) -> JournalStatistics:
    return JournalStatistics(
        count_documents(connection), read_backlog(connection), database_bytes(connection)
    )


def count_documents(connection: Connection) -> dict[tuple[DocumentKind, DocumentState], int]:
    """One walk over the index of kinds, and one over the few unprojected documents."""
    kind, state, number = documents.c.kind, documents.c.state, sa.func.count()
    all_of_kinds = sa.select(kind, sa.literal(_PROJECTED), number).group_by(kind)
    others = sa.select(kind, state, number).group_by(state, kind)  # as its index has them
    asked = sa.union_all(  # two ranges of that index: an inequality would walk over all of it
        all_of_kinds, others.where(state < _PROJECTED), others.where(state > _PROJECTED)
    )
    found: Counter[tuple[DocumentKind, DocumentState]] = Counter()
    for name, spelled, count in connection.execute(asked):
        of_kind = DocumentKind(name)
        found[of_kind, _STATES.get(spelled, _DAMAGED)] += count
        if spelled != _PROJECTED:
            found[of_kind, DocumentState.PROJECTED] -= count
    return {key: count for key, count in found.items() if count}


def read_backlog(connection: Connection) -> Backlog:
    columns = documents.c
    pending = columns.state == DocumentState.PENDING.value
    oldest = sa.select(columns.received_at).where(pending).order_by(columns.position).limit(1)
    counted = sa.select(sa.func.count()).select_from(documents).where(pending)
    row = connection.execute(sa.select(counted.scalar_subquery(), oldest.scalar_subquery())).one()
    return Backlog(*row)


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
