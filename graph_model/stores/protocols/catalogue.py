"""The catalogue as a whole, and the next one while it is built."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from graph_model.facts import Facts, Row
from graph_model.stores.protocols.events import Events
from graph_model.stores.protocols.history import ExecutionHistory, SchemaHistory, SeenWrites
from graph_model.stores.protocols.lists import CatalogueLists
from graph_model.stores.protocols.nodes import CatalogNames, NodeLookup
from graph_model.stores.protocols.records import FacetRecords, RunRecords
from graph_model.stores.protocols.retention import SupportLookup
from graph_model.stores.protocols.statements import StatementLookup

if TYPE_CHECKING:
    from graph_model.stores.journal import Journal


#: The journal's note whether the catalogue has everything: FILLING from when it is emptied until
#: it is WHOLE again.
CATALOGUE_KEY: Final = "catalogue"
FILLING: Final = "filling"
WHOLE: Final = "whole"
ROUND_KEY: Final = "catalogue_round"
"""The journal's setting for the number of the last round that it has concluded."""


def is_catalogue_whole(journal: Journal) -> bool:
    """Whether the catalogue in force has had everything since it was emptied last."""
    return journal.get_meta(CATALOGUE_KEY) != FILLING


@dataclass(frozen=True, slots=True)
class Origin:
    """The journal that a catalogue was made from: its id, the number of the projector's last round
    in the catalogue, and the position of the newest document in it (``catalogue.origin``).
    """

    journal: str
    round: int
    position: int


class CatalogueWriter(Protocol):
    """Rows in and out: idempotent, one transaction a call."""

    def record(
        self, rows: Sequence[Row], origin: Origin | None = None, elements: Facts = ...
    ) -> None:
        """Insert rows whose key is new; a known key with other content raises FactConflict.

        In the same transaction ``origin`` is noted, and the vertices and edges of ``elements`` are
        kept for an engine that forgets them.
        """

    def withdraw(self, rows: Sequence[Row]) -> None:
        """Delete exactly these rows; unknown rows are ignored."""


class KeptElements(Protocol):
    """Vertices and edges of an engine that forgets them when it ends. No question reads them."""

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """Forget these elements, in one transaction; the edges at a vertex are not looked for."""

    def clear(self) -> None: ...

    def count(self) -> tuple[int, int]:
        """The number of vertices and of edges."""

    def pages(self) -> Iterator[Facts]:
        """All of them in bounded pages, the vertices first."""


class Catalogue(
    NodeLookup,
    CatalogNames,
    SeenWrites,
    ExecutionHistory,
    SchemaHistory,
    CatalogueLists,
    SupportLookup,
    StatementLookup,
    CatalogueWriter,
    Protocol,
):
    """Times, names and counts. Serves rows; knows no connectivity.

    A question takes the narrow protocol that it needs.
    """

    @property
    def events(self) -> Events:
        """Lists of executions and data sources with filters, in any order."""

    @property
    def runs(self) -> RunRecords:
        """Runs from OpenLineage's events, ended or not."""

    @property
    def facets(self) -> FacetRecords:
        """Facets over time."""

    @property
    def elements(self) -> KeptElements:
        """The elements that the embedded engine has, or is to have."""

    def snapshot(self) -> AbstractContextManager[Catalogue]:
        """The catalogue as it is now, so that several questions read one state, and faster. Only
        for reading, in one thread, and for a short time.
        """

    def clear(self) -> None: ...

    def scan(self) -> Iterator[Row]:
        """Every row, in any order, in bounded pages: for digests and exports."""

    def digest(self) -> str:
        """SHA-256 in hex over all rows: equal for equal content."""

    def close(self) -> None: ...


class Generations(Protocol):
    """The catalogue in force, and the next one during a rebuild.

    ``version`` counts changes of a catalogue's content: another version is another epoch.
    """

    @property
    def version(self) -> int: ...

    @property
    def current(self) -> Catalogue:
        """The catalogue in force. One answer asks once and keeps it."""

    @property
    def damage(self) -> str | None:
        """Damage that a reader or writer of the catalogue in force met; None while it is whole."""

    @property
    def written(self) -> tuple[Catalogue, ...]:
        """The catalogue in force, and the next one while it is built."""

    def find_mismatch(self) -> str | None:
        """Why the catalogue in force does not match this journal; None if it does.

        To be called while no process projects (``Journal.projecting``).
        """

    def find_foreign(self) -> str | None:
        """A catalogue beside the journal with the documents of another one, for a message, whatever
        its number; None where there is none.
        """

    def set_foreign_aside(self) -> None:
        """Give catalogues of another journal another name, but for the one in force."""

    @property
    def trusted(self) -> bool:
        """Whether ``find_mismatch`` found nothing, or the catalogue was made here since."""

    def set_aside(self) -> None:
        """Put an empty catalogue in place of the one in force, which is kept under another name if
        it holds anything. The empty one is not trusted until ``adopt`` or ``switch``.
        """

    def adopt(self) -> None:
        """Trust the catalogue in force: the documents that it lacks are PENDING in the journal."""

    def refresh(self) -> bool:
        """Follow a switch that another process has made. Returns whether there was one."""

    def begin(self) -> Catalogue:
        """The next catalogue, empty."""

    def abandon(self) -> None:
        """Go on without the next catalogue; nothing when there is none."""

    def switch(self) -> None:
        """Put the next catalogue in force, durably; the former stays until ``drop_former``."""

    def drop_former(self) -> None: ...

    def close(self) -> None: ...
