"""Forms that sqlglot does not read, in ones that it reads: a form is a line of ``_FORMS``.

    CREATE TABLE t DEEP CLONE s        databricks    CREATE TABLE t CLONE s
    REPLACE INTO t SELECT a FROM s     mysql         INSERT INTO t SELECT a FROM s

A form has a pattern of words, and the words that take the place of what it fits. What the pattern
calls ``<t>`` stands there as ``{t}``:

    A   A/B   A?    this word (not one in quotes); one of two; it may be absent
    =A/B   !A/B     one of these follows; none of them does. ``$`` is the end
    <t>   <t:+->    any word or sign; one of these signs
    <t.>  <t()>     a name with its dots; brackets and what is in them
    <t'>            a text in quotes, or a number
    <t…>  <t…A/B>   all up to what comes next in the pattern, brackets as a whole; no A and no B
    …               at its beginning: wherever the rest stands; else a statement begins with it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, NamedTuple

from sqlglot import Token, TokenType

from graph_model.sql.names import OF_POSTGRES, OF_TSQL
from graph_model.sql.tokens import closing, keyword, keywords, tokenize

EVOLVING: Final = "MERGE WITH SCHEMA EVOLUTION"


class DynamicName(Exception):
    """A name is put together when the statement runs: ``tokens`` without what makes it."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__()
        self.tokens = tokens


def respelled(tokens: Sequence[Token], dialect: str) -> Sequence[Token]:
    """The tokens of a statement in forms that sqlglot reads; raises DynamicName for
    ``IDENTIFIER(:name)``.
    """
    statement = _Statement(tokens, dialect)
    for dialects, respell in _FORMS:
        if not dialects or dialect in dialects:
            statement = respell(statement)
    return statement.tokens


# --- patterns ------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A part of a pattern; ``kind`` is how the notation above marks it, "" for a word."""

    name: str
    kind: str
    words: frozenset[str]

    def end(self, statement: _Statement, place: int) -> int:
        """The place behind this part, which stands at a place; -1 where it does not."""
        words, word = statement.words, statement.word(place)
        if self.kind in {"=", "!"}:
            return place if (word in self.words) is (self.kind == "=") else -1
        if self.kind == "?" and word not in self.words:
            return place
        if word == "$" and place == len(words):
            return place if "$" in self.words else -1
        if self.kind == "()":
            return closing(statement.tokens, place) + 1 if word == "(" else -1
        if self.kind == "'":
            is_value = statement.tokens[place].token_type in {TokenType.STRING, TokenType.NUMBER}
            return place + 1 if is_value else -1
        if self.kind == ".":
            return statement.behind_name(place)
        return place + 1 if not self.words or word in self.words else -1


class _Segment(NamedTuple):
    """Parts one behind the other, and the run of any words before them."""

    run: _Part | None
    parts: list[_Part]


_PART: Final = re.compile(r"<(\w+)(…|\.|\(\)|'|:|)([^>]*)>|([=!]?)([^\s?]+)(\??)(?=\s|\Z)")


def _segments(pattern: str) -> Iterator[_Segment]:
    segment = _Segment(None, [])
    for name, kind, limits, sign, word, may in _PART.findall(pattern):
        words = frozenset(limits if kind == ":" else (limits or word).split("/")) - {""}
        part = _Part(name or word.split("/")[0], kind.strip(":") or sign or may, words)
        if kind == "…":
            yield segment
            segment = _Segment(part, [])
        else:
            segment.parts.append(part)
    yield segment


