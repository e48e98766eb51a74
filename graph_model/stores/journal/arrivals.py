"""New documents, repeats, states and removals: many requests at once; a journal's settings by their
keys.

    requests of concurrent threads -> one transaction (``database.GroupCommit``): states -> bodies
    -> documents (a position each) -> receipts -> raw (``record``)

The number of statements does not grow with the number of requests, so a hundred of them cost
little more than one, and one fsync.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import (
    GroupCommit,
    Lock,
    chunks,
    in_list,
    insert_new,
    insert_rows,
    keep_order,
    read,
    write,
)
from graph_model.stores.documents import DocumentState, Receipt, Submission
from graph_model.stores.journal.stored_bodies import Removal, mark_for_removal, pack, refuse_removed
from graph_model.stores.journal.tables import bodies, documents, meta, raw, receipts
from graph_model.values import storable

_Key = tuple[str, str]
"""The identity of a document: content hash (or that of the bytes) and scope, as they are stored."""

# Made once: to put these together anew takes longer than the database does.
_KNOWN: Final = sa.select(documents.c.content_hash, documents.c.scope, documents.c.position).where(
    in_list(documents.c.content_hash, "hashes")
)
_RECALLED: Final = sa.select(raw.c.raw_hash, raw.c.scope, raw.c.ordinal, raw.c.position).where(
    in_list(raw.c.raw_hash, "hashes")
)
_FORGET: Final = raw.delete().where(
    raw.c.raw_hash == sa.bindparam("old_hash"), raw.c.scope == sa.bindparam("old_scope")
)
_REMEMBER: Final = raw.insert()
_RECEIVE: Final = receipts.insert()


@dataclass(frozen=True, slots=True)
class Packed:
    """A request with documents; ``bodies`` are theirs as rows hold them, in order. ``removals`` as
    in ``stored_bodies``.
    """

    submissions: tuple[Submission, ...]
    bodies: tuple[bytes, ...]
    receipt: Receipt
    remember: bool = True
    removals: str | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request whose bytes (``receipt.raw_hash``) may have come before under this scope."""

    scope: str
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The results of documents: positions with one state and reason, and removed ones; ``settings``
    are kept with it.
    """

    settlements: tuple[tuple[Collection[int], DocumentState, str | None], ...]
    dropped: tuple[int, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


Request = Packed | Repeat | Conclusion


def packed(
    submissions: tuple[Submission, ...], receipt: Receipt, *, remember: bool = True
) -> Packed:
    """Compresses: to be called before any lock is taken."""
    bodies_of = tuple(pack(submission.body) for submission in submissions)
    return Packed(submissions, bodies_of, receipt, remember)


def record(connection: Connection, requests: Sequence[Request]) -> list[tuple[int, ...]]:
    """The positions of each request's documents, in order; () for a repeat that is none."""
    keep_order(connection, Lock.ORDER)
    for request in requests:
        if isinstance(request, Conclusion):
            _conclude(connection, request)
    for request in requests:
        if isinstance(request, Packed):
            hashes = [submission.content_hash for submission in request.submissions]
            refuse_removed(connection, request.removals, hashes)
    known = _record_documents(
        connection, [request for request in requests if isinstance(request, Packed)]
    )
    repeated = _recalled(
        connection, [request for request in requests if isinstance(request, Repeat)]
    )
    positions = [_positions(request, known, repeated) for request in requests]
    _add_receipts(connection, requests, positions)
    _remember(connection, requests, positions)
    return positions


def _positions(
    request: Request, known: Mapping[_Key, int], repeated: Mapping[_Key, tuple[int, ...]]
) -> tuple[int, ...]:
    if isinstance(request, Packed):
        return tuple(known[_key(submission)] for submission in request.submissions)
    return repeated.get(_bytes(request), ()) if isinstance(request, Repeat) else ()


def _conclude(connection: Connection, conclusion: Conclusion) -> None:
    for positions, state, reason in conclusion.settlements:
        set_state(connection, positions, state, reason)
    for chunk in chunks(sorted(set(conclusion.dropped))):
        drop(connection, chunk)
    for key, value in conclusion.settings.items():
        set_value(connection, key, value)


def _record_documents(connection: Connection, arrivals: Sequence[Packed]) -> Mapping[_Key, int]:
    keys = {_key(submission) for arrival in arrivals for submission in arrival.submissions}
    known = _known_positions(connection, keys)
    new: dict[_Key, tuple[Submission, bytes, Receipt]] = {}
    for arrival in arrivals:
        for submission, body in zip(arrival.submissions, arrival.bodies, strict=True):
            if _key(submission) not in known:
                new.setdefault(_key(submission), (submission, body, arrival.receipt))
    if not new:
        return known
    rows = list(new.values())
    new_bodies = [_body(submission, kept) for submission, kept, _ in rows]
    connection.execute(insert_new(connection, bodies), new_bodies)
    new_documents = [_document(submission, receipt) for submission, _, receipt in rows]
    connection.execute(insert_new(connection, documents), new_documents)
    return {**known, **_known_positions(connection, new)}


def _known_positions(connection: Connection, keys: Iterable[_Key]) -> dict[_Key, int]:
    known: dict[_Key, int] = {}
    for chunk in chunks(sorted({content for content, _ in keys})):
        for content, scope, position in connection.execute(_KNOWN, {"hashes": chunk}):
            known[content, scope] = position
    return known


