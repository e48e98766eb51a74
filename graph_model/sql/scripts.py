"""Scripts: a text cut into statements, through procedures and their control flow.

    CREATE PROCEDURE p() AS $$ BEGIN IF x THEN INSERT INTO t SELECT a FROM s; END IF; END; $$
    => INSERT INTO t SELECT a FROM s

Statements end at a semicolon; T-SQL needs none, so there a statement also ends where a word begins
the next one. Conditions of IF and WHILE and assignments of variables are left out: no table is
written there. What is put together as text when it runs is a piece of its own: nobody can read it.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import count, pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from sqlglot import Token, TokenType

from graph_model.sql.holdings import NOTHING, HeldRow, Holdings
from graph_model.sql.names import OF_MYSQL, OF_POSTGRES, OF_TSQL
from graph_model.sql.tokens import keyword, tokenize


class PieceKind(Enum):
    """What a piece of a script is."""

    STATEMENT = "statement"
    DYNAMIC = "dynamic"  # EXECUTE of a text
    CALL = "call"  # of a procedure that is not here
    BEGIN = "begin"  # of a transaction
    ROLLBACK = "rollback"  # of a whole transaction, in no block
    FOREIGN = "foreign"  # a procedure in another language


class ScriptPiece(NamedTuple):
    """One piece: its tokens, and the text that their places are in.

    ``variables`` are the folded names of parameters and variables of the procedure around it,
    which grow with the script: they are this piece's until the next is drawn; so is ``held``, what
    loops, FETCH and SELECT INTO put into variables. ``query`` is the number of a query whose rows
    variables hold, 0 for another statement.
    """

    kind: PieceKind
    tokens: Sequence[Token]
    text: str
    variables: Collection[str] = frozenset()
    held: Mapping[str, HeldRow | None] = MappingProxyType({})
    query: int = 0


def pieces(text: str, dialect: str) -> Iterator[ScriptPiece]:
    r"""The pieces of a text, in order; raises TokenError where it has no tokens. Commands of
    clients (psql's ``\c``, mysql's DELIMITER, SQL*Plus's SPOOL) are left out.
    """
    text = _as_sent(text, dialect)
    tokens = tokenize(text, dialect)
    yield from _Splitter(text, tokens, dialect, ChainMap(), count(1), inside=False).pieces()


# --- commands of clients -------------------------------------------------------------------------


def _as_sent(text: str, dialect: str) -> str:
    """The text as a client sends it: its own commands are blanks, so that places stay."""
    text = text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text
    if dialect in OF_POSTGRES and "\\" in text:
        return _ENDING.sub(_semicolon, _META.sub(_blank, _COPY.sub(_server_copy, text)))
    if dialect in OF_MYSQL and "delimiter" in text.lower():
        return "".join(_with_semicolons(text.splitlines(keepends=True)))
    if dialect == "oracle":
        return _RUN.sub(_semicolon, _SQLPLUS.sub(_blank, text))
    return _SQLCMD.sub(_blank, text) if dialect in OF_TSQL and ":" in text else text


_COPY: Final = re.compile(r"(?im)^([ \t]*)\\(copy\b[^\n]*)(\n|\Z)")
_META: Final = re.compile(r"(?m)^[ \t]*\\[^\n]*")
_ENDING: Final = re.compile(r"(?<=\s)\\(?:g|gx|gset|gexec|gdesc|watch|crosstabview)\b[^\n]*")
_SQLPLUS: Final = re.compile(
    r"(?im)^[ \t]*(?:spool|prompt|whenever|rem|remark|accept|undefine|ttitle|btitle)\b[^\n]*"
    r"|^[ \t]*set[ \t]+\w+[ \t]+(?:on|off|\d+)\b[^\n=]*$|^[ \t]*@[^\n]*"
)
_RUN: Final = re.compile(r"(?m)^[ \t]*/[ \t]*\r?$")
_SQLCMD: Final = re.compile(r"(?im)^[ \t]*:(?:r|setvar|on|out|error|connect|exit|quit)\b[^\n]*")
_DELIMITER: Final = re.compile(r"(?i)\s*delimiter\s+(\S+)\s*")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _semicolon(match: re.Match[str]) -> str:
    return ";".ljust(len(match[0]))


def _server_copy(match: re.Match[str]) -> str:
    r"""``\copy t from 'f'`` is a COPY that ends with its line."""
    return f"{match[1]} {match[2]}{';' if match[3] else ''}"


def _with_semicolons(lines: Iterable[str]) -> Iterator[str]:
    """``DELIMITER //`` … ``END //`` => ``END ;``."""
    delimiter = ";"
    for line in lines:
        if (changed := _DELIMITER.fullmatch(line)) is not None:
            delimiter = changed[1]
            yield "\n"
            continue
        body = line.rstrip()
        if delimiter != ";" and body.endswith(delimiter):
            line = f"{body.removesuffix(delimiter)};\n"
        yield line


# --------------------------------------------------------------------------------------------------


_BODIES: Final = frozenset(
    {TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.STRING, TokenType.NATIONAL_STRING}
)
_BLOCKS: Final = frozenset({TokenType.HEREDOC_STRING, TokenType.RAW_STRING})
_ROUTINES: Final = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER"})
_SUBPROGRAMS: Final = frozenset({"PROCEDURE", "FUNCTION"})
_FOREIGN: Final = frozenset(
    {"JAVASCRIPT", "PYTHON", "JAVA", "SCALA", "PLPYTHON3U", "PLPYTHONU", "C"}
)
_BEFORE_KINDS: Final = frozenset(
    {"OR", "REPLACE", "ALTER", "SECURE", "TEMP", "TEMPORARY", "DEFINER", "="}
)
_RUN_LATER: Final = frozenset({"TASK", "PIPE"})
_WRITING: Final = frozenset({"BEGIN", "INSERT", "UPDATE", "DELETE", "MERGE"})
_NAMED_ENDINGS: Final = frozenset({"IF", "LOOP", "CASE", "WHILE", "FOR", "REPEAT"})
#: Statements that may fill any variable that they name.
_FILLING: Final = frozenset({"CALL", "EXEC", "EXECUTE", "GET", "PERFORM"})
_GIVEN_BACK: Final = frozenset({"OUTPUT", "OUT"})
_MAKING: Final = frozenset(
    {"CREATE", "ALTER", "DROP", "TRUNCATE", "USE", "COPY", "UNLOAD", ";", *_SUBPROGRAMS}
)
_COMPARING: Final = frozenset({"<=", ">=", "!=", "=="})
_BEFORE_CONDITIONS: Final = frozenset({"WHERE", "AND", "OR", "ON", "NOT", "WHEN", "(", "HAVING"})
#: Variables that a routine has without declaring them.
_OF_ROUTINES: Final[Mapping[str, None]] = dict.fromkeys(
    ("sqlerrm", "sqlstate", "sqlcode", "found", "tg_op", "new", "old")
)
_TRANSACTION_WORDS: Final = frozenset({"TRANSACTION", "TRAN", "WORK"})
_TRANSACTION: Final = frozenset({"TRANSACTION", "TRAN", "WORK", "READ", "ISOLATION", ";", ""})
#: Statements without lineage: to the next semicolon, or the next statement of T-SQL.
_WITHOUT: Final = frozenset(
    {"RAISE", "PRINT", "RETURN", "COMMIT", "SAVE", "SAVEPOINT", "RELEASE", "RAISERROR", "THROW",
     "FETCH", "CLOSE", "DEALLOCATE", "ANALYZE", "VACUUM", "GRANT", "REVOKE", "LOCK",
     "COMMENT", "SHOW", "DESCRIBE", "DESC", "PREPARE", "GET", "NULL", "EXIT", "CONTINUE",
     "BREAK", "LEAVE", "ITERATE", "GOTO", "WAITFOR", "END", "REFRESH", "UNLOCK", "DBCC", "KILL",
     "RESET", "DISCARD", "LISTEN", "NOTIFY", "CHECKPOINT", "OPTIMIZE", "MSCK REPAIR", "REINDEX",
     "CLUSTER", "DENY", "CLEAR", "FLUSH", "LOCK TABLES", "UNLOCK TABLES",
     "LIST", "LS", "REMOVE", "PUT", "DECLARE", "SIGNAL", "RESIGNAL", "DELIMITER", "ADD",
     "UNCACHE", "UNTIL", "UPDATE STATISTICS"}
)  # fmt: skip
#: Words of T-SQL that begin a statement, wherever they stand.
_BEGINNINGS: Final = frozenset(
    {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "CREATE", "ALTER", "DROP", "TRUNCATE",
     "EXEC", "EXECUTE", "DECLARE", "SET", "IF", "ELSE", "WHILE", "BEGIN", "END", "PRINT", "RETURN",
     "COMMIT", "ROLLBACK", "RAISERROR", "GO", "USE", "THROW", "WAITFOR", "DEALLOCATE", "CLOSE",
     "OPEN", "FETCH", "BULK", "UPDATE STATISTICS"}
)  # fmt: skip
_DECLARING_INSIDE: Final = frozenset(
    {"mysql", "doris", "starrocks", "bigquery", "spark", "databricks"}
)
_DECLARING_WITHOUT_A_WORD: Final = frozenset({"oracle"})
_WITH_BLOCKS: Final = frozenset({"oracle", "snowflake"})  # DECLARE … BEGIN, in no procedure
_LABELLED: Final = frozenset({"LOOP", "WHILE", "REPEAT", "FOR", "BEGIN"})
_ENDINGS: Final = {"LOOP": "LOOP", "DO": "FOR"}  # FOR … LOOP … END LOOP, FOR … DO … END FOR
_CURSOR_OPTIONS: Final = frozenset(
    {"LOCAL", "GLOBAL", "FORWARD_ONLY", "SCROLL", "STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD",
     "READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC", "TYPE_WARNING"}
)  # fmt: skip
_INTO: Final = frozenset({"INTO", "BULK COLLECT INTO"})
_BEFORE_VARIABLES: Final = frozenset({"strict", ":", "@"})

Variables = ChainMap[str, None]
"""Folded names: those of a body in quotes, then those around it."""


class _Splitter:
    def __init__(
        self, text: str, tokens: Sequence[Token], dialect: str, variables: Variables,
        numbers: Iterator[int], *, inside: bool,
    ) -> None:  # fmt: skip
        self._text = text
        self._tokens = tokens
        self._dialect = dialect
        self._variables = variables
        self._inside = inside  # a procedure's body: EXECUTE is dynamic, BEGIN a block
        self._loose = dialect in OF_TSQL
        self._making = {"CREATE", "ALTER"} if self._loose else {"CREATE"}
        self._place = 0
        self._blocks = 0
        self._numbers = numbers  # of the loops of the whole text
        self._held = Holdings()  # of cursors, too: "cursor c"
        self._packaged: Mapping[str, HeldRow | None] = {}  # the cursors of a package
        self._tried: set[str] = set()  # what BEGIN TRY … END TRY filled

    # --- reading tokens --------------------------------------------------------------------------

    def _word(self, ahead: int = 0) -> str:
        place = self._place + ahead
        if place >= len(self._tokens):
            return ""
        token = self._tokens[place]
        if token.token_type in _BODIES or token.token_type is TokenType.IDENTIFIER:
            return "'"  # in quotes: no keyword
        return token.text.upper()

    def _name(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._tokens[place].text.lower() if place < len(self._tokens) else ""

    def _ends(self) -> bool:
        return self._place >= len(self._tokens)

    def _piece(self, kind: PieceKind, start: int) -> ScriptPiece:
        tokens = self._tokens[start : self._place]
        return ScriptPiece(kind, tokens, self._text, self._variables, self._held)

    # --- pieces ----------------------------------------------------------------------------------

    def pieces(self) -> Iterator[ScriptPiece]:
        while not self._ends():
            before, depth, word = self._place, self._held.depth, self._word()
            self._held.proceed(word)
            yield from self._next()
            self._assigned(before)
            if word not in {";", "ELSE"} and self._held.depth <= depth:
                self._held.end_statement()
            if self._place == before:
                self._place += 1

    def _next(self) -> Iterator[ScriptPiece]:
        word = self._word()
        reading = _READINGS.get(word)
        if word in {";", "GO", ")", "/"}:  # the last of SQL*Plus
            self._place += 1
            if word == "GO" and self._word().isdecimal():  # GO 5: five times
                self._place += 1
        elif label := self._label():
            self._place += label
        elif reading is not None:
            yield from reading(self) or ()
        elif word in self._making and (kind := self._created()) in _ROUTINES:
            yield from self._routine(kind)
        elif word == "CREATE" and kind == "PACKAGE":
            yield from self._package()
        elif word in _SUBPROGRAMS and self._inside:
            yield from self._routine(word)
        elif word == "CREATE" and kind == "STREAM":
            self._to_end()
        elif word == "CREATE" and kind in _RUN_LATER:  # CREATE TASK x … AS INSERT INTO …
            self._past({"AS"})
        elif word in _WITHOUT or self._word(1) == ":=" or self._is_label():
            self._to_end()
        else:
            yield from self._statement()

    def _assigned(self, start: int) -> None:
        """What a statement that was read fills: ``FETCH c INTO r`` with a row of its cursor,
        ``r := 1`` with nothing; of what else may fill a variable, nobody can tell what it is.
        """
        tokens = self._tokens[start : self._place]
        words = [token.text.upper() for token in tokens]
        first = words[0] if words else ""
        if first == "FETCH":
            place = self._into(start) - start
            cursor = self._held.get(f"cursor {words[place - 1].lower()}")
            self._hold(self._filled(start), cursor.query if cursor is not None else 0)
        elif first in _FILLING:
            if first in {"EXEC", "EXECUTE"} and self._loose and not _GIVEN_BACK & set(words):
                self._forget(self._assigned_by(tokens[:4]))
            else:
                self._forget(_mentioned(tokens))
        elif first in {"SET", "LET"} or words[1:2] in ([":="], ["="]):
            names = self._assigned_by(tokens)
            constant = len(names) == 1 and _is_constant(tokens[words.index(_sign(words)) + 1 :])
            bracketed = "(" in words[1:3]  # SET VAR (a, b) = …
            for name in _mentioned(tokens) if bracketed else names:
                self._held.fill(name, NOTHING if constant and not bracketed else None)
        elif first in _MAIN or first in {"WITH", "DECLARE"}:
            self._forget(self._assigned_by(tokens))
            if first == "DECLARE" and self._loose and "CURSOR" not in words:  # anew behind GO
                self._forget(n for n in _mentioned(tokens) if n.startswith("@") and n in self._held)
            if "RETURNING" in words:
                self._forget(self._filled(start + words.index("RETURNING")))
        elif first not in _READINGS and first not in _WITHOUT and first not in _MAKING:
            self._forget(_mentioned(tokens))

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._held or name in self._variables or name.startswith("@"):
                self._held.fill(name, None)

    def _assigned_by(self, tokens: Sequence[Token]) -> list[str]:
        """``SELECT @a = b, @c += d``, ``v := 3``, ``SET v = 0, r.a = 1`` => @a, @c, v, r."""
        names: list[str] = []
        sets = keyword(tokens[0]) == "SET" if tokens else False
        for at, token in enumerate(tokens):
            if not token.text.endswith("=") or token.text in _COMPARING or not at:
                continue
            start = at - 1
            while start > 1 and (tokens[start - 1].text == "." or tokens[start - 1].text == "]"):
                start -= 2
            variable = start > 0 and tokens[start - 1].text == "@"
            before = keyword(tokens[start - 1 - variable]) if start > variable else ""
            plain = token.text == ":=" or at == 1 or sets
            if plain or (variable and before not in _BEFORE_CONDITIONS):
                names.append("@" * variable + tokens[start].text.lower())
        return names

    def _filled(self, start: int) -> list[str]:
        """The variables behind INTO: ``INTO STRICT a, :b, @c`` => a, b, @c. Of ``INTO r.a, b``
        nobody can tell what r and b hold: they are forgotten, and no names are given.
        """
        names: list[str] = []
        prefix, expected = "", True
        for token in self._tokens[self._into(start) + 1 : self._place]:
            word = token.text.lower()
            if word in _BEFORE_VARIABLES:
                prefix = word.removeprefix(":").removeprefix("strict")
            elif word == ",":
                expected = True
            elif expected:
                names.append(prefix + word)
                prefix, expected = "", False
            elif word in {".", "[", "("}:
                tokens = self._tokens[self._into(start) + 1 : self._place]
                self._forget(_mentioned(tokens))
                return []
            else:
                break
        return names

    def _into(self, start: int) -> int:
        """The place of ``INTO`` or ``BULK COLLECT INTO``; the end where there is none."""
        words = (self._word(at - self._place) for at in range(start, self._place))
        return next((at for at, w in enumerate(words, start) if w in _INTO), self._place)

    def _hold(self, names: Sequence[str], query: int) -> None:
        """The variables hold the row of a query, each its value where they are several; of query 0
        nothing is known.
        """
        for place, name in enumerate(names):
            row = HeldRow(query, place if len(names) > 1 else None) if query else None
            self._held.fill(name, row)

    def _label(self) -> int:
        """How many tokens a label before a loop or block has: ``again: LOOP``, ``<<again>>``."""
        if (self._word(), self._word(1)) == ("<", "<"):
            return 5
        return 2 if self._is_label() and self._word(2) in _LABELLED else 0

    def _is_label(self) -> bool:
        """``again: SET …``, but not ``SELECT :day, …``, where a parameter stands."""
        return self._word(1) == ":" and self._word() not in _BEGINNINGS | {"CALL", "VALUES", "FROM"}

    def _statement(self) -> Iterator[ScriptPiece]:
        start = self._place
        self._to_end()
        piece = self._piece(PieceKind.STATEMENT, start)
        names = self._filled(start) if keyword(piece.tokens[0]) in {"SELECT", "WITH"} else []
        known = bool(names) and all(n.startswith("@") or n in self._variables for n in names)
        query = next(self._numbers) if known else 0
        yield piece._replace(query=query)
        self._hold(names, query)

    def _to_end(self) -> None:
        """To the semicolon, or in T-SQL to the word that begins the next statement."""
        depth = cases = 0
        start, taken = self._place, _Taken(self._word())
        while not self._ends():
            word = self._word()
            if word == "(":
                depth += 1
            elif word == ")" and depth <= 0:
                return
            elif word == ")":
                depth -= 1
            elif depth <= 0 and word == ";":
                return
            elif word == "CASE":
                cases += 1
            elif word == "END" and cases:
                cases -= 1
            elif word == "END" and self._ends_block(start):
                return
            elif cases or depth > 0 or not self._loose:
                pass  # within brackets and CASE … ELSE … END nothing begins
            elif self._place > start and word in _BEGINNINGS:
                before = keyword(self._tokens[self._place - 1])
                if not taken.takes(word, before, self._word(1), self._word(2)):
                    return
            self._place += 1

    def _ends_block(self, start: int) -> bool:
        """Whether END is that of a block around a last statement without a semicolon."""
        before = keyword(self._tokens[self._place - 1]) if self._place > start else ""
        return bool(self._blocks) and self._place > start and before not in {"AS", "."}

    # --- blocks and control flow -----------------------------------------------------------------

    def _begin(self) -> Iterator[ScriptPiece]:
        start, following = self._place, self._word(1)
        if following in _TRANSACTION and not (self._inside and following in {";", ""}):
            self._place += 1 + (following in _TRANSACTION_WORDS)
            if self._word() not in _MAIN:  # BEGIN TRANSACTION INSERT …, without a semicolon
                self._to_end()
            if not self._inside:
                yield self._piece(PieceKind.BEGIN, start)
            return
        self._blocks += 1
        self._held.open("", certain=following != "CATCH")
        for name in self._tried if following == "CATCH" else ():
            self._held.fill(name, NOTHING)  # what it held where the error came
        self._place += 2 if following in {"TRY", "CATCH", "ATOMIC"} else 1

    def _end(self) -> None:
        """``END``, ``END IF``, ``END LOOP label``, ``END CATCH``."""
        self._blocks = max(0, self._blocks - 1)
        self._place += 1
        ending = self._word() if self._word() in _NAMED_ENDINGS and not self._loose else ""
        filled = self._held.close(ending, keeps=self._dialect in OF_POSTGRES)
        self._tried = filled if self._word() == "TRY" else set()
        if self._loose:
            self._place += self._word() in {"TRY", "CATCH"}
        else:
            self._to_end()

    def _start(self) -> Iterator[ScriptPiece]:
        start = self._place
        self._to_end()
        yield self._piece(PieceKind.BEGIN, start)

    def _rollback(self) -> Iterator[ScriptPiece]:
        start, whole = self._place, self._word(1) != "TO" and self._word(2) != "TO"
        self._to_end()
        if whole and not self._blocks and not self._inside:
            yield self._piece(PieceKind.ROLLBACK, start)

    def _condition(self) -> None:
        """IF, ELSIF, WHILE: what they ask is left out, what they guard is read."""
        word = self._word()
        self._place += 1
        if not self._loose:
            self._past({"THEN", "LOOP", "DO"})
            if word in {"ELSIF", "ELSEIF"}:
                self._held.other()
            else:
                self._held.open("LOOP" if self._word(-1) == "LOOP" else word)
            return
        self._held.open(f"one {word}")
        depth = 0
        self._blocks += 1  # one guarded statement is no plain statement of the script
        while not self._ends():
            word = self._word()
            depth += (word == "(") - (word == ")")
            if depth <= 0 and (word in _BEGINNINGS or word == ";"):
                break
            self._place += 1

    def _for(self) -> Iterator[ScriptPiece]:
        """``FOR r IN (SELECT …) LOOP``, ``FOR r AS SELECT … DO``, ``FOR SELECT … DO``: the query
        reads, its loop is read on.
        """
        names = self._row_names()
        number = next(self._numbers)
        self._place += 1 + 2 * len(names)
        self._variables.update(dict.fromkeys(names))  # no columns
        if not names and self._word() not in {"(", "SELECT", "WITH"}:  # FOR a, b IN SELECT …
            self._past({"IN", "LOOP", "DO"})
        if self._word(1) == "CURSOR" and self._word(-1) == "AS":  # FOR r AS c CURSOR FOR SELECT …
            self._past({"FOR"})
        while self._word() in {"(", "REVERSE"}:
            self._place += 1
        start = self._place
        if self._word() in {"WITH", *_MAIN} or self._word(-1) == "AS":
            # FOR r IN DELETE FROM t RETURNING a LOOP, FOR r AS FROM s SELECT a DO
            self._past({"LOOP"} if self._dialect in OF_POSTGRES else {"LOOP", "DO"})
            end = self._place - 1
            opened = sum((keyword(t) == "(") - (keyword(t) == ")") for t in self._tokens[start:end])
            piece = self._piece(PieceKind.STATEMENT, start)
            tokens = self._tokens[start : end + min(opened, 0)]
            yield piece._replace(tokens=tokens, query=number)
        elif self._word() == "EXECUTE":
            self._past({"LOOP", "DO"})
            yield self._piece(PieceKind.DYNAMIC, start)
        else:
            cursor = self._held.get(f"cursor {self._word().lower()}", NOTHING)  # FOR r IN c LOOP
            number = cursor.query if cursor is not None else 0
            self._past({"LOOP", "DO"})
        ending = _ENDINGS.get(self._word(-1))
        if ending is not None:
            self._held.open(ending, names or [""])
            self._hold(names or [""], number)

    def _row_names(self) -> list[str]:
        """``FOR r IN …``, ``FOR r AS …``, ``FOR a, b IN …``; [] where the row has no name."""
        names: list[str] = []
        ahead = 1
        while self._word(ahead + 1) in {",", "IN", "AS"}:
            names.append(self._name(ahead))
            if self._word(ahead + 1) != ",":
                return names
            ahead += 2
        return []

    def _loop(self) -> None:
        self._place += 1
        self._held.open("LOOP")

    def _for_all(self) -> None:
        """``FORALL i IN 1..l.COUNT INSERT …``: its statement is read on."""
        self._variables[self._name(1)] = None
        while not self._ends() and self._word() not in {*_MAIN, "EXECUTE", ";"}:
            self._place += 1

    def _past(self, words: set[str]) -> None:
        """Behind the next of the words; a semicolon ends the search."""
        depth = cases = 0
        while not self._ends():
            word = self._word()
            depth += (word == "(") - (word == ")")
            cases += word == "CASE"
            self._place += 1
            if word == "END" and cases:
                cases -= 1
            elif cases or self._word(-2) in {"AS", "."}:
                pass  # SELECT a AS do
            elif word in words or (word == ";" and depth <= 0):
                return

    def _skip_word(self) -> None:
        self._place += 1

    def _else(self) -> None:
        self._place += 1
        branch = self._held.innermost
        if branch is not None and (branch.is_else or not self._loose):
            self._held.other()

    def _exception(self) -> None:
        """``EXCEPTION WHEN others THEN``, and each further WHEN."""
        branch = self._held.innermost
        if self._word() == "WHEN" and branch is not None and branch.ending == "CASE":
            self._held.other()
        else:
            self._held.handle()
        within = "WHEN" in {self._word(), self._word(1)}
        self._past({"THEN"}) if within else self._skip_word()

    def _declare(self) -> Iterator[ScriptPiece]:
        """Variables to BEGIN; a table variable of T-SQL is a temporary table of its columns."""
        in_block = self._inside or self._dialect in _WITH_BLOCKS
        alone = self._loose or self._dialect in _DECLARING_INSIDE or not in_block
        if alone and "CURSOR" in {self._word(2), self._word(3), self._word(4)}:
            yield from self._cursor(self._name(1 + (self._word(1) == "@")))
            return
        if self._loose:
            start = self._place
            self._to_end()
            if "TABLE" in map(keyword, self._tokens[start : start + 4]):
                yield self._piece(PieceKind.STATEMENT, start)
            return
        if self._dialect in _DECLARING_INSIDE:
            self._variables[self._name(1)] = None
            self._to_end()
            return
        self._place += 1
        yield from self._declared()

    def _declared(self) -> Iterator[ScriptPiece]:
        """The head of a block: names, each with a type, up to BEGIN. A cursor reads its query."""
        named: set[str] = set()
        while not self._ends() and self._word() not in {"BEGIN", *_SUBPROGRAMS}:
            words = [self._word(), self._word(1), self._word(2), self._word(3)]
            name = self._name(int(words[0] == "CURSOR"))  # CURSOR c IS SELECT …, c CURSOR FOR …
            named.add(name)
            self._variables[name] = None
            if "CURSOR" in words and ";" not in words[: words.index("CURSOR")]:
                self._variables.update(self._parameters() if words[2] == "(" else {})
                yield from self._cursor(name)
            self._to_end()
            self._place += 1
        self._forget(name for name in sorted(named) if name in self._held)

    def _cursor(self, name: str) -> Iterator[ScriptPiece]:
        """``CURSOR c IS SELECT …``, ``DECLARE c CURSOR FOR SELECT …``, ``OPEN c FOR SELECT …``: the
        query reads, and FETCH puts its rows into variables.
        """
        self._held.fill(f"cursor {name}", None)
        if self._to_query() and self._word() in {"SELECT", "WITH", "("}:
            number = next(self._numbers)
            self._held.fill(f"cursor {name}", HeldRow(number))
            for piece in self._statement():
                yield piece._replace(query=number)

    def _to_query(self) -> bool:
        """Behind FOR or IS; False where the cursor has no query: ``DECLARE @c CURSOR`` of T-SQL
        ends behind its options.
        """
        depth, options = 0, False
        while not self._ends() and (depth > 0 or self._word() != ";"):
            word = self._word()
            depth += (word == "(") - (word == ")")
            if depth <= 0 and word in {"FOR", "IS"}:
                self._place += 1
                return True
            if self._loose and options and word not in _CURSOR_OPTIONS:
                if word not in _BEGINNINGS:  # DECLARE @c CURSOR, @n int
                    self._to_end()
                return False
            options = options or word == "CURSOR"
            self._place += 1
        return False

    def _let(self) -> Iterator[ScriptPiece]:
        """``LET c CURSOR FOR SELECT …``; other variables are left out."""
        if self._word(2) == "CURSOR":
            yield from self._cursor(self._name(1))
        else:
            self._to_end()

    def _open(self) -> Iterator[ScriptPiece]:
        """``OPEN c FOR SELECT …``; ``OPEN c`` and ``OPEN c(3)`` are left out."""
        start = self._place
        words = [self._word(2), self._word(3), self._word(4)]  # OPEN c NO SCROLL FOR, OPEN :c FOR
        if "FOR" not in words or ";" in words[: words.index("FOR")]:
            self._to_end()
            return
        yield from self._cursor(self._name(1 + (self._word(1) == ":")))
        if self._word() != ";":  # FOR EXECUTE …, FOR 'SELECT …'
            self._to_end()
            yield self._piece(PieceKind.DYNAMIC, start)

    def _execute(self) -> Iterator[ScriptPiece]:
        start = self._place
        self._to_end()
        last = self._tokens[self._place - 1]
        if last.token_type in _BLOCKS and self._place - start == 3:  # EXECUTE IMMEDIATE $$ … $$
            yield from self._quoted(last.text, {})
            return
        words = [token.text.upper() for token in self._tokens[start : start + 3]]
        text = words[1:2] == ["("] or self._tokens[min(start + 1, len(self._tokens) - 1)].token_type
        dynamic = (
            text is True or text in _BODIES or "IMMEDIATE" in words[1:2]
            or any("SP_EXECUTESQL" in word for word in words) or not self._loose
        )  # fmt: skip
        yield self._piece(PieceKind.DYNAMIC if dynamic else PieceKind.CALL, start)

    def _call(self) -> Iterator[ScriptPiece]:
        start = self._place
        self._to_end()
        yield self._piece(PieceKind.CALL, start)

    def _return(self) -> Iterator[ScriptPiece]:
        """``RETURN QUERY SELECT …``."""
        if self._word(1) == "QUERY" and self._word(2) != "EXECUTE":
            self._place += 2
        elif self._word(1) == "QUERY":
            self._place += 2
            yield from self._execute()
        elif self._loose:
            self._place += 1
            while not self._ends() and self._word() not in _BEGINNINGS | {";", "("}:
                self._place += 1
        else:
            self._to_end()

    def _set(self) -> Iterator[ScriptPiece]:
        """``SET search_path TO …`` is read, other settings and variables are not."""
        if self._loose and self._word(4) == "CURSOR":  # SET @c = CURSOR FOR SELECT …
            yield from self._cursor(self._name(2))
            return
        start = self._place
        self._to_end()
        setting = [token.text.upper() for token in self._tokens[start + 1 : start + 2]]
        if setting in (["SEARCH_PATH"], ["SCHEMA"]):
            yield self._piece(PieceKind.STATEMENT, start)

    # --- procedures ------------------------------------------------------------------------------

    def _created(self) -> str:
        """What CREATE makes: ``CREATE OR REPLACE PROCEDURE`` => PROCEDURE."""
        ahead = [self._word(number) for number in range(1, 6)]
        return next((word for word in ahead if word not in _BEFORE_KINDS), "")

    def _routine(self, kind: str) -> Iterator[ScriptPiece]:
        """Its body: a text in quotes, or the statements that follow."""
        start = self._place
        names = self._parameters()
        while self._is_in_head():
            if self._word() == "LANGUAGE" and self._word(1) in _FOREIGN:
                self._to_end()
                yield self._piece(PieceKind.FOREIGN, start)
                return
            self._place += 1
        if self._word() in {"AS", "IS"}:
            self._place += 1
        if self._is_body():
            yield from self._body(start, names)
            return
        if kind == "FUNCTION" and self._word() == "(":  # the value of an expression
            self._to_end()
            return
        self._inside = True
        self._held = Holdings()
        self._held.update({n: c for n, c in self._packaged.items() if n[7:] not in names})
        self._variables.update({**names, **_OF_ROUTINES})
        if self._dialect in _DECLARING_WITHOUT_A_WORD and self._word() != "BEGIN":
            yield from self._declared()

    def _package(self) -> Iterator[ScriptPiece]:
        """To the first procedure of a package of Oracle; a package without a body has none."""
        while not self._ends() and self._word() not in {"AS", "IS"}:
            self._place += 1
        self._place += 1
        self._inside = True
        yield from self._declared()
        self._packaged = {n: row for n, row in self._held.items() if n.startswith("cursor ")}

    def _is_in_head(self) -> bool:
        """Before AS; ``EXECUTE AS CALLER`` is within. One statement may follow FOR EACH ROW."""
        before = keyword(self._tokens[self._place - 1]) if self._place else ""
        if before == "ROW" and self._word() in _MAIN:
            return False
        if self._word() == "AS":
            return keyword(self._tokens[self._place - 1]) == "EXECUTE"
        return not self._ends() and self._word() not in {"IS", "BEGIN", ";"}

    def _is_body(self) -> bool:
        return not self._ends() and self._tokens[self._place].token_type in _BODIES

    def _body(self, start: int, names: Mapping[str, None]) -> Iterator[ScriptPiece]:
        text = self._tokens[self._place].text
        self._to_end()
        words = {token.text.upper() for token in self._tokens[start : self._place]}
        if words & _FOREIGN and "LANGUAGE" in words:
            yield self._piece(PieceKind.FOREIGN, start)
        elif "FUNCTION" not in words or _WRITING & set(text.upper().split()):
            yield from self._quoted(text, names)

    def _quoted(self, text: str, names: Mapping[str, None]) -> Iterator[ScriptPiece]:
        tokens = tokenize(text, self._dialect)
        known = self._variables.new_child({**names, **_OF_ROUTINES})
        body = _Splitter(text, tokens, self._dialect, known, self._numbers, inside=True)
        yield from body.pieces()

    def _do(self) -> Iterator[ScriptPiece]:
        """``DO $$ … $$``."""
        self._place += 1
        if self._is_body():
            text = self._tokens[self._place].text
            self._to_end()
            yield from self._quoted(text, {})

    def _parameters(self) -> Mapping[str, None]:
        """The names in the first brackets: ``p(IN day date, INOUT n int)``."""
        named: dict[str, None] = {}
        depth, fresh = 0, False
        while self._is_in_head() and self._word() != "RETURNS":
            word = self._word()
            depth += (word == "(") - (word == ")")
            if word == ")" and depth == 0:
                break
            if depth == 1 and word in {"(", ","}:
                fresh = True
            elif fresh and word not in {"IN", "OUT", "INOUT", "VARIADIC"}:
                named[self._tokens[self._place].text.lower()] = None
                fresh = False
            self._place += 1
        return named


class _Taken:
    """Which words that could begin a statement of T-SQL belong to the one that is read."""

    def __init__(self, first: str) -> None:
        self._first = first
        self._main = first
        self._selects = first in {"INSERT", "CREATE", "DECLARE"}
        self._sets = True

    def takes(self, word: str, before: str, after: str, beyond: str) -> bool:
        if self._first in _GRANTING:  # GRANT SELECT, UPDATE ON t TO r WITH GRANT OPTION
            return before in {*_GRANTING, ","} or (word, after) == ("WITH", "GRANT")
        if word == "BULK":  # BULK INSERT t FROM 'path'; else a name
            return after != "INSERT"
        if (before, word) == ("BULK", "INSERT"):
            return True
        if word == "FETCH":
            return before in {"ROW", "ROWS"}  # OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY
        if word == "ALTER" and self._first == "CREATE" and before == "OR":
            return True
        if word == "MERGE" and after in {"JOIN", "INTO"} and before not in {"", ";"}:
            return after == "JOIN"
        if self._main == "MERGE" or word == before:
            return word != "GO"
        if self._first == "ALTER" and (taken := _IN_ALTER.get(word)) is not None:
            return taken(before, after)
        if word == "WITH":
            self._selects = self._selects or before == "AS"  # ALTER VIEW v AS WITH …
            return (
                after == "("
                or beyond not in {"AS", "("}  # WITH NOWAIT, WITH FULLSCAN
                or before in {"AS", ","}
                or self._first in {"CREATE", "INSERT"}
            )
        if word == "SELECT" and before in {"UNION", "ALL", "EXCEPT", "INTERSECT", "AS", "FOR", "("}:
            return True
        if word in {"IF", "END"}:
            return word == "IF" and self._first in {"DROP", "CREATE"}
        if self._main == "UPDATE" and word == "SET" and self._sets:
            self._sets = False  # UPDATE t SET a = 1 SET @n = @@ROWCOUNT
            return True
        if self._first == "WITH" and self._main == "WITH" and word in _MAIN:
            self._main = word
            self._selects = word in {"INSERT", "MERGE"}
            return True
        if self._selects and word in {"SELECT", "EXEC", "EXECUTE"}:
            self._selects = False
            return self._first != "DECLARE" or before == "FOR"
        return word == "UPDATE" and after == "("


def _mentioned(tokens: Sequence[Token]) -> set[str]:
    """The names that stand in a statement, of variables and of cursors, among others."""
    names = {token.text.lower() for token in tokens}
    at = {f"@{after.text.lower()}" for token, after in pairwise(tokens) if token.text == "@"}
    return names | at | {f"cursor {name}" for name in names}


def _sign(words: Sequence[str]) -> str:
    return next((word for word in words if word in {":=", "="}), words[-1])


def _is_constant(tokens: Sequence[Token]) -> bool:
    return all(
        token.token_type in {TokenType.NUMBER, TokenType.STRING, TokenType.DASH, TokenType.NULL,
                             TokenType.TRUE, TokenType.FALSE}
        for token in tokens
    )  # fmt: skip


_DROPPED: Final = frozenset(
    {"TABLE", "VIEW", "INDEX", "PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "SCHEMA", "SYNONYM"}
)
#: Of ALTER TABLE t ALTER COLUMN a, DROP COLUMN IF EXISTS a, SET (…), ON DELETE CASCADE: whether a
#: word between these two belongs to it.
_IN_ALTER: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "ALTER": lambda _, after: after == "COLUMN",
    "DROP": lambda _, after: after not in _DROPPED,
    "IF": lambda before, _: before in {"COLUMN", "CONSTRAINT", *_DROPPED},
    "SET": lambda before, after: after == "(" or before in {"DELETE", "UPDATE", "ON"},
    "DELETE": lambda before, _: before == "ON",
    "UPDATE": lambda before, _: before == "ON",
    "EXECUTE": lambda before, _: before == "WITH",
}
_GRANTING: Final = frozenset({"GRANT", "REVOKE", "DENY"})
_MAIN: Final = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"})
_READINGS: Final = {
    "BEGIN": _Splitter._begin,
    "START": _Splitter._start,
    "END": _Splitter._end,
    "ROLLBACK": _Splitter._rollback,
    "ABORT": _Splitter._rollback,
    "IF": _Splitter._condition,
    "ELSIF": _Splitter._condition,
    "ELSEIF": _Splitter._condition,
    "WHILE": _Splitter._condition,
    "FOR": _Splitter._for,
    "FOREACH": _Splitter._for,
    "FORALL": _Splitter._for_all,
    "CASE": _Splitter._condition,
    "ELSE": _Splitter._else,
    "THEN": _Splitter._skip_word,
    "LOOP": _Splitter._loop,
    "REPEAT": _Splitter._skip_word,
    "PERFORM": _Splitter._call,
    "EXCEPTION": _Splitter._exception,
    "WHEN": _Splitter._exception,
    "DECLARE": _Splitter._declare,
    "LET": _Splitter._let,
    "OPEN": _Splitter._open,
    "EXECUTE": _Splitter._execute,
    "EXEC": _Splitter._execute,
    "CALL": _Splitter._call,
    "RETURN": _Splitter._return,
    "SET": _Splitter._set,
    "DO": _Splitter._do,
}
