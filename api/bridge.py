"""An ASGI request for a WSGI application (PEP 3333), asked by a thread.

The request is whole when a thread takes it, and the thread is done when the answer is made: who
sends or reads slowly keeps a connection and a file, never a thread.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Final

from werkzeug.test import run_wsgi_app

from api.arriving import IN_MEMORY, Gone, Receive, Scope, Send, named, read_file
from api.refusals import send_refusal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

_PART: Final = 256 * 1024
_OWN_NAMES: Final = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


@dataclass(frozen=True, slots=True)
class Made:
    """An answer; ``body`` is at its start, ``length`` in bytes, and the reader closes it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: IO[bytes]
    length: int


class Bridge:
    """The WSGI application as an ASGI one, on the threads of ``workers``.

    A body of more than ``most_bytes`` is a 413. ``ours`` of the scope are put into the environment.
    """

    def __init__(
        self, application: WSGIApplication, workers: Executor, most_bytes: int, ours: Iterable[str]
    ) -> None:
        self._application = application
        self._workers = workers
        self._most_bytes = most_bytes
        self._ours = tuple(ours)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_file(receive, self._most_bytes)
        except Gone:
            return
        if body is None:
            await send_refusal(send, 413, f"the body is larger than {self._most_bytes:,} bytes")
            return
        with body:
            given = {name: scope[name] for name in self._ours if name in scope}
            environ = environment(scope, body) | given
            call = partial(copy_context().run, make, self._application, environ)
            made = await asyncio.get_running_loop().run_in_executor(self._workers, call)
        with made.body:
            await _answer(made, send)


def make(application: WSGIApplication, environ: WSGIEnvironment) -> Made:
    """Ask the application for its whole answer."""
    parts, status, headers = run_wsgi_app(application, environ)
    body: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - read later
    try:
        body.writelines(parts)
    finally:
        getattr(parts, "close", lambda: None)()
    length = body.tell()
    body.seek(0)
    names = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in headers
        if name.lower() != "date"  # the server's, who has one for every answer
    ]
    return Made(int(status.partition(" ")[0]), names, body, length)


async def _answer(made: Made, send: Send) -> None:
    start = {"type": "http.response.start", "status": made.status, "headers": made.headers}
    await send(start)
    left = made.length
    while True:
        part = made.body.read(_PART)
        left -= len(part)
        await send({"type": "http.response.body", "body": part, "more_body": left > 0})
        if left <= 0:
            return


def environment(scope: Scope, body: IO[bytes]) -> WSGIEnvironment:
    """What PEP 3333 wants to be told of a request, the body at its start."""
    host, port = scope.get("server") or ("localhost", 80)
    address, _ = scope.get("client") or ("", 0)
    return {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": str(host),
        "SERVER_PORT": str(port or 0),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": str(address),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        # A name with an underscore would become that of another header, and is left out.
        **{_environ_name(name): text for name, text in named(scope).items() if "_" not in name},
    }


def _environ_name(name: str) -> str:
    """``x-request-id`` => ``HTTP_X_REQUEST_ID``."""
    return _OWN_NAMES.get(name) or f"HTTP_{name.upper().replace('-', '_')}"
