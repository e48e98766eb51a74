"""From a text to the lineage of its statements: :func:`translate`.

One pass. What a script makes on its way is folded: a temporary table is what it was made of, and
what was written under a name that is renamed afterwards was written to the new name. A statement
that cannot be read is a gap, and the others are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from sqlglot import Token, exp
from sqlglot.errors import SqlglotError, TokenError

from graph_model import labels
from graph_model.errors import InvalidFields
from graph_model.sql.names import ANY_COLUMN, DIALECTS, OF_TSQL, Leaf, SqlNames, column_text
from graph_model.sql.parsing import on_own_stack, parse_tokens, tables
from graph_model.sql.queries import QueryReader, Temporary
from graph_model.sql.respelling import DynamicName
from graph_model.sql.scopes import MOST_STEPS, STAR, SqlGap, StatementTooLarge
from graph_model.sql.scripts import PieceKind, ScriptPiece, pieces
from graph_model.sql.tokens import Word, closing, keyword, rough_words, tokenize, words_of
from graph_model.sql.values import (
    ColumnValue,
    Influences,
    Mask,
    SqlRelation,
    Star,
    Texts,
    base_table,
    candidates,
    masked,
)
from graph_model.sql.writes import StatementEffect, Statements, TableWrite

MOST_CHARACTERS: Final = 1 << 20
MOST_STATEMENTS: Final = 10_000
_MOST_STEPS_OF_A_TEXT: Final = 10 * MOST_STEPS
_MOST_INFLUENCES: Final = 50  # of the rows that a variable holds
_MOST_FLOWS: Final = 100  # of each of its columns

UNREADABLE: Final = "unreadable"
NESTED: Final = "nested-too-deep"
LARGE: Final = "too-large"
DYNAMIC: Final = "dynamic-sql"
CALLED: Final = "called-procedure"
FOREIGN: Final = "other-language"
_PUT_TOGETHER: Final = "SQL that is put together when it runs"
_NAMED_LATER: Final = "IDENTIFIER of a variable or a parameter: a name that is known when it runs"
_TEMPLATE: Final = "a template ({{ … }}, {% … %}): SQL is what it is compiled to"
_PACKAGES_WITHOUT_LINEAGE: Final = ("dbms_output.", "dbms_stats.", "dbms_lock.", "utl_file.")
_ELSEWHERE: Final = "its statements are not in this text"


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """``to`` is ``table#column``, ``#column`` of a query's result, or None for a condition of the
    whole statement; ``sources`` are sorted ``table#column``. ``kind`` and ``how`` as on the edges
    of the graph, one entry for each (to, kind, how); ``expression`` with masked literals.
    """

    to: str | None
    sources: tuple[str, ...]
    kind: str
    how: str
    expression: str


class RowWidth(NamedTuple):
    """A number of values, and all columns of tables but those left out (in lower case)."""

    values: int
    stars: tuple[tuple[str, tuple[str, ...]], ...] = ()


class RowPlace(NamedTuple):
    """Where a value stands in the rows that are written by position: the widths ``before`` it, its
    ``own`` and ``behind`` it, None for one that nothing can tell. The rows have the names ``names``
    or, where these are None, the written table's columns but the ``fixed`` ones.
    """

    before: RowWidth | None = None
    own: RowWidth | None = None
    behind: RowWidth | None = None
    names: tuple[str, ...] | None = None
    fixed: tuple[str, ...] = ()

    @property
    def tables(self) -> set[str]:
        """Those whose numbers of columns say where it is."""
        widths = (width for width in (self.before, self.own, self.behind) if width)
        return {table for width in widths for table, _ in width.stars}


@dataclass(frozen=True, slots=True)
class SqlOpen:
    """What a statement leaves open, and the schemas of its tables can say.

    ``path`` is a column of exactly one of the tables ``among``, and flows into ``to`` as in a
    SqlColumn. Or ``path`` and the column of ``to`` are ``*``: all columns of ``table`` but those
    ``left_out`` (in lower case) flow on, unless another table ``among`` has a column of that name.
    They keep their names; where ``into`` is not None they have these by position, and where
    ``like`` is a table the names of its columns by position.

    ``place`` is not None where the values of a row have the names that belong to their places: it
    comes before the names above, which are those of the query then.
    """

    to: str | None
    table: str
    path: str
    among: tuple[str, ...]
    kind: str
    how: str
    expression: str
    left_out: tuple[str, ...] = ()
    into: tuple[str, ...] | None = None
    like: str = ""
    place: RowPlace | None = None


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """What one statement reads and writes: sorted names of tables, URIs as they are."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    columns: tuple[SqlColumn, ...] = ()
    gaps: tuple[SqlGap, ...] = ()
    opens: tuple[SqlOpen, ...] = ()


