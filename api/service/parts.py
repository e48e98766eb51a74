"""The parts of a running Headwater, as the routes see them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol, cast

from flask import Flask, current_app, has_request_context, request

from api.http.access import Keys, NoKeys
from api.http.metrics import Metrics
from api.service.governance import (
    GovernanceAtOnce,
    GovernanceCache,
    GovernanceSource,
    KeptGovernance,
)
from api.service.refusals import Refusals
from api.service.storage import StorageUse
from graph_model.answers.references import References
from graph_model.governance.statements import Governance
from graph_model.naming import Rules
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.projection.rebuilding import Progress
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.documents import DocumentState
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal

if TYPE_CHECKING:
    from graph_model.stores.gremlin.engine.supervisor import Memory

_EXTENSION: Final = "headwater"
_SERVICE: Final = "headwater.service"


class ProjectionService(Protocol):
    """Projects the journal into graph and catalogue (``graph_model.projection.projector``)."""

    @property
    def state(self) -> str:
        """``ready``, ``rebuilding`` or ``unavailable``."""

    @property
    def failure(self) -> str | None:
        """Why nothing is projected while the state is ``unavailable``."""

    @property
    def rebuild_reason(self) -> str | None:
        """Why graph or catalogue could not be trusted and everything is projected anew."""

    @property
    def full(self) -> str | None:
        """Why some documents wait although the graph answers; None where no document waits."""

    @property
    def rules(self) -> Rules:
        """The naming rules of the projection in force."""

    @property
    def idle(self) -> bool:
        """Whether nothing is projected now or soon, so that a new document is projected at once."""

    def notify(self) -> None:
        """Tell the projector that the journal has new documents."""

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait, at most ``timeout`` seconds, until none of these documents is pending."""

    def replay(self, states: Collection[DocumentState]) -> int:
        """Set documents in these states back to pending; how many."""

    @property
    def progress(self) -> Progress | None:
        """The progress of the rebuild that runs, or ran last; None before the first."""

    @property
    def rebuild_waits(self) -> bool:
        """Whether a rebuild is requested or under way in any process."""

    def request_rebuild(self) -> Progress:
        """Project everything anew, beside the projection in force; a rebuild under way goes on."""


@dataclass(frozen=True, slots=True)
class Service:
    """``clock`` gives epoch milliseconds. Every part is safe from several threads.

    ``metrics`` are of this service alone, with a registry of their own. ``engine_memory``
    returns how full the embedded engine is; None where that is not known, and where the graph is a
    server of its own. ``storage`` measures the space that the stores take, where the database can.
    ``check_graph`` says for probes whether the graph answers, as far as that is known at once; None
    asks it.
    """

    journal: Journal
    projector: ProjectionService
    graph: Graph
    generations: Generations
    clock: Callable[[], int]
    keys: Keys = field(default_factory=NoKeys)
    metrics: Metrics = field(default_factory=Metrics)
    engine_memory: Callable[[], Memory | None] = lambda: None
    governance_source: GovernanceSource = field(default_factory=GovernanceCache)
    refusals: Refusals = field(default_factory=Refusals)
    storage: StorageUse | None = None
    producers: Producers = PRODUCERS
    check_graph: Callable[[], None] | None = None

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue in force; an answer reads it once and keeps it."""
        return self.generations.current

    @property
    def governance(self) -> Governance:
        """The statements of people about the graph; an answer reads them once and keeps them."""
        return self.kept(self.catalogue).governance

    def kept(self, catalogue: Catalogue) -> KeptGovernance:
        """The governance in force, kept between two commands; an answer reads it once."""
        return self.governance_source.read(self.journal, catalogue, self.projector.rules)

    @property
    def references(self) -> References:
        """The resolution of a person's spelling of a node to its id, by the rules in force."""
        return References(self.catalogue, self.graph, self.projector.rules)


def attach(app: Flask, service: Service) -> None:
    """Make ``current_service`` find this service inside requests of this app."""
    app.extensions[_EXTENSION] = service


def service_of(app: Flask) -> Service:
    """The service that was attached last."""
    return cast(Service, app.extensions[_EXTENSION])


def current_service() -> Service:
    """The service of the app that answers the current request.

    A question sees the statements of one moment, however often it reads them.
    """
    if not has_request_context() or request.method not in {"GET", "HEAD"}:
        return service_of(current_app)
    if _SERVICE not in request.environ:
        service = service_of(current_app)
        request.environ[_SERVICE] = replace(
            service, governance_source=GovernanceAtOnce(service.governance_source)
        )
    return cast(Service, request.environ[_SERVICE])
