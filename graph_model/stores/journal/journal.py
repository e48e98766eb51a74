"""The journal: its parts, its own id, and how it is opened and checked."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, JournalUnavailable, Unavailable
from graph_model.stores.database import (
    insert_new,
    prepare,
    read,
    reserve_of,
    tells_damage,
    tidy,
    used_bytes,
    write,
)
from graph_model.stores.journal.contents import JournalContents
from graph_model.stores.journal.documents import JournalDocuments
from graph_model.stores.journal.intake import JournalIntake, JournalStates
from graph_model.stores.journal.integrity import Progress, find_problems
from graph_model.stores.journal.stored_bodies import (
    PLACE_KEY,
    check_place,
    check_vocabularies,
    large_of,
    require_none,
)
from graph_model.stores.journal.tables import VERSION, VERSION_WITH_LARGE_BODIES, meta, metadata

NEW_KEY: Final = "journal_new"
"""A journal's own setting: "true" from when its tables are made until a projector has found nothing
beside it that was made from another journal."""
ID_KEY: Final = "journal_id"
"""Where a journal keeps its own id."""
_ROWS_A_DOCUMENT: Final = 3_000
"""Bytes in the catalogue: 2,400 were measured for a run that is one document."""
_REMEDY: Final = (
    "nothing was changed. Everything else is made from the journal: keep the file, and"
    " restore the newest backup into another data folder (headwater restore FILE --data FOLDER)"
)


def read_meta(engine: Engine, key: str) -> str | None:
    """A value that the journal keeps, read beside a service of any version: it makes no table and
    records no version. None where there is none, or no journal.
    """
    with read(engine, JournalUnavailable) as connection:
        if not sa.inspect(connection).has_table(meta.name):
            return None
        value = connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar()
    return None if value is None else str(value)


def _prepare(engine: Engine) -> None:
    """Make the tables; only with large bodies elsewhere of the version that older ones refuse."""
    if large_of(engine) is not None:
        prepare(engine, "journal", VERSION_WITH_LARGE_BODIES, metadata)
        return
    try:
        prepare(engine, "journal", VERSION, metadata)
    except ConfigurationError:
        with suppress(JournalUnavailable):
            require_none(read_meta(engine, PLACE_KEY))
        raise


class Journal(JournalIntake, JournalDocuments, JournalStates, JournalContents):
    """The documents as they came, in the tables ``journal_*`` of an engine from ``open_database``.

    Each method is found in the class of its kind of question, beside its SQL. Every method is safe
    from several threads, several processes may share the database; raises JournalUnavailable. The
    constructor makes the tables that are missing, and raises ConfigurationError for a database
    that it cannot use.

    ``id`` is given to a journal when it is made, and distinguishes it from every other one.

    Every body is compared with its content hash when it is read. A method that reads several
    documents returns a damaged one with its ``damage`` and without its body; one that reads a
    single document raises DamagedDocument.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        check_vocabularies()
        try:
            _prepare(engine)
        except (ConfigurationError, Unavailable) as error:
            if tells_damage(error):
                raise ConfigurationError(f"{error}: {_REMEDY}") from error
            raise
        super().__init__(engine, clock)
        self._id = self._given_id()
        place = check_place(engine, self.get_meta(PLACE_KEY), self._id)
        if place is not None:
            self.set_meta(PLACE_KEY, place)
        self._removal.attempt()
        if (reserve := reserve_of(engine)) is not None:
            reserve.promised = self._unprojected_bytes

    def _unprojected_bytes(self) -> int:
        """About the room that the projection of the pending documents will take."""
        try:
            return _ROWS_A_DOCUMENT * self.backlog().documents
        except JournalUnavailable:
            return 0  # the request that asks will meet it

    def _given_id(self) -> str:
        def work(connection: Connection) -> None:
            new = {ID_KEY: uuid.uuid4().hex, NEW_KEY: "true"}
            rows = [{"key": key, "value": value} for key, value in new.items()]
            connection.execute(insert_new(connection, meta), rows)

        known = self.get_meta(ID_KEY)
        if known is None:
            write(self._engine, work, JournalUnavailable)
        return known or self.get_meta(ID_KEY) or ""

    @property
    def id(self) -> str:
        return self._id

    def tidy(self) -> bool:
        """One step of freeing the space of deleted rows; False when none is left."""
        self._removal.attempt()
        return tidy(self._engine, JournalUnavailable)

    def used_bytes(self) -> int:
        """The size of its tables; on SQLite that of its file, with the keys. Reads no rows."""
        with self._read() as connection:
            return used_bytes(connection, "journal%")

    def verify(self, progress: Progress = lambda _done, _total: None) -> tuple[str, ...]:
        """The defects of the journal, a sentence each; () when it is whole.

        Inflates every body, computes its hash again, and compares rows with each other. A damaged
        body is listed with its documents.
        """
        return tuple(find_problems(self._engine, progress))

    def close(self) -> None:
        """Give back the connections of the engine; safe to call twice."""
        self._engine.dispose()
