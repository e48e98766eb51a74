"""Documents are taken before the framework is asked: the road of nearly every request.

    POST of documents -> request id -> guard -> read -> take -> 201
    a small one whose head is known -> the same, without a scope, a task and messages (``passage``)
    anything else, and whatever goes wrong on the way -> the application

What the framework does for one of these requests (a thread, routing, contexts, hooks) costs more
CPU than to take a repeated document. So the good case is answered here, on the event loop and from
the same parts; an error is handed on and raised again inside the application, which alone knows how
to tell it. What is large, and a database that is reached over a network, is work for a thread.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from flask import Flask, request
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import get_input_stream

from api.access import Guard, presented_key
from api.arriving import Gone, Names, Reply, Take, named, read_body
from api.bodies import Limits, gunzip, is_gzip, read_bounded, refuse_too_large
from api.exchange import request_id_of
from api.intake import (
    Delivery,
    Documents,
    Reading,
    Taken,
    advance,
    follow,
    take,
    take_in_steps,
)
from api.logs import current_request_id
from api.passage import Known, Passage
from api.principals import Principal
from api.service import Service
from api.settings import Settings
from api.takers import (
    ADMITTED,
    CREATED,
    ERROR,
    LIGHT,
    PRODUCER,
    Arrived,
    Heavy,
    Taker,
    account,
    created_headers,
    light,
)
from api.together import Outcome, Together
from graph_model.errors import HeadwaterError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from api.arriving import Application, Receive, Scope, Send

_Result = TypeVar("_Result")

_OF_PAGES: Final = frozenset({"origin", "sec-fetch-site"})
"""Headers by which a browser tells which page sends a request."""
_SINGULAR: Final = _OF_PAGES | {"x-request-id", "traceparent"}
"""Headers of requests that are left to the application, or that never have the same head again."""


def read_delivery(
    environ: WSGIEnvironment, version: str, settings: Settings, principal: Principal
) -> Delivery:
    """The body of a request, still packed, with what its headers say about it."""
    limits = Limits(settings.max_body_bytes, settings.max_compressed_bytes)
    packed = is_gzip(environ.get("HTTP_CONTENT_ENCODING"))
    raw = read_bounded(get_input_stream(environ), limits.compressed if packed else limits.inflated)
    path = environ.get("PATH_INFO", "")
    return _delivery(path, version, limits, principal, raw, packed=packed)


def _delivery(
    route: str, version: str, limits: Limits, principal: Principal, raw: bytes, *, packed: bool
) -> Delivery:
    return Delivery(
        raw,
        "gzip" if packed else "identity",
        version,
        route,
        (lambda body: gunzip(body, limit=limits.inflated)) if packed else bytes,
        principal.name,
        principal.scope,
    )


class Express:
    """Answers what ``takers`` take, by path, and leaves the rest to the ``application``.

    ``workers`` are the threads of the application, ``writer`` is one that writes to the journal;
    ``seconds`` never go back. An ASGI application.
    """

    def __init__(
        self,
        takers: Mapping[str, Taker],
        service: Callable[[], Service],
        settings: Settings,
        keeper: Guard,
        application: Application,
        workers: Executor,
        writer: Executor,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._takers = takers
        self._service = service
        self.settings = settings
        self.keeper = keeper
        self._application = application
        self._workers = workers
        self.together = Together(lambda requests: service().journal.take(requests), writer)
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taker = self._takers.get(scope["path"])
        headers = named(scope) if taker and scope["method"] == "POST" else None
        if ERROR in scope:
            await self._application(scope, _nothing, send)
            return
        # What a page may send, and may read of the answer, is the application's affair.
        if taker is None or headers is None or not _OF_PAGES.isdisjoint(headers):
            await self._application(scope, receive, send)
            return
        request_id = headers["x-request-id"] = request_id_of(headers.get("x-request-id"))
        token = current_request_id.set(request_id)
        try:
            body = await self._take(taker, scope, headers, receive)
        except Gone:
            return
        except Exception as error:
            await self._application(_refused(scope, headers, error), _nothing, send)
            return
        finally:
            current_request_id.reset(token)
        start = {"type": "http.response.start", "status": CREATED}
        await send(start | {"headers": created_headers(request_id, body)})
        await send({"type": "http.response.body", "body": body})

    def recognise(self, scope: Scope) -> Take | None:
        """See ``arriving.Recognise``."""
        taker, headers = self._takers.get(scope["path"]), named(scope)
        if taker is None or not (self._service().beside and _SINGULAR.isdisjoint(headers)):
            return None
        try:
            version = taker.version(headers.get("content-type"))
            packed = is_gzip(headers.get("content-encoding"))
            known = Known(taker, scope["path"], version, packed, presented_key(headers))
        except (HTTPException, HeadwaterError):
            return None
        return partial(self._pass, known)

    def _pass(self, known: Known, body: bytes, reply: Reply) -> None:
        if len(body) <= min(LIGHT, self._limit(packed=known.packed)):
            Passage(self, self._service(), known, body, reply).go_on()
        else:
            reply.hand_on({})

    def _limit(self, *, packed: bool) -> int:
        settings = self.settings
        return settings.max_compressed_bytes if packed else settings.max_body_bytes

    async def _take(self, taker: Taker, scope: Scope, headers: Names, receive: Receive) -> bytes:
        began, path = self.seconds(), scope["path"]
        principal = scope.get(ADMITTED) or await self._admitted(headers)
        version = taker.version(headers.get("content-type"))
        limits = Limits(self.settings.max_body_bytes, self.settings.max_compressed_bytes)
        packed = is_gzip(headers.get("content-encoding"))
        limit = limits.compressed if packed else limits.inflated
        arrived = await read_body(receive, limit, lambda: refuse_too_large(limit))
        service = self._service()
        deliver = partial(_delivery, path, version, limits, principal, packed=packed)
        if isinstance(arrived, bytes):
            length = len(arrived)
            documents = await self._made_durable(taker, deliver(arrived), service)
        else:
            length = arrived.seek(0, os.SEEK_END)
            documents = await self._in_thread(self._take_file, taker, arrived, deliver, service)
        request = Arrived(path, began, length, principal.name)
        return account(taker.answer(documents), request, self.seconds(), service)

    async def _admitted(self, headers: Names) -> Principal:
        key = presented_key(headers)
        if self._service().beside:
            return self.keeper.admitted(key, PRODUCER)
        return await self._in_thread(self.keeper.admitted, key, PRODUCER)

    async def _made_durable(self, taker: Taker, delivery: Delivery, service: Service) -> Documents:
        wait = taker.wait(self.settings)
        if service.beside and len(delivery.raw) <= LIGHT:
            small = replace(delivery, inflate=light(packed=delivery.encoding != "identity"))
            try:
                with service.crowd:
                    return await self._take_here(taker.reading, small, service, wait)
            except Heavy:
                pass
        return await self._in_thread(take, taker.reading, delivery, service, wait)

    async def _take_here(
        self, reading: Reading, delivery: Delivery, service: Service, wait: float
    ) -> Documents:
        steps = take_in_steps(reading, delivery, service)
        outcome: Outcome | None = None
        while not isinstance(step := advance(steps, outcome), Taken):
            outcome = await self.together.write(step)
        if follow(step, service) and wait > 0:
            await self._in_thread(service.projector.wait, step.positions, wait)
        return step.documents

    def _take_file(
        self,
        taker: Taker,
        arrived: IO[bytes],
        deliver: Callable[[bytes], Delivery],
        service: Service,
    ) -> Documents:
        """A large body is read into memory when a thread has time for it, not before."""
        with arrived:
            arrived.seek(0)
            delivery = deliver(arrived.read())
        return take(taker.reading, delivery, service, taker.wait(self.settings))

    async def _in_thread(self, work: Callable[..., _Result], *given: Any) -> _Result:
        return await self.begin_in_thread(work, *given)

    def begin_in_thread(self, work: Callable[..., _Result], *given: Any) -> asyncio.Future[_Result]:
        """Work for one of the application's threads, in the context of this request."""
        call = partial(copy_context().run, work, *given)
        return asyncio.get_running_loop().run_in_executor(self._workers, call)


# --- scopes --------------------------------------------------------------------------------------


def _refused(scope: Scope, headers: Mapping[str, str], error: Exception) -> Scope:
    """The request again, for the application to tell what is wrong with it."""
    names = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
    return {**scope, "headers": names, ERROR: error}


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def raise_errors(app: Flask) -> None:
    """What went wrong before this application was asked goes wrong in it."""

    def fail() -> None:
        error: Any = request.environ.get(ERROR)
        if error is not None:
            raise error

    app.before_request(fail)
