"""Types of columns that are equal on every engine."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from graph_model.storable_text import storable


class StoredText(TypeDecorator[str]):
    """Text of any length, made storable, compared and sorted by code point on every engine."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else storable(value)


def serial() -> TypeEngine[int]:
    """64 bits; SQLite numbers rows by itself only where the type reads INTEGER."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")
