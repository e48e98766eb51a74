"""The version of the tables of each component."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.schema import CreateColumn

from graph_model.errors import ConfigurationError, Unavailable
from graph_model.stores.database.columns import StoredText
from graph_model.stores.database.failures import passes
from graph_model.stores.database.locks import Lock, keep_order
from graph_model.stores.database.opening import shown
from graph_model.stores.database.transactions import write

_versions = sa.Table(
    "headwater_schema",
    sa.MetaData(),
    sa.Column("component", StoredText(), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


def prepare(
    engine: Engine,
    component: str,
    version: int,
    metadata: sa.MetaData,
    *,
    empty_older: bool = False,
) -> None:
    """Make the missing tables of one component, and record their version.

    Tables that are kept get the indexes that they lack, and the columns that have a default: a
    later Headwater may have more of both, while the rows are the same.

    With ``empty_older`` tables of an older version are made anew, empty: for data that can be made
    again. Else they are taken over as they are, and an older Headwater then leaves them alone.

    Raises ConfigurationError if a newer Headwater made them or the database cannot be used,
    Unavailable if another process holds it.
    """
    try:
        found = write(
            engine,
            lambda c: _prepare(c, component, version, metadata, empty_older=empty_older),
            Unavailable,
        )
    except Unavailable as error:
        cause = error.__cause__
        if isinstance(cause, exc.SQLAlchemyError) and not passes(cause):
            raise ConfigurationError(f"database {shown(engine.url)}: {error}") from error
        raise
    if found > version:
        raise ConfigurationError(
            f"the {component} tables in {shown(engine.url)} have version {found}, and this"
            f" Headwater knows them up to version {version}: start the newer Headwater that wrote"
            " them, or restore a backup that was taken before the upgrade"
        )


def _prepare(
    connection: Connection,
    component: str,
    version: int,
    metadata: sa.MetaData,
    *,
    empty_older: bool,
) -> int:
    # CREATE TABLE IF NOT EXISTS of two processes at once may still collide on PostgreSQL.
    keep_order(connection, Lock.SCHEMA)
    _versions.metadata.create_all(connection)
    asked = sa.select(_versions.c.version).where(_versions.c.component == component)
    found = connection.execute(asked).scalar_one_or_none()
    if found is not None and found < version and empty_older:
        metadata.drop_all(connection)
        connection.execute(_versions.delete().where(_versions.c.component == component))
        found = None
    if found is None:
        metadata.create_all(connection)
        connection.execute(_versions.insert(), {"component": component, "version": version})
        return version
    if found < version:
        _make_missing_columns(connection, metadata)
    if found <= version:
        _make_missing_indexes(connection, metadata)
    if found < version:
        own = _versions.c.component == component
        connection.execute(_versions.update().where(own).values(version=version))
    return max(int(found), version)


def _make_missing_indexes(connection: Connection, metadata: sa.MetaData) -> None:
    for table in metadata.sorted_tables:
        known = _index_names(connection, table)
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            if index.name not in known:
                index.create(connection)


def _index_names(connection: Connection, table: sa.Table) -> set[str | None]:
    schema = connection.schema_for_object(table)
    if connection.dialect.name != "sqlite":
        return {index["name"] for index in sa.inspect(connection).get_indexes(table.name, schema)}
    # SQLAlchemy also reads the text of a partial index, which a damaged file may have lost.
    place = f'"{schema}".' if schema else ""
    listed = connection.exec_driver_sql(f'PRAGMA {place}index_list("{table.name}")')
    return {row[1] for row in listed}


def _make_missing_columns(connection: Connection, metadata: sa.MetaData) -> None:
    for table in metadata.sorted_tables:
        known = {column["name"] for column in sa.inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.server_default is not None and column.name not in known:
                definition = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f'ALTER TABLE "{table.name}" ADD COLUMN {definition}')
