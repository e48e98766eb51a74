"""Layered layout, left to right or top down in the direction of flow: pure and deterministic.

The steps are Sugiyama's (K. Sugiyama, S. Tagawa, M. Toda 1981): break cycles, put every box in a
layer by its longest path from a source, run long edges through waypoints, order each layer by the
barycentre of its neighbours in alternating sweeps and exchange neighbours while that removes
crossings, move single boxes to where they cross least, then give coordinates. Equal input gives
equal output: ties are broken by the ``key`` of a box, never by an order of arrival. A waypoint has
room of its own in its layer, so an edge that follows its route crosses no box.

Coordinates are pixels of an unscaled canvas; ``x`` and ``y`` are the centre of a box.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final

from graph_model.batches import batched

LAYER_GAP: Final = 46.0
#: Top down ranks follow closer, since boxes are lower than they are wide: more of them are in view.
FALL_GAP: Final = 32.0
ROW_GAP: Final = 20.0
COMPONENT_GAP: Final = 60.0
#: Distance of two edges that run beside each other through a layer.
EDGE_GAP: Final = 4.0
_SWEEPS: Final = 12
_SIFTINGS: Final = 3
_MOST_SIFTED: Final = 150
_EXCHANGES: Final = 6
_STRAIGHTENING_ROUNDS: Final = 12
_WAYPOINT_GAP: Final = 10.0
_MOST_BUNDLED: Final = 12


class Flow(StrEnum):
    """The way that data takes through a picture: to the right, or downwards."""

    RIGHT = "right"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Window:
    """The room for a picture, in pixels of the screen: it flows as it is read best there."""

    width: float
    height: float


Flowing = Flow | Window


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


@dataclass(frozen=True, slots=True)
class Layout:
    """``points`` and ``widths`` by box: all boxes of a layer have the width of its widest, except
    top down, where each keeps its own.

    ``routes``: by edge the points through which it runs from its source to its target, one for
    each layer between them; no edge between neighbours is in it.
    """

    points: dict[str, Point]
    widths: dict[str, float]
    routes: dict[tuple[str, str], tuple[Point, ...]]


def lay_out(boxes: Sequence[Box], edges: Iterable[tuple[str, str]]) -> dict[str, Point]:
    """Where each box goes; see :func:`arrange`."""
    return arrange(boxes, edges).points


def flow_within(
    boxes: Sequence[Box], edges: Iterable[tuple[str, str]], window: Window, legible: float
) -> Flow:
    """To the right where the picture can be read then, at a zoom of ``legible``; else the way of
    which more is in the window at that zoom. Ranks alone are looked at: the order in them changes
    no size.
    """
    right = down = 1.0
    for ranks in _ranks(boxes, edges):
        across, along = _extents(ranks)
        right = min(right, _share(across, window, legible))
        down = min(down, _share(along, window, legible))
    return Flow.RIGHT if right >= down else Flow.DOWN


def _share(extent: tuple[float, float], window: Window, zoom: float) -> float:
    """How much of a picture a window shows at a zoom, 0 to 1."""
    width, height = extent
    across = min(1.0, window.width / (width * zoom))
    return across * min(1.0, window.height / (height * zoom))


def _ranks(boxes: Sequence[Box], edges: Iterable[tuple[str, str]]) -> Iterator[list[list[Box]]]:
    """Of each connected part its boxes, by rank."""
    known, repeats = _known(boxes, edges)
    for nodes, links in _parts(known, sorted(repeats)):
        layer_of = _layers(nodes, _without_cycles(nodes, links))
        ranks: dict[int, list[Box]] = {}
        for node in nodes:
            ranks.setdefault(layer_of[node], []).append(known[node])
        yield [*ranks.values()]


def _extents(ranks: Sequence[Sequence[Box]]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Width and height of a part, to the right and top down."""
    gaps = len(ranks) - 1
    across = (
        sum(max(box.width for box in rank) for rank in ranks) + LAYER_GAP * gaps,
        max(sum(box.height + ROW_GAP for box in rank) for rank in ranks),
    )
    along = (
        max(sum(box.width + ROW_GAP for box in rank) for rank in ranks),
        sum(max(box.height for box in rank) for rank in ranks) + FALL_GAP * gaps,
    )
    return across, along


