"""Tokens: a text in the words of its dialect, and the normal text of a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlglot import Token, TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from graph_model.sql.names import DIALECTS


def tokenize(text: str, dialect: str) -> list[Token]:
    """The tokens of a text; raises TokenError where a quote or a comment never ends.

    sqlglot's own reading takes what follows EXECUTE, CALL, DO and the like for one string, and in
    T-SQL the statements behind it.
    """
    if dialect == "athena":
        try:
            return tokenize(text, "trino")
        except TokenError:
            return tokenize(text, "hive")
    return list(_tokenizer(dialect)(dialect=dialect).tokenize(text))


@lru_cache(maxsize=64)
def _tokenizer(dialect: str) -> Any:
    own = Dialect.get_or_raise(dialect).tokenizer_class
    return type(f"All{own.__name__}", (own,), {"COMMANDS": set()})


def keyword(token: Token) -> str:
    """The word in capitals, or the sign; "" for a value and for a name in quotes: ``'DELETE'``."""
    is_none = token.token_type in _TEXTS or token.token_type is TokenType.IDENTIFIER
    return "" if is_none else token.text.upper()


def keywords(tokens: Sequence[Token]) -> list[str]:
    return [keyword(token) for token in tokens]


def closing(tokens: Sequence[Token], place: int) -> int:
    """The place of the bracket that closes the one at a place; the last place where none does."""
    depth = 0
    for at in range(place, len(tokens)):
        depth += (keyword(tokens[at]) == "(") - (keyword(tokens[at]) == ")")
        if depth == 0:
            return at
    return len(tokens) - 1


def normal_text(text: str, dialect: str) -> str:
    """The text of a statement without values, comments and layout, its keywords in capitals.

    ``select a from t where d in ('x', 'y') -- z`` => ``SELECT a FROM t WHERE d IN ( ? )``, so that
    statements which differ in values alone are one, and in rows of values: ``VALUES (1), (-2)`` =>
    ``VALUES ( ? )``. ``dialect`` is one of ``DIALECTS``.
    """
    return " ".join(normal_words(text, dialect))


def normal_words(text: str, dialect: str) -> list[str]:
    """The words of the normal text; a name in quotes is one word, without them."""
    try:
        tokens = tokenize(text, DIALECTS[dialect])
    except TokenError:
        return list(_rough_normal_words(text))
    words: list[str] = []
    for token in tokens:
        in_list = words[-1:] in _LISTED or (words[-1:] == ["-"] and words[-2:-1] in _LISTED)
        if token.token_type in _TEXTS or (token.token_type in _CONSTANTS and in_list):
            _add_value(words, in_list=in_list)
        elif token.token_type in _NAMED:
            words.append(token.text)
        else:
            words.append(token.text.upper())
            if words[-len(_ROWS) :] == _ROWS:
                del words[-4:]
    while words[-1:] == [";"]:
        words.pop()
    return words


def _rough_normal_words(text: str) -> Iterator[str]:
    """All from a quote on that never ends may be a value: names made of it would tell a secret."""
    for word in rough_words(text):
        is_open = word.text.startswith(("'", "$"))
        yield "?" if is_open or word.text[0].isdigit() else word.text
        if is_open:
            return


def _add_value(words: list[str], *, in_list: bool) -> None:
    if in_list and words[-1] == "-":
        words.pop()
    if words[-2:] == ["?", ","]:
        words.pop()
    else:
        words.append("?")


_TEXTS: Final = frozenset(
    {TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING,
     TokenType.NATIONAL_RAW_STRING, TokenType.BYTE_STRING, TokenType.UNICODE_STRING,
     TokenType.HEX_STRING, TokenType.BIT_STRING, TokenType.NUMBER, TokenType.PARAMETER}
)  # fmt: skip
_CONSTANTS: Final = frozenset({TokenType.NULL, TokenType.TRUE, TokenType.FALSE})
_NAMED: Final = frozenset({TokenType.IDENTIFIER, TokenType.VAR})
_LISTED: Final = (["("], [","])
_ROWS: Final = ["(", "?", ")", ",", "(", "?", ")"]


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
