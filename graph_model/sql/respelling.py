"""Forms that sqlglot does not read, in ones that it reads: a form is one function, and a line of
``_FORMS``.

    CREATE TABLE t DEEP CLONE s        databricks    CREATE TABLE t CLONE s
    REPLACE INTO t SELECT a FROM s     mysql         INSERT INTO t SELECT a FROM s
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from sqlglot import Token, TokenType

from graph_model.sql.names import OF_TSQL
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
    form = _Form(tokens, dialect)
    for begin, dialects, respell in _FORMS:
        if (not dialects or dialect in dialects) and form.begins(begin):
            form = respell(form)
    return form.tokens


@dataclass(frozen=True)
class _Form:
    """A statement on its way."""

    tokens: Sequence[Token]
    dialect: str

    @cached_property
    def words(self) -> list[str]:
        """In capitals; "" for values and for names in quotes."""
        return keywords(self.tokens)

    def begins(self, words: str) -> bool:
        listed = words.split()
        return keywords(self.tokens[: len(listed)]) == listed

    def place(self, words: str, start: int = 0) -> int:
        """Where these words first stand one behind the other; the end where they do not."""
        listed, end = words.split(), len(self.words)
        places = (p for p in range(start, end) if self.words[p] == listed[0])
        return next((p for p in places if self.words[p : p + len(listed)] == listed), end)

    def of(self, *parts: Sequence[Token] | str) -> _Form:
        """The parts one behind the other; a text is read as the dialect reads it."""
        made: list[Token] = []
        for part in parts:
            made += tokenize(part, self.dialect) if isinstance(part, str) else part
        return _Form(made, self.dialect)


def _replaced(before: str, after: str, form: _Form) -> _Form:
    """Other words wherever these stand."""
    size, end = len(before.split()), 0
    parts: list[Sequence[Token] | str] = []
    while (place := form.place(before, end)) < len(form.tokens):
        parts += [form.tokens[end:place], after]
        end = place + size
    return form.of(*parts, form.tokens[end:]) if end else form


def _begun(before: str, after: str, form: _Form) -> _Form:
    """Other words at the beginning."""
    return form.of(after, form.tokens[len(before.split()) :])


# --- CREATE --------------------------------------------------------------------------------------


def _cloned(form: _Form) -> _Form:
    """``CREATE TABLE t DEEP CLONE s VERSION AS OF 3`` => ``CREATE TABLE t CLONE s``; a table may
    have the name ``clone`` or ``deep``.
    """
    words = form.words[:30]
    if "TABLE" not in words[:8]:
        return form
    start = words.index("TABLE") + 1
    start += 3 if words[start : start + 3] == ["IF", "NOT", "EXISTS"] else 0
    end = _behind_name(words, start)
    kept = end + (words[end : end + 1] == ["DEEP"])  # sqlglot knows SHALLOW alone
    clone = kept + (words[kept : kept + 1] == ["SHALLOW"])
    if words[clone : clone + 1] != ["CLONE"]:
        return form
    return form.of(form.tokens[:end], form.tokens[kept : _behind_name(words, clone + 1)])


def _behind_name(words: Sequence[str], place: int) -> int:
    """The place behind the name ``a-b.c.d`` that begins at a place."""
    while words[place + 1 : place + 2] in (["."], ["-"]):
        place += 2
    return place + 1


def _without_duplicates(form: _Form) -> _Form:
    """``CREATE TABLE u (k int) IGNORE AS SELECT …`` => ``CREATE TABLE u (k int) AS SELECT …``."""
    words = form.words
    place = next((p for p, word in enumerate(words) if word in {"SELECT", "WITH"}), 0)
    place -= words[place - 1 : place] == ["AS"]
    if words[2:3] == ["OR"] or words[place - 1 : place] not in (["IGNORE"], ["REPLACE"]):
        return form
    return form.of(form.tokens[: place - 1], form.tokens[place:])


def _with_query(form: _Form) -> _Form:
    """``CREATE TABLE x AS PIVOT …`` => ``CREATE TABLE x AS FROM (PIVOT …)``."""
    place = form.place("AS") + 1
    if form.words[place : place + 1] not in (["PIVOT"], ["UNPIVOT"]):
        return form
    return form.of(form.tokens[:place], "FROM (", form.tokens[place:], ")")


def _with_checks(form: _Form) -> _Form:
    """``CONSTRAINT c EXPECT (a > 0)`` => ``CONSTRAINT c CHECK (a > 0)``."""
    parts: list[Sequence[Token] | str] = []
    for place, token in enumerate(form.tokens):
        is_check = keyword(token) == "EXPECT" and form.words[place - 2 : place - 1] == [
            "CONSTRAINT"
        ]
        parts.append("CHECK" if is_check else [token])
    return form.of(*parts)


def _without_data(form: _Form) -> _Form:
    """``CREATE MATERIALIZED VIEW v AS … WITH NO DATA`` => ``CREATE MATERIALIZED VIEW v AS …``."""
    for end in (["WITH", "DATA"], ["WITH", "NO", "DATA"]):
        if form.words[-len(end) :] == end:
            return form.of(form.tokens[: -len(end)])
    return form


# --- SELECT --------------------------------------------------------------------------------------


def _with_names(form: _Form) -> _Form:
    """``FROM IDENTIFIER('s.' || 't')`` => ``FROM s.t``; ``INTO identifier (a, b)`` is a table."""
    if not any(token.text.upper() == "IDENTIFIER" for token in form.tokens):
        return form
    named: list[Token] = []
    opened: list[int] = []  # the places in ``named`` of the brackets that no bracket closed yet
    comma, dynamic = -1, False
    for token in form.tokens:
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
                    named[start - 1 :] = tokenize(written, form.dialect)
                    continue
                dynamic = True  # a call without arguments is no table
        named.append(token)
    if dynamic:
        raise DynamicName(named)
    return form.of(named)


def _are_texts(tokens: Sequence[Token]) -> bool:
    """Whether all are parts of a name: ``'s.' || 't'``."""
    return all(
        part.token_type is (TokenType.DPIPE if odd % 2 else TokenType.STRING)
        for odd, part in enumerate(tokens)
    )


def _with_selecting_pipes(form: _Form) -> _Form:
    """``|> SET a = b + 1`` => ``|> SELECT * REPLACE (b + 1 AS a)``; DROP and RENAME, too."""
    tokens, words, end = form.tokens, form.words, 0
    parts: list[Sequence[Token] | str] = []
    for place, word in enumerate(words):
        if place > end and word in _PIPES and words[place - 1] == "|>":
            parts += [tokens[end:place], f"SELECT * {_PIPES[word]} ("]
            end = _behind_pipe(words, place)
            given = _named_behind(form, place + 1, end) if word == "SET" else ()
            parts += [list(given) or tokens[place + 1 : end], ")"]
    return form.of(*parts, tokens[end:]) if parts else form


_PIPES: Final = {"SET": "REPLACE", "DROP": "EXCEPT", "RENAME": "RENAME"}


def _behind_pipe(words: Sequence[str], place: int) -> int:
    """The place of the next ``|>``, or of what ends the query."""
    depth = 0
    for at in range(place, len(words)):
        depth += (words[at] == "(") - (words[at] == ")")
        if depth < 0 or (depth == 0 and words[at] in {"|>", ";"}):
            return at
    return len(words)


def _named_behind(form: _Form, start: int, end: int) -> Iterator[Token]:
    """``a = b + 1, c = d`` => ``b + 1 AS a, d AS c``."""
    depth = 0
    for at in range(start, end + 1):
        word = form.words[at] if at < end else ","
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == ",":
            comma = form.tokens[at : at + 1] if at < end else []
            named = form.tokens[start : start + 1]
            yield from form.of(form.tokens[start + 2 : at], "AS", named, comma).tokens
            start = at + 1


def _with_transforms(form: _Form) -> _Form:
    """``MAP a, b USING 'x'``, ``REDUCE …`` => ``SELECT TRANSFORM (a, b) USING 'x'``; the names of
    the columns in brackets: ``USING 'x' AS c, d`` => ``USING 'x' AS (c, d)``.
    """
    tokens, words = form.tokens, form.words
    if "USING" not in words or not _SCRIPTS & set(words):
        return form
    parts: list[Sequence[Token] | str] = []
    place = 0
    while place < len(tokens):
        script = _script_of(tokens, words, place)
        start = script + 2
        if not script:
            parts.append(tokens[place : place + 1])
            place += 1
            continue
        if words[place] == "TRANSFORM":
            parts.append(tokens[place:start])
        else:
            inputs = tokens[place + 1 : script]
            parts += ["SELECT TRANSFORM (", inputs, ")", tokens[script:start]]
        place = start
        if words[start : start + 1] == ["AS"] and words[start + 1 : start + 2] != ["("]:
            ends = (p for p in range(start + 1, len(words)) if _ends_output(words[p]))
            place = next(ends, len(words))
            parts += [tokens[start : start + 1], "(", tokens[start + 1 : place], ")"]
    return form.of(*parts)


_SCRIPTS: Final = frozenset({"TRANSFORM", "MAP", "REDUCE"})
_BEHIND_OUTPUT: Final = frozenset(
    {"FROM", "ROW", "RECORDREADER", "WHERE", "CLUSTER", "DISTRIBUTE", "SORT", "ORDER", "GROUP",
     "LIMIT", "UNION", "INSERT", ")", ";"}
)  # fmt: skip


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


def _without_phrases(form: _Form) -> _Form:
    """``SELECT a (TITLE 'A'), b (NAMED c)`` of Teradata => ``SELECT a, b AS c``."""
    tokens, words = form.tokens, form.words
    parts: list[Sequence[Token] | str] = []
    place = 0
    while place < len(tokens):
        phrase = words[place + 1] if words[place : place + 4 : 3] == ["(", ")"] else ""
        if phrase in _PHRASES:
            parts += ["AS", tokens[place + 2 : place + 3]] if phrase == "NAMED" else []
            place += 4
        else:
            parts.append(tokens[place : place + 1])
            place += 1
    return form.of(*parts)


_PHRASES: Final = frozenset({"TITLE", "FORMAT", "NAMED"})


def _without_variables(form: _Form) -> _Form:
    """``SELECT a, b INTO v, w FROM t`` => ``SELECT a, b FROM t``."""
    depth = 0
    for place, word in enumerate(form.words):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "INTO":
            end = _behind_names(form, place + 1)
            several = "," in form.words[place:end]
            first = place == 1 and form.dialect in _WITH_VARIABLES_FIRST
            strict = form.words[place + 1 : place + 2] == ["STRICT"]
            if several or first or strict or form.dialect not in _INTO_TABLES:
                return form.of(form.tokens[:place], form.tokens[end:])
            break
    return form


#: SELECT … INTO makes a table there; elsewhere, and where it has several names, it sets variables.
_INTO_TABLES: Final = frozenset({"tsql", "fabric", "postgres", "redshift", "materialize", ""})
_WITH_VARIABLES_FIRST: Final = frozenset({"postgres", "redshift"})  # SELECT INTO n count(*) FROM t


def _behind_names(form: _Form, place: int) -> int:
    """The place behind ``STRICT a, :b.c, @d``."""
    words = form.words
    place += words[place : place + 1] == ["STRICT"]
    while place < len(words):
        place += form.tokens[place].text in {":", "@"}
        if place + 1 >= len(words) or words[place + 1] not in {",", "."}:
            break
        place += 2
    return place + 1


def _without_colons(form: _Form) -> _Form:
    """``b = :1 AND c = :'v'`` => ``b = 1 AND c = 'v'``: parameters by number, and psql's."""
    tokens = form.tokens
    colons = {
        place
        for place, token in enumerate(tokens[:-1])
        if token.token_type is TokenType.COLON
        and place
        and tokens[place + 1].token_type in {TokenType.NUMBER, TokenType.STRING}
        and tokens[place + 1].start == token.end + 1
        and keyword(tokens[place - 1]) in _BEFORE_VALUES
    }
    return form.of([t for p, t in enumerate(tokens) if p not in colons]) if colons else form


