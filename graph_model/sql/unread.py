"""What the parser cannot read: its tables, found among its words.

    SELECT a FROM hr.emp e FROB JOIN dept    reads hr.emp and dept

A name behind FROM, JOIN or USING is read, one behind INTO, UPDATE or INSERT OVERWRITE TABLE is
written; names of common table expressions and of functions are left out. No columns are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sqlglot import Token, TokenType, exp

from graph_model.sql.names import SqlNames

_READ: Final = frozenset({"FROM", "JOIN", "USING"})
_WRITTEN: Final = frozenset({"INTO", "UPDATE", "OVERWRITE", "MERGE", "TABLE", "VIEW"})
_BEFORE_NAMES: Final = frozenset({"IF", "NOT", "EXISTS", "INTO", "TABLE", "ONLY", "LATERAL"})
_AROUND: Final = frozenset({"INSERT", "CREATE", "MERGE", "OVERWRITE", "UPDATE"})
_NO_NAMES: Final = frozenset(
    {"SELECT", "WITH", "VALUES", "SET", "WHERE", "UNNEST", "(", ")", ",", ";", "", "ON", "AS"}
)
_TEXTS: Final = frozenset(
    {TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING,
     TokenType.NUMBER, TokenType.PARAMETER}
)  # fmt: skip


class Word(NamedTuple):
    """A word; a ``quoted`` name is no keyword, a ``literal`` neither."""

    text: str
    quoted: bool = False
    literal: bool = False

    @property
    def keyword(self) -> str:
        return "" if self.quoted or self.literal else self.text.upper()


def words_of(tokens: Sequence[Token]) -> list[Word]:
    return [
        Word(t.text, t.token_type is TokenType.IDENTIFIER, t.token_type in _TEXTS) for t in tokens
    ]


def rough_words(text: str) -> list[Word]:
    """The words of a text without tokens, as a quote in it never ends."""
    return [Word(word) for word in _WORD.findall(_COMMENT.sub(" ", text))]


# A comment that never ends goes to the end: else each /* of it would be looked at to the end.
_COMMENT: Final = re.compile(r"--[^\n]*|(?s:/\*.*?(?:\*/|\Z))|'[^'\n]*'")
_WORD: Final = re.compile(r"[\w$#@]+|[^\s\w]")


def tables(words: Sequence[Word], names: SqlNames) -> tuple[list[str], list[str]]:
    """(reads, writes): qualified names in the order of the words."""
    common = {
        words[place - 1].text.lower()
        for place in range(1, len(words) - 1)
        if words[place].keyword == "AS" and words[place + 1].text == "("
    }
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    written = False
    for place, word in enumerate(words):
        keyword = word.keyword
        written = (written or keyword in _AROUND) and keyword not in {";", "SELECT"}
        if keyword in _READ:
            among = reads
        elif keyword in _WRITTEN and written:
            among = writes
        else:
            continue
        parts = tuple(_name(words, place + 1))
        if parts and not (len(parts) == 1 and parts[0].this.lower() in common):
            among[names.table(exp.Table(**dict(zip(_PARTS, reversed(parts), strict=False))))] = None
    return list(reads), list(writes)


_PARTS: Final = ("this", "db", "catalog")


def _name(words: Sequence[Word], place: int) -> Iterator[exp.Identifier]:
    """The parts of the name that begins at a place; none where it is a call or no name."""
    while place < len(words) and words[place].keyword in _BEFORE_NAMES:
        place += 1
    start = place
    while place < len(words) and (place - start) % 2 == 0 and _is_name(words[place]):
        place += 1
        if place + 1 < len(words) and words[place].text == ".":
            place += 1
        else:
            break
    if place > start and not (place < len(words) and words[place].text == "("):
        for word in list(words[start:place:2])[-3:]:
            yield exp.to_identifier(word.text, quoted=word.quoted)


def _is_name(word: Word) -> bool:
    if word.literal or word.keyword in _NO_NAMES:
        return False
    return word.quoted or word.text[:1].isalpha() or word.text[:1] in {"_", "#"}
