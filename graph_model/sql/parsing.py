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
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, pairwise
from typing import Any, Final, NamedTuple, TypeVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from graph_model.sql.names import DIALECTS, SqlNames

_LOOKS_PER_TOKEN: Final = 200  # real queries take ten to thirty
_TOKENS_OF_A_SHORT_QUERY: Final = 50
_MOST_CALLS_ON_CALLS: Final = 200  # f(a).g(b).h(c): the parser copies what stands before each dot
_MOST_JOINED_ARRAYS: Final = 1_000  # ARRAY JOIN a, b: the parser numbers all of them for each


class DynamicName(Exception):
    """A name is put together when the statement runs: ``tokens`` without what makes it."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__()
        self.tokens = tokens


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
    trees = _parsed(_respelled(tokens, dialect), text, dialect)
    tree = trees[0] if len(trees) == 1 else None
    if tree is not None and _keywords(tokens[:4]) == _EVOLVING:
        tree.meta[EVOLVES] = True
    return tree


EVOLVES: Final = "evolves"
"""The mark of a MERGE that adds the columns of its source to its target."""
_EVOLVING: Final = ["MERGE", "WITH", "SCHEMA", "EVOLUTION"]


def _in_double_quotes(tokens: Sequence[Token], text: str) -> str:
    """SELECT a FROM `t`, which only DDL of Athena has: a name in quotes, nevertheless."""
    if tokens[0].text.upper() in _DEFINING or any(
        "`" in token.text for token in tokens if token.token_type is TokenType.STRING
    ):
        return text
    return text.replace("`", '"')


_DEFINING: Final = frozenset({"CREATE", "ALTER", "DROP", "MSCK", "SHOW", "DESCRIBE"})


def _respelled(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """Forms that sqlglot does not read, in ones that it reads."""
    if dialect in _WITH_IDENTIFIERS:
        tokens = _with_names(tokens, dialect)
    tokens = _without_colons(tokens)
    words = _keywords(tokens[:5])
    if dialect in _COMPOUND:
        tokens = _with_short_output(_without_bulk(_without_ties(tokens)))
    if dialect in _PIPED:
        tokens = _with_selecting_pipes(tokens, dialect)
    if words[:3] == ["APPLY", "CHANGES", "INTO"]:
        return _as_insert(tokens, dialect)
    if words[:1] == ["CREATE"] and dialect == "postgres":
        tokens = _without_data(tokens)
    if words[:1] == ["CREATE"] and dialect == "databricks":
        tokens = _with_checks(tokens, dialect)
    if words[:1] == ["UPDATE"] and dialect == "teradata":
        return _with_alias_before_set(tokens, dialect)
    if words[:1] == ["MERGE"] and dialect == "postgres":
        return _without_overriding(tokens)
    if words[:3] == ["DELETE", "FROM", "TABLE"] and words[3:4] not in _BEHIND_TABLES:
        return [*tokens[:2], *tokens[3:]]
    if words[:3] == ["CREATE", "SNAPSHOT", "TABLE"]:
        return [tokens[0], *_cloned(tokens, dialect)[2:]]
    if words[:1] == ["CREATE"]:
        tokens = _cloned(tokens, dialect)
    if words[:1] == ["CREATE"] and dialect == "mysql":
        return _without_duplicates(tokens)
    if words[:1] == ["CREATE"] and dialect == "duckdb":
        return _with_query(tokens, dialect)
    if words[:1] == ["MERGE"] and dialect == "oracle":
        return _with_deletion(tokens, dialect)
    if words[:2] == ["UPDATE", "("]:
        return _with_alias(tokens, dialect)
    if words[:4] == _EVOLVING:
        return [tokens[0], *tokens[4:]]
    if words[:2] == ["ALTER", "TABLE"] and dialect == "clickhouse":
        return _as_mutation(tokens, dialect)
    if words[:1] == ["REPLACE"]:  # REPLACE INTO t SELECT …
        return [_as(tokens[0], TokenType.INSERT), *tokens[1:]]
    if words[:3] == ["CREATE", "OR", "ALTER"]:
        return [*tokens[:2], _as(tokens[2], TokenType.REPLACE), *tokens[3:]]
    if dialect in _SCRIPTED:
        tokens = _with_transforms(tokens, dialect)
    if dialect == "teradata":
        tokens = _without_phrases(tokens)
    if words[:1] == ["SELECT"]:
        tokens = _without_variables(tokens, dialect)
    if words[:1] == ["INSERT"] and "DIRECTORY" in words:
        return _without_format(tokens, words.index("DIRECTORY") + 2)
    if words[:1] == ["MERGE"] and _keywords(tokens[-2:]) == ["REMOVE", "DUPLICATES"]:
        return [*tokens[:-2], *tokenize(_UPSERT, dialect)]
    if dialect in _COMPOUND and words[:1] in _CHANGES:
        return _with_from(_spelled_out(_without_top(_without_hints(tokens))))
    return tokens


def _cloned(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``CREATE TABLE t DEEP CLONE s VERSION AS OF 3`` => ``CREATE TABLE t CLONE s``; a table may
    have the name ``clone`` or ``deep``.
    """
    words = _keywords(tokens[:30])
    if dialect not in _CLONING or "TABLE" not in words[:8]:
        return tokens
    start = words.index("TABLE") + 1
    start += 3 if words[start : start + 3] == ["IF", "NOT", "EXISTS"] else 0
    end = _behind_name(words, start)
    kept = end + (words[end : end + 1] == ["DEEP"])  # sqlglot knows SHALLOW alone
    clone = kept + (words[kept : kept + 1] == ["SHALLOW"])
    if words[clone : clone + 1] != ["CLONE"]:
        return tokens
    return [*tokens[:end], *tokens[kept : _behind_name(words, clone + 1)]]


