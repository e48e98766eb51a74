"""``stores.graph.Graph``: reader and writer as one; :func:`open_graph` is the entry.

Ids -> vertices and edges, in requests bounded by the number of ids and edges asked. Facts ->
batches of idempotent upserts, in the order of ``facts.stages``: a fact never changes, so an upsert
only creates, and an element that exists is left as it is. One request is one transaction, but for
the embedded engine, which has none (in halves, where it is too large for the server); a stage is
written to its end before the next begins, so that a plan's marker is never there before the plan's
facts.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

from gremlin_python.process.traversal import Bytecode

from graph_model import facts
from graph_model.errors import ConfigurationError, GraphRejected
from graph_model.facts import Edge, Facts, Stages, Vertex, stages
from graph_model.stores.graph import Direction, EdgePage, Neighbours
from graph_model.stores.gremlin import graphbinary, traversals
from graph_model.stores.gremlin.connection import Connections, Headers, Limits, Shrinkable
from graph_model.stores.gremlin.dialect import DIALECTS, Dialect, Upsert
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
            self._check(vertex.id, graphbinary.vertex_row(vertex))
        for edge in facts.edges:
            self._check(edge.id, graphbinary.edge_row(edge))

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
        vertex_rows = list(map(graphbinary.vertex_row, _ordered(vertices)))
        edge_rows = [graphbinary.edge_row(each) for stage in edges for each in stage]
        if sum(map(len, vertex_rows)) + sum(map(len, edge_rows)) > self._dialect.batch_bytes:
            return False
        try:
            self._submit(traversals.upsert_rows(vertex_rows, edge_rows))
        except Shrinkable:
            return False
        return True

    def correct(self, vertices: Collection[Vertex]) -> None:
        """See ``stores.graph.GraphWriter.correct``."""
        for batch in batches(list(vertices), self._dialect, graphbinary.vertex_row):
            self._in_parts(batch.elements, traversals.correct_vertices)

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
        for batch in batches(vertices, self._dialect, graphbinary.vertex_row):
            if self._dialect.upsert is Upsert.ROWS:
                self._in_parts(batch.rows, traversals.upsert_vertex_rows)
            else:
                self._in_parts(batch.elements, traversals.upsert_vertex_chain)

    def _edges(self, edges: Sequence[Edge]) -> None:
        for batch in batches(edges, self._dialect, graphbinary.edge_row):
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
    return Edge(identifier, label, out_id, in_id, tuple(sorted(values.items())))


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


def open_graph(
    url: str,
    *,
    dialect: str | Dialect = "embedded",
    limits: Limits | None = None,
    headers: Headers = dict,
    explain: Callable[[], str | None] = lambda: None,
) -> GremlinGraph:
    """A graph at ``ws://host:port/gremlin`` (or ``wss://``). Connects at the first question.

    ``dialect`` is ``embedded`` or ``neptune``; ``headers`` is called at every handshake (signing);
    ``explain`` returns why a server may be down (``Supervisor.failure``). Raises ConfigurationError
    for an invalid address or dialect.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ConfigurationError(f"{url!r} is no address of a Gremlin server (ws:// or wss://)")
    if isinstance(dialect, str):
        if dialect not in DIALECTS:
            raise ConfigurationError(f"{dialect!r} is no dialect: {', '.join(sorted(DIALECTS))}")
        dialect = DIALECTS[dialect]
    return GremlinGraph(Connections(url, dialect, limits=limits, headers=headers, explain=explain))


class GremlinGraph(Reader, GremlinWriter):
    """``stores.graph.Graph`` on a Gremlin server; safe to use from several threads."""

    forgets = False

    def __init__(self, connections: Connections) -> None:
        Reader.__init__(self, connections)
        GremlinWriter.__init__(self, connections)

    def ping(self) -> None:
        self._connections.submit(traversals.ping(), seconds=5.0)

    def close(self) -> None:
        self._connections.close()

    def catch_up(self) -> None:
        """Nothing: what was not taken is not committed, and written again."""

    def is_whole(self) -> bool:
        return True

    def doubt(self) -> None:
        """Nothing: every process asks the same server."""

    def restore(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Nothing: the server keeps its elements itself."""
