"""Texts that make a slow pattern slow, and how the growth of a cost with its text is measured.

A pattern's own texts are made from its parsed structure: the texts that it asks for, piece
by piece, repeated without the end that it waits for.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

_parser: Final[Any] = re._parser  # type: ignore[attr-defined]  # the only parser of its patterns
_SAMPLES: Final = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_WORD": "a",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_NOT_WORD": "-",
    "CATEGORY_NOT_SPACE": "a",
}
UNITS: Final = (
    " ", "\n", "a", "1", "_", ".", "-", "=", ":", "/", "//", "://", "@", "'", '"', "`", "\\", "\\'",
    "(", ")", "[", "]", "{", "}", "()", "{}", "<", ">", ",", ";", "&", "?", "#", "%", "%2D", "*",
    "a ", "a=", "a:", "a,", "a.", "a/", " a=b", "''", '""', "{}}", "\ud800", "é", "İ", "-----",
)  # fmt: skip
_SMALL: Final = 600
_LONG: Final = 16
_GROWTH: Final = 8
_MOST_GROWTH: Final = 24.0
"""Eight times the text may cost 24 times as much: thrice a linear cost, a third of a square one."""
_NOTHING: Final = 0.001
"""Seconds of CPU below which a large text costs too little to compare: a pass that looked at each
pair of its characters would take longer."""


def texts_against(pattern: str) -> list[str]:
    """The texts to repeat: beginnings and stretches of a text that the pattern asks for."""
    atoms = list(_atoms(_parser.parse(pattern)))[:40]
    stretches = {
        "".join(atoms[first:last])
        for first in range(len(atoms))
        for last in range(first + 1, min(first + 4, len(atoms)) + 1)
    }
    stretches |= {"".join(atoms[:last]) for last in range(1, len(atoms) + 1)}
    return sorted(stretches)


def _atoms(nodes: Iterable[Any]) -> Iterator[str]:
    for operation, argument in nodes:
        kind = str(operation)
        if kind == "LITERAL":
            yield chr(argument)
        elif kind == "NOT_LITERAL":
            yield "b" if chr(argument) == "a" else "a"
        elif kind == "ANY":
            yield "a"
        elif kind == "IN":
            yield _one_of(argument)
        elif kind == "BRANCH":
            for branch in argument[1]:
                yield from _atoms(branch)
        elif kind == "SUBPATTERN":
            yield from _atoms(argument[-1])
        elif kind.endswith("REPEAT"):
            yield from _atoms(argument[2])
        elif kind in ("ASSERT", "ASSERT_NOT"):
            yield from _atoms(argument[1])


def _one_of(members: Sequence[Any]) -> str:
    negated = str(members[0][0]) == "NEGATE"
    if negated:
        matcher = _parser.parse("")
        del matcher
        return next((c for c in "a1 -/\x00" if not _holds(members[1:], c)), "a")
    kind, argument = members[0]
    if str(kind) == "LITERAL":
        return chr(argument)
    if str(kind) == "RANGE":
        return chr(argument[0])
    return _SAMPLES.get(str(argument), "a")


def _holds(members: Iterable[Any], character: str) -> bool:
    for kind, argument in members:
        if str(kind) == "LITERAL" and chr(argument) == character:
            return True
        if str(kind) == "RANGE" and argument[0] <= ord(character) <= argument[1]:
            return True
        if str(kind) == "CATEGORY" and re.match(_CLASSES[str(argument)], character):
            return True
    return False


_CLASSES: Final = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
}  # fmt: skip


def grows_too_fast(
    work: Callable[[str], object], head: str, unit: str, tail: str = "!", small: int = _SMALL
) -> bool:
    """Whether eight times the text costs more than 24 times as much CPU, in four tries of four.

    ``small`` is the length of the shorter text. Another process may cost a run time, never save it
    any: the first try is of one run each, and acquits nearly every text; of the others the least of
    three runs counts.
    """

    small *= 4 if len(unit) > _LONG else 1  # enough repeats of it

    def cost(length: int, runs: int = 3) -> float:
        text = head + unit * (length // len(unit)) + tail
        return min(_cost(work, text) for _ in range(runs))

    large = cost(_GROWTH * small, 1)
    if large < _NOTHING or large <= _MOST_GROWTH * cost(small, 1):
        return False
    return all(
        (large := cost(_GROWTH * small)) >= _NOTHING and large > _MOST_GROWTH * cost(small)
        for _ in range(3)
    )


def _cost(work: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    work(text)
    return time.thread_time() - start