_Places = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class _Statement:
    """A statement on its way."""

    tokens: Sequence[Token]
    dialect: str

    @cached_property
    def words(self) -> list[str]:
        """In capitals; "" for values and for names in quotes; GROUP of GROUP BY, which is one."""
        return [word.partition(" ")[0] for word in keywords(self.tokens)]

    @cached_property
    def known(self) -> set[str]:
        return set(self.words)

    def word(self, place: int) -> str:
        return self.words[place] if place < len(self.words) else "$"

    def behind_name(self, place: int) -> int:
        """The place behind ``a-b.c.d``, ``##t``, ``@t`` at a place; -1 where no name stands."""
        while place < len(self.words) and self.tokens[place].text in {"#", "@"}:
            place += 1
        if not self.is_name(place):
            return -1
        while self.word(place + 1) in {".", "-"} and self.is_name(place + 2):
            place += 2
        return place + 1

    def is_name(self, place: int) -> bool:
        """A word, or what is in quotes."""
        return place < len(self.words) and (self.words[place] or "_")[0].isidentifier()

    def of(self, *parts: Sequence[Token] | str) -> _Statement:
        """The parts one behind the other; a text is read as the dialect reads it."""
        made: list[Token] = []
        for part in parts:
            made += tokenize(part, self.dialect) if isinstance(part, str) else part
        return _Statement(made, self.dialect)

    def places(self, segments: Sequence[_Segment], start: int) -> _Places | None:
        """From where to where the parts of a pattern stand, and all of it (""); None where they do
        not, {} where they do not from here on either: a run went to the end of the statement. A run
        ends where all that is behind it, up to the next run, first stands.
        """
        places, end = _Places(), start
        for run, parts in segments:
            begin, depth = end, 0
            while depth or (behind := self._behind(parts, end, places)) < 0:
                word = self.word(end)
                depth += (word == "(") - (word == ")")
                if run is None or depth < 0 or (depth == 0 and word in run.words):
                    return None
                if end == len(self.words):
                    return {}
                end += 1
            if run is not None:
                places[run.name] = (begin, end)
            end = behind
        return {**places, "": (start, end)}

    def _behind(self, parts: Sequence[_Part], place: int, places: _Places) -> int:
        for part in parts:
            if (end := part.end(self, place)) < 0:
                return -1
            places[part.name] = (place, end)
            place = end
        return place


def _respelled(
    segments: Sequence[_Segment], after: Sequence[str], needed: set[str], everywhere: bool,
    statement: _Statement,
) -> _Statement:  # fmt: skip
    if not needed <= statement.known:
        return statement
    made: list[Sequence[Token] | str] = []
    end, tokens = 0, statement.tokens
    for start in range(len(tokens) if everywhere else 1):
        if start < end or (places := statement.places(segments, start)) is None:
            continue
        if not places:
            break
        made.append(tokens[end:start])
        end = places[""][1]
        for odd, text in enumerate(after):
            made.append(tokens[slice(*places[text])] if odd % 2 else text)
    return statement.of(*made, tokens[end:]) if end else statement


def _form(
    dialects: frozenset[str], before: str, after: str
) -> tuple[frozenset[str], Callable[[_Statement], _Statement]]:
    segments = list(_segments(before.removeprefix("…")))
    parts = [part for segment in segments for part in segment.parts]
    needed = {
        word for part in parts if not part.kind and len(part.words) == 1 for word in part.words
    }
    words = re.split(r"\{(\S+?)\}", after)
    return dialects, partial(_respelled, segments, words, needed - {"$"}, before.startswith("…"))


# --- forms that need more than a pattern ----------------------------------------------------------


def _with_names(statement: _Statement) -> _Statement:
    """``FROM IDENTIFIER('s.' || 't')`` => ``FROM s.t``; ``INTO identifier (a, b)`` is a table."""
    if not any(token.text.upper() == "IDENTIFIER" for token in statement.tokens):
        return statement
    named: list[Token] = []
    opened: list[int] = []  # the places in ``named`` of the brackets that no bracket closed yet
    comma, dynamic = -1, False
    for token in statement.tokens:
        word = keyword(token)
        if word == "(":
            opened.append(len(named))
        elif word == ",":
            comma = len(named)
        elif word == ")" and opened:
            start = opened.pop()
            if keywords(named[max(start - 1, 0) : start]) == ["IDENTIFIER"] and comma < start:
                texts = named[start + 1 :]
                del named[start + 1 :]
                if _are_texts(texts):
                    written = "".join(part.text for part in texts[::2])
                    named[start - 1 :] = tokenize(written, statement.dialect)
                    continue
                dynamic = True  # a call without arguments is no table
        named.append(token)
    if dynamic:
        raise DynamicName(named)
    return statement.of(named)


