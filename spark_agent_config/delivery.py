"""Posts one document over HTTP, and says in two words what went wrong: Away or Refused."""

from __future__ import annotations

import gzip
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Final

API_VERSION: Final = "1.2"
CONTENT_TYPE: Final = f"application/vnd.absa.spline.producer.v{API_VERSION}+json"
GZIP_ABOVE_BYTES: Final = 2048
#: A reply is read no further: what the server says of a document is short.
_MOST_REPLY_BYTES: Final = 65_536
_TOLD_BYTES: Final = 500
_RETRIED_CLIENT_ERRORS: Final = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Post:
    """One request: a resource of the producer API and the document to send."""

    resource: str
    document: Any


class Away(Exception):
    """The server cannot be reached now, or asks to come back later.

    ``after`` are the seconds that it asks for, 0 where it does not say.
    """

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class Refused(Exception):
    """The server will not take this document; asking again would not help."""


class HttpSender:
    """Posts one document. Raises Away or Refused, nothing else.

    ``url`` is the producer's base; ``timeout`` is in seconds, for connecting and for each read.
    Redirects are refusals: following one would turn the POST into a GET and lose the document.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float = 10.0) -> None:
        self._url = url.rstrip("/")
        self._headers = dict(headers)
        self._timeout = timeout
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if urllib.parse.urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def __call__(self, post: Post) -> None:
        try:
            request = self._request(post)
        except (ValueError, TypeError, RecursionError) as error:
            raise Refused(f"the document cannot be written as JSON: {error}") from None
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                reply.read(_MOST_REPLY_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                raise _failure(request.full_url, error) from None
        except (OSError, HTTPException, RuntimeError) as error:
            # RuntimeError: what an interpreter that shuts down says to a socket or a name look-up.
            raise Away(f"{request.full_url}: {error}") from None
        except ValueError as error:  # no address, or a key that no header can carry
            raise Refused(f"{self._url} cannot be asked: {error}") from None

    def _request(self, post: Post) -> urllib.request.Request:
        body = json.dumps(post.document, separators=(",", ":"), ensure_ascii=False).encode()
        headers = {**self._headers, "Content-Type": CONTENT_TYPE}
        if len(body) > GZIP_ABOVE_BYTES:
            body = gzip.compress(body, compresslevel=5, mtime=0)
            headers["Content-Encoding"] = "gzip"
        return urllib.request.Request(  # noqa: S310 (the scheme is checked by the listener)
            f"{self._url}/{post.resource}", data=body, headers=headers, method="POST"
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None makes urllib report the redirect as the error that it is here."""


def _failure(url: str, error: urllib.error.HTTPError) -> Away | Refused:
    """What a status other than 2xx means; its body may be cut off, garbage or missing."""
    try:
        detail = error.read(_TOLD_BYTES).decode("utf-8", "replace").strip()
    except (OSError, HTTPException, ValueError):
        detail = ""
    said = f"{url} answered {error.code}: {detail}".rstrip(": ")
    if error.code >= 500 or error.code in _RETRIED_CLIENT_ERRORS:
        return Away(said, _seconds(error.headers.get("Retry-After")))
    return Refused(said)


def _seconds(retry_after: str | None) -> float:
    """Retry-After in seconds; its other form, a date, counts as nothing said."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0.0