def _behind_name(words: Sequence[str], place: int) -> int:
    """The place behind the name ``a-b.c.d`` that begins at a place."""
    while words[place + 1 : place + 2] in (["."], ["-"]):
        place += 2
    return place + 1


def _without_bulk(tokens: Sequence[Token]) -> Sequence[Token]:
    """``OPENROWSET(BULK 'path', …)`` => ``OPENROWSET('path', …)``."""
    words = _keywords(tokens)
    if "BULK" not in words:
        return tokens
    return [t for p, t in enumerate(tokens) if words[p - 2 : p + 1] != ["OPENROWSET", "(", "BULK"]]


def _with_selecting_pipes(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``|> SET a = b + 1`` => ``|> SELECT * REPLACE (b + 1 AS a)``; DROP and RENAME, too."""
    made: list[Token] = []
    place = 0
    while place < len(tokens):
        clause = _PIPES.get(keyword(tokens[place])) if keyword(tokens[place - 1]) == "|>" else None
        if not clause:
            made.append(tokens[place])
            place += 1
            continue
        end = _behind_pipe(tokens, place)
        given = tokens[place + 1 : end]
        if keyword(tokens[place]) == "SET":
            given = _named_behind(given, dialect)
        made += [*tokenize(f"SELECT * {clause} (", dialect), *given, *tokenize(")", dialect)]
        place = end
    return made


_PIPED: Final = frozenset({"bigquery", "spark", "databricks"})
_PIPES: Final = {"SET": "REPLACE", "DROP": "EXCEPT", "RENAME": "RENAME"}


def _behind_pipe(tokens: Sequence[Token], place: int) -> int:
    """The place of the next ``|>``, or of what ends the query."""
    depth = 0
    for at in range(place, len(tokens)):
        depth += (keyword(tokens[at]) == "(") - (keyword(tokens[at]) == ")")
        if depth < 0 or (depth == 0 and keyword(tokens[at]) in {"|>", ";"}):
            return at
    return len(tokens)


def _named_behind(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``a = b + 1, c = d`` => ``b + 1 AS a, d AS c``."""
    made: list[Token] = []
    depth, start = 0, 0
    for at in range(len(tokens) + 1):
        word = keyword(tokens[at]) if at < len(tokens) else ","
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == ",":
            made += [*tokens[start + 2 : at], *tokenize("AS", dialect), *tokens[start : start + 1]]
            made += tokens[at : at + 1]
            start = at + 1
    return made


def _as_insert(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``APPLY CHANGES INTO t FROM s KEYS (a) … COLUMNS * EXCEPT (b)`` => ``INSERT INTO t BY NAME
    SELECT * EXCEPT (b) FROM s``.
    """
    words = _keywords(tokens)
    if "FROM" not in words or "KEYS" not in words:
        return tokens
    source = words.index("FROM")
    columns = words.index("COLUMNS") + 1 if "COLUMNS" in words else len(words)
    ends = (at for at in range(columns, len(words)) if words[at] in {"STORED", "TRACK", ";"})
    listed = tokens[columns : next(ends, len(words))] or tokenize("*", dialect)
    into, select = tokenize("INSERT INTO", dialect), tokenize("BY NAME SELECT", dialect)
    of = tokens[source : words.index("KEYS", source)]
    return [*into, *tokens[3:source], *select, *listed, *of]


def _without_data(tokens: Sequence[Token]) -> Sequence[Token]:
    """``CREATE MATERIALIZED VIEW v AS … WITH NO DATA`` => ``CREATE MATERIALIZED VIEW v AS …``."""
    words = _keywords(tokens)
    for end in (["WITH", "DATA"], ["WITH", "NO", "DATA"]):
        if words[1] == "MATERIALIZED" and words[-len(end) :] == end:
            return tokens[: -len(end)]
    return tokens


def _with_checks(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``CONSTRAINT c EXPECT (a > 0) ON VIOLATION DROP ROW`` => ``CONSTRAINT c CHECK (a > 0)``."""
    words = _keywords(tokens)
    made: list[Token] = []
    place = 0
    while place < len(tokens):
        if words[place : place + 2] == ["ON", "VIOLATION"]:
            place += 4
        elif words[place] == "EXPECT" and words[place - 2 : place - 1] == ["CONSTRAINT"]:
            made += tokenize("CHECK", dialect)
            place += 1
        else:
            made.append(tokens[place])
            place += 1
    return made


def _with_alias_before_set(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``UPDATE t FROM s SET …`` => ``UPDATE t FROM s AS s SET …``, where SET would be the alias."""
    words = _keywords(tokens)
    place = words.index("SET") if "SET" in words else 0
    if words[place - 2 : place - 1] not in (["FROM"], [","], ["."]):
        return tokens
    return [*tokens[:place], *tokenize("AS", dialect), tokens[place - 1], *tokens[place:]]


def _without_overriding(tokens: Sequence[Token]) -> Sequence[Token]:
    """``INSERT (a) OVERRIDING SYSTEM VALUE VALUES (…)`` => ``INSERT (a) VALUES (…)``."""
    words = _keywords(tokens)
    gone = {at for at in range(len(words)) if words[at] == "OVERRIDING" and words[at - 1] == ")"}
    return [t for p, t in enumerate(tokens) if not gone & {p, p - 1, p - 2}]


_CLONING: Final = frozenset({"bigquery", "databricks", "snowflake", "spark"})


def _with_names(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``FROM IDENTIFIER('s.' || 't')`` => ``FROM s.t``; ``INTO identifier (a, b)`` is a table."""
    if not any(token.text.upper() == "IDENTIFIER" for token in tokens):
        return tokens
    named: list[Token] = []
    opened: list[int] = []  # the places in ``named`` of the brackets that no bracket closed yet
    comma, dynamic = -1, False
    for token in tokens:
        word = keyword(token)
        if word == "(":
            opened.append(len(named))
        elif word == ",":
            comma = len(named)
        elif word == ")" and opened:
            start = opened.pop()
            if _keywords(named[max(start - 1, 0) : start]) == ["IDENTIFIER"] and comma < start:
                texts = named[start + 1 :]
                del named[start + 1 :]
                if _are_texts(texts):
                    written = "".join(part.text for part in texts[::2])
                    named[start - 1 :] = tokenize(written, dialect)
                    continue
                dynamic = True  # a call without arguments is no table
        named.append(token)
    if dynamic:
        raise DynamicName(named)
    return named


def _are_texts(tokens: Sequence[Token]) -> bool:
    """Whether all are parts of a name: ``'s.' || 't'``."""
    return all(
        part.token_type is (TokenType.DPIPE if odd % 2 else TokenType.STRING)
        for odd, part in enumerate(tokens)
    )


_WITH_IDENTIFIERS: Final = frozenset({"databricks", "spark", "snowflake"})

#: SELECT … INTO makes a table there; elsewhere, and where it has several names, it sets variables.
_INTO_TABLES: Final = frozenset({"tsql", "fabric", "postgres", "redshift", "materialize", ""})
_WITH_VARIABLES_FIRST: Final = frozenset({"postgres", "redshift"})  # SELECT INTO n count(*) FROM t
_BEHIND_TABLES: Final[Sequence[Sequence[str]]] = ([], ["WHERE"], ["USING"], ["AS"], [";"], ["."])
_UPSERT: Final = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


_CHANGES: Final = (["UPDATE"], ["DELETE"], ["INSERT"], ["WITH"])


_SCRIPTED: Final = frozenset({"hive", "spark", "spark2", "databricks"})
_BEHIND_OUTPUT: Final = frozenset(
    {"FROM", "ROW", "RECORDREADER", "WHERE", "CLUSTER", "DISTRIBUTE", "SORT", "ORDER", "GROUP",
     "LIMIT", "UNION", "INSERT", ")", ";"}
)  # fmt: skip


def _with_transforms(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``MAP a, b USING 'x'``, ``REDUCE …`` => ``SELECT TRANSFORM (a, b) USING 'x'``; the names of
    the columns in brackets: ``USING 'x' AS c, d`` => ``USING 'x' AS (c, d)``.
    """
    words = _keywords(tokens)
    if "USING" not in words or not _SCRIPTS & set(words):
        return tokens
    before, after = tokenize("(", dialect), tokenize(")", dialect)
    select = tokenize("SELECT TRANSFORM (", dialect)
    made: list[Token] = []
    place = 0
    while place < len(tokens):
        script = _script_of(tokens, words, place)
        start = script + 2
        if not script:
            made.append(tokens[place])
            place += 1
            continue
        if words[place] == "TRANSFORM":
            made += tokens[place:start]
        else:
            made += [*select, *tokens[place + 1 : script], *after, *tokens[script:start]]
        place = start
        if words[start : start + 1] == ["AS"] and words[start + 1 : start + 2] != ["("]:
            ends = (p for p in range(start + 1, len(words)) if _ends_output(words[p]))
            place = next(ends, len(words))
            made += [tokens[start], *before, *tokens[start + 1 : place], *after]
    return made


def _ends_output(word: str) -> bool:
    """``CLUSTER BY`` is one word."""
    return word.partition(" ")[0] in _BEHIND_OUTPUT


def _script_of(tokens: Sequence[Token], words: Sequence[str], place: int) -> int:
    """The place of the USING of a MAP, REDUCE or TRANSFORM at a place; 0 where it is none."""
    if words[place] not in _SCRIPTS or (words[place] != "TRANSFORM" and words[place + 1] == "("):
        return 0
    depth = 0
    for at in range(place + 1, len(words) - 1):
        depth += (words[at] == "(") - (words[at] == ")")
        if depth < 0 or words[at] in {"FROM", ";"}:
            return 0
        if depth == 0 and words[at] == "USING":
            return at if tokens[at + 1].token_type is TokenType.STRING else 0
    return 0


_SCRIPTS: Final = frozenset({"TRANSFORM", "MAP", "REDUCE"})


def _without_phrases(tokens: Sequence[Token]) -> Sequence[Token]:
    """``SELECT a (TITLE 'A'), b (NAMED c)`` of Teradata => ``SELECT a, b AS c``."""
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        words = _keywords(tokens[place : place + 4])
        if len(words) == 4 and words[0] == "(" and words[3] == ")" and words[1] in _PHRASES:
            if words[1] == "NAMED":
                kept += [_as(tokens[place + 1], TokenType.ALIAS), tokens[place + 2]]
            place += 4
        else:
            kept.append(tokens[place])
            place += 1
    return kept


_PHRASES: Final = frozenset({"TITLE", "FORMAT", "NAMED"})


def keyword(token: Token) -> str:
    """The word in capitals, or the sign; "" for a value and for a name in quotes: ``'DELETE'``."""
    is_none = token.token_type in _TEXTS or token.token_type is TokenType.IDENTIFIER
    return "" if is_none else token.text.upper()


def _keywords(tokens: Sequence[Token]) -> list[str]:
    return [keyword(token) for token in tokens]


def _without_ties(tokens: Sequence[Token]) -> Sequence[Token]:
    """``SELECT TOP (5) WITH TIES a`` => ``SELECT TOP (5) a``."""
    words = _keywords(tokens)
    ties = {
        place
        for place, word in enumerate(words)
        if word == "TIES" and words[place - 1 : place] == ["WITH"]
    }
    return [t for p, t in enumerate(tokens) if p not in ties and p + 1 not in ties]


def _with_short_output(tokens: Sequence[Token]) -> Sequence[Token]:
    """``OUTPUT … INTO dbo.t (a)``, ``INTO @t (a)``: the name of the table as one token."""
    words = _keywords(tokens)
    begin = words.index("OUTPUT") if "OUTPUT" in words else len(words)
    place = words.index("INTO", begin) + 1 if "INTO" in words[begin:] else len(words)
    sign = next((token.text for token in tokens[place : place + 1] if token.text in {"#", "@"}), "")
    start = place + bool(sign)
    end = start + 1
    while words[end : end + 1] == ["."]:
        end += 2
    alone = sign == "@" and words[end : end + 1] != ["("]
    if end == place + 1 or end > len(words) or alone:
        return _with_late_output(tokens, words, begin)
    name = ".".join(f'"{token.text}"' for token in tokens[start:end:2])
    if start > place:
        name = f"{sign}{tokens[start].text}"
    first = tokens[place]
    token = Token(TokenType.VAR, name, first.line, first.col, first.start, tokens[end - 1].end)
    shorter = [*tokens[:place], token, *tokens[end:]]
    return _with_late_output(shorter, [*words[:place], name, *words[end:]], begin)


def _with_late_output(tokens: Sequence[Token], words: list[str], begin: int) -> Sequence[Token]:
    """``DELETE x OUTPUT … FROM t x WHERE a`` => ``DELETE x FROM t x WHERE a OUTPUT …``."""
    ends = (place for place in range(begin, len(words)) if words[place] in {"FROM", "WHERE"})
    end = next(ends, None)
    if words[:1] != ["DELETE"] or end is None:
        return tokens
    last = len(tokens) - (words[-1] == ";")
    return [*tokens[:begin], *tokens[end:last], *tokens[begin:end], *tokens[last:]]


def _without_duplicates(tokens: Sequence[Token]) -> Sequence[Token]:
    """``CREATE TABLE u (k int) IGNORE AS SELECT …`` => ``CREATE TABLE u (k int) AS SELECT …``."""
    words = _keywords(tokens)
    place = next((p for p, word in enumerate(words) if word in {"SELECT", "WITH"}), 0)
    place -= words[place - 1 : place] == ["AS"]
    if words[2:3] == ["OR"] or words[place - 1 : place] not in (["IGNORE"], ["REPLACE"]):
        return tokens
    return [*tokens[: place - 1], *tokens[place:]]


def _with_query(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``CREATE TABLE x AS PIVOT …`` => ``CREATE TABLE x AS FROM (PIVOT …)``."""
    words = _keywords(tokens)
    place = words.index("AS") + 1 if "AS" in words else len(words)
    if words[place : place + 1] not in (["PIVOT"], ["UNPIVOT"]):
        return tokens
    before, after = tokenize("FROM (", dialect), tokenize(")", dialect)
    return [*tokens[:place], *before, *tokens[place:], *after]


def _with_deletion(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``WHEN MATCHED THEN UPDATE SET … DELETE WHERE c`` => ``… WHEN MATCHED AND c THEN DELETE``."""
    words = _keywords(tokens)
    place = next((p for p in range(len(words)) if words[p : p + 2] == ["DELETE", "WHERE"]), None)
    if place is None:
        return tokens
    end = words.index("WHEN", place) if "WHEN" in words[place:] else len(words)
    before, after = tokenize("WHEN MATCHED AND", dialect), tokenize("THEN DELETE", dialect)
    return [*tokens[:place], *before, *tokens[place + 2 : end], *after, *tokens[end:]]


def _without_colons(tokens: Sequence[Token]) -> Sequence[Token]:
    """``b = :1 AND c = :'v'`` => ``b = 1 AND c = 'v'``: parameters by number, and psql's."""
    colons = {
        place
        for place, token in enumerate(tokens[:-1])
        if token.token_type is TokenType.COLON
        and place
        and tokens[place + 1].token_type in {TokenType.NUMBER, TokenType.STRING}
        and tokens[place + 1].start == token.end + 1
        and keyword(tokens[place - 1]) in _BEFORE_VALUES
    }
    return [t for p, t in enumerate(tokens) if p not in colons] if colons else tokens


_BEFORE_VALUES: Final = frozenset(
    {"=", "<", ">", "<=", ">=", "<>", "!=", "(", ",", "+", "-", "*", "/", "||", "AND", "OR", "IN",
     "LIKE", "BETWEEN", "THEN", "ELSE", "SELECT", "LIMIT", "OFFSET", "WHEN", "NOT"}
)  # fmt: skip


def _as_mutation(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``ALTER TABLE t UPDATE b = c WHERE a`` => ``UPDATE t SET b = c WHERE a``; DELETE, too."""
    words = _keywords(tokens)
    place = next((p for p, word in enumerate(words) if [word] in _CHANGES[:2]), 0)
    end = words.index("ON", 0, place) if "ON" in words[:place] else place
    if words[place : place + 1] == ["UPDATE"]:
        changed = tokenize("SET", dialect)
        return [tokens[place], *tokens[2:end], *changed, *tokens[place + 1 :]]
    if place:
        begin = tokenize("DELETE FROM", dialect)
        return [*begin, *tokens[2:end], *tokens[place + 1 :]]
    return tokens


def _with_alias(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``UPDATE (SELECT …) SET a = b`` => ``UPDATE (SELECT …) rows SET a = b``."""
    end = closing(tokens, 1) + 1
    if _keywords(tokens[end : end + 1]) != ["SET"]:
        return tokens
    return [*tokens[:end], *tokenize("changed_rows", dialect), *tokens[end:]]


def closing(tokens: Sequence[Token], place: int) -> int:
    """The place of the bracket that closes the one at a place; the last place where none does."""
    depth = 0
    for at in range(place, len(tokens)):
        depth += (keyword(tokens[at]) == "(") - (keyword(tokens[at]) == ")")
        if depth == 0:
            return at
    return len(tokens) - 1


def _without_hints(tokens: Sequence[Token]) -> Sequence[Token]:
    """``INSERT INTO t WITH (TABLOCK) (a) SELECT …`` => ``INSERT INTO t (a) SELECT …``."""
    words = _keywords(tokens)
    place = words.index("INTO") + 2 if "INTO" in words[:12] else len(words)
    place += words[place - 1 : place] == ["#"]  # #t of T-SQL
    while words[place : place + 1] == ["."]:
        place += 2
    if words[place : place + 2] != ["WITH", "("] or words[:1] not in (["INSERT"], ["WITH"]):
        return tokens
    return [*tokens[:place], *tokens[closing(tokens, place + 1) + 1 :]]


def _without_top(tokens: Sequence[Token]) -> Sequence[Token]:
    """``DELETE TOP (9) PERCENT FROM t`` => ``DELETE FROM t``; a query keeps its own."""
    words = _keywords(tokens)
    place = next((p for p, word in enumerate(words) if [word] in _CHANGES[:3]), len(words)) + 1
    if words[place : place + 2] != ["TOP", "("] or ")" not in words[place:]:
        return tokens
    end = words.index(")", place) + 1
    end += words[end : end + 1] == ["PERCENT"]
    return [*tokens[:place], *tokens[end:]]


def _with_from(tokens: Sequence[Token]) -> Sequence[Token]:
    """``DELETE t WHERE …`` => ``DELETE FROM t WHERE …``; ``DELETE x FROM t x`` has one already."""
    verbs = [place for place, token in enumerate(tokens) if keyword(token) == "DELETE"]
    if not verbs:
        return tokens
    place = verbs[-1] + 1
    words = _keywords(tokens[place:])
    before = words[: words.index("WHERE")] if "WHERE" in words else words
    if "FROM" in before or not words:
        return tokens
    return [*tokens[:place], _as(tokens[place], TokenType.FROM), *tokens[place:]]


def _as(token: Token, kind: TokenType) -> Token:
    return Token(kind, kind.name, token.line, token.col, token.start, token.end)


def _without_variables(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """``SELECT a, b INTO v, w FROM t`` => ``SELECT a, b FROM t``."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += (keyword(token) == "(") - (keyword(token) == ")")
        if depth == 0 and keyword(token) == "INTO" and not _is_file(tokens, place):
            end = _behind_names(tokens, place + 1)
            several = any(token.text == "," for token in tokens[place:end])
            first = place == 1 and dialect in _WITH_VARIABLES_FIRST
            first = first or _keywords(tokens[place + 1 : place + 2]) == ["STRICT"]
            if several or first or dialect not in _INTO_TABLES:
                return [*tokens[:place], *tokens[end:]]
            break
    return tokens


def _is_file(tokens: Sequence[Token], place: int) -> bool:
    return _keywords(tokens[place + 1 : place + 2]) == ["OUTFILE"]


def _behind_names(tokens: Sequence[Token], place: int) -> int:
    """The place behind ``STRICT a, :b.c, @d``."""
    place += tokens[place : place + 1] != [] and keyword(tokens[place]) == "STRICT"
    while place < len(tokens):
        place += tokens[place].text in {":", "@"}
        if place + 1 >= len(tokens) or tokens[place + 1].text not in {",", "."}:
            break
        place += 2
    return place + 1


def _without_format(tokens: Sequence[Token], place: int) -> Sequence[Token]:
    """Without ``USING parquet OPTIONS (…)`` at a place."""
    if _keywords(tokens[place : place + 1]) != ["USING"]:
        return tokens
    end = place + 2
    if _keywords(tokens[end : end + 1]) == ["OPTIONS"]:
        while end < len(tokens) and tokens[end].text != ")":
            end += 1
        end += 1
    return [*tokens[:place], *tokens[end:]]


_COMPOUND: Final = frozenset({"tsql", "fabric"})


def _spelled_out(tokens: Sequence[Token]) -> list[Token]:
    """``SET t.a += 1`` => ``SET t.a = t.a + 1``."""
    spelled: list[Token] = []
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else token
        if token.text == "=" and before.text in "+-*/%&|^" and before.end + 1 == token.start:
            operator = spelled.pop()
            start = len(spelled)
            while start and (spelled[start - 1].text == "." or _is_part(spelled, start - 1)):
                start -= 1
            spelled += [token, *spelled[start:], operator]
        else:
            spelled.append(token)
    return spelled


def _is_part(tokens: Sequence[Token], place: int) -> bool:
    """Whether a token is the last part of a name, or one before a dot."""
    return place == len(tokens) - 1 or tokens[place + 1].text == "."


def _parsed(tokens: Sequence[Token], text: str, dialect: str) -> list[exp.Expr | None]:
    if _calls_on_calls(tokens) > _MOST_CALLS_ON_CALLS:
        raise RuntimeError("too many calls on the values of calls")
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


def _joined_arrays(tokens: Sequence[Token]) -> int:
    """The number of commas behind an ARRAY JOIN, those of calls and later clauses, too."""
    words = map(keyword, tokens)
    behind = dropwhile(lambda pair: pair != ("ARRAY", "JOIN"), pairwise(words))
    return sum(word == "," for word, _ in behind)


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


@lru_cache(maxsize=64)
def _tokenizer(dialect: str) -> Any:
    own = Dialect.get_or_raise(dialect).tokenizer_class
    return type(f"All{own.__name__}", (own,), {"COMMANDS": set()})


# Its warnings quote statements, literals included.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


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


# --- the tables of a statement that the parser cannot read ----------------------------------------


_READ: Final = frozenset({"FROM", "JOIN", "USING"})
_WRITTEN: Final = frozenset({"INTO", "UPDATE", "OVERWRITE", "MERGE", "TABLE", "VIEW"})
_BEFORE_NAMES: Final = frozenset({"IF", "NOT", "EXISTS", "INTO", "TABLE", "ONLY", "LATERAL"})
_AROUND: Final = frozenset({"INSERT", "CREATE", "MERGE", "OVERWRITE", "UPDATE", "ALTER"})
_NO_NAMES: Final = frozenset(
    {"SELECT", "WITH", "VALUES", "SET", "WHERE", "UNNEST", "(", ")", ",", ";", "", "ON", "AS"}
)
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
