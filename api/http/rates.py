"""A rate for each key: one token bucket, kept by this process.

A bucket holds a minute's worth of requests, so a job that reports a plan and its events at once
is not held up; it fills evenly. Several processes behind one address each grant the rate.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable


class Rates:
    """``clock`` gives seconds that never go back. Safe from several threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # key id -> (tokens, at)

    def take(self, key_id: str, rate_per_minute: int) -> int:
        """Take one request: 0, or the whole seconds (at least 1) until there is one again.

        A rate of 0 is no limit.
        """
        if rate_per_minute <= 0:
            return 0
        now = self._clock()
        with self._lock:
            tokens, at = self._buckets.get(key_id, (float(rate_per_minute), now))
            tokens = min(rate_per_minute, tokens + (now - at) * rate_per_minute / 60)
            enough = tokens >= 1
            self._buckets[key_id] = (tokens - 1 if enough else tokens, now)
        return 0 if enough else max(1, math.ceil((1 - tokens) * 60 / rate_per_minute))
