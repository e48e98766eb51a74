"""Every exception becomes one JSON body.

    {"code": 400, "status": "Bad Request", "message": "depth: expected an integer from 0 to 50",
     "errors": {"depth": ["an integer from 0 to 50"]}}

``errors`` maps a parameter, or a dotted path in a document (``operations.reads[2].id``), to the
expected value; it is empty where no field is at fault. One table here gives each class of
``graph_model.errors`` its status. A bug of ours is a 500 with a request id; the log has the id and
the place in the code, but no messages of foreign exceptions, for those may quote a document.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import marshmallow
from flask import Flask, Response, g, jsonify, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from api.logs import current_request_id
from graph_model.errors import (
    WHOLE_DOCUMENT,
    AmbiguousReference,
    Conflict,
    DamagedDocument,
    DiskNearlyFull,
    DocumentTooLarge,
    EngineError,
    Errors,
    ForeignScope,
    HeadwaterError,
    InvalidDocument,
    InvalidFields,
    InvalidInput,
    InvalidReference,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Refused,
    TooManyRequests,
    Unavailable,
)

log = logging.getLogger(__name__)

RETRY_AFTER_SECONDS: Final = 5
ROOM_AFTER_SECONDS: Final = 30
"""A removal takes seconds, and then a person or a night has to begin it."""
CHALLENGE: Final = 'Bearer realm="headwater"'
"""No browser asks a person for this one: the page has a field of its own."""
NO_ENGINE: Final = "the embedded Gremlin Server does not run"


class ErrorSchema(marshmallow.Schema):
    """The body of every error."""

    class Meta:
        title = "Error"

    code = marshmallow.fields.Integer(required=True)
    status = marshmallow.fields.String(required=True)
    message = marshmallow.fields.String(required=True)
    errors = marshmallow.fields.Dict(
        keys=marshmallow.fields.String(),
        values=marshmallow.fields.List(marshmallow.fields.String()),
        required=True,
    )


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a request is refused: ``kind`` is one of a few words, ``text`` a sentence."""

    kind: str
    text: str


_OF_STATUS: Final = {405: "method", 413: "too-large", 415: "content-type", 503: "unavailable"}


def reason_of(error: Exception) -> Reason:
    """Why a request that ends with this error is refused; of a bug no message, as in ``trace``."""
    match error:
        case InvalidFields():
            return Reason(error.reason, str(error))
        case DocumentTooLarge():
            return Reason("too-large", str(error))
        case InvalidInput():
            return Reason("invalid", str(error))
        case NotAuthenticated():
            return Reason("unauthenticated", str(error))
        case TooManyRequests():
            return Reason("too-many", str(error))
        case Refused() | Conflict():
            return Reason("forbidden", str(error))
        case DiskNearlyFull():
            return Reason("no-room", str(error))
        case Unavailable() | EngineError():
            return Reason("unavailable", str(error))
        case HTTPException():
            return Reason(_OF_STATUS.get(error.code or 0, "other"), str(error.description))
        case _:
            return Reason("bug", type(error).__name__)


def register_error_handlers(app: Flask) -> None:
    """Answer every exception that leaves a view, and every HTTP error, with the one body."""
    app.register_error_handler(HTTPException, answer_http)
    app.register_error_handler(HeadwaterError, answer_headwater)
    app.register_error_handler(Exception, answer_bug)


def error_body(status: HTTPStatus, message: str, errors: Errors | None) -> dict[str, Any]:
    """The one body of every error, from every route."""
    return {
        "code": status.value,
        "status": status.phrase,
        "message": message,
        "errors": {path: list(expected) for path, expected in (errors or {}).items()},
    }


def error_response(status: HTTPStatus, message: str, errors: Errors | None = None) -> Response:
    """The one body, with its status."""
    response = jsonify(error_body(status, message, errors))
    response.status_code = status.value
    return response


def answer_http(error: HTTPException) -> Response:
    """A werkzeug exception: not found, wrong method, too large, a redirect."""
    g.reason = reason_of(error)
    if error.response is not None or error.code is None:
        return Response.force_type(error.get_response())  # type: ignore[return-value]
    status = _known_status(error.code)
    response = error_response(status, _message_of(error, status))
    response.status_code = error.code
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            response.headers.add(name, value)
    return response


def _message_of(error: HTTPException, status: HTTPStatus) -> str:
    """The exception's own message; werkzeug's advice on typing errors is left out."""
    if error.description is not None and error.description != type(error).description:
        return error.description
    if status == HTTPStatus.NOT_FOUND:
        return f"nothing is served at {request.path}"
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        return f"expected one of the methods {', '.join(sorted(error.valid_methods))}"
    return error.description or status.phrase


