"""Messages that a log broke over several lines, joined by the prefix of each part.

    26/03/01 10:00:00 INFO ConsoleTransport: {"eventTime": "2026-03-01T1      log4j, at a width:
    26/03/01 10:00:00 INFO ConsoleTransport: 0:00:00Z", …}                    the prefix again
    2026-03-01T10:00:00.1Z 26/03/01 10:00:00 INFO ConsoleTransport: {"ev…     CloudWatch, YARN:
    2026-03-01T10:00:00.2Z entTime": …                                        a time of its own
    2026-03-01T10:00:00.1Z stdout P {"eventTime": …                           containers:
    2026-03-01T10:00:00.2Z stdout F …}                                        P goes on, F ends
    … {"eventTime": "2026-03-01T1                                             a terminal:
    0:00:00Z", …}                                                             nothing

A prefix is compared word by word with the one of the first part, where digits stand for digits.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

_LONGEST: Final = 500
_TIME_DIGITS: Final = 6
_WORD: Final = re.compile(r"\S+\s*")
_LEVEL: Final = re.compile(r"[\[<(]?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b", re.IGNORECASE)
_SOURCE_END: Final = "|"
_PART_OR_FULL: Final = ("P", "F")


class Prefix:
    """The text before a message on its first line: a time, a level, a logger; "" for nothing."""

    def __init__(self, text: str) -> None:
        self._text = text if len(text) <= _LONGEST else ""

    @classmethod
    def before(cls, line: str, place: int) -> Prefix:
        """The text of a line before this place."""
        return cls(line[: min(place, _LONGEST + 1)])

    def continued(self, line: str) -> str | None:
        """The text that a line adds to the message; None where it is another record.

        The most words that the line shares with the prefix are taken off: all of them, or such as
        hold a time or name a source (``spark-1  |``). A level right after a time begins another
        record.
        """
        shared = 0
        for count, pattern in enumerate(self._words, 1):
            found = pattern.match(line, shared)
            if found is None:
                return self._after_time(line, count - 1, shared)
            shared = found.end()
        return line[shared:]

    def _after_time(self, line: str, words: int, shared: int) -> str | None:
        """``words`` of the prefix, up to ``shared``, begin the line."""
        prefix = line[:shared].rstrip()
        if sum(map(str.isdigit, prefix)) < _TIME_DIGITS and not prefix.endswith(_SOURCE_END):
            return line
        is_record = self._has_level and _LEVEL.match(line, shared) is not None
        return None if words and is_record else line[shared:]

    @cached_property
    def _words(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_shape(word) for word in _WORD.findall(self._text.lstrip()))

    @cached_property
    def _has_level(self) -> bool:
        return any(_LEVEL.match(word) for word in _WORD.findall(self._text))


def _shape(word: str) -> re.Pattern[str]:
    """A word and the space behind it: ``10:00:00 `` => digits, a colon, …, one space."""
    bare = word.rstrip()
    space = re.escape(word[len(bare) :])
    if bare in _PART_OR_FULL:
        return re.compile(f"[PF]{space}")
    parts = re.split(r"([0-9]+)", bare)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = ["[0-9]++"] * len(parts[1::2])
    return re.compile("".join(parts) + space)