_BEFORE_VALUES: Final = frozenset(
    {"=", "<", ">", "<=", ">=", "<>", "!=", "(", ",", "+", "-", "*", "/", "||", "AND", "OR", "IN",
     "LIKE", "BETWEEN", "THEN", "ELSE", "SELECT", "LIMIT", "OFFSET", "WHEN", "NOT"}
)  # fmt: skip


# --- INSERT, UPDATE, DELETE, MERGE ---------------------------------------------------------------


def _as_insert(form: _Form) -> _Form:
    """``APPLY CHANGES INTO t FROM s KEYS (a) … COLUMNS * EXCEPT (b)`` => ``INSERT INTO t BY NAME
    SELECT * EXCEPT (b) FROM s``.
    """
    words, tokens = form.words, form.tokens
    source, keys = form.place("FROM"), form.place("KEYS")
    columns = form.place("COLUMNS") + 1
    ends = (at for at in range(columns, len(words)) if words[at] in {"STORED", "TRACK", ";"})
    listed = tokens[columns : next(ends, len(words))] or "*"
    if words[columns : columns + 1] == ["("]:  # COLUMNS (a, b)
        listed = listed[1:-1]
    into = tokens[3:source]
    return form.of("INSERT INTO", into, "BY NAME SELECT", listed, tokens[source:keys])


