"""The catalogue of a PostgreSQL database: tables, and views and procedures with their text.

    pg_class, pg_attribute -> the schema of each table; pg_get_viewdef, pg_get_functiondef -> jobs

It has no history: a table, a view or a procedure is declared when it is met first, and again once
it has changed. PostgreSQL does not say when that was, so its time is that of the harvest.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from collectors.harvesting.queries import (
    CatalogTable,
    Event,
    Warehouse,
    event_of_dataset,
    procedure_event,
    table_facets,
    view_event,
)
from collectors.harvesting.rounds import Harvested
from graph_model.errors import ConfigurationError, HeadwaterError, Unavailable
from graph_model.sql import qualified_name

if TYPE_CHECKING:
    import psycopg

_DIALECT: Final = "postgres"
_OWN: Final = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'"
_COLUMNS: Final = f"""
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
 col_description(c.oid, a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND {_OWN}
ORDER BY n.nspname, c.relname, a.attnum"""  # noqa: S608 - of constants
_VIEWS: Final = f"""
SELECT n.nspname, c.relname, pg_get_viewdef(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm') AND {_OWN} ORDER BY n.nspname, c.relname"""  # noqa: S608
_PROCEDURES: Final = f"""
SELECT n.nspname, p.proname, pg_get_function_identity_arguments(p.oid), pg_get_functiondef(p.oid)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_language l ON l.oid = p.prolang
WHERE l.lanname IN ('sql', 'plpgsql') AND p.prokind IN ('f', 'p') AND {_OWN}
ORDER BY n.nspname, p.proname, p.oid"""  # noqa: S608

_SECRETS: Final = frozenset({"password", "sslpassword", "oauth_client_secret"})

#: The rows of a query.
Ask = Callable[[str], Iterable[Sequence[Any]]]


class PostgresqlCatalog:
    """A HarvestSource: one database. ``place`` is the namespace of its tables,
    postgres://host:5432; ``clock`` gives epoch ms.
    """

    name = "postgresql"
    overlap: int | None = None
    kept: int | None = None

    def __init__(
        self, ask: Ask, place: str, database: str, clock: Callable[[], int], jobs: str = ""
    ) -> None:
        self._ask = ask
        self._database = database
        self._clock = clock
        self._warehouse = Warehouse("PostgreSQL", _DIALECT, place, jobs or place)

    def settings(self) -> Mapping[str, str]:
        return {
            "datasets": self._warehouse.namespace,
            "jobs": self._warehouse.jobs,
            "database": self._database,
        }

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        """All of the catalogue, whatever ``since``: it has no times."""
        del since, known
        now = self._clock()
        columns, described = self._columns()
        views = {self._name(*row[:2]): str(row[2]) for row in self._ask(_VIEWS)}
        tables = {
            name: CatalogTable(
                columns=tuple(listed),
                definition=views.get(name, "").rstrip("; \n"),
                database=self._database,
                schema="public",
                changed_at=now,
            )
            for name, listed in columns.items()
        }
        for name, table in tables.items():
            events = partial(self._table_events, name, tables, described[name], now)
            said = [table.columns, table.definition, described[name]]
            yield Harvested(f"table {name}", now, events, _digest(said))
        for schema, name, arguments, text in self._ask(_PROCEDURES):
            key = f"{qualified_name((schema, name))}({arguments})"
            events = partial(self._procedure_events, key, str(text), tables, now)
            yield Harvested(f"procedure {key}", now, events, _digest([text]))

    def _columns(
        self,
    ) -> tuple[Mapping[str, list[tuple[str, str]]], Mapping[str, dict[str, str]]]:
        """(name, type) of each table's columns in order, and what is written about them."""
        columns: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        described: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for schema, table, column, kind, comment in self._ask(_COLUMNS):
            name = self._name(schema, table)
            columns[name].append((str(column), str(kind)))
            if comment:
                described[name][str(column).lower()] = str(comment)
        return columns, described

    def _name(self, schema: str, table: str) -> str:
        return qualified_name((self._database, schema, table))

    def _table_events(
        self,
        name: str,
        tables: Mapping[str, CatalogTable],
        described: Mapping[str, str],
        now: int,
    ) -> Sequence[Event]:
        table = tables[name]
        place = {"namespace": self._warehouse.namespace, "name": name}
        facets = table_facets(table.columns, described=described)
        event = event_of_dataset(now, {**place, "facets": facets})
        if not table.definition:
            return (event,)
        view = view_event(name, table, self._warehouse, tables.get)
        return (event,) if view is None else (event, view)

    def _procedure_events(
        self, key: str, text: str, tables: Mapping[str, CatalogTable], now: int
    ) -> Sequence[Event]:
        defaults = (self._database, "public")
        event = procedure_event(key, text, defaults, now, self._warehouse, tables.get)
        return () if event is None else (event,)


def _digest(said: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


#: Definitions are printed with the schema of each name that is not in the search path.
_READ_ONLY: Final = "-c default_transaction_read_only=on -c search_path=pg_catalog"


class PostgresqlServer:
    """Connections to one database, that change nothing; one that broke is replaced by the next
    ``ask``. A password comes from PGPASSWORD or a password file.

    ``options`` are settings of the session: Redshift, which takes the same protocol, knows none of
    them. Raises ConfigurationError without the driver and for another address, Unavailable where
    the server does not let it in.
    """

    def __init__(self, address: str, options: str = _READ_ONLY) -> None:
        _check(address)
        self._address = address
        self._options = options
        self._connection = self._connect()
        info = self._connection.info
        host = "localhost" if info.host.startswith("/") else info.host  # a socket's folder
        self.authority = f"{host}:{info.port}"
        self.place = f"postgres://{self.authority}"
        self.database = info.dbname

    def ask(self, text: str) -> Iterable[Sequence[Any]]:
        """The rows of one query. Raises HeadwaterError, Unavailable where asking again may help."""
        import psycopg

        if self._connection.closed:
            self._connection = self._connect()
        try:
            cursor = self._connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else ()
        except psycopg.OperationalError as error:
            self.close()
            raise Unavailable("PostgreSQL does not answer", str(error)) from error
        except psycopg.Error as error:  # no right to see it: no repetition mends that
            raise HeadwaterError(f"PostgreSQL: {error}") from error

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg

        try:
            # Redshift names its encoding UNICODE, which Python does not know.
            return psycopg.connect(
                self._address, autocommit=True, connect_timeout=10, options=self._options,
                client_encoding="utf8",
            )  # fmt: skip
        except psycopg.Error as error:
            raise Unavailable("PostgreSQL does not let us in", str(error)) from error


def _check(address: str) -> None:
    """An address that holds a password, or that is misread because it does, is not repeated."""
    try:
        from psycopg import Error
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise ConfigurationError(
            "PostgreSQL needs its driver: pip install 'psycopg[binary]>=3.2,<4'"
        ) from error
    try:
        parts = conninfo_to_dict(address)
    except Error:
        parts = {"password": address}
    ports = str(parts.get("port") or "").replace(",", "")
    if parts.keys() & _SECRETS or (ports and not ports.isdecimal()):
        raise ConfigurationError(
            "expected postgresql://user@host:port/database; a password comes from PGPASSWORD or a "
            "password file"
        )
