"""Chains between columns as one edge from end to end. Pure.

    raw.a -IDENTITY-> clean.a -AGGREGATION-> report.total  =>  raw.a -AGGREGATION-> report.total

The ``how`` of a chain is composed along the way: IDENTITY < TRANSFORMATION < AGGREGATION; one
INDIRECT step makes the whole chain INDIRECT, by the step nearest to the computed column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from graph_model import labels
from graph_model.lineage.questions import Answer, ColumnEdge

_Derivation = tuple[str, str]
"""(kind, how) of a chain."""

_STRENGTH: Final = {labels.IDENTITY: 0, labels.TRANSFORMATION: 1, labels.AGGREGATION: 2}
_NOTHING: Final[_Derivation] = (labels.DIRECT, labels.IDENTITY)


def keep_ends(answer: Answer, start: Collection[str], hidden: Collection[str] = ()) -> Answer:
    """The requested columns, their first sources and their last results; ``hidden`` are datasets
    (ids): a chain leads through their columns, and ends before them.

    An end has no further step in the answer. In a cycle that nothing else leads into, the end is
    the column farthest from the start. ``hops`` of an edge is the least number of steps that it
    replaces.
    """
    into: defaultdict[str, list[ColumnEdge]] = defaultdict(list)
    out_of: defaultdict[str, list[ColumnEdge]] = defaultdict(list)
    hidden_columns = {node.id for node in answer.columns if node.dataset in hidden}
    for edge in _without_ends(answer.column_edges, hidden_columns.difference(start)):
        into[edge.target].append(edge)
        out_of[edge.source].append(edge)
    edges: list[ColumnEdge] = []
    for column in sorted(set(start) & {node.id for node in answer.columns}):
        edges += _edges_to_ends(column, into, upstream=True)
        edges += _edges_to_ends(column, out_of, upstream=False)
    kept = {*start, *(end for edge in edges for end in (edge.source, edge.target))}
    columns = tuple(node for node in answer.columns if node.id in kept)
    return replace(
        answer,
        columns=columns,
        column_edges=tuple(sorted(set(edges))),
        datasets=tuple(sorted({node.dataset for node in columns})),
        via=tuple(node for node in answer.via if node in kept),
        left_out=tuple(left for left in answer.left_out if left.node in kept),
    )


def _without_ends(
    edges: Sequence[ColumnEdge], hidden_columns: Collection[str]
) -> Sequence[ColumnEdge]:
    """The edges without those that only lead into, or only come out of, these columns."""
    while hidden_columns:
        fed = {edge.target for edge in edges if edge.source != edge.target}
        feeding = {edge.source for edge in edges if edge.source != edge.target}
        kept = [
            edge
            for edge in edges
            if (edge.target not in hidden_columns or edge.target in feeding)
            and (edge.source not in hidden_columns or edge.source in fed)
        ]
        if len(kept) == len(edges):
            break
        edges = kept
    return edges


def _edges_to_ends(
    start: str, edges: Mapping[str, list[ColumnEdge]], *, upstream: bool
) -> Iterable[ColumnEdge]:
    """Edges from a column to the ends on one side of it, one for each kind of derivation."""
    hops = _walk(start, edges, upstream=upstream)
    last = max(hops.values())
    beyond = {column: _others(column, edges, upstream=upstream) for column, _ in hops}
    ends = {column for column, others in beyond.items() if not others and column != start}
    if not ends and last:
        ends = {column for (column, _), count in hops.items() if count == last}
    for (column, (kind, how)), count in hops.items():
        if column in ends and count:
            source, target = (column, start) if upstream else (start, column)
            yield _edge(source, target, kind, how, count, edges[start])


def _edge(
    source: str, target: str, kind: str, how: str, hops: int, first: Iterable[ColumnEdge]
) -> ColumnEdge:
    """The edge for a chain; the edge for a single step keeps its expression and plans."""
    if hops == 1:
        for edge in first:
            if (edge.source, edge.target, edge.kind, edge.how) == (source, target, kind, how):
                return edge._replace(hops=1)
    return ColumnEdge(source, target, kind, how, "", (), hops)


def _others(column: str, edges: Mapping[str, list[ColumnEdge]], *, upstream: bool) -> set[str]:
    """The neighbours one step further, without the column itself."""
    return {edge.source if upstream else edge.target for edge in edges.get(column, ())} - {column}


def _walk(
    start: str, edges: Mapping[str, list[ColumnEdge]], *, upstream: bool
) -> dict[tuple[str, _Derivation], int]:
    """Per column and kind of derivation the least number of steps from the start."""
    hops = {(start, _NOTHING): 0}
    frontier = [(start, _NOTHING)]
    while frontier:
        following = []
        for column, derivation in frontier:
            for edge in edges.get(column, ()):
                further = edge.source if upstream else edge.target
                state = (
                    further,
                    _compose(derivation, (edge.kind, edge.how), nearer_first=upstream),
                )
                if state not in hops:
                    hops[state] = hops[column, derivation] + 1
                    following.append(state)
        frontier = following
    return hops


def _compose(derivation: _Derivation, step: _Derivation, *, nearer_first: bool) -> _Derivation:
    """``nearer_first``: the first steps of the walk are nearest to the computed column."""
    if labels.INDIRECT in (derivation[0], step[0]):
        order = (derivation, step) if nearer_first else (step, derivation)
        return next(either for either in order if either[0] == labels.INDIRECT)
    return max(derivation, step, key=lambda either: _STRENGTH.get(either[1], 0))
