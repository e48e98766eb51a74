"""Paths with names in them: clients send a name percent-encoded, slashes as ``%2F`` (decision 171).

A server decodes the path before any route sees it. ``keep_encoded`` puts the path as it was sent in
its place, and ``decode_names`` decodes each part where a blueprint takes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from api.http.blueprint import Blueprint

NAMED: Final = (
    "/api/v1/namespaces/",
    "/api/v1/sources/",
    "/api/v1/tags/",
    "/api/v1/events/",
    "/v2/domains/",
)


def keep_encoded(application: WSGIApplication) -> WSGIApplication:
    """Leave the names in these paths encoded."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path.startswith(NAMED):
            environ = {**environ, "PATH_INFO": sent_path(environ)}
        return application(environ, start_response)

    return answer


def sent_path(environ: WSGIEnvironment) -> str:
    """The path as it was sent; where the server does not tell it, the path encoded anew."""
    path: str = environ.get("PATH_INFO", "")
    raw: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    sent = raw.partition("?")[0]
    return sent if sent.startswith(NAMED) else quote(path.encode("latin-1"))


def decode_names(blueprint: Blueprint) -> None:
    """Decode the parts of these routes' paths once."""

    def decode(_endpoint: str | None, values: dict[str, str] | None) -> None:
        for key, value in (values or {}).items():
            (values or {})[key] = unquote(value)

    blueprint.url_value_preprocessor(decode)
