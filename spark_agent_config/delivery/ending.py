"""The last lines in a job's log, of all sessions that are closed together."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Final

_LOG: Final = logging.getLogger(__name__)
_NOT_REPORTED: Final = (
    "Lineage of the last queries may be lost: Spark had not reported them when the observation "
    "was closed, after a wait of %.1f s; to wait longer, call flush(60) on the observation before "
    "the job ends"
)


class Ending:
    """Adds up the queries of sessions by their fate; ``log`` writes at most one line about them
    and one about a Spark that had not reported all of them.
    """

    def __init__(self) -> None:
        self._fates: Counter[str] = Counter()
        self._unlogged = False
        self._waited: float | None = None

    def add(self, fates: Mapping[str, int], *, unlogged: bool) -> None:
        """``unlogged``: an undelivered query among these is in no earlier line."""
        self._fates.update(fates)
        self._unlogged |= unlogged

    def add_wait(self, seconds: float) -> None:
        """Spark had not reported all queries of a session after so many seconds."""
        self._waited = max(seconds, self._waited or 0.0)

    def log(self) -> None:
        if self._waited is not None:
            _LOG.warning(_NOT_REPORTED, self._waited)
        if self._unlogged:
            parts = (f"{_queries(number)} {fate}" for fate, number in self._fates.items() if number)
            _LOG.warning("Lineage at the end of the run: %s", "; ".join(parts))


def _queries(number: int) -> str:
    return "1 query is" if number == 1 else f"{number} queries are"
