"""The catalogue: its parts together, on one database."""

from __future__ import annotations

from sqlalchemy.engine import Engine

from graph_model.errors import Unavailable
from graph_model.stores.catalogue.elements import Elements
from graph_model.stores.catalogue.events import Events
from graph_model.stores.catalogue.executions import ExecutionHistory
from graph_model.stores.catalogue.facets import FacetRecords, RunFacets, RunRecords
from graph_model.stores.catalogue.lists import CatalogueLists
from graph_model.stores.catalogue.names import CatalogNames, NodeLookup
from graph_model.stores.catalogue.origin import Origin, read_origin
from graph_model.stores.catalogue.rows import CatalogueRows
from graph_model.stores.catalogue.schemas import SchemaHistory
from graph_model.stores.catalogue.search import Search
from graph_model.stores.catalogue.support import SupportLookup
from graph_model.stores.catalogue.tables import VERSION, metadata
from graph_model.stores.catalogue.versions import VersionedWrites
from graph_model.stores.catalogue.writes import Writes
from graph_model.stores.database import damage, noted_damage, prepare, tidy, used_bytes


class Catalogue(
    SchemaHistory,
    NodeLookup,
    CatalogNames,
    ExecutionHistory,
    Writes,
    VersionedWrites,
    CatalogueLists,
    Search,
    RunFacets,
    SupportLookup,
    CatalogueRows,
):
    """Times, names and counts, in the tables ``catalogue_*`` of an engine from ``open_database``.
    It serves rows, and knows no connectivity.

    Each method is found in the class of its kind of question, beside its SQL; ``events``, ``runs``,
    ``facets`` and ``elements`` are parts with names of their own. Several threads may share one.
    Every method may raise Unavailable; the constructor raises ConfigurationError for a database
    that it cannot use.
    """

    def __init__(self, engine: Engine) -> None:
        prepare(engine, "catalogue", VERSION, metadata, empty_older=True)
        super().__init__(engine)

    @property
    def events(self) -> Events:
        """Lists of executions and data sources with filters, in any order."""
        return Events(self._engine, self._held)

    @property
    def runs(self) -> RunRecords:
        """Runs from OpenLineage's events, ended or not."""
        return RunRecords(self._engine, self._held)

    @property
    def facets(self) -> FacetRecords:
        """Facets over time."""
        return FacetRecords(self._engine, self._held)

    @property
    def elements(self) -> Elements:
        """The elements that the embedded engine has, or is to have."""
        return Elements(self._engine)

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