def arrange(
    boxes: Sequence[Box], edges: Iterable[tuple[str, str]], flow: Flow = Flow.RIGHT
) -> Layout:
    """Where each box and each long edge goes. Edges to unknown boxes and loops are ignored; of
    repeats the first counts, the others make its waypoints higher.
    """
    if flow is Flow.DOWN:
        lying = [Box(box.id, box.height, box.width, box.key) for box in boxes]
        return _turned(_arrange(lying, edges, FALL_GAP), boxes)
    return _arrange(boxes, edges, LAYER_GAP)


def _turned(layout: Layout, boxes: Sequence[Box]) -> Layout:
    """A layout of boxes that lay on their sides, with the boxes upright again."""
    return Layout(
        {node: Point(at.y, at.x) for node, at in layout.points.items()},
        {box.id: box.width for box in boxes},
        {link: tuple(Point(at.y, at.x) for at in route) for link, route in layout.routes.items()},
    )


def _arrange(boxes: Sequence[Box], edges: Iterable[tuple[str, str]], gap: float) -> Layout:
    """To the right, with so much room between two layers."""
    known, repeats = _known(boxes, edges)
    whole = Layout({}, {}, {})
    alone: list[Box] = []
    top = 0.0
    for nodes, inside in _parts(known, sorted(repeats)):
        if len(nodes) == 1:
            alone.append(known[nodes[0]])
            continue
        part = _place_component([known[node] for node in nodes], inside, repeats, gap)
        top = _stack(part, known, whole, top)
    _place_alone(alone, whole, top)
    return whole


def _known(
    boxes: Sequence[Box], edges: Iterable[tuple[str, str]]
) -> tuple[dict[str, Box], dict[tuple[str, str], int]]:
    """The boxes in the order of their keys, and how often each edge between two is given."""
    known = {box.id: box for box in sorted(boxes, key=lambda box: (box.key, box.id))}
    repeats: dict[tuple[str, str], int] = {}
    for a, b in edges:
        if a in known and b in known and a != b:
            repeats[a, b] = repeats.get((a, b), 0) + 1
    return known, repeats


def _parts(
    known: Mapping[str, Box], links: Sequence[tuple[str, str]]
) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    """The connected components with their links, largest first."""
    components = _components(list(known), links)
    number_of = {node: number for number, nodes in enumerate(components) for node in nodes}
    own: list[list[tuple[str, str]]] = [[] for _ in components]
    for link in links:
        own[number_of[link[0]]].append(link)
    return zip(components, own, strict=True)


def _stack(part: Layout, boxes: Mapping[str, Box], whole: Layout, top: float) -> float:
    """Put a component below the placed ones; the new top."""
    first = min(point.y - boxes[node].height / 2 for node, point in part.points.items())
    last = max(point.y + boxes[node].height / 2 for node, point in part.points.items())
    through = [point.y for route in part.routes.values() for point in route]
    first, last = min([first, *through]), max([last, *through])
    down = top - first
    whole.points.update({node: Point(at.x, at.y + down) for node, at in part.points.items()})
    whole.widths.update(part.widths)
    for link, route in part.routes.items():
        whole.routes[link] = tuple(Point(at.x, at.y + down) for at in route)
    return top + (last - first) + COMPONENT_GAP


def _place_alone(alone: Sequence[Box], whole: Layout, top: float) -> None:
    """Boxes without edges go into a grid below the rest, in reading order."""
    columns = max(1, min(6, round(len(alone) ** 0.5)))
    width = max((box.width for box in alone), default=0.0)
    y = top
    for row in batched(alone, columns):
        height = max(box.height for box in row)
        for place, box in enumerate(row):
            x = place * (width + LAYER_GAP / 2) + width / 2
            whole.points[box.id] = Point(x, y + height / 2)
            whole.widths[box.id] = width
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


