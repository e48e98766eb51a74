"""Types of columns, statements and errors, in words that mean the same on both engines."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Dialect, Engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from graph_model.errors import Unavailable
from graph_model.values import batched, storable, storable_value

POSTGRESQL: Final = "postgresql"
DAMAGE: Final = "headwater_damage"


class Damage:
    """Of one engine: the first sign that its stored data is damaged, for a caller that can act on
    it.
    """

    def __init__(self) -> None:
        self.met: str | None = None


_NO_SPACE: Final = (
    "no space left for the database: free space on its disk, or raise the limit on its files' size"
)
_SQLITE_REASONS: Final = {
    sqlite3.SQLITE_FULL: _NO_SPACE,
    sqlite3.SQLITE_BUSY: "the database is locked: another process writes to it",
    sqlite3.SQLITE_LOCKED: "the database is locked: another connection writes to it",
    sqlite3.SQLITE_READONLY: "the database cannot be written: it is read-only",
    sqlite3.SQLITE_IOERR: "the disk of the database reports an error",
    sqlite3.SQLITE_IOERR_WRITE: _NO_SPACE,
    sqlite3.SQLITE_IOERR_SHMSIZE: _NO_SPACE,  # of the file beside it that processes share
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


_FORM: Final = re.compile(
    "(?:(?P<kind>[a-z]+)_)?(?P<digits>[0-9a-f]{32})"
    "|(?P<scheme>[a-z]+:)?(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
)
PACKED_ID: Final = "packed_id"
"""The function of that name in each connection to SQLite."""
_BARE: Final = "-"
_LENGTH: Final = 16


class StoredText(TypeDecorator[str]):
    """Text of any length, made storable, compared and sorted by code point on every engine."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else storable(value)


class StoredId(StoredText):
    """A text that mostly is an id, a digest or a UUID: SQLite holds those as bytes, half as long.

    Any other text, also the empty one, stays a text in the same column, and PostgreSQL holds all of
    them as texts. Ids of one kind have the order of their texts; on SQLite texts come before them.
    """

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return _Bytes() if dialect.name == "sqlite" else super().load_dialect_impl(dialect)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        text = super().process_bind_param(value, dialect)
        return packed_id(text) if text and dialect.name == "sqlite" else text

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], str | None] | None:
        if dialect.name == "sqlite":
            return unpacked_id
        return super().result_processor(dialect, coltype)


class _Bytes(UserDefinedType[Any]):
    """A column of SQLite that converts nothing."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "BLOB"


def packed_id(text: str) -> str | bytes:
    """``ds_0f…`` => ``ds`` and 16 bytes, a UUID => ``-`` and 16 bytes; other texts stay texts."""
    form = _FORM.fullmatch(text)
    if form is None:
        return text
    if form["digits"] is not None:
        return (form["kind"] or "").encode() + bytes.fromhex(form["digits"])
    return (form["scheme"] or _BARE).encode() + bytes.fromhex(form["uuid"].replace("-", ""))


def unpacked_id(stored: str | bytes | None) -> str | None:
    """The text that ``packed_id`` was given."""
    if not isinstance(stored, bytes):
        return stored
    head, own = stored[:-_LENGTH], stored[-_LENGTH:]
    if head.isalpha():
        return f"{head.decode()}_{own.hex()}"
    if not head:
        return own.hex()
    return f"{head.decode().removesuffix(_BARE)}{UUID(bytes=own)}"


def serial() -> TypeEngine[int]:
    """64 bits; SQLite numbers rows by itself only where the type reads INTEGER."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


CHUNK: Final = 500
"""How many values one statement asks for: below the limit on parameters of every engine."""
_Value = TypeVar("_Value")


def insert_new(connection: Connection, table: sa.Table) -> sa.Insert:
    """An insert that leaves rows alone whose key is known."""
    if connection.dialect.name == POSTGRESQL:
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


class JsonRows(FunctionElement[Any]):
    """The elements of a JSON array as rows with one column, ``value``."""

    inherit_cache = True


class JsonCell(FunctionElement[Any]):
    """An element, by its number, of the JSON array in a column ``value``."""

    inherit_cache = True


