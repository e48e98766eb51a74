"""Transactions: one state to read, writes that take turns, many requests in one; locks between
the processes on one database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import URL, Connection, Engine

from graph_model.errors import Unavailable
from graph_model.stores.database.statements import (
    POSTGRESQL,
    is_busy,
    note_damage,
    passes,
    translated,
)

_ATTEMPTS: Final = 3
_TURN_SECONDS: Final = 10.0
WRITE: Final = "headwater_write"
TURN: Final = "headwater_turn"
_Result = TypeVar("_Result")


def is_in_memory(url: URL) -> bool:
    """Whether it is a SQLite database that lives in its one connection."""
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def begin_on_sqlite(connection: Connection) -> None:
    """Begin a transaction. One that reads first and writes later could not wait for its turn: it
    would fail at once.
    """
    writes = connection.get_execution_options().get(WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def read(engine: Engine, unavailable: type[Unavailable]) -> Iterator[Connection]:
    """One transaction that reads: every statement in it sees the same state."""
    try:
        with engine.connect() as connection:
            if engine.dialect.name == POSTGRESQL:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield connection
    except exc.SQLAlchemyError as error:
        note_damage(engine, error)
        raise translated(error, unavailable) from error


def write(
    engine: Engine, work: Callable[[Connection], _Result], unavailable: type[Unavailable]
) -> _Result:
    """Run ``work`` in one transaction; on return it is durable, on an exception nothing is.

    ``work`` runs again when another writer was in the way, a bounded number of times. Raises
    ``unavailable`` with a plain reason.
    """
    with _turn(engine, unavailable):
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                with (
                    engine.connect().execution_options(**{WRITE: True}) as connection,
                    connection.begin(),
                ):
                    return work(connection)
            except exc.SQLAlchemyError as error:
                if not (attempts_left and passes(error)):
                    note_damage(engine, error)
                    raise translated(error, unavailable) from error
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def _turn(engine: Engine, unavailable: type[Unavailable]) -> Iterator[None]:
    lock: threading.Lock | None = engine.get_execution_options().get(TURN)
    if lock is None:
        yield
    elif lock.acquire(timeout=_TURN_SECONDS):
        try:
            yield
        finally:
            lock.release()
    else:
        raise unavailable("the database is busy: another writer holds it for too long")


_Asked = TypeVar("_Asked")

_GROUP_SECONDS: Final = 30.0
_MOST_TOGETHER: Final = 64


@dataclass(slots=True)
class _Ticket(Generic[_Asked, _Result]):
    """A request in the queue. ``woken``: its result is there, or it is its turn to lead."""

    request: _Asked
    woken: threading.Event = field(default_factory=threading.Event)
    results: list[_Result] = field(default_factory=list)  # none or one
    error: BaseException | None = None
    leads: bool = False

    def result(self) -> _Result:
        """Its result, once it was seen through; or raises its error."""
        if self.error is not None:
            raise self.error
        return self.results[0]


class GroupCommit(Generic[_Asked, _Result]):
    """Requests of concurrent threads in one transaction: one fsync makes all of them durable.

    The first thread leads: it commits the waiting requests, and passes the lead to the first that
    came meanwhile. No thread waits for others: a request alone is a transaction alone. ``work``
    gets the requests of one transaction in the order in which they came, and returns a result for
    each; if it fails, each of them runs alone, so that none fails because of another. A request
    that the database does not take raises ``unavailable``.
    """

    def __init__(
        self,
        engine: Engine,
        work: Callable[[Connection, Sequence[_Asked]], Sequence[_Result]],
        unavailable: type[Unavailable],
        *,
        most: int = _MOST_TOGETHER,
    ) -> None:
        self._engine = engine
        self._work = work
        self._unavailable = unavailable
        self._most = most
        self._mutex = threading.Lock()
        self._waiting: list[_Ticket[_Asked, _Result]] = []
        self._led = False

    def run(self, request: _Asked) -> _Result:
        """The result of ``work`` for this request, once it is durable; or its own error."""
        ticket = self._queue(request)
        if not ticket.leads:
            self._await(ticket)
        if ticket.leads:
            self._lead()
        return ticket.result()

    def _queue(self, request: _Asked) -> _Ticket[_Asked, _Result]:
        ticket: _Ticket[_Asked, _Result] = _Ticket(request)
        with self._mutex:
            self._waiting.append(ticket)
            ticket.leads, self._led = not self._led, True
        return ticket

    def _await(self, ticket: _Ticket[_Asked, _Result]) -> None:
        if ticket.woken.wait(_GROUP_SECONDS):
            return
        with self._mutex:
            queued = ticket in self._waiting and not ticket.leads
            if queued:
                self._waiting.remove(ticket)
        if queued:
            ticket.error = self._unavailable(
                "the database is busy: too many requests wait to be written"
            )
            return
        ticket.woken.wait()  # it is being written now: its result is known at the end alone

    def _lead(self) -> None:
        """Commit the first that wait, this thread's own among them, and pass the lead on."""
        with self._mutex:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            self._commit(batch)
        except BaseException as error:  # an interrupt: the threads that wait must learn of it, too
            for ticket in batch:
                if not ticket.results:
                    ticket.error = ticket.error or self._unavailable("interrupted")
            raise error
        finally:
            self._hand_over()
            for ticket in batch:
                ticket.woken.set()

    def _hand_over(self) -> None:
        with self._mutex:
            self._led = bool(self._waiting)
            if self._led:
                self._waiting[0].leads = True
                self._waiting[0].woken.set()

    def _commit(self, batch: Sequence[_Ticket[_Asked, _Result]]) -> None:
        try:
            results = self._write(batch)
        except Exception as error:
            if len(batch) == 1:
                batch[0].error = error
            else:
                self._commit_each(batch, error)
            return
        for ticket, result in zip(batch, results, strict=True):
            ticket.results.append(result)

    def _commit_each(self, batch: Sequence[_Ticket[_Asked, _Result]], error: Exception) -> None:
        """One after the other; a database that does not let us write fails the rest at once."""
        for place, ticket in enumerate(batch):
            if is_busy(error):
                for left in batch[place:]:
                    left.error = error
                return
            self._commit([ticket])
            error = ticket.error if isinstance(ticket.error, Exception) else error

    def _write(self, batch: Sequence[_Ticket[_Asked, _Result]]) -> Sequence[_Result]:
        requests = [ticket.request for ticket in batch]
        return write(
            self._engine, lambda connection: self._work(connection, requests), self._unavailable
        )


