"""sqlglot's own ``lineage()`` over the queries of the expectations and over TPC-H's and TPC-DS's.

A second derivation of the values of a column. What it finds must be among the sources that are
DIRECT here, or be a condition of the column: it takes those of CASE, FILTER and of windows for
values. All other differences stand in ``tests/fixtures/sql_cross_check.yaml``, with why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import sqlglot
import yaml
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.lineage import lineage

from bench.agreement import tpcds
from bench.agreement.__main__ import tables_of
from bench.truth import tpch
from graph_model.labels import DIRECT
from graph_model.sql import DIALECTS, translate
from graph_model.stores.gremlin.engine import jars

_FIXTURES: Final = Path(__file__).parents[3] / "fixtures"
Schemas = Mapping[str, Sequence[str]]


_OF_SEVERAL: Final = (exp.Aliases, exp.QueryTransform)  # one expression, several columns


def _named(tree: exp.Expr) -> exp.Query | None:
    """The query of a statement, each of its columns with a name; None where it has no query."""
    query = tree if isinstance(tree, exp.Query) else tree.expression
    if not isinstance(tree, exp.Query | exp.Create | exp.Insert) or not isinstance(
        query, exp.Query
    ):
        return None
    made: exp.Query = query.copy()
    if tree is not query and tree.args.get("with_"):
        made.set("with_", tree.args["with_"].copy())
    made.set("into", None)
    for number, column in enumerate(made.selects):
        is_unnamed = isinstance(column, exp.Func) or not column.alias_or_name
        if is_unnamed and not column.is_star and not isinstance(column, _OF_SEVERAL):
            column.replace(exp.alias_(column.copy(), f"column_{number}"))
    return made


def _theirs(query: exp.Query, schemas: Schemas, dialect: str) -> dict[str, set[str]]:
    """By column the ``table#column`` that its value comes from, in lower case."""
    schema = {table: dict.fromkeys(columns, "text") for table, columns in schemas.items()}
    found = lineage(None, query, schema, dialect=dialect)
    assert isinstance(found, dict)
    return {
        name.lower(): {
            f"{leaf.expression.name}#{_last(leaf.name)}".lower()
            for leaf in node.walk()
            if isinstance(leaf.expression, exp.Table)
            and not leaf.downstream
            and "*" not in leaf.name
        }
        for name, node in found.items()
    }


def _last(name: str) -> str:
    return name.rpartition(".")[2].strip('"`[]')


def _ours(
    query: exp.Query, schemas: Schemas, dialect: str
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """By column its direct sources, and all: ``db.t#a.b`` => ``t#a``, as theirs are."""
    direct: dict[str, set[str]] = {}
    every: dict[str, set[str]] = {}
    for statement in translate(query.sql(DIALECTS[dialect]), dialect, schemas=schemas):
        for column in statement.columns:
            if column.to is not None:
                short = {_short(source) for source in column.sources}
                name = column.to.partition("#")[2].lower()
                every.setdefault(name, set()).update(short)
                if column.kind == DIRECT:
                    direct.setdefault(name, set()).update(short)
    return direct, every


def _short(source: str) -> str:
    table, _, path = source.rpartition("#")
    return f"{_last(table)}#{path.partition('.')[0]}".lower()


def _differences(query: exp.Query, schemas: Schemas, dialect: str) -> tuple[int, list[str]]:
    """The number of columns that both derive, and ``column < source …`` of those that differ."""
    theirs = _theirs(query, schemas, DIALECTS[dialect])
    direct, every = _ours(query, schemas, dialect)
    missing = {name: theirs[name] - every.get(name, set()) for name in theirs}
    shared = sum(bool(theirs[name] & direct.get(name, set())) for name in theirs)
    return shared, [
        f"{name} < {' '.join(sorted(sources))}" for name, sources in missing.items() if sources
    ]


def _queries() -> Iterator[tuple[exp.Query, Schemas, str]]:
    for path in sorted((_FIXTURES / "sql").glob("*.yaml")):
        document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        for case in document["cases"]:
            given = {**document, **case}
            try:
                trees = sqlglot.parse(given["sql"], read=DIALECTS[given["dialect"]])
            except SqlglotError:  # a form that is respelled before it is parsed here
                continue
            for tree in trees:
                if tree is not None and (query := _named(tree)) is not None:
                    yield query, given["schemas"], given["dialect"]


def _explained() -> dict[str, list[str]]:
    """``dialect: query`` => its differences."""
    text = (_FIXTURES / "sql_cross_check.yaml").read_text(encoding="utf-8")
    by_reason: dict[str, dict[str, list[str]]] = yaml.safe_load(text)
    return {query: listed for group in by_reason.values() for query, listed in group.items()}


def found_differences() -> tuple[int, dict[str, list[str]]]:
    count, found = 0, {}
    for query, schemas, dialect in _queries():
        try:
            shared, differences = _differences(query, schemas, dialect)
        except (SqlglotError, AssertionError):  # it answers for a part of what SQL has
            continue
        count += shared
        if differences:
            found[f"{dialect}: {query.sql(DIALECTS[dialect])}"] = differences
    return count, found


def test_sources_of_a_second_derivation_are_direct_here_or_explained() -> None:
    count, found = found_differences()
    assert found == _explained()
    assert count > 500


@pytest.mark.part("sql")
@pytest.mark.timeout(300)
def test_sources_of_a_second_derivation_of_the_benchmarks_are_direct_here_or_of_grouping() -> None:
    """GROUPING() has no source: it says which columns a row is grouped by."""
    (archive,) = jars.fetch(os.environ, jars=[tpch.ARCHIVE])
    count, found = 0, set[str]()
    for folder in ("tpcds", tpcds.TPCH):
        tables = tables_of(archive, folder)
        schemas = {name: re.findall(r"`(\w+)`", text) for name, text in tables.items()}
        for name, text in tpcds.read_queries(archive, folder):
            query = _named(sqlglot.parse_one(text, read="spark"))
            assert query is not None
            shared, differences = _differences(query, schemas, "spark")
            count += shared
            found |= {f"{name} {each.partition(' ')[0]}" for each in differences}
    assert found == {
        "q27 g_state",
        *(f"{name} lochierarchy" for name in ("q36", "q70", "q86")),
        *(f"{name} rank_within_parent" for name in ("q36", "q70", "q86")),
    }
    assert count > 600
