"""The version of a table, as a text that a format gives."""

from __future__ import annotations

from typing import Any, Final, TypeGuard

from graph_model.facts import NO_NUMBER, Version

_MAX_CHARACTERS: Final = 200
_MAX_DIGITS: Final = 9
"""Versions that count from zero are short; Iceberg's snapshot ids, which have no order, have 19
digits."""


def version_of_text(text: Any) -> Version | None:
    """A short number orders versions, another text only
    identifies one.
    """
    if not is_version_text(text):
        return None
    counts = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return Version(text, int(text) if counts else NO_NUMBER)


def is_version_text(value: Any) -> TypeGuard[str]:
    """Whether a value can be a version: a text that is neither empty nor too long."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_CHARACTERS
