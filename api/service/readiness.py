"""The state of the parts, for /status and /health."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.http.errors import NO_ENGINE
from api.http.metrics import lag_seconds
from api.logs import masked
from api.service import Service
from graph_model.errors import GraphUnavailable, HeadwaterError, Unavailable

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
        finally:
            with self._lock:
                self._failure, self._known_at, self._asked = failure, asked_at, None
            asked.set()


def ask(service: Service) -> ServiceReadiness:
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
