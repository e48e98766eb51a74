"""The one error body, for what is refused before the application sees it."""

from __future__ import annotations

import json
from http import HTTPStatus

from api.security import HEADERS


def refusal(code: int, message: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body; the connection is to be closed after it."""
    status = HTTPStatus(code)
    body = json.dumps(
        {"code": status.value, "status": status.phrase, "message": message, "errors": {}}
    ).encode()
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        *HEADERS.items(),
        ("Connection", "close"),
    ]
    return code, [(name.encode(), value.encode()) for name, value in headers], body
