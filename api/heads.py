"""Heads of requests that come again and again, so that each is read once.

An agent sends the same lines with every document, but for the number in ``Content-Length``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_MOST_BYTES: Final = 4_096
_MOST_DIGITS: Final = 6
_METHOD: Final = b"POST "
_END: Final = b"\r\n\r\n"
_LENGTHS: Final = (b"\r\nContent-Length: ", b"\r\ncontent-length: ")


class Head(NamedTuple):
    """``lines`` without the digits of the length, which is ``length``; the body begins at
    ``size``.
    """

    lines: bytes
    length: int
    size: int


def read_head(data: bytes) -> Head | None:
    """The head of a POST that these bytes begin with.

    None where it is not whole, is long, or has no length in one of the two usual spellings. Two
    heads with the same lines say the same to a parser, but for the length: digits alone were
    taken out, and the name before them stands at the beginning of its line. A line that ends
    without CR might end elsewhere for a parser, so such a head is none.
    """
    end = data.find(_END, 0, _MOST_BYTES)
    if end < 0 or not data.startswith(_METHOD):
        return None
    for name in _LENGTHS:
        place = data.find(name, 0, end)
        if place >= 0:
            begin = place + len(name)
            stop = data.find(b"\r", begin, end + 1)
            return _cut(data, begin, stop, end + len(_END))
    return None


def _cut(data: bytes, begin: int, stop: int, size: int) -> Head | None:
    digits = data[begin:stop]
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        return None
    lines = data[:begin] + data[stop:size]
    return Head(lines, int(digits), size) if lines.count(b"\n") == lines.count(b"\r\n") else None
