"""Clients that wait until certain documents are projected; kept in memory.

projector  conclude(positions) ─┐
request    wait(positions) ─────┴─> True as soon as none of them is pending
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

_MOST_REMEMBERED: Final = 20_000


@dataclass(slots=True, eq=False)
class _Waiter:
    missing: set[int]
    woken: threading.Event = field(default_factory=threading.Event)


class Waiters:
    """Safe from several threads. Positions are those of ``stores.documents.StoredDocument``."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._begun = threading.Condition(self._mutex)
        self._waiters: set[_Waiter] = set()
        self._pauses_over = False
        # A document may be concluded before anyone has begun to wait for it.
        self._concluded: set[int] = set()
        self._order: deque[int] = deque()

    def conclude(self, positions: Collection[int]) -> None:
        """Note that none of these documents is pending any more, and wake their clients."""
        with self._mutex:
            self._remember(positions)
            done = [waiter for waiter in self._waiters if not waiter.missing.difference(positions)]
            for waiter in self._waiters:
                waiter.missing.difference_update(positions)
            self._waiters.difference_update(done)
        for waiter in done:
            waiter.woken.set()

    def forget(self) -> None:
        """Forget which documents are concluded: some may be pending again."""
        with self._mutex:
            self._concluded.clear()
            self._order.clear()

    def awaited(self) -> frozenset[int]:
        """The documents that requests wait for now."""
        with self._mutex:
            return frozenset(position for waiter in self._waiters for position in waiter.missing)

    def pause(self, seconds: float) -> None:
        """Pause until a request waits, but at most ``seconds``."""
        with self._begun:
            self._begun.wait_for(lambda: self._waiters or self._pauses_over, seconds)

    def end_pauses(self) -> None:
        """End the pause of the projector, which stops: no later one begins."""
        with self._begun:
            self._pauses_over = True
            self._begun.notify_all()

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait until all of these are concluded; False when ``timeout`` seconds passed first."""
        with self._mutex:
            missing = set(positions).difference(self._concluded)
            if not missing:
                return True
            waiter = _Waiter(missing)
            self._waiters.add(waiter)
            self._begun.notify_all()
        woken = waiter.woken.wait(timeout)
        with self._mutex:
            self._waiters.discard(waiter)
        return woken

    def _remember(self, positions: Collection[int]) -> None:
        new = set(positions).difference(self._concluded)
        self._concluded |= new
        self._order.extend(new)
        while len(self._order) > _MOST_REMEMBERED:
            self._concluded.discard(self._order.popleft())
