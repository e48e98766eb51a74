"""Ids -> vertices and edges, in requests bounded by the number of ids and edges asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from graph_model import facts
from graph_model.facts import Edge, Vertex
from graph_model.stores.graph import Direction, EdgePage, Neighbours
from graph_model.stores.gremlin import traversals
from graph_model.stores.gremlin.connection import Connections
from graph_model.values import batched

_IDS_AT_ONCE: Final = 500


class Reader:
    """The reading half of a graph; safe to use from several threads."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def vertices(self, ids: Collection[str]) -> tuple[Vertex, ...]:
        """See ``stores.graph.GraphReader.vertices``."""
        vertices = [
            _vertex(row)
            for some in batched(sorted(set(ids)), _IDS_AT_ONCE)
            for row in self._connections.submit(traversals.vertices(some))
        ]
        return tuple(sorted(vertices, key=lambda vertex: vertex.id))

    def edges(
        self,
        ids: Collection[str],
        direction: Direction,
        labels: Sequence[str],
        limit: int,
    ) -> EdgePage:
        """See ``stores.graph.GraphReader.edges``."""
        check_asked(direction, limit)
        if not labels:
            return EdgePage(())
        in_order = ids if isinstance(ids, Sequence) else sorted(ids)
        edges = [
            _edge(row)
            for some in batched(dict.fromkeys(in_order), _IDS_AT_ONCE)
            for row in self._connections.submit(
                # one more than the limit shows whether there are more
                traversals.edges(some, direction, labels, limit + 1)
            )
        ]
        return page_of(edges, direction, limit)

    def neighbours(
        self,
        ids: Collection[str],
        direction: Direction,
        label: str,
        limit: int,
        kind: str | None = None,
    ) -> Neighbours:
        """See ``stores.graph.GraphReader.neighbours``."""
        check_asked(direction, limit)
        pairs = [
            (out_id, in_id)
            for some in batched(sorted(set(ids)), _IDS_AT_ONCE)
            for out_id, in_id in self._connections.submit(
                traversals.neighbours(some, direction, label, limit + 1, kind)
            )
        ]
        return neighbours_of(pairs, direction, limit)

    def edge_ids_at(self, vertex_ids: Collection[str]) -> Sequence[str]:
        """See ``stores.graph.GraphReader.edge_ids_at``."""
        return [
            str(edge_id)
            for some in batched(sorted(set(vertex_ids)), _IDS_AT_ONCE)
            for edge_id in self._connections.submit(traversals.edge_ids_at(some))
        ]

    def scan(self) -> Iterator[Vertex | Edge]:
        """See ``stores.graph.GraphReader.scan``. Two streamed requests, one part in memory."""
        for part in self._connections.stream(traversals.all_vertices()):
            yield from map(_vertex, part)
        for part in self._connections.stream(traversals.all_edges()):
            yield from map(_edge, part)

    def count(self) -> tuple[int, int]:
        """See ``stores.graph.GraphReader.count``."""
        (vertices,) = self._connections.submit(traversals.count_vertices())
        (edges,) = self._connections.submit(traversals.count_edges())
        return int(vertices), int(edges)


def _vertex(row: Sequence[Any]) -> Vertex:
    identifier, label, values = row
    return Vertex(
        identifier, label, facts.properties({key: value for key, (value,) in values.items()})
    )


def _edge(row: Sequence[Any]) -> Edge:
    identifier, label, out_id, in_id, values = row
    return Edge(identifier, label, out_id, in_id, facts.properties(values))


def neighbours_of(pairs: Iterable[tuple[str, str]], direction: Direction, limit: int) -> Neighbours:
    """Keep ``limit`` edges (from, to) per requested vertex, and list those with more; as
    ``page_of``.
    """
    check_asked(direction, limit)
    ends: defaultdict[str, list[str]] = defaultdict(list)
    for out_id, in_id in pairs:
        if direction is Direction.DOWNSTREAM:
            ends[out_id].append(in_id)
        else:
            ends[in_id].append(out_id)
    kept = {key: tuple(sorted(set(sorted(others)[:limit]))) for key, others in ends.items()}
    return Neighbours(kept, frozenset(key for key in ends if len(ends[key]) > limit))


def check_asked(direction: Direction, limit: int) -> None:
    """Raise ValueError for arguments that ``GraphReader.edges`` refuses."""
    if direction is Direction.BOTH:
        raise ValueError("edges are asked for one direction at a time")
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")


def page_of(edges: Sequence[Edge], direction: Direction, limit: int) -> EdgePage:
    """Keep ``limit`` edges per vertex and label, those with the least ids, and list those with
    more.

    ``found`` are edges at the requested ids, on the side that ``direction`` names. Raises
    ValueError for arguments that ``GraphReader.edges`` refuses.
    """
    check_asked(direction, limit)
    groups: defaultdict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in sorted(edges, key=lambda edge: edge.id):
        end = edge.out_id if direction is Direction.DOWNSTREAM else edge.in_id
        groups[end, edge.label].append(edge)
    kept = sorted(
        (edge for group in groups.values() for edge in group[:limit]), key=lambda edge: edge.id
    )
    more = frozenset(end for (end, _), group in groups.items() if len(group) > limit)
    return EdgePage(tuple(kept), more)
