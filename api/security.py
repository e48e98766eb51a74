"""Headers on every answer, and which other origins may read them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from flask import Flask, Response, request

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # vis-network sizes its canvas with inline styles
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_METHODS: Final = "GET, HEAD, POST"
_REQUEST_HEADERS: Final = "Content-Type, Content-Encoding, Authorization, X-API-Key, X-Request-Id"
_ANSWER_HEADERS: Final = "Retry-After, WWW-Authenticate, X-Request-Id"
_PREFLIGHT_SECONDS: Final = "600"


def secure(app: Flask, origins: Collection[str]) -> None:
    """Set the headers on every answer of this app; ``origins`` may call it from their pages.

    Keys travel in headers that a page must know to send; there are no cookies, so the browser's
    own credentials are never allowed.
    """

    def add_headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if origins:
            _allow_origin(response, origins)
        return response

    app.after_request(add_headers)


def _allow_origin(response: Response, origins: Collection[str]) -> None:
    origin = request.headers.get("Origin")
    response.vary.add("Origin")
    if origin is None or not (origin in origins or "*" in origins):
        return
    response.headers["Access-Control-Allow-Origin"] = origin
    response.headers["Access-Control-Expose-Headers"] = _ANSWER_HEADERS
    if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
        response.headers["Access-Control-Allow-Methods"] = _METHODS
        response.headers["Access-Control-Allow-Headers"] = _REQUEST_HEADERS
        response.headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
