"""The transactions of a journal, which the answers to all questions share."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy.engine import Connection, Engine

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import GroupCommit, read
from graph_model.stores.journal.arrivals import Request, record
from graph_model.stores.journal.large_bodies import Removal


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
