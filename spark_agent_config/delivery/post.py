"""A POST of one document, and the kind of its failure.

Away: a later attempt may succeed. Refused: this document can never be delivered. Misconfigured: no
document can, until a person corrects the settings.
"""

from __future__ import annotations

import gzip
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, Final

from spark_agent_config.masking import mask_text

API_VERSION: Final = "1.2"
CONTENT_TYPE: Final = f"application/vnd.absa.spline.producer.v{API_VERSION}+json"
GZIP_ABOVE_BYTES: Final = 2048
#: Only this much of a reply is read: a server's reply to a document is short.
_MOST_REPLY_BYTES: Final = 65_536
_TOLD_BYTES: Final = 500
_CREATED: Final = frozenset({201, 202})
_RETRIED_CLIENT_ERRORS: Final = frozenset({408, 425, 429})
_PATH_ADVICE: Final = "check the path of spark.headwater.url or HEADWATER_URL"
#: Faults that only a person can correct, with advice: status => advice.
_ADVICE: Final = {
    401: "the server wants an API key: set spark.headwater.apiKey or HEADWATER_API_KEY",
    403: "this API key may not report: check spark.headwater.apiKey or HEADWATER_API_KEY",
    404: f"no producer is there: {_PATH_ADVICE}",
    405: f"no producer is there: {_PATH_ADVICE}",
    407: "the proxy wants a login: check https_proxy and no_proxy",
    410: "no producer is there any more: check spark.headwater.url or HEADWATER_URL",
}
_CERTIFICATE_ADVICE: Final = "name the authority that signed it in SSL_CERT_FILE"
_ADDRESS_ADVICE: Final = "check spark.headwater.url and spark.headwater.apiKey"
_NO_PRODUCER: Final = "no producer's answer: a login page, a proxy or another service is there"
_SIZE_ADVICE: Final = "the server's HEADWATER_MAX_BODY, or a proxy before it, sets the limit"


@dataclass(frozen=True, slots=True)
class Post:
    """One request: a resource of the producer API and the document to send."""

    resource: str
    document: Any


class Away(Exception):
    """The server cannot be reached now, or asks for a later attempt.

    ``after`` is the wished pause in seconds, 0 for none.
    """

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class DocumentRejected(Exception):
    """The server will not take this document; asking again would not help."""


class Misconfigured(Exception):
    """No document will be taken until a person has corrected the fault in the message."""


class HttpSender:
    """Posts one document. Raises Away, Refused or Misconfigured, nothing else.

    ``url`` is the producer's base; ``timeout`` is in seconds, for connecting and for each read.
    Redirects are not followed: that would turn the POST into a GET and lose the document.
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
            raise DocumentRejected(f"the document cannot be written as JSON: {error}") from None
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                status, body = reply.status, reply.read(_MOST_REPLY_BYTES)
                form = reply.headers.get_content_type() if body else "empty"
        except urllib.error.HTTPError as error:
            with error:
                raise _failure(request, error) from None
        except (OSError, HTTPException, RuntimeError) as error:
            # RuntimeError: from a socket or a name look-up while the interpreter shuts down.
            raise _no_answer(mask_text(request.full_url), error) from None
        except ValueError:  # no address, or a key that no header can carry; the text would show it
            message = f"{mask_text(self._url)} cannot be asked: {_ADDRESS_ADVICE}"
            raise Misconfigured(message) from None
        if not is_taken(status, body):
            raise _foreign(request, status, form)

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


def _failure(
    request: urllib.request.Request, error: urllib.error.HTTPError
) -> Away | DocumentRejected | Misconfigured:
    """The failure for a status other than 2xx; its body may be cut off, garbage or missing."""
    message = f"{mask_text(request.full_url)} answered {error.code}: {_detail(error)}".rstrip(": ")
    if error.code >= 500 or error.code in _RETRIED_CLIENT_ERRORS:
        return Away(message, seconds_asked(error.headers["Retry-After"], error.headers["Date"]))
    if 300 <= error.code < 400:
        place = mask_text(error.headers.get("Location") or "elsewhere")[:_TOLD_BYTES]
        return Misconfigured(f"{message}; name where it leads in spark.headwater.url: {place}")
    if error.code in _ADVICE:
        return Misconfigured(f"{message}; {_ADVICE[error.code]}")
    if error.code == 413:
        size = len(request.data) if isinstance(request.data, bytes) else 0
        return DocumentRejected(f"{message}; {size:,} bytes were sent, and {_SIZE_ADVICE}")
    return DocumentRejected(message)


def is_taken(status: int, body: bytes) -> bool:
    """Whether an answer below 300 is one that a producer gives to documents.

    Headwater and Spline answer 201, to a plan with its id as a JSON string, to events with
    nothing; a gateway before them may answer 202, or leave the body out. Any other status needs
    an id to believe it: a login page answers 200 with HTML, and a router at an airport 204.
    """
    created = status in _CREATED
    try:
        reply = json.loads(body) if body.strip() else None
    except (ValueError, RecursionError):
        return False
    if isinstance(reply, str):
        return created or _is_id(reply)
    return created and not reply


def _is_id(text: str) -> bool:
    try:
        return bool(uuid.UUID(text))
    except ValueError:
        return False


def _foreign(request: urllib.request.Request, status: int, form: str) -> Misconfigured:
    """The kind of a foreign answer, without its text: a page may hold a session's token."""
    message = f"{mask_text(request.full_url)} answered {status} ({form}), which is {_NO_PRODUCER}"
    return Misconfigured(f"{message}; {_PATH_ADVICE}")


def _detail(error: urllib.error.HTTPError) -> str:
    """The beginning of the answer's body on one line, for a log."""
    try:
        text = error.read(_TOLD_BYTES).decode("utf-8", "replace")
    except (OSError, HTTPException, ValueError):
        return ""
    return mask_text(" ".join(text.split()))


def _no_answer(url: str, error: Exception) -> Away | Misconfigured:
    """A certificate that is not trusted stays so; every other failure may pass."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        message = f"{url}: the certificate is not trusted ({reason.verify_message})"
        return Misconfigured(f"{message}; {_CERTIFICATE_ADVICE}")
    return Away(f"{url}: {error}")


def seconds_asked(retry_after: str | None, date: str | None) -> float:
    """Retry-After in seconds: a number, or a date less the answer's own; else 0 (RFC 9110, 10.2.3).

    ``Date`` is the server's clock, so that a wrong one here does not matter.
    """
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 7 else 0.0
    try:
        asked = parsedate_to_datetime(text) - parsedate_to_datetime(date or "")
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(0.0, asked.total_seconds())
