"""Transactions: one state to read, writes that take turns, requests of many threads in one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import Unavailable
from graph_model.stores.database.failures import (
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
