"""The names of catalog tables, and the places of their data.

Names of tables whose place Spark does not give: a connector's, or those of a vendor's catalog.

A report without them would lose the whole query, so they get a name in place of a URI, the same
for readers and writers, and the plan gets the gap ``unknown-place``:

    catalog ``crm``, identifier ``sales.orders``       => ``crm:sales.orders``
    ``format("mongodb").option("collection", "staff")``  => ``mongodb:staff``
    ``format("acme")`` without an option of that kind    => ``acme:``
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spark_agent_config.capture.captured import Table
from spark_agent_config.capture.questions import Questions

#: Options in which connectors take their table, in the order of precedence.
_TABLE_OPTIONS: Final = (
    "dbtable", "table", "tablename", "collection", "index", "resource", "topic", "sheet", "path",
)  # fmt: skip
_WORD: Final = re.compile(r"[A-Za-z][\w.\-]*")
#: The last part of the class of many sources.
_NO_NAME: Final = "DefaultSource"
#: Sources of Spark's own that store nothing.
_STORES_NOTHING: Final = ("console", "foreach", "memory", "noop", "rate")


def name_of_source(kind: str, options: Mapping[str, str]) -> str | None:
    """By a source's name or class and its options, those in small letters; None: it stores nothing.

    Some describe themselves: ``[socket: host:9000]``, ``RateStream(rowsPerSecond=5)``.
    """
    match = _WORD.search(kind)
    parts = [part for part in match[0].split(".") if part != _NO_NAME] if match else []
    if not parts or stores_nothing(parts[-1]):
        return None
    table = next((options[name] for name in _TABLE_OPTIONS if options.get(name)), "")
    return f"{parts[-1].lower()}:{table}"


def name_of_table(name: str, options: Mapping[str, str]) -> str | None:
    """By the name that a table gives itself: ``crm.sales.orders``, or that of its source."""
    catalog, dot, rest = name.partition(".")
    return f"{catalog}:{rest}" if dot and _WORD.fullmatch(name) else name_of_source(name, options)


def name_in_catalog(catalog: str, database: str | None, table: str) -> str:
    return f"{catalog}:{database}.{table}" if database else f"{catalog}:{table}"


def stores_nothing(kind: str) -> bool:
    """Whether Spark's source or sink of this name keeps no data: a generator, a console."""
    return kind.lower().startswith(_STORES_NOTHING)


SESSION_CATALOG: Final = "spark_catalog"
_Key = tuple[str | None, str]


