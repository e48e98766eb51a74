"""How many requests bring documents at this moment, and whether those are many."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

_MANY: Final = 4
_SECONDS: Final = 0.25


class Crowd:
    """Who writes among many enters it for as long as that takes; ``seconds`` never go back.

    with crowd:
        ...  # crowd.dense: four or more were in here together, now or a quarter of a second ago

    One that writes after another is never a crowd, however much it brings.
    """

    def __init__(self, many: int = _MANY, seconds: Callable[[], float] = time.monotonic) -> None:
        self._many = many
        self._seconds = seconds
        self._lock = threading.Lock()
        self._inside = 0
        self._dense_until = float("-inf")

    def __enter__(self) -> Crowd:
        self.enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    def enter(self) -> None:
        """For who cannot write among others in one block; to be followed by ``leave``."""
        with self._lock:
            self._inside += 1
            if self._inside >= self._many:
                self._dense_until = self._seconds() + _SECONDS

    def leave(self) -> None:
        """The end of what ``enter`` began."""
        with self._lock:
            self._inside -= 1

    @property
    def dense(self) -> bool:
        """Whether many are in here, or were a moment ago."""
        return self._inside >= self._many or self._seconds() < self._dense_until
