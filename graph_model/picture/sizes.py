"""How large a box is drawn for its name: pixels of an unscaled canvas. Pure.

Names stand whole on at most two lines. The widths of letters are those of a wide bold face, so that
a name fits in the faces of other systems too; the page breaks the lines by the same rule
(``linesOf`` of the page), measured in its own face.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

#: Height of the letters of a name and of a column: the page has the same (``shapes.js``).
TITLE_LETTERS: Final = 15.0
ROW_LETTERS: Final = 14.0
ROW_HEIGHT: Final = 22.0
#: From this zoom on names are 11 pixels high on the screen.
LEGIBLE: Final = 11 / TITLE_LETTERS
#: Height of a box whose name has one line, and what a second one adds.
_HEIGHT: Final = 46.0
_LINE: Final = 17.0
_MIN_WIDTH: Final = 130.0
_MAX_WIDTH: Final = 280.0
#: A name that is wider than this has two lines: ranks are narrow, and heights are used.
_BREAKS_FROM: Final = 150.0
#: Room for the rims and the glyph beside a name, and for the rims of a column.
_BESIDE_NAME: Final = 56.0
_BESIDE_ROW: Final = 44.0
_LONGEST: Final = 200  # characters of a name that are looked at
_NARROW: Final = frozenset("ijlI.,:;'|/()[]! ")
_SLIM: Final = frozenset('frtsJ_-*"`')
_WIDE: Final = frozenset("mwMW@%")
#: A name is broken behind a separator, or before a capital: ``daily_|revenue``, ``Daily|Revenue``.
_PARTS: Final = re.compile(r"[^\s_.:/-]*?(?:[\s_.:/-]+|(?<=[a-z0-9])(?=[A-Z])|$)")


@dataclass(frozen=True, slots=True)
class Size:
    """``title`` is the height of the part with the name; of a box without columns all of it."""

    width: float
    height: float
    title: float


def size_of(label: str, columns: tuple[str, ...] = ()) -> Size:
    """The box of a table, a job or a step of a plan, with the names of the columns in it."""
    longest, lines = _broken(label[:_LONGEST])
    title = _HEIGHT + (lines - 1) * _LINE
    rows = max((text_width(name[:_LONGEST], ROW_LETTERS) for name in columns), default=0.0)
    width = max(_MIN_WIDTH, longest + _BESIDE_NAME, rows + _BESIDE_ROW if rows else 0.0)
    below = len(columns) * ROW_HEIGHT + 8 if columns else 0.0
    return Size(round(min(_MAX_WIDTH, width)), title + below, title)


def text_width(text: str, letters: float) -> float:
    """How much room a text needs in bold letters of this height."""
    return letters * sum(map(_em, text))


@lru_cache(maxsize=4096)
def _broken(label: str) -> tuple[float, int]:
    """The width of the longest line and the number of lines."""
    whole = text_width(label, TITLE_LETTERS)
    if whole <= _BREAKS_FROM:
        return whole, 1
    widths = [text_width(part, TITLE_LETTERS) for part in _PARTS.findall(label) if part]
    first, best = 0.0, whole
    for width in widths[:-1]:
        first += width
        best = min(best, max(first, whole - first))
    return best, 2


@lru_cache(maxsize=1024)
def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _SLIM:
        return 0.53
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.03
    return 0.78 if letter.isupper() else 0.7
