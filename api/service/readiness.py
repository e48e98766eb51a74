"""The state of the parts, for /status and /health."""

from __future__ import annotations

from dataclasses import dataclass

from api.http.errors import NO_ENGINE
from api.http.metrics import lag_seconds
from api.logs import masked
from api.service import Service
from graph_model.errors import HeadwaterError, Unavailable


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
        service.graph.ping()
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
