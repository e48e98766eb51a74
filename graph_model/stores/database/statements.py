"""Types of columns, and statements, that mean the same on both engines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from graph_model.stores.database.failures import POSTGRESQL
from graph_model.values import batched, storable, storable_value

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
    head, own = stored[:-_LENGTH].decode(), stored[-_LENGTH:]
    if not head:
        return own.hex()
    if head.isalpha():
        return f"{head}_{own.hex()}"
    return f"{head.removesuffix(_BARE)}{UUID(bytes=own)}"


def serial() -> TypeEngine[int]:
    """64 bits; SQLite numbers rows by itself only where the type reads INTEGER."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


CHUNK: Final = 500
"""How many values one statement asks for: below the limit on parameters of every engine."""
_Value = TypeVar("_Value")


def insert_new(connection: Connection, table: sa.Table) -> sa.Insert:
    """An insert that leaves rows alone whose key is known."""
    return _insert_new(connection.dialect.name, table)


@lru_cache
def _insert_new(dialect: str, table: sa.Table) -> sa.Insert:
    if dialect == POSTGRESQL:
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


def in_list(column: sa.Column[Any], name: str) -> sa.ColumnElement[bool]:
    """``column IN (…)`` for the list bound to ``name``, of texts or of whole numbers.

    A list of any length is one parameter of the same statement. An expanding parameter is spelled
    into the statement anew each time, which takes longer than the look-up itself.
    """
    return column.in_(_cells(sa.bindparam(name, type_=_JsonList()), column))


def none_of(column: sa.Column[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
    """``column NOT IN (…)`` for these texts or whole numbers: one parameter, as in ``in_list``."""
    return column.not_in(_cells(sa.bindparam(None, [*values], type_=_JsonList()), column))


def _cells(listed: sa.BindParameter[Any], column: sa.Column[Any]) -> sa.Select[Any]:
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


class PreparedStatement:
    """A statement that is built once and executed many times with other values."""

    def __init__(self, statement: sa.Select[Any] | sa.CompoundSelect[Any]) -> None:
        self._statement = statement

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows; ``values`` are those of the parameters, by name."""
        return list(map(tuple, connection.execute(self._statement, values)))


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
