"""One request and its answer: its id, the access line, its measurements, compression.

A client may send its own id (``X-Request-Id``), so that one id runs through the logs of several
services; a malformed one is replaced. The id is in the answer's header and in every log line of the
request.

Answers are compressed for clients that take it: JSON, the page and its files.
Answers below a kilobyte, those that are compressed already and answers to HEAD stay as they are.
"""

from __future__ import annotations

import gzip
import logging
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask, Response, g, request

from api.http.metrics import Metrics
from api.http.rights import current_principal
from api.logs import FIELDS, current_request_id

HEADER: Final = "X-Request-Id"
_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_MOST_PATH: Final = 200
_MOST_ADDRESS: Final = 100
_BROKEN: Final = 500
_PROBES: Final = ("/health/ready", "/about/readiness")
UNMATCHED: Final = "unmatched"

log = logging.getLogger("headwater.access")
_LEAST_BYTES: Final = 1024
_LEVEL: Final = 5
_COMPRESSED_TYPES: Final = frozenset({
    "application/json", "application/problem+json", "text/javascript", "text/css", "text/html",
    "text/csv", "text/markdown", "image/svg+xml",
})  # fmt: skip


def request_id_of(given: str | None) -> str:
    """The caller's id where it is well-formed, else a new one."""
    if given is not None and _WELL_FORMED.fullmatch(given):
        return given
    return secrets.token_hex(8)


def watch(app: Flask, metrics: Metrics, seconds: Callable[[], float]) -> None:
    """Give every request of this app its id; log and measure each one.

    ``seconds`` is a monotonic clock. Called before anything else is registered, so that it sees
    every request first and every answer last.
    """

    def begin() -> None:
        g.began = seconds()
        g.request_id_token = current_request_id.set(request_id_of(request.headers.get(HEADER)))

    def end(response: Response) -> Response:
        response.headers[HEADER] = current_request_id.get()
        took = seconds() - g.began
        metrics.answered(request.method, route(), response.status_code, took)
        log_exchange(
            Exchange(
                request.method, request.path, route(), response.status_code, took,
                response.content_length or 0, request.content_length or 0,
                current_principal().name, request.remote_addr or "",
            )
        )  # fmt: skip
        return response

    def forget(_error: BaseException | None) -> None:
        if (token := g.pop("request_id_token", None)) is not None:
            current_request_id.reset(token)

    app.before_request(begin)
    app.after_request(end)
    app.teardown_request(forget)


def route() -> str:
    """The template that the request's path was matched to: one of a bounded number."""
    return request.url_rule.rule if request.url_rule is not None else UNMATCHED


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request with its answer; ``seconds`` is its duration, lengths are in bytes.

    ``client`` is the address that connected, or that the trusted proxy names.
    """

    method: str
    path: str
    route: str
    status: int
    seconds: float
    sent: int
    received: int
    principal: str
    client: str = ""


def log_exchange(exchange: Exchange) -> None:
    """Write the access line: a warning where the service failed; a probe that finds it not ready
    is no failure.

    Queries stay out of it: they hold names, and may hold secrets.
    """
    failed = exchange.status >= _BROKEN and not exchange.route.endswith(_PROBES)
    level = logging.WARNING if failed else logging.INFO
    if not log.isEnabledFor(level):
        return
    fields: dict[str, Any] = {
        "method": exchange.method,
        "path": exchange.path[:_MOST_PATH],
        "route": exchange.route,
        "status": exchange.status,
        "durationMs": round(exchange.seconds * 1000, 1),
        "bytes": exchange.sent,
        "bytesReceived": exchange.received,
        "principal": exchange.principal,
        "client": exchange.client[:_MOST_ADDRESS],
    }
    log.log(
        level,
        "%(method)s %(path)r %(status)d %(durationMs).1f ms %(bytes)d B %(principal)s %(client)r",
        fields,
        extra={FIELDS: fields},
    )


def compress(app: Flask) -> None:
    """Compress the answers of this app."""

    def shrink(response: Response) -> Response:
        if response.mimetype not in _COMPRESSED_TYPES or response.status_code != 200:
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
    return (response.content_length or 0) >= _LEAST_BYTES
