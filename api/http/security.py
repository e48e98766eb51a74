"""Security headers on every answer, and requests from pages of other origins.

Configured origins may read answers; no other origin may change anything. A page can make its
visitor's browser send a form, or a request without a body, to any address, and need not be able to
read the answer. Before the first key exists, that would be enough to start a rebuild here. Browsers
name the origin of such a request (``Origin``, ``Sec-Fetch-Site``), and no page can remove that;
agents and scripts send neither header.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection
from typing import Final
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.exceptions import BadRequest

from graph_model.errors import OtherOrigin

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
