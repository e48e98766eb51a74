"""SQL text -> statements, in a number of steps that follows from its length.

sqlglot's parser backtracks. In ``a join a join a join a`` without conditions every table doubles
the work: 40 of them would take a day. The bound counts steps instead of time, so that the same
query has the same tables on every machine. The parser's own bound, ``max_nodes``, sees none of the
work that ``select ( union ( union (`` makes: it ends before a node is made. So the parser is given
tokens that count how often it looks at them; without a look at a token it makes no step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect

_LOOKS_PER_TOKEN: Final = 200  # real queries take ten to thirty
_TOKENS_OF_A_SHORT_QUERY: Final = 50


def parse(query: str, dialect: str) -> list[exp.Expr | None]:
    """The statements of a text; ``dialect`` is sqlglot's name, "" for none.

    Raises any error of sqlglot, and RuntimeError after too many steps.
    """
    language = Dialect.get_or_raise(dialect or None)
    tokens = language.tokenize(query)
    looks = _Looks(_LOOKS_PER_TOKEN * (len(tokens) + _TOKENS_OF_A_SHORT_QUERY))
    return language.parser().parse([_CountedToken(token, looks) for token in tokens], query)


@dataclass(slots=True)
class _Looks:
    """The number of looks at the tokens of one text that are left."""

    left: int


class _CountedToken(Token):
    """A token that takes one from ``looks`` whenever its type is read."""

    __slots__ = ("_looks", "_type")

    def __init__(self, token: Token, looks: _Looks) -> None:
        self._looks = looks
        super().__init__(
            token.token_type, token.text, token.line, token.col, token.start, token.end,
            token.comments,
        )  # fmt: skip

    @property
    def token_type(self) -> TokenType:
        """Raises RuntimeError where no look is left."""
        self._looks.left -= 1
        if self._looks.left < 0:
            raise RuntimeError("the parser went back too often")
        return self._type

    @token_type.setter
    def token_type(self, value: TokenType) -> None:
        self._type = value
