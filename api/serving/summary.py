"""One log line for all documents that arrived since the last such line, if any did.

INFO headwater.summary: 15 documents arrived (8 event, 7 plan), 1 request with documents refused
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from api.http.metrics import Arrivals
from graph_model.console import count_of

PERIOD_SECONDS: Final = 10.0

log = logging.getLogger("headwater.summary")


def summarise(before: Arrivals, now: Arrivals) -> str:
    """The line; "" where nothing arrived."""
    kinds = {kind: number - before.received.get(kind, 0) for kind, number in now.received.items()}
    new = {kind: number for kind, number in sorted(kinds.items()) if number > 0}
    refused = now.refused - before.refused
    parts = []
    if total := sum(new.values()):
        listed = ", ".join(f"{number:,} {kind}" for kind, number in new.items())
        parts.append(f"{count_of(total, 'document')} arrived ({listed})")
    if refused > 0:
        parts.append(f"{count_of(refused, 'request')} with documents refused")
    return ", ".join(parts)


class Summary:
    """Writes the line at intervals, on a thread of its own, and for the rest when it stops."""

    def __init__(self, arrivals: Callable[[], Arrivals], period: float = PERIOD_SECONDS) -> None:
        self._arrivals = arrivals
        self._period = period
        self._summarised = arrivals()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="summary", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Write the line for the rest."""
        self._stopping.set()
        self._thread.join(self._period)
        self.tell()

    def tell(self) -> None:
        """A line, where anything has arrived since the last one."""
        now = self._arrivals()
        if line := summarise(self._summarised, now):
            log.info(line)
        self._summarised = now

    def _run(self) -> None:
        while not self._stopping.wait(self._period):
            self.tell()
