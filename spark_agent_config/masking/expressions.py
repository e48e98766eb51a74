"""The values of an expression behind a secret's name: code and lists, whose words name no secret.

    password = os.environ.get("X") or "x"      const key = process.env.KEY ?? 'x'
    passwords = {"dev": "x", "prod": "y"}      USER, PASSWORD = "u", "x"
    api_keys: [x, y]                           let password = String::from("x")

The argument of a call and an index name something (``get("db-password")``), unless the call only
makes a value of its argument. Read are the next 512 characters, up to the end of the statement.
"""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 512
# Behind the name: password: str =   passwords[] =   apiKeys:   credentials <-
_ASSIGNED: Final = re.compile(
    r"\\{0,3}[\"'`]?\]?(?:\s{0,4}:\s{0,4}[A-Za-z_][\w.\[\], <>]{0,64}(?==))?"
    r"(?:\s{0,4}:?=(?![=>~])\s{0,4}|\s{0,4}<-\s{0,4}|(?P<colon>:[ \t]{0,8}))"
)
_ITEMS: Final = re.compile(r"(?:\n[ \t]{0,32}-[ \t]{1,8}[^\n]{1,256}){1,32}")
_ITEM: Final = re.compile(r"-[ \t]{1,8}[\"']?([^\s\"',]{1,256})")
_FLOW_LIST: Final = re.compile(r"\[([^\[\]\n\"'(){}]{1,512})\]")
_WORD: Final = re.compile(r"[^\s,]{1,256}")
_SIGN: Final = re.compile(r"[\"'`(){}\[\],;\n]")
# Calls that make a value of their argument.
_MAKERS: Final = frozenset({
    "from", "fromhex", "b64decode", "a85decode", "unhexlify", "some", "option", "string", "str",
    "bytes", "bytearray", "list", "set", "tuple", "array", "aslist", "of", "seq", "map", "vec",
    "securestring", "secretstr", "secret", "just", "text",
})  # fmt: skip
_HOLDER: Final = re.compile(r"\w{0,64}(?:sensitive|secret|credentials?|password)\Z")
# What stands between a value and the one before it: "or", "||", a comma …
_LEADS: Final = re.compile(
    r"(?:\A|[(\[{,?+]|\|\||\bor|\belse|\breturn|\blambda:|\s:|=>|->)\s{0,8}\Z"
)
_KEY_LEADS: Final = re.compile(r"(?::|=>|->|=)\s{0,8}\Z")
_PREFIX: Final = re.compile(r"[bBrRuUfF@]{1,2}\Z")
_OF_A_KEY: Final = re.compile(r"\s{0,4}(?::|=)")


def values(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Where the texts of the expression stand that is given to the name which ends at ``start``,
    and where what was read ends.
    """
    assigned = _ASSIGNED.match(text, start)
    if assigned is None:
        return [], start
    first = assigned.end()
    if listed := _ITEMS.match(text, first):
        return [one.span(1) for one in _ITEM.finditer(text, first, listed.end())], listed.end()
    if flow := _FLOW_LIST.match(text, first):
        return [word.span() for word in _WORD.finditer(text, *flow.span(1))], flow.end()
    if assigned["colon"] is None or text.startswith(("[", "(", "{"), first):
        return _literals(text, first)
    return [], first


def _literals(text: str, first: int) -> tuple[list[tuple[int, int]], int]:
    """The literals of code that are values of the expression, not names in it; and its end."""
    stop = min(len(text), first + _LONGEST)
    held: list[tuple[int, int]] = []
    holding: list[bool] = []  # for each open bracket: whether its items are values
    place = behind = first
    while sign := _SIGN.search(text, place, stop):
        mark, place = sign.group(), sign.end()
        if mark in _QUOTES:
            end = text.find(mark, place, stop)
            if end < 0:
                break
            if all(holding) and _is_value(text, behind, sign.start(), end, bool(holding)):
                held.append((place, end))
            place = behind = end + 1
        elif mark in "([{":
            called = _called(text, first, sign.start())
            holding.append(called is None or _makes_value(called))
            behind = sign.start()
        elif mark in ")]}":
            if not holding:
                break
            holding.pop()
        elif mark == "," or holding:
            behind = sign.start()
        else:
            break
    return held, place


_QUOTES: Final = "\"'`"


def _makes_value(called: str) -> bool:
    """``String::from("x")``, ``Sensitive("x")``; not ``get_secret("name")``."""
    name = called.lower()
    return name in _MAKERS or (called[:1].isupper() and _HOLDER.match(name) is not None)


def _called(text: str, first: int, opener: int) -> str | None:
    """The word that a bracket touches; "" for another value, None for nothing."""
    if opener == first or not (text[opener - 1].isalnum() or text[opener - 1] in "_)]!"):
        return None
    found = _TOUCHING.search(text, max(first, opener - 64), opener)
    return found.group(1) if found else ""


_TOUCHING: Final = re.compile(r"(?<!\w)(\w{1,64})!?\Z")


def _is_value(text: str, behind: int, quote: int, end: int, nested: bool) -> bool:
    """Whether a literal follows a sign that gives values, and is no key itself."""
    if _OF_A_KEY.match(text, end + 1):
        return False
    before = _PREFIX.sub("", text[max(behind, quote - 64) : quote])
    return _LEADS.search(before) is not None or (nested and _KEY_LEADS.search(before) is not None)
