"""Answers are compressed for clients that take it: JSON, the page and its files.

A file of the page is compressed once: its answer is immutable, so the result is kept by address.
Answers below a kilobyte, those that are compressed already and answers to HEAD stay as they are.
"""

from __future__ import annotations

import gzip
import threading
from typing import Final

from flask import Flask, Response, request

_LEAST: Final = 1024
_LEVEL: Final = 5
_KEPT_LEVEL: Final = 9
_MOST_KEPT: Final = 512
_TYPES: Final = frozenset({
    "application/json", "application/problem+json", "text/javascript", "text/css", "text/html",
    "text/csv", "text/markdown", "image/svg+xml",
})  # fmt: skip


def compress(app: Flask) -> None:
    """Compress the answers of this app."""
    kept: dict[str, bytes] = {}
    lock = threading.Lock()

    def keep(path: str, body: bytes) -> bytes:
        with lock:
            if path not in kept:
                if len(kept) >= _MOST_KEPT:
                    kept.clear()
                kept[path] = gzip.compress(body, _KEPT_LEVEL, mtime=0)
            return kept[path]

    def shrink(response: Response) -> Response:
        if response.mimetype not in _TYPES or response.status_code != 200:
            return response
        response.headers.add("Vary", "Accept-Encoding")
        if not _wanted(response):
            return response
        response.direct_passthrough = False
        body = response.get_data()  # also where it is not needed: it closes the file in the end
        if "immutable" in response.headers.get("Cache-Control", ""):
            packed = keep(request.path, body)
        else:
            packed = gzip.compress(body, _LEVEL, mtime=0)
        response.set_data(packed)
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
