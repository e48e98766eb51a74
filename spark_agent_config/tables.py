"""What a catalog says of its tables: their names, and where their data lies."""

from __future__ import annotations

from typing import Any

from spark_agent_config.captured import Table
from spark_agent_config.questions import Questions


class Tables:
    """Asks about catalog tables and remembers locations: a dropped table can no longer say."""

    def __init__(self, questions: Questions, jvm: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm
        self._locations: dict[tuple[str | None, str], str] = {}

    def of_node(self, node: Any) -> Table | None:
        """``catalogTable`` of a command or of a relation."""

        def read() -> Table | None:
            option = node.catalogTable()
            return self.described(option.get()) if option.isDefined() else None

        return self._ask("catalogTable", read, None)

    def described(self, catalog_table: Any) -> Table:
        """A CatalogTable by itself; it may not say where its data lies."""
        name, database = self._identifier(catalog_table.identifier())
        location = self._ask("location", lambda: str(catalog_table.location().toString()), None)
        return self._remember(Table(name, database, location))

    def being_made(self, catalog_table: Any, execution: Any) -> Table | None:
        """A table that a command makes: where it lies by now, or would by default."""

        def placed() -> bool:
            return bool(catalog_table.storage().locationUri().isDefined())

        if self._ask("locationUri", placed, False):
            return self._ask("table", lambda: self.described(catalog_table), None)
        return self._ask(
            "identifier", lambda: self.named(catalog_table.identifier(), execution), None
        )

    def named(self, identifier: Any, execution: Any) -> Table:
        """A table by its TableIdentifier: the catalog's word, our memory, or the default place."""
        name, database = self._identifier(identifier)
        catalog = self._ask("catalog", lambda: _session_catalog(execution), None)
        if catalog is None:
            return Table(name, database, self._locations.get((database, name)))
        if database is None:
            database = self._ask("database", lambda: str(catalog.getCurrentDatabase()), None)
        location = (
            self._ask_quietly(lambda: _location(catalog, identifier))
            or self._locations.get((database, name))
            or self._ask("path", lambda: str(catalog.defaultTablePath(identifier).toString()), None)
        )
        return self._remember(Table(name, database, location))

    def v1_identifier(self, identifier: Any) -> Any:
        """A catalog's Identifier (``["hr"], "t"``) => the session catalog's TableIdentifier."""
        namespace = list(identifier.namespace())
        database = self._jvm.scala.Option.apply(namespace[-1] if namespace else None)
        return self._jvm.org.apache.spark.sql.catalyst.TableIdentifier(identifier.name(), database)

    def _identifier(self, identifier: Any) -> tuple[str, str | None]:
        database = identifier.database()
        return str(identifier.table()), str(database.get()) if database.isDefined() else None

    def _remember(self, table: Table) -> Table:
        if table.location is not None:
            self._locations[(table.database, table.name)] = table.location
        return table


def _session_catalog(execution: Any) -> Any:
    return execution.sparkSession().sessionState().catalog()


def _location(catalog: Any, identifier: Any) -> str:
    return str(catalog.getTableMetadata(identifier).location().toString())
