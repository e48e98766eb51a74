"""The visible part of the graph: lists and pictures without hidden nodes, with layers and tags.

A hidden node is not drawn, nor are its edges, nor do its columns count among those that decide over
a drawn column; nodes behind it within the requested depth are drawn all the same. The answer counts
the omitted nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from graph_model.facts import DatasetRow
from graph_model.governance.statements import Governance
from graph_model.picture.view import (
    ColumnNodeView,
    DatasetNode,
    DrawnLayer,
    GraphView,
    JobNode,
    Node,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.pages import walk_rows


def walk_datasets(
    catalogue: Catalogue, query: str = "", at: int | None = None, hidden: Collection[str] = ()
) -> Iterator[DatasetRow]:
    """Every dataset whose name holds the query, but the hidden ones (ids), by name, URI and id, a
    page at a time.
    """
    rows = walk_rows(lambda after: catalogue.walk_datasets(query=query, after=after, at=at))
    return (row for row in rows if row.id not in hidden)


def hide_nodes(view: GraphView, hidden: Collection[str]) -> tuple[GraphView, int]:
    """The view without hidden datasets (and their columns) and jobs, and how many those were."""
    if not hidden:
        return view, 0
    gone = {node.id for node in view.nodes if _home(node) in hidden}
    nodes = tuple(_without_influences(n, hidden) for n in view.nodes if n.id not in gone)
    edges = tuple(e for e in view.edges if e.source not in gone and e.target not in gone)
    count = sum(node.id in gone and node.id == _home(node) for node in view.nodes)
    return replace(view, nodes=nodes, edges=edges), count


def _without_influences(node: Node, hidden: Collection[str]) -> Node:
    """A column without the number of hidden columns that decide over it."""
    if not isinstance(node, ColumnNodeView) or node.influences is None:
        return node
    shown = tuple(influence for influence in node.influences if influence.dataset not in hidden)
    return node._replace(influences=shown)


def _home(node: Node) -> str:
    """The dataset of a column; the node itself else."""
    return node.dataset_id if isinstance(node, ColumnNodeView) else node.id


def mark_nodes(view: GraphView, governance: Governance) -> GraphView:
    """The view with the layers and tags of its datasets and columns, and the layers drawn."""
    nodes = tuple(_marked(node, governance) for node in view.nodes)
    drawn = {node.layer for node in nodes if isinstance(node, DatasetNode)}
    layers = tuple(
        DrawnLayer(layer.name, layer.colour)
        for layer in governance.layers.items
        if layer.name in drawn
    )
    return replace(view, nodes=nodes, layers=layers)


def _marked(node: Node, governance: Governance) -> Node:
    tags = governance.tags.get(node.id, ())
    match node:
        case DatasetNode():
            return node._replace(layer=governance.layers.of(node.uri), classifications=tags)
        case ColumnNodeView():
            return node._replace(classifications=tags)
        case JobNode():
            return node
