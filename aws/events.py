"""Events of gateways and load balancers, in every format, and answers to them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

_UNKNOWN: Final = "gateway"
_MOST_NAME: Final = 200
_ENCODING: Final = "content-encoding"


def body_of(event: Mapping[str, Any]) -> bytes:
    """The bytes of a request's body."""
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def method_of(event: Mapping[str, Any]) -> str:
    http = event.get("requestContext", {}).get("http", {})
    return str(event.get("httpMethod") or http.get("method") or "")


def content_encoding_of(event: Mapping[str, Any]) -> str | None:
    """The header ``Content-Encoding``; the last of several."""
    found: str | None = None
    for spelled, value in (event.get("headers") or {}).items():
        if spelled.lower() == _ENCODING:
            found = value
    for spelled, values in (event.get("multiValueHeaders") or {}).items():
        if spelled.lower() == _ENCODING and values:
            found = values[-1]
    return found


def sender_of(event: Mapping[str, Any]) -> str:
    """The name of the caller that the gateway recognised: a role, a token's subject, a key."""
    context = event.get("requestContext", {})
    authorizer = context.get("authorizer") or {}
    identity = context.get("identity") or {}
    of_token = authorizer.get("jwt") or authorizer  # payload format 2.0, and 1.0
    found = (
        (authorizer.get("iam") or {}).get("userArn")
        or (of_token.get("claims") or {}).get("sub")
        or authorizer.get("principalId")
        or identity.get("userArn")
        or identity.get("apiKeyId")
        or _UNKNOWN
    )
    return str(found)[:_MOST_NAME]


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
