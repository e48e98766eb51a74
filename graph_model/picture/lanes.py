"""A picture in lanes, one for each storage layer, top to bottom: pure and deterministic.

Boxes keep their distance from the left, so data still flows to the right; within a lane they keep
their order and move up as far as there is room. A job is in the lane of its output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from graph_model.picture.view import (
    ColumnNodeView,
    DatasetNode,
    FeedEdge,
    GraphView,
    JobNode,
    Lane,
    Node,
    Place,
)

_GAP: Final = 24.0
_LANE_GAP: Final = 36.0
_TITLE: Final = 28.0
_GRAIN: Final = 40.0  # pixels of width that are looked at together


def place_in_lanes(
    view: GraphView, layer_of: Mapping[str, str | None], order: Sequence[str]
) -> tuple[GraphView, tuple[Lane, ...]]:
    """A placed view in lanes: by dataset id its layer, and the layers in their order."""
    lanes = _lanes_of(view, layer_of, order)
    placed: dict[str, Place] = {}
    drawn: list[Lane] = []
    top = 0.0
    for layer in [*order, None]:
        nodes = [node for node in view.nodes if node.id in lanes and lanes[node.id] == layer]
        if nodes:
            found, bottom = _stack(nodes, top + _TITLE)
            placed |= found
            drawn.append(Lane(layer, top, bottom + _GAP))
            top = bottom + _GAP + _LANE_GAP
    edges = tuple(edge._replace(route=None) for edge in view.edges)
    return replace(view, nodes=_moved(view.nodes, placed), edges=edges), tuple(drawn)


def _lanes_of(
    view: GraphView, layer_of: Mapping[str, str | None], order: Sequence[str]
) -> dict[str, str | None]:
    """The lane of each table and job that has a place."""
    lanes = {
        node.id: layer_of.get(node.id)
        for node in view.nodes
        if isinstance(node, DatasetNode) and node.place is not None
    }
    rank = {layer: number for number, layer in enumerate(order)}
    beside: dict[str, tuple[int, int, str]] = {}  # job -> written first, then by rank of the layer
    for edge in view.edges:
        if isinstance(edge, FeedEdge):
            for job, dataset, side in (
                (edge.source, edge.target, 0),
                (edge.target, edge.source, 1),
            ):
                layer = lanes.get(dataset)
                if layer is not None:
                    known = beside.get(job, (2, 0, ""))
                    beside[job] = min(known, (side, rank.get(layer, len(rank)), layer))
    for node in view.nodes:
        if isinstance(node, JobNode) and node.place is not None:
            lanes[node.id] = beside[node.id][2] if node.id in beside else None
    return lanes


def _stack(nodes: Sequence[Node], top: float) -> tuple[dict[str, Place], float]:
    """Boxes below ``top`` in their order from above, each as high as there is room."""
    skyline: dict[int, float] = {}
    placed: dict[str, Place] = {}
    places = [(node.place, node.id) for node in nodes if node.place is not None]
    for place, key in sorted(places, key=lambda one: (one[0].y, one[0].x, one[1])):
        left = int((place.x - place.width / 2) // _GRAIN)
        columns = range(left, int((place.x + place.width / 2) // _GRAIN) + 1)
        upper = max((skyline.get(column, top) for column in columns), default=top)
        placed[key] = replace(place, y=round(upper + place.height / 2, 1))
        skyline |= dict.fromkeys(columns, upper + place.height + _GAP)
    return placed, max(skyline.values(), default=top) - _GAP


def _moved(nodes: Sequence[Node], placed: Mapping[str, Place]) -> tuple[Node, ...]:
    """Boxes where they are now, and columns as far from their tables' middle as before."""
    before = {node.id: node.place for node in nodes}

    def moved(node: Node) -> Node:
        home = node.dataset_id if isinstance(node, ColumnNodeView) else node.id
        now, was = placed.get(home), before.get(home)
        if node.place is None or now is None or was is None:
            return node
        y = round(node.place.y + now.y - was.y, 1)
        return node._replace(place=replace(node.place, y=y))

    return tuple(moved(node) for node in nodes)
