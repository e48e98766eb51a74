"""Where journalled documents are sent on to, and how far that has come.

A destination is a row: its definition, the position up to which everything is done, and what it
has refused. The definition holds no secret, only where one is found. Destinations are no part of a
backup: one that is restored would send again what its twin has sent. On PostgreSQL the process that
sends is a row, too (decision 201).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import InvalidInput, NotFound, Unavailable
from graph_model.stores.database import (
    POSTGRESQL,
    StoredText,
    chunks,
    insert_new,
    prepare,
    read,
    serial,
    write,
)

VERSION: Final = 1
MOST_LETTERS: Final = 100_000
"""Of one destination. It stops where it would have more: something is wrong with all of them."""
LEASE_SECONDS: Final = 120.0
"""So long a process may send since it asked last."""

metadata = sa.MetaData()

destinations = sa.Table(
    "forward_destinations",
    metadata,
    sa.Column("name", StoredText(), primary_key=True),
    sa.Column("definition", StoredText(), nullable=False),
    sa.Column("position", serial(), nullable=False),
    sa.Column("ahead", StoredText(), nullable=False),  # positions after it that are done, as JSON
    sa.Column("sent", sa.BigInteger, nullable=False),
    sa.Column("paused", sa.Integer, nullable=False),  # 0 or 1
    sa.Column("failure", StoredText(), nullable=False),  # why it waits, "" where it does not
    sa.Column("failed_at", sa.BigInteger),  # epoch ms
)

letters = sa.Table(
    "forward_letters",
    metadata,
    sa.Column("destination", StoredText(), primary_key=True),
    sa.Column("position", serial(), primary_key=True, autoincrement=False),
    sa.Column("reason", StoredText(), nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),  # epoch ms
    sa.Column("due", sa.Integer, nullable=False),  # 1: to be sent again
    sa.Index("forward_letters_due", "destination", "due", "position"),
)

leases = sa.Table(
    "forward_lease",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),  # 1
    sa.Column("holder", StoredText(), nullable=False),  # "" for nobody
    sa.Column("until", sa.BigInteger, nullable=False),  # epoch ms of the database's clock
)


@dataclass(frozen=True, slots=True)
class ForwardState:
    """A destination with its progress. Everything up to ``position`` is done, and so are the
    positions ``ahead`` of it. ``letters`` counts the documents that it has refused.
    """

    name: str
    definition: str
    position: int
    ahead: frozenset[int]
    sent: int
    paused: bool
    failure: str
    failed_at: int | None
    letters: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A document that a destination has refused. ``due``: it is to be sent again."""

    position: int
    reason: str
    at: int
    due: bool


