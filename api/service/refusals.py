"""Log lines about refused documents."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.http.errors import Reason

_LINES: Final = 5
_PERIOD_SECONDS: Final = 60.0
_LONGEST: Final = 300

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
                left_out = max(0, period.seen - _LINES)
                period.began, period.seen = now, 0
            period.seen += 1
            return left_out if period.seen <= _LINES else None


def _one_line(text: str) -> str:
    """The beginning of a text, without characters that end the line or steer a terminal."""
    shown = text[:_LONGEST]
    return "".join(one if one.isprintable() else " " for one in shown) + "…" * (shown != text)
