"""Documents are taken before the framework is asked: the road of nearly every request.

    POST of documents -> request id -> guard -> read -> take -> 201
    anything else, and whatever goes wrong on the way -> the application

What the framework does for one of these requests (routing, contexts, hooks) costs more CPU than to
take a repeated document. So the good case is answered here, from the same parts; an error is put
into the environment and raised again inside the application, which alone knows how to tell it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, request
from werkzeug.datastructures import EnvironHeaders
from werkzeug.wsgi import get_input_stream

from api.access import Guard, presented_key
from api.bodies import Limits, gunzip, is_gzip, read_bounded
from api.exchange import HEADER, Exchange, request_id_of, tell
from api.intake import Delivery
from api.logs import current_request_id
from api.principals import Principal
from api.security import HEADERS
from api.service import Service
from api.settings import Settings
from graph_model.keys import Role
from graph_model.store import DocumentKind

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_ERROR: Final = "headwater.error"
_PRODUCER: Final = frozenset({Role.PRODUCER})
_CREATED: Final = 201


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request brought, and the JSON of its 201; empty where there is nothing to say."""

    kind: DocumentKind
    number: int
    body: str = ""


@dataclass(frozen=True, slots=True)
class Taker:
    """What is posted to a path: ``version`` of a Content-Type (raises 415), and who takes it."""

    version: Callable[[str | None], str]
    take: Callable[[Delivery, Service, Settings], Answer]


def read_delivery(
    environ: WSGIEnvironment, version: str, settings: Settings, principal: Principal
) -> Delivery:
    """The body of a request, still packed, with what its headers say about it."""
    limits = Limits(settings.max_body_bytes, settings.max_compressed_bytes)
    packed = is_gzip(environ.get("HTTP_CONTENT_ENCODING"))
    raw = read_bounded(get_input_stream(environ), limits.compressed if packed else limits.inflated)
    return Delivery(
        raw,
        "gzip" if packed else "identity",
        version,
        environ.get("PATH_INFO", ""),
        (lambda body: gunzip(body, limit=limits.inflated)) if packed else bytes,
        principal.name,
        principal.scope,
    )


@dataclass(frozen=True, slots=True)
class Express:
    """Answers what ``takers`` take, by path, for the service of the moment; ``seconds`` never go
    back.
    """

    takers: Mapping[str, Taker]
    service: Callable[[], Service]
    settings: Settings
    keeper: Guard
    seconds: Callable[[], float] = time.monotonic

    def before(self, application: WSGIApplication) -> WSGIApplication:
        """The application behind this."""

        def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            taker = self.takers.get(environ.get("PATH_INFO", ""))
            # A page of another origin is told what it may read: that is the application's affair.
            if taker is None or environ["REQUEST_METHOD"] != "POST" or "HTTP_ORIGIN" in environ:
                return application(environ, start_response)
            request_id = environ["HTTP_X_REQUEST_ID"] = request_id_of(
                environ.get("HTTP_X_REQUEST_ID")
            )
            token = current_request_id.set(request_id)
            try:
                return self._take(taker, environ, start_response)
            except Exception as error:
                environ[_ERROR] = error
            finally:
                current_request_id.reset(token)
            return application(environ, start_response)

        return answer

    def _take(
        self, taker: Taker, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        began = self.seconds()
        principal = self.keeper.admitted(presented_key(EnvironHeaders(environ)), _PRODUCER)
        version = taker.version(environ.get("CONTENT_TYPE"))
        delivery = read_delivery(environ, version, self.settings, principal)
        service = self.service()
        answer = taker.take(delivery, service, self.settings)
        body = answer.body.encode()
        service.metrics.received(answer.kind.value, answer.number)
        took = self.seconds() - began
        service.metrics.answered("POST", delivery.route, _CREATED, took)
        tell(
            Exchange(
                "POST", delivery.route, delivery.route, _CREATED, took, len(body),
                len(delivery.raw), principal.name,
            )
        )  # fmt: skip
        start_response("201 CREATED", _headers(environ["HTTP_X_REQUEST_ID"], body))
        return [body]


def _headers(request_id: str, body: bytes) -> list[tuple[str, str]]:
    kind = [("Content-Type", "application/json")] if body else []
    length = ("Content-Length", str(len(body)))
    return [*kind, length, *HEADERS.items(), (HEADER, request_id)]


def raise_errors(app: Flask) -> None:
    """What went wrong before this application was asked goes wrong in it."""

    def fail() -> None:
        error: Any = request.environ.get(_ERROR)
        if error is not None:
            raise error

    app.before_request(fail)