_LOCK_SECONDS: Final = 30.0
_HELD: Final = "another Headwater holds this database, which no longer held it for this one"


class Lock(IntEnum):
    """Advisory locks between the processes on one PostgreSQL database, by number.

    Arbitrary, and the same in every Headwater. On SQLite its own write lock, and the lock on the
    data folder, do the same.
    """

    SCHEMA = 7_238_145_001
    ORDER = 7_238_145_002  # positions are given, and become visible, in one order
    PROJECTION = 7_238_145_003  # one projector at a time
    SERVICE = 7_238_145_004  # shared by services, held alone by a task that tolerates no other
    COUNTS = 7_238_145_005  # counted rows are looked up and written by one at a time
    LEASE = 7_238_145_006  # the projector that goes on with the next round, while many come
    REMOVAL = 7_238_145_007  # one process removes large bodies from their store at a time
    REBUILD = 7_238_145_008  # the process that rebuilds, from its first step to its last


def keep_order(connection: Connection, lock: Lock) -> None:
    """Until this transaction ends, no other one that asks for the same lock goes on.

    PostgreSQL gives numbers of a sequence at once and shows rows at the commit, in another order:
    a reader that remembers the last position it saw would miss the smaller one that comes later.
    On SQLite there is one writer at a time anyway.
    """
    if connection.dialect.name == POSTGRESQL:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(int(lock))))


@contextmanager
def alone(
    engine: Engine,
    lock: Lock,
    unavailable: type[Unavailable],
    held: type[Unavailable] | None = None,
) -> Iterator[None]:
    """Hold a lock between processes for work longer than a transaction.

    A process that dies releases it. On SQLite nothing is held: one process serves one folder.
    Raises ``held`` (None: ``unavailable``) when another holds it for longer than half a minute.
    """
    if engine.dialect.name != POSTGRESQL:
        yield
        return
    connection = autocommitting(engine, unavailable)
    try:
        _wait_for(connection, lock, unavailable, held or unavailable)
        yield
    finally:
        _let_go(connection, lock)