class ForwardLease:
    """The right to send, which one process at a time has for ``LEASE_SECONDS`` since it asked last.

    A session's lock would be gone with the session, while its process still sends. On SQLite
    nothing is held: there the data folder's lock file is, for as long as its process lives.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_shared = engine.dialect.name == POSTGRESQL
        self._engine = engine
        self._clock = clock
        self._holder = uuid4().hex
        self._until = -math.inf if self.is_shared else math.inf

    @property
    def seconds_left(self) -> float:
        """In which no other process sends. For any thread."""
        return self._until - self._clock()

    def take(self) -> bool:
        """Whether this process may send, still or from now on; False while another one may."""
        if not self.is_shared:
            return True
        begun = self._clock()  # before the database's: it runs out here first
        now = sa.cast(sa.extract("epoch", sa.func.clock_timestamp()) * 1_000, sa.BigInteger)
        change = (
            leases.update()
            .where(sa.or_(leases.c.holder == self._holder, leases.c.until < now))
            .values(holder=self._holder, until=now + int(LEASE_SECONDS * 1_000))
        )

        def work(connection: Connection) -> int:
            free = {"id": 1, "holder": "", "until": 0}
            connection.execute(insert_new(connection, leases), free)
            return connection.execute(change).rowcount

        taken = bool(write(self._engine, work, Unavailable))
        self._until = begun + LEASE_SECONDS if taken else -math.inf
        return taken

    def give_up(self) -> None:
        """Another process may send from now on; without effect where one may already."""
        self._until = -math.inf
        own = leases.c.holder == self._holder
        change = leases.update().where(own).values(holder="", until=0)
        write(self._engine, lambda c: c.execute(change).rowcount, Unavailable)

    def holds(self, connection: Connection) -> bool:
        """Whether no other process has taken it; none does before this transaction ends."""
        if not self.is_shared:
            return True
        asked = sa.select(leases.c.holder).with_for_update(read=True)
        return connection.execute(asked).scalar() == self._holder


class ForwardStates:
    """The tables of an engine from ``open_database``. Every method may raise Unavailable."""

    def __init__(self, engine: Engine) -> None:
        prepare(engine, "forwarding", VERSION, metadata)
        self._engine = engine
        self.lease = ForwardLease(engine)

    def add(self, name: str, definition: str, position: int) -> None:
        """A destination to which documents after ``position`` are sent. Raises InvalidInput for a
        name that is taken.
        """
        row = {
            "name": name, "definition": definition, "position": position, "ahead": "[]",
            "sent": 0, "paused": 0, "failure": "", "failed_at": None,
        }  # fmt: skip

        def work(connection: Connection) -> int:
            return connection.execute(insert_new(connection, destinations), row).rowcount

        if not write(self._engine, work, Unavailable):
            raise InvalidInput(f"name {name!r}: a destination has it already")

    def list(self) -> tuple[ForwardState, ...]:
        """Every destination, by its name."""
        return self._states(sa.true())

    def get(self, name: str) -> ForwardState:
        """Raises NotFound."""
        for state in self._states(destinations.c.name == name):
            return state
        raise NotFound("destination", name)

    def _states(self, chosen: sa.ColumnElement[bool]) -> tuple[ForwardState, ...]:
        counted = (
            sa.select(sa.func.count())
            .where(letters.c.destination == destinations.c.name)
            .scalar_subquery()
        )
        asked = sa.select(destinations, counted.label("letters")).where(chosen)
        with read(self._engine, Unavailable) as connection:
            return tuple(map(_state, connection.execute(asked.order_by(destinations.c.name))))

    def remove(self, name: str) -> None:
        """The destination with its progress and its dead letters. Raises NotFound."""

        def work(connection: Connection) -> int:
            connection.execute(letters.delete().where(letters.c.destination == name))
            return connection.execute(
                destinations.delete().where(destinations.c.name == name)
            ).rowcount

        if not write(self._engine, work, Unavailable):
            raise NotFound("destination", name)

    def pause(self, name: str, *, paused: bool) -> None:
        """Raises NotFound."""
        self._set(name, paused=int(paused))

    def fail(self, name: str, reason: str, at: int | None) -> None:
        """Note why a destination waits, and since when (epoch ms): ``at``, where it did not wait
        already. "" and None: it does not.
        """
        since = None if at is None else sa.func.coalesce(destinations.c.failed_at, at)
        self._set(name, failure=reason, failed_at=since)

    def _set(self, name: str, **values: object) -> None:
        change = destinations.update().where(destinations.c.name == name).values(**values)
        if not write(self._engine, lambda c: c.execute(change).rowcount, Unavailable):
            raise NotFound("destination", name)

    def advance(
        self,
        before: ForwardState,
        position: int,
        ahead: Collection[int],
        sent: int,
        refused: Iterable[DeadLetter],
    ) -> None:
        """Note what a round has done, in one transaction: durable on return. ``sent`` documents
        more were sent. Without effect for a process whose lease another one has taken, and on a
        destination that is not as it was ``before``: it was removed meanwhile, and perhaps added
        again, from another time.
        """
        name = before.name
        change = (
            destinations.update()
            .where(
                destinations.c.name == name,
                destinations.c.definition == before.definition,
                destinations.c.position == before.position,
                destinations.c.ahead == _listed(before.ahead),
            )
            .values(
                position=position,
                ahead=_listed(ahead),
                sent=destinations.c.sent + sent,
            )
        )
        rows = [
            {"destination": name, "position": letter.position, "reason": letter.reason,
             "at": letter.at, "due": 0}
            for letter in refused
        ]  # fmt: skip

        def work(connection: Connection) -> None:
            if not self.lease.holds(connection):
                return
            if connection.execute(change).rowcount and rows:
                connection.execute(insert_new(connection, letters), rows)

        write(self._engine, work, Unavailable)

    # --- dead letters ----------------------------------------------------------------------------

    def letters(self, name: str, limit: int, *, due: bool = False) -> tuple[DeadLetter, ...]:
        """The refused documents of a destination, by position; ``due``: those to send again."""
        own = letters.c.destination == name
        chosen = sa.and_(own, letters.c.due == 1) if due else own
        asked = sa.select(letters).where(chosen).order_by(letters.c.position).limit(limit)
        with read(self._engine, Unavailable) as connection:
            rows = connection.execute(asked).all()
        return tuple(DeadLetter(row.position, row.reason, row.at, bool(row.due)) for row in rows)

    def replay(self, name: str) -> int:
        """Send all dead letters of a destination again; how many."""
        change = letters.update().where(letters.c.destination == name).values(due=1)
        return write(self._engine, lambda c: c.execute(change).rowcount, Unavailable)

    def settle(
        self, name: str, gone: Collection[int], sent: int, refused: Iterable[DeadLetter]
    ) -> None:
        """Note what became of dead letters that were sent again: gone, ``sent`` of them by being
        sent, or refused once more. Without effect as ``advance``.
        """
        own = letters.c.destination == name

        def work(connection: Connection) -> None:
            if not self.lease.holds(connection):
                return
            for chunk in chunks(sorted(gone)):
                connection.execute(letters.delete().where(own, letters.c.position.in_(chunk)))
            for letter in refused:
                at_its_place = sa.and_(own, letters.c.position == letter.position)
                again = {"due": 0, "reason": letter.reason, "at": letter.at}
                connection.execute(letters.update().where(at_its_place).values(**again))
            counted = destinations.c.sent + sent
            connection.execute(
                destinations.update().where(destinations.c.name == name).values(sent=counted)
            )

        write(self._engine, work, Unavailable)


def _listed(positions: Collection[int]) -> str:
    return json.dumps(sorted(positions))


def _state(row: Any) -> ForwardState:
    return ForwardState(
        name=row.name,
        definition=row.definition,
        position=row.position,
        ahead=frozenset(json.loads(row.ahead)),
        sent=row.sent,
        paused=bool(row.paused),
        failure=row.failure,
        failed_at=row.failed_at,
        letters=row.letters,
    )
