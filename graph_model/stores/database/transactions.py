"""Transactions: one state to read, and writes that take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import Unavailable
from graph_model.stores.database.failures import POSTGRESQL, note_damage, passes, translated

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
