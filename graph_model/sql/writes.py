"""Statements: what each kind writes, and from which values.

    INSERT INTO t (a, b) SELECT x, y FROM s    t.a from s.x, t.b from s.y
    UPDATE t SET a = s.x FROM s WHERE …        t.a from s.x; the WHERE is FILTER
    MERGE INTO t USING s ON …                  as UPDATE and INSERT; ON is JOIN

A kind of statement is one function here. The table that UPDATE, DELETE and MERGE change is among
the reads only where the statement names it as a source, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from sqlglot import exp

from graph_model import labels
from graph_model.sql.names import OF_TSQL, SqlNames, qualified_name
from graph_model.sql.parsing import EVOLVES
from graph_model.sql.queries import QueryReader, Temporary, is_hash, leaves_of
from graph_model.sql.scopes import STAR, UNSUPPORTED, Commons, FromItem, SelectScope
from graph_model.sql.values import (
    NOTHING,
    ColumnValue,
    Flows,
    Influences,
    SqlRelation,
    base_table,
    conjuncts,
)

TARGET: Final = "target-columns"
"""No schema lists the columns of a table that a query writes by position: they have its names."""


class TargetRow(NamedTuple):
    """The names that values have by their places: ``names``; where they are None those of the
    columns of the written table, which the text does not have, but the ``fixed`` ones.
    """

    names: tuple[str, ...] | None
    fixed: tuple[str, ...] = ()


@dataclass(slots=True)
class TableWrite:
    """Values for columns of a table; no ``table``: the result of a query. ``made``: the statement
    creates the table, and these are its columns. ``row``: their places name them.
    """

    table: str | None
    values: Sequence[ColumnValue]
    made: bool = False
    temporary: bool = False
    row: TargetRow | None = None

    @property
    def hidden(self) -> range:
        """The places of the values whose names hang on the number of columns of a ``*``."""
        starred = [place for place, value in enumerate(self.values) if value.tables]
        if self.row is None or self.row.names is None or not starred:
            return range(0)
        return range(starred[0], starred[-1] + 1)

    @property
    def named(self) -> Sequence[ColumnValue]:
        """The values that have the names of the columns that they are written to."""
        return [*self.values[: self.hidden.start], *self.values[self.hidden.stop :]]


@dataclass(slots=True)
class StatementEffect:
    """What one statement does. ``renames``: (old, new) names of tables, ``swaps`` of both ways."""

    writes: list[TableWrite] = field(default_factory=list)
    influences: Influences = field(default_factory=Influences)
    renames: list[tuple[str, str]] = field(default_factory=list)
    swaps: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


class Statements:
    """Reads statements with the reader of their queries."""

    def __init__(
        self, reader: QueryReader, temporary: dict[str, Temporary], variables: Collection[str]
    ) -> None:
        self._reader = reader
        self._names: SqlNames = reader.names
        self._temporary = temporary
        self._variables = variables
        self.made = StatementEffect()

    def gap(self, code: str, detail: str) -> None:
        self._reader.gap(code, detail)

    def effect(self, node: exp.Expr) -> StatementEffect:
        """Statements of no kind that is known have the gap UNSUPPORTED."""
        self._read(node, {})
        return self.made

    def _read(self, node: exp.Expr, commons: Commons) -> None:
        for kind, read in _KINDS:
            if isinstance(node, kind):
                around = self._reader.commons(node, None, commons)
                self._changing(node, around)
                read(self, node, commons if isinstance(node, exp.Query) else around)
                return
        if not isinstance(node, _WITHOUT_LINEAGE):
            self._reader.gap(UNSUPPORTED, type(node).__name__.upper())

    def _changing(self, node: exp.Expr, commons: Commons) -> None:
        """Common table expressions that change a table do so whether or not they are read."""
        clause = node.args.get("with_")
        for common in clause.expressions if clause is not None else ():
            if isinstance(common.this, exp.DML) and not isinstance(common.this, exp.Query):
                self._read(common.this, commons)

    # --- shared ----------------------------------------------------------------------------------

    def _taken(self, relation: SqlRelation) -> Sequence[ColumnValue]:
        if relation.influences is not None:
            self.made.influences.inner.append(relation.influences)
        return relation.values

    def _write(
        self,
        table: str,
        values: Iterable[ColumnValue],
        *,
        made: bool = False,
        temporary: bool = False,
    ) -> None:
        self.made.writes.append(TableWrite(table, list(values), made, temporary))

    def _target(self, node: exp.Expr) -> tuple[str, exp.Table | None]:
        """The name of what is written, and its table node."""
        if isinstance(node, exp.Schema):
            node = node.this
        if isinstance(node, exp.Directory):
            return str(node.this.name), None
        if isinstance(node, exp.Table):
            return self._name(node), node
        if isinstance(node, exp.Func):  # INSERT INTO FUNCTION s3('https://…')
            places = (text.this for text in node.find_all(exp.Literal) if "://" in text.this)
            return next(places, node.name), None
        return node.name, None

    def _name(self, table: exp.Table) -> str:
        short = qualified_name(self._names.parts(table))
        return short if short in self._temporary else self._names.table(table)

    def _columns(self, table: str) -> tuple[str, ...] | None:
        kept = self._temporary.get(table)
        if kept is not None and not kept.relation.is_open:
            return tuple(value.name for value in kept.relation.values)
        return self._names.columns(table)

    def _relation(self, table: str) -> SqlRelation:
        """A table that is changed: no read of it."""
        kept = self._temporary.get(table)
        return kept.relation if kept else base_table(table, self._columns(table))

    # --- queries ---------------------------------------------------------------------------------

    def select(self, node: exp.Expr, commons: Commons) -> None:
        """A query alone, or SELECT … INTO."""
        relation = self._reader.query(node, None, commons)
        first = node
        while isinstance(first, exp.SetOperation):
            first = first.this
        into = first.args.get("into")
        values = self._taken(relation)
        table = into.this if into is not None else None
        if not isinstance(table, exp.Table) or table.name.lower() in self._variables:
            self.made.writes.append(TableWrite(None, values))
            return
        temporary = (into is not None and bool(into.args.get("temporary"))) or is_hash(table)
        self._write(self._name(table), values, made=True, temporary=temporary)

    # --- CREATE ----------------------------------------------------------------------------------

    def create(self, node: exp.Create, commons: Commons) -> None:
        if node.kind == "MODEL" and isinstance(node.expression, _QUERIES):
            self._reader.query(node.expression, None, commons)  # what it is trained with is read
            self._reader.gap(UNSUPPORTED, "CREATE MODEL")
        if node.kind not in {"TABLE", "VIEW"}:
            return
        table, named = self._target(node.this)
        properties = node.args.get("properties")
        marks = properties.expressions if properties is not None else []
        temporary = any(isinstance(mark, _TEMPORARY) for mark in marks)
        temporary = temporary or (named is not None and is_hash(named))
        if temporary and named is not None:
            table = qualified_name(self._names.parts(named))
        columns = self._listed(node.this)
        like = (item for item in (*marks, *node.this.expressions))
        copied = next((item.this for item in like if isinstance(item, exp.LikeProperty)), None)
        clone = node.args.get("clone")
        body = node.expression
        if isinstance(clone, exp.Clone) and isinstance(clone.this, exp.Table):
            relation = self._reader.query(clone.this, None, commons)
            self._write(table, self._taken(relation), made=True, temporary=temporary)
        elif isinstance(body, _QUERIES):
            by_name = node.kind == "TABLE" and self._names.dialect in _COLUMNS_ADDED
            relation = self._reader.query(body, None, commons)
            relation = relation if by_name else relation.renamed(columns)
            into = [mark.this for mark in marks if isinstance(mark, exp.ToTableProperty)]
            if into:  # CREATE MATERIALIZED VIEW v TO t
                self._write(self._name(into[0]), self._taken(relation))
                return
            values = self._taken(relation)
            self._write(table, values, made=True, temporary=temporary)
        elif temporary and (path := _path_of(marks)):  # … USING parquet OPTIONS (path '…')
            self._reader.reads[path] = None
            values = base_table(path, None).values
            self._write(table, values, made=True, temporary=True)
        else:
            if copied is not None:
                columns = list(self._columns(self._name(copied)) or ())
            if temporary:
                relation = SqlRelation([ColumnValue(name) for name in columns])
                self._temporary[table] = Temporary(relation, frozenset())
            elif columns:
                self._names.declare(table, tuple(columns))

    def _listed(self, node: exp.Expr) -> list[str]:
        if not isinstance(node, exp.Schema):
            return []
        return [
            self._names.identifier(item if isinstance(item, exp.Identifier) else item.this)
            for item in node.expressions
            if isinstance(item, exp.Identifier | exp.ColumnDef | exp.Column)
        ]

    def cache(self, node: exp.Cache, commons: Commons) -> None:
        """CACHE TABLE t AS SELECT …: a view of the session."""
        if isinstance(node.expression, exp.Query) and isinstance(node.this, exp.Table):
            relation = self._reader.query(node.expression, None, commons)
            name = qualified_name(self._names.parts(node.this))
            self._write(name, self._taken(relation), made=True, temporary=True)

    def declare(self, node: exp.Declare, commons: Commons) -> None:
        """DECLARE @t TABLE (a int)."""
        del commons
        for item in node.expressions:
            schema = item.args.get("kind")
            if isinstance(schema, exp.Schema):
                for named in item.this if isinstance(item.this, list) else [item.this]:
                    relation = SqlRelation([ColumnValue(name) for name in self._listed(schema)])
                    name = f"@{named.name.lower().lstrip('@')}"
                    self._temporary[name] = Temporary(relation, frozenset())

    # --- INSERT ----------------------------------------------------------------------------------

    def insert(self, node: exp.Insert, commons: Commons) -> None:
        body = node.expression or node.args.get("source")  # INSERT INTO t TABLE s
        if isinstance(body, exp.Tuple):
            body = exp.Values(expressions=[body])
        if isinstance(body, _QUERIES):
            relation = self._reader.query(body, None, commons)
        else:
            relation = SqlRelation(())
            if body is not None and not node.args.get("default"):  # DEFAULT VALUES
                self._reader.gap(UNSUPPORTED, f"INSERT of {type(body).__name__.upper()}")
        self._insert(node, relation, commons)

    def _insert(self, node: exp.Insert, relation: SqlRelation, commons: Commons) -> None:
        table, named = self._target(node.this)
        values = self._taken(relation)
        if named is None:
            self._write(table, values)
            return
        columns = self._listed(node.this) or [
            self._names.identifier(column) for column in node.args.get("columns") or ()
        ]
        write = self._paired(table, named, values, columns, bool(node.args.get("by_name")))
        self.made.writes.append(write)
        self._output(node, table, named)
        self._conflict(node, table, named, write.named, commons)

    def _paired(
        self,
        table: str,
        named: exp.Table,
        values: Sequence[ColumnValue],
        columns: Sequence[str],
        by_name: bool,
    ) -> TableWrite:
        """The values under the names of the columns that they are written to."""
        if by_name:
            return TableWrite(table, values)
        fixed, moving = self._partition(named)
        known = columns or [c for c in self._columns(table) or () if c not in (*fixed, *moving)]
        targets = [*known, *(m for m in moving if m not in known)]
        stars = [place for place, value in enumerate(values) if value.tables]
        if not known:
            return self._unpaired(table, values, moving, TargetRow(None, tuple(fixed)))
        if stars:
            return self._starred(table, values, targets, stars)
        if len(values) > len(targets):
            self._reader.gap(TARGET, f"{table}: {len(values)} values, {len(targets)} columns")
        pairs = zip(values, targets, strict=False)
        return TableWrite(table, [value.named(name) for value, name in pairs])

    def _unpaired(
        self, table: str, values: Sequence[ColumnValue], moving: Sequence[str], row: TargetRow
    ) -> TableWrite:
        """Values for columns of which only the last ones, ``moving``, are known."""
        paired = list(values)
        stars = [place for place, value in enumerate(values) if value.tables]
        first = max(stars[-1] + 1 if stars else 0, len(values) - len(moving))
        for place in range(first, len(values)):
            paired[place] = values[place].named(moving[place - len(values)])
        if not stars and any(value.flows for value in values[:first]):
            self._reader.gap(TARGET, f"{table}: its columns are not known")
        return TableWrite(table, paired, row=row)

    def _starred(
        self,
        table: str,
        values: Sequence[ColumnValue],
        targets: Sequence[str],
        stars: Sequence[int],
    ) -> TableWrite:
        """Values with a ``*`` of unknown columns among them: those before it have their place, and
        those behind it theirs from the end.
        """
        among = sorted({t for value in values for t in value.tables})
        self._reader.gap(STAR, f"* of {', '.join(among)} into columns of {table}")
        first, behind = stars[0], len(values) - 1 - stars[-1]
        before = [value.named(name) for value, name in zip(values[:first], targets, strict=False)]
        if any(star.scattered for value in values for star in value.stars):
            return TableWrite(table, before)
        if len(targets) < first + behind:
            return TableWrite(table, before)
        last = len(targets) - behind
        after = [
            v.named(name) for v, name in zip(values[stars[-1] + 1 :], targets[last:], strict=True)
        ]
        if len(stars) == 1:
            placed = values[first].placed(targets[first:last])
            return TableWrite(table, [*before, replace(placed, flows=NOTHING, tables=()), *after])
        between = values[first : stars[-1] + 1]
        return TableWrite(table, [*before, *between, *after], row=TargetRow(tuple(targets)))

    def _partition(self, table: exp.Table) -> tuple[list[str], list[str]]:
        """PARTITION (day = '…', hour): columns with a value, and those of the query's last ones."""
        fixed: list[str] = []
        moving: list[str] = []
        clause = table.args.get("partition")
        for item in clause.expressions if isinstance(clause, exp.Partition) else ():
            if isinstance(item, exp.EQ):
                fixed.append(self._names.identifier(item.this.this))
            elif isinstance(item, exp.Column):
                moving.append(self._names.identifier(item.this))
            elif isinstance(item, exp.Identifier):
                moving.append(self._names.identifier(item))
        return fixed, moving

    def _output(
        self, node: exp.Expr, table: str, named: exp.Table, sources: Sequence[FromItem] = ()
    ) -> None:
        """RETURNING a, old.b, and T-SQL's OUTPUT inserted.a, deleted.b, s.c: rows for the statement
        around this one, or INTO another table. ``sources`` are the tables of the statement.
        """
        clause = node.args.get("returning")
        if clause is None:
            return
        before = self._relation(table)
        after = before if isinstance(node, exp.Delete) else self._inserted(table, before)
        states = [
            FromItem((self._names.identifier(name),), relation)
            for pair, relation in ((("deleted", "old"), before), (("inserted", "new"), after))
            for name in pair
        ]
        items = list(sources) or [self._source(table, named)]
        place = next((p for p, i in enumerate(items) if i.relation.values == before.values), None)
        if place is not None:
            items[place] = items[place]._replace(relation=after)
        frame = SelectScope(SelectScope(None, {}, states), {}, items)
        returned = self._reader.returning(clause, frame)
        behind = self._behind(table, returned)
        if not (into := clause.args.get("into")):
            self._reader.returned[id(node)] = Temporary(returned, behind)
        elif self._names.dialect in OF_TSQL:  # it sets variables elsewhere
            self._reader.reads.update(dict.fromkeys(behind))
            self._written_output(into, returned.values)

    def _behind(self, table: str, returned: SqlRelation) -> frozenset[str]:
        """The changed table, where former values of it are returned."""
        if (kept := self._temporary.get(table)) is not None:
            return kept.reads
        used = any(leaf[0] == table for value in returned.values for leaf, _ in value.flows)
        return frozenset({table}) if used else frozenset()

    def _written_output(self, into: exp.Expr, values: Sequence[ColumnValue]) -> None:
        columns = [self._names.identifier(_last(column)) for column in into.expressions]
        named = (
            exp.Table(this=into)
            if isinstance(into, exp.Parameter)
            else exp.to_table(into.name, dialect="tsql")
        )
        written = self._name(named)
        if not written.startswith("@") or written in self._temporary:
            write = self._paired(written, named, values, columns, False)
            self.made.writes.append(replace(write, temporary=is_hash(named)))

    def _inserted(self, table: str, changed: SqlRelation) -> SqlRelation:
        """The columns of a table behind the statement: what it writes, else what they were."""
        written: dict[str, ColumnValue] = {}
        for write in self.made.writes:
            for value in write.named if write.table == table else ():
                known = written.get(value.name.lower())
                flows = value.flows | known.flows if known else value.flows
                written[value.name.lower()] = replace(value, flows=flows)
        kept = [value for value in changed.values if value.name.lower() not in written]
        return SqlRelation([*written.values(), *kept], otherwise=changed.otherwise)

    def _conflict(
        self,
        node: exp.Insert,
        table: str,
        named: exp.Table,
        inserted: Sequence[ColumnValue],
        commons: Commons,
    ) -> None:
        """ON CONFLICT DO UPDATE SET a = excluded.a, ON DUPLICATE KEY UPDATE a = VALUES(a)."""
        clause = node.args.get("conflict")
        if not isinstance(clause, exp.OnConflict):
            return
        given = SqlRelation(inserted)
        excluded = tuple(self._names.identifier(word) for word in ("excluded", "new"))
        frame = SelectScope(None, commons, [self._source(table, named)])
        frame.sources += [FromItem((name,), given) for name in excluded]
        frame.shared = {value.name.lower(): value for value in self._relation(table).values}
        body = node.expression
        if isinstance(body, exp.Values) and (alias := body.args.get("alias")):
            columns = [self._names.identifier(column) for column in alias.columns]
            name = (self._names.identifier(alias.this),)
            frame.sources.append(FromItem(name, given.renamed(columns)))
        if clause.args.get("duplicate") and isinstance(body, exp.Select) and body.args.get("from_"):
            self._reader.add(body.args["from_"].this, frame)  # MySQL: those of the query, too
            for join in body.args.get("joins") or ():
                self._reader.join(join, frame)
        items = [item for item in clause.expressions if isinstance(item, exp.EQ)]
        for item in items:
            for call in item.expression.find_all(exp.Anonymous):
                if str(call.this).upper() == "VALUES" and call.expressions:
                    call.replace(exp.column(call.expressions[0].this, table=excluded[0]))
        deciding = self._deciding(clause.args.get("where"), frame)
        self._assign(items, table, frame, deciding)

    def multiple(self, node: exp.MultitableInserts, commons: Commons) -> None:
        """FROM s INSERT INTO a SELECT … INSERT INTO b SELECT …, INSERT ALL INTO a … SELECT …."""
        source = node.args["source"]
        for item in node.expressions:
            insert = item.this if isinstance(item, exp.ConditionalInsert) else item
            frame = SelectScope(None, commons)
            self._reader.add(_as_source(source), frame)
            if isinstance(item, exp.ConditionalInsert) and item.expression is not None:
                self._reader.influence(labels.FILTER, item.expression, frame)
            body = insert.expression
            if isinstance(body, exp.Select):
                body.set("from_", exp.From(this=_as_source(source)))
                relation = self._reader.query(body, None, commons)
            elif isinstance(body, exp.Tuple | exp.Values):
                row = body.expressions[0] if isinstance(body, exp.Values) else body
                values = [self._reader.value(v, v.output_name, frame) for v in row.expressions]
                relation = SqlRelation(values, frame.influences)
            else:
                given = [v for item in frame.sources for v in item.relation.values]
                relation = SqlRelation(given, frame.influences)
            self._insert(insert, relation, commons)

    # --- UPDATE, DELETE, MERGE -------------------------------------------------------------------

    def _source(self, table: str, named: exp.Table) -> FromItem:
        alias = named.args.get("alias")
        if alias is not None and alias.this is not None:
            return FromItem((self._names.identifier(alias.this),), self._relation(table))
        return FromItem(self._names.parts(named), self._relation(table))

    def _changed(
        self, node: exp.Expr, named: exp.Table, commons: Commons
    ) -> tuple[str, SelectScope, dict[str, str]]:
        """The changed table, the frame of the statement, and the tables by alias.

        T-SQL names the alias of a table in FROM, MySQL joins other tables to the changed one.
        """
        inside = [
            table
            for key in ("from_", "using")
            for part in _listed_nodes(node.args.get(key))
            for table in part.dfs(prune=lambda inner: isinstance(inner, exp.Select))
            if isinstance(table, exp.Table)
        ]
        name = self._names.parts(named)
        behind = next(
            (
                t
                for t in inside
                if t.alias and (self._names.identifier(t.args["alias"].this),) == name
            ),
            None,
        ) or next(
            (t for t in inside if not t.alias and self._names.parts(t)[-1:] == name[-1:]), None
        )
        changed = behind if behind is not None else named
        stored = self._stored(changed, commons)
        target = self._name(stored)
        frame = SelectScope(None, commons)
        if behind is None and stored is not named:
            self._reader.add(named, frame)
        elif behind is None:
            frame.sources.append(self._source(target, named))
        for part in _listed_nodes(node.args.get("from_")) + _listed_nodes(node.args.get("using")):
            self._reader.add(part.this if isinstance(part, exp.From) else part, frame)
        if stored is not named:
            self._unread_target(node, target, (named, changed, stored))
        for join in named.args.get("joins") or ():
            self._reader.join(join, frame)
        self.made.influences.inner.append(frame.influences)
        aliases = {t.alias_or_name.lower(): self._name(t) for t in named.find_all(exp.Table)}
        aliases |= {t.alias_or_name.lower(): self._name(t) for t in inside}
        aliases[changed.alias_or_name.lower()] = target
        return target, frame, aliases

    def _stored(self, table: exp.Table, commons: Commons) -> exp.Table:
        """``WITH x AS (SELECT … FROM t) DELETE FROM x``: t."""
        while (common := commons.get(qualified_name(self._names.parts(table)).lower())) is not None:
            clause = common.node.this.args.get("from_")
            if clause is None or not isinstance(clause.this, exp.Table):
                break
            table, commons = clause.this, common.around
        return table

    def _unread_target(self, node: exp.Expr, target: str, changed: tuple[exp.Table, ...]) -> None:
        """The ``changed`` one of FROM is no read of the table; another one of its name is."""
        known = {id(table) for table in changed}
        if not any(
            self._name(table) == target
            for table in node.find_all(exp.Table)
            if id(table) not in known
        ):
            self._reader.reads.pop(target, None)

    def update(self, node: exp.Update, commons: Commons) -> None:
        named = node.this
        if not isinstance(named, exp.Table):
            self._update_query(node, commons)
            return
        target, frame, aliases = self._changed(node, named, commons)
        self._filter(node, frame)
        tables: dict[str, list[exp.EQ]] = {target: []}
        for item in node.expressions:
            if isinstance(item, exp.EQ):
                alias = item.this.table.lower() if isinstance(item.this, exp.Column) else ""
                tables.setdefault(aliases.get(alias, target), []).append(item)
        for table, assigned in tables.items():
            if assigned or table == target:
                self._assign(assigned, table, frame, NOTHING)
        self._output(node, target, named, frame.sources)

    def _update_query(self, node: exp.Update, commons: Commons) -> None:
        """UPDATE (SELECT t.b, s.d FROM t JOIN s …) SET b = d: t is changed, whose column b is."""
        frame = SelectScope(None, commons)
        self._reader.add(node.this, frame)
        self.made.influences.inner.append(frame.influences)
        self._filter(node, frame)
        written: dict[str, list[ColumnValue]] = {}
        for item in node.expressions:
            left = item.this if isinstance(item, exp.EQ) else None
            behind = self._reader.column(left, frame).flows if isinstance(left, exp.Column) else ()
            if len(behind) != 1:
                self._reader.gap(UNSUPPORTED, "UPDATE of a query")
                continue
            for (table, path), _ in behind:
                value = self._reader.value(item.expression, path, frame)
                written.setdefault(table, []).append(value)
        tables = list(node.this.find_all(exp.Table))
        for table, values in written.items():
            self._reader.step(10 * len(tables))
            self._write(table, values)
            named = next((t for t in tables if self._name(t) == table), None)
            if named is not None:
                self._unread_target(node, table, (named,))

    def _filter(self, node: exp.Update | exp.Delete, frame: SelectScope) -> None:
        """The WHERE of an UPDATE or a DELETE selects rows, as any WHERE does."""
        if (clause := node.args.get("where")) is not None:
            self._reader.influence(labels.FILTER, clause.this, frame)

    def _deciding(self, clause: exp.Expr | None, frame: SelectScope) -> Flows:
        """The condition of a clause is CONDITIONAL for the columns that it sets."""
        if clause is None:
            return NOTHING
        condition = clause.this if isinstance(clause, exp.Where) else clause
        leaves = {
            leaf
            for conjunct in conjuncts(condition)
            for leaf in leaves_of(self._reader.flows(conjunct, frame))
        }
        return frozenset((leaf, labels.CONDITIONAL) for leaf in leaves)

    def _assign(
        self,
        items: Sequence[exp.EQ],
        table: str,
        frame: SelectScope,
        deciding: Flows,
    ) -> None:
        values: list[ColumnValue] = []
        for item in items:
            left, right = item.this, item.expression
            if isinstance(left, exp.Parameter):  # SET a = b, @old = a
                continue
            columns = left.expressions if isinstance(left, exp.Tuple | exp.Paren) else [left]
            values += self._set(columns, right, frame)
        self._write(table, [_also(value, deciding) for value in values])

    def _set(
        self, columns: Sequence[exp.Expr], right: exp.Expr, frame: SelectScope
    ) -> Iterator[ColumnValue]:
        """``a = x``, ``(a, b) = (x, y)``, ``(a, b) = (SELECT x, y …)``."""
        names = [self._names.identifier(_last(column)) for column in columns]
        if len(names) == 1:
            yield self._reader.value(right, names[0], frame)
        elif isinstance(right, exp.Tuple):
            for name, part in zip(names, right.expressions, strict=False):
                yield self._reader.value(part, name, frame)
        else:
            made = self._reader.query(right, frame, frame.commons)
            deciding = frozenset(
                (leaf, labels.CONDITIONAL)
                for influence in made.influences or ()
                for leaf in influence.leaves
            )
            for name, value in zip(names, made.values, strict=False):
                yield _also(value.named(name), deciding)

    def delete(self, node: exp.Delete, commons: Commons) -> None:
        named = node.this
        if not isinstance(named, exp.Table):
            self._reader.gap(UNSUPPORTED, "DELETE from a query")
            return
        first = (node.args.get("tables") or [None])[0]
        others: list[str] = []
        if isinstance(first, exp.Table):  # DELETE a FROM t a JOIN …
            frame = SelectScope(None, commons)
            self._reader.add(named, frame)
            inside = [named, *named.find_all(exp.Table)]
            name = first.name.lower()
            behind = next((t for t in inside if t.alias_or_name.lower() == name), first)
            stored = self._stored(behind, commons)
            target = self._name(stored)
            self._unread_target(node, target, (first, behind, stored))
            self.made.influences.inner.append(frame.influences)
            by_alias = {table.alias_or_name.lower(): self._name(table) for table in inside}
            more = [table.name.lower() for table in node.args["tables"][1:]]
            others = [by_alias[name] for name in more if name in by_alias]
        else:
            target, frame, _ = self._changed(node, named, commons)
        self._filter(node, frame)
        for table in dict.fromkeys((target, *others)):
            self._write(table, ())
        self._output(node, target, named, frame.sources)

    def merge(self, node: exp.Merge, commons: Commons) -> None:
        named = node.this
        target = self._name(named)
        frame = SelectScope(None, commons, [self._source(target, named)])
        self._reader.add(node.args["using"], frame)
        self.made.influences.inner.append(frame.influences)
        if (condition := node.args.get("on")) is not None:
            self._reader.influence(labels.JOIN, condition, frame)
        self._write(target, ())
        for when in node.args["whens"].expressions:
            self._merged(when, target, frame, evolves=bool(node.meta.get(EVOLVES)))
        self._output(node, target, named, frame.sources)

    def _merged(self, when: exp.When, target: str, frame: SelectScope, *, evolves: bool) -> None:
        then, condition = when.args["then"], when.args.get("condition")
        # Of an INSERT: the target has no row.
        source = SelectScope(frame.parent, frame.commons, frame.sources[1:])
        source.influences = frame.influences
        if isinstance(then, exp.Update):
            deciding = self._deciding(condition, frame)
            deciding |= self._deciding(then.args.get("where"), frame)
            if any(isinstance(item, exp.Star) for item in then.expressions):
                self._by_name(target, source, deciding, evolves=evolves)
            else:
                items = [item for item in then.expressions if isinstance(item, exp.EQ)]
                self._assign(items, target, frame, deciding)
        elif isinstance(then, exp.Insert):
            deciding = self._deciding(condition, source)
            deciding |= self._deciding(then.args.get("where"), source)
            body, listed = then.expression, list(_members(then.this))
            if listed and isinstance(listed[0], exp.Anonymous):  # INSERT VALUES (…)
                body, listed = listed[0], []
            if isinstance(then.this, exp.Var):  # INSERT ROW: by position
                values = [value for item in source.sources for value in item.relation.values]
                write = self._paired(target, exp.to_table(target), values, [], by_name=False)
                write.values = [_also(value, deciding) for value in write.values]
                self.made.writes.append(write)
                return
            if not isinstance(body, exp.Tuple | exp.Anonymous):
                self._by_name(target, source, deciding, evolves=evolves)
                return
            columns = [self._names.identifier(_last(column)) for column in listed]
            columns = columns or list(self._columns(target) or ())
            values = [self._reader.value(v, v.output_name, source) for v in body.expressions]
            if columns:
                values = [v.named(name) for v, name in zip(values, columns, strict=False)]
            self._write(target, [_also(value, deciding) for value in values])
        elif condition is not None:
            self._reader.influence(labels.FILTER, condition, frame)

    def _by_name(self, target: str, source: SelectScope, deciding: Flows, *, evolves: bool) -> None:
        """UPDATE SET *, INSERT *: each column of the target from the source's of its name. Where
        the target is not known, or ``evolves``, those of the source are the target's.
        """
        values = [value for item in source.sources for value in item.relation.values]
        names = None if evolves else self._columns(target)
        if names is not None:
            values = [
                self._reader.of_source(item, name).named(name)
                for item in source.sources
                for name in names
                if item.relation.definite(name) is not None or item.relation.is_open
            ]
        self._write(target, [_also(value, deciding) for value in values])

    # --- files -----------------------------------------------------------------------------------

    def copy(self, node: exp.Copy, commons: Commons) -> None:
        """COPY t FROM 's3://…', COPY INTO t FROM (SELECT …), COPY (SELECT …) TO 's3://…'."""
        files = [place for item in node.args.get("files") or () if (place := _place(item))]
        queries = [item for item in node.args.get("files") or () if isinstance(item, exp.Subquery)]
        target, named = self._target(node.this)
        if node.args.get("kind") and ("://" in target or target.startswith("@")):
            source = node.args["files"][0]  # Snowflake: COPY INTO 's3://…' FROM t
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Var):
                source = exp.to_table(source.name)
            self._write(target, self._taken(self._reader.query(source, None, commons)))
            return
        if node.args.get("kind"):
            self._reader.reads.update(dict.fromkeys(files))
            self._write(target, ())
            columns = self._listed(node.this)
            for query in queries:
                values = self._taken(self._reader.query(query, None, commons))
                if named is not None:
                    self.made.writes.append(self._paired(target, named, values, columns, False))
            return
        source = node.this
        if isinstance(source, exp.Schema):
            source = source.this
        relation = self._reader.query(source, None, commons)
        values = list(self._taken(relation))
        for file in files or [""]:
            self._write(file, values) if file else self.made.writes.append(TableWrite(None, values))

    def export(self, node: exp.Export, commons: Commons) -> None:
        """EXPORT DATA OPTIONS (uri = 'gs://…') AS SELECT …."""
        relation = self._reader.query(node.this, None, commons)
        places = [t.this for t in node.find_all(exp.Literal) if t.is_string and "://" in t.this]
        self._write(places[0] if places else "", self._taken(relation))

    def load(self, node: exp.LoadData, commons: Commons) -> None:
        """LOAD DATA INPATH 's3://…' INTO TABLE t."""
        del commons
        if (path := node.args.get("inpath")) is not None:
            self._reader.reads[path.name] = None
        for literal in node.find_all(exp.Literal):  # FROM FILES (uris = ['gs://…'])
            if literal.is_string and "://" in literal.this:
                self._reader.reads[literal.this] = None
        self._write(self._target(node.this)[0], ())

    def unload(self, query: exp.Expr, place: str) -> StatementEffect:
        """UNLOAD ('SELECT …') TO 's3://…'."""
        relation = self._reader.query(query, None, {})
        self._write(place, self._taken(relation))
        return self.made

    # --- ALTER, DROP, USE ------------------------------------------------------------------------

    def alter(self, node: exp.Alter, commons: Commons) -> None:
        for action in node.args.get("actions") or ():
            if isinstance(action, exp.Query):  # ALTER VIEW v (a, b) AS SELECT …
                relation = self._reader.query(action, None, commons)
                table, _ = self._target(node.this)
                values = self._taken(relation.renamed(self._listed(node.this)))
                self._write(table, values, made=True)
            elif not isinstance(node.this, exp.Table):
                continue
            elif isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table):
                self.rename(node.this, action.this)
            elif isinstance(action, exp.SwapTable) and isinstance(action.this, exp.Table):
                self.swap(node.this, action.this)

    def swap(self, left: exp.Table, right: exp.Table) -> None:
        """ALTER TABLE a SWAP WITH b, EXCHANGE TABLES a AND b."""
        self.made.swaps.append((self._name(left), self._name(right)))

    def rename(self, old: exp.Table, new: exp.Table) -> None:
        """``ALTER TABLE sales.a RENAME TO b``: to sales.b."""
        parts = self._names.parts(new)
        if len(parts) == 1:
            parts = (*self._names.parts(old)[:-1], *parts)
        self.made.renames.append((self._name(old), qualified_name(self._names.qualified(parts))))

    def truncate(self, node: exp.TruncateTable, commons: Commons) -> None:
        """A temporary table has its columns, and nothing in them."""
        del commons
        for table in node.expressions:
            name = self._name(table)
            kept = self._temporary.get(name)
            if kept is not None:
                values = [ColumnValue(v.name) for v in kept.relation.values if not v.tables]
                self._temporary[name] = Temporary(SqlRelation(values), frozenset())

    def drop(self, node: exp.Drop, commons: Commons) -> None:
        del commons
        tables = [node.this, *(node.args.get("expressions") or ())]
        self.made.dropped += [self._name(t) for t in tables if isinstance(t, exp.Table)]

    def locked(self, node: exp.LockingStatement, commons: Commons) -> None:
        """LOCKING ROW FOR ACCESS SELECT …."""
        self._read(node.expression, commons)

    def use(self, node: exp.Use, commons: Commons) -> None:
        del commons
        if isinstance(node.this, exp.Table):
            *around, name = self._names.parts(node.this)
            kind = node.args.get("kind")
            self._names.use(name, "SCHEMA" if around else kind.name.upper() if kind else "")
            if around:
                self._names.use(around[-1], "CATALOG")

    def search(self, path: str) -> StatementEffect:
        """SET search_path TO a, b."""
        self._names.search_path(path)
        return self.made


