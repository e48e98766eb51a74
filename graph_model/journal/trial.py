"""Whether documents are taken now: what became of the last one, or of an attempt without any.

A disk may be full while small values still find room, and a file may be damaged in pages that only
some documents touch. So a refusal counts until a document passes, and what is tried meanwhile is
what was refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from graph_model.errors import JournalUnavailable
from graph_model.journal.arrivals import Packed, Repeat

_FRESH_SECONDS: Final = 1.0
_LEAST_BYTES: Final = 32 << 10
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt needs: the request that was refused (None where it is too large to be kept,
    or none was), and room for so many bytes.
    """

    request: Packed | Repeat | None = None
    size: int = _LEAST_BYTES


def attempt_at(request: Packed | Repeat) -> Attempt:
    """A request once more; of a very large one the room alone, up to a bound."""
    size = sum(map(len, request.bodies)) if isinstance(request, Packed) else 0
    kept = request if size <= _MOST_BYTES else None
    return Attempt(kept, min(max(size, _LEAST_BYTES), _MOST_BYTES))


class Trial:
    """Safe from several threads. ``attempt`` raises JournalUnavailable; ``seconds`` never go back.

    At most one attempt at a time, and one a second while they succeed.
    """

    def __init__(
        self, attempt: Callable[[Attempt], None], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._attempt = attempt
        self._seconds = seconds
        self._trying = Lock()
        self._tried_at = float("-inf")
        self._refused: tuple[Attempt, JournalUnavailable] | None = None

    def passed(self) -> None:
        """A document was made durable."""
        self._refused = None

    def refused(self, request: Packed | Repeat, error: JournalUnavailable) -> None:
        """A document was not."""
        self._refused = attempt_at(request), error

    def check(self) -> None:
        """Raises JournalUnavailable while documents are refused, as far as that is known."""
        fresh = self._seconds() - self._tried_at < _FRESH_SECONDS
        if (self._refused or not fresh) and self._trying.acquire(blocking=False):
            try:
                self._try()
            finally:
                self._trying.release()
        if (refused := self._refused) is not None:
            raise JournalUnavailable(refused[1].reason)

    def _try(self) -> None:
        attempt = self._refused[0] if self._refused else Attempt()
        try:
            self._attempt(attempt)
        except JournalUnavailable as error:
            self._refused = attempt, error
        else:
            self._tried_at = self._seconds()
            self.passed()