def _as_moved(form: _Form) -> _Form:
    """``ALTER TABLE t APPEND FROM s``, ``s SWITCH TO t``, ``t EXCHANGE PARTITION (…) WITH TABLE s``
    => ``INSERT INTO t BY NAME SELECT * FROM s``.
    """
    words = form.words
    for verb, before, backwards in (*_MOVES, *_MOVES_OF.get(form.dialect, ())):
        place = form.place(verb)
        start = form.place(before, place) + 1
        ends = (p for p in range(start, len(words)) if words[p] in _AFTER_MOVES)
        tables = [form.tokens[2:place], form.tokens[start : next(ends, len(words))]]
        if all(tables):
            target, source = reversed(tables) if backwards else tables
            return form.of("INSERT INTO", target, "BY NAME SELECT * FROM", source)
    return form


_MOVES: Final = (
    ("APPEND", "FROM", False),
    ("SWITCH", "TO", True),
    ("EXCHANGE", "TABLE", False),
)
"""The verb, the word before the other table, and whether rows move there."""
_MOVES_OF: Final = {
    "clickhouse": (("REPLACE", "FROM", False), ("ATTACH", "FROM", False), ("MOVE", "TABLE", True)),
    "postgres": (("ATTACH", "PARTITION", False),),
}
_AFTER_MOVES: Final = frozenset(
    {"IGNOREEXTRA", "FILLTARGET", "PARTITION", "WITH", "INCLUDING", "EXCLUDING", "WITHOUT", "FOR",
     "DEFAULT"}
)  # fmt: skip


