"""Errors of the drivers in words of our own, and the damage that they reveal."""

from __future__ import annotations

import sqlite3
from typing import Final

from sqlalchemy import exc
from sqlalchemy.engine import Engine

from graph_model.errors import Unavailable

POSTGRESQL: Final = "postgresql"
DAMAGE: Final = "headwater_damage"


class Damage:
    """Of one engine: the first sign that its stored data is damaged, for a caller that can act on
    it.
    """

    def __init__(self) -> None:
        self.met: str | None = None


_SQLITE_REASONS: Final = {
    sqlite3.SQLITE_FULL: "no space left for the database: its disk, or its size limit, is full",
    sqlite3.SQLITE_BUSY: "the database is locked: another process writes to it",
    sqlite3.SQLITE_LOCKED: "the database is locked: another connection writes to it",
    sqlite3.SQLITE_READONLY: "the database cannot be written: it is read-only",
    sqlite3.SQLITE_IOERR: "the disk of the database reports an error",
    sqlite3.SQLITE_IOERR_WRITE: "the database cannot be written: no space is left on its disk, or a"
    " limit on the size of files is reached",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the database file is damaged: restore a backup",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database",
}
_POSTGRESQL_REASONS: Final = {
    "53100": "no space left for the database: the disk of the PostgreSQL server is full",
    "53200": "the PostgreSQL server is out of memory",
    "53300": "the PostgreSQL server takes no further connections",
    "55P03": "the database is locked: another process works on it",
    "57P03": "the PostgreSQL server is starting or stopping",
    "25006": "the database cannot be written: it is read-only",
}
_PASSING_SQLITE: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PASSING_POSTGRESQL: Final = frozenset({"40001", "40P01", "55P03"})  # serialisation, deadlock, lock
_DAMAGE_SQLITE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DAMAGE_POSTGRESQL: Final = frozenset({"XX001", "XX002", "42P01", "42703", "3F000"})
"""Damaged data, damaged index, no such table, no such column, no such schema."""
_DAMAGE_TEXTS: Final = ("Could not decode to UTF-8", "no such table", "no such column")
"""Messages of the sqlite3 module without a code of its own. Statements take the names of tables and
columns from the metadata that made them: a missing one has been changed in the file.
"""
_BUGS: Final = (exc.IntegrityError, exc.ProgrammingError, exc.DataError)


def translated(error: exc.SQLAlchemyError, unavailable: type[Unavailable]) -> Exception:
    """The error for the caller in place of this one; the error itself if it is a bug."""
    if isinstance(error, exc.TimeoutError):
        return unavailable("the database is busy: no connection became free in time")
    if isinstance(error, exc.DBAPIError) and (not isinstance(error, _BUGS) or tells_damage(error)):
        known = _reason(error)
        detail = "" if known else _first_line(error)
        return unavailable(known or "the database does not answer", detail)
    return error


def _reason(error: exc.DBAPIError) -> str | None:
    """In words of our own; None for an error that we have none for."""
    code = _sqlite_code(error)
    return (
        _SQLITE_REASONS.get(code)
        or _SQLITE_REASONS.get(_kind(code))
        or _POSTGRESQL_REASONS.get(_state(error))
    )


def _first_line(error: exc.DBAPIError) -> str:
    """The first line of the driver, which may name the server's address."""
    return (str(error.orig).strip().splitlines() or ["no reason given"])[0]


def passes(error: BaseException) -> bool:
    """Whether a transaction may succeed when it is simply run again."""
    return _kind(_sqlite_code(error)) in _PASSING_SQLITE or _state(error) in _PASSING_POSTGRESQL


def is_busy(error: Exception) -> bool:
    """Whether the next transaction would wait as long as this one and fail, too."""
    if not isinstance(error, Unavailable):
        return False
    cause = error.__cause__
    if cause is None or isinstance(cause, exc.TimeoutError) or passes(cause):
        return True
    return isinstance(cause, exc.DBAPIError) and cause.connection_invalidated


def note_damage(engine: Engine, error: exc.SQLAlchemyError) -> None:
    noted: Damage = engine.get_execution_options()[DAMAGE]
    if noted.met is None and isinstance(error, exc.DBAPIError) and tells_damage(error):
        noted.met = _reason(error) or "its content cannot be read"


def tells_damage(error: BaseException | None) -> bool:
    """Whether an error, or its cause, means that the stored data itself is damaged.

    An unreadable page, a file that is no database, a text whose bytes are no UTF-8, a missing
    column, table or schema of PostgreSQL.
    """
    while error is not None:
        if _kind(_sqlite_code(error)) in _DAMAGE_SQLITE or _state(error) in _DAMAGE_POSTGRESQL:
            return True
        said = str(getattr(error, "orig", ""))
        if any(text in said for text in _DAMAGE_TEXTS):
            return True
        # An index is made where its table has none: SQLite's file contradicts itself.
        if said.startswith("index ") and said.endswith(" already exists"):
            return True
        error = error.__cause__
    return False


def _state(error: BaseException) -> str:
    return getattr(getattr(error, "orig", None), "sqlstate", None) or ""


def _sqlite_code(error: BaseException) -> int:
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return code if isinstance(code, int) else -1


def _kind(sqlite_code: int) -> int:
    """The low byte is the kind, the rest separates variants (SQLITE_IOERR_FSYNC ...)."""
    return sqlite_code & 0xFF if sqlite_code >= 0 else -1


def noted_damage(engine: Engine) -> str | None:
    """The damage that a transaction of this engine has met; None for none."""
    noted: Damage = engine.get_execution_options()[DAMAGE]
    return noted.met
