"""The parts that a running Headwater is made of, as the routes see them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, cast

from flask import Flask, current_app, has_request_context, request

from api.access import Keys, NoKeys
from api.metrics import Metrics
from api.refusals import Refusals
from api.standing import Kept, Standing, Stated, StatedAtOnce
from graph_model.governance.standing import Governance
from graph_model.naming import Rules
from graph_model.rebuilding import Progress
from graph_model.references import References
from graph_model.store import Catalogue, DocumentState, Generations, Graph, Journal

_EXTENSION: Final = "headwater"
_ASKED: Final = "headwater.asked"


class Projector(Protocol):
    """Keeps graph and catalogue up with the journal (``graph_model.projector``)."""

    @property
    def state(self) -> str:
        """``ready``, ``rebuilding`` or ``unavailable``."""

    @property
    def trouble(self) -> str | None:
        """Why nothing is projected while the state is ``unavailable``."""

    @property
    def doubt(self) -> str | None:
        """Why graph or catalogue could not be trusted and everything is projected anew."""

    @property
    def rules(self) -> Rules:
        """The naming rules that what stands was projected under."""

    @property
    def idle(self) -> bool:
        """Whether nothing is being projected, or is about to be: a new document is at once."""

    def notify(self, subject: str = "") -> None:
        """A subject has new documents."""

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait, at most ``timeout`` seconds, until none of these documents is pending."""

    def lag(self) -> int:
        """How many documents are accepted and not projected yet."""

    def replay(self, states: Collection[DocumentState]) -> int:
        """Set documents in these states back to pending; how many."""

    @property
    def progress(self) -> Progress | None:
        """How far the rebuild is that runs, or ran last; None before the first."""

    def request_rebuild(self) -> Progress:
        """Project everything anew, beside what stands; one that is under way goes on."""


class Engine(Protocol):
    """Keeps the embedded engine running (``graph_model.gremlin.supervisor``)."""

    @property
    def trouble(self) -> str | None:
        """Why there is no engine, and what to do; None while it runs."""

    @property
    def memory(self) -> object | None:
        """How full it is, as text; None when that is not known."""


@dataclass(frozen=True, slots=True)
class Service:
    """``clock`` gives epoch milliseconds. Every part is safe from several threads.

    ``metrics`` are of this service alone, with a registry of their own. ``engine`` is None where
    the graph is somebody else's server.
    """

    journal: Journal
    projector: Projector
    graph: Graph
    generations: Generations
    clock: Callable[[], int]
    keys: Keys = field(default_factory=NoKeys)
    metrics: Metrics = field(default_factory=Metrics)
    engine: Engine | None = None
    standing: Stated = field(default_factory=Standing)
    refusals: Refusals = field(default_factory=Refusals)

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue in force; an answer asks once and keeps it."""
        return self.generations.current

    @property
    def governance(self) -> Governance:
        """What people state of the graph now; an answer asks once and keeps it."""
        return self.kept(self.catalogue).governance

    def kept(self, catalogue: Catalogue) -> Kept:
        """What is kept of this catalogue between two commands; an answer asks once."""
        return self.standing.read(self.journal, catalogue, self.projector.rules)

    @property
    def references(self) -> References:
        """What people write for a node -> its id, by what is in force now."""
        return References(self.catalogue, self.graph, self.projector.rules)


def attach(app: Flask, service: Service) -> None:
    """Make ``current_service`` find this service inside requests of this app."""
    app.extensions[_EXTENSION] = service


def service_of(app: Flask) -> Service:
    """The service that was attached last."""
    return cast(Service, app.extensions[_EXTENSION])


def current_service() -> Service:
    """The service of the app that answers the current request.

    A question sees one moment of what people state, however often it asks.
    """
    if not has_request_context() or request.method not in {"GET", "HEAD"}:
        return service_of(current_app)
    if _ASKED not in request.environ:
        service = service_of(current_app)
        request.environ[_ASKED] = replace(service, standing=StatedAtOnce(service.standing))
    return cast(Service, request.environ[_ASKED])
