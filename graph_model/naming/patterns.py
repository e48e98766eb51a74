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
_OPEN: Final = 1_024
"""Ways of one open repeat: the longest text that is matched (jobs._LONGEST_MATCHED)."""
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
