"""Secrets in the column of a secret's name: statements that insert rows, and printed tables.

    INSERT INTO c (name, password) VALUES ('a', 'x')     user,password
    | user | password |                                  svc,x
    | svc  | x        |                                  |key        |value|
                                                         |db.password|x    |

Every line and every row is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from spark_agent_config.masking.names import NAME_LENGTH, is_secret_key
from spark_agent_config.masking.statements import arguments, literal
from spark_agent_config.masking.values import is_reference, is_strong, is_type

Span = tuple[int, int]


def columns(text: str) -> Iterator[Span]:
    """Where values stand in columns whose names are those of secrets."""
    if _INSERT.search(text):
        yield from _of_inserts(text)
    if "\n" in text and ("|" in text or "," in text):
        yield from _of_lines(text)


# --- rows of a statement -------------------------------------------------------------------------

_INSERT: Final = re.compile(
    r"(?i)\b(?:insert|upsert|replace)\s{1,8}(?:overwrite|into)\s[^()\n;]{1,256}"
    r"\((?P<names>[^()]{1,2048})\)\s{0,16}values\s{0,16}(?=\()"
)
_MOST_ROWS: Final = 1_000


def _of_inserts(text: str) -> Iterator[Span]:
    for insert in _INSERT.finditer(text):
        names = [name.strip(" \t\r\n\"'`[]\\") for name in insert["names"].split(",")]
        secret = [at for at, name in enumerate(names) if is_secret_key(name[:NAME_LENGTH])]
        row = insert.end()
        for _ in range(_MOST_ROWS if secret else 0):
            given = list(arguments(text, row + 1))
            held = [literal(text, *given[at]) for at in secret if at < len(given)]
            yield from (span for span in held if span and _is_secret(text[slice(*span)]))
            following = _NEXT_ROW.match(text, given[-1][1]) if given else None
            if following is None:
                break
            row = following.end() - 1


_NEXT_ROW: Final = re.compile(r"\)\s{0,16},\s{0,16}\(")


def _is_secret(value: str) -> bool:
    return not (is_reference(value) or is_type(value) or value.lower() in _NO_SECRETS)


_NO_SECRETS: Final = frozenset({"yes", "no", "true", "false", "y", "n", "null", "none", "-", "?"})

# --- printed tables ------------------------------------------------------------------------------

_LINE: Final = re.compile(r"[^\n]+")
_ROW: Final = re.compile(r"[ \t]{0,8}\|[^\n]{1,4096}\|[ \t\r]{0,8}")
_RULE: Final = re.compile(r"[ \t]{0,8}[+|\-: \t=]+")
_HEADER: Final = re.compile(r"[\w.\-]{1,64}(?:,[\w.\-]{1,64}){1,32}")
_KEYS: Final = frozenset({"key", "name", "property", "setting", "option", "conf", "parameter"})
_VALUES: Final = frozenset({"value", "val", "default", "current"})


def _of_lines(text: str) -> Iterator[Span]:
    header: list[str] = []
    for line in _LINE.finditer(text):
        shown = line.group()
        if _RULE.fullmatch(shown):
            continue
        sign = "|" if _ROW.fullmatch(shown) else ","
        cells = list(_cells(shown, sign, line.start()))
        names = [text[slice(*cell)].lower() for cell in cells]
        if len(cells) != len(header):
            is_header = sign == "|" or _HEADER.fullmatch(shown)
            header = names if is_header else []
            continue
        for at, (cell, name) in enumerate(zip(cells, header, strict=True)):
            value = text[slice(*cell)]
            keyed = at and header[at - 1] in _KEYS and name in _VALUES and _names(names[at - 1])
            holds = is_strong(value) if sign == "," else value and _is_secret(value)
            if holds and (keyed or _names(name)):
                yield cell


def _names(name: str) -> bool:
    return len(name) <= NAME_LENGTH and is_secret_key(name)


def _cells(line: str, sign: str, start: int) -> Iterator[Span]:
    """Where the cells stand, without the blanks around them."""
    places = [place for place, character in enumerate(line) if character == sign]
    if sign == ",":
        places = [-1, *places, len(line)]
    for first, last in pairwise(places):
        cell = line[first + 1 : last]
        yield (
            start + first + 1 + len(cell) - len(cell.lstrip()),
            start + first + 1 + len(cell.rstrip()),
        )
