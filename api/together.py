"""Requests of an event loop, written by a thread of its own, as many at a time as have come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Final

from graph_model.store import Arrival, Repeat

Outcome = tuple[int, ...] | Exception
"""The positions of a request's documents, or what was wrong with it."""

_MANY: Final = 4
_COMPANY_SECONDS: Final = 0.004
"""Those who are answered now will mostly be back with their next request by then."""

Write = Callable[[Sequence[Arrival | Repeat]], Sequence[Outcome]]
Tell = Callable[[Outcome], None]


class Together:
    """What is being written now, and what has come meanwhile; to be used on one event loop alone.

    A request that comes alone is written alone and at once. While the disk is busy with it, others
    gather: a thread is woken once for all of them, and wakes the loop once.
    """

    def __init__(self, write: Write, thread: Executor) -> None:
        self._write: Final = write
        self._thread: Final = thread
        self._waiting: list[tuple[Arrival | Repeat, Tell]] = []
        self._busy = False

    async def write(self, request: Arrival | Repeat) -> Outcome:
        """The outcome of this request, once it is durable."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.add(request, partial(_settle, future))
        return await future

    def add(self, request: Arrival | Repeat, tell: Tell) -> None:
        """``tell`` is called with the outcome, in a later turn of the loop; it raises nothing."""
        self._waiting.append((request, tell))
        if not self._busy:
            self._busy = True
            loop = asyncio.get_running_loop()
            loop.call_soon(self._begin, loop)  # what is ready in this turn of the loop joins in

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        group, self._waiting = self._waiting, []
        self._busy = bool(group)
        if not group:
            return
        requests = [request for request, _ in group]
        tells = [tell for _, tell in group]
        try:
            self._thread.submit(self._work, loop, requests, tells)
        except RuntimeError as error:  # no thread can be started
            self._busy = False
            _tell_all(tells, [error] * len(tells))

    def _work(
        self,
        loop: asyncio.AbstractEventLoop,
        requests: Sequence[Arrival | Repeat],
        tells: Sequence[Tell],
    ) -> None:
        """In the thread."""
        outcomes: Sequence[Outcome]
        try:
            outcomes = self._write(requests)
        except Exception as error:
            outcomes = [error] * len(requests)
        loop.call_soon_threadsafe(self._end, loop, tells, outcomes)

    def _end(
        self, loop: asyncio.AbstractEventLoop, tells: Sequence[Tell], outcomes: Sequence[Outcome]
    ) -> None:
        if len(self._waiting) < _MANY:
            self._begin(loop)
        else:
            loop.call_later(_COMPANY_SECONDS, self._begin, loop)
        _tell_all(tells, outcomes)


def _tell_all(tells: Sequence[Tell], outcomes: Sequence[Outcome]) -> None:
    for tell, outcome in zip(tells, outcomes, strict=True):
        tell(outcome)


def _settle(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():  # given up when the service stops
        future.set_result(outcome)
