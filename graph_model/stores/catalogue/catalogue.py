"""SqlCatalogue: the catalogue of ``graph_model.stores.protocols`` in a relational database."""

from __future__ import annotations

from sqlalchemy.engine import Engine

from graph_model.errors import Unavailable
from graph_model.stores.catalogue.bulk import SqlBulkRows
from graph_model.stores.catalogue.elements import SqlElements
from graph_model.stores.catalogue.history.declared import SqlDeclaredFlows
from graph_model.stores.catalogue.history.duplicate_reports import SqlCompanions
from graph_model.stores.catalogue.history.executions import SqlExecutionHistory
from graph_model.stores.catalogue.history.names import SqlCatalogNames
from graph_model.stores.catalogue.history.reads import SqlPlanReads
from graph_model.stores.catalogue.history.schemas import SqlSchemaHistory
from graph_model.stores.catalogue.history.table_versions import SqlTableVersions
from graph_model.stores.catalogue.history.writes import SqlSpanWrites
from graph_model.stores.catalogue.listing.estate import SqlEstate
from graph_model.stores.catalogue.listing.events import SqlEvents
from graph_model.stores.catalogue.listing.lists import SqlCatalogueLists
from graph_model.stores.catalogue.listing.recent_executions import SqlRecentExecutions
from graph_model.stores.catalogue.listing.search import SqlSearch
from graph_model.stores.catalogue.listing.waiting_jobs import SqlWaitingJobs
from graph_model.stores.catalogue.openlineage.records import SqlFacetRecords, SqlRunRecords
from graph_model.stores.catalogue.origin import read_origin
from graph_model.stores.catalogue.plan_origins import SqlPlanOrigins
from graph_model.stores.catalogue.retention import SqlSupportLookup
from graph_model.stores.catalogue.rows import SqlRows
from graph_model.stores.catalogue.statements import SqlStatementLookup
from graph_model.stores.catalogue.tables import VERSION, metadata
from graph_model.stores.database import damage, noted_damage, prepare, tidy, used_bytes
from graph_model.stores.protocols import Origin


class SqlCatalogue(
    SqlSchemaHistory,
    SqlCatalogNames,
    SqlSpanWrites,
    SqlTableVersions,
    SqlPlanReads,
    SqlDeclaredFlows,
    SqlCompanions,
    SqlExecutionHistory,
    SqlCatalogueLists,
    SqlSearch,
    SqlEstate,
    SqlRecentExecutions,
    SqlWaitingJobs,
    SqlSupportLookup,
    SqlStatementLookup,
    SqlPlanOrigins,
    SqlRows,
    SqlBulkRows,
):
    """Rows in the tables ``catalogue_*`` of an engine from ``open_database``.

    ``protocols.Catalogue`` has the semantics of every method; each is found in the class of its
    kind of question, beside its SQL. Several threads may share one. Every method may raise
    Unavailable; the constructor raises ConfigurationError for a database that it cannot use.
    """

    def __init__(self, engine: Engine) -> None:
        prepare(engine, "catalogue", VERSION, metadata, empty_older=True)
        super().__init__(engine)

    @property
    def events(self) -> SqlEvents:
        return SqlEvents(self._engine, self._held)

    @property
    def runs(self) -> SqlRunRecords:
        return SqlRunRecords(self._engine, self._held)

    @property
    def facets(self) -> SqlFacetRecords:
        return SqlFacetRecords(self._engine, self._held)

    @property
    def elements(self) -> SqlElements:
        return SqlElements(self._engine)

    def origin(self) -> Origin | None:
        """The last noted origin; None for an empty catalogue."""
        with self._read() as connection:
            return read_origin(connection)

    @property
    def damage(self) -> str | None:
        """The damage that its reads and writes have met; None while it is whole."""
        return noted_damage(self._engine)

    def examine(self) -> tuple[str, ...]:
        """The defects that the database itself finds in its file; reads all of it."""
        with self._read() as connection:
            return damage(connection)

    def tidy(self) -> bool:
        """One step of freeing the space of deleted rows; False when none is left."""
        return tidy(self._engine, Unavailable)

    def used_bytes(self) -> int:
        """The size of its tables; on SQLite that of its file. Reads no rows."""
        with self._read() as connection:
            return used_bytes(connection, "catalogue%")

    def close(self) -> None:
        """Give back the connections of the engine; safe to call twice."""
        self._engine.dispose()
