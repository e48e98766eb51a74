"""The catalogue: its parts together; the one in force, and the next one while it is built.

A re-projection fills a catalogue of its own and then takes the place of the old one, so that no
answer ever mixes two translations. On SQLite each generation is a file beside the journal's
(``catalogue-7.db``), on PostgreSQL a schema of the journal's database (``headwater_catalogue_7``).
The journal holds the number of the one in force, so every process on one journal sees the same.

A catalogue that is damaged, or does not match this journal (``Origin``), is set aside
(``catalogue-7_set_aside.db``; the newest is kept) and the next number takes its place, empty: the
projector then projects everything anew.
"""

from __future__ import annotations

import logging
import threading
import weakref
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, Unavailable
from graph_model.stores.catalogue.events import Events
from graph_model.stores.catalogue.executions import ExecutionHistory
from graph_model.stores.catalogue.facets import FacetRecords, RunFacets, RunRecords, SchemaHistory
from graph_model.stores.catalogue.lists import CatalogueLists
from graph_model.stores.catalogue.names import CatalogNames, NodeLookup
from graph_model.stores.catalogue.reading import is_doubtful
from graph_model.stores.catalogue.rows import (
    ROUND_KEY,
    CatalogueRows,
    Elements,
    Origin,
    mismatch_with,
    read_origin,
)
from graph_model.stores.catalogue.search import Search
from graph_model.stores.catalogue.support import SupportLookup
from graph_model.stores.catalogue.tables import VERSION, executions, metadata, origins
from graph_model.stores.catalogue.versions import VersionedWrites
from graph_model.stores.catalogue.writes import Writes
from graph_model.stores.database import (
    Lock,
    damage,
    engine_for_schema,
    keep_order,
    keep_reserve,
    noted_damage,
    open_database,
    prepare,
    read,
    reserve_of,
    tells_damage,
    tidy,
    used_bytes,
    write,
)
from graph_model.stores.journal import Journal


class Catalogue(
    SchemaHistory,
    NodeLookup,
    CatalogNames,
    ExecutionHistory,
    Writes,
    VersionedWrites,
    CatalogueLists,
    Search,
    RunFacets,
    SupportLookup,
    CatalogueRows,
):
    """Times, names and counts, in the tables ``catalogue_*`` of an engine from ``open_database``.
    It serves rows, and knows no connectivity.

    Each method is found in the class of its kind of question, beside its SQL; ``events``, ``runs``,
    ``facets`` and ``elements`` are parts with names of their own. Several threads may share one.
    Every method may raise Unavailable; the constructor raises ConfigurationError for a database
    that it cannot use. It empties tables of an older version; with ``untouched`` it changes
    nothing, and only ``origin`` is sure to be answered.
    """

    def __init__(self, engine: Engine, *, untouched: bool = False) -> None:
        if not untouched:
            prepare(engine, "catalogue", VERSION, metadata, empty_older=True)
        super().__init__(engine)

    @property
    def events(self) -> Events:
        """Lists of executions and data sources with filters, in any order."""
        return Events(self._engine, self._held)

    @property
    def runs(self) -> RunRecords:
        """Runs from OpenLineage's events, ended or not."""
        return RunRecords(self._engine, self._held)

    @property
    def facets(self) -> FacetRecords:
        """Facets over time."""
        return FacetRecords(self._engine, self._held)

    @property
    def elements(self) -> Elements:
        """The elements that the embedded engine has, or is to have."""
        return Elements(self._engine)

    def origin(self) -> Origin | None:
        """The last noted origin; None for an empty catalogue."""
        with self._read() as connection:
            return read_origin(connection)

    @property
    def damage(self) -> str | None:
        """The damage that its reads and writes have met; None while it is whole."""
        return noted_damage(self._engine)

    def examine(self) -> tuple[str, ...]:
        """The defects that the database itself finds in its file; reads all of it."""
        with self._read() as connection:
            return damage(connection)

    def tidy(self) -> bool:
        """One step of freeing the space of deleted rows; False when none is left."""
        return tidy(self._engine, Unavailable)

    def used_bytes(self) -> int:
        """The size of its tables; on SQLite that of its file. Reads no rows."""
        with self._read() as connection:
            return used_bytes(connection, "catalogue%")

    def close(self) -> None:
        """Give back the connections of the engine; safe to call twice."""
        self._engine.dispose()


log = logging.getLogger(__name__)

