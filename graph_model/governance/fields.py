"""Fields that the documents of layers and of quality rules share, checked in one way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import Any, Final

from graph_model.errors import InvalidDocument
from spark_agent_config.masking import mask_text

_MOST_NOTE: Final = 500
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9])?")


def check_name(name: str) -> None:
    """Raises InvalidDocument for a name that nothing may have."""
    if not _NAME.fullmatch(name):
        raise InvalidDocument(
            "name", "1 to 64 letters, digits, spaces, dots, underscores and hyphens"
        )


def check_fields(given: Iterable[str], known: Set[str]) -> None:
    """Raises InvalidDocument for the first field by name that is not known."""
    for unknown in sorted(set(given) - known):
        raise InvalidDocument(unknown, f"one of the fields {', '.join(sorted(known))}")


def read_note(value: Any) -> str:
    """A note without secrets; raises InvalidDocument for any other value than a short text."""
    if not isinstance(value, str) or len(value) > _MOST_NOTE:
        raise InvalidDocument("note", f"a text of up to {_MOST_NOTE} characters")
    return mask_text(value)
