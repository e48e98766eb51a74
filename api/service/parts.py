"""The parts of a running Headwater, as the routes see them.

Among them are the statements of people, kept in memory until one changes, and the log of refused
documents. A question gets its sources here: stores, a deadline, the state of projection. The parts
are asked for their state here, for /status and /health.
"""

from __future__ import annotations

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
from api.http.errors import answer_bug, answer_headwater, answer_http, error_response
from api.http.metrics import Metrics
from api.service.refusals import Refusals
from api.service.storage import StorageUse
from graph_model.answers.sources import References, Sources
from graph_model.errors import HeadwaterError, NotFound, Rebuilding
from graph_model.governance.statements import KINDS, NOTHING, Governance, govern
from graph_model.lineage import Partial, Structure
from graph_model.naming import Rules
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.projection.projector import COMMANDS_KEY
from graph_model.projection.rebuilding import Progress
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.documents import DocumentState
from graph_model.stores.forwarding import ForwardState
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal
from graph_model.values import Role

if TYPE_CHECKING:
    from graph_model.stores.gremlin.engine.supervisor import Memory


from api.http.errors import NO_ENGINE
from api.http.metrics import lag_seconds
from api.logs import masked
from graph_model.errors import GraphUnavailable, Unavailable

_EXTENSION: Final = "headwater"
_SERVICE: Final = "headwater.service"


@dataclass(frozen=True, slots=True)
class KeptGovernance:
    """The statements of one catalogue between two commands, and results derived from them.

    ``epoch`` changes with every command; a rebuild brings another catalogue.
    """

    epoch: str | None
    catalogue: Catalogue
    rules: Rules
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
        if kept and kept.catalogue is catalogue and (kept.epoch, kept.rules) == (epoch, rules):
            return kept
        governance = NOTHING
        if epoch is not None:
            governance = govern({kind: catalogue.commands(kind.value) for kind in KINDS}, rules)
        read = KeptGovernance(epoch, catalogue, rules, governance)
        self._kept = read
        return read  # what is kept may be another thread's by now, of an earlier epoch


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
        now=service.clock(),
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


# --- their state, for /status and /health ---------------------------------------------------------

_MOMENT_SECONDS: Final = 0.5
"""How long a probe waits for an answer of the graph: those of load balancers give up after 1 s."""
_LONGEST_SECONDS: Final = 2.0
"""How long the newest answer stands, and how long a question may take until it counts as none."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the graph is behind; ``seconds`` is the age of the oldest pending document."""

    documents: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ServiceReadiness:
    """``status`` is ready, rebuilding or unavailable; ``checks`` has the answer of each part.

    ``pending`` counts documents not yet projected, ``lag`` describes it with their age; both are
    None when the journal does not answer.
    """

    status: str
    checks: dict[str, str]
    pending: int | None
    lag: Lag | None = None


class NewestAnswer:
    """What is known of a server that may not answer for seconds: one question is under way at a
    time, on a thread of its own, and whoever asks has the newest result after a moment.

    A result stands for ``_LONGEST_SECONDS`` after its question. Whoever asks later waits for the
    question under way until it is as old, and then counts it as failed: nobody hears that a server
    answers which has stopped for longer. ``ask`` returns, or raises HeadwaterError, within its own
    bound. ``clock`` gives seconds.
    """

    def __init__(
        self,
        ask: Callable[[], None],
        moment: float = _MOMENT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._moment = moment
        self._clock = clock
        self._lock = threading.Lock()
        self._asked: threading.Event | None = None
        self._asked_at = 0.0
        self._failure: HeadwaterError | None = None
        self._known_at: float | None = None  # when the newest result was asked for

    def check(self) -> None:
        """Raises HeadwaterError where the newest question failed, or takes too long."""
        with self._lock:
            now = self._clock()
            if (asked := self._asked) is None:
                asked, self._asked_at = threading.Event(), now
                self._asked = asked
                threading.Thread(target=self._find, args=(asked, now), daemon=True).start()
            asked_at, known_at = self._asked_at, self._known_at
        if known_at is None:
            asked.wait()
        elif now - known_at < _LONGEST_SECONDS or self._failure is not None:
            asked.wait(self._moment)
        elif not asked.wait(max(0.0, asked_at + _LONGEST_SECONDS - now)):
            raise GraphUnavailable(f"no answer for {_LONGEST_SECONDS:g} s")
        if (failure := self._failure) is not None:
            raise failure

    def _find(self, asked: threading.Event, asked_at: float) -> None:
        failure: HeadwaterError | None = None
        try:
            self._ask()
        except HeadwaterError as error:
            failure = error
        except Exception as error:  # it was not answered, whatever the reason
            failure = GraphUnavailable("it could not be asked", repr(error))
        finally:
            with self._lock:
                self._failure, self._known_at, self._asked = failure, asked_at, None
            asked.set()


def ask_parts(service: Service) -> ServiceReadiness:
    """Check every part. The journal decides about new documents, the graph about answers."""
    checks: dict[str, str] = {}
    lag: Lag | None = None
    try:
        service.journal.ensure_taking()
        lag = _lag(service)
        checks["journal"] = "ok"
    except HeadwaterError as error:
        checks["journal"] = _message_of(error)
    try:
        (service.check_graph or service.graph.ping)()
        checks["graph"] = "ok" if service.projector.state == "ready" else service.projector.state
    except HeadwaterError as error:
        checks["graph"] = _message_of(error)
    if (failure := service.projector.failure) is not None:
        checks["projection"] = masked(failure)
    if (rebuild_reason := service.projector.rebuild_reason) is not None:
        checks["catalogue"] = masked(rebuild_reason)
    if (memory := service.engine_memory()) is not None:
        checks["memory"] = str(memory)
    status = _status(checks, service.projector.state)
    if (full := service.projector.full) is not None:
        checks["room"] = full  # the service stays ready
    if checks["journal"] == "ok" and (warning := _storage_warning(service)) is not None:
        checks["storage"] = warning  # the service stays ready
    return ServiceReadiness(status, checks, None if lag is None else lag.documents, lag)


def _message_of(error: HeadwaterError) -> str:
    """A message without addresses and drivers' texts: clients without a key may read it."""
    return masked(error.reason) if isinstance(error, Unavailable) else NO_ENGINE


def _storage_warning(service: Service) -> str | None:
    """The forecast's warning. None also where the measurement fails: the service is ready all the
    same.
    """
    try:
        return None if service.storage is None else service.storage.forecast().warning
    except HeadwaterError:
        return None


def _lag(service: Service) -> Lag:
    backlog = service.journal.backlog()
    return Lag(backlog.documents, lag_seconds(backlog, service.clock()))


def _status(checks: dict[str, str], projector_state: str) -> str:
    if checks["journal"] != "ok" or checks["graph"] not in {"ok", projector_state}:
        return "unavailable"
    return projector_state
