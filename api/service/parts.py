"""The parts of a running Headwater, as the routes see them.

Among them are the statements of people, kept in memory until one changes, and the log of refused
documents. A question gets its sources here: stores, a deadline, the state of projection.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from flask import Flask, Response, current_app, has_request_context, json, request
from werkzeug.exceptions import HTTPException

from api.http.access import Keys, NoKeys
from api.http.blueprint import Blueprint, current_principal
from api.http.errors import Reason, answer_bug, answer_headwater, answer_http, error_response
from api.http.metrics import Metrics
from api.service.storage import StorageUse
from graph_model.answers.sources import References, Sources
from graph_model.errors import HeadwaterError, NotFound, Rebuilding
from graph_model.governance.statements import KINDS, NOTHING, Governance, govern
from graph_model.lineage import Partial, Structure
from graph_model.naming import Rules, rules_digest
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.projection.projector import COMMANDS_KEY
from graph_model.projection.rebuilding import Progress
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.documents import DocumentState
from graph_model.stores.forwarding import ForwardState
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal
from graph_model.stores.roles import Role

if TYPE_CHECKING:
    from graph_model.stores.gremlin.engine.supervisor import Memory


_LINES_A_PERIOD: Final = 5
_PERIOD_SECONDS: Final = 60.0
_LONGEST_REASON: Final = 300
_EXTENSION: Final = "headwater"
_SERVICE: Final = "headwater.service"


@dataclass(frozen=True, slots=True)
class KeptGovernance:
    """The statements of one catalogue between two commands, and results derived from them.

    ``epoch`` changes with every command; a rebuild brings another catalogue.
    """

    epoch: str | None
    catalogue: Catalogue
    rules: str
    governance: Governance
    structure: Structure = field(default_factory=Structure)


class GovernanceSource(Protocol):
    """A source of the statements about a graph."""

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> KeptGovernance: ...


@dataclass(slots=True)
class GovernanceAtOnce:
    """The statements at one moment, for a request that adds no statement itself."""

    _stated: GovernanceSource
    _kept: KeptGovernance | None = field(default=None)

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> KeptGovernance:
        """The statements of this catalogue at the first call."""
        if self._kept is None or self._kept.catalogue is not catalogue:
            self._kept = self._stated.read(journal, catalogue, rules)
        return self._kept


@dataclass(slots=True)
class GovernanceCache:
    """For any thread: the kept value is replaced as a whole."""

    _kept: KeptGovernance | None = field(default=None)

    def read(self, journal: Journal, catalogue: Catalogue, rules: Rules) -> KeptGovernance:
        """The statements now. The epoch is read first: a statement that comes in between changes
        it, and the next call reads all statements again.
        """
        epoch = journal.get_meta(COMMANDS_KEY)
        kept = self._kept
        digest = rules_digest(rules)
        if kept and kept.catalogue is catalogue and (kept.epoch, kept.rules) == (epoch, digest):
            return kept
        governance = NOTHING
        if epoch is not None:
            governance = govern({kind: catalogue.commands(kind.value) for kind in KINDS}, rules)
        self._kept = KeptGovernance(epoch, catalogue, digest, governance)
        return self._kept


log = logging.getLogger("headwater.refusals")


@dataclass(slots=True)
class _Period:
    """The beginning of a period, and the number of refusals in it."""

    began: float
    seen: int = 0


class Refusals:
    """Logs some refused documents: five a minute of each kind and reason.

    The next line reports how many refusals were not logged. The reason names a place in the
    document and the expected value there; the log masks it like any line. For any thread.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._periods: dict[tuple[str, str], _Period] = {}  # as many as there are words for them

    def log_refusal(self, kind: str, reason: Reason, principal: str) -> None:
        """Log that documents of a kind were refused."""
        left_out = self._left_out(kind, reason.kind)
        if left_out is not None:
            more = f" ({left_out:,} more like it since the last line)" if left_out else ""
            text = _one_line(reason.text)
            log.warning("%s of %s refused, %s: %s%s", kind, principal, reason.kind, text, more)

    def _left_out(self, kind: str, reason: str) -> int | None:
        """How many refusals before this one were not logged; None where this one is not logged
        either.
        """
        now = self._seconds()
        with self._lock:
            period = self._periods.setdefault((kind, reason), _Period(now))
            left_out = 0
            if now - period.began >= _PERIOD_SECONDS:
                left_out = max(0, period.seen - _LINES_A_PERIOD)
                period.began, period.seen = now, 0
            period.seen += 1
            return left_out if period.seen <= _LINES_A_PERIOD else None


