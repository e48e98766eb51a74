"""The transaction of a question to the catalogue: its own, or that of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from typing import Any, Self

from sqlalchemy.engine import Connection, Engine

from graph_model.errors import Unavailable
from graph_model.stores.catalogue.reading.value_tables import AT_ONCE, at_values, input_values
from graph_model.stores.database import PreparedStatement, chunks, is_in_memory, read


class CatalogueReader:
    """Questions of one kind; ``graph_model.stores.protocols`` has their semantics.

    ``held`` is the connection of a snapshot. Every method may raise Unavailable.
    """

    def __init__(self, engine: Engine, held: Connection | None = None) -> None:
        self._engine = engine
        self._held = held

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """One transaction on one connection, for one thread.

        An in-memory database has one connection for all threads and is not held.
        """
        if self._held is not None or is_in_memory(self._engine):
            yield self
            return
        with self._read() as connection:
            same = copy(self)
            same._held = connection
            yield same

    def _read(self) -> AbstractContextManager[Connection]:
        return read(self._engine, Unavailable) if self._held is None else nullcontext(self._held)

    def _rows_for(
        self,
        statement: PreparedStatement,
        values: Iterable[str],
        at: int | None = None,
        **parameters: Any,
    ) -> list[tuple[Any, ...]]:
        """See ``rows_for``."""
        with self._read() as connection:
            return rows_for(connection, statement, values, at, **parameters)

    def _rows_beside(
        self, statement: PreparedStatement, asked: Iterable[tuple[Any, ...]], **parameters: Any
    ) -> list[tuple[Any, ...]]:
        """The rows of a statement with ``input_table``, for any number of given rows."""
        found: list[tuple[Any, ...]] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(asked)), AT_ONCE):
                found += statement.rows(connection, input_values(chunk) | parameters)
        return found


def rows_for(
    connection: Connection,
    statement: PreparedStatement,
    values: Iterable[str],
    at: int | None = None,
    **parameters: Any,
) -> list[tuple[Any, ...]]:
    """The rows of a statement with ``input_column``, for any number of values."""
    found: list[tuple[Any, ...]] = []
    for chunk in chunks(sorted(set(values)), AT_ONCE):
        found += statement.rows(connection, at_values(chunk, at) | parameters)
    return found