_TEMPORARY: Final = (exp.TemporaryProperty, exp.VolatileProperty)
#: CREATE TABLE t (k int) SELECT id AS k, …: the columns of the query are those, or further ones.
_COLUMNS_ADDED: Final = frozenset({"mysql", "singlestore"})
_QUERIES: Final = (exp.Query, exp.Values, exp.Table, exp.Pivot)
_KINDS: Final[tuple[tuple[Any, Callable[[Statements, Any, Commons], None]], ...]] = (
    (exp.Create, Statements.create),
    (exp.MultitableInserts, Statements.multiple),
    (exp.Insert, Statements.insert),
    (exp.Update, Statements.update),
    (exp.Delete, Statements.delete),
    (exp.Merge, Statements.merge),
    (exp.Copy, Statements.copy),
    (exp.Export, Statements.export),
    (exp.LoadData, Statements.load),
    (exp.Alter, Statements.alter),
    (exp.Drop, Statements.drop),
    (exp.Use, Statements.use),
    (exp.Cache, Statements.cache),
    (exp.Declare, Statements.declare),
    (exp.TruncateTable, Statements.truncate),
    (exp.LockingStatement, Statements.locked),
    (_QUERIES, Statements.select),
)
_WITHOUT_LINEAGE: Final = (
    exp.Transaction, exp.Commit, exp.Rollback, exp.Semicolon, exp.Command,
    exp.Analyze, exp.Comment, exp.Describe, exp.Grant, exp.Kill, exp.Pragma, exp.Show, exp.Refresh,
    exp.Return, exp.Set, exp.Attach, exp.Detach, exp.Uncache, exp.Install, exp.Undrop,
)  # fmt: skip


