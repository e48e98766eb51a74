"""Layered layout, left to right in the direction of flow: pure and deterministic.

The steps are Sugiyama's (K. Sugiyama, S. Tagawa, M. Toda 1981): break cycles, put every box in a
layer by its longest path from a source, run long edges through waypoints, order each layer by the
barycentre of its neighbours in alternating sweeps, then give coordinates. Equal input gives equal
output: ties are broken by the ``key`` of a box, never by an order of arrival.

Coordinates are pixels of an unscaled canvas; ``x`` and ``y`` are the centre of a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

LAYER_GAP: Final = 110.0
ROW_GAP: Final = 28.0
COMPONENT_GAP: Final = 60.0
_SWEEPS: Final = 8
_STRAIGHTENING_ROUNDS: Final = 8
_WAYPOINT_HEIGHT: Final = 6.0


@dataclass(frozen=True, slots=True)
class Box:
    """A box to place; ``key`` breaks ties (a name that people would sort by)."""

    id: str
    width: float
    height: float
    key: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


def lay_out(boxes: Sequence[Box], edges: Iterable[tuple[str, str]]) -> dict[str, Point]:
    """Where each box goes. Edges to unknown boxes and loops are ignored; repeats count once."""
    known = {box.id: box for box in sorted(boxes, key=lambda box: (box.key, box.id))}
    links = sorted({(a, b) for a, b in edges if a in known and b in known and a != b})
    placed: dict[str, Point] = {}
    alone: list[Box] = []
    top = 0.0
    for component in _components(list(known), links):
        if len(component) == 1:
            alone.append(known[component[0]])
            continue
        inside = set(component)
        own = [(a, b) for a, b in links if a in inside]
        points = _place_component([known[node] for node in component], own)
        top = _stack(points, known, placed, top)
    _place_alone(alone, placed, top)
    return placed


def _stack(
    points: Mapping[str, Point], boxes: Mapping[str, Box], placed: dict[str, Point], top: float
) -> float:
    """Put a component below the placed ones; the new top."""
    first = min(point.y - boxes[node].height / 2 for node, point in points.items())
    last = max(point.y + boxes[node].height / 2 for node, point in points.items())
    for node, point in points.items():
        placed[node] = Point(point.x, point.y - first + top)
    return top + (last - first) + COMPONENT_GAP


def _place_alone(alone: Sequence[Box], placed: dict[str, Point], top: float) -> None:
    """Boxes without edges go into a grid below the rest, in reading order."""
    columns = max(1, min(6, round(len(alone) ** 0.5)))
    y = top
    for start in range(0, len(alone), columns):
        row = alone[start : start + columns]
        height = max(box.height for box in row)
        x = 0.0
        for box in row:
            placed[box.id] = Point(x + box.width / 2, y + height / 2)
            x += box.width + LAYER_GAP / 2
        y += height + ROW_GAP


def _components(nodes: Sequence[str], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Connected components, largest first, each in the order of ``nodes``."""
    parent = {node: node for node in nodes}

    def root(node: str) -> str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in links:
        parent[root(a)] = root(b)
    groups: dict[str, list[str]] = {}
    for node in nodes:
        groups.setdefault(root(node), []).append(node)
    rank = {node: i for i, node in enumerate(nodes)}
    return sorted(groups.values(), key=lambda group: (-len(group), rank[group[0]]))


def _place_component(boxes: Sequence[Box], links: Sequence[tuple[str, str]]) -> dict[str, Point]:
    order = [box.id for box in boxes]
    forward = _without_cycles(order, links)
    layer_of = _layers(order, forward)
    grid = _Grid(boxes, forward, layer_of)
    grid.order()
    return grid.place()


