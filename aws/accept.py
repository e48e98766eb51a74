"""HTTP requests by way of API Gateway or a load balancer -> the WSGI application.

    event -> apig-wsgi -> the application of the service -> the journal -> a wake-up -> answer

Payload format 1.0 of an HTTP API, REST APIs, and load balancers with multi-value headers keep the
three version headers of the handshake apart. Format 2.0 joins repeated headers, and an agent reads
``1.2,1.1,1`` as a version that nobody speaks: there the first one alone is sent.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from http import HTTPStatus
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from apig_wsgi import make_lambda_handler

from api.application import create_app
from api.service import Service
from api.serving.server import check_keys, open_remote_graph
from api.serving.storage import open_storage
from aws.invocations import Context, error_answer, required, settings_of
from aws.waking import ProjectorElsewhere
from collectors.sqs.queues import Queue, open_client
from graph_model.errors import HeadwaterError
from graph_model.producers.registry import PRODUCERS
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.journal import Journal
from graph_model.stores.keys import SqlKeys
from graph_model.values import now

log = logging.getLogger(__name__)

MOST_ANSWERED: Final = 6_000_000 - 64_000
"""Bytes of an answer, in JSON: Lambda's limit, less room for headers."""
_KEYLESS_SECONDS: Final = 1.0
_BEYOND: Final = "0.0.0.0"  # noqa: S104 - the gateway listens there
_MULTI_VALUE: Final = "apig_wsgi.multi_value_headers"
_EVENT: Final = "apig_wsgi.full_event"


class Accept:
    """``answer`` handles one event of a gateway. ``close`` gives back the connections, where a
    container does not simply end.
    """

    def __init__(
        self,
        application: WSGIApplication,
        projector: ProjectorElsewhere,
        close: Callable[[], None],
    ) -> None:
        self.close = close
        self._answer: Callable[[dict[str, Any], Any], dict[str, Any]]
        self._answer = make_lambda_handler(keep_first_headers(keep_sent_path(application)))
        self._projector = projector

    def answer(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        answer = self._answer(event, context)
        self._projector.send()
        return bounded(answer)


def make_accept(environment: Mapping[str, str]) -> Accept:
    """Raises ConfigurationError, or Unavailable where the database does not answer."""
    settings = settings_of(environment)
    queue = Queue(required(settings.projection_queue, "HEADWATER_PROJECTION_QUEUE"), open_client())
    database = open_storage(settings, make=True)
    keys = SqlKeys(database, believed_seconds=_KEYLESS_SECONDS)
    check_keys(settings, _BEYOND, keys)
    journal = Journal(database)
    generations = Generations(database, journal)
    graph = open_remote_graph(settings)
    producers = PRODUCERS.tolerating(settings.clock_tolerance)
    own = Projector(journal, graph, generations, producers=producers)
    projector = ProjectorElsewhere(journal, own, queue)
    service = Service(journal, projector, graph, generations, now, keys, producers=producers)

    def close() -> None:
        graph.close()
        generations.close()
        journal.close()

    return Accept(create_app(settings, service), projector, close)


_accept: Final = cache(partial(make_accept, os.environ))


def handler(event: dict[str, Any], context: Context) -> dict[str, Any]:
    """The entry point: ``aws.accept.handler``. Until its parts can be made, it answers 503."""
    try:
        accept: Accept = _accept()
    except HeadwaterError as error:
        log.error("the application cannot be started: %s", error)
        return error_answer(HTTPStatus.SERVICE_UNAVAILABLE, "the service cannot be started")
    return accept.answer(event, context)


# --- answers -------------------------------------------------------------------------------------


def keep_first_headers(application: WSGIApplication) -> WSGIApplication:
    """Where headers cannot repeat, send the first one of each name: versions come newest first."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get(_MULTI_VALUE):
            return application(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            first: dict[str, tuple[str, str]] = {}
            for name, value in headers:
                first.setdefault(name.lower(), (name, value))
            return start_response(status, list(first.values()), *more)

        return application(environ, start)

    return answer


def keep_sent_path(application: WSGIApplication) -> WSGIApplication:
    """Hand the path on as the gateway sent it, too: ``%2F`` in it is part of a name."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        event = environ[_EVENT]
        environ["REQUEST_URI"] = event.get("rawPath") or event.get("path") or ""
        return application(environ, start_response)

    return answer


def bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that Lambda can return: one that is too large becomes an error."""
    size = len(json.dumps(answer["body"]))
    if size <= MOST_ANSWERED:
        return answer
    return error_answer(
        HTTPStatus.BAD_REQUEST,
        f"the answer has {size:,} bytes, and a function returns {MOST_ANSWERED:,}: ask for less "
        "(limit, maxDepth, columns)",
    )