def _as_rename(form: _Form) -> _Form:
    """``ALTER TABLE a.t SET SCHEMA b`` => ``ALTER TABLE a.t RENAME TO b.t``."""
    if form.words[-3:-1] != ["SET", "SCHEMA"]:
        return form
    tokens = form.tokens
    return form.of(tokens[:-3], "RENAME TO", tokens[-1:], ".", tokens[-4:-3])


def _as_copy(form: _Form) -> _Form:
    """``LOAD DATA INFILE 'path' INTO TABLE t …``, ``BULK INSERT t FROM 'path' …`` => ``COPY t FROM
    'path'``.
    """
    before, into = ("FROM", "INSERT") if form.begins("BULK") else ("INFILE", "TABLE")
    file, start = form.place(before) + 1, form.place(into) + 1
    if max(file, start) >= len(form.tokens):
        return form
    name = form.tokens[start : _behind_name(form.words, start)]
    return form.of("COPY", name, "FROM", form.tokens[file : file + 1])


def _as_copy_of_query(form: _Form) -> _Form:
    """``SELECT a INTO OUTFILE 'path' … FROM t``, ``SELECT a FROM t INTO OUTFILE 'path' …`` =>
    ``COPY (SELECT a FROM t) TO 'path'``.
    """
    place = min(form.place("INTO OUTFILE"), form.place("INTO DUMPFILE"))
    if place + 2 >= len(form.tokens):
        return form
    query = form.tokens[:place], form.tokens[form.place("FROM", place) :]
    return form.of("COPY (", *query, ") TO", form.tokens[place + 2 : place + 3])


