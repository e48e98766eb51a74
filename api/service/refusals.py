"""Refused documents: some are logged, and those of the last day are kept for ``/journal/refused``.

Kept rows are of this process alone and end with it: no refusal waits for a write.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from api.http.errors import Reason
from api.logs import masked

_LINES_A_PERIOD: Final = 5
_PERIOD_SECONDS: Final = 60.0
_LONGEST_REASON: Final = 300
_MOST_KEPT: Final = 1_000
_KEPT_SECONDS: Final = 86_400.0
_SHOWN: Final = 512
#: So much is masked before it is cut to what is shown, so that no secret is cut where it stands.
LOOKED_AT: Final = 4_096
#: Of a longer body the masked end is not shown: there a secret may have lost what tells it.
_HIDDEN_END: Final = 1_024

log = logging.getLogger("headwater.refusals")


@dataclass(slots=True)
class _Period:
    """The beginning of a period, and the number of refusals in it."""

    began: float
    seen: int = 0


@dataclass(frozen=True, slots=True)
class RefusedRequests:
    """Requests with documents of a kind that one caller sent within a minute, refused for one kind
    of reason: ``count`` of them. ``at`` and ``last`` are times of the first and the newest one
    (epoch ms); ``message`` and ``beginning``, the first 512 characters of its body, are of the
    first, masked: a caller who repeats itself costs that work once a minute. ``beginning`` is empty
    where no body was read: without a valid key, or too large.
    """

    at: int
    last: int
    count: int
    kind: str
    reason: str
    message: str
    principal: str
    beginning: str


class Refusals:
    """Logs some refused documents: five a minute of each kind and reason; the next line reports how
    many were not logged. The reason names a place in the document and the expected value there; the
    log masks it like any line.

    Keeps them for a day, one row for each caller, kind and reason a minute, the newest 1,000. For
    any thread.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: dict[tuple[int, str, str, str], RefusedRequests] = {}  # oldest first
        self._periods: dict[tuple[str, str], _Period] = {}  # as many as there are words for them

    def log_refusal(self, kind: str, reason: Reason, principal: str) -> None:
        """Log that documents of a kind were refused."""
        left_out = self._left_out(kind, reason.kind)
        if left_out is not None:
            more = f" ({left_out:,} more like it since the last line)" if left_out else ""
            text = _one_line(reason.text)
            log.warning("%s of %s refused, %s: %s%s", kind, principal, reason.kind, text, more)

    def keep(
        self, kind: str, reason: Reason, principal: str, body: Callable[[], bytes], now: int
    ) -> None:
        """Keep that documents of a kind were refused ``now`` (epoch ms); ``body`` gives the first
        ``LOOKED_AT`` bytes of that of the request.
        """
        key = int(now / 1000 // _PERIOD_SECONDS), kind, reason.kind, principal
        with self._lock:
            if before := self._kept.pop(key, None):
                self._kept[key] = replace(before, last=now, count=before.count + 1)
                return
        message = masked(_one_line(reason.text))
        row = RefusedRequests(now, now, 1, kind, reason.kind, message, principal, _shown(body()))
        with self._lock:
            if before := self._kept.pop(key, None):  # another thread's, meanwhile
                row = replace(before, last=now, count=before.count + 1)
            self._kept[key] = row
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]

    def kept(self, now: int) -> list[RefusedRequests]:
        """Those of the last day, newest first."""
        with self._lock:
            rows = list(self._kept.values())
        return [row for row in reversed(rows) if now - row.last <= _KEPT_SECONDS * 1000]

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


def _shown(beginning: bytes) -> str:
    """The masked beginning of a body, far enough from where it was cut."""
    text = masked(beginning.decode("utf-8", "replace"))
    whole = len(beginning) < LOOKED_AT
    return text[: _SHOWN if whole else max(0, min(_SHOWN, len(text) - _HIDDEN_END))]


def _one_line(text: str) -> str:
    """The beginning of a text, without characters that end the line or steer a terminal."""
    shown = text[:_LONGEST_REASON]
    printable = "".join(letter if letter.isprintable() else " " for letter in shown)
    return printable + "…" * (shown != text)
