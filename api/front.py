"""From the wire to the application: an event loop reads and writes, threads work.

connection -> documents? -> express, on the loop
-> anything else -> bridge -> a thread -> Flask
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from flask import Flask

from api.access import GUARD
from api.arriving import Message, Receive, Scope, Send, Take
from api.bridge import Bridge
from api.express import Express
from api.paths import meant_path
from api.refusals import STOPPING, send_refusal
from api.routes import openlineage, producer
from api.service import service_of
from api.settings import Settings
from api.takers import ERROR

UNREADABLE: Final = 4
"""A body is heard to its end up to this multiple of the largest one, so that its sender sees the
413; beyond it the connection is cut off."""


class Front:
    """The ASGI application in front of a Flask one, with its threads; to be closed."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._workers = ThreadPoolExecutor(settings.threads, "request")
        self._writer = ThreadPoolExecutor(1, "journal")
        most_bytes = UNREADABLE * settings.max_body_bytes
        self._bridge = Bridge(app, self._workers, most_bytes, ours=[ERROR])
        self._express = Express(
            producer.EXPRESS | openlineage.EXPRESS,
            lambda: service_of(app),
            settings,
            app.extensions[GUARD],
            self._bridge,
            self._workers,
            self._writer,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope = _meant(scope)
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._express(scope, receive, answer)
        except asyncio.CancelledError:  # the service stops and cannot wait any longer
            if not started:
                await send_refusal(send, 503, STOPPING)

    def recognise(self, scope: Scope) -> Take | None:
        """See ``arriving.Recognise``."""
        return self._express.recognise(_meant(scope))

    def close(self) -> None:
        """Begin nothing that has not begun."""
        for threads in (self._workers, self._writer):
            threads.shutdown(wait=False, cancel_futures=True)


def _meant(scope: Scope) -> Scope:
    path = meant_path(scope["path"])
    return scope if path == scope["path"] else {**scope, "path": path}