def _wait_for(
    connection: Connection, lock: Lock, unavailable: type[Unavailable], held: type[Unavailable]
) -> None:
    try:
        connection.exec_driver_sql(f"SET lock_timeout = {int(_LOCK_SECONDS * 1000)}")
        connection.execute(sa.select(sa.func.pg_advisory_lock(int(lock))))
    except exc.SQLAlchemyError as error:
        raise translated(error, held if passes(error) else unavailable) from error


def _let_go(connection: Connection, lock: Lock) -> None:
    """Back to the pool without the lock; a connection that keeps it is closed, which unlocks it."""
    try:
        connection.execute(sa.select(sa.func.pg_advisory_unlock(int(lock))))
        connection.exec_driver_sql("RESET lock_timeout")
    except exc.SQLAlchemyError:
        connection.invalidate()
    finally:
        connection.close()


class Lease:
    """A lock between processes that one of them keeps from one piece of work to the next, alone or
    together with others that ask for it ``shared``.

    For one thread. A process that dies gives it up. On SQLite nothing is held: one process serves
    one folder.
    """

    def __init__(
        self,
        engine: Engine,
        lock: Lock,
        unavailable: type[Unavailable],
        *,
        shared: bool = False,
    ) -> None:
        attempt = sa.func.pg_try_advisory_lock_shared if shared else sa.func.pg_try_advisory_lock
        self._attempt = sa.select(attempt(int(lock)))
        self._engine = engine
        self._unavailable = unavailable
        self._session: Connection | None = None

    @property
    def is_shared(self) -> bool:
        """Whether another process may ask for it."""
        return self._engine.dialect.name == POSTGRESQL

    def take(self) -> bool:
        """Whether this process has the lock, still or from now on; False while another has it.

        Asked even of a session that has it: a session that was lost has nothing.
        """
        if not self.is_shared:
            return True
        if self._session is None:
            self._session = self._connect()
        try:
            return bool(self._session.execute(self._attempt).scalar())
        except exc.SQLAlchemyError as error:
            self.give_up()
            raise translated(error, self._unavailable) from error

    def _connect(self) -> Connection:
        return autocommitting(self._engine, self._unavailable)

    def give_up(self) -> None:
        """Another process may have it from now on; without effect where this one has it not."""
        session, self._session = self._session, None
        if session is None:
            return
        try:
            # however often it was taken
            session.execute(sa.select(sa.func.pg_advisory_unlock_all()))
        except exc.SQLAlchemyError:
            session.invalidate()
        finally:
            session.close()


class Claim(Lease):
    """The database, held for one service as long as it runs: beside others that share it, or alone.

    On SQLite nothing is held: there the data folder is.
    """

    def __init__(self, engine: Engine, *, shared: bool) -> None:
        super().__init__(engine, Lock.SERVICE, Unavailable, shared=shared)
        self._was_lost = False

    def keep(self) -> bool:
        """Whether it was held since the former call. False where its session was lost and it is
        held again: another service may have worked in between. Raises Unavailable while the
        database does not answer, or another service has it.
        """
        try:
            if not self.take():
                raise Unavailable(_HELD)
        except Unavailable:
            self._was_lost = True
            raise
        was_lost, self._was_lost = self._was_lost, False
        return not was_lost

    def _connect(self) -> Connection:
        """Not one of the pool, which is closed before the service ends."""
        connection = super()._connect()
        connection.detach()
        return connection


@contextmanager
def claim_database(engine: Engine, *, shared: bool) -> Iterator[Claim | None]:
    """Hold the database for this service: beside others that share it, or alone.

    None if that is not possible now.
    """
    claim = Claim(engine, shared=shared)
    try:
        yield claim if claim.take() else None
    finally:
        claim.give_up()


def autocommitting(engine: Engine, unavailable: type[Unavailable]) -> Connection:
    """A connection outside any transaction, for statements that PostgreSQL runs in none."""
    try:
        return engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    except exc.SQLAlchemyError as error:
        raise translated(error, unavailable) from error