def _recalled(connection: Connection, repeats: Sequence[Repeat]) -> dict[_Key, tuple[int, ...]]:
    """The positions that the bytes of each repeat were taken as; none for unknown bytes."""
    recalled: dict[_Key, dict[int, int]] = {_bytes(repeat): {} for repeat in repeats}
    for chunk in chunks(sorted({raw_hash for raw_hash, _ in recalled})):
        for raw_hash, scope, ordinal, position in connection.execute(_RECALLED, {"hashes": chunk}):
            if (raw_hash, scope) in recalled:
                recalled[raw_hash, scope][ordinal] = position
    return {key: tuple(at for _, at in sorted(taken.items())) for key, taken in recalled.items()}


def _bytes(repeat: Repeat) -> _Key:
    return storable(repeat.receipt.raw_hash), storable(repeat.scope)


def _add_receipts(
    connection: Connection, requests: Sequence[Request], positions: Sequence[tuple[int, ...]]
) -> None:
    rows = [
        {
            "position": position,
            "received_at": request.receipt.received_at,
            "principal": request.receipt.principal,
            "route": request.receipt.route,
            "raw_hash": "",  # ``journal_raw`` has it for recalled documents; no other code needs it
        }
        for request, places in zip(requests, positions, strict=True)
        if not isinstance(request, Conclusion)
        for position in dict.fromkeys(places)
    ]
    if rows:
        connection.execute(_RECEIVE, rows)


def _remember(
    connection: Connection, requests: Sequence[Request], positions: Sequence[tuple[int, ...]]
) -> None:
    """The documents of these bytes, if all documents of a request have one scope."""
    taken: dict[_Key, tuple[int, ...]] = {}
    for request, places in zip(requests, positions, strict=True):
        if isinstance(request, Packed) and request.remember and request.receipt.raw_hash:
            scopes = {storable(submission.scope) for submission in request.submissions}
            if len(scopes) == 1:
                # Of two readings of the same bytes (a masking rule has changed) the last counts.
                taken[storable(request.receipt.raw_hash), scopes.pop()] = places
    if not taken:
        return
    connection.execute(
        _FORGET,
        [{"old_hash": raw_hash, "old_scope": scope} for raw_hash, scope in taken],
    )
    connection.execute(
        _REMEMBER,
        [
            {"raw_hash": raw_hash, "scope": scope, "ordinal": ordinal, "position": position}
            for (raw_hash, scope), places in taken.items()
            for ordinal, position in enumerate(places)
        ],
    )


def forget_hashes(connection: Connection, mark: str, most: int) -> int:
    """Remove hashes of bytes that do not begin with the mark, at most so many of each table."""
    old = sa.or_(raw.c.raw_hash < mark, raw.c.raw_hash > f"{mark}~")
    hashes = connection.execute(sa.select(raw.c.raw_hash).where(old).limit(most)).scalars().all()
    for chunk in chunks(sorted(set(hashes))):
        connection.execute(raw.delete().where(raw.c.raw_hash.in_(chunk)))
    # Earlier versions kept it with each receipt as well.
    kept = sa.select(receipts.c.id).where(receipts.c.raw_hash != "").limit(most)
    ids = connection.execute(kept).scalars().all()
    for numbers in chunks(ids):
        blank = receipts.update().where(receipts.c.id.in_(numbers)).values(raw_hash="")
        connection.execute(blank)
    return max(len(hashes), len(ids))


# --- rows ----------------------------------------------------------------------------------------


def _key(submission: Submission) -> _Key:
    return submission.content_hash, storable(submission.scope)


def _body(submission: Submission, packed: bytes) -> dict[str, Any]:
    return {
        "content_hash": submission.content_hash,
        "kind": submission.kind,
        "api_version": submission.api_version,
        "size": len(submission.body),
        "packed": packed,
    }


def _document(submission: Submission, receipt: Receipt) -> dict[str, Any]:
    return {
        "content_hash": submission.content_hash,
        "scope": submission.scope,
        "kind": submission.kind,
        "plan_id": submission.subject_key,
        "subject": submission.subject,
        "state": DocumentState.PENDING.value,
        "reason": None,
        "received_at": receipt.received_at,
    }


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


class JournalConnection:
    """Every method may raise JournalUnavailable."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._taking: GroupCommit[Request, tuple[int, ...]] = GroupCommit(
            engine, record, JournalUnavailable
        )
        self._removal = Removal(engine, clock)

    def _read(self) -> AbstractContextManager[Connection]:
        return read(self._engine, JournalUnavailable)


_EVERY_META: Final = sa.select(meta.c.key, meta.c.value)


class JournalSettings(JournalConnection):
    """Small durable settings: epochs, the last round."""

    def get_every_meta(self) -> dict[str, str]:
        """All settings that ``set_meta`` keeps, at one moment."""
        with self._read() as connection:
            return {row.key: row.value for row in connection.execute(_EVERY_META)}

    def get_meta(self, key: str) -> str | None:
        """A small durable setting (projection epoch, graph epoch)."""
        with self._read() as connection:
            value: str | None = connection.scalar(sa.select(meta.c.value).where(meta.c.key == key))
        return value

    def set_meta(self, key: str, value: str) -> None:
        """Durable on return."""
        write(self._engine, lambda c: set_value(c, key, value), JournalUnavailable)

    def replace_meta(self, key: str, former: str | None, value: str) -> bool:
        """``set_meta`` where the value is still ``former`` (None: there is none); whether it was:
        of several processes that have read one value, one replaces it.

        Durable on return.
        """
        return write(
            self._engine, lambda c: replace_value(c, key, former, value), JournalUnavailable
        )
