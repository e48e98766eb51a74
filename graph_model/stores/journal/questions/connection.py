"""The transactions of a journal, which the answers to all questions share."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager

from sqlalchemy.engine import Connection, Engine

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import read
from graph_model.stores.journal.arrivals import GroupCommit, Request, record
from graph_model.stores.journal.large_bodies import remove_condemned

log = logging.getLogger(__name__)


class JournalConnection:
    """Every method may raise JournalUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._taking: GroupCommit[Request, tuple[int, ...]] = GroupCommit(engine, record)

    def _read(self) -> AbstractContextManager[Connection]:
        return read(self._engine, JournalUnavailable)

    def _remove_condemned(self) -> None:
        try:
            remove_condemned(self._engine)
        except JournalUnavailable as error:
            log.warning("bodies of removed documents are still to be removed: %s", error)
