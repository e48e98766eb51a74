"""Names of tables as SQL spells them: parts with dots between, quoted where they need it."""

from __future__ import annotations

import re
from typing import Final

from graph_model.naming.columns import column_path, fold


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


def unquoted_text(text: str) -> str:
    """``"DB"."S"."T"`` and `` `db`.`t` `` without the quotes; other texts stay.

    Only a name in quotes throughout, or in part, counts: ``col[0]`` and ``it's`` stay. A part that
    has a dot of its own keeps back quotes.
    """
    if _QUOTE.search(text) is None:
        return text
    parts = identifier_parts(text)
    return column_path(parts) if parts is not None and all(parts) else text


_QUOTE: Final = re.compile(r"[\"`\[]")


def quoted_parts(text: str) -> tuple[str, ...]:
    """``"ID"`` => ("ID",), `` `a`."b" `` => ("a", "b"); none where a part has no quotes."""
    if text[-1:] not in _CLOSING or _ALL_QUOTED.fullmatch(text) is None:
        return ()
    parts = identifier_parts(text)
    return parts if parts is not None and all(parts) else ()


def unquoted_column(name: str) -> str:
    """The name of a column without the quotes around it: ``"ID"`` => ``ID``."""
    parts = quoted_parts(name)
    return parts[0] if len(parts) == 1 else name


_CLOSING: Final = frozenset('"`]')
_ALL_QUOTED: Final = re.compile(
    r"(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\])"
    r"(?:\.(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]))*"
)


def in_case(text: str, case: str) -> str:
    """A part of a name in "lower" or "upper" case; in any other case as it is.

    Percent-encoded characters stay: their digits would be another spelling.
    """
    if case not in CASES:
        return text
    change = fold if case == "lower" else _upper
    pieces = _ESCAPED.split(text)
    return "".join(piece if odd % 2 else change(piece) for odd, piece in enumerate(pieces))


def _upper(text: str) -> str:
    """Character by character, as :func:`fold` does: ``ß`` stays as it is."""
    return "".join(upper if len(upper := one.upper()) == 1 else one for one in text)


CASES: Final = ("lower", "upper")
_ESCAPED: Final = re.compile("(%[0-9A-Fa-f]{2})")


def identifier_text(parts: tuple[str, ...]) -> str:
    """The canonical spelling: double quotes, only around parts that need them."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts
    )
