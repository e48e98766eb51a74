"""Every request as bytecode; pure. Only steps that Neptune accepts.

Nothing here ends in ``iterate()``: its bytecode is one step in TinkerPop 3.7 and another in 3.8.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import GraphTraversal, GraphTraversalSource, __
from gremlin_python.process.traversal import Bytecode, CardinalityValue, Column, Direction, Merge, T
from gremlin_python.statics import long
from gremlin_python.structure.graph import Graph

from graph_model.facts import Edge, Scalar, Vertex
from graph_model.stores import graph as store
from graph_model.stores.gremlin import graphbinary


def _start() -> GraphTraversalSource:
    return traversal().with_graph(Graph())


# --- writing -------------------------------------------------------------------------------------


def upsert_vertex_rows(rows: Sequence[bytes]) -> Bytecode:
    """Create those vertices that do not exist (encoding.vertex_row); one plan for any number."""
    return _bytecode(_merged_vertices(_start().inject(graphbinary.rows(rows))))


def upsert_edge_rows(rows: Sequence[bytes]) -> Bytecode:
    """Create those edges that do not exist (encoding.edge_row); both ends of each must."""
    return _bytecode(_merged_edges(_start().inject(graphbinary.rows(rows))))


def upsert_rows(vertices: Sequence[bytes], edges: Sequence[bytes]) -> Bytecode:
    """Both in one request, the vertices to their end before the first edge."""
    merged = _merged_vertices(_start().inject(graphbinary.rows(vertices)))
    return _bytecode(_merged_edges(merged.constant(graphbinary.rows(edges))))


# A child of mergeV is given the row itself in TinkerPop 3.7, which the embedded engine is. In 3.8
# it would have to be unfold().as('r') and select('r').select('s'), which 3.7 takes as well: but a
# label makes every row carry its path. engine.groovy knows the form that stands here and looks ids
# up without a traversal for each; a server that does not know it means the same, more slowly.


def _merged_vertices(rows: GraphTraversal) -> GraphTraversal:
    merge = rows.unfold().unfold().merge_v(__.select(graphbinary.SEARCH))
    return merge.option(Merge.on_create, __.select(graphbinary.CREATE)).count()


def _merged_edges(rows: GraphTraversal) -> GraphTraversal:
    merge = rows.unfold().unfold().merge_e(__.select(graphbinary.SEARCH))
    return merge.option(Merge.on_create, __.select(graphbinary.CREATE)).count()


def upsert_vertex_chain(batch: Sequence[Vertex]) -> Bytecode:
    """The same as one literal step after the other, the form that Neptune optimises.

    The search is by id alone: more keys make it slow there. Neptune's default is a set of values
    for a property, so each one is marked as single.
    """
    chain: Any = _start()
    for vertex in batch:
        created: dict[object, object] = {T.label: vertex.label}
        created.update(
            (key, CardinalityValue.single(_typed(value))) for key, value in vertex.properties
        )
        chain = chain.merge_v({T.id_: vertex.id}).option(Merge.on_create, created)
    return _bytecode(chain.id_())


def correct_vertices(batch: Sequence[Vertex]) -> Bytecode:
    """Give these vertices their values, whatever they say; few, so each has its own steps."""
    chain: Any = _start()
    for vertex in batch:
        values = {key: CardinalityValue.single(_typed(value)) for key, value in vertex.properties}
        merged = chain.merge_v({T.id_: vertex.id})
        merged = merged.option(Merge.on_create, {T.label: vertex.label, **values})
        chain = merged.option(Merge.on_match, values)
    return _bytecode(chain.id_())


def upsert_edge_chain(batch: Sequence[Edge]) -> Bytecode:
    """The same for edges, whose properties are always single."""
    chain: Any = _start()
    for edge in batch:
        created: dict[object, object] = {
            T.label: edge.label,
            Direction.OUT: edge.out_id,
            Direction.IN: edge.in_id,
        }
        created.update((key, _typed(value)) for key, value in edge.properties)
        chain = chain.merge_e({T.id_: edge.id}).option(Merge.on_create, created)
    return _bytecode(chain.id_())


def _typed(value: Scalar) -> object:
    """An integer always goes as a long, whatever its size."""
    return long(value) if isinstance(value, int) and not isinstance(value, bool) else value


def remove_edges(ids: Collection[str]) -> Bytecode:
    return _bytecode(_start().E(*_given(ids)).drop())


def remove_vertices(ids: Collection[str]) -> Bytecode:
    """With the edges still at them."""
    return _bytecode(_start().V(*_given(ids)).drop())


def remove_some_edges(limit: int) -> Bytecode:
    return _bytecode(_start().E().limit(limit).drop())


def remove_some_vertices(limit: int) -> Bytecode:
    return _bytecode(_start().V().limit(limit).drop())


def is_there_an_edge() -> Bytecode:
    """Answers 1 or 0."""
    return _bytecode(_start().E().limit(1).count())


def is_there_a_vertex() -> Bytecode:
    """Answers 1 or 0."""
    return _bytecode(_start().V().limit(1).count())


def edge_ids_at(vertex_ids: Collection[str]) -> Bytecode:
    """Those that leave the graph with these vertices."""
    return _bytecode(_start().V(*_given(vertex_ids)).both_e().id_())


# --- reading -------------------------------------------------------------------------------------
# Elements come as narrow lists, which decode twice as fast as maps:
#     vertex  [id, label, {key: [value]}]
#     edge    [id, label, id of out, id of in, {key: value}]


def vertices(ids: Collection[str]) -> Bytecode:
    return _bytecode(_listed_vertex(_start().V(*_given(ids))))


def edges(
    ids: Collection[str],
    direction: store.Direction,
    labels: Sequence[str],
    limit: int,
) -> Bytecode:
    """At most ``limit`` edges per vertex and label, on one side."""
    step = __.out_e if direction is store.Direction.DOWNSTREAM else __.in_e
    branches = [step(label).limit(limit) for label in dict.fromkeys(labels)]
    each = branches[0] if len(branches) == 1 else __.union(*branches)
    return _bytecode(_listed_edge(_start().V(*_given(ids)).local(each)))


def neighbours(
    ids: Collection[str],
    direction: store.Direction,
    label: str,
    limit: int,
    kind: str | None = None,
) -> Bytecode:
    """As ``edges`` with one label, but of each no more than ``[id of out, id of in]``.

    ``kind``: the label of the vertex at the other end.
    """
    is_down = direction is store.Direction.DOWNSTREAM
    each = __.out_e(label) if is_down else __.in_e(label)
    if kind is not None:
        end = __.in_v() if is_down else __.out_v()
        each = each.where(end.has_label(kind))
    limited = _start().V(*_given(ids)).local(each.limit(limit))
    row = limited.project("o", "n").by(__.out_v().id_()).by(__.in_v().id_())
    return _bytecode(row.select(Column.values))


def all_vertices() -> Bytecode:
    return _bytecode(_listed_vertex(_start().V()))


def all_edges() -> Bytecode:
    return _bytecode(_listed_edge(_start().E()))


def count_vertices() -> Bytecode:
    return _bytecode(_start().V().count())


def count_edges() -> Bytecode:
    return _bytecode(_start().E().count())


def _listed_vertex(elements: GraphTraversal) -> GraphTraversal:
    row = elements.project("i", "l", "p").by(T.id_).by(T.label).by(__.value_map())
    return row.select(Column.values)


def _listed_edge(elements: GraphTraversal) -> GraphTraversal:
    row = elements.project("i", "l", "o", "n", "p").by(T.id_).by(T.label)
    row = row.by(__.out_v().id_()).by(__.in_v().id_()).by(__.value_map())
    return row.select(Column.values)


def ping() -> Bytecode:
    """A question that touches no element."""
    return _bytecode(_start().inject(1))


def _given(ids: Collection[str]) -> Collection[str]:
    """``V()`` without ids means every vertex: that must never happen by accident."""
    if not ids:
        raise ValueError("no ids given")
    return ids


def _bytecode(built: GraphTraversal) -> Bytecode:
    return built.bytecode