def _without_cycles(
    nodes: Sequence[str], links: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The links with those that close a cycle turned round (depth first, iterative)."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    entering = dict.fromkeys(nodes, 0)
    for a, b in links:
        following[a].append(b)
        entering[b] += 1
    state = dict.fromkeys(nodes, 0)  # 0 new, 1 on the stack, 2 done
    turned: set[tuple[str, str]] = set()
    for start in sorted(nodes, key=lambda node: entering[node] > 0):  # stable: sources first
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            node, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                state[node] = 2
                stack.pop()
            elif state[child] == 1:
                turned.add((node, child))
            elif state[child] == 0:
                state[child] = 1
                stack.append((child, iter(following[child])))
    return sorted({(b, a) if (a, b) in turned else (a, b) for a, b in links})


def _layers(nodes: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Longest path from a source; then sources are pulled right, beside what they feed."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    entering = dict.fromkeys(nodes, 0)
    for a, b in links:
        following[a].append(b)
        entering[b] += 1
    layer = dict.fromkeys(nodes, 0)
    waiting = dict(entering)
    ready = [node for node in nodes if waiting[node] == 0]
    for node in ready:
        for child in following[node]:
            layer[child] = max(layer[child], layer[node] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    for node in nodes:
        if entering[node] == 0 and following[node]:
            layer[node] = min(layer[child] for child in following[node]) - 1
    return layer


class _Grid:
    """Layers of cells: boxes, and the waypoints of edges that cross several layers."""

    def __init__(
        self, boxes: Sequence[Box], links: Sequence[tuple[str, str]], layer_of: Mapping[str, int]
    ) -> None:
        self.boxes = {box.id: box for box in boxes}
        self.height = {box.id: box.height for box in boxes}
        first = min(layer_of.values())
        self.layers: list[list[str]] = [[] for _ in range(max(layer_of.values()) - first + 1)]
        for box in boxes:
            self.layers[layer_of[box.id] - first].append(box.id)
        self.before: dict[str, list[str]] = {box.id: [] for box in boxes}
        self.after: dict[str, list[str]] = {box.id: [] for box in boxes}
        for a, b in links:
            self._connect(a, b, layer_of[a] - first, layer_of[b] - first)

    def _connect(self, a: str, b: str, start: int, end: int) -> None:
        last = a
        for layer in range(start + 1, end):
            waypoint = f"{a}\0{b}\0{layer}"
            self.layers[layer].append(waypoint)
            self.before[waypoint], self.after[waypoint] = [], []
            self.height[waypoint] = _WAYPOINT_HEIGHT
            self._link(last, waypoint)
            last = waypoint
        self._link(last, b)

    def _link(self, a: str, b: str) -> None:
        self.after[a].append(b)
        self.before[b].append(a)

    # order within layers

    def order(self) -> None:
        """Barycentre sweeps; the order with the fewest crossings seen is kept."""
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(_SWEEPS):
            if fewest == 0:
                break
            if sweep % 2 == 0:
                for index in range(1, len(self.layers)):
                    self._sort_layer(index, self.before, index - 1)
            else:
                for index in range(len(self.layers) - 2, -1, -1):
                    self._sort_layer(index, self.after, index + 1)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best

    def _sort_layer(self, index: int, beside: Mapping[str, list[str]], other: int) -> None:
        position = {cell: i for i, cell in enumerate(self.layers[other])}
        own = {cell: i for i, cell in enumerate(self.layers[index])}

        def barycentre(cell: str) -> tuple[float, int]:
            near = [position[neighbour] for neighbour in beside[cell]]
            return (sum(near) / len(near) if near else float(own[cell]), own[cell])

        self.layers[index].sort(key=barycentre)

    def _crossings(self) -> int:
        return sum(
            _count_crossings(left, right, self.after) for left, right in pairwise(self.layers)
        )

    # coordinates

    def place(self) -> dict[str, Point]:
        x = self._layer_centres()
        y = self._rows()
        for round_number in range(_STRAIGHTENING_ROUNDS):
            self._straighten(y, self.before if round_number % 2 == 0 else self.after)
        return {
            cell: Point(x[index], y[cell])
            for index, layer in enumerate(self.layers)
            for cell in layer
            if cell in self.boxes
        }

    def _layer_centres(self) -> list[float]:
        centres = []
        left = 0.0
        for layer in self.layers:
            width = max((self.boxes[c].width for c in layer if c in self.boxes), default=0.0)
            centres.append(left + width / 2)
            left += width + LAYER_GAP
        return centres

    def _rows(self) -> dict[str, float]:
        """Layers packed and centred on one line, as a start."""
        y: dict[str, float] = {}
        for layer in self.layers:
            total = sum(self.height[cell] for cell in layer) + ROW_GAP * (len(layer) - 1)
            top = -total / 2
            for cell in layer:
                y[cell] = top + self.height[cell] / 2
                top += self.height[cell] + ROW_GAP
        return y

    def _straighten(self, y: dict[str, float], beside: Mapping[str, list[str]]) -> None:
        """Move each cell towards the mean of its neighbours, keeping order and gaps."""
        for layer in self.layers:
            wanted = [
                sum(y[n] for n in beside[cell]) / len(beside[cell]) if beside[cell] else y[cell]
                for cell in layer
            ]
            gaps = [(self.height[a] + self.height[b]) / 2 + ROW_GAP for a, b in pairwise(layer)]
            for cell, value in zip(layer, _spread(wanted, gaps), strict=True):
                y[cell] = value


def _count_crossings(
    left: Sequence[str], right: Sequence[str], after: Mapping[str, Sequence[str]]
) -> int:
    """Inversions among edge ends, with a Fenwick tree: O(edges · log width)."""
    position = {cell: i for i, cell in enumerate(right)}
    ends = [position[b] for a in left for b in sorted(after[a], key=position.__getitem__)]
    tree = [0] * (len(right) + 1)
    crossings = 0
    for seen, end in enumerate(ends):
        index, before = end + 1, 0
        while index > 0:
            before += tree[index]
            index -= index & -index
        crossings += seen - before
        index = end + 1
        while index < len(tree):
            tree[index] += 1
            index += index & -index
    return crossings


def _spread(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to ``wanted`` (least squares) that keep order and gaps.

    Pool adjacent violators: taking the gaps off turns it into isotonic regression.
    """
    offset = 0.0
    offsets = [0.0]
    for gap in gaps:
        offset += gap
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []  # (sum, count)
    for value, shift in zip(wanted, offsets, strict=True):
        total, count = value - shift, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            other, size = blocks.pop()
            total, count = total + other, count + size
        blocks.append((total, count))
    flat = [total / count for total, count in blocks for _ in range(count)]
    return [value + shift for value, shift in zip(flat, offsets, strict=True)]
