r"""Whether a regular expression of somebody else's may be run by Python's engine.

A backtracking engine may try every way in which a pattern can divide a text. Here those ways are
counted, from the parsed pattern, as if the text were as long as naming ever matches: a pattern is
taken when the product stays small, so the time it can cost has a bound.

    part-[0-9]+            one open repeat: as many ways as the text has characters
    (a+)+                  a repeat within a repeat: refused
    (?:x?){30}             2 to the power of 30: refused
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from graph_model.errors import InvalidDocument

LONGEST_PATTERN: Final = 500
_parser: Final[Any] = re._parser  # type: ignore[attr-defined]  # the only parser of its patterns
_CASELESS: Final = int(re.IGNORECASE)
LONGEST_MATCHED: Final = 1_024
"""Characters: a longer text is held against no pattern of the rules."""
_OPEN: Final = LONGEST_MATCHED  # ways of one open repeat
_MOST_WAYS: Final = 8 * _OPEN**2


def check_pattern(pattern: str, path: str) -> None:
    """Raises InvalidDocument for what cannot be parsed, or may take too many steps."""
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidDocument(path, f"a pattern of up to {LONGEST_PATTERN} characters")
    try:
        re.compile(pattern)
        ways = _ways_of(_parser.parse(pattern), path)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidDocument(path, f"a regular expression ({error})") from None
    if ways > _MOST_WAYS:
        raise InvalidDocument(path, "at most two open repeats (*, +) and few choices")


def _ways_of(nodes: Iterable[Any], path: str) -> int:
    ways = 1
    for operation, argument in nodes:
        ways *= _ways(str(operation), argument, path)
        if ways > _MOST_WAYS:
            return ways
    return ways


def _ways(operation: str, argument: Any, path: str) -> int:
    if operation == "SUBPATTERN":
        return _ways_of(argument[-1], path)
    if operation == "BRANCH":
        return sum(_ways_of(branch, path) for branch in argument[1])
    if operation in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        return _repeats(argument, path)
    if operation in {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}:
        return 1
    raise InvalidDocument(path, "a pattern without look-around, back-references and conditions")


def _repeats(argument: Any, path: str) -> int:
    least, most, body = int(argument[0]), int(argument[1]), argument[2]
    inside = _ways_of(body, path)
    if most <= 1:
        return inside + 1 - least
    if inside > 1:
        raise InvalidDocument(path, "no choice and no repeat within a repeat")
    return min(most - least + 1, _OPEN)


def telling_texts(pattern: str) -> tuple[str, ...]:
    r"""Texts of which every match holds at least one; () where the pattern does not tell.

        \b(?P<keep>plan_id|cteId)=[0-9]+\b  =>  ("plan_id", "cteId")

    To look for them costs a fraction of a search. Raises re.error for what is no pattern.
    """
    parsed = _parser.parse(pattern)
    return () if parsed.state.flags & _CASELESS else _telling(parsed)


def _telling(nodes: Iterable[Any]) -> tuple[str, ...]:
    """Of all texts that the nodes ask for one after the other, those of which the shortest is
    longest.
    """
    found: list[tuple[str, ...]] = [()]
    run = ""
    for operation, argument in nodes:
        if str(operation) == "LITERAL":
            run += chr(argument)
        elif str(operation) != "AT":  # a place, as wide as nothing
            found += (run,), _telling_part(str(operation), argument)
            run = ""
    return max((*found, (run,)), key=lambda texts: min(map(len, texts), default=0))


def _telling_part(operation: str, argument: Any) -> tuple[str, ...]:
    if operation == "SUBPATTERN" and not argument[1] & _CASELESS:
        return _telling(argument[-1])
    if operation == "BRANCH":
        branches = [_telling(branch) for branch in argument[1]]
        return tuple(text for texts in branches for text in texts) if all(branches) else ()
    return ()