def _also(value: ColumnValue, deciding: Flows) -> ColumnValue:
    if not deciding:
        return value
    return replace(value, flows=value.flows | deciding)


def _last(column: exp.Expr) -> exp.Expr:
    """The name of a column that is set: ``t.a`` => a."""
    return column.this if isinstance(column, exp.Column) else column


def _members(node: exp.Expr | None) -> Sequence[exp.Expr]:
    if isinstance(node, exp.Tuple | exp.Schema):
        return node.expressions
    return [node.this] if isinstance(node, exp.Paren) else []


def _listed_nodes(value: object) -> list[exp.Expr]:
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed if isinstance(item, exp.Expr)]


def _as_source(node: exp.Expr) -> exp.Expr:
    return node.copy() if not isinstance(node, exp.Select) else exp.Subquery(this=node.copy())


def _place(node: exp.Expr) -> str:
    """A file or stage of a COPY: a text in quotes, ``@stage/path``, a folder."""
    if isinstance(node, exp.Subquery):
        return ""
    return "" if node.name.lower() in {"stdin", "stdout"} else str(node.name)


def _path_of(marks: Sequence[exp.Expr]) -> str:
    """The path among OPTIONS, or the LOCATION."""
    for mark in marks:
        for option in mark.expressions if isinstance(mark, exp.OptionsProperty) else ():
            if option.name.lower() == "path":
                return str(option.args["value"].name)
    return ""