def translate(
    text: str,
    dialect: str,
    *,
    schemas: Mapping[str, Sequence[str]] | None = None,
    database: str = "",
    schema: str = "",
    mask: Mask = masked,
) -> tuple[SqlStatement, ...]:
    """The lineage of each statement of a text, in order; statements without any are left out.

    ``schemas`` has the columns of tables (``schema.table``) in order; ``database`` and ``schema``
    qualify names without them (a schema may be a search path: ``etl, public``). Never raises
    because of the text: what cannot be read is a gap. Raises InvalidFields for an unknown dialect.
    """
    known = DIALECTS.get(dialect.strip().lower())
    if known is None:
        raise InvalidFields({"dialect": [f"one of {', '.join(sorted(DIALECTS))}"]})
    names = SqlNames(known, database, schema, schemas or {})
    if len(text) > MOST_CHARACTERS:
        gap = SqlGap(LARGE, f"{len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
        return (SqlStatement(gaps=(gap,)),)
    return on_own_stack(lambda: _Script(known, names, Texts(known, mask)).read(text))


class _Script:
    """The state of one text: its temporary tables, and the statements so far."""

    def __init__(self, dialect: str, names: SqlNames, texts: Texts) -> None:
        self._dialect = dialect
        self._names = names
        self._texts = texts
        self._temporary: dict[str, Temporary] = {}
        self._rows: dict[int, Temporary] = {}  # by the number of a query
        self._statements: list[SqlStatement] = []
        self._transaction: int | None = None
        self._steps_left = _MOST_STEPS_OF_A_TEXT

    def read(self, text: str) -> tuple[SqlStatement, ...]:
        try:
            for number, piece in enumerate(pieces(text, self._dialect)):
                if number >= MOST_STATEMENTS:
                    self._only(SqlGap(LARGE, f"at most {MOST_STATEMENTS:,} statements are read"))
                    break
                self._piece(piece)
        except TokenError:
            self._unread(rough_words(text), SqlGap(UNREADABLE, "a quote or a comment never ends"))
        except RecursionError:
            self._only(SqlGap(NESTED, "procedures within procedures"))
        return tuple(self._statements)

    # --- pieces ----------------------------------------------------------------------------------

    def _piece(self, piece: ScriptPiece) -> None:
        if piece.kind is PieceKind.STATEMENT:
            self._statement(piece)
        elif piece.kind is PieceKind.BEGIN:
            self._transaction = len(self._statements)
        elif piece.kind is PieceKind.ROLLBACK:
            if self._transaction is not None:
                del self._statements[self._transaction :]
                self._transaction = None
        elif piece.kind is PieceKind.DYNAMIC:
            self._only(SqlGap(DYNAMIC, _PUT_TOGETHER))
        elif piece.kind is PieceKind.FOREIGN:
            self._only(SqlGap(FOREIGN, "a procedure that is not written in SQL"))
        elif piece.kind is PieceKind.CALL:
            self._called(piece)

    def _only(self, gap: SqlGap) -> None:
        self._statements.append(SqlStatement(gaps=(gap,)))

    def _unread(self, words: Sequence[Word], gap: SqlGap) -> None:
        reads, writes = tables(words, self._names)
        behind = [self._temporary.get(table) for table in reads]
        seen = {table for kept in behind if kept for table in kept.reads}
        seen |= {table for table in reads if table not in self._temporary}
        written = {table for table in writes if table not in self._temporary}
        self._statements.append(
            SqlStatement(tuple(sorted(seen)), tuple(sorted(written)), gaps=(gap,))
        )

    def _called(self, piece: ScriptPiece) -> None:
        words = [token.text for token in piece.tokens]
        if len(words) > 4 and words[1].lower() == "sp_rename" and words[3] == ",":
            old, new = (exp.to_table(w, dialect=self._dialect) for w in (words[2], words[4]))
            statements = Statements(self._reader(piece), self._temporary, frozenset())
            statements.rename(old, new)
            self._rename(statements.made, [])
            return
        name = "".join(_name_of(words[1:]))
        self._only(SqlGap(CALLED, f"{name[:100]}: {_ELSEWHERE}"))

    def _reader(self, piece: ScriptPiece) -> QueryReader:
        return QueryReader(
            self._names, self._texts, self._dialect, self._temporary, piece.variables,
            min(MOST_STEPS, self._steps_left), partial(self._held, piece),
        )  # fmt: skip

    def _held(self, piece: ScriptPiece, name: str) -> tuple[Temporary, int | None] | None:
        held = piece.held.get(name)
        rows = self._rows.get(held.query) if held is not None else None
        return None if held is None or rows is None else (rows, held.place)

    # --- statements ------------------------------------------------------------------------------

    def _statement(self, piece: ScriptPiece) -> None:
        reader = self._reader(piece)
        steps = reader.steps_left
        try:
            effect = self._effect(piece, reader)
            if effect is not None:
                self._keep(effect, reader)
                self._hold(piece, effect, reader)
        except RecursionError:
            self._unread(words_of(piece.tokens), SqlGap(NESTED, "it nests too deeply to be read"))
        except StatementTooLarge:
            self._unread(
                words_of(piece.tokens), SqlGap(LARGE, "its columns are too many to be read")
            )
        except DynamicName as name:
            self._unread(words_of(name.tokens), SqlGap(DYNAMIC, _NAMED_LATER))
        except Exception as error:  # hostile text may raise any error in a parser
            words = words_of(piece.tokens)
            detail = _TEMPLATE if _is_template(words) else _reason(error)
            self._unread(words, SqlGap(UNREADABLE, detail))
        self._steps_left -= steps - reader.steps_left

    def _hold(self, piece: ScriptPiece, effect: StatementEffect, reader: QueryReader) -> None:
        """The rows of a query that variables may hold; too much behind them is unknown, as rows of
        rows of rows would have all that is behind each.
        """
        for write in effect.writes:
            if piece.query and write.table is None:
                influences = list(islice(effect.influences, _MOST_INFLUENCES + 1))
                flows = max((len(value.flows) for value in write.values), default=0)
                if len(influences) <= _MOST_INFLUENCES and flows <= _MOST_FLOWS:
                    rows = SqlRelation(write.values, Influences(own=influences))
                    self._rows[piece.query] = Temporary(rows, frozenset(reader.reads))

    def _effect(self, piece: ScriptPiece, reader: QueryReader) -> StatementEffect | None:
        """None for a statement without a meaning of its own (an empty one)."""
        statements = Statements(reader, self._temporary, piece.variables)
        first = piece.tokens[0].text.upper()
        special = _SPECIAL.get(first)
        if (
            special is not None
            and (effect := special(piece, statements, self._dialect)) is not None
        ):
            return effect
        tree = parse_tokens(piece.tokens, piece.text, self._dialect)
        if tree is None:
            return None
        if isinstance(tree, exp.Anonymous | exp.Dot):  # a procedure of Oracle, called by its name
            name = "".join(_name_of([token.text for token in piece.tokens]))
            if not name.lower().startswith(_PACKAGES_WITHOUT_LINEAGE):
                statements.gap(CALLED, f"{name[:100]}: {_ELSEWHERE}")
            return statements.made
        if isinstance(tree, exp.Command) and not _is_administration(piece.tokens, self._names):
            raise SqlglotError(f"{first[:40]} in a form that is not known")
        return statements.effect(tree)

    def _keep(self, effect: StatementEffect, reader: QueryReader) -> None:
        gaps = list(reader.gaps)
        stored: list[TableWrite] = []
        for write in effect.writes:
            if write.table is not None and (write.temporary or write.table in self._temporary):
                self._fold(write, effect.influences, reader)
            else:
                stored.append(write)
                if write.made and write.table is not None and not any(
                    value.tables for value in write.values
                ):  # fmt: skip
                    self._names.declare(write.table, tuple(value.name for value in write.values))
        for table in effect.dropped:
            self._temporary.pop(table, None)
        if effect.renames or effect.swaps:
            self._rename(effect, gaps)
        elif stored or reader.reads or gaps:
            self._statements.append(self._written(stored, effect, reader, gaps))

    def _fold(self, write: TableWrite, influences: Influences, reader: QueryReader) -> None:
        """A temporary table is what it was made of, and what is added to it."""
        name = write.table or ""
        known = None if write.made else self._temporary.get(name)
        values = write.named
        if known is not None:
            values = _added(known.relation.values, values)
            earlier = known.relation.influences
            influences = Influences(inner=[i for i in (earlier, influences) if i is not None])
        reads = frozenset(reader.reads) | (known.reads if known is not None else frozenset())
        self._temporary[name] = Temporary(SqlRelation(values, influences), reads)

    def _written(
        self,
        writes: Sequence[TableWrite],
        effect: StatementEffect,
        reader: QueryReader,
        gaps: Sequence[SqlGap],
    ) -> SqlStatement:
        made: dict[tuple[str | None, str, str], tuple[set[Leaf], list[exp.Expr | str]]] = {}
        opens: list[SqlOpen] = []
        places: dict[str | None, RowPlace] = {}
        for write in writes:
            placed = list(_placed(write))
            opens += _stars(write, placed)
            opens += self._hidden(write, placed, reader)
            for value, place in (*placed[: write.hidden.start], *placed[write.hidden.stop :]):
                self._value(write.table or "", value, made)
                if place is not None and place.names is None and not value.tables:
                    column = column_text((write.table or "", value.name))
                    places[column] = RowPlace() if column in places else place  # two of one name
        if writes:
            for influence in effect.influences:
                reader.step(1 + len(influence.leaves))
                key = (None, labels.INDIRECT, influence.how)
                leaves, texts = made.setdefault(key, (set(), []))
                leaves |= influence.leaves
                texts += [", ".join(map(self._texts.of, influence.texts))]
        columns: list[SqlColumn] = []
        for (to, kind, how), (leaves, texts) in made.items():
            text = self._texts.joined(texts)
            known = [leaf for leaf in leaves if len(candidates(leaf[0])) == 1]
            if known:
                sources = tuple(sorted(map(column_text, known)))
                columns.append(SqlColumn(to, sources, kind, how, text))
            for table, path in sorted(leaves.difference(known)):
                reader.step(len(candidates(table)))
                opens += _opened(to, (table, path), how, text, places.get(to))
        named = {write.table for write in writes if write.table}
        starred = {table for write in writes for value in write.named for table in value.tables}
        if starred:
            gaps = [*gaps, SqlGap(STAR, f"* of {', '.join(sorted(starred))}")]
        return SqlStatement(
            tuple(sorted(reader.reads)),
            tuple(sorted(named)),
            tuple(columns),
            tuple(sorted(gaps)),
            tuple(dict.fromkeys(opens)),
        )

    def _hidden(
        self, write: TableWrite, placed: Sequence[PlacedValue], reader: QueryReader
    ) -> Iterator[SqlOpen]:
        """The values whose names hang on the number of columns of a ``*`` before and behind."""
        for value, place in placed[write.hidden.start : write.hidden.stop]:
            to = column_text((write.table or "", value.name))
            for (among, path), how in () if value.tables else sorted(value.flows):
                reader.step(len(candidates(among)))
                text = self._texts.joined(value.texts or (path,))
                yield from _opened(to, (among, path), how, text, place)

    def _value(
        self,
        table: str,
        value: ColumnValue,
        made: dict[tuple[str | None, str, str], tuple[set[Leaf], list[exp.Expr | str]]],
    ) -> None:
        by_how: dict[str, set[Leaf]] = {}
        for leaf, how in value.flows:
            by_how.setdefault(how, set()).add(leaf)
        for how in sorted(by_how, key=_ORDER.index):
            key = (column_text((table, value.name)), labels.kind_of(how), how)
            leaves, texts = made.setdefault(key, (set(), []))
            leaves |= by_how[how]
            texts += value.texts or sorted(path for _, path in by_how[how])

    # --- renames ---------------------------------------------------------------------------------

    def _rename(self, effect: StatementEffect, gaps: Sequence[SqlGap]) -> None:
        """What the script wrote under the old name is the new table's; another table is moved."""
        self._steps_left -= (2 + len(effect.renames)) * len(self._statements)
        if self._steps_left < 0:
            self._only(SqlGap(LARGE, "the tables that are renamed are too many to be followed"))
            return
        for old, new in effect.renames:
            if (kept := self._temporary.pop(old, None)) is not None:
                self._temporary[new] = kept
            elif self._wrote(old):
                self._renamed({old: new})
            else:
                self._statements.append(self._moved(old, new, gaps))
            if (columns := self._names.columns(old)) is not None:
                self._names.declare(new, columns)
        for left, right in effect.swaps:
            if self._wrote(left) or self._wrote(right):
                self._renamed({left: right, right: left})
            else:
                moved = (self._moved(left, right, gaps), self._moved(right, left, ()))
                self._statements.extend(moved)

    def _wrote(self, table: str) -> bool:
        return any(table in statement.writes for statement in self._statements)

    def _renamed(self, names: Mapping[str, str]) -> None:
        """In what was written under these names, and in what was read of it afterwards."""
        written = False
        for place, statement in enumerate(self._statements):
            written = written or any(table in names for table in statement.writes)
            if written:
                self._statements[place] = replace(
                    statement,
                    writes=tuple(sorted(names.get(table, table) for table in statement.writes)),
                    columns=tuple(_retargeted(column, names) for column in statement.columns),
                    opens=tuple(
                        replace(_retargeted(item, names), like=names.get(item.like, item.like))
                        for item in statement.opens
                    ),
                )

    def _moved(self, old: str, new: str, gaps: Sequence[SqlGap]) -> SqlStatement:
        """A table under another name: a copy of its columns."""
        columns = [
            SqlColumn(
                column_text((new, value.name)),
                tuple(column_text(leaf) for leaf, _ in value.flows),
                labels.DIRECT,
                labels.IDENTITY,
                value.name,
            )
            for value in base_table(old, self._names.columns(old)).values
        ]
        return SqlStatement((old,), (new,), tuple(columns), tuple(gaps))


def _opened(
    to: str | None, leaf: Leaf, how: str, text: str, place: RowPlace | None
) -> Iterator[SqlOpen]:
    """One for each table that the leaf may be a column of."""
    among = candidates(leaf[0])
    for table in among:
        yield SqlOpen(to, table, leaf[1], among, labels.kind_of(how), how, text, place=place)


_ORDER: Final = (*labels.DIRECT_HOWS, *labels.COLUMN_INDIRECT_HOWS)


_Targeted = TypeVar("_Targeted", SqlColumn, SqlOpen)


def _retargeted(column: _Targeted, names: Mapping[str, str]) -> _Targeted:
    if column.to is None:
        return column
    table, _, path = column.to.rpartition("#")
    return replace(column, to=column_text((names.get(table, table), path)))


def _stars(write: TableWrite, placed: Iterable[PlacedValue]) -> Iterator[SqlOpen]:
    """The columns that a table gets through ``*``. A column that the query names as well is the
    one that it names.
    """
    stars = [star for value in write.values for star in value.stars]
    among = tuple(sorted({star.table for star in stars if star.by_name}))
    named = {value.name.lower() for value in write.values if not value.tables}
    for value, place in placed:
        for star in value.stars:
            if place is not None and place.own is not None:
                place = place._replace(own=RowWidth(0, (_star(star),)))
            yield SqlOpen(
                column_text((write.table or "", ANY_COLUMN)),
                star.table,
                ANY_COLUMN,
                among if star.by_name else (star.table,),
                labels.DIRECT,
                labels.IDENTITY,
                "",
                tuple(sorted(star.left_out | named if star.by_name else star.left_out)),
                star.into,
                star.like,
                place,
            )


MOST_STARS: Final = 16
"""``*`` of unknown columns in one row that is written by position: of more no place is known."""


PlacedValue = tuple[ColumnValue, RowPlace | None]


def _placed(write: TableWrite) -> Iterator[PlacedValue]:
    """Each value with its place: ``INSERT INTO t SELECT a, s.* FROM s`` has (1,) and (0, s.*)."""
    row, values = write.row, write.values
    stars = [_star(value.stars[0]) if value.stars else None for value in values if value.tables]
    hidden = len(stars) > MOST_STARS or any(s.scattered for v in values for s in v.stars)
    before = 0  # number of stars
    for place, value in enumerate(values):
        behind = before + bool(value.tables)
        if row is None:
            yield value, None
        elif hidden:
            yield value, RowPlace(names=row.names, fixed=row.fixed)
        else:
            after = len(values) - len(stars) - (place + 1 - behind)
            widths = (
                _width(place - before, stars[:before]),
                _width(0, stars[before:behind]) if value.tables else RowWidth(1),
                _width(after, stars[behind:]),
            )
            yield value, RowPlace(*widths, row.names, row.fixed)
        before = behind


def _star(star: Star) -> tuple[str, tuple[str, ...]]:
    return star.table, tuple(sorted(star.left_out))


def _width(values: int, stars: Sequence[tuple[str, tuple[str, ...]] | None]) -> RowWidth | None:
    known = tuple(star for star in stars if star is not None)
    return RowWidth(values, known) if len(known) == len(stars) else None


def _added(known: Sequence[ColumnValue], added: Sequence[ColumnValue]) -> list[ColumnValue]:
    """The columns of a table with further values in them, by name."""
    by_name = {value.name.lower(): value for value in added}
    united = [
        ColumnValue(value.name, value.flows | more.flows, value.texts + more.texts)
        if (more := by_name.pop(value.name.lower(), None)) is not None and not value.tables
        else value
        for value in known
    ]
    return united + list(by_name.values())


def _is_template(words: Sequence[Word]) -> bool:
    return any(
        word.text in {"{%", "{{"} or (word.text == "{" and words[place - 1].text == "{")
        for place, word in enumerate(words)
        if place and not word.literal
    ) or any(word.text.startswith(("{%", "{{")) for word in words[:1])


def _reason(error: Exception) -> str:
    """Where a parser stopped; its own message quotes the text, literals included."""
    details = getattr(error, "errors", None)
    if details:
        at = details[0]
        return f"line {at.get('line')}, column {at.get('col')}: not understood"
    if isinstance(error, RuntimeError | SqlglotError) and len(error.args) == 1:
        return str(error)[:200]
    return "not understood"


# --- statements that sqlglot does not read ------------------------------------------------------

#: Statements of which the parser takes no more than the first word, and which move no rows.
_ADMINISTRATION: Final = frozenset(
    {"ADD", "ANALYZE", "BEGIN", "CLOSE", "COLLECT", "COMMENT", "DEALLOCATE", "DECLARE",
     "DENY", "DESC", "DESCRIBE", "DROP", "ELSE", "ELSEIF", "END", "EXCEPTION", "EXPLAIN",
     "FORCE", "GO", "GRANT", "HELP", "INSTALL", "KILL", "LOOP", "MSCK", "OPTIMIZE",
     "PREPARE", "PRINT", "REFRESH", "REINDEX", "REPEAT", "RESET", "REVOKE", "SET", "SHOW",
     "SYSTEM", "TRUNCATE", "UNDROP", "USE", "USING", "VACUUM", "WHILE"}
)  # fmt: skip
#: What CREATE makes that holds no rows: ``CREATE USER u``, ``CREATE EXTERNAL SCHEMA s FROM …``.
_WITHOUT_ROWS: Final = (
    ("USER",), ("ROLE",), ("GROUP",), ("LOGIN",), ("EXTENSION",), ("WAREHOUSE",),
    ("DATASHARE",), ("SHARE",), ("PUBLICATION",), ("SUBSCRIPTION",), ("SERVER",),
    ("CREDENTIAL",), ("CONNECTION",), ("SECRET",), ("LIBRARY",), ("EXTERNAL", "SCHEMA"),
    ("STORAGE", "INTEGRATION"), ("FILE", "FORMAT"), ("RESOURCE", "MONITOR"),
    ("NETWORK", "POLICY"), ("MASKING", "POLICY"), ("RLS", "POLICY"), ("IDENTITY", "PROVIDER"),
)  # fmt: skip


def _is_administration(tokens: Sequence[Token], names: SqlNames) -> bool:
    """Whether a statement that the parser knows by its first word alone moves no rows.

    ``ALTER TABLE t ADD PARTITION (d = 1)``; but not ``ALTER TABLE t REPLACE PARTITION p FROM s``.
    """
    words = [keyword(token) for token in tokens]
    first = words[0].partition(" ")[0]  # MSCK REPAIR is one token
    if first == "CREATE":
        kind = tuple(words[3:5] if words[1:3] == ["OR", "REPLACE"] else words[1:3])
        return kind[:1] in _WITHOUT_ROWS or kind in _WITHOUT_ROWS
    if first == "ALTER":
        return words[1:2] not in _ALTERED or tables(words_of(tokens), names) == ([], [])
    if first == "LOAD":  # an extension or an index
        return "DATA" not in words[:2]
    return first in _ADMINISTRATION


_ALTERED: Final = (["TABLE"], ["VIEW"], ["MATERIALIZED"])


def _unload(piece: ScriptPiece, statements: Statements, dialect: str) -> StatementEffect | None:
    """UNLOAD ('SELECT …') TO 's3://…', UNLOAD (SELECT …) TO 's3://…'."""
    tokens = piece.tokens
    ends = [p for p, token in enumerate(tokens) if token.text.upper() == "TO"]
    if not ends or ends[-1] + 1 >= len(tokens) or tokens[1].text != "(":
        return None
    end = next(p for p in ends if tokens[p - 1].text == ")")
    inner = tokens[2 : end - 1]
    if len(inner) == 1:
        text = inner[0].text
        inside = next(iter(pieces(text, dialect)), None)
        query = parse_tokens(inside.tokens, text, dialect) if inside is not None else None
    else:
        query = parse_tokens(inner, piece.text, dialect)
    if query is None:
        return None
    return statements.unload(query, tokens[end + 1].text)


def _search_path(piece: ScriptPiece, statements: Statements, dialect: str) -> StatementEffect:
    """SET search_path TO etl, public."""
    del dialect
    return statements.search("".join(token.text for token in piece.tokens[3:]))


def _name_of(words: Sequence[str]) -> Iterator[str]:
    """``dbo . load @ day = …`` => dbo.load."""
    for place, word in enumerate(words):
        if (word == ".") != bool(place % 2):
            return
        yield word


def _inserted(piece: ScriptPiece, statements: Statements, dialect: str) -> StatementEffect | None:
    """INSERT INTO t EXEC p: what the procedure returns is not in this text. INSERT INTO t SELECT …
    FROM (MERGE …).
    """
    words = [token.text.upper() for token in piece.tokens]
    if (effect := _composed(piece, words, statements, dialect)) is not None:
        return effect
    place = next((p for p, word in enumerate(words) if word in {"EXEC", "EXECUTE"}), 0)
    if not place or dialect not in OF_TSQL or "SELECT" in words[:place]:
        return None
    tree = parse_tokens(
        [*piece.tokens[:place], *tokenize("VALUES (NULL)", dialect)], piece.text, dialect
    )
    effect = statements.effect(tree) if tree is not None else StatementEffect()
    name = "".join(_name_of([token.text for token in piece.tokens[place + 1 :]]))
    if words[place + 1 : place + 2] == ["("] or name.lower().endswith("sp_executesql"):
        statements.gap(DYNAMIC, _PUT_TOGETHER)
    else:
        statements.gap(CALLED, f"{name[:100]}: {_ELSEWHERE}")
    return effect


def _composed(
    piece: ScriptPiece, words: Sequence[str], statements: Statements, dialect: str
) -> StatementEffect | None:
    """INSERT INTO u SELECT … FROM (MERGE … OUTPUT …) AS m: as if the inner statement were a common
    table expression.
    """
    starts = (p for p in range(len(words)) if words[p : p + 2] == ["FROM", "("])
    place = next((p + 1 for p in starts if words[p + 2 : p + 3] in _CHANGING), 0)
    if not place or dialect not in OF_TSQL:
        return None
    end = closing(piece.tokens, place)
    name = exp.to_identifier("changed rows", quoted=True)
    tokens = [*piece.tokens[:place], *tokenize(f"[{name.name}]", dialect), *piece.tokens[end + 1 :]]
    changing = parse_tokens(piece.tokens[place + 1 : end], piece.text, dialect)
    tree = parse_tokens(tokens, piece.text, dialect)
    if changing is None or tree is None:
        return None
    common = exp.CTE(this=changing, alias=exp.TableAlias(this=name))
    tree.set("with_", exp.With(expressions=[common]))
    return statements.effect(tree)


_CHANGING: Final = (["MERGE"], ["UPDATE"], ["DELETE"], ["INSERT"])


def _renamed(piece: ScriptPiece, statements: Statements, dialect: str) -> StatementEffect | None:
    """RENAME TABLE a TO b, c TO d."""
    words = [token.text for token in piece.tokens]
    starts = [2, *(place + 1 for place, word in enumerate(words) if word.upper() in {"TO", ","})]
    names = ("".join(_name_of(words[start : start + 5])) for start in starts)
    tables = [exp.to_table(name, dialect=dialect) for name in names]
    for old, new in zip(tables[::2], tables[1::2], strict=False):
        statements.rename(old, new)
    return statements.made


def _exchanged(piece: ScriptPiece, statements: Statements, dialect: str) -> StatementEffect | None:
    """EXCHANGE TABLES a AND b."""
    words = [token.text for token in piece.tokens]
    if "AND" not in map(str.upper, words):
        return None
    place = [word.upper() for word in words].index("AND") + 1
    names = ("".join(_name_of(words[start : start + 5])) for start in (2, place))
    statements.swap(*(exp.to_table(name, dialect=dialect) for name in names))
    return statements.made


def _explained(piece: ScriptPiece, statements: Statements, dialect: str) -> StatementEffect:
    """EXPLAIN ANALYZE INSERT …, EXPLAIN (ANALYZE, BUFFERS) INSERT …: the statement is executed; by
    EXPLAIN without ANALYZE it is not.
    """
    tokens, place = piece.tokens, 1
    words = [token.text.upper() for token in tokens]
    if words[1:2] == ["("]:
        end = closing(tokens, 1)
        options, place = words[2:end], end + 1
    else:
        while words[place : place + 1] and words[place] in _EXPLAINED:
            place += 1
        options = words[1:place]
    at = options.index("ANALYZE") if "ANALYZE" in options else -1
    if at < 0 or options[at + 1 : at + 2] in _NOT or place >= len(tokens):
        return StatementEffect()
    tree = parse_tokens(tokens[place:], piece.text, dialect)
    return StatementEffect() if tree is None else statements.effect(tree)


_EXPLAINED: Final = frozenset({"ANALYZE", "VERBOSE"})
_NOT: Final = (["FALSE"], ["OFF"], ["0"])

_SPECIAL: Final = {
    "EXPLAIN": _explained,
    "UNLOAD": _unload,
    "SET": _search_path,
    "INSERT": _inserted,
    "RENAME": _renamed,
    "EXCHANGE": _exchanged,
}
