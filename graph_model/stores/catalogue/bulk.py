"""Many rows into an empty catalogue: PostgreSQL's COPY, else inserts.

Nothing is looked up first, so the rows must be unique already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection

from graph_model.errors import FactConflict, Unavailable
from graph_model.facts import Row
from graph_model.stores.catalogue.listing.uses import count_added, take_turn
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.rows import Values, records, stored_values
from graph_model.stores.catalogue.tables import STORAGE_OF, Storage
from graph_model.stores.database import write

_POSTGRESQL: Final = "postgresql"


class SqlBulkRows(CatalogueReader):
    """Rows in, fast."""

    def copy(self, rows: Sequence[Row]) -> None:
        """Add the rows, in one transaction; FactConflict for a key that is known or comes twice."""
        batches: dict[Storage, list[Values]] = {}
        for row in rows:
            batches.setdefault(STORAGE_OF[type(row)], []).append(stored_values(row))

        def work(connection: Connection) -> None:
            take_turn(connection, batches)
            add = _copy if connection.dialect.name == _POSTGRESQL else _insert
            for storage, batch in batches.items():
                add(connection, storage, records(storage, batch))
                count_added(connection, storage, batch)

        try:
            write(self._engine, work, Unavailable)
        except exc.IntegrityError as error:
            raise FactConflict(
                "rows to be added: a key is known already, or comes twice"
            ) from error


def _insert(connection: Connection, storage: Storage, batch: Sequence[Values]) -> None:
    names = storage.table.columns.keys()
    connection.execute(
        storage.table.insert(), [dict(zip(names, one, strict=True)) for one in batch]
    )


def _copy(connection: Connection, storage: Storage, batch: Sequence[Values]) -> None:
    quote = connection.dialect.identifier_preparer
    schemas = connection.get_execution_options().get("schema_translate_map") or {}
    table = sa.table(storage.table.name, schema=schemas.get(None))
    names = tuple(column.name for column in storage.table.columns)
    columns = ", ".join(quote.quote(name) for name in names)
    statement = f"COPY {quote.format_table(table)} ({columns}) FROM STDIN"
    driver: Any = connection.connection.driver_connection
    errors: Any = connection.dialect.loaded_dbapi
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copying:
            for values in batch:
                copying.write_row(values)
    except errors.Error as error:  # SQLAlchemy does not see this statement
        raise exc.DBAPIError.instance(
            statement, None, error, errors.Error, dialect=connection.dialect
        ) from error