def _are_texts(tokens: Sequence[Token]) -> bool:
    """Whether all are parts of a name: ``'s.' || 't'``."""
    return all(
        part.token_type is (TokenType.DPIPE if odd % 2 else TokenType.STRING)
        for odd, part in enumerate(tokens)
    )


def _with_selecting_pipes(statement: _Statement) -> _Statement:
    """``|> SET a = b + 1`` => ``|> SELECT * REPLACE (b + 1 AS a)``; DROP and RENAME, too."""
    tokens, words, end = statement.tokens, statement.words, 0
    parts: list[Sequence[Token] | str] = []
    for place, word in enumerate(words):
        if place > end and word in _PIPES and words[place - 1] == "|>":
            parts += [tokens[end:place], f"SELECT * {_PIPES[word]} ("]
            end = _behind_pipe(words, place)
            given = _named_behind(statement, place + 1, end) if word == "SET" else ()
            parts += [list(given) or tokens[place + 1 : end], ")"]
    return statement.of(*parts, tokens[end:]) if parts else statement


_PIPES: Final = {"SET": "REPLACE", "DROP": "EXCEPT", "RENAME": "RENAME"}


def _behind_pipe(words: Sequence[str], place: int) -> int:
    """The place of the next ``|>``, or of what ends the query."""
    depth = 0
    for at in range(place, len(words)):
        depth += (words[at] == "(") - (words[at] == ")")
        if depth < 0 or (depth == 0 and words[at] in {"|>", ";"}):
            return at
    return len(words)


def _named_behind(statement: _Statement, start: int, end: int) -> Iterator[Token]:
    """``a = b + 1, c = d`` => ``b + 1 AS a, d AS c``."""
    depth = 0
    for at in range(start, end + 1):
        word = statement.words[at] if at < end else ","
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == ",":
            comma = statement.tokens[at : at + 1] if at < end else []
            named = statement.tokens[start : start + 1]
            yield from statement.of(statement.tokens[start + 2 : at], "AS", named, comma).tokens
            start = at + 1


_OUTPUT_INTO: Final = list(_segments("<a…> OUTPUT <b…> INTO <t.>"))


def _with_short_output(statement: _Statement) -> _Statement:
    """``OUTPUT … INTO dbo.t (a)``, ``INTO @t (a)``: the name of the table as one token."""
    is_output = "OUTPUT" in statement.known
    places = statement.places(_OUTPUT_INTO, 0) if is_output else None
    if not places:
        return statement
    tokens, (start, end) = statement.tokens, places["t"]
    texts = [token.text for token in tokens[start:end]]
    if len(texts) == 1 or (texts[0] == "@" and statement.word(end) != "("):
        return statement
    quoted = [text if text in {".", "#", "@"} else f'"{text}"' for text in texts]
    name = "".join(texts if quoted[0] == texts[0] else quoted)
    first = tokens[start]
    token = Token(TokenType.VAR, name, first.line, first.col, first.start, tokens[end - 1].end)
    return statement.of(tokens[:start], [token], tokens[end:])


# --- the forms, in the order in which they are respelled ------------------------------------------

_ALL: Final[frozenset[str]] = frozenset()
_SPARK: Final = frozenset({"databricks", "spark"})
_SCRIPTED: Final = _SPARK | {"hive", "spark2"}
_CLONING: Final = _SPARK | {"bigquery", "snowflake"}
_BIGQUERY, _CLICKHOUSE, _DATABRICKS, _DUCKDB, _MYSQL, _ORACLE, _POSTGRES, _TERADATA = (
    frozenset({dialect})
    for dialect in (
        "bigquery", "clickhouse", "databricks", "duckdb", "mysql", "oracle", "postgres", "teradata"
    )
)  # fmt: skip

