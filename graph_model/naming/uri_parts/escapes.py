"""Percent-encoding, as far as identity needs it."""

from __future__ import annotations

import re
from typing import Final

_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def percent(found: re.Match[str]) -> str:
    """A replacement for ``re.sub``: the match percent-encoded byte by byte, lone surrogates
    included.
    """
    return "".join(f"%{byte:02X}" for byte in found.group().encode("utf-8", "surrogatepass"))


def printable(text: str) -> str:
    """Control characters and lone surrogates percent-encoded: every store accepts the others."""
    return _UNPRINTABLE.sub(percent, text)


def without_needless(segment: str) -> str:
    """``%7Ea%2f`` => ``~a%2F``; a segment with a stray percent sign is not encoded, and stays."""
    if "%" not in segment or _STRAY_PERCENT.search(segment):
        return segment
    return _ESCAPE.sub(_needed, segment)


def _needed(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else found.group().upper()
