"""Names of tables as SQL spells them: parts with dots between, quoted where they need it."""

from __future__ import annotations

import re
from typing import Final


def identifier_parts(text: str) -> tuple[str, ...] | None:
    """``hr."Order Lines"`` => ("hr", "Order Lines"); None for a text that is no plain name."""
    parts: list[str] = []
    position = 0
    while True:
        found = _PART.match(text, position)
        if found is None:
            return None
        parts.append(_unquoted(found))
        position = found.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            return None
        position += 1


_PART: Final = re.compile(
    r"\"(?P<double>(?:[^\"]|\"\")*)\"|`(?P<back>(?:[^`]|``)*)`|\[(?P<square>[^\]]*)\]"
    r"|(?P<plain>[\w$#@%\-]*)"
)
_PLAIN: Final = re.compile(r"[\w$#@%\-]+")


def _unquoted(found: re.Match[str]) -> str:
    if found["double"] is not None:
        return found["double"].replace('""', '"')
    if found["back"] is not None:
        return found["back"].replace("``", "`")
    return found["square"] if found["square"] is not None else found["plain"]


def identifier_text(parts: tuple[str, ...]) -> str:
    """The canonical spelling: double quotes, only around parts that need them."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts
    )
