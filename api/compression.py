"""Answers are compressed for clients that take it: JSON, the page and its files.

Answers below a kilobyte, those that are compressed already and answers to HEAD stay as they are.
"""

from __future__ import annotations

import gzip
from typing import Final

from flask import Flask, Response, request

_LEAST: Final = 1024
_LEVEL: Final = 5
_TYPES: Final = frozenset({
    "application/json", "application/problem+json", "text/javascript", "text/css", "text/html",
    "text/csv", "text/markdown", "image/svg+xml",
})  # fmt: skip


def compress(app: Flask) -> None:
    """Compress the answers of this app."""

    def shrink(response: Response) -> Response:
        if response.mimetype not in _TYPES or response.status_code != 200:
            return response
        response.headers.add("Vary", "Accept-Encoding")
        if not _wanted(response):
            return response
        response.direct_passthrough = False
        body = response.get_data()  # also where it is not needed: it closes the file in the end
        response.set_data(gzip.compress(body, _LEVEL, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
        etag, _ = response.get_etag()
        if etag is not None:
            response.set_etag(etag, weak=True)
        return response

    app.after_request(shrink)


def _wanted(response: Response) -> bool:
    if request.method == "HEAD" or (response.is_streamed and not response.direct_passthrough):
        return False
    if "Content-Encoding" in response.headers or request.accept_encodings["gzip"] <= 0:
        return False
    return (response.content_length or 0) >= _LEAST
