"""One query alone: the tables that it reads, and the columns behind each column of its result.

    select e.name, e.salary * 2 as double_pay from emp e join dept d on e.dept = d.id

    name        IDENTITY        emp.name
    double_pay  TRANSFORMATION  emp.salary    e.salary * 2
    JOIN        emp.dept, dept.id             e.dept = d.id

For a query whose columns a database has named, as in Spark's reads by JDBC. Names are those of the
query. A name that stands alone belongs to the only table that can have it; where several can, it is
open: the schemas that the catalogue has when a question is asked decide, and no source is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlglot import exp

from graph_model import labels
from graph_model.sql.names import Parts, SqlNames, qualified_name, split_name
from graph_model.sql.parsing import on_own_stack, parse
from graph_model.sql.queries import QueryReader
from graph_model.sql.scopes import one_of
from graph_model.sql.values import ColumnValue, Mask, Texts, candidates, masked
from graph_model.sql.values import Flow as NamedFlow

Leaf = tuple[Parts, str]  # a table and its column
Flow = tuple[Leaf, str]  # and how it flows: IDENTITY … WINDOW


class OpenLeaf(NamedTuple):
    """A column that exactly one of these tables has; only their schemas can say which."""

    among: tuple[Parts, ...]
    name: str
    how: str

    @property
    def text(self) -> str:
        """As the reader of queries calls what it leaves open."""
        return one_of(self.name, [qualified_name(table) for table in self.among])


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """One column of a query's result: its text and its source columns."""

    expression: str
    flows: tuple[Flow, ...]
    opens: tuple[OpenLeaf, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryInfluence:
    """A condition, a grouping or an order; ``how`` FILTER, JOIN, GROUP_BY or SORT."""

    how: str
    expression: str
    sources: tuple[Leaf, ...]
    opens: tuple[OpenLeaf, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryLineage:
    """``columns`` are in the order of the requested names, None for an unresolved one.

    ``problems`` are the names that could not be attributed and are not open, sorted and distinct;
    ``reads`` the names of the tables, sorted. Files are none, nor what a function reads.
    """

    columns: tuple[QueryColumn | None, ...]
    influences: tuple[QueryInfluence, ...] = ()
    problems: tuple[str, ...] = ()
    reads: tuple[Parts, ...] = ()

    @property
    def opens(self) -> Iterator[OpenLeaf]:
        """Of all columns and influences."""
        for column in self.columns:
            yield from column.opens if column else ()
        for influence in self.influences:
            yield from influence.opens


def unreadable(names: Sequence[str], reason: str) -> QueryLineage:
    return QueryLineage((None,) * len(names), problems=(reason,))


def read_query(
    text: str, dialect: str, names: Sequence[str] = (), mask: Mask = masked
) -> QueryLineage | None:
    """The lineage of one query, whose columns the database calls ``names``; ``dialect`` is
    sqlglot's name, "" for none. None where it cannot be read, or is no query. Never raises.
    """

    def read() -> QueryLineage | None:
        try:
            trees = parse(text, dialect)
            tree = trees[0] if len(trees) == 1 else None
            return _read(tree, dialect, names, mask) if isinstance(tree, exp.Query) else None
        except Exception:  # hostile text may raise any error in a parser
            return None

    return on_own_stack(read)


def _read(tree: exp.Query, dialect: str, names: Sequence[str], mask: Mask) -> QueryLineage:
    """Raises any error of sqlglot, RecursionError for a query that nests too deeply, and
    StatementTooLarge.
    """
    texts = Texts(dialect, mask)
    written = SqlNames(dialect, "", "", {}, folded=False)
    reader = QueryReader(written, texts, dialect, {})
    made = reader.query(tree, None, {})
    problems = {gap.detail for gap in reader.gaps}
    columns = tuple(
        _column_of(made.values, place, names, texts, problems) for place in range(len(names))
    )
    influences = [
        QueryInfluence(
            item.how,
            ", ".join(map(texts.of, item.texts)),
            tuple(leaf for leaf, _ in _known((leaf, item.how) for leaf in item.leaves)),
            _open((leaf, item.how) for leaf in item.leaves),
        )
        for item in made.influences or ()
    ]
    influences = [item for item in influences if item.sources or item.opens]
    lineage = QueryLineage(columns, tuple(dict.fromkeys(influences)))
    problems.difference_update(opens.text for opens in lineage.opens)
    reads = sorted(split_name(table) for table in reader.reads if table not in reader.files)
    return replace(lineage, problems=tuple(sorted(problems)), reads=tuple(reads))


def _column_of(
    values: Sequence[ColumnValue],
    place: int,
    names: Sequence[str],
    texts: Texts,
    problems: set[str],
) -> QueryColumn | None:
    """By position, or by name where a star hides the number of columns."""
    stars = [value for value in values if value.tables]
    if not stars and len(values) == len(names):
        return _spelled(values[place], texts)
    name = names[place].lower()
    named = [value for value in values if not value.tables and value.name.lower() == name]
    if len(named) == 1:
        return _spelled(named[0], texts)
    if len(stars) == 1 and len(stars[0].tables) == 1 and not named:
        return _starred(names[place], [split_name(stars[0].tables[0])])
    if not named and (among_stars := _tables_of(stars, name)):
        return _starred(names[place], among_stars)
    among = ", ".join(sorted({table for value in stars for table in value.tables}))
    problems.add(f"{names[place]}: * of {among}" if stars else f"{names[place]}: not found")
    return None


def _starred(name: str, tables: Sequence[Parts]) -> QueryColumn:
    """A column that ``*`` brings from one of these tables."""
    if len(tables) == 1:
        return QueryColumn(name, (((tables[0], name), labels.IDENTITY),))
    return QueryColumn(name, (), (OpenLeaf(tuple(tables), name, labels.IDENTITY),))


def _tables_of(stars: Sequence[ColumnValue], name: str) -> tuple[Parts, ...]:
    """The tables of which a column that ``*`` brings may be; () where a ``*`` hides any."""
    listed = [star for value in stars for star in value.stars]
    hidden = len(listed) != sum(len(value.tables) for value in stars)
    if hidden or not all(star.by_name for star in listed):
        return ()
    tables = {star.table for star in listed if name.lower() not in star.left_out}
    return tuple(sorted(map(split_name, tables)))


def _spelled(value: ColumnValue, texts: Texts) -> QueryColumn:
    text = texts.joined(value.texts or [path for (_, path), _ in value.flows] or [value.name])
    return QueryColumn(text, _known(value.flows), _open(value.flows))


def _known(flows: Iterable[NamedFlow]) -> tuple[Flow, ...]:
    known = (flow for flow in flows if len(candidates(flow[0][0])) == 1)
    return tuple(sorted(((split_name(table), path), how) for (table, path), how in known))


def _open(flows: Iterable[NamedFlow]) -> tuple[OpenLeaf, ...]:
    among = ((candidates(table), path, how) for (table, path), how in flows)
    return tuple(
        sorted(
            OpenLeaf(tuple(sorted(map(split_name, tables))), path, how)
            for tables, path, how in among
            if len(tables) > 1
        )
    )
