"""The one error body, for what is refused before the application sees it."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Final

from api.arriving import Send
from api.errors import error_body
from api.security import HEADERS

STOPPING: Final = "Headwater is being stopped: try again"


def refusal(code: int, message: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body; the connection is to be closed after it."""
    status = HTTPStatus(code)
    body = json.dumps(error_body(status, message)).encode()
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        *HEADERS.items(),
        ("Connection", "close"),
    ]
    return code, [(name.encode(), value.encode()) for name, value in headers], body


async def send_refusal(send: Send, code: int, message: str) -> None:
    """Answer with the refusal."""
    status, headers, body = refusal(code, message)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