def _without_format(form: _Form) -> _Form:
    """``INSERT OVERWRITE DIRECTORY 's3://…' USING parquet OPTIONS (…) SELECT …`` without USING."""
    place = form.place("DIRECTORY") + 2
    if form.words[place : place + 1] != ["USING"]:
        return form
    end = place + 2
    if form.words[end : end + 1] == ["OPTIONS"]:
        end = form.place(")", end) + 1
    return form.of(form.tokens[:place], form.tokens[end:])


def _without_table(form: _Form) -> _Form:
    """``DELETE FROM TABLE t`` => ``DELETE FROM t``; a table may have the name ``table``."""
    if form.words[3:4] in _BEHIND_TABLES:
        return form
    return form.of(form.tokens[:2], form.tokens[3:])


_BEHIND_TABLES: Final[Sequence[Sequence[str]]] = ([], ["WHERE"], ["USING"], ["AS"], [";"], ["."])


def _with_deletion(form: _Form) -> _Form:
    """``WHEN MATCHED THEN UPDATE SET … DELETE WHERE c`` => ``… WHEN MATCHED AND c THEN DELETE``."""
    place = form.place("DELETE WHERE")
    if place == len(form.tokens):
        return form
    end = form.place("WHEN", place)
    condition = form.tokens[place + 2 : end]
    changed = ("WHEN MATCHED AND", condition, "THEN DELETE")
    return form.of(form.tokens[:place], *changed, form.tokens[end:])


def _as_mutation(form: _Form) -> _Form:
    """``ALTER TABLE t UPDATE b = c WHERE a`` => ``UPDATE t SET b = c WHERE a``; DELETE, too."""
    tokens, words = form.tokens, form.words
    place = next((p for p, word in enumerate(words) if word in {"UPDATE", "DELETE"}), 0)
    end = words.index("ON", 0, place) if "ON" in words[:place] else place
    if words[place : place + 1] == ["UPDATE"]:
        return form.of("UPDATE", tokens[2:end], "SET", tokens[place + 1 :])
    return form.of("DELETE FROM", tokens[2:end], tokens[place + 1 :]) if place else form


def _with_alias(form: _Form) -> _Form:
    """``UPDATE (SELECT …) SET a = b`` => ``UPDATE (SELECT …) rows SET a = b``."""
    end = closing(form.tokens, 1) + 1
    if form.words[end : end + 1] != ["SET"]:
        return form
    return form.of(form.tokens[:end], "changed_rows", form.tokens[end:])


def _with_alias_before_set(form: _Form) -> _Form:
    """``UPDATE t FROM s SET …`` => ``UPDATE t FROM s AS s SET …``, where SET would be the alias."""
    place = form.place("SET")
    if form.words[place - 2 : place - 1] not in (["FROM"], [","], ["."]):
        return form
    return form.of(form.tokens[:place], "AS", form.tokens[place - 1 :])


