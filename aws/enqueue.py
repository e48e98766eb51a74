"""OpenLineage events -> a FIFO queue: for clients that know a URL and nothing else.

    POST event, or a list -> each in the queue -> 201

It needs no database, so it answers while everything behind it is away. The gateway checks its
callers. It checks that an event is a JSON object, no more: an invalid event reaches the
dead-letter queue with its reason, where someone can read it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import cache, partial
from http import HTTPStatus
from typing import Any, Final

from werkzeug.exceptions import HTTPException

from api.http.bodies import is_gzip
from api.settings import Settings
from aws.invocations import (
    Context,
    body_of,
    content_encoding_of,
    error_answer,
    method_of,
    required,
    sender_of,
    settings_of,
    uploads_of,
)
from collectors.sqs.queues import Queue, open_client, outgoing_messages
from graph_model.documents.json_texts import gunzip, parse_json
from graph_model.errors import DocumentTooLarge, HeadwaterError, InvalidInput, Unavailable
from graph_model.stores.uploads import Uploads

log = logging.getLogger(__name__)


class Enqueue:
    """``answer`` handles one event of a gateway."""

    def __init__(self, settings: Settings, queue: Queue, uploads: Uploads | None) -> None:
        self._settings = settings
        self._queue = queue
        self._uploads = uploads

    def answer(self, event: Mapping[str, Any]) -> dict[str, Any]:
        try:
            if method_of(event) != "POST":
                return error_answer(HTTPStatus.METHOD_NOT_ALLOWED, "POST an event, or a list")
            self._send(self._value(event), sender_of(event))
        except DocumentTooLarge as error:
            return error_answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        except InvalidInput as error:
            return error_answer(HTTPStatus.BAD_REQUEST, str(error))
        except HTTPException as error:
            return error_answer(HTTPStatus(error.code or 400), str(error.description))
        except Unavailable as error:
            log.warning("the function cannot put events into the queue: %s", error)
            return error_answer(HTTPStatus.SERVICE_UNAVAILABLE, error.reason)
        return {"statusCode": int(HTTPStatus.CREATED), "headers": {}, "body": ""}

    def _value(self, event: Mapping[str, Any]) -> Any:
        body = body_of(event)
        if is_gzip(content_encoding_of(event)):
            body = gunzip(body, self._settings.max_body_bytes)
        return parse_json(body)

    def _send(self, value: Any, sender: str) -> None:
        limit = self._settings.message_bytes
        put = self._uploads.put if self._uploads else None
        self._queue.send_all(list(outgoing_messages(value, sender, limit, put)), limit)


def make_enqueue(environment: Mapping[str, str]) -> Enqueue:
    """Raises ConfigurationError."""
    settings = settings_of(environment)
    url = required(settings.event_queue, "HEADWATER_EVENT_QUEUE")
    return Enqueue(settings, Queue(url, open_client()), uploads_of(settings))


_enqueue: Final = cache(partial(make_enqueue, os.environ))


def handler(event: dict[str, Any], context: Context) -> dict[str, Any]:  # noqa: ARG001
    """The entry point: ``aws.enqueue.handler``."""
    try:
        enqueue: Enqueue = _enqueue()
    except HeadwaterError as error:
        log.error("the function cannot take events: %s", error)
        return error_answer(HTTPStatus.SERVICE_UNAVAILABLE, "the service cannot be started")
    return enqueue.answer(event)
