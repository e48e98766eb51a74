"""The parts of a URI: percent-encoding as far as identity needs it; logins, secrets and temporary
signatures, which are no identity.
"""

from __future__ import annotations

import re
from typing import Final

from graph_model.naming.rules import Rules
from spark_agent_config.masking.logins import user_info_end
from spark_agent_config.masking.names import (
    LOGIN_PARAMETERS,
    SIGNATURE_PARAMETERS,
    decoded,
    is_secret_parameter,
    squash,
)

_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def percent(match: re.Match[str]) -> str:
    """A replacement for ``re.sub``: the match percent-encoded byte by byte, lone surrogates
    included.
    """
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogatepass"))


def printable(text: str) -> str:
    """Control characters and lone surrogates percent-encoded: every store accepts the others."""
    return _UNPRINTABLE.sub(percent, text)


def without_needless(segment: str) -> str:
    """``%7Ea%2f`` => ``~a%2F``; a segment with a stray percent sign is not encoded, and stays."""
    if "%" not in segment or _STRAY_PERCENT.search(segment):
        return segment
    return _ESCAPE.sub(_needed, segment)


def _needed(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match.group().upper()


# --- logins, secrets, signatures ------------------------------------------------------------------


_LONGEST_SCHEME: Final = 64


def without_secrets(uri: str, rules: Rules) -> str:
    """A URI of an unknown kind without user-info, secret and login parameters;
    otherwise unchanged.
    """
    marker = uri.find("://")
    if 0 <= marker <= _LONGEST_SCHEME and uri[:marker].lower() not in rules.container_schemes:
        start = marker + 3
        uri = uri[:start] + uri[user_info_end(uri, start) :]
    return without_secret_parameters(uri)


def without_secret_parameters(uri: str) -> str:
    """``?a=1&token=x`` => ``?a=1``; a signed query is dropped whole, because it identifies nothing.

    A fragment of settings (``#token=x``) is treated like a query; ``/C#/x`` is not one.
    """
    match = _PARAMETERS.search(uri) if "=" in uri else None
    if match is None:
        return uri
    head, tail = uri[: match.start()], uri[match.start() :]
    pieces = _PARAMETER.findall(tail)
    names = [_name(text) for _, text in pieces]
    if any(squash(decoded(name)) in SIGNATURE_PARAMETERS for name in names):
        return head
    kept = [
        mark + text
        for (mark, text), name in zip(pieces, names, strict=True)
        if not name or not (_is_login(name) or is_secret_parameter(name))
    ]
    if len(kept) == len(pieces):
        return uri
    text = "".join(kept)
    if not text or text[0] == "#":
        return head + text
    return head + match.group() + text[1:]


_FRAGMENT: Final = r"#(?=[\w.\-%]{1,256}=)"
_PARAMETERS: Final = re.compile(rf"[?;]|{_FRAGMENT}")
_PARAMETER: Final = re.compile(rf"([?&;]|{_FRAGMENT})([^?&;#]*(?:(?!{_FRAGMENT})#[^?&;#]*)*)")
_NAME: Final = re.compile(r"[\w.\-%]{1,256}")


def _name(text: str) -> str:
    name, separator, _ = text.partition("=")
    return name if separator and _NAME.fullmatch(name) else ""


def _is_login(name: str) -> bool:
    return squash(decoded(name)) in LOGIN_PARAMETERS
