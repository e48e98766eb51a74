"""Documents are taken before the framework is asked: the road of nearly every request.

    POST of documents -> request id -> guard -> read -> take -> 201
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
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from flask import Flask, request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wsgi import get_input_stream

from api.access import Guard, presented_key
from api.arriving import Gone, Names, named, read_body
from api.bodies import Limits, gunzip, is_gzip, read_bounded, refuse_too_large
from api.exchange import HEADER, Exchange, request_id_of, tell
from api.intake import Delivery, Documents, Reading, Taken, advance, follow, take, take_in_steps
from api.logs import current_request_id
from api.principals import Principal
from api.security import HEADERS
from api.service import Service
from api.settings import Settings
from api.together import Outcome, Together
from graph_model.keys import Role
from graph_model.store import DocumentKind

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from api.arriving import Application, Receive, Scope, Send

_Result = TypeVar("_Result")

ERROR: Final = "headwater.error"
"""Where an error waits, in a scope and in an environment, to be raised inside the application."""

_PRODUCER: Final = frozenset({Role.PRODUCER})
_CREATED: Final = 201
_LIGHT: Final = 64 * 1024
"""Bytes on the wire that the event loop reads by itself; what follows in a second waits for it."""
_LIGHT_INFLATED: Final = 256 * 1024
_LIGHT_OBJECTS: Final = 400


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request brought, and the JSON of its 201; empty where there is nothing to say."""

    kind: DocumentKind
    number: int
    body: str = ""


@dataclass(frozen=True, slots=True)
class Taker:
    """What is posted to a path: ``version`` of a Content-Type (raises 415), how it is read, for how
    many seconds the graph is waited for, and what is answered.
    """

    version: Callable[[str | None], str]
    reading: Reading
    wait: Callable[[Settings], float]
    answer: Callable[[Documents], Answer]


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
        self._settings = settings
        self._keeper = keeper
        self._application = application
        self._workers = workers
        self._together = Together(lambda requests: service().journal.take(requests), writer)
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taker = self._takers.get(scope["path"])
        headers = named(scope) if taker and scope["method"] == "POST" else None
        # A page of another origin is told what it may read: that is the application's affair.
        if taker is None or headers is None or "origin" in headers:
            await self._application(scope, receive, send)
            return
        request_id = headers["x-request-id"] = request_id_of(headers.get("x-request-id"))
        token = current_request_id.set(request_id)
        try:
            body = await self._take(taker, scope["path"], headers, receive)
        except Gone:
            return
        except Exception as error:
            await self._application(_refused(scope, headers, error), _nothing, send)
            return
        finally:
            current_request_id.reset(token)
        start = {"type": "http.response.start", "status": _CREATED}
        await send(start | {"headers": _headers(request_id, body)})
        await send({"type": "http.response.body", "body": body})

    async def _take(self, taker: Taker, path: str, headers: Names, receive: Receive) -> bytes:
        began = self._seconds()
        principal = await self._admitted(headers)
        version = taker.version(headers.get("content-type"))
        limits = Limits(self._settings.max_body_bytes, self._settings.max_compressed_bytes)
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
        answer = taker.answer(documents)
        body = answer.body.encode()
        service.metrics.received(answer.kind.value, answer.number)
        took = self._seconds() - began
        service.metrics.answered("POST", path, _CREATED, took)
        tell(Exchange("POST", path, path, _CREATED, took, len(body), length, principal.name))
        return body

    async def _admitted(self, headers: Names) -> Principal:
        key = presented_key(headers)
        if self._service().beside:
            return self._keeper.admitted(key, _PRODUCER)
        return await self._in_thread(self._keeper.admitted, key, _PRODUCER)

    async def _made_durable(self, taker: Taker, delivery: Delivery, service: Service) -> Documents:
        wait = taker.wait(self._settings)
        if service.beside and len(delivery.raw) <= _LIGHT:
            light = replace(delivery, inflate=partial(_inflate_light, packed=_packed(delivery)))
            try:
                with service.crowd:
                    return await self._take_here(taker.reading, light, service, wait)
            except _Heavy:
                pass
        return await self._in_thread(take, taker.reading, delivery, service, wait)

    async def _take_here(
        self, reading: Reading, delivery: Delivery, service: Service, wait: float
    ) -> Documents:
        steps = take_in_steps(reading, delivery, service)
        outcome: Outcome | None = None
        while not isinstance(step := advance(steps, outcome), Taken):
            outcome = await self._together.write(step)
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
        return take(taker.reading, delivery, service, taker.wait(self._settings))

    async def _in_thread(self, work: Callable[..., _Result], *given: Any) -> _Result:
        call = partial(copy_context().run, work, *given)
        return await asyncio.get_running_loop().run_in_executor(self._workers, call)


class _Heavy(Exception):
    """A small body that is a lot of work."""


def _packed(delivery: Delivery) -> bool:
    return delivery.encoding != "identity"


def _inflate_light(raw: bytes, *, packed: bool) -> bytes:
    try:
        body = gunzip(raw, limit=_LIGHT_INFLATED) if packed else raw
    except RequestEntityTooLarge:
        raise _Heavy from None
    if body.count(b"{") > _LIGHT_OBJECTS:  # ten thousand times {} are 71 bytes on the wire
        raise _Heavy
    return body


# --- scopes --------------------------------------------------------------------------------------


def _refused(scope: Scope, headers: Mapping[str, str], error: Exception) -> Scope:
    """The request again, for the application to tell what is wrong with it."""
    names = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
    return {**scope, "headers": names, ERROR: error}


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def _headers(request_id: str, body: bytes) -> list[tuple[bytes, bytes]]:
    kind = [(b"Content-Type", b"application/json")] if body else []
    length = (b"Content-Length", str(len(body)).encode())
    return [*kind, length, *_FIXED, (HEADER.encode(), request_id.encode())]


_FIXED: Final = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def raise_errors(app: Flask) -> None:
    """What went wrong before this application was asked goes wrong in it."""

    def fail() -> None:
        error: Any = request.environ.get(ERROR)
        if error is not None:
            raise error

    app.before_request(fail)
