"""Facts -> the graph: batches of idempotent upserts, in the order of ``facts.stages``.

A fact never changes, so an upsert only creates: an element that exists is left as it is. One
request is one transaction; a stage is written to its end before the next begins, so that a marker
is never committed before the structure that it promises.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from gremlin_python.process.traversal import Bytecode

from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Facts, Stages, Vertex, stages
from graph_model.gremlin import encoding, traversals
from graph_model.gremlin.connection import Connections
from graph_model.gremlin.dialect import Dialect, Upsert

_REMOVE_AT_ONCE: Final = 500
_CLEAR_AT_ONCE: Final = 10_000

Element = TypeVar("Element", Vertex, Edge)


@dataclass(frozen=True, slots=True)
class Batch(Generic[Element]):
    """One request: elements, and the same as encoded rows."""

    elements: tuple[Element, ...]
    rows: tuple[bytes, ...]


def batches(
    elements: Sequence[Element], dialect: Dialect, encode: Callable[[Element], bytes]
) -> Iterator[Batch[Element]]:
    """Split into requests: each id once, in one order, within all bounds of the dialect.

    In one order, because two writers that lock so cannot wait for each other in a circle; the
    edges of one vertex together, because engines copy or lock a vertex once per request. An
    element beyond ``batch_bytes`` goes alone: the server says whether it takes it.
    """
    taken: list[Element] = []
    rows: list[bytes] = []
    records = length = 0
    for element in sorted({each.id: each for each in elements}.values(), key=_order):
        row = encode(element)
        weight = 1 + len(element.properties)
        if taken and (
            len(taken) == dialect.batch_elements
            or records + weight > dialect.batch_records
            or length + len(row) > dialect.batch_bytes
        ):
            yield Batch(tuple(taken), tuple(rows))
            taken, rows, records, length = [], [], 0, 0
        taken.append(element)
        rows.append(row)
        records += weight
        length += len(row)
    if taken:
        yield Batch(tuple(taken), tuple(rows))


def _order(element: Vertex | Edge) -> tuple[str, str]:
    return (element.out_id, element.id) if isinstance(element, Edge) else ("", element.id)


class Writer:
    """The writing half of a graph. Several threads may write; a dialect says how many at once."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._dialect = connections.dialect
        self._turn = threading.BoundedSemaphore(self._dialect.parallel_writes)

    def write(self, facts: Facts) -> None:
        """See ``store.GraphWriter.write``."""
        staged = stages(facts)
        try:
            self._stages(staged)
        except GraphRejected:
            # Another process may have removed a vertex between our writing it and our writing an
            # edge at it. Whatever else is wrong is wrong the second time too.
            self._stages(staged)

    def _stages(self, staged: Stages) -> None:
        self._vertices(staged.vertices)
        self._edges(staged.edges)
        self._edges(staged.markers)
        self._vertices(staged.execution_vertices)
        self._edges(staged.execution_edges)

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """See ``store.GraphWriter.remove``."""
        for ids in _chunks(edge_ids):
            self._submit(traversals.remove_edges(ids))
        for ids in _chunks(vertex_ids):
            self._submit(traversals.remove_vertices(ids))

    def clear(self) -> None:
        """See ``store.GraphWriter.clear``; edges first: a hub is dear to remove with its edges."""
        while self._submit(traversals.is_there_an_edge()) == [1]:
            self._submit(traversals.remove_some_edges(_CLEAR_AT_ONCE))
        while self._submit(traversals.is_there_a_vertex()) == [1]:
            self._submit(traversals.remove_some_vertices(_CLEAR_AT_ONCE))

    def _vertices(self, vertices: Sequence[Vertex]) -> None:
        for batch in batches(vertices, self._dialect, encoding.vertex_row):
            if self._dialect.upsert is Upsert.ROWS:
                self._submit(traversals.upsert_vertex_rows(batch.rows))
            else:
                self._submit(traversals.upsert_vertex_chain(batch.elements))

    def _edges(self, edges: Sequence[Edge]) -> None:
        for batch in batches(edges, self._dialect, encoding.edge_row):
            if self._dialect.upsert is Upsert.ROWS:
                self._submit(traversals.upsert_edge_rows(batch.rows))
            else:
                self._submit(traversals.upsert_edge_chain(batch.elements))

    def _submit(self, request: Bytecode) -> list[object]:
        with self._turn:
            return self._connections.submit(request)


def _chunks(ids: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(set(ids))
    for first in range(0, len(ordered), _REMOVE_AT_ONCE):
        yield ordered[first : first + _REMOVE_AT_ONCE]
