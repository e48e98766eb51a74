"""Large bodies outside of the database: a row with a mark, and an object named by the hash.

    pack -> larger than the limit? -> put the object -> the transaction with the marked row

The object is durable before the row that needs it. A crash between the two leaves an object
without a row, which the next arrival of the document needs, and which a check lists.

    last row removed, its name marked for removal | objects of marked names removed, names free

Objects are removed between two transactions, so that neither a crash nor a store that is away can
leave a row without its object or hold up documents. A row cannot be inserted while its name is
marked. One removal runs at a time, in all processes: an object is never removed after its name
is free. A request may have found an object there that is removed before its own transaction: so
each removal also changes a number (``removals``), which a request reads before it puts. One that
meets either of the two is refused in its transaction (``RemovedMeanwhile``) and puts again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from secrets import token_hex
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.stores.bodies import LargeBodies
from graph_model.stores.database import Lock, alone, chunks, insert_new, keep_order, read, write
from graph_model.stores.journal.tables import bodies, meta

log = logging.getLogger(__name__)

MARK: Final = b"\x00elsewhere"
"""In place of a packed body, which begins with 0x78."""
PLACE_KEY: Final = "bodies_place"
REMOVALS_KEY: Final = "bodies_removals"
_OPTION: Final = "headwater_large_bodies"
_REMOVAL_MARK: Final = "bodies_condemned "
_MOST_REMOVED: Final = 500
_TURN_SECONDS: Final = 30.0
_FIRST_PAUSE_SECONDS: Final = 60.0
_LONGEST_PAUSE_SECONDS: Final = 3_600.0
_REMOVALS: Final = sa.select(meta.c.value).where(meta.c.key == REMOVALS_KEY)
_SOME_MARKED: Final = (
    sa.select(meta.c.key).where(meta.c.key.startswith(_REMOVAL_MARK)).limit(_MOST_REMOVED)
)


class RemovedMeanwhile(Exception):
    """A body that this request has put, or found there, may have been removed since."""


def keep_large(engine: Engine, large: LargeBodies) -> None:
    """From now on the journal on this engine keeps its large bodies there."""
    engine.update_execution_options(**{_OPTION: large})


def large_of(held: Engine | Connection) -> LargeBodies | None:
    """Where large bodies lie; None if all are in the database."""
    large: LargeBodies | None = held.get_execution_options().get(_OPTION)
    return large


def check_place(engine: Engine, known: str | None, journal_id: str) -> str | None:
    """The place of large bodies, if the journal is yet to note it.

    A place holds an object with the journal's id: bodies that were copied to another one came with
    it. Raises ConfigurationError if it does not, and if no place is set and one is known.
    """
    large = large_of(engine)
    if large is None:
        require_none(known)
        return None
    if known == large.store.place:
        return None
    sign = f"journal-{journal_id}"
    if known is not None and large.store.get(sign) is None:
        raise ConfigurationError(
            f"the large bodies of this journal lie in {known}, and not in {large.store.place}:"
            " copy all objects there first, or set HEADWATER_BODIES as it was"
        )
    large.store.put(sign, journal_id.encode())
    return large.store.place


def require_none(known: str | None) -> None:
    """Raises ConfigurationError if the journal has bodies elsewhere and no setting says so."""
    if known is not None:
        raise ConfigurationError(
            f"the large bodies of this journal lie in {known}: set HEADWATER_BODIES={known}"
        )


# --- putting -------------------------------------------------------------------------------------


def put_aside(
    engine: Engine, hashes: Sequence[str], packed: Sequence[bytes]
) -> tuple[tuple[bytes, ...], str | None]:
    """The packed bodies as rows hold them, the large ones put and marked, and the number of
    removals before the first was put; None if none was.
    """
    large = large_of(engine)
    if large is None or all(len(body) <= large.above for body in packed):
        return tuple(packed), None
    with read(engine, JournalUnavailable) as connection:
        removals = _removals(connection)
    return put_marked(large, hashes, packed), removals


def put_marked(
    large: LargeBodies | None, hashes: Sequence[str], packed: Sequence[bytes]
) -> tuple[bytes, ...]:
    """The packed bodies as rows hold them, once the large ones are in the store."""
    if large is None:
        return tuple(packed)
    return tuple(
        _put(large, name, body) if len(body) > large.above else body
        for name, body in zip(hashes, packed, strict=True)
    )


def _put(large: LargeBodies, name: str, body: bytes) -> bytes:
    large.store.put(name, body)
    return MARK


def refuse_removed(connection: Connection, removals: str | None, hashes: Collection[str]) -> None:
    """Raises RemovedMeanwhile if one of these bodies may be gone since ``removals`` was read."""
    if removals is None:
        return
    keys = [_REMOVAL_MARK + name for name in hashes]
    waiting = sa.select(meta.c.key).where(meta.c.key.in_(keys)).limit(1)
    if removals != _removals(connection) or connection.execute(waiting).first():
        raise RemovedMeanwhile


def _removals(connection: Connection) -> str:
    return str(connection.execute(_REMOVALS).scalar() or "")


# --- reading -------------------------------------------------------------------------------------


def fetch(held: Engine | Connection, name: str, packed: bytes | None) -> bytes | None:
    """The packed body of a row, from the store if the row has a mark; None if there is none."""
    if packed != MARK:
        return packed
    large = large_of(held)
    if large is None:
        raise JournalUnavailable("large bodies of this journal lie elsewhere: set HEADWATER_BODIES")
    return large.store.get(name)


# --- removing ------------------------------------------------------------------------------------


def mark_for_removal(connection: Connection, hashes: Collection[str]) -> None:
    """The rows of these bodies go with this transaction; their objects are to be removed after."""
    for chunk in chunks(sorted(hashes)):
        asked = sa.select(bodies.c.content_hash).where(
            bodies.c.content_hash.in_(chunk), bodies.c.packed == MARK
        )
        large_ones = connection.execute(asked).scalars().all()
        if large_ones:
            rows = [{"key": _REMOVAL_MARK + name, "value": ""} for name in large_ones]
            connection.execute(insert_new(connection, meta), rows)


def remove_marked(engine: Engine) -> None:
    """Remove the objects of names marked for removal; raises JournalUnavailable without the
    store.
    """
    large = large_of(engine)
    if large is None or not _marked(engine):
        return
    with _alone(engine, large):
        while names := _marked(engine):
            large.store.remove(names)
            write(engine, partial(_free, names), JournalUnavailable)


@contextmanager
def _alone(engine: Engine, large: LargeBodies) -> Iterator[None]:
    """No other thread or process removes objects. Documents are taken meanwhile."""
    if not large.removing.acquire(timeout=_TURN_SECONDS):
        raise JournalUnavailable("large bodies are being removed")
    try:
        with alone(engine, Lock.REMOVAL, JournalUnavailable):
            yield
    finally:
        large.removing.release()


def _marked(engine: Engine) -> list[str]:
    """Some of the names marked for removal."""
    with read(engine, JournalUnavailable) as connection:
        keys = connection.execute(_SOME_MARKED).scalars().all()
    return [key.removeprefix(_REMOVAL_MARK) for key in keys]


def _free(names: Collection[str], connection: Connection) -> None:
    """Their objects are gone. In the order of arrivals: no row is inserted meanwhile."""
    keep_order(connection, Lock.ORDER)
    keys = [_REMOVAL_MARK + name for name in names]
    connection.execute(meta.delete().where(meta.c.key.in_(keys)))
    new = {"key": REMOVALS_KEY, "value": token_hex(8)}
    connection.execute(meta.delete().where(meta.c.key == REMOVALS_KEY))
    connection.execute(meta.insert(), new)


class Removal:
    """Removes bodies marked for removal when it is asked to; less often while the store is away.

    ``clock`` gives seconds. For any thread.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._clock = clock
        self._pause = 0.0
        self._not_before = float("-inf")

    def attempt(self) -> None:
        """Remove bodies marked for removal; never fails. Bodies that it leaves stay marked for
        the next attempt, or for another thread that removes now.
        """
        large = large_of(self._engine)
        if large is None or large.removing.locked() or self._clock() < self._not_before:
            return
        try:
            remove_marked(self._engine)
        except JournalUnavailable as error:
            self._fail(error)
        else:
            self._pause = 0.0

    def _fail(self, error: JournalUnavailable) -> None:
        """In the log once, until it succeeds."""
        level = logging.DEBUG if self._pause else logging.WARNING
        log.log(level, "bodies of removed documents are still to be removed: %s", error)
        self._pause = min(max(2 * self._pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
        self._not_before = self._clock() + self._pause
