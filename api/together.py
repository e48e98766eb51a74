"""Requests of an event loop, written by a thread of its own, as many at a time as have come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Final

from graph_model.store import Arrival, Repeat

Outcome = tuple[int, ...] | Exception
"""The positions of a request's documents, or what was wrong with it."""

_MANY: Final = 4
_COMPANY_SECONDS: Final = 0.004
"""Those who are answered now will mostly be back with their next request by then."""

Write = Callable[[Sequence[Arrival | Repeat]], Sequence[Outcome]]


class Together:
    """What is being written now, and what has come meanwhile; to be used on one event loop alone.

    A request that comes alone is written alone and at once. While the disk is busy with it, others
    gather: a thread is woken once for all of them, not once for each.
    """

    def __init__(self, write: Write, thread: Executor) -> None:
        self._write: Final = write
        self._thread: Final = thread
        self._waiting: list[tuple[Arrival | Repeat, asyncio.Future[Outcome]]] = []
        self._busy = False

    async def write(self, request: Arrival | Repeat) -> Outcome:
        """The outcome of this request, once it is durable. Raises what befell all of a group."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self._waiting.append((request, future))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._begin, loop)  # what is ready in this turn of the loop joins in
        return await future

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        group, self._waiting = self._waiting, []
        self._busy = bool(group)
        if not group:
            return
        requests = [request for request, _ in group]
        futures = [future for _, future in group]
        try:
            written = loop.run_in_executor(self._thread, self._write, requests)
        except RuntimeError as error:  # no thread can be started
            self._busy = False
            for future in futures:
                future.set_result(error)
            return
        written.add_done_callback(lambda done: self._end(loop, futures, done))

    def _end(
        self,
        loop: asyncio.AbstractEventLoop,
        futures: Sequence[asyncio.Future[Outcome]],
        done: asyncio.Future[Sequence[Outcome]],
    ) -> None:
        if len(self._waiting) < _MANY:
            self._begin(loop)
        else:
            loop.call_later(_COMPANY_SECONDS, self._begin, loop)
        error = done.exception()
        outcomes = [error] * len(futures) if isinstance(error, Exception) else done.result()
        for future, outcome in zip(futures, outcomes, strict=True):
            if not future.done():  # given up when the service stops
                future.set_result(outcome)