class Tables:
    """Looks up catalog tables and remembers locations: a dropped table is gone from the catalog."""

    def __init__(self, questions: Questions, jvm: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm
        self._locations: dict[_Key, str] = {}

    def of_node(self, node: Any) -> Table | None:
        """``catalogTable`` of a command or of a relation."""

        def read() -> Table | None:
            option = node.catalogTable()
            return self.described(option.get()) if option.isDefined() else None

        return self._ask("catalogTable", read, None)

    def described(self, catalog_table: Any) -> Table:
        """A CatalogTable by itself; it may lack the place of its data."""
        name, database = self._identifier(catalog_table.identifier())
        location = self._ask("location", lambda: str(catalog_table.location().toString()), None)
        return self.remember(Table(name, database, location))

    def being_made(self, catalog_table: Any, execution: Any) -> Table | None:
        """A table that a command makes: where it lies by now, or would by default."""

        def placed() -> bool:
            return bool(catalog_table.storage().locationUri().isDefined())

        if self._ask("locationUri", placed, False):
            return self._ask("table", lambda: self.described(catalog_table), None)
        return self._ask(
            "identifier", lambda: self.named(catalog_table.identifier(), execution), None
        )

    def dropped(self, identifier: Any, execution: Any, *, certainly: bool) -> Table | None:
        """A table that a DROP named.

        None for a DROP TABLE IF EXISTS of one that this session has never met: Spark reports
        success whether there was one or not. A look into the catalog would not help: by now the job
        may have made the table again.
        """
        name, database = self._identifier(identifier)
        database = database or self._current_database(execution)
        location = self._locations.pop(_key(name, database), None)
        if location is not None:
            return Table(name, database, location)
        if not certainly:
            return None
        table = self.named(identifier, execution)
        self.forget(table)
        return table

    def remember_in(self, catalog: str, table: Table, place: str) -> None:
        """Keep the place of a table of another catalog than Spark's own."""
        if catalog != SESSION_CATALOG:
            self._locations[_key(table.name, f"{catalog}.{table.database}")] = place

    def gone_from(self, resolved: Any) -> Table | None:
        """A table of another catalog that has lost its name (a DROP, a rename), which is forgotten.

        None if this session never met it.
        """
        catalog, identifier = str(resolved.catalog().name()), resolved.identifier()
        name, database = str(identifier.name()), ".".join(identifier.namespace()) or None
        place = self._locations.pop(_key(name, f"{catalog}.{database}"), None)
        return None if place is None else Table(name, database, place)

    def renamed(self, identifier: Any, execution: Any, location: str | None) -> Table:
        """A table that has lost its name; None: it lay where we met it, or in the default place."""
        name, database = self._identifier(identifier)
        database = database or self._current_database(execution)
        known = self._locations.pop(_key(name, database), None)
        place = location or known or self.default_place(identifier, execution)
        return Table(name, database, place)

    def supposed(self, identifier: Any, execution: Any, location: str | None) -> Table:
        """A table that is gone from the catalog."""
        name, database = self._identifier(identifier)
        return Table(name, database or self._current_database(execution), location)

    def forget(self, table: Table) -> None:
        """Forget a name without a table."""
        self._locations.pop(_key(table.name, table.database), None)

    def default_place(self, identifier: Any, execution: Any) -> str | None:
        """Where Spark would put a table of this name."""
        return self._ask(
            "path",
            lambda: str(_session_catalog(execution).defaultTablePath(identifier).toString()),
            None,
        )

    def _current_database(self, execution: Any) -> str | None:
        return self._ask(
            "database", lambda: str(_session_catalog(execution).getCurrentDatabase()), None
        )

    def named(self, identifier: Any, execution: Any) -> Table:
        """A table by its TableIdentifier: the catalog's word, our memory, or the default place."""
        name, database = self._identifier(identifier)
        catalog = self._ask("catalog", lambda: _session_catalog(execution), None)
        if catalog is None:
            return Table(name, database, self._locations.get(_key(name, database)))
        if database is None:
            database = self._current_database(execution)
        location = (
            self._ask_quietly(lambda: _location(catalog, identifier))
            or self._locations.get(_key(name, database))
            or self.default_place(identifier, execution)
        )
        return self.remember(Table(name, database, location))

    def v1_identifier(self, resolved: Any) -> Any:
        """A resolved name (``["hr"], "t"``) => the session catalog's TableIdentifier.

        Raises LookupError for a name of another catalog, which the session catalog does not know.
        """
        catalog = self._ask_quietly(lambda: str(resolved.catalog().name()))
        if catalog not in {None, SESSION_CATALOG}:
            raise LookupError(f"a table of the catalog {catalog}")
        identifier = resolved.identifier()
        return self._table_identifier(list(identifier.namespace()), identifier.name())

    def identifier_of(self, parts: Sequence[str], execution: Any) -> Any:
        """A name as it is written (``["hr", "t"]``) => the session catalog's TableIdentifier.

        Raises LookupError for a name of another catalog.
        """
        catalog, namespace, name = self.parts_of(parts, execution)
        if catalog != SESSION_CATALOG:
            raise LookupError(f"a table of the catalog {catalog}")
        return self._table_identifier(namespace, name)

    def parts_of(self, parts: Sequence[str], execution: Any) -> tuple[str, list[str], str]:
        """A name as it is written => its catalog, the namespace there, and the table's name."""
        *namespace, name = parts
        if len(namespace) > 1:
            return namespace[0], namespace[1:], name
        return str(execution.sparkSession().catalog().currentCatalog()), namespace, name

    def _table_identifier(self, namespace: Sequence[str], name: str) -> Any:
        database = self._jvm.scala.Option.apply(namespace[-1] if namespace else None)
        return self._jvm.org.apache.spark.sql.catalyst.TableIdentifier(name, database)

    def _identifier(self, identifier: Any) -> tuple[str, str | None]:
        database = identifier.database()
        return str(identifier.table()), str(database.get()) if database.isDefined() else None

    def remember(self, table: Table) -> Table:
        """Keep the place of a table for the time after its removal."""
        if table.location is not None:
            self._locations[_key(table.name, table.database)] = table.location
        return table


def _session_catalog(execution: Any) -> Any:
    return execution.sparkSession().sessionState().catalog()


def _location(catalog: Any, identifier: Any) -> str:
    return str(catalog.getTableMetadata(identifier).location().toString())


def _key(name: str, database: str | None) -> _Key:
    """Spark's own catalog keeps names in small letters; commands spell them as they like."""
    return (None if database is None else database.lower()), name.lower()
