r"""Whether two locations of files share data: a function of their URIs alone.

A folder holds what lies below it, a pattern what it matches and what lies below that. A pattern is
read as Hadoop reads it, but for a folder that only a part of an alternative with ``/`` names:

    s3://land/in/orders_*.csv    holds s3://land/in/orders_1.csv, lies in s3://land/in
    s3://land/*/x.csv            shares data with the folder s3://land/in
    s3://land/in/*_1.csv         two patterns meet only in a location that both match

``*`` and ``?`` match no ``/``; ``[a-c]``, ``[^a]``, ``{a,b}`` and ``\*`` are as in Hadoop. What
Hadoop refuses matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from graph_model.errors import InvalidDocument
from graph_model.naming.rules import DEFAULT_RULES
from graph_model.regular_expressions import check_expression, escape_text, expression_test

#: The folders above a location that count, nearest first: a store's own paths are far shorter.
MOST_FOLDERS: Final = 64
_LONGEST_PATTERN: Final = 2_048  # characters: a longer pattern matches nothing
_SPECIAL: Final = re.compile(r"[*?\[{\\]")
_CLASS: Final = re.compile(r"\[([\^!]?)(\]?(?:[^\]\\]|\\.)*)\]", re.DOTALL)
_IN_CLASS: Final = re.compile(r"\\(.)|([^-])", re.DOTALL)

_Test = Callable[[str], bool]


class Location(NamedTuple):
    """A canonical URI of a file, a folder or a pattern."""

    uri: str
    is_pattern: bool


def literal_prefix(pattern: str) -> str:
    """The text that all matches begin with: ``s3://b/in/a*.csv`` => ``s3://b/in/a``."""
    found = _SPECIAL.search(pattern)
    return pattern[: found.start()] if found else pattern


def begins(location: Location) -> str:
    """The text that the URIs of all locations begin with that this one holds, but for its own."""
    if location.is_pattern:
        return literal_prefix(location.uri)
    return location.uri.rstrip("/") + "/"


def folders_above(location: Location) -> tuple[str, ...]:
    """The folders that hold all of a location, nearest first.

    ``s3://b/in/a*.csv`` => ``s3://b/in``, ``s3://b``; ``file:/in`` => ``file:/``
    """
    text = literal_prefix(location.uri) if location.is_pattern else location.uri
    base = _base(text)
    *above, _ = text[len(base) :].split("/")
    if len(text) <= len(base) and not location.is_pattern:
        return ()  # the store itself
    root = base if base.endswith(":/") else base.removesuffix("/")
    below = [base + path for path in accumulate(above, lambda path, name: f"{path}/{name}")]
    return tuple([*reversed(below), root][:MOST_FOLDERS]) if root else tuple(reversed(below))


def holds(outer: Location, inner: Location) -> bool:
    """Whether one location holds all of another one."""
    if outer == inner:
        return True
    if outer.is_pattern:
        return not inner.is_pattern and _tests(outer.uri)[0](inner.uri)
    text = literal_prefix(inner.uri) if inner.is_pattern else inner.uri
    return text.startswith(begins(outer))


def meets(one: Location, other: Location) -> bool:
    """Whether two locations may share a file."""
    if one.is_pattern and other.is_pattern:
        return one == other
    if holds(one, other) or holds(other, one):
        return True
    pattern, place = (one, other) if one.is_pattern else (other, one)
    return pattern.is_pattern and not _is_file(place.uri) and _tests(pattern.uri)[1](place.uri)


def _is_file(uri: str) -> bool:
    """Whether a name is that of a single file rather than of a folder with matches below."""
    return uri.lower().endswith(DEFAULT_RULES.data_file_suffixes)


def _base(text: str) -> str:
    """The text before the first segment of a path: ``s3://b/``, ``file:/``; "" without one."""
    scheme, colon, rest = text.partition(":")
    if not colon or not rest.startswith("/"):
        return ""
    if not rest.startswith("//"):
        return f"{scheme}:/"
    authority = rest[2:].partition("/")[0]
    return f"{scheme}://{authority}/"


# --- what a pattern matches ----------------------------------------------------------------------


@lru_cache(maxsize=1_024)
def _tests(pattern: str) -> tuple[_Test, _Test]:
    """Whether a pattern holds a URI; and whether the URI is a folder that may hold a match of it,
    or one that it holds.
    """
    segments = _segments(pattern) if len(pattern) <= _LONGEST_PATTERN else None
    if segments is None:
        return _never, _never
    whole = "/".join(segments) + "(?:/.*)?"
    partly = ""
    for segment in reversed(segments):
        partly = f"{segment}(?:/{partly})?" if partly else f"{segment}(?:/.*)?"
    return _test(whole), _test(partly)


def _test(expression: str) -> _Test:
    try:
        check_expression(expression, "pattern")
    except InvalidDocument:
        return _never
    return expression_test(expression, whole=True)


def _never(_: str) -> bool:
    return False


def _segments(pattern: str) -> list[str] | None:
    """The regular expression of each segment of a path; None for a pattern that Hadoop refuses."""
    segments: list[list[str]] = [[]]
    place = depth = 0
    while place < len(pattern):
        character, place = pattern[place], place + 1
        if character == "\\":
            if place == len(pattern):
                return None
            segments[-1].append(escape_text(pattern[place]))
            place += 1
        elif character == "[":
            found = _CLASS.match(pattern, place - 1)
            if found is None:
                return None
            segments[-1].append(_class(found))
            place = found.end()
        elif character == "/" and not depth:
            segments.append([])
        else:
            depth += character == "{"
            segments[-1].append(_expression(character, depth))
            depth -= character == "}" and depth > 0
    return None if depth else ["".join(parts) for parts in segments]


def _expression(character: str, depth: int) -> str:
    """``depth``: the alternatives around the character, its own braces among them."""
    if character == "*":
        return "[^/]*"
    if character == "?":
        return "[^/]"
    inside = {"{": "(?:", "}": ")", ",": "|"} if depth else {}
    return inside.get(character) or escape_text(character)


def _class(found: re.Match[str]) -> str:
    """``[!a-c]`` => ``[^/a-c]``: no class matches a ``/``."""
    inner = _IN_CLASS.sub(lambda one: escape_text(one[1] or one[2]), found[2])
    return f"[^/{inner}]" if found[1] else f"[{inner}]"