def _with_short_output(form: _Form) -> _Form:
    """``OUTPUT … INTO dbo.t (a)``, ``INTO @t (a)``: the name of the table as one token."""
    tokens, words = form.tokens, form.words
    place = form.place("INTO", form.place("OUTPUT")) + 1
    sign = next((token.text for token in tokens[place : place + 1] if token.text in {"#", "@"}), "")
    start = place + bool(sign)
    end = start + 1
    while words[end : end + 1] == ["."]:
        end += 2
    alone = sign == "@" and words[end : end + 1] != ["("]
    if end == place + 1 or end > len(words) or alone:
        return form
    name = ".".join(f'"{token.text}"' for token in tokens[start:end:2])
    if start > place:
        name = f"{sign}{tokens[start].text}"
    first = tokens[place]
    token = Token(TokenType.VAR, name, first.line, first.col, first.start, tokens[end - 1].end)
    return form.of(tokens[:place], [token], tokens[end:])


def _with_late_output(form: _Form) -> _Form:
    """``DELETE x OUTPUT … FROM t x WHERE a`` => ``DELETE x FROM t x WHERE a OUTPUT …``."""
    tokens, words = form.tokens, form.words
    begin = form.place("OUTPUT")
    end = next((p for p in range(begin, len(words)) if words[p] in {"FROM", "WHERE"}), None)
    if end is None:
        return form
    last = len(tokens) - (words[-1] == ";")
    return form.of(tokens[:begin], tokens[end:last], tokens[begin:end], tokens[last:])


def _without_hints(form: _Form) -> _Form:
    """``INSERT INTO t WITH (TABLOCK) (a) SELECT …`` => ``INSERT INTO t (a) SELECT …``."""
    words = form.words
    place = words.index("INTO") + 2 if "INTO" in words[:12] else len(words)
    place += words[place - 1 : place] == ["#"]  # #t of T-SQL
    while words[place : place + 1] == ["."]:
        place += 2
    if words[place : place + 2] != ["WITH", "("] or words[0] not in {"INSERT", "WITH"}:
        return form
    return form.of(form.tokens[:place], form.tokens[closing(form.tokens, place + 1) + 1 :])


def _without_top(form: _Form) -> _Form:
    """``DELETE TOP (9) PERCENT FROM t`` => ``DELETE FROM t``; a query keeps its own."""
    words = form.words
    place = min(map(form.place, ("UPDATE", "DELETE", "INSERT"))) + 1
    if words[place : place + 2] != ["TOP", "("] or ")" not in words[place:]:
        return form
    end = words.index(")", place) + 1
    end += words[end : end + 1] == ["PERCENT"]
    return form.of(form.tokens[:place], form.tokens[end:])


def _spelled_out(form: _Form) -> _Form:
    """``SET t.a += 1`` => ``SET t.a = t.a + 1``."""
    spelled: list[Token] = []
    for place, token in enumerate(form.tokens):
        before = form.tokens[place - 1] if place else token
        if token.text == "=" and before.text in "+-*/%&|^" and before.end + 1 == token.start:
            operator = spelled.pop()
            start = len(spelled)
            while start and (spelled[start - 1].text == "." or _is_part(spelled, start - 1)):
                start -= 1
            spelled += [token, *spelled[start:], operator]
        else:
            spelled.append(token)
    return form.of(spelled)


def _is_part(tokens: Sequence[Token], place: int) -> bool:
    """Whether a token is the last part of a name, or one before a dot."""
    return place == len(tokens) - 1 or tokens[place + 1].text == "."


def _with_from(form: _Form) -> _Form:
    """``DELETE t WHERE …`` => ``DELETE FROM t WHERE …``; ``DELETE x FROM t x`` has one already."""
    verbs = [place for place, word in enumerate(form.words) if word == "DELETE"]
    if not verbs:
        return form
    place = verbs[-1] + 1
    if place == len(form.words) or form.place("FROM", place) < form.place("WHERE", place):
        return form
    return form.of(form.tokens[:place], "FROM", form.tokens[place:])


