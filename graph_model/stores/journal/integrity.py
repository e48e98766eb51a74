"""A check of the whole journal: every body inflated and hashed, every row compared with the others.

Nothing is repaired: the report has a sentence for each defect, and a person decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import chunks, count_rows, damage, read, tells_damage
from graph_model.stores.documents import DocumentState, content_hash
from graph_model.stores.journal.stored_bodies import MARK, fetch, large_of, unpack
from graph_model.stores.journal.tables import bodies, documents, raw, receipts

Progress = Callable[[int, int], None]
"""Called with the number of checked bodies, and of all."""

_PAGE: Final = 50
_RECEIPTS: Final = 1_000
_SETTLED_SECONDS: Final = 3_600.0
"""An object of a request that is under way has no row yet."""
_LATEST: Final = 1 << 53
"""Epoch ms that JSON keeps exactly; some 285,000 years."""


def find_problems(engine: Engine, progress: Progress) -> Iterator[str]:
    """The defects, a sentence each. A page of bodies is one transaction, so writers continue."""
    with read(engine, JournalUnavailable) as connection:
        yield from damage(connection)
        total = count_rows(connection, bodies)
    done, last = 0, ""
    while hashes := _page_after(engine, last):
        yield from _problems_of_bodies(engine, hashes)
        done, last = done + len(hashes), hashes[-1]
        progress(done, max(done, total))
    for look in _LOOKS:
        yield from _looked_at(engine, look)
    yield from _objects_without_body(engine)


def _page_after(engine: Engine, last: str) -> Sequence[str]:
    """Hashes alone: they are in an index, which a damaged body does not affect."""
    asked = (
        sa.select(bodies.c.content_hash)
        .where(bodies.c.content_hash > last)
        .order_by(bodies.c.content_hash)
        .limit(_PAGE)
    )
    with read(engine, JournalUnavailable) as connection:
        return connection.execute(asked).scalars().all()


def _problems_of_bodies(engine: Engine, hashes: Sequence[str]) -> Iterator[str]:
    """Together; where the database cannot read one of them, each on its own."""
    try:
        rows = _rows(engine, hashes)
    except JournalUnavailable as error:
        if not tells_damage(error):
            raise
        if len(hashes) == 1:
            yield f"body {hashes[0]}{_having(engine, hashes[0])}: it cannot be read: {error}"
            return
        for content in hashes:
            yield from _problems_of_bodies(engine, [content])
        return
    for row in rows:
        if (problem := _problem(engine, row)) is not None:
            yield f"body {row.content_hash}{_having(engine, row.content_hash)}: {problem}"


def _rows(engine: Engine, hashes: Sequence[str]) -> Sequence[Any]:
    asked = sa.select(bodies).where(bodies.c.content_hash.in_(hashes))
    with read(engine, JournalUnavailable) as connection:
        return connection.execute(asked.order_by(bodies.c.content_hash)).all()


def _having(engine: Engine, content: str) -> str:
    """The documents that have this body: `` of document 7 (plan 9b1c…)``."""
    asked = (
        sa.select(documents.c.position, documents.c.kind, documents.c.plan_id)
        .where(documents.c.content_hash == content)
        .order_by(documents.c.position)
    )
    with read(engine, JournalUnavailable) as connection:
        having = [
            f"{row.position} ({row.kind} of {row.plan_id})" for row in connection.execute(asked)
        ]
    return f" of document {', '.join(having)}" if having else ""


def _problem(engine: Engine, row: Any) -> str | None:
    packed = fetch(engine, row.content_hash, row.packed)
    if packed is None:
        return "it is missing in the store of large bodies"
    try:
        body = unpack(packed)
    except ValueError as error:
        return str(error)
    if content_hash(row.kind, row.api_version, body) != row.content_hash:
        return "its content has another hash"
    if len(body) != row.size:
        return f"{len(body)} bytes, recorded were {row.size}"
    return None


def _looked_at(engine: Engine, look: Callable[[Connection], Iterator[str]]) -> Iterator[str]:
    try:
        with read(engine, JournalUnavailable) as connection:
            problems = list(look(connection))
    except JournalUnavailable as error:
        if not tells_damage(error):
            raise
        problems = [f"the rows of the journal cannot be held to each other: {error}"]
    yield from problems


def _objects_without_body(engine: Engine) -> Iterator[str]:
    """Large bodies that no row names, because their request ended between store and database. The
    journal's own mark in the store is not such a body.
    """
    large = large_of(engine)
    if large is None:
        return
    for names in chunks(large.store.names(_SETTLED_SECONDS)):
        asked = sa.select(bodies.c.content_hash).where(
            bodies.c.content_hash.in_(names), bodies.c.packed == MARK
        )
        with read(engine, JournalUnavailable) as connection:
            known = set(connection.execute(asked).scalars())
        for name in names:
            if name not in known and not name.startswith("journal-"):
                yield f"{large.store.place}: no document has the body {name}"


# --- rows against each other ---------------------------------------------------------------------


def _documents_without_body(connection: Connection) -> Iterator[str]:
    asked = (
        sa.select(documents.c.position, documents.c.content_hash)
        .outerjoin_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
        .where(bodies.c.content_hash.is_(None))
        .order_by(documents.c.position)
    )
    for position, content in connection.execute(asked):
        yield f"document {position}: its body {content} is missing"


def _bodies_without_document(connection: Connection) -> Iterator[str]:
    kept = sa.exists().where(documents.c.content_hash == bodies.c.content_hash)
    asked = sa.select(bodies.c.content_hash).where(~kept).order_by(bodies.c.content_hash)
    for content in connection.execute(asked).scalars():
        yield f"body {content}: no document has it"


def _documents_without_receipt(connection: Connection) -> Iterator[str]:
    received = sa.exists().where(receipts.c.position == documents.c.position)
    asked = sa.select(documents.c.position).where(~received).order_by(documents.c.position)
    for position in connection.execute(asked).scalars():
        yield f"document {position}: it has no receipt"


def _arrivals_without_document(connection: Connection) -> Iterator[str]:
    for table, record in ((receipts, "a receipt"), (raw, "a record of bytes")):
        kept = sa.exists().where(documents.c.position == table.c.position)
        asked = sa.select(table.c.position).where(~kept).distinct().order_by(table.c.position)
        for position in connection.execute(asked).scalars():
            yield f"document {position}: {record} names it, but it does not exist"


def _odd_documents(connection: Connection) -> Iterator[str]:
    columns = documents.c
    known = [state.value for state in DocumentState]
    unexplained = sa.and_(
        columns.state == DocumentState.FAILED.value, sa.func.coalesce(columns.reason, "") == ""
    )
    other_kind = columns.kind != bodies.c.kind
    asked = (
        sa.select(columns.position, columns.state, columns.kind, bodies.c.kind.label("body_kind"))
        .join_from(documents, bodies, columns.content_hash == bodies.c.content_hash)
        .where(sa.or_(columns.state.not_in(known), unexplained, other_kind))
        .order_by(columns.position)
    )
    for row in connection.execute(asked):
        if row.state not in known:
            yield f"document {row.position}: its state {row.state!r} is unknown"
        elif row.kind != row.body_kind:
            yield f"document {row.position}: its kind is {row.kind}, its body's {row.body_kind}"
        else:
            yield f"document {row.position}: it failed without a reason"


def _impossible_arrivals(connection: Connection) -> Iterator[str]:
    """Receipts with values that no writer makes: SQLite keeps the values of a damaged row."""
    columns = receipts.c
    last = 0
    while True:
        asked = sa.select(receipts).where(columns.id > last).order_by(columns.id).limit(_RECEIPTS)
        rows = connection.execute(asked).all()
        for row in rows:
            if odd := odd_receipt(row.received_at, row.principal, row.route, row.raw_hash):
                yield f"document {row.position}: {odd} in receipt {row.id}"
        if len(rows) < _RECEIPTS:
            return
        last = rows[-1].id


def odd_receipt(received_at: object, *texts: object) -> str:
    """The impossible value in a receipt; "" for none."""
    if not isinstance(received_at, int) or not 0 <= received_at < _LATEST:
        return f"the time {received_at!r} is none"
    if not all(isinstance(text, str) for text in texts):
        return "a value that should be a text is not one"
    return ""


_LOOKS: Final = (
    _documents_without_body,
    _bodies_without_document,
    _documents_without_receipt,
    _arrivals_without_document,
    _odd_documents,
    _impossible_arrivals,
)
