"""Free space on the disk of SQLite's files that new documents leave to removals.

    256 MB reserved, 900 MB free                        taken
    256 MB reserved, 260 MB free, 5 MB to be written    refused: 260 - 5 < 256
    256 MB reserved, 250 MB free                        refused; a command that removes is taken

A removal needs room before it makes room: for its command and the pages that it changes in
the write-ahead log, and to copy that log into the file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from sqlalchemy.engine import Engine

from graph_model.errors import DiskNearlyFull

_OPTION: Final = "headwater_disk_reserve"
_MEASURED_SECONDS: Final = 1.0
_NEAR: Final = 8
"""Up to this multiple of the reserve the promised bytes are counted, which costs a question."""


class DiskReserve:
    """``size`` bytes of the disk stay free. For any thread.

    ``free`` measures the free bytes, and raises OSError where it cannot: then nothing is refused.
    It is called once a second at most; between two measurements each request counts with its size.
    Where little is free, it is less by the ``promised`` bytes: those that will be written for
    documents that were taken before. ``seconds`` never go back.
    """

    def __init__(
        self, size: int, free: Callable[[], int], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self.size = size
        self.promised: Callable[[], int] = lambda: 0
        self._free = free
        self._seconds = seconds
        self._lock = Lock()
        self._measured_at = float("-inf")
        self._promised = 0  # at that time
        self._left: int | None = None  # free at that time, less what is promised and taken since

    def take(self, size: int) -> None:
        """Count ``size`` bytes that are about to be written. Raises DiskNearlyFull if they do not
        leave the reserve free.
        """
        with self._lock:
            left = self._measured()
            if left is None:
                return
            if left - size < self.size:
                raise self._refusal(left, size)
            self._left = left - size

    @property
    def refusal(self) -> DiskNearlyFull | None:
        """The error that even a document of no size meets; None where it is taken."""
        with self._lock:
            left = self._measured()
            return None if left is None or left >= self.size else self._refusal(left, 0)

    @property
    def is_reached(self) -> bool:
        """Whether even a document of no size is refused."""
        return self.refusal is not None

    def _refusal(self, left: int, size: int) -> DiskNearlyFull:
        return DiskNearlyFull(left + self._promised, self.size, size, self._promised)

    def _measured(self) -> int | None:
        now = self._seconds()
        if now - self._measured_at >= _MEASURED_SECONDS:
            self._measured_at = now
            try:
                free = self._free()
            except OSError:
                self._left = None
            else:
                self._promised = self.promised() if free < _NEAR * self.size else 0
                self._left = free - self._promised
        return self._left


def keep_reserve(engine: Engine, reserve: DiskReserve | None) -> None:
    """From now on what is written with this engine knows the reserve of its disk."""
    engine.update_execution_options(**{_OPTION: reserve})


def reserve_of(engine: Engine) -> DiskReserve | None:
    """The reserve of the disk; None where nothing is reserved, or the disk is a server's."""
    found: DiskReserve | None = engine.get_execution_options().get(_OPTION)
    return found


def is_short(engine: Engine) -> bool:
    """Whether the disk has only its reserve left."""
    reserve = reserve_of(engine)
    return reserve is not None and reserve.is_reached
