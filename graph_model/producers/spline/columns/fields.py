"""The fields of a written struct that each of its sources flows into.

A value knows the members of a struct that the plan builds, and the read column behind a struct that
it copies (``valuation``). Where the written column has these members by its declared type, a source
counts for its own members; anything else counts for the whole struct.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from graph_model import identity, labels, naming
from graph_model.naming import DatasetName, Rules
from graph_model.producers.elements.datasets import Column
from graph_model.producers.spline.columns.valuation import (
    NO_FLOWS,
    TRANSFORMATION,
    ColumnNumbering,
    Flows,
    ReadColumn,
    Source,
    Struct,
    Value,
    raised,
    union_flows,
)
from graph_model.producers.spline.documents import ExecutionPlan, type_text

FlowKey = tuple[int, Source]
"""How a source flows (a place in HOWS), and the source."""
Fields = tuple[tuple[str, bool], ...]
"""Sorted: the path of a field within the written column, and whether its own fields are those of
the source (``naming.columns``). () for the whole column.
"""

MOST_FIELDS: Final = 100_000
"""Pairs of a source and a field, and visited members, of one plan."""
MOST_CHARACTERS: Final = 5_000_000
"""Of the paths of these fields."""
_MAX_NESTED_ARRAYS: Final = 8


class TooManyFields(Exception):
    """The fields of one plan exceed a bound; names it."""


class FieldsOfOutputs:
    """The fields of the outputs of one plan. Raises TooManyFields beyond a bound."""

    def __init__(self, plan: ExecutionPlan, sources: ColumnNumbering) -> None:
        self._plan = plan
        self._sources = sources
        self._left = MOST_FIELDS
        self._characters_left = MOST_CHARACTERS

    def of(self, output: str, value: Value) -> dict[FlowKey, Fields]:
        """Per flow into an output (an attribute) the fields that it reaches, where it does not
        reach the whole.
        """
        attribute = self._plan.attributes.get(output)
        declared = attribute.data_type if attribute is not None else None
        flows: dict[FlowKey, dict[str, bool]] = {}
        if value.parts and self._fields(declared):
            self._spread(value, declared, (), flows)
        return {
            key: tuple(sorted(fields.items()))
            for key, fields in flows.items()
            if fields.get(naming.WHOLE, True)
        }

    def _spread(
        self,
        value: Value,
        declared: str | None,
        path: tuple[str, ...],
        reached: dict[FlowKey, dict[str, bool]],
    ) -> None:
        """Note the flows into the field at ``path``, of the declared type (an id), and below."""
        self._spend(1, 0)
        fields = self._fields(declared)
        inside: list[Flows] = []
        for part in (value.parts or ()) if fields else ():
            inside.append(self._flows(part))
            if isinstance(part, ReadColumn):
                self._note(inside[-1], path, reached, copied=self._has_type(part, declared))
            elif _have_names(part, fields):
                for (name, kind), member in zip(fields, part.members, strict=True):
                    self._spread(member, kind, (*path, naming.fold(name)), reached)
            else:
                self._note(inside[-1], path, reached, copied=False)
        self._note(_without(value.flows, inside), path, reached, copied=False)
        if fields:
            self._note(value.shared, path, reached, copied=False)

    def _note(
        self,
        flows: Flows,
        path: tuple[str, ...],
        reached: dict[FlowKey, dict[str, bool]],
        *,
        copied: bool,
    ) -> None:
        """A struct is TRANSFORMATION of its members, so the flows into these count as that."""
        if path:
            flows = raised(flows, TRANSFORMATION)
        spelled = naming.column_path(path)
        count = sum(map(int.bit_count, flows))
        self._spend(count, count * len(spelled))
        for how, bits in enumerate(flows):
            for source in self._sources.of(bits):
                of_source = reached.setdefault((how, source), {})
                of_source[spelled] = copied and of_source.get(spelled, True)

    def _spend(self, fields: int, characters: int) -> None:
        self._left -= fields
        self._characters_left -= characters
        if self._left < 0:
            raise TooManyFields(f"more than {MOST_FIELDS:,} fields of structs with their sources")
        if self._characters_left < 0:
            raise TooManyFields(f"more than {MOST_CHARACTERS:,} characters in paths of fields")

    def _flows(self, part: ReadColumn | Struct) -> Flows:
        """The sources of a part by how they flow."""
        if isinstance(part, Struct):
            return union_flows(raised(member.flows, TRANSFORMATION) for member in part.members)
        flows = list(NO_FLOWS)
        flows[part.how] = self._sources.bit(part.attribute, part.path)
        return tuple(flows)  # type: ignore[return-value]

    # --- types -----------------------------------------------------------------------------------

    def _fields(self, declared: str | None) -> Sequence[tuple[str, str]]:
        """The fields (name, type id) of a struct, or of the structs in an array."""
        element = self._element(declared)
        known = self._plan.data_types.get(element) if element is not None else None
        return known.fields if known is not None else ()

    def _element(self, declared: str | None) -> str | None:
        """The type within arrays."""
        for _ in range(_MAX_NESTED_ARRAYS):
            known = self._plan.data_types.get(declared) if declared is not None else None
            if known is None or known.element is None:
                break
            declared = known.element
        return declared

    def _has_type(self, part: ReadColumn, declared: str | None) -> bool:
        """Whether a read column has equal fields: the branches of a union may name them apart."""
        attribute = self._plan.attributes.get(part.attribute)
        read = attribute.data_type if attribute is not None else None
        for name in part.path:
            listed = {naming.fold(field): kind for field, kind in self._fields(read)}
            read = listed.get(naming.fold(name))
        of_read, of_declared = self._text(read), self._text(declared)
        return of_read == of_declared and of_read is not None and "..." not in of_read

    def _text(self, declared: str | None) -> str | None:
        return type_text(self._plan.data_types, self._element(declared))


def _have_names(part: Struct, fields: Sequence[tuple[str, str]]) -> bool:
    """Whether a struct has exactly the declared fields, in their order, each name once."""
    names = [naming.fold(name) for name in part.names]
    declared = [naming.fold(name) for name, _ in fields]
    return names == declared and max(Counter(names).values(), default=0) == 1


def _without(flows: Flows, others: Sequence[Flows]) -> Flows:
    """The flows that are in none of the others."""
    other = union_flows(others)
    return tuple(mine & ~its for mine, its in zip(flows, other, strict=True))  # type: ignore[return-value]


# JDBC reads of a query: the table columns behind the columns that a plan reads.

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
    parsed = naming.query_lineage(source, tuple(columns.values()), rules)
    if parsed is None:
        return None
    lineage, uris = parsed
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
