"""Text that every store can hold, decided in one place so that all of them hold the same."""

from __future__ import annotations

from typing import TypeVar

_Value = TypeVar("_Value")


def storable(text: str) -> str:
    """The text as every database stores it: NUL and lone surrogates become U+FFFD.

    A producer may send either inside JSON. PostgreSQL and Neptune refuse the first, UTF-8 has no
    form for the second, and a document must not fail for it.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def storable_value(value: _Value) -> _Value | str:
    """A text as ``storable`` makes it, any other value as it is."""
    return storable(value) if isinstance(value, str) else value