@compiles(JsonRows, "sqlite")
def _rows_on_sqlite(element: JsonRows, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(JsonRows, POSTGRESQL)
def _rows_on_postgresql(element: JsonRows, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements(CAST({compiler.process(element.clauses, **options)} AS jsonb))"


@compiles(JsonCell, "sqlite")
def _cell_on_sqlite(element: JsonCell, compiler: SQLCompiler, **options: Any) -> str:
    value, number = (compiler.process(clause, **options) for clause in element.clauses)
    return f"json_extract({value}, '$[{number}]')"


@compiles(JsonCell, POSTGRESQL)
def _cell_on_postgresql(element: JsonCell, compiler: SQLCompiler, **options: Any) -> str:
    value, number = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({value} ->> {number})"


class PackedId(FunctionElement[Any]):
    """A text of a statement as a column of ids holds it (``StoredId``)."""

    inherit_cache = True


@compiles(PackedId, "sqlite")
def _packed_on_sqlite(element: PackedId, compiler: SQLCompiler, **options: Any) -> str:
    return f"{PACKED_ID}({compiler.process(element.clauses, **options)})"


@compiles(PackedId, POSTGRESQL)
def _packed_on_postgresql(element: PackedId, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


def in_list(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """``column IN (…)`` for the list bound to ``name``, of texts or of whole numbers.

    A list of any length is one parameter of the same statement. An expanding parameter is spelled
    into the statement anew each time, which takes longer than the look-up itself.
    """
    return column.in_(_cells(sa.bindparam(name, type_=_JsonList()), column))


def none_of(column: sa.ColumnElement[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
    """``column NOT IN (…)`` for these texts or whole numbers: one parameter, as in ``in_list``."""
    return column.not_in(_cells(sa.bindparam(None, [*values], type_=_JsonList()), column))


def _cells(listed: sa.BindParameter[Any], column: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """The elements of a list as rows of the kind of a column."""
    rows = JsonRows(listed).table_valued("value")
    cell = JsonCell(rows.c.value, sa.literal_column("0"))
    if isinstance(column.type, StoredId):
        return sa.select(sa.type_coerce(PackedId(cell), column.type))
    kind = sa.BigInteger if isinstance(column.type, sa.Integer) else sa.Text
    return sa.select(sa.cast(cell, kind))


class _JsonList(TypeDecorator[Sequence[Any]]):
    """A list as a text: ``["a", "b"]`` => ``[["a"], ["b"]]``, each a row of one cell."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> str:  # noqa: ARG002
        return json.dumps(
            [[storable_value(element)] for element in value or ()], ensure_ascii=False
        )


def insert_rows(connection: Connection, table: sa.Table, rows: Iterable[tuple[Any, ...]]) -> int:
    """``insert_new`` of rows with the values of all columns in their order; how many were new."""
    names = table.columns.keys()
    inserted = connection.execute(
        insert_new(connection, table),
        [dict(zip(names, row, strict=True)) for row in rows],
        execution_options={"preserve_rowcount": True},
    )
    return inserted.rowcount


def rows_of(
    connection: Connection, statement: sa.Executable, values: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """All rows of a statement; ``values`` are those of its parameters, by name."""
    return list(map(tuple, connection.execute(statement, values).all()))


def count_from(connection: Connection, table: sa.Table, column: str) -> None:
    """Go on numbering after the greatest number there is; SQLite does by itself."""
    if connection.dialect.name != POSTGRESQL:
        return
    greatest = connection.execute(sa.select(sa.func.max(table.c[column]))).scalar()
    if greatest is not None:
        sequence = sa.func.pg_get_serial_sequence(table.name, column)
        connection.execute(sa.select(sa.func.setval(sequence, greatest)))


def count_rows(
    connection: Connection,
    table: sa.FromClause,
    chosen: Iterable[sa.ColumnElement[bool]] = (),
    values: Mapping[str, Any] | None = None,
) -> int:
    """The number of rows that the conditions choose; ``values`` are those of their parameters."""
    counted = sa.select(sa.func.count()).select_from(table).where(*chosen)
    return int(connection.execute(counted, values or {}).scalar_one())


def after_keys(
    keys: Sequence[sa.ColumnElement[Any]], last: Sequence[Any], *, falls: bool = False
) -> sa.ColumnElement[bool]:
    """The condition that a row comes after the one with the keys ``last``."""
    values = (sa.literal(value, key.type) for key, value in zip(keys, last, strict=True))
    own, shown = sa.tuple_(*keys), sa.tuple_(*values)
    return own < shown if falls else own > shown


def chunks(values: Iterable[_Value], size: int = CHUNK) -> Iterator[Sequence[_Value]]:
    """In order, as many at a time as a statement may name."""
    return batched(values, size)
