"""Whether the journal takes documents now: the result of the last one, or of an attempt.

A disk may be full while small values still find room, and a file may be damaged in pages that only
some documents touch. So a refusal counts until a document passes, and the attempts meanwhile repeat
the refused write.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from graph_model.errors import JournalUnavailable
from graph_model.stores.journal.arrivals import Packed, Repeat

_FRESH_SECONDS: Final = 1.0
_LEAST_BYTES: Final = 32 << 10
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class WriteTrial:
    """The content of an attempt: the refused request (None if it is too large to be kept, or none
    was refused), and this number of bytes of room.
    """

    request: Packed | Repeat | None = None
    size: int = _LEAST_BYTES


def attempt_at(request: Packed | Repeat) -> WriteTrial:
    """A request once more; of a very large one the room alone, up to a bound."""
    size = sum(map(len, request.bodies)) if isinstance(request, Packed) else 0
    kept = request if size <= _MOST_BYTES else None
    return WriteTrial(kept, min(max(size, _LEAST_BYTES), _MOST_BYTES))


class IntakeCheck:
    """Safe from several threads. ``attempt`` raises JournalUnavailable; ``seconds`` never go back.

    At most one attempt at a time, and one a second while they succeed. ``held`` is a reason to
    refuse every document; None while there is none.
    """

    def __init__(
        self, attempt: Callable[[WriteTrial], None], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._attempt = attempt
        self._seconds = seconds
        self._trying = Lock()
        self._tried_at = float("-inf")
        self._refused: tuple[WriteTrial, JournalUnavailable] | None = None
        self.held: str | None = None

    def ensure_not_held(self) -> None:
        """Raises JournalUnavailable."""
        if self.held is not None:
            raise JournalUnavailable(self.held)

    def passed(self) -> None:
        """A document was made durable."""
        self._refused = None

    def refused(self, request: Packed | Repeat, error: JournalUnavailable) -> None:
        """A document was not made durable, because of this error."""
        self._refused = attempt_at(request), error

    def check(self) -> None:
        """Raises JournalUnavailable while documents are refused, as far as that is known."""
        self.ensure_not_held()
        fresh = self._seconds() - self._tried_at < _FRESH_SECONDS
        if (self._refused or not fresh) and self._trying.acquire(blocking=False):
            try:
                self._try()
            finally:
                self._trying.release()
        if (refused := self._refused) is not None:
            raise JournalUnavailable(refused[1].reason)

    def _try(self) -> None:
        attempt = self._refused[0] if self._refused else WriteTrial()
        try:
            self._attempt(attempt)
        except JournalUnavailable as error:
            self._refused = attempt, error
        else:
            self._tried_at = self._seconds()
            self.passed()
