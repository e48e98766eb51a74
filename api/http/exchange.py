"""One request and its answer: its id, access line and measurements, compression, headers, origins.

A client may send its own id (``X-Request-Id``), so that one id runs through the logs of several
services; a malformed one is replaced. The id is in the answer's header and in every log line of the
request.

Answers are compressed for clients that take it: JSON, the page and its files.
Answers below a kilobyte, those that are compressed already and answers to HEAD stay as they are.

Every answer has security headers. Configured origins may read answers; no other origin may change
anything. A page can make its visitor's browser send a form, or a request without a body, to any
address, and need not be able to read the answer. Before the first key exists, that would be enough
to start a rebuild here. Browsers name the origin of such a request (``Origin``,
``Sec-Fetch-Site``), and no page can remove that; agents and scripts send neither header.
"""

from __future__ import annotations

import gzip
import ipaddress
import logging
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Flask, Response, g, request
from werkzeug.exceptions import BadRequest

from api.http.blueprint import current_principal
from api.http.metrics import Metrics
from api.logs import FIELDS, current_request_id
from graph_model.errors import OtherOrigin

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
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES: Final = frozenset({"same-origin", "none"})
_PORTS: Final = {"http": ":80", "https": ":443"}


def secure(app: Flask, origins: Collection[str], is_open: Callable[[], bool]) -> None:
    """Set the headers on every answer of this app; ``origins`` may call it from their pages.

    A request that may change something is refused when a page of any other origin sends it.
    ``is_open``: every client that reaches this computer may do everything.

    Keys travel in headers that a page must know to send; there are no cookies, so the browser's
    own credentials are never allowed.
    """

    def check() -> None:
        if _is_ambiguous(request.headers.get("Host", "")):
            raise BadRequest("Host: expected one name, with a port or without")
        if request.method not in _SAFE:
            origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
            if not _may_change(origin, site, request.headers.get("Host", ""), origins, is_open):
                raise OtherOrigin(origin or "")

    def add_headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if origins:
            _allow_origin(response, origins)
        return response

    app.before_request(check)
    app.after_request(add_headers)


def _is_ambiguous(host: str) -> bool:
    """Whether a request named two hosts: the server joins headers of one name, ``a, b``. Of two, a
    proxy in front may have meant the other one.
    """
    return "," in host or len(host.split()) > 1


def _may_change(
    origin: str | None,
    site: str | None,
    host: str,
    origins: Collection[str],
    is_open: Callable[[], bool],
) -> bool:
    """Whether no page sends the request, a page of our own, or one of ``origins``."""
    if origin is not None and (origin in origins or "*" in origins):
        return True
    if site is not None:  # sent to https and to this computer's own names alone
        return site.strip().lower() in _OWN_SITES
    if origin is None:
        return True
    # A name that its owner points at 127.0.0.1 makes another page look like our own.
    return _is_same(origin, host) and (_is_address(origin) or not is_open())


def _is_same(origin: str, host: str) -> bool:
    """``https://lineage.example.org`` and ``Lineage.example.org:443`` => True.

    The scheme is the browser's: a proxy may speak TLS for us.
    """
    scheme, _, place = origin.lower().partition("://")
    port = _PORTS.get(scheme)
    return port is not None and place.removesuffix(port) == host.lower().removesuffix(port)


def _is_address(origin: str) -> bool:
    """Whether its host is a number, or the name that always means this computer."""
    try:
        name = urlsplit(origin).hostname or ""
        return name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


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