# --- the forms, in the order in which they are respelled ------------------------------------------

_SPARK: Final = frozenset({"databricks", "spark"})
_SCRIPTED: Final = frozenset({"hive", "spark", "spark2", "databricks"})
_CLONING: Final = frozenset({"bigquery", "databricks", "snowflake", "spark"})
_ALL: Final[frozenset[str]] = frozenset()
_UPSERT: Final = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


def _of(dialect: str) -> frozenset[str]:
    return frozenset({dialect})


def _of_words(
    respell: Callable[[str, str, _Form], _Form], begin: str, dialects: frozenset[str],
    before: str, after: str,
) -> _Respelling:  # fmt: skip
    return begin, dialects, partial(respell, before, after)


_Respelling = tuple[str, frozenset[str], Callable[[_Form], _Form]]
_FORMS: Final[Sequence[_Respelling]] = (
    ("", _SPARK | {"snowflake"}, _with_names),
    ("", _ALL, _without_colons),
    ("", _SPARK | {"bigquery"}, _with_selecting_pipes),
    ("", _SCRIPTED, _with_transforms),
    ("", _of("teradata"), _without_phrases),
    _of_words(_replaced, "", OF_TSQL, "WITH TIES", ""),
    _of_words(_replaced, "", OF_TSQL, "OPENROWSET ( BULK", "OPENROWSET ("),
    ("SELECT", _ALL, _as_copy_of_query),
    ("SELECT", _ALL, _without_variables),
    ("CREATE", _CLONING, _cloned),
    ("CREATE", _of("mysql"), _without_duplicates),
    ("CREATE", _of("duckdb"), _with_query),
    ("CREATE MATERIALIZED", _of("postgres"), _without_data),
    _of_words(_replaced, "CREATE", _of("databricks"), "ON VIOLATION DROP ROW", ""),
    _of_words(_replaced, "CREATE", _of("databricks"), "ON VIOLATION FAIL UPDATE", ""),
    ("CREATE", _of("databricks"), _with_checks),
    _of_words(_begun, "CREATE SNAPSHOT TABLE", _ALL, "CREATE SNAPSHOT TABLE", "CREATE TABLE"),
    _of_words(_begun, "CREATE OR ALTER", _ALL, "CREATE OR ALTER", "CREATE OR REPLACE"),
    _of_words(_begun, "REPLACE", _ALL, "REPLACE", "INSERT"),
    ("APPLY CHANGES INTO", _ALL, _as_insert),
    ("LOAD", _ALL, _as_copy),
    ("BULK", _ALL, _as_copy),
    ("INSERT", _ALL, _without_format),
    ("DELETE FROM TABLE", _ALL, _without_table),
    ("UPDATE", _of("teradata"), _with_alias_before_set),
    ("UPDATE (", _ALL, _with_alias),
    ("ALTER TABLE", _ALL, _as_moved),
    ("ALTER TABLE", _ALL, _as_rename),
    ("ALTER TABLE", _of("clickhouse"), _as_mutation),
    ("MERGE", _of("oracle"), _with_deletion),
    _of_words(_replaced, "MERGE", _of("postgres"), "OVERRIDING SYSTEM VALUE", ""),
    _of_words(_replaced, "MERGE", _of("postgres"), "OVERRIDING USER VALUE", ""),
    _of_words(_replaced, "MERGE", _ALL, "REMOVE DUPLICATES", _UPSERT),
    _of_words(_begun, EVOLVING, _ALL, EVOLVING, "MERGE"),
    ("", OF_TSQL, _with_short_output),
    ("DELETE", OF_TSQL, _with_late_output),
    *(
        (begin, OF_TSQL, respell)
        for respell in (_without_hints, _without_top, _spelled_out, _with_from)
        for begin in ("UPDATE", "DELETE", "INSERT", "WITH")
    ),
)
"""The first words of a statement, the dialects (any where there are none), and the function."""
