"""What holds, put on an answer: hidden nodes leave it.

A hidden node is not drawn, nor are the edges at it, nor are its columns counted among those that
decide over a column that is drawn; what lies behind it within the depth asked is
drawn all the same, for it was found. The answer says how many nodes were left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from graph_model.view import ColumnNodeView, GraphView, Node, place


def hide_nodes(view: GraphView, hidden: Collection[str], *, layout: bool) -> tuple[GraphView, int]:
    """The view without hidden datasets (and their columns) and jobs, and how many those were.

    The node asked about stays. With ``layout`` the rest is placed anew.
    """
    if not hidden:
        return view, 0
    asked = {view.focus, *_home_of_focus(view)}
    gone = {node.id for node in view.nodes if _home(node) in hidden and _home(node) not in asked}
    unseen = set(hidden) - asked
    nodes = tuple(_without_influences(n, unseen) for n in view.nodes if n.id not in gone)
    edges = tuple(e for e in view.edges if e.source not in gone and e.target not in gone)
    count = sum(node.id in gone and node.id == _home(node) for node in view.nodes)
    shown = replace(view, nodes=nodes, edges=edges)
    return (place(shown) if layout and gone else shown), count


def _without_influences(node: Node, hidden: Collection[str]) -> Node:
    """A column without the number of hidden columns that decide over it."""
    if not isinstance(node, ColumnNodeView) or node.influences is None:
        return node
    shown = tuple(one for one in node.influences if one.dataset not in hidden)
    return node._replace(influences=shown)


def _home(node: Node) -> str:
    """The dataset of a column; the node itself else."""
    return node.dataset_id if isinstance(node, ColumnNodeView) else node.id


def _home_of_focus(view: GraphView) -> Iterator[str]:
    return (_home(node) for node in view.nodes if node.id == view.focus)
