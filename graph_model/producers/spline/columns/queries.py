"""JDBC reads of a query: the table columns behind the columns that a plan reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from graph_model import identity, labels, naming
from graph_model.naming import DatasetName, Rules
from graph_model.producers.elements.datasets import Column
from graph_model.producers.spline.documents import ExecutionPlan

Origin = tuple[Column, str]  # and how the read column comes from it, IDENTITY … CONDITIONAL

JDBC_QUERY: Final = "jdbc-query"
_MOST_PROBLEMS: Final = 20
_MOST_DETAIL: Final = 500
_STRENGTH: Final = (labels.IDENTITY, labels.TRANSFORMATION, labels.AGGREGATION)


#: The number of queries of one plan that are parsed; a query of fifty characters takes 1 ms.
MOST_QUERIES: Final = 200
MOST_QUERY_CHARACTERS: Final = 200_000
MORE_QUERIES: Final = (JDBC_QUERY, f"queries beyond the first {MOST_QUERIES} are not read")


def is_query_text(source: str) -> bool:
    """Whether a source's URI may contain a query: a table name has no blank and no parenthesis."""
    return source[:4].lower() == "jdbc" and _QUERY_MARK.search(source) is not None


_QUERY_MARK: Final = re.compile(r"[\s(]")


def first_queries(plan: ExecutionPlan) -> frozenset[str]:
    """The queries of a plan to parse: the first ones, in the order of its operations.

    A target is never a query, whatever its form.
    """
    listed = (source for operation in plan.reads for source in operation.sources)
    queries = dict.fromkeys(filter(is_query_text, listed))
    kept = {plan.write.target}
    left = MOST_QUERY_CHARACTERS
    for query in islice(queries, MOST_QUERIES):
        left -= len(query)
        if left < 0:
            break
        kept.add(query)
    return frozenset(kept)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """One query of the read operation ``read``.

    ``origins`` and ``texts`` are by the id of the read attribute; ``influences`` (column, how,
    text) decide over the query's rows; ``gaps`` (code, detail) are its unresolved parts.
    """

    read: str
    tables: tuple[DatasetName, ...]
    origins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    influences: tuple[tuple[Column, str, str], ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()


def read_query(
    read: str, source: str, columns: Mapping[str, str], scope: str, rules: Rules
) -> TableQuery | None:
    """The query in a source's URI; None where there is none.

    ``columns`` are the attributes read, in order, each with its name.
    """
    found = naming.query_lineage(source, tuple(columns.values()), rules)
    if found is None:
        return None
    lineage, uris = found
    tables = naming.normalise(source, scope, rules)
    known = {identity.dataset_id(name.scope, name.uri) for name in tables}
    named = ((parts, _dataset_id(uri, scope, rules)) for parts, uri in uris.items())
    ids = {parts: dataset_id for parts, dataset_id in named if dataset_id in known}
    pairs = [(key, column) for key, column in zip(columns, lineage.columns, strict=True) if column]
    return TableQuery(
        read,
        tables,
        {
            key: tuple(
                (_column(ids[parts], name), how)
                for (parts, name), how in column.flows
                if parts in ids
            )
            for key, column in pairs
        },
        {key: column.expression for key, column in pairs},
        tuple(
            (_column(ids[parts], name), influence.how, influence.expression)
            for influence in lineage.influences
            for parts, name in influence.sources
            if parts in ids
        ),
        tuple(query_gap(tables, problem) for problem in _bounded(lineage.problems)),
    )


def _dataset_id(uri: str, scope: str, rules: Rules) -> str:
    name = naming.normalise(uri, scope, rules)[0]
    return identity.dataset_id(name.scope, name.uri)


def _column(dataset_id: str, name: str) -> Column:
    return dataset_id, naming.column_path([naming.fold(name)])


def _bounded(problems: Sequence[str]) -> Sequence[str]:
    if len(problems) <= _MOST_PROBLEMS:
        return problems
    return (*problems[:_MOST_PROBLEMS], f"{len(problems) - _MOST_PROBLEMS:,} more columns")


def query_gap(tables: Sequence[DatasetName], problem: str) -> tuple[str, str]:
    """``("jdbc-query", "emp, dept: boss: one of dept, emp")``."""
    names = ", ".join(name.name for name in tables)
    return JDBC_QUERY, f"{names}: {problem}"[:_MOST_DETAIL]


def composed(later: str, earlier: str) -> str:
    """The flow through both steps; an influence stays an influence."""
    for how in (later, earlier):
        if how not in _STRENGTH:
            return how
    return max(later, earlier, key=_STRENGTH.index)


def kind_of(how: str) -> str:
    return labels.DIRECT if how in _STRENGTH else labels.INDIRECT
