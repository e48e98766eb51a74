"""SQL text -> tokens -> statements, in a number of steps that follows from its length.

sqlglot's parser backtracks. In ``a join a join a join a`` without conditions every table doubles
the work: 40 of them would take a day. The bound counts steps instead of time, so that the same
query has the same tables on every machine. The parser's own bound, ``max_nodes``, sees none of the
work that ``select ( union ( union (`` makes: it ends before a node is made. So the parser is given
tokens that count how often it looks at them; without a look at a token it makes no step.

The tables of a statement that the parser cannot read are found among its words:

    SELECT a FROM hr.emp e FROB JOIN dept    reads hr.emp and dept

A name behind FROM, JOIN or USING is read, one behind INTO, UPDATE or INSERT OVERWRITE TABLE is
written, and one behind ALTER TABLE where another table is read; names of common table expressions
and of functions are left out. No columns are found.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise
from typing import Final, TypeVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect

from graph_model.sql.names import SqlNames
from graph_model.sql.respelling import EVOLVING, respelled
from graph_model.sql.scopes import StatementTooLarge
from graph_model.sql.tokens import Word, keyword, keywords

# Its warnings quote statements, literals included.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_LOOKS_PER_TOKEN: Final = 200  # real queries take ten to thirty
_TOKENS_OF_A_SHORT_QUERY: Final = 50
_MOST_CALLS_ON_CALLS: Final = 200  # f(a).g(b).h(c): the parser copies what stands before each dot
_MOST_SELECTING_PIPES: Final = 50  # |> SELECT …: the parser copies all the pipes before
_MOST_JOINED_ARRAYS: Final = 1_000  # ARRAY JOIN a, b: the parser numbers all of them for each


def parse(query: str, dialect: str) -> list[exp.Expr | None]:
    """The statements of a text; ``dialect`` is sqlglot's name, "" for none.

    Raises any error of sqlglot, and RuntimeError after too many steps.
    """
    return _parsed(Dialect.get_or_raise(dialect or None).tokenize(query), query, dialect)


_Result = TypeVar("_Result")


def on_own_stack(work: Callable[[], _Result]) -> _Result:
    """The parser recurses, and the depth that it has must not depend on the caller's: the same text
    has the same tables in a web request and in a batch job. ``work`` must not raise.
    """
    made: list[_Result] = []
    worker = threading.Thread(target=lambda: made.append(work()))
    worker.start()
    worker.join()
    return made[0]


def parse_tokens(tokens: Sequence[Token], text: str, dialect: str) -> exp.Expr | None:
    """The one statement that some tokens of a text are; raises as :func:`parse` does, and
    DynamicName for ``IDENTIFIER(:name)``.
    """
    if dialect == "athena" and tokens:  # its DDL is Hive's, which its own reading tells
        own = _in_double_quotes(tokens, text[tokens[0].start : tokens[-1].end + 1])
        return next(iter(parse(own, dialect)), None)
    trees = _parsed(respelled(tokens, dialect), text, dialect)
    tree = trees[0] if len(trees) == 1 else None
    if tree is not None and keywords(tokens[:4]) == EVOLVING.split():
        tree.meta[EVOLVES] = True
    return tree


EVOLVES: Final = "evolves"
"""The mark of a MERGE that adds the columns of its source to its target."""


def _in_double_quotes(tokens: Sequence[Token], text: str) -> str:
    """SELECT a FROM `t`, which only DDL of Athena has: a name in quotes, nevertheless."""
    if tokens[0].text.upper() in _DEFINING or any(
        "`" in token.text for token in tokens if token.token_type is TokenType.STRING
    ):
        return text
    return text.replace("`", '"')


_DEFINING: Final = frozenset({"CREATE", "ALTER", "DROP", "MSCK", "SHOW", "DESCRIBE"})


def _parsed(tokens: Sequence[Token], text: str, dialect: str) -> list[exp.Expr | None]:
    if _calls_on_calls(tokens) > _MOST_CALLS_ON_CALLS:
        raise RuntimeError("too many calls on the values of calls")
    if _selecting_pipes(tokens) > _MOST_SELECTING_PIPES:
        raise StatementTooLarge
    if dialect == "clickhouse" and _joined_arrays(tokens) > _MOST_JOINED_ARRAYS:
        raise RuntimeError("too many arrays joined")
    looks = _Looks(_LOOKS_PER_TOKEN * (len(tokens) + _TOKENS_OF_A_SHORT_QUERY))
    parser = Dialect.get_or_raise(dialect or None).parser()
    return parser.parse([_CountedToken(token, looks) for token in tokens], text)


def _calls_on_calls(tokens: Sequence[Token]) -> int:
    """The number of ``).name(`` and ``].name(``."""
    return sum(
        token.text == "." and tokens[place - 1].text in {")", "]"} and tokens[place + 2].text == "("
        for place, token in enumerate(tokens[:-2])
        if place
    )


def _selecting_pipes(tokens: Sequence[Token]) -> int:
    """The number of ``|> SELECT``, which SET, DROP and RENAME are by now, too."""
    return sum(
        token.text == "|>" and keywords(tokens[place + 1 : place + 2]) == ["SELECT"]
        for place, token in enumerate(tokens)
    )


def _joined_arrays(tokens: Sequence[Token]) -> int:
    """The number of commas behind an ARRAY JOIN, those of calls and later clauses, too."""
    words = map(keyword, tokens)
    behind = dropwhile(lambda pair: pair != ("ARRAY", "JOIN"), pairwise(words))
    return sum(word == "," for word, _ in behind)


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


_READ: Final = frozenset({"FROM", "JOIN", "USING"})
_WRITTEN: Final = frozenset({"INTO", "UPDATE", "OVERWRITE", "MERGE", "TABLE", "VIEW"})
_BEFORE_NAMES: Final = frozenset({"IF", "NOT", "EXISTS", "INTO", "TABLE", "ONLY", "LATERAL"})
_AROUND: Final = frozenset({"INSERT", "CREATE", "MERGE", "OVERWRITE", "UPDATE", "ALTER"})
_NO_NAMES: Final = frozenset(
    {"SELECT", "WITH", "VALUES", "SET", "WHERE", "UNNEST", "(", ")", ",", ";", "", "ON", "AS"}
)


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
        before = words[place - 1].keyword if place else ""
        if keyword in _READ:
            among = writes if (before, keyword) == ("DELETE", "FROM") else reads
        elif keyword in _WRITTEN and written:
            among = writes
        else:
            continue
        parts = tuple(_name(words, place + 1))
        if parts and not (len(parts) == 1 and parts[0].this.lower() in common):
            among[names.table(exp.Table(**dict(zip(_PARTS, reversed(parts), strict=False))))] = None
    if not reads and words and words[0].keyword == "ALTER":  # t gets no rows of another table
        writes.clear()
    return list(reads), list(writes)


_PARTS: Final = ("this", "db", "catalog")


def _name(words: Sequence[Word], place: int) -> Iterator[exp.Identifier]:
    """The parts of the name that begins at a place; none where it is a call or no name."""
    while place < len(words) and words[place].keyword in _BEFORE_NAMES:
        place += 1
    parts: list[Word] = []
    while place < len(words) and words[place].text != "#":  # a temporary table
        in_brackets = [word.text for word in words[place : place + 3 : 2]] == ["[", "]"]
        part = words[place + in_brackets]
        if not _is_name(part):
            return
        parts.append(part._replace(quoted=part.quoted or in_brackets))
        place += 3 if in_brackets else 1
        if place + 1 >= len(words) or words[place].text != ".":
            break
        place += 1
    if not (place < len(words) and words[place].text == "("):
        for part in parts[-3:]:
            yield exp.to_identifier(part.text, quoted=part.quoted)


def _is_name(word: Word) -> bool:
    if word.literal or word.keyword in _NO_NAMES:
        return False
    return word.quoted or word.text[:1].isalpha() or word.text[:1] in {"_", "#"}