GENERATION_KEY: Final = "catalogue_generation"
_SCHEMA: Final = "headwater_catalogue_"
_ASIDE: Final = "_set_aside"
_SUFFIXES: Final = ("", "-wal", "-shm")
_DAMAGED: Final = "its file is damaged"


class Generations:
    """The catalogue in force, and the next one during a rebuild.

    ``version`` counts changes of a catalogue's content: another version is another epoch.
    """

    def __init__(self, database: Engine, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        self._lock = threading.Lock()
        self._number = self._recorded()
        self._next: Catalogue | None = None
        self._trusted = False
        self._set_aside_for: str | None = None  # the reason
        try:
            self._current = self._open(self._number)
        except (ConfigurationError, Unavailable) as error:
            if not tells_damage(error):
                raise
            self._set_aside_for = _DAMAGED
            self._current = self._replacement()

    @property
    def version(self) -> int:
        return VERSION

    @property
    def current(self) -> Catalogue:
        """The catalogue in force. One answer asks once and keeps it."""
        return self._current

    @property
    def written(self) -> tuple[Catalogue, ...]:
        """The catalogue in force, and the next one while it is built."""
        with self._lock:
            return (self._current,) if self._next is None else (self._current, self._next)

    # --- whether it belongs to the journal -------------------------------------------------------

    @property
    def damage(self) -> str | None:
        """Damage that a reader or writer of the catalogue in force met; None while it is whole."""
        return self._current.damage

    @property
    def trusted(self) -> bool:
        """Whether ``find_mismatch`` found nothing, or the catalogue was made here since."""
        return self._trusted

    def find_mismatch(self) -> str | None:
        """Why the catalogue in force does not match this journal; None if it does.

        To be called while no process projects (``Journal.projecting``).
        """
        mismatch = self._mismatch()
        self._trusted = mismatch is None
        return mismatch

    def _mismatch(self) -> str | None:
        if self.damage:
            return _DAMAGED
        try:
            origin = self._current.origin()
        except Unavailable as error:
            if tells_damage(error):
                return _DAMAGED
            raise
        concluded = int(self._journal.get_meta(ROUND_KEY) or 0)
        mismatch = mismatch_with(origin, self._journal.id, concluded, self._journal.newest())
        return mismatch and (self._set_aside_for or mismatch)

    def find_foreign(self, *, is_new: bool) -> str | None:
        """A catalogue beside the journal with the documents of another one, for a message, whatever
        its number; None where there is none. Before a new journal also one that was set aside or
        cannot be read: it has none of its own documents.
        """
        aside = [name for name in self._names() if name.endswith(_ASIDE)] if is_new else []
        if aside:  # this journal is to be asked before it sets any aside
            return f"the catalogue {aside[-1]}, which was set aside"
        foreign = self._foreign(unreadable=is_new)
        return f"the catalogue {foreign[-1]} of another journal" if foreign else None

    def set_foreign_aside(self) -> None:
        """Give catalogues of another journal another name, but for the one in force."""
        for number in self._foreign(unreadable=True):
            if number != self._number:
                self._put_aside(number)

    def _foreign(self, *, unreadable: bool) -> list[int]:
        numbers = sorted(int(name) for name in self._names() if name.isdecimal())
        return [number for number in numbers if self._is_foreign(number, unreadable=unreadable)]

    def _is_foreign(self, number: int, *, unreadable: bool) -> bool:
        """Whether a catalogue has the documents of another journal; ``unreadable``: the answer for
        one that is damaged.
        """
        engine = self._engine(number)
        is_file = self._database.dialect.name == "sqlite"
        try:
            with read(engine, Unavailable) as connection:
                origin = _origin_in(connection, None if is_file else f"{_SCHEMA}{number}")
        except Unavailable as error:
            if not tells_damage(error):
                raise
            return unreadable
        finally:
            if is_file:  # elsewhere its connections are the journal's
                engine.dispose()
        return origin is not None and origin.journal != self._journal.id and origin.position > 0

    def _names(self) -> list[str]:
        """``7`` or ``7_set_aside`` for each catalogue beside the journal."""
        if self._database.dialect.name == "sqlite":
            file = self._file(0)
            files = [] if file is None else sorted(file.parent.glob("catalogue-*.db"))
            return [path.stem.removeprefix("catalogue-") for path in files]
        with read(self._database, Unavailable) as connection:
            schemas = sa.inspect(connection).get_schema_names()
        return [name.removeprefix(_SCHEMA) for name in schemas if name.startswith(_SCHEMA)]

    def set_aside(self) -> None:
        """Put an empty catalogue in place of the one in force, which is kept under another name if
        it holds anything. The empty one is not trusted until ``adopt`` or ``switch``.

        The next number is in force then: connections still open on the former catalogue must not
        find another catalogue's files under its name.
        """
        self._trusted = False
        if self.damage is None and self._current.origin() is None:
            self._current.clear()
            return
        self._set_aside_for = self._set_aside_for or self._mismatch()
        if self._database.dialect.name == "sqlite":  # elsewhere its connections are the journal's
            self._current.close()
        replacement = self._replacement()
        with self._lock:
            self._current = replacement

    def adopt(self) -> None:
        """Trust the catalogue in force: the documents that it lacks are PENDING in the journal."""
        self._current.record((), replace(self._origin(), position=0))
        self._trusted, self._set_aside_for = True, None

    def _origin(self) -> Origin:
        concluded = int(self._journal.get_meta(ROUND_KEY) or 0)
        return Origin(self._journal.id, concluded, self._journal.newest())

    def _replacement(self) -> Catalogue:
        """The next catalogue, in force and empty; the former is kept under another name."""
        aside = self._put_aside(self._number)
        log.warning(
            "the catalogue %d is set aside as %s: %s", self._number, aside, self._set_aside_for
        )
        self._drop(self._number + 1)  # left by an interrupted rebuild
        self._journal.set_meta(GENERATION_KEY, str(self._number + 1))
        self._number += 1
        return self._open(self._number)

    # --- one after the other ---------------------------------------------------------------------

    def refresh(self) -> bool:
        """Follow a switch that another process has made. Returns whether there was one."""
        number = self._recorded()
        with self._lock:
            if number == self._number:
                return False
            self._number, self._current = number, self._open(number)
        self.find_mismatch()
        return True

    def ensure_next_fits(self) -> None:
        """Raises DiskNearlyFull where a second catalogue does not leave the reserve free: on a full
        disk the rebuild could not end, and nothing could be removed.
        """
        if (reserve := reserve_of(self._database)) is not None:
            reserve.check(self._current.used_bytes())

    def begin(self) -> Catalogue:
        """The next catalogue, empty; what an interrupted rebuild left of one is removed."""
        number = self._number + 1
        try:
            self._next = self._open(number)
            self._next.clear()
        except (ConfigurationError, Unavailable) as error:
            if not tells_damage(error):
                raise
            self._drop(number)
            self._next = self._open(number)
        return self._next

    def abandon(self) -> None:
        """Go on without the next catalogue; nothing when there is none."""
        begun, self._next = self._next, None
        if begun is not None:
            begun.close()

    def switch(self) -> None:
        """Put the next catalogue in force, durably; the former stays until ``drop_former``."""
        if self._next is None:
            raise ValueError("no generation was begun")
        self._next.record((), self._origin())
        self._journal.set_meta(GENERATION_KEY, str(self._number + 1))
        with self._lock:
            self._number, self._current, self._next = self._number + 1, self._next, None
        self._trusted, self._set_aside_for = True, None

    def drop_former(self) -> None:
        """Remove the generations before the one in force: a rebuild that ended right after its
        switch has left one more.
        """
        for name in self._names():
            if name.isdecimal() and int(name) < self._number:
                self._drop(int(name))

    def close(self) -> None:
        """Give back connections; safe to call twice."""
        self._current.close()
        if self._next is not None:
            self._next.close()

    def _recorded(self) -> int:
        return int(self._journal.get_meta(GENERATION_KEY) or 0)

    def _open(self, number: int) -> Catalogue:
        """Its file is closed when the last answer that reads it is gone: the disk has the room of a
        removed file again only then. One of another journal stays as it is, for ``find_foreign``.
        """
        is_foreign = self._is_foreign(number, unreadable=False)
        engine = self._engine(number)
        catalogue = Catalogue(engine, untouched=is_foreign)
        if self._database.dialect.name == "sqlite":  # elsewhere its connections are the journal's
            weakref.finalize(catalogue, engine.dispose).atexit = False
        return catalogue

    def _engine(self, number: int) -> Engine:
        if self._database.dialect.name == "sqlite":
            file = self._file(number)
            engine = open_database("sqlite://" if file is None else file)
            keep_reserve(engine, reserve_of(self._database))
            return engine
        write(self._database, lambda c: _create_schema(c, number), Unavailable)
        return engine_for_schema(self._database, f"{_SCHEMA}{number}")

    def _file(self, number: int) -> Path | None:
        """None for a database in memory."""
        return catalogue_file(self._database, number)

    def _put_aside(self, number: int) -> str:
        """Rename the catalogue and return its new name; remove those that were set aside before."""
        if self._database.dialect.name != "sqlite":
            return write(self._database, lambda c: _rename_schema(c, number), Unavailable)
        if (file := self._file(number)) is None:
            return "nothing"
        for former in file.parent.glob(f"catalogue-*{_ASIDE}.db*"):
            former.unlink(missing_ok=True)
        aside = file.with_name(f"{file.stem}{_ASIDE}.db")
        for suffix in _SUFFIXES:
            with suppress(FileNotFoundError):
                file.with_name(file.name + suffix).rename(f"{aside}{suffix}")
        return aside.name

    def _drop(self, number: int) -> None:
        if self._database.dialect.name != "sqlite":
            write(self._database, lambda c: _drop_schema(c, number), Unavailable)
        elif file := self._file(number):
            for suffix in _SUFFIXES:
                file.with_name(file.name + suffix).unlink(missing_ok=True)


def examine_file(database: Engine, journal: Journal) -> str | None:
    """The first defect of the file of the catalogue in force, which is read whole; None for none.

    For SQLite, and while no service runs. Changes nothing.
    """
    file = catalogue_file(database, int(journal.get_meta(GENERATION_KEY) or 0))
    if file is None or not file.is_file():
        return "it is missing"
    engine = open_database(file)
    try:
        with read(engine, Unavailable) as connection:
            if defects := damage(connection):
                return defects[0]
            origin = _origin_in(connection)
    except Unavailable as error:
        return str(error)
    finally:
        engine.dispose()
    concluded = int(journal.get_meta(ROUND_KEY) or 0)
    return mismatch_with(origin, journal.id, concluded, journal.newest())


def count_doubtful(database: Engine, number: int, since: int) -> int:
    """How many executions of a catalogue that count from their receipt count from ``since`` (ms) or
    later (``producers.bounds``). Read beside a service; changes nothing.
    """
    if database.dialect.name == "sqlite":
        file = catalogue_file(database, number)
        if file is None or not file.is_file():
            return 0
        engine = open_database(file)
    else:
        engine = engine_for_schema(database, f"{_SCHEMA}{number}")
    columns = executions.c
    asked = sa.select(sa.func.count()).where(is_doubtful(columns), columns.at >= since)
    try:
        with read(engine, Unavailable) as connection:
            return int(connection.execute(asked).scalar_one())
    finally:
        engine.dispose()


def _origin_in(connection: Connection, schema: str | None = None) -> Origin | None:
    """None also for a catalogue without tables."""
    made = sa.inspect(connection).has_table(origins.name, schema=schema)
    return read_origin(connection) if made else None


def catalogue_file(journal: Engine, number: int) -> Path | None:
    """The path of a catalogue beside the journal's file; None for a database in memory."""
    path = journal.url.database
    return Path(path).with_name(f"catalogue-{number}.db") if path else None


def _create_schema(connection: Connection, number: int) -> None:
    # CREATE SCHEMA IF NOT EXISTS of two processes at once may still collide.
    keep_order(connection, Lock.SCHEMA)
    connection.execute(sa.schema.CreateSchema(f"{_SCHEMA}{number}", if_not_exists=True))


def _drop_schema(connection: Connection, number: int) -> None:
    connection.execute(sa.schema.DropSchema(f"{_SCHEMA}{number}", cascade=True, if_exists=True))


def _rename_schema(connection: Connection, number: int) -> str:
    # Another process that looks for missing indexes there would find no table: a rename waits for
    # no reader.
    keep_order(connection, Lock.SCHEMA)
    schema, aside = f"{_SCHEMA}{number}", f"{_SCHEMA}{number}{_ASIDE}"
    known = sa.inspect(connection).get_schema_names()
    for former in known:
        if former.startswith(_SCHEMA) and former.endswith(_ASIDE):
            connection.execute(sa.schema.DropSchema(former, cascade=True))
    if schema not in known:
        return "nothing"
    quote = connection.dialect.identifier_preparer.quote
    connection.exec_driver_sql(f"ALTER SCHEMA {quote(schema)} RENAME TO {quote(aside)}")
    return aside
