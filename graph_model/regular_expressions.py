r"""Regular expressions of users, run by RE2: linear in the text, whatever the pattern.

part-[0-9]+    taken
(a+)+          taken: RE2 never goes back
(a)\1, (?=a)   refused: no engine without back-tracking has them
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Protocol

import re2  # type: ignore[import-untyped]

from graph_model.errors import InvalidDocument

LONGEST_MATCHED: Final = 1_024
"""Characters: ``match_whole`` finds nothing in a longer text."""
_MEMORY: Final = 1 << 20  # bytes that one compiled pattern may take
_GROUP: Final = re.compile(r"\\g<([A-Za-z_][A-Za-z0-9_]*)>")


class Groups(Protocol):
    """The named groups of a match; None for one that took no part in it."""

    def __getitem__(self, name: str, /) -> str | None: ...


def check_expression(pattern: str, path: str) -> None:
    """Raises InvalidDocument, naming ``path``, with the reason why RE2 refuses the pattern."""
    try:
        _compile(pattern)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else ""
        raise InvalidDocument(path, f"a regular expression that RE2 can run ({reason})") from None
    except UnicodeEncodeError:
        raise InvalidDocument(path, "a regular expression without lone surrogates") from None


def match_whole(pattern: str, text: str) -> Groups | None:
    """The groups of a pattern that fits a whole text; ``.`` stands for every character.

    None where it does not fit, for a text of more than ``LONGEST_MATCHED`` characters and for one
    that UTF-8 cannot spell (a lone surrogate).
    """
    if len(text) > LONGEST_MATCHED:
        return None
    try:
        match: Groups | None = _compile(pattern).fullmatch(text)
    except UnicodeEncodeError:
        return None
    return match


def expression_test(pattern: str, *, whole: bool) -> Callable[[str], bool]:
    """Whether a text of any length fits the pattern as a ``whole``, or holds a match of it.

    False for a text that UTF-8 cannot spell.
    """
    compiled = _compile(pattern)
    find = compiled.fullmatch if whole else compiled.search

    def fits(text: str) -> bool:
        try:
            return find(text) is not None
        except UnicodeEncodeError:
            return False

    return fits


def expand_groups(template: str, groups: Groups) -> str:
    r"""``\g<job>`` of a template becomes the text that the group matched, else nothing."""
    return _GROUP.sub(lambda match: groups[match[1]] or "", template)


def check_template(template: str, pattern: str, path: str) -> None:
    r"""Raises InvalidDocument for an escape other than ``\g<name>`` of a group of the pattern."""
    groups = _compile(pattern).groupindex
    if not set(_GROUP.findall(template)) <= set(groups) or "\\" in _GROUP.sub("", template):
        raise InvalidDocument(path, r"a text with \g<group> of the pattern")


def escape_text(text: str) -> str:
    """A pattern that fits this text alone."""
    escaped: str = re2.escape(text)
    return escaped


@lru_cache(maxsize=128)  # as many as RE2 keeps, which takes four times a match to find one again
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.dot_nl = True
    return re2.compile(pattern, options)
