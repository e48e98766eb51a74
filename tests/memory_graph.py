"""A graph on dicts: the same promises as the Gremlin one (``tests/contract/graph/test_graph.py``).

Nothing is kept beyond the process. Safe to use from several threads: one lock around every call.
"""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Facts, Vertex, stages
from graph_model.stores.graph import Direction, EdgePage, Neighbours
from graph_model.stores.gremlin.graph import neighbours_of, page_of


class MemoryGraph:
    """``stores.graph.Graph`` on dicts."""

    forgets = False

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._vertices: dict[str, Vertex] = {}
        self._edges: dict[str, Edge] = {}
        self._leaving: defaultdict[str, set[str]] = defaultdict(set)
        self._entering: defaultdict[str, set[str]] = defaultdict(set)

    # --- reading ----------------------------------------------------------------------------

    def vertices(self, ids: Collection[str]) -> tuple[Vertex, ...]:
        with self._lock:
            return tuple(self._vertices[each] for each in sorted(set(ids) & self._vertices.keys()))

    def edges(
        self,
        ids: Collection[str],
        direction: Direction,
        labels: Sequence[str],
        limit: int,
    ) -> EdgePage:
        with self._lock:
            beside = self._leaving if direction is Direction.DOWNSTREAM else self._entering
            result = [
                edge
                for identifier in set(ids)
                for edge in map(self._edges.__getitem__, beside.get(identifier, ()))
                if edge.label in labels
            ]
        return page_of(result, direction, limit)

    def neighbours(
        self,
        ids: Collection[str],
        direction: Direction,
        label: str,
        limit: int,
        kind: str | None = None,
    ) -> Neighbours:
        every = self.edges(ids, direction, (label,), sys.maxsize).edges
        pairs = [(edge.out_id, edge.in_id) for edge in every]
        if kind is not None:
            end = 1 if direction is Direction.DOWNSTREAM else 0
            with self._lock:
                pairs = [pair for pair in pairs if self._vertices[pair[end]].label == kind]
        return neighbours_of(pairs, direction, limit)

    def edge_ids_at(self, vertex_ids: Collection[str]) -> Sequence[str]:
        with self._lock:
            return sorted({at for identifier in vertex_ids for at in self._edges_at(identifier)})

    def _edges_at(self, identifier: str) -> set[str]:
        return self._leaving.get(identifier, set()) | self._entering.get(identifier, set())

    def scan(self) -> Iterator[Vertex | Edge]:
        with self._lock:
            everything: list[Vertex | Edge] = [*self._vertices.values(), *self._edges.values()]
        return iter(everything)

    def count(self) -> tuple[int, int]:
        with self._lock:
            return len(self._vertices), len(self._edges)

    # --- writing ----------------------------------------------------------------------------

    def write(self, facts: Facts) -> None:
        staged = stages(facts)
        with self._lock:
            self._add_vertices(staged.vertices)
            self._add_edges(staged.edges)
            self._add_edges(staged.markers)
            self._add_vertices(staged.execution_vertices)
            self._add_edges(staged.execution_edges)

    def _add_vertices(self, vertices: Sequence[Vertex]) -> None:
        for vertex in vertices:
            self._vertices.setdefault(vertex.id, vertex)

    def _add_edges(self, edges: Sequence[Edge]) -> None:
        for edge in edges:
            if edge.id in self._edges:
                continue
            for end in (edge.out_id, edge.in_id):
                if end not in self._vertices:
                    raise GraphRejected(f"edge {edge.id} needs vertex {end}, which is not there")
            self._edges[edge.id] = edge
            self._leaving[edge.out_id].add(edge.id)
            self._entering[edge.in_id].add(edge.id)

    def correct(self, vertices: Collection[Vertex]) -> None:
        with self._lock:
            self._vertices.update((vertex.id, vertex) for vertex in vertices)

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        with self._lock:
            for identifier in edge_ids:
                self._remove_edge(identifier)
            for identifier in vertex_ids:
                at = self._leaving.pop(identifier, set()) | self._entering.pop(identifier, set())
                for edge_id in at:
                    self._remove_edge(edge_id)
                self._vertices.pop(identifier, None)

    def _remove_edge(self, identifier: str) -> None:
        edge = self._edges.pop(identifier, None)
        if edge is not None:
            self._leaving[edge.out_id].discard(identifier)
            self._entering[edge.in_id].discard(identifier)

    def clear(self) -> None:
        with self._lock:
            for store in (self._vertices, self._edges, self._leaving, self._entering):
                store.clear()

    def is_whole(self) -> bool:
        return True

    def doubt(self) -> None:
        """Nothing: it keeps its elements."""

    def catch_up(self) -> None:
        """Nothing: it takes everything."""

    def check(self, facts: Facts) -> None:
        """It holds anything."""

    def restore(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Nothing: it keeps its elements itself."""

    def ping(self) -> None:
        """It always answers."""

    def close(self) -> None:
        """Nothing to release; its content stays readable."""
