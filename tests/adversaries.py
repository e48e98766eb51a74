"""Texts that make a slow pattern slow, and whether a call freezes on a long one.

A pattern's own texts are made from its parsed structure: the texts that it asks for, piece
by piece, repeated without the end that it waits for.
"""

from __future__ import annotations

import re
import signal
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
_LONG: Final = 16
_LENGTHS: Final = tuple(1_200 * 4**step for step in range(6))
_PAIR_SECONDS: Final = 8e-11
"""No machine looks at a pair of characters in less: what costs less is no pass over all pairs."""
_MOST_GROWTH: Final = 6.0
"""Four times the text costs a linear call four times as much, a quadratic one sixteen times."""
HANG_SECONDS: Final = 60.0
"""Of processor time. A linear call takes 5 for the longest text, a quadratic one many minutes."""


class _Hang(Exception):
    """A call took the processor time that it may not take."""


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


def freezes(
    work: Callable[[str], object], head: str, unit: str, tail: str = "!", hang: float = HANG_SECONDS
) -> bool:
    """Whether a text of at most 1.2 million characters takes more than ``hang`` of CPU: only that
    counts, so that chance and load cannot make a linear call fail.

    The texts grow, as long as a call costs what a quadratic one would: nearly every call is
    acquitted at 1,200 or 4,800 characters. Noise sends it on to a longer text at most.
    """
    before = 0.0
    for length in _LENGTHS:
        repeats = length * (4 if len(unit) > _LONG else 1) // len(unit)  # enough of a long unit
        text = head + unit * repeats + tail
        try:
            cost = _cost(work, text, hang)
            if cost < _PAIR_SECONDS * repeats**2 / 2 or cost <= _MOST_GROWTH * before:
                return False
            # What a first call makes once, or a cold cache costs, is no part of the comparison.
            before = min(cost, _cost(work, text, hang)) if length == _LENGTHS[0] else cost
        except _Hang:
            return True
    return False


def _cost(work: Callable[[str], object], text: str, hang: float) -> float:
    """Seconds of CPU. Raises _Hang above ``hang`` of them, also in the midst of a pattern."""

    def end(_number: int, _frame: object) -> None:
        raise _Hang

    former = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, hang)
    start = time.thread_time()
    try:
        work(text)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)
    return time.thread_time() - start
