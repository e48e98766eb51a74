"""Scopes: what a name in a SELECT means.

A name belongs to the innermost query that can have it. There, a table that is known to have it
comes first, then (where the dialect has that) an earlier alias of the same SELECT, then the only
table whose columns are not known. Where several tables may have it, it is a gap that names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqlglot import exp

from graph_model import labels
from graph_model.sql.names import ANY_COLUMN, OF_MYSQL, Parts, SqlNames
from graph_model.sql.values import (
    ColumnValue,
    Influences,
    SqlInfluence,
    SqlRelation,
    any_of,
    stepped,
)

MOST_STEPS: Final = 400_000
"""Nodes visited and flows passed on, of one statement."""

#: An alias of a SELECT may be used further on in the same SELECT.
_LATERAL_ALIASES: Final = frozenset(
    {"redshift", "snowflake", "databricks", "spark", "duckdb", "clickhouse", "teradata", "sqlite"}
)

#: A table's name in an expression is its row.
_ROWS_AS_VALUES: Final = frozenset({"postgres", "bigquery", "duckdb"})

#: Names that are session values, not columns, in one database or another.
_NO_COLUMNS: Final = frozenset(
    {
        "rownum",
        "rowid",
        "level",
        "sysdate",
        "systimestamp",
        "user",
        "current_user",
        "getdate",
        "$action",
        "_partitiontime",
        "_partitiondate",
        "_table_suffix",
    }
)

UNRESOLVED: Final = "unresolved-column"
STAR: Final = "unknown-columns"
UNSUPPORTED: Final = "unsupported"


class StatementTooLarge(Exception):
    """The statement takes more than MOST_STEPS."""


class SqlGap(NamedTuple):
    """What a statement leaves open: a code for machines, a text that names it."""

    code: str
    detail: str


class FromItem(NamedTuple):
    """A relation in a FROM, under an alias or the parts of its name."""

    name: Parts
    relation: SqlRelation
    hidden: bool = False  # the right side of a semi or anti join has no columns in the result

    def answers(self, qualifier: Parts) -> bool:
        """Whether ``sales.orders`` or ``orders`` in ``orders.id`` means this one."""
        ours = self.name[-len(qualifier) :]
        return len(ours) == len(qualifier) and all(
            a == b or a.lower() == b.lower() for a, b in zip(ours, qualifier, strict=True)
        )


@dataclass(slots=True)
class SelectScope:
    """What the names of one SELECT can mean."""

    parent: SelectScope | None = None
    commons: Commons = field(default_factory=dict)  # the common table expressions around it
    sources: list[FromItem] = field(default_factory=list)
    shared: dict[str, ColumnValue] = field(default_factory=dict)  # columns of USING and NATURAL
    aliases: dict[str, ColumnValue] = field(default_factory=dict)
    windows: dict[str, exp.Expr] = field(default_factory=dict)
    variables: dict[str, FromItem] = field(default_factory=dict)  # rows of MATCH_RECOGNIZE
    selected: bool = False  # in HAVING and QUALIFY an alias comes before an unknown column
    influences: Influences = field(default_factory=Influences)
    places: dict[str, list[int]] = field(default_factory=dict)  # of sources, by their last names
    selecting: ColumnValue | None = None  # the column of COLUMNS(…) that a value is made for
    indexed: int = 0  # the sources that have their place there

    def named(self, qualifier: Parts) -> Iterator[FromItem]:
        """The sources that a qualifier may mean. A query may join thousands."""
        if self.indexed > len(self.sources):
            self.forget()
        for place in range(self.indexed, len(self.sources)):
            if name := self.sources[place].name:
                self.places.setdefault(name[-1].lower(), []).append(place)
        self.indexed = len(self.sources)
        for place in self.places.get(qualifier[-1].lower(), ()):
            if self.sources[place].answers(qualifier):
                yield self.sources[place]

    def forget(self) -> None:
        """A source has another name."""
        self.places.clear()
        self.indexed = 0


@dataclass(slots=True)
class Common:
    """A common table expression, read when a query first selects from it."""

    node: exp.CTE
    around: Mapping[str, Common]
    recursive: bool
    outer: SelectScope | None
    relation: SqlRelation | None = None
    reads: tuple[str, ...] = ()  # the tables behind it


Commons = Mapping[str, Common]


class NameReader:
    """Finds what the names of one statement mean; notes what it leaves open, and counts steps."""

    def __init__(
        self, names: SqlNames, dialect: str, variables: Collection[str], steps: int
    ) -> None:
        """``variables`` of the script are no columns; ``steps``: the most of the statement."""
        self.names = names
        self.gaps: dict[SqlGap, None] = {}
        self.steps_left = steps
        self._dialect = dialect
        self._variables = variables

    def gap(self, code: str, detail: str) -> None:
        self.gaps[SqlGap(code, detail)] = None

    def step(self, count: int = 1) -> None:
        self.steps_left -= count
        if self.steps_left < 0:
            raise StatementTooLarge

    # --- names -----------------------------------------------------------------------------------

    def column(self, node: exp.Column, frame: SelectScope) -> ColumnValue:
        """What a name means; without flows where that is a gap."""
        if isinstance(node.this, exp.Parameter):
            return self._numbered(node.this, (self.names.identifier(node.args["table"]),), frame)
        parts = tuple(self.names.identifier(part) for part in node.parts)
        if len(parts) > 1:
            return self._qualified(parts, frame)
        if parts[0].lower() == "default" and not node.this.quoted:  # SET a = DEFAULT
            return ColumnValue(parts[0])
        value = self._bare(parts[0], frame)
        row = next(self._answering(parts, frame), None)
        if row is not None and (value is None or self._is_row(row, value)):
            return self._row(parts[0], [row])
        if value is None:
            name = parts[0].lower()
            row = self.row_variable("", frame)  # FOR SELECT a FROM s DO … a …
            if row is not None and (known := row.relation.definite(name)) is not None:
                return known
            if name not in self._variables and name not in _NO_COLUMNS:
                self.gap(UNRESOLVED, f"{parts[0]}: no table has it")
            return ColumnValue(parts[0], texts=(node,))
        return value

    def row_variable(self, name: str, frame: SelectScope) -> FromItem | None:
        """What ``r`` holds in ``FOR r IN SELECT … LOOP``: a row of the query, where it is known."""
        raise NotImplementedError

    def is_held(self, name: str) -> bool:
        """Whether it is known what the variable holds."""
        raise NotImplementedError

    def value_variable(self, name: str, frame: SelectScope) -> ColumnValue:
        """What ``v`` holds behind ``FETCH c INTO v``; without flows where that is not known."""
        raise NotImplementedError

    def _is_row(self, source: FromItem, value: ColumnValue) -> bool:
        """Whether ``t`` in ``count(t)`` is the whole row, where the columns of t are not known."""
        opens = source.relation.opens
        guessed = {((opens[0].tables[0], value.name), labels.IDENTITY)} if opens else set()
        return self._dialect in _ROWS_AS_VALUES and value.flows == guessed != set()

    @staticmethod
    def _answering(qualifier: Parts, frame: SelectScope) -> Iterator[FromItem]:
        """The sources that a qualifier may mean, innermost first."""
        at: SelectScope | None = frame
        while at is not None:
            yield from at.named(qualifier)
            if len(qualifier) == 1 and (rows := at.variables.get(qualifier[0].lower())) is not None:
                yield rows
            at = at.parent

    def _row(self, name: str, sources: Sequence[FromItem]) -> ColumnValue:
        """``to_json(t)``, ``hash(t.*)``: all columns of a table at once."""
        values = [value for source in sources for value in self._columns(source)]
        if stars := {table for value in values for table in value.tables}:
            self.gap(STAR, f"* of {', '.join(sorted(stars))}")
        flows = frozenset(flow for value in values for flow in value.flows)
        self.step(1 + len(values) + len(flows))
        return ColumnValue(name, stepped(flows, labels.TRANSFORMATION))

    def _numbered(self, node: exp.Parameter, qualifier: Parts, frame: SelectScope) -> ColumnValue:
        """``$2``, ``t.$2`` of Snowflake: the second column."""
        name = f"${node.name}"
        among = self._answering(qualifier, frame) if qualifier else iter(frame.sources)
        source = next(among, None)
        if source is None:
            return ColumnValue(name)
        if source.relation.is_open:
            return self.of_source(source, name)
        place = int(node.name) if node.name.isdecimal() and len(node.name) < 6 else 0
        values = source.relation.values
        return values[place - 1] if 0 < place <= len(values) else ColumnValue(name)

    def _qualified(self, parts: Parts, frame: SelectScope) -> ColumnValue:
        """``t.a``; where no table is called t, the field a of a struct."""
        for cut in range(len(parts) - 1, 0, -1):
            for source in self._answering(parts[:cut], frame):
                return self._fields(self.of_source(source, parts[cut]), parts[cut + 1 :])
        if parts[0].lower() in self._variables and (row := self.row_variable(parts[0], frame)):
            return self._fields(self.of_source(row, parts[1]), parts[2:])
        struct = self._bare(parts[0], frame)
        if struct is not None and (struct.flows or parts[0].lower() not in self._variables):
            return self._fields(struct, parts[1:])
        rows = parts[0].lower() in self._variables
        meant = "of a row that a loop or a variable holds" if rows else "no table has this name"
        self.gap(UNRESOLVED, f"{'.'.join(parts)}: {meant}")
        return ColumnValue(parts[-1])

    @staticmethod
    def _fields(value: ColumnValue, names: Parts) -> ColumnValue:
        for name in names:
            value = value.field(name)
        return value

    def of_source(self, source: FromItem, name: str) -> ColumnValue:
        known = source.relation.definite(name)
        if known is not None:
            return known
        possible = source.relation.possible(name)
        if len(possible) == 1:
            others = {table for value in source.relation.opens for table in value.tables[1:]}
            if others:  # SELECT * … UNION SELECT *: the names are those of the first
                self.gap(STAR, f"{name}: * of {', '.join(sorted(others))}")
            return possible[0]
        if possible:
            return self._candidates(name, [source])
        table = ".".join(source.name) or "the subquery"
        self.gap(UNRESOLVED, f"{name}: {table} has no such column")
        if source.relation.stored and name.lower() not in _NO_COLUMNS:
            # t.a of a schema that is older than the query: no other table can have it.
            flow = ((source.relation.stored, name), labels.IDENTITY)
            return ColumnValue(name, frozenset({flow}))
        return ColumnValue(name)

    def _bare(self, name: str, frame: SelectScope) -> ColumnValue | None:
        at: SelectScope | None = frame
        while at is not None:
            value = self._in_frame(name, at)
            if value is not None:
                return value
            at = at.parent
        return None

    def _in_frame(self, name: str, frame: SelectScope) -> ColumnValue | None:
        """The meaning of a name in one SELECT; None where it has none there."""
        self.step(len(frame.sources) // 8)
        if (shared := frame.shared.get(name.lower())) is not None:
            return shared
        if self._dialect in OF_MYSQL and self.is_held(name):
            return self.value_variable(name, frame)  # a variable hides columns there
        definite = [v for s in frame.sources if (v := s.relation.definite(name)) is not None]
        if len({value.flows for value in definite}) == 1:
            return definite[0]
        if definite:
            self._candidates(name, [s for s in frame.sources if s.relation.definite(name)])
            return ColumnValue(name)
        opened = [source for source in frame.sources if source.relation.is_open]
        alias = frame.aliases.get(name.lower())
        usable = self._dialect in _LATERAL_ALIASES or frame.selected or not opened
        if alias is not None and usable and not _uses(alias, name):
            return alias  # else the table has the name: upper(name) AS name
        if name.lower() in self._variables:
            return self._of_variable(name, frame)
        if not opened or name.lower() in _NO_COLUMNS:
            return None
        outside = self._outside(name, frame)
        if len(opened) > 1 or outside:
            made = self._candidates(name, [*opened, *outside])
            return ColumnValue(name) if outside else made
        return self.of_source(opened[0], name)

    def _of_variable(self, name: str, frame: SelectScope) -> ColumnValue:
        """A column hides a variable: where a table may have one, nobody can tell which is meant."""
        at: SelectScope | None = frame if self.is_held(name) else None
        while at is not None:
            for source in at.sources:
                if (known := source.relation.definite(name)) is not None:
                    return known
                if source.relation.is_open and source.name[-1:] not in {("DUAL",), ("dual",)}:
                    table = ".".join(source.name) or "a subquery"
                    self.gap(UNRESOLVED, f"{name}: a variable, or a column of {table}")
                    return ColumnValue(name)
            at = at.parent
        return self.value_variable(name, frame)

    @staticmethod
    def _outside(name: str, frame: SelectScope) -> list[FromItem]:
        """The sources of enclosing queries that are known to have the name."""
        at, owners = frame.parent, list[FromItem]()
        while at is not None and not owners:
            owners = [s for s in at.sources if s.relation.definite(name) is not None]
            at = at.parent
        return owners

    def _candidates(self, name: str, sources: Sequence[FromItem]) -> ColumnValue:
        """A gap; the value is a column of the only one that has it, where all are stored tables."""
        among = {
            table
            for source in sources
            for table in (
                {t for value in source.relation.opens for t in value.tables}
                or {".".join(source.name) or "a subquery"}
            )
        }
        self.step(len(among))
        self.gap(UNRESOLVED, one_of(name, among))
        stars = [star for source in sources for v in source.relation.opens for star in v.stars]
        opened = sum(len(v.tables) for source in sources for v in source.relation.opens)
        if len(stars) != opened or not all(source.relation.opens for source in sources):
            return ColumnValue(name)
        having = {s.table for s in stars if s.by_name and name.lower() not in s.left_out}
        if not having or not all(star.by_name for star in stars):
            return ColumnValue(name)
        return ColumnValue(name, frozenset({((any_of(having), name), labels.IDENTITY)}))

    # --- all columns, and those that joins share -------------------------------------------------

    def _all(self, frame: SelectScope, qualifier: Parts | None) -> Sequence[ColumnValue]:
        """``*`` or ``t.*``; columns of USING come once, and first."""
        if qualifier is not None:
            for source in self._answering(qualifier, frame):
                return self._columns(source)
            if len(qualifier) > 1:
                return self._qualified(qualifier, frame).members()
            struct = self._bare(qualifier[0], frame)
            if struct is None or not (fields := struct.members()):
                self.gap(UNRESOLVED, f"{qualifier[0]}.*: no table has this name")
                return ()
            return fields
        shared = list(frame.shared.values())
        rest = [
            value.without(frame.shared)
            for source in frame.sources
            if not source.hidden
            for value in self._columns(source)
            if value.tables or value.name.lower() not in frame.shared
        ]
        return [*shared, *rest]

    def _columns(self, source: FromItem) -> Sequence[ColumnValue]:
        otherwise = source.relation.otherwise
        if otherwise is not None and not source.relation.values:
            return [otherwise.named(source.name[-1] if source.name else ANY_COLUMN)]
        return source.relation.values

    def _natural(self, frame: SelectScope, before: int) -> list[str]:
        left, right = frame.sources[:before], frame.sources[before:]
        if any(source.relation.is_open for source in (*left, *right)):
            self.gap(STAR, "NATURAL JOIN: the columns of its tables are not known")
            return []
        known = {value.name.lower() for source in right for value in source.relation.values}
        mine = [value.name for source in left for value in source.relation.values]
        return [name for name in dict.fromkeys(mine) if name.lower() in known]

    def _share(self, name: str, frame: SelectScope, before: int, words: set[str]) -> None:
        """A column of USING: the left one; of a right join the right one, of a full one both."""
        key = name.lower()
        left = frame.shared.get(key) or self._one_of(frame.sources[:before], name)
        right = self._one_of(frame.sources[before:], name)
        sides = [side for side in (left, right) if side is not None]
        leaves = frozenset(leaf for side in sides for leaf, _ in side.flows)
        if leaves:
            text = f"USING ({name})"
            frame.influences.own.append(SqlInfluence(labels.JOIN, (text,), leaves))
        if "FULL" in words and len(sides) == 2:
            both = stepped(sides[0].flows | sides[1].flows, labels.TRANSFORMATION)
            frame.shared[key] = ColumnValue(name, both, (exp.column(name),))
        elif "RIGHT" in words and right is not None:
            frame.shared[key] = right.named(name)
        elif sides:
            frame.shared[key] = sides[0].named(name)

    def _one_of(self, sources: Sequence[FromItem], name: str) -> ColumnValue | None:
        known = [value for s in sources if (value := s.relation.definite(name)) is not None]
        if known:
            return known[0]
        opened = [source for source in sources if source.relation.is_open]
        if len(opened) > 1:
            return self._candidates(name, opened)
        return self.of_source(opened[0], name) if len(opened) == 1 else None


def one_of(name: str, tables: Collection[str]) -> str:
    """``a: one of orders, people``: a column that exactly one of these tables has."""
    return f"{name}: one of {', '.join(sorted(tables))}"


def _uses(alias: ColumnValue, name: str) -> bool:
    return any(path.lower() == name.lower() for (_, path), _ in alias.flows)
