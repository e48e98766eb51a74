"""One request to a running server, from the console."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import requests

from graph_model.errors import AnswerTimeout, ConfigurationError, Unavailable

_KEY_HEADER: Final = "X-API-Key"  # as in ``access``, which loads Flask
_SENDABLE: Final = re.compile(r"[!-~\x80-\xff][\t -~\x80-\xff]*")
"""The values of headers: RFC 9110, 5.5."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """An answer of any status. The names of headers are found in any case; ``reason`` is HTTP's."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def check_address(url: str) -> None:
    """Raises ConfigurationError for a text that is no http(s) address."""
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"--url {shown(url)!r}: expected an http(s) address")


def shown(url: str) -> str:
    """An address for a person or a log: ``https://***@host``, whose user and password a proxy may
    ask for.
    """
    begin, separator, place = url.rpartition("@")
    scheme = begin.partition("://")[0] + "://" if "://" in begin else ""
    return f"{scheme}***@{place}" if separator else url


def send(
    method: str,
    url: str,
    path: str,
    body: bytes | None,
    content_type: str,
    api_key: str | None,
    *,
    seconds: int,
) -> ServerAnswer:
    """The answer of the server at ``url`` to a request for ``path``; ``seconds`` is how long it may
    be silent.

    Raises ConfigurationError for an address or a key that no request can have, AnswerTimeout where
    a server was silent for too long, and Unavailable where nobody answers.
    """
    check_address(url)
    headers = {"Content-Type": content_type, **_key_header(api_key)}
    try:
        answer = requests.request(
            method,
            url + path,
            data=body,
            headers=headers,
            timeout=seconds,
            allow_redirects=False,  # it would take the key along, to wherever that is
        )
    except requests.exceptions.InvalidURL as error:
        raise ConfigurationError(f"--url {shown(url)!r}: it cannot be read") from error
    except requests.ReadTimeout as error:
        reason = f"{shown(url)} was silent for {seconds} s after {method} {path}"
        raise AnswerTimeout(reason) from error
    except requests.RequestException as error:
        raise Unavailable(f"no Headwater answers at {shown(url)}") from error
    return ServerAnswer(answer.status_code, answer.reason, answer.headers, answer.content)


def _key_header(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not _SENDABLE.fullmatch(api_key):
        raise ConfigurationError(
            "HEADWATER_API_KEY: expected a key of characters that an HTTP header can carry"
        )
    return {_KEY_HEADER: api_key}