_BEFORE_VALUES: Final = (
    "(/,/=/</>/<=/>=/<>/!=/+/-/*/||/AND/OR/IN/LIKE/BETWEEN/THEN/ELSE/SELECT/LIMIT/OFFSET/WHEN/NOT"
)
_BEHIND_OUTPUT: Final = (
    "FROM/ROW/RECORDREADER/WHERE/CLUSTER/DISTRIBUTE/SORT/ORDER/GROUP/LIMIT/UNION/INSERT/)/$"
)
_MOVED: Final = "INSERT INTO {t} BY NAME SELECT * FROM {s}"
_UPSERT: Final = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

_FORMS: Final = (
    (_SPARK | {"snowflake"}, _with_names),
    # Parameters by number, and psql's.
    _form(_ALL, f"… {_BEFORE_VALUES} : <v'>", "{(} {v}"),
    (_SPARK | _BIGQUERY, _with_selecting_pipes),
    _form(_SCRIPTED, "… MAP/REDUCE !( <a…FROM> USING <x'>", "SELECT TRANSFORM ( {a} ) USING {x}"),
    _form(
        _SCRIPTED,
        f"… TRANSFORM <a()> <b…FROM> USING <x'> AS !( <c…> ={_BEHIND_OUTPUT}",
        "TRANSFORM {a} {b} USING {x} AS ( {c} )",
    ),
    _form(_TERADATA, "… ( TITLE/FORMAT <a> )", ""),
    _form(_TERADATA, "… ( NAMED <a> )", "AS {a}"),
    _form(OF_TSQL, "… OPENROWSET ( BULK", "OPENROWSET ("),
    _form(
        _ALL,
        "SELECT <a…> INTO OUTFILE/DUMPFILE <f'> <x…> =FROM <b…> $",
        "COPY ( SELECT {a} {b} ) TO {f}",
    ),
    _form(_ALL, "SELECT <a…> INTO OUTFILE/DUMPFILE <f'> <x…> $", "COPY ( SELECT {a} ) TO {f}"),
    _form(
        _CLONING,
        "CREATE <a…> TABLE IF? NOT? EXISTS? <t.> DEEP? SHALLOW? CLONE <s.> <x…> $",
        "CREATE {a} TABLE {IF} {NOT} {EXISTS} {t} {SHALLOW} CLONE {s}",
    ),
    _form(_MYSQL, "CREATE <a…> IGNORE/REPLACE AS? =SELECT/WITH", "CREATE {a} AS"),
    _form(_DUCKDB, "CREATE <a…> AS =PIVOT/UNPIVOT <b…> $", "CREATE {a} AS FROM ( {b} )"),
    _form(_POSTGRES, "CREATE MATERIALIZED <a…> WITH NO? DATA $", "CREATE MATERIALIZED {a}"),
    _form(_DATABRICKS, "… ON VIOLATION DROP/FAIL ROW/UPDATE", ""),
    _form(_ALL, "CREATE SNAPSHOT TABLE", "CREATE TABLE"),
    _form(_ALL, "REPLACE", "INSERT"),
    _form(
        _ALL,
        "APPLY CHANGES INTO <t…> FROM <s…> KEYS <k…> COLUMNS ( <c…> ) <x…> $",
        "INSERT INTO {t} BY NAME SELECT {c} FROM {s}",
    ),
    _form(
        _ALL,
        "APPLY CHANGES INTO <t…> FROM <s…> KEYS <k…> COLUMNS <c…> =STORED/TRACK/$ <x…> $",
        "INSERT INTO {t} BY NAME SELECT {c} FROM {s}",
    ),
    _form(_ALL, "APPLY CHANGES INTO <t…> FROM <s…> KEYS <x…> $", _MOVED),
    _form(_ALL, "LOAD <a…> INFILE <f'> <b…> TABLE <t.> <x…> $", "COPY {t} FROM {f}"),
    _form(_ALL, "BULK INSERT <t.> FROM <f'> <x…> $", "COPY {t} FROM {f}"),
    _form(_ALL, "INSERT <a…> DIRECTORY <f> USING <x> OPTIONS <y()>", "INSERT {a} DIRECTORY {f}"),
    _form(_ALL, "INSERT <a…> DIRECTORY <f> USING <x>", "INSERT {a} DIRECTORY {f}"),
    _form(_ALL, "DELETE FROM TABLE !WHERE/USING/AS/./$", "DELETE FROM"),
    # Else SET is the alias.
    _form(_TERADATA, "UPDATE <a…> FROM/,/. <s> SET", "UPDATE {a} {FROM} {s} AS {s} SET"),
    _form(_ALL, "UPDATE <q()> SET", "UPDATE {q} changed_rows SET"),
    _form(_ALL, "ALTER TABLE <t…> APPEND <x…> FROM <s.> <y…> $", _MOVED),
    _form(_ALL, "ALTER TABLE <s…> SWITCH <x…> TO <t.> <y…> $", _MOVED),
    _form(_ALL, "ALTER TABLE <t…> EXCHANGE <x…> TABLE <s.> <y…> $", _MOVED),
    _form(_POSTGRES, "ALTER TABLE <t…> ATTACH PARTITION <s.> <y…> $", _MOVED),
    _form(_CLICKHOUSE, "ALTER TABLE <t…> REPLACE/ATTACH <x…> FROM <s.> <y…> $", _MOVED),
    _form(_CLICKHOUSE, "ALTER TABLE <s…> MOVE <x…> TABLE <t.> <y…> $", _MOVED),
    _form(_ALL, "ALTER TABLE <a…> <t> SET SCHEMA <s> $", "ALTER TABLE {a} {t} RENAME TO {s} . {t}"),
    _form(_CLICKHOUSE, "ALTER TABLE <t.> ON CLUSTER <c>", "ALTER TABLE {t}"),
    _form(_CLICKHOUSE, "ALTER TABLE <t.> UPDATE", "UPDATE {t} SET"),
    _form(_CLICKHOUSE, "ALTER TABLE <t.> DELETE", "DELETE FROM {t}"),
    _form(
        _ORACLE,
        "MERGE <a…> DELETE WHERE <b…> =WHEN/$",
        "MERGE {a} WHEN MATCHED AND {b} THEN DELETE",
    ),
    _form(OF_POSTGRES, "… ROWS FROM ( <f…> AS <c()> )", "rows_from ( {f} )"),
    _form(OF_POSTGRES, "… ROWS FROM <f()>", "rows_from {f}"),
    _form(_POSTGRES, "… OVERRIDING SYSTEM/USER VALUE", ""),
    _form(_ALL, "MERGE <a…> REMOVE DUPLICATES", f"MERGE {{a}} {_UPSERT}"),
    _form(_ALL, EVOLVING, "MERGE"),
    (OF_TSQL, _with_short_output),
    _form(OF_TSQL, "DELETE <a…> OUTPUT <o…> =FROM/WHERE <b…> $", "DELETE {a} {b} OUTPUT {o}"),
    _form(OF_TSQL, "… INTO <t.> WITH <x()>", "INTO {t}"),
    _form(OF_TSQL, "… UPDATE/DELETE/INSERT TOP <n()> PERCENT?", "{UPDATE}"),
    _form(OF_TSQL, "… <a.> <o:+-*/%&|^> =", "{a} = {a} {o}"),
    _form(OF_TSQL, "DELETE <t.> =WHERE/OUTPUT/OPTION/$", "DELETE FROM {t}"),
    _form(OF_TSQL, "WITH <a…> DELETE <t.> =WHERE/OUTPUT/OPTION/$", "WITH {a} DELETE FROM {t}"),
)
"""The dialects, any where there are none, and what respells a statement."""
