"""One invocation: settings, deadline, the event of a gateway or load balancer, the answer."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, Protocol

from api.logs import set_up_logging
from api.settings import Settings, read_settings
from graph_model.errors import ConfigurationError
from graph_model.stores.uploads import Uploads

_RESERVE_SECONDS: Final = 5.0
_UNKNOWN: Final = "gateway"
_MOST_NAME: Final = 200
_ENCODING: Final = "content-encoding"


class Context(Protocol):
    """The context that Lambda gives an invocation."""

    def get_remaining_time_in_millis(self) -> int: ...


def settings_of(environment: Mapping[str, str]) -> Settings:
    """The settings, and the log as they say. Raises ConfigurationError."""
    settings = read_settings(environment)
    set_up_logging(settings.log_level, settings.log_format, settings.access_log)
    return settings


def required(value: str, variable: str) -> str:
    """A setting that this handler cannot do without. Raises ConfigurationError."""
    if not value:
        raise ConfigurationError(f"{variable} is empty: this function needs it")
    return value


def uploads_of(settings: Settings) -> Uploads | None:
    """The bucket for uploads; None where none is set."""
    return Uploads(settings.uploads) if settings.uploads else None


def deadline(context: Context, reserve: float = _RESERVE_SECONDS) -> Callable[[], bool]:
    """Whether so many seconds are left, or fewer, until Lambda ends the invocation."""
    return lambda: context.get_remaining_time_in_millis() < reserve * 1_000


def body_of(event: Mapping[str, Any]) -> bytes:
    """The bytes of a request's body."""
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def method_of(event: Mapping[str, Any]) -> str:
    http = event.get("requestContext", {}).get("http", {})
    return str(event.get("httpMethod") or http.get("method") or "")


def content_encoding_of(event: Mapping[str, Any]) -> str | None:
    """The header ``Content-Encoding``; the last of several."""
    encoding: str | None = None
    for spelled, value in (event.get("headers") or {}).items():
        if spelled.lower() == _ENCODING:
            encoding = value
    for spelled, values in (event.get("multiValueHeaders") or {}).items():
        if spelled.lower() == _ENCODING and values:
            encoding = values[-1]
    return encoding


def sender_of(event: Mapping[str, Any]) -> str:
    """The name of the caller that the gateway recognised: a role, a token's subject, a key."""
    context = event.get("requestContext", {})
    authorizer = context.get("authorizer") or {}
    identity = context.get("identity") or {}
    of_token = authorizer.get("jwt") or authorizer  # payload format 2.0, and 1.0
    name = (
        (authorizer.get("iam") or {}).get("userArn")
        or (of_token.get("claims") or {}).get("sub")
        or authorizer.get("principalId")
        or identity.get("userArn")
        or identity.get("apiKeyId")
        or _UNKNOWN
    )
    return str(name)[:_MOST_NAME]


def error_answer(status: HTTPStatus, message: str) -> dict[str, Any]:
    """The body of every error of Headwater, for every format of answer."""
    body = {"code": int(status), "status": status.phrase, "message": message, "errors": {}}
    headers = {"Content-Type": "application/json"}
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = "5"
    return {
        "statusCode": int(status),
        "headers": headers,
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }
