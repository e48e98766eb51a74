"""The table columns behind each column of a JDBC query.

    select e.name, e.salary * 2 as double_pay from emp e join dept d on e.dept = d.id

    name        IDENTITY        emp.name
    double_pay  TRANSFORMATION  emp.salary    e.salary * 2
    JOIN        emp.dept, dept.id             e.dept = d.id

``graph_model.sql`` reads the query. There is no schema to ask. A name that stands alone belongs to
the only table that can have it; where several can, it is a problem and no source is guessed. Names
and texts are the query's own, with literals of dates masked like those of plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from graph_model import labels
from graph_model.naming.columns import fold
from graph_model.naming.literals import mask_literal
from graph_model.naming.rules import Rules
from graph_model.sql import split_name
from graph_model.sql.expressions import Texts
from graph_model.sql.names import Leaf as NamedLeaf
from graph_model.sql.names import SqlNames
from graph_model.sql.queries import QueryReader
from graph_model.sql.values import ColumnValue

Parts = tuple[str, ...]  # of a table's name
Leaf = tuple[Parts, str]  # a table and its column
Flow = tuple[Leaf, str]  # and how it flows: IDENTITY … WINDOW

_MOST_STEPS: Final = 200_000  # nodes visited and flows passed on


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """One column of a query's result: its text and its source columns."""

    expression: str
    flows: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class QueryInfluence:
    """A condition, a grouping or an order; ``how`` FILTER, JOIN, GROUP_BY or SORT."""

    how: str
    expression: str
    sources: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class QueryLineage:
    """``columns`` are in the order of the requested names, None for an unresolved one.

    ``problems`` are the names that could not be attributed, sorted and distinct.
    """

    columns: tuple[QueryColumn | None, ...]
    influences: tuple[QueryInfluence, ...] = ()
    problems: tuple[str, ...] = ()


def unreadable(names: Sequence[str], reason: str) -> QueryLineage:
    return QueryLineage((None,) * len(names), problems=(reason,))


def read_lineage(tree: exp.Query, names: Sequence[str], dialect: str, rules: Rules) -> QueryLineage:
    """The lineage of the result's columns, which the database calls ``names``.

    Raises any error of sqlglot, RecursionError for a query that nests too deeply, and
    StatementTooLarge: the caller answers with :func:`unreadable`.
    """
    texts = Texts(dialect, lambda text: str(mask_literal(text, None, rules)))
    written = SqlNames(dialect, "", "", {}, folded=False)
    reader = QueryReader(written, texts, dialect, {}, steps=_MOST_STEPS)
    made = reader.query(tree, None, {})
    problems = {gap.detail for gap in reader.gaps}
    columns = tuple(
        _column_of(made.values, place, names, texts, problems) for place in range(len(names))
    )
    influences = [
        QueryInfluence(item.how, ", ".join(map(texts.of, item.texts)), _leaves(item.leaves))
        for item in made.influences or ()
    ]
    return QueryLineage(columns, tuple(dict.fromkeys(influences)), tuple(sorted(problems)))


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
    name = fold(names[place])
    named = [value for value in values if not value.tables and fold(value.name) == name]
    if len(named) == 1:
        return _spelled(named[0], texts)
    if len(stars) == 1 and len(stars[0].tables) == 1 and not named:
        leaf = (split_name(stars[0].tables[0]), names[place])
        return QueryColumn(names[place], ((leaf, labels.IDENTITY),))
    among = ", ".join(sorted({table for value in stars for table in value.tables}))
    problems.add(f"{names[place]}: * of {among}" if stars else f"{names[place]}: not found")
    return None


def _spelled(value: ColumnValue, texts: Texts) -> QueryColumn:
    flows = [((split_name(table), path), how) for (table, path), how in value.flows]
    text = texts.joined(value.texts or [path for (_, path), _ in value.flows] or [value.name])
    return QueryColumn(text, tuple(sorted(flows)))


def _leaves(leaves: Iterable[NamedLeaf]) -> tuple[Leaf, ...]:
    return tuple(sorted((split_name(table), path) for table, path in leaves))