def _place_component(
    boxes: Sequence[Box],
    links: Sequence[tuple[str, str]],
    repeats: Mapping[tuple[str, str], int],
    gap: float,
) -> Layout:
    order = [box.id for box in boxes]
    forward = _without_cycles(order, links)
    layer_of = _layers(order, forward)
    grid = _Grid(boxes, forward, layer_of, repeats)
    grid.order()
    return grid.place(links, gap)


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
    """Longest path from a source; then sources are pulled right, beside their targets."""
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
        self,
        boxes: Sequence[Box],
        links: Sequence[tuple[str, str]],
        layer_of: Mapping[str, int],
        repeats: Mapping[tuple[str, str], int],
    ) -> None:
        self.boxes = {box.id: box for box in boxes}
        self.height = {box.id: box.height for box in boxes}
        self.waypoints: dict[tuple[str, str], list[str]] = {}
        first = min(layer_of.values())
        self.layers: list[list[str]] = [[] for _ in range(max(layer_of.values()) - first + 1)]
        for box in boxes:
            self.layers[layer_of[box.id] - first].append(box.id)
        self.before: dict[str, list[str]] = {box.id: [] for box in boxes}
        self.after: dict[str, list[str]] = {box.id: [] for box in boxes}
        for a, b in links:
            edges = repeats.get((a, b), 0) + repeats.get((b, a), 0)
            height = EDGE_GAP * min(max(1, edges), _MOST_BUNDLED)
            self._connect(a, b, range(layer_of[a] - first + 1, layer_of[b] - first), height)

    def _connect(self, a: str, b: str, between: range, height: float) -> None:
        last = a
        for layer in between:
            waypoint = f"{a}\0{b}\0{layer}"
            self.layers[layer].append(waypoint)
            self.waypoints.setdefault((a, b), []).append(waypoint)
            self.before[waypoint], self.after[waypoint] = [], []
            self.height[waypoint] = height
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
            self._exchange()
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best
        for _ in range(_SIFTINGS):
            moved = [self._sift(index) for index in range(len(self.layers))]
            if not any(moved):
                break

    def _sift(self, index: int) -> bool:
        """Each cell of a layer moves to the place where its edges cross the fewest others."""
        layer, moved = self.layers[index], False
        if len(layer) > _MOST_SIFTED:
            return False
        near = self._near(index)
        before, after = (len(self._layer(index - 1)), len(self._layer(index + 1)))
        ends = {
            cell: [*one, *(end + before for end in other)] for cell, (one, other) in near.items()
        }
        stacked = _Stack(layer, ends)
        for cell in list(layer):
            one, other = near[cell]
            place = stacked.best_place(
                layer.index(cell), [*_sides(one, before), *_sides(other, after)]
            )
            if place is not None:
                layer.insert(place, layer.pop(layer.index(cell)))
                stacked = _Stack(layer, ends)
                moved = True
        return moved

    def _layer(self, index: int) -> list[str]:
        return self.layers[index] if 0 <= index < len(self.layers) else []

    def _near(self, index: int) -> dict[str, tuple[list[int], list[int]]]:
        """Of each cell of a layer the positions of its neighbours, before it and after it."""
        before, after = (self._positions(beside).__getitem__ for beside in (index - 1, index + 1))
        return {
            cell: (sorted(map(before, self.before[cell])), sorted(map(after, self.after[cell])))
            for cell in self.layers[index]
        }

    def _exchange(self) -> None:
        """Neighbours in a layer change places while that removes crossings. A layer is looked at
        again where it or one beside it has changed.
        """
        waiting = set(range(len(self.layers)))
        for _ in range(_EXCHANGES):
            exchanged = set()
            for index in range(len(self.layers)):
                if index in waiting or index - 1 in exchanged:
                    exchanged |= {index} if self._exchange_in(index) else set()
            waiting = {near for index in exchanged for near in (index - 1, index, index + 1)}
            if not exchanged:
                return

    def _exchange_in(self, index: int) -> bool:
        layer, changed = self.layers[index], False
        near = self._near(index)
        for place in range(len(layer) - 1):
            upper, lower = near[layer[place]], near[layer[place + 1]]
            if _saved(upper[0], lower[0]) + _saved(upper[1], lower[1]) > 0:
                layer[place], layer[place + 1] = layer[place + 1], layer[place]
                changed = True
        return changed

    def _positions(self, index: int) -> dict[str, int]:
        if not 0 <= index < len(self.layers):
            return {}
        return {cell: i for i, cell in enumerate(self.layers[index])}

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

    def place(self, links: Iterable[tuple[str, str]], gap: float) -> Layout:
        """``links`` as they were given: the route of one that was turned round runs back. ``gap``
        is the room between two layers.
        """
        widths = self._layer_widths()
        x = _centres(widths, gap)
        y = self._rows()
        for round_number in range(_STRAIGHTENING_ROUNDS):
            self._straighten(y, self.before if round_number % 2 == 0 else self.after)
        points = {
            cell: Point(x[index], y[cell])
            for index, layer in enumerate(self.layers)
            for cell in layer
        }
        routes = {}
        for a, b in links:
            if (a, b) in self.waypoints:
                routes[a, b] = tuple(points[cell] for cell in self.waypoints[a, b])
            elif (b, a) in self.waypoints:
                routes[a, b] = tuple(points[cell] for cell in reversed(self.waypoints[b, a]))
        return Layout(
            {cell: point for cell, point in points.items() if cell in self.boxes},
            {
                cell: width
                for layer, width in zip(self.layers, widths, strict=True)
                for cell in layer
                if cell in self.boxes
            },
            routes,
        )

    def _layer_widths(self) -> list[float]:
        return [
            max((self.boxes[cell].width for cell in layer if cell in self.boxes), default=0.0)
            for layer in self.layers
        ]

    def _rows(self) -> dict[str, float]:
        """Layers packed and centred on one line, as a start."""
        y: dict[str, float] = {}
        for layer in self.layers:
            gaps = [*self._gaps(layer), 0.0]
            top = -(sum(self.height[cell] for cell in layer) + sum(gaps)) / 2
            for cell, gap in zip(layer, gaps, strict=True):
                y[cell] = top + self.height[cell] / 2
                top += self.height[cell] + gap
        return y

    def _gaps(self, layer: Sequence[str]) -> list[float]:
        """Between each cell and the next: edges may run closer to each other than boxes stand."""
        return [
            ROW_GAP if a in self.boxes or b in self.boxes else _WAYPOINT_GAP
            for a, b in pairwise(layer)
        ]

    def _straighten(self, y: dict[str, float], beside: Mapping[str, list[str]]) -> None:
        """Move each cell towards the mean of its neighbours, keeping order and gaps."""
        for layer in self.layers:
            wanted = [
                sum(y[n] for n in beside[cell]) / len(beside[cell]) if beside[cell] else y[cell]
                for cell in layer
            ]
            gaps = [
                (self.height[a] + self.height[b]) / 2 + gap
                for (a, b), gap in zip(pairwise(layer), self._gaps(layer), strict=True)
            ]
            for cell, value in zip(layer, _spread(wanted, gaps), strict=True):
                y[cell] = value