def _known_status(code: int) -> HTTPStatus:
    """The status of a code; werkzeug may know codes that ``http`` does not."""
    try:
        return HTTPStatus(code)
    except ValueError:
        return HTTPStatus.BAD_REQUEST if code < 500 else HTTPStatus.INTERNAL_SERVER_ERROR


def answer_headwater(error: HeadwaterError) -> Response:
    """One of our own exceptions."""
    g.reason = reason_of(error)
    match error:
        case InvalidFields() | InvalidDocument():
            return error_response(HTTPStatus.BAD_REQUEST, str(error), error.errors)
        case DocumentTooLarge():
            return error_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        case AmbiguousReference():
            return _answer_reference(error, error.reference, error.candidates)
        case InvalidReference():
            return _answer_reference(error, error.reference, [error.expected])
        case InvalidInput():
            return error_response(HTTPStatus.BAD_REQUEST, str(error))
        case NotFound():
            return error_response(HTTPStatus.NOT_FOUND, str(error))
        case Conflict():
            return error_response(HTTPStatus.CONFLICT, str(error))
        case Refused():
            return _answer_refused(error)
        case DamagedDocument():
            return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        case DiskNearlyFull():
            return _later(HTTPStatus.SERVICE_UNAVAILABLE, error.reason, ROOM_AFTER_SECONDS)
        case Unavailable():
            return _later(HTTPStatus.SERVICE_UNAVAILABLE, error.reason, RETRY_AFTER_SECONDS)
        case EngineError():
            return _later(HTTPStatus.SERVICE_UNAVAILABLE, NO_ENGINE, RETRY_AFTER_SECONDS)
        case _:
            return answer_bug(error)


def _answer_refused(error: Refused) -> Response:
    """No key, the wrong role, too often: 401, 403, 429."""
    match error:
        case NotAuthenticated():
            response = error_response(HTTPStatus.UNAUTHORIZED, str(error))
            response.headers["WWW-Authenticate"] = CHALLENGE
            return response
        case TooManyRequests():
            return _later(HTTPStatus.TOO_MANY_REQUESTS, str(error), error.retry_after)
        case NotAllowed():
            needed = {"role": list(error.needed)}
            return error_response(HTTPStatus.FORBIDDEN, str(error), needed)
        case ForeignScope():
            return error_response(HTTPStatus.FORBIDDEN, str(error), {error.FIELD: [error.own]})
        case _:
            return error_response(HTTPStatus.FORBIDDEN, str(error))


def _later(status: HTTPStatus, reason: str, seconds: int) -> Response:
    response = error_response(status, reason)
    response.headers["Retry-After"] = str(seconds)
    return response


def _parameter_of(reference: str) -> str:
    """The query parameter, or the field of a JSON body, that brought this text; ``reference`` when
    none did.
    """
    body = g.get("body")
    given = [*request.args.items(), *(body.items() if isinstance(body, dict) else ())]
    return next((name for name, value in given if value == reference), "reference")


def _answer_reference(error: HeadwaterError, reference: str, expected: Sequence[str]) -> Response:
    name = _parameter_of(reference)
    return error_response(HTTPStatus.BAD_REQUEST, f"{name}: {error}", {name: expected})


def answer_bug(error: Exception) -> Response:
    """A bug of ours: the caller gets an id, the log the place."""
    g.reason = reason_of(error)
    request_id = current_request_id.get()
    log.error(
        "request %s: %s %s failed\n%s", request_id, request.method, request.path, trace(error)
    )
    return error_response(
        HTTPStatus.INTERNAL_SERVER_ERROR, f"internal error; the log has it as request {request_id}"
    )


def trace(error: BaseException) -> str:
    """The traceback with the types of the exceptions and without their messages.

    A message may quote a document (``KeyError: 'password'``, a driver's copy of its parameters);
    places and types find a bug well enough.
    """
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames = traceback.format_list(traceback.extract_tb(current.__traceback__))
        lines.append("".join([*frames, f"{type(current).__module__}.{type(current).__qualname__}"]))
        current = current.__cause__ or current.__context__
    return "\nwhile handling:\n".join(lines)


# --- messages of marshmallow -> dotted paths ----------------------------------------------------


def flatten(messages: Any, path: str = "") -> dict[str, list[str]]:
    """``{"reads": {2: {"id": ["a string"]}}}`` => ``{"reads[2].id": ["a string"]}``.

    Whole numbers are positions in lists; ``_schema`` means the object itself.
    """
    if isinstance(messages, Mapping):
        flat: dict[str, list[str]] = {}
        for key, inner in messages.items():
            for place, expected in flatten(inner, _below(path, key)).items():
                flat.setdefault(place, []).extend(expected)
        return flat
    listed = messages if isinstance(messages, list) else [messages]
    return {path or WHOLE_DOCUMENT: [str(item) for item in listed]}


def _below(path: str, key: object) -> str:
    if key == marshmallow.exceptions.SCHEMA:
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)
