"""Facts -> the graph: batches of idempotent upserts, in the order of ``facts.stages``.

A fact never changes, so an upsert only creates: an element that exists is left as it is. One
request is one transaction, but for the embedded engine, which has none (in halves, where it is too
large for the server); a stage is written to its end before the next begins, so that a plan's marker
is never there before the plan's facts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Generic, TypeVar

from gremlin_python.process.traversal import Bytecode

from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Facts, Stages, Vertex, stages
from graph_model.stores.gremlin import encoding, traversals
from graph_model.stores.gremlin.connection import Connections, Shrinkable
from graph_model.stores.gremlin.dialect import Dialect, Upsert
from graph_model.values import batched

_HALVINGS: Final = 5
_REQUEST_HEAD: Final = 4096
"""More than a request with one element takes around it."""
_BY_ID: Final = attrgetter("id")
_BY_VERTEX: Final = attrgetter("out_id", "id")

Element = TypeVar("Element", Vertex, Edge)
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Batch(Generic[Element]):
    """One request: elements, and the same as encoded rows."""

    elements: tuple[Element, ...]
    rows: tuple[bytes, ...]


def batches(
    elements: Sequence[Element], dialect: Dialect, encode: Callable[[Element], bytes]
) -> Iterator[Batch[Element]]:
    """Split into requests: each id once, in one order, within all bounds of the dialect.

    In one order, because two writers that lock so cannot wait for each other in a circle; the edges
    of one vertex together, because engines copy or lock a vertex once per request. An element
    beyond ``batch_bytes`` goes alone: the server accepts or refuses it.
    """
    taken: list[Element] = []
    rows: list[bytes] = []
    records = length = 0
    for element in _ordered(elements):
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


def _ordered(elements: Sequence[Element]) -> list[Element]:
    distinct = {each.id: each for each in elements}.values()
    return sorted(
        distinct, key=_BY_VERTEX if elements and isinstance(elements[0], Edge) else _BY_ID
    )


class GremlinWriter:
    """The writing half of a graph. Several threads may write; the dialect limits their number."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._dialect = connections.dialect
        self._turn = threading.BoundedSemaphore(self._dialect.parallel_writes)

    def write(self, facts: Facts) -> None:
        """See ``stores.graph.GraphWriter.write``."""
        staged = stages(facts)
        try:
            self._stages(staged)
        except GraphRejected:
            # Another process may have removed a vertex between our writing it and our writing an
            # edge at it. Whatever else is wrong is wrong the second time too.
            self._stages(staged)

    def check(self, facts: Facts) -> None:
        """See ``stores.graph.GraphWriter.check``: the encoding finds what no server can hold."""
        for vertex in facts.vertices:
            self._check(vertex.id, encoding.vertex_row(vertex))
        for edge in facts.edges:
            self._check(edge.id, encoding.edge_row(edge))

    def _check(self, element: str, row: bytes) -> None:
        if len(row) > self._dialect.request_bytes - _REQUEST_HEAD:
            raise GraphRejected(
                f"{element[:80]} takes {len(row):,} bytes; a request has at most "
                f"{self._dialect.request_bytes:,}"
            )

    def _stages(self, staged: Stages) -> None:
        if self._dialect.upsert is Upsert.ROWS and self._write_at_once(staged):
            return
        self._vertices(staged.vertices)
        self._edges(staged.edges)
        self._edges(staged.markers)
        self._vertices(staged.execution_vertices)
        self._edges(staged.execution_edges)

    def _write_at_once(self, staged: Stages) -> bool:
        """All stages in one request, where it has room for them; the vertices first, then the edges
        of one stage after the other, because others may read while the embedded engine writes them.

        Of few elements (a repeated run has ten) most of the cost is that of the requests.
        """
        vertices = (*staged.vertices, *staged.execution_vertices)
        edges = [*map(_ordered, (staged.edges, staged.markers, staged.execution_edges))]
        size = len(vertices) + sum(map(len, edges))
        if not vertices or size == len(vertices) or size > self._dialect.batch_elements:
            return False
        vertex_rows = list(map(encoding.vertex_row, _ordered(vertices)))
        edge_rows = [encoding.edge_row(each) for stage in edges for each in stage]
        if sum(map(len, vertex_rows)) + sum(map(len, edge_rows)) > self._dialect.batch_bytes:
            return False
        try:
            self._submit(traversals.upsert_rows(vertex_rows, edge_rows))
        except Shrinkable:
            return False
        return True

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """See ``stores.graph.GraphWriter.remove``."""
        at_once = self._dialect.remove_elements
        for ids in batched(sorted(set(edge_ids)), at_once):
            self._in_parts(ids, traversals.remove_edges)
        for ids in batched(sorted(set(vertex_ids)), at_once):
            self._in_parts(ids, traversals.remove_vertices)

    def clear(self) -> None:
        """See ``stores.graph.GraphWriter.clear``. Edges first: a hub goes slowly with its edges."""
        self._empty(traversals.is_there_an_edge(), traversals.remove_some_edges)
        self._empty(traversals.is_there_a_vertex(), traversals.remove_some_vertices)

    def _empty(self, question: Bytecode, remove: Callable[[int], Bytecode]) -> None:
        at_once = self._dialect.clear_elements
        while self._submit(question) == [1]:
            try:
                self._submit(remove(at_once))
            except Shrinkable:
                if at_once == 1:
                    raise
                at_once = max(1, at_once // 4)

    def _vertices(self, vertices: Sequence[Vertex]) -> None:
        for batch in batches(vertices, self._dialect, encoding.vertex_row):
            if self._dialect.upsert is Upsert.ROWS:
                self._in_parts(batch.rows, traversals.upsert_vertex_rows)
            else:
                self._in_parts(batch.elements, traversals.upsert_vertex_chain)

    def _edges(self, edges: Sequence[Edge]) -> None:
        for batch in batches(edges, self._dialect, encoding.edge_row):
            if self._dialect.upsert is Upsert.ROWS:
                self._in_parts(batch.rows, traversals.upsert_edge_rows)
            else:
                self._in_parts(batch.elements, traversals.upsert_edge_chain)

    def _in_parts(
        self,
        parts: Sequence[_Part],
        request: Callable[[Sequence[_Part]], Bytecode],
        halvings: int = _HALVINGS,
    ) -> None:
        """Send them in one request; in halves, one after the other, when that is too much."""
        try:
            self._submit(request(parts))
        except Shrinkable:
            if halvings == 0 or len(parts) == 1:
                raise
            half = len(parts) // 2
            self._in_parts(parts[:half], request, halvings - 1)
            self._in_parts(parts[half:], request, halvings - 1)

    def _submit(self, request: Bytecode) -> list[object]:
        with self._turn:
            return self._connections.submit(request)