def _one_line(text: str) -> str:
    """The beginning of a text, without characters that end the line or steer a terminal."""
    shown = text[:_LONGEST_REASON]
    printable = "".join(letter if letter.isprintable() else " " for letter in shown)
    return printable + "…" * (shown != text)


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
    asks it. ``forwarding`` reads the destinations to which documents are sent on.
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
    forwarding: Callable[[], Sequence[ForwardState]] = tuple

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


#: The longest time of a walk: after it, the answer is the part found so far.
TIME_LIMIT_MS: Final = 20_000
_NEVER_HELD: Final = frozenset({"document", "key", "layer", "place for uploads", "rebuild"})
_MAKE_ROOM: Final = (
    "the requested node may be in one of them. A larger heap (HEADWATER_GREMLIN_HEAP) or a prune"
    " command makes room (docs/graph.md)"
)


def current_sources() -> Sources:
    """The stores and rules of the app that answers the current request; its time begins now."""
    service = current_service()
    catalogue = service.catalogue
    kept = service.kept(catalogue)
    return Sources(
        graph=service.graph,
        catalogue=catalogue,
        journal=service.journal,
        rules=service.projector.rules,
        producers=service.producers,
        governance=kept.governance,
        structure=kept.structure,
        hidden=kept.governance.hidden,
        opens_hidden=current_principal().may(Role.ADMIN),
        expired=_deadline(),
        time_limit_ms=TIME_LIMIT_MS,
    )


def _deadline() -> Callable[[], bool]:
    """A function that reports whether the time for an answer that begins now is over."""
    end = time.monotonic() + TIME_LIMIT_MS / 1000
    return lambda: time.monotonic() > end


def is_rebuilding() -> bool:
    """Whether the graph is behind the journal. After a failure an engine that forgets its elements
    may be: it was started anew, or did not take what the catalogue has.
    """
    service = current_service()
    state = service.projector.state
    return state == "rebuilding" or (state == "unavailable" and service.graph.forgets)


def lacking() -> Partial | None:
    """The reason why every answer of the graph is partial now, if it is: a rebuild, or a full graph
    that holds documents back.
    """
    if is_rebuilding():
        return Partial("rebuilding", 0)
    return None if current_service().projector.full is None else Partial("full", 0)


@contextmanager
def whole_or_later() -> Iterator[None]:
    """While the graph is behind, a missing node may still come: 503 instead of 404."""
    rebuilding = is_rebuilding()
    try:
        yield
    except NotFound as error:
        if rebuilding or is_rebuilding():
            raise Rebuilding(f"{error} yet: the graph is being rebuilt") from error
        raise


def answer_errors(
    blueprint: Blueprint, spelled: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> None:
    """Have every error of these routes answered in another API's words: ``spelled`` makes its body
    from ours (``http.errors``); status and headers stay.
    """

    def respelled(response: Response) -> Response:
        body = response.get_json(silent=True)  # a redirect has none
        if isinstance(body, dict):
            response.set_data(json.dumps(spelled(body)))
        return response

    blueprint.register_error_handler(HTTPException, lambda error: respelled(answer_http(error)))
    blueprint.register_error_handler(HeadwaterError, lambda error: respelled(_answered(error)))
    blueprint.register_error_handler(Exception, lambda error: respelled(answer_bug(error)))


def _answered(error: HeadwaterError) -> Response:
    """While the graph is behind, a missing node may still come: 503 instead of 404."""
    if isinstance(error, NotFound) and is_rebuilding():
        return answer_headwater(Rebuilding(f"{error} yet: the graph is being rebuilt"))
    return answer_headwater(error)


def answer_not_found(error: NotFound) -> Response:
    """404. While the graph is full, the message also says why a new node may be missing, with the
    remedy.
    """
    answer = answer_headwater(error)
    full = current_service().projector.full
    if full is None or error.kind in _NEVER_HELD:
        return answer
    return error_response(HTTPStatus.NOT_FOUND, f"{error}. But {full}: {_MAKE_ROOM}")
