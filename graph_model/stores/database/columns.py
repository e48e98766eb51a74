"""Types of columns that are equal on every engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from graph_model.storable_text import storable

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
