"""Whether the parts can do their work now: the questions behind /status and /health."""

from __future__ import annotations

from dataclasses import dataclass

from api.service import Service
from graph_model.errors import HeadwaterError

_PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Readiness:
    """``status`` is ready, rebuilding or unavailable; ``checks`` says what each part answered.

    ``pending`` counts documents not yet projected; None when the journal cannot say.
    """

    status: str
    checks: dict[str, str]
    pending: int | None


def probe_journal(service: Service) -> None:
    """Write one small durable value; raises JournalUnavailable when that fails.

    Only a write tells a full disk from a working one.
    """
    service.journal.set_meta(_PROBE, "written")


def ask(service: Service) -> Readiness:
    """Ask every part. The journal decides whether documents are taken, the graph what is seen."""
    checks: dict[str, str] = {}
    pending: int | None = None
    try:
        probe_journal(service)
        pending = service.projector.lag()
        checks["journal"] = "ok"
    except HeadwaterError as error:
        checks["journal"] = str(error)
    try:
        service.graph.ping()
        checks["graph"] = "ok" if service.projector.state == "ready" else service.projector.state
    except HeadwaterError as error:
        checks["graph"] = str(error)
    return Readiness(_status(checks, service.projector.state), checks, pending)


def _status(checks: dict[str, str], projector_state: str) -> str:
    if checks["journal"] != "ok" or checks["graph"] not in {"ok", projector_state}:
        return "unavailable"
    return projector_state