def _centres(widths: Iterable[float], gap: float) -> list[float]:
    centres = []
    left = 0.0
    for width in widths:
        centres.append(left + width / 2)
        left += width + gap
    return centres


class _Stack:
    """The cells of a layer with the ends of their edges, as one list from above."""

    def __init__(self, layer: Sequence[str], ends: Mapping[str, Sequence[int]]) -> None:
        self._ends = [end for cell in layer for end in ends[cell]]
        self._stops = [0, *accumulate(len(ends[cell]) for cell in layer)]

    def best_place(self, at: int, sides: Sequence[int]) -> int | None:
        """Where the cell at this place crosses the fewest edges; None where it does already.

        ``sides`` weighs each end of another cell's edge: by how many crossings there are fewer
        once that cell stands above.
        """
        sums = [0, *accumulate(map(sides.__getitem__, self._ends))]
        cells = [sums[stop] for stop in self._stops]
        up = [cells[place] - cells[at] for place in range(at - 1, -1, -1)]
        down = [cells[place + 1] - cells[at + 1] for place in range(at + 1, len(cells) - 1)]
        gains = up + down
        gain = max(gains, default=0)
        if gain <= 0:
            return None
        steps = gains.index(gain)
        return at - 1 - steps if steps < at else steps + 1


def _sides(ends: Sequence[int], width: int) -> list[int]:
    """For each position how many more of the sorted ends lie beyond it than before it."""
    found: list[int] = []
    for passed, end in enumerate(ends):
        if end < len(found):
            found[end] -= 1
        else:
            found += [len(ends) - 2 * passed] * (end - len(found))
            found.append(len(ends) - 2 * passed - 1)
    return found + [-len(ends)] * (width - len(found))


