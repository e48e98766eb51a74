"""The whole app over a small Headwater in memory: as a test client, on a port, as a command."""

from __future__ import annotations

import io
import shlex
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server
from werkzeug.test import TestResponse, run_wsgi_app

from api import command_line
from api.application import create_app
from api.console.call import Answered, Call
from api.http.access import Keys, NoKeys
from api.service import Service, attach
from api.settings import read_settings
from graph_model.errors import HeadwaterError
from tests.projections import SmallHeadwater, small_headwater
from tests.waiting import eventually


@contextmanager
def running(made: SmallHeadwater) -> Iterator[SmallHeadwater]:
    """Its projector works meanwhile, caught up at first; afterwards everything is closed."""
    made.projector.start()
    try:
        eventually(lambda: made.projector.state == "ready")
        yield made
    finally:
        made.projector.stop()
        made.close()


class SmallClient(FlaskClient):
    """Asks the app that all clients without keys share: to make one takes longer than most tests.
    Its request metrics are those of no one service.
    """

    service: Service

    def open(self, *arguments: Any, **options: Any) -> TestResponse:
        attach(self.application, self.service)
        return super().open(*arguments, **options)


@cache
def _shared_application() -> Flask:
    with closing(small_headwater()) as made:
        return create_app(read_settings({}), _service_of(made, 0, NoKeys()))


def client_of(headwater: SmallHeadwater, now: int | None, keys: Keys | None = None) -> FlaskClient:
    """A client of an app whose projector has caught up; ``now`` is its clock, epoch ms; None: the
    clock goes on.
    """
    headwater.projector._readiness.state = "ready"
    service = _service_of(headwater, now, keys or NoKeys())
    if keys is not None:
        return create_app(read_settings({}), service).test_client()
    client = SmallClient(_shared_application(), TestResponse, use_cookies=True)
    client.service = service
    return client


def _service_of(headwater: SmallHeadwater, now: int | None, keys: Keys) -> Service:
    return Service(
        headwater.journal,
        headwater.projector,
        headwater.graph,
        headwater.generations,
        lambda: round(time.time() * 1000) if now is None else now,
        keys,
    )


@contextmanager
def serving(headwater: SmallHeadwater, now: int | None) -> Iterator[str]:
    """The address of a server of this app, for code that cannot ask a test client."""
    with serving_client(client_of(headwater, now)) as address:
        yield address


@contextmanager
def serving_client(client: FlaskClient, **settings: str) -> Iterator[str]:
    """The address of a server of this client's app, with these ``HEADWATER_*`` settings; its
    requests come on several threads.
    """
    application = client.application
    if isinstance(client, SmallClient):
        application = create_app(read_settings(settings), client.service)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # Werkzeug's server leaves a file open when the browser hangs up before its end.
        parts, status, headers = run_wsgi_app(application, environ, buffered=True)
        start_response(status, headers.to_wsgi_list())
        return parts

    server = make_server("127.0.0.1", 0, answer, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class CallOn(Call):
    """A call that asks a test client instead of a running server."""

    client: FlaskClient

    def fetch(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = "application/json",
        **_: object,
    ) -> Answered:
        answer = self.client.open(path, method=method, data=body, content_type=content_type)
        if answer.status_code >= 300:
            raise HeadwaterError(answer.get_json()["message"])
        return Answered(answer.text, dict(answer.headers))


def command(client: FlaskClient, line: str) -> tuple[int, str]:
    """The exit code of ``headwater <line>`` and its output, asking this client."""
    options = command_line.parser().parse_args(shlex.split(line))
    out = io.StringIO()
    call = CallOn(options, {}, out)
    object.__setattr__(call, "client", client)
    return options.command(call), out.getvalue()


def told(client: FlaskClient, line: str) -> list[str]:
    """The lines that ``headwater <line>`` says; it must succeed."""
    code, said = command(client, line)
    assert code == 0
    return said.splitlines()