def _saved(above: Sequence[int], below: Sequence[int]) -> int:
    """Crossings that vanish when two cells with these sorted ends change places."""
    if not above or not below:
        return 0
    if above[-1] < below[0]:
        return -len(above) * len(below)
    if len(above) == len(below) == 1:
        return int(above[0] > below[0])
    return _inversions(above, below) - _inversions(below, above)


def _inversions(above: Sequence[int], below: Sequence[int]) -> int:
    """How often an end of ``above`` lies beyond one of ``below``; both sorted."""
    return sum(bisect_left(below, end) for end in above)


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


# How large a box is drawn for its name: pixels of an unscaled canvas. Pure.
#
# Names stand whole on at most two lines. The widths of letters are those of a wide bold face, so
# that a name fits in the faces of other systems too; the page breaks the lines by the same rule
# (``linesOf`` of the page), measured in its own face.

#: Height of the letters of a name and of a column: the page has the same (``shapes.js``).
TITLE_LETTERS: Final = 15.0
ROW_LETTERS: Final = 14.0
ROW_HEIGHT: Final = 22.0
#: From this zoom on names are 11 pixels high on the screen.
LEGIBLE: Final = 11 / TITLE_LETTERS
#: Height of a box whose name has one line, and what a second one adds.
_HEIGHT: Final = 46.0
_LINE: Final = 17.0
_MIN_WIDTH: Final = 130.0
_MAX_WIDTH: Final = 280.0
#: A name that is wider than this has two lines: ranks are narrow, and heights are used.
_BREAKS_FROM: Final = 150.0
#: Room for the rims and the glyph beside a name, and for the rims of a column.
_BESIDE_NAME: Final = 56.0
_BESIDE_ROW: Final = 44.0
_LONGEST: Final = 200  # characters of a name that are looked at
_NARROW: Final = frozenset("ijlI.,:;'|/()[]! ")
_SLIM: Final = frozenset('frtsJ_-*"`')
_WIDE: Final = frozenset("mwMW@%")
#: A name is broken behind a separator, or before a capital: ``daily_|revenue``, ``Daily|Revenue``.
_PARTS: Final = re.compile(r"[^\s_.:/-]*?(?:[\s_.:/-]+|(?<=[a-z0-9])(?=[A-Z])|$)")


@dataclass(frozen=True, slots=True)
class Size:
    """``title`` is the height of the part with the name; of a box without columns all of it."""

    width: float
    height: float
    title: float


def size_of(label: str, columns: tuple[str, ...] = ()) -> Size:
    """The box of a table, a job or a step of a plan, with the names of the columns in it."""
    longest, lines = _broken(label[:_LONGEST])
    title = _HEIGHT + (lines - 1) * _LINE
    rows = max((text_width(name[:_LONGEST], ROW_LETTERS) for name in columns), default=0.0)
    width = max(_MIN_WIDTH, longest + _BESIDE_NAME, rows + _BESIDE_ROW if rows else 0.0)
    below = len(columns) * ROW_HEIGHT + 8 if columns else 0.0
    return Size(round(min(_MAX_WIDTH, width)), title + below, title)


def text_width(text: str, letters: float) -> float:
    """How much room a text needs in bold letters of this height."""
    return letters * sum(map(_em, text))


@lru_cache(maxsize=4096)
def _broken(label: str) -> tuple[float, int]:
    """The width of the longest line and the number of lines."""
    whole = text_width(label, TITLE_LETTERS)
    if whole <= _BREAKS_FROM:
        return whole, 1
    widths = [text_width(part, TITLE_LETTERS) for part in _PARTS.findall(label) if part]
    first, best = 0.0, whole
    for width in widths[:-1]:
        first += width
        best = min(best, max(first, whole - first))
    return best, 2


@lru_cache(maxsize=1024)
def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _SLIM:
        return 0.53
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.03
    return 0.78 if letter.isupper() else 0.7
